"""`@bot words`: what the asker's own memory holds, shown to the asker alone, and the links that open one thing."""

from __future__ import annotations

from typing import Any

import pytest
from aiogram.types import BufferedInputFile
from sqlalchemy import Connection, select, update
from support.interfaces.telegram_stage import MODEL, BotStage, eventually, whole_bot

from bot.telegram.i18n import label
from internal.access.model import UserState
from internal.artifacts import repository as artifacts
from internal.dialogue import repository as dialogue
from internal.flows.archival.ingestion import add_episode
from internal.graph import store
from internal.knowledge import episode_repository as episodes, service as knowledge
from internal.knowledge.claims.changes import ClaimLine, NewClaim
from internal.knowledge.model import OF_FILE, Episode, Segment
from internal.people import service as people
from internal.storage import tables
from internal.storage.tables import events, users
from internal.storage.types import new_id
from internal.tasks import service as tasks
from internal.tasks.model import Schedule
from internal.testing import ScriptedModel

pytestmark = pytest.mark.asyncio(loop_scope="module")


async def asked(stage: BotStage, user: int, words: str) -> dict[str, Any]:
    """The bot's answer to these words after its name."""
    query_id = await stage.ask_inline(user, words)

    async def answer() -> Any:
        return (await stage.request("GET", f"/inline/{query_id}"))["answer"]

    found: dict[str, Any] = await eventually(answer)
    return found


async def remembers(stage: BotStage, user: int, file_id: str) -> dict[str, Any]:
    """A person, a fact, a message, a file and a task of a user; their ids."""
    now = stage.clock.now()

    def work(connection: Connection) -> dict[str, Any]:
        petro = people.from_metadata(
            connection, user, people.TelegramAccount(user + 500_000, "Petro Boiko"), seen_at=now, now=now
        )
        me = store.ensure_owner_node(connection, user, "Olena", now)
        made = {"name": "Odesa", "type": "place"}
        place = store.add_node(connection, user, "Entity", made, now=now)
        said = dialogue.add(connection, user, "user", "I bought winter tyres in Odesa", now=now)
        for _ in range(2):
            dialogue.add(connection, user, "assistant", "You bought winter tyres in Odesa.", now=now)
        episode = Episode(user, new_id(), "message", "fragment", "", "notes", None, now, now)
        episodes.add_episode(connection, episode, [Segment(1, now, None, said.id)])
        claims = [
            NewClaim(
                source=me.id, relation=relation, target=place.id, fact="Olena was in Odesa", said_at=now, valid_at=now,
                valid_stated=False, invalid_at=None, episode_id=episode.id, lines=[ClaimLine(1, said.content, said.id)],
            ) for relation in ("VISITED", "LIKES")
        ]  # fmt: skip
        facts = knowledge.record_claims(connection, user, claims, now=now).facts
        file = {"id": file_id, "name": "Lease Odesa.pdf", "mime": "application/pdf", "size": 3}
        text = add_episode(
            connection, user, source="text", name="Lease Odesa.pdf",
            segments=[Segment(1, now, "A deposit is due.", None)],
            source_description=OF_FILE, source_url=None, reference_time=now, dedupe=None, agents=(), now=now,
        )  # fmt: skip
        for sent in (new_id(), text.episode.id):
            of = (connection, user, sent, said.id, stage.bot.id)
            artifacts.add(*of, kind="document", file=file, now=now, due_at=now)
        connection.execute(update(tables.artifacts).values(sha256="5" * 64))
        author = tasks.by_owner(user, now, now.time())
        task = tasks.open_task(connection, user, tasks.NewTask("Sell the boat", Schedule()), author)
        return {"person": petro.id, "facts": facts, "fact": facts[0], "task": task.id}

    return await stage.write(work)


async def test_ones_own_memory_is_searched(stage: BotStage, model: ScriptedModel) -> None:
    """People, facts, messages and files, what reads alike once; private, kept nowhere; no keystroke is an event."""
    model.always(MODEL, "Ok.")
    user, other = await stage.person(), await stage.person()
    await stage.bot.send_document(user, BufferedInputFile(b"pdf", "Lease Odesa.pdf"))
    file_id = (await stage.messages(user))[-1]["document"]["file_id"]
    known = await remembers(stage, user, file_id)
    now = stage.clock.now()
    await stage.write(lambda c: [dialogue.add(c, other, "assistant", "The ferry leaves at 9.", now=now) for _ in "ab"])
    async with whole_bot(stage, model):
        person = await asked(stage, user, "Petro")
        found = await asked(stage, user, "Odesa")
        nothing = await asked(stage, user, "zebra")
        inside = await asked(stage, user, "deposit")
        answers = await asked(stage, other, "ferry")
        assert (await asked(stage, other, "Odesa"))["results"] == []
        query_id = await stage.ask_inline(user, "Odesa")
        await eventually(lambda: answered(stage, query_id))
        shown = found["results"][0]["id"].removeprefix("f_")
        told = await stage.request("POST", f"/inline/{query_id}/f_{shown}")
        await eventually(lambda: settled(stage, 8))
    assert [one["id"] for one in person["results"]] == [f"p_{known['person']}"]
    assert (person["cache_time"], person["is_personal"]) == (0, True)
    kinds = [one["id"][0] for one in found["results"]]
    assert kinds == ["f", "m", "a"]
    assert len(known["facts"]) == 2
    assert shown in known["facts"]
    assert found["results"][0]["url"].endswith(f"?start=f_{shown}")
    assert found["results"][2]["document_file_id"] == file_id
    assert [one["id"][0] for one in inside["results"]] == ["a"]
    assert [one["title"] for one in answers["results"]] == ["The ferry leaves at 9."]
    assert nothing["results"] == []
    assert nothing["button"]["text"] == label("en", "inline-nothing")
    assert "Olena was in Odesa" in told["text"]
    assert told["via_bot"]["id"] == stage.bot.id
    assert "Circle" not in str(person["results"][0]["input_message_content"])
    talk = await stage.read(lambda c: dialogue.recent(c, user, limit=10))
    assert {one.content for one in talk if one.role == "user"} == {"I bought winter tyres in Odesa"}
    kept = await stage.read(lambda c: c.execute(select(events.c.payload)).scalars().all())
    assert not any("zebra" in str(payload) for payload in kept)
    assert all(words == "" for _, words in await stage.inbox())


@pytest.mark.parametrize("standing", ["unknown", "removed"])
async def test_somebody_unknown_gets_nothing(stage: BotStage, model: ScriptedModel, standing: str) -> None:
    """Typing the bot's name makes nobody a user, and whom the owner removed is told nothing more."""
    user = await stage.person(known=standing == "removed")
    if standing == "removed":
        await remembers(stage, user, "x")
        gone = update(users).where(users.c.user_id == user).values(state=UserState.REMOVED.value)
        await stage.write(lambda c: c.execute(gone))
    async with whole_bot(stage, model):
        answer = await asked(stage, user, "Odesa")
    assert (answer["results"], answer["button"], answer["cache_time"]) == ([], None, 0)


async def test_links_open_a_person_a_fact_and_a_task(stage: BotStage, model: ScriptedModel) -> None:
    """The words after /start name one thing of the user; another's, or none at all, is not found."""
    model.always(MODEL, "Ok.")
    user, other = await stage.person(), await stage.person()
    known = await remembers(stage, user, "x")
    async with whole_bot(stage, model):
        for words, shown in (
            (f"p_{known['person']}", "Petro Boiko"),
            (f"f_{known['fact']}", "Olena was in Odesa"),
            (f"t_{known['task']}", "Sell the boat"),
            ("p_" + "9" * 30, label("en", "not-found")),
        ):
            assert shown in await opened(stage, user, words)
        assert "Sell the boat" not in await opened(stage, other, f"t_{known['task']}")


async def opened(stage: BotStage, user: int, words: str) -> str:
    before = len(await stage.texts(user))
    await stage.say(user, f"/start {words}")

    async def said() -> list[str]:
        return (await stage.texts(user))[before:]

    return str((await eventually(said))[0])


async def settled(stage: BotStage, count: int) -> bool:
    """Whether so many updates have come, and all are worked off."""
    states = [state for state, _ in await stage.inbox()]
    return len(states) >= count and "received" not in states


async def answered(stage: BotStage, query_id: str) -> Any:
    return (await stage.request("GET", f"/inline/{query_id}"))["answer"]
