"""While an episode or a message waits to be erased, nothing that rests on it alone is in any prompt or list."""

from typing import Any

import pytest
from support.flows.erase_stage import ErasingStage, added, bios, fact
from support.flows.flow_stage import OWNER, Talk

from internal.flows.forgetting import requests
from internal.flows.forgetting.requests import UNDO_WINDOW
from internal.flows.visibility import pending_forgettings
from internal.storage.forgetting.forgettings import Forgetting, Kind


@pytest.fixture
async def stage(talk: Talk) -> ErasingStage:
    """Anna is told of twice; the second time by another name too, with somebody else, at a place of its own."""
    stage = ErasingStage(talk)
    stage.reply("сестра", people_operations=[added("Анна", "Сестра.", 1, circle="Family")])
    await stage.said("Анна — моя сестра")
    stage.archivist.script.clear()
    updated = {"id": 1, "bio": "Сестра. Танцует фламенко.", "aliases": ["Нюта"], "username": "nyuta_f"}
    stage.reply(
        "фламенко",
        people_operations=[
            {"type": "Updated", "person": updated, "evidence": [1]},
            added("Зураб", "Учит фламенко.", 1),
        ],
        facts=[fact("Зураб", "WORKS_FOR", "Студия Вихрь", "Зураб работает в студии «Вихрь»", 1)],
    )
    return stage


BEFORE = {"Анна": "Сестра. Танцует фламенко.", "Зураб": "Учит фламенко."}


async def second(stage: ErasingStage, kind: Kind) -> str:
    """The id of the message, or the fragment, that tells all that; what is said later tells nothing."""
    episode_id = await stage.said("Анна, она же Нюта @nyuta_f, учится фламенко у Зураба из студии «Вихрь»")
    stage.archivist.script.clear()
    assert await bios(stage) == BEFORE
    mine = [one for one in await stage.talk.messages() if one.episode_id == episode_id and one.role == "user"]
    return episode_id if kind == "episode" else mine[0].id


async def ask(stage: ErasingStage, kind: Kind, ref_id: str) -> Forgetting:
    now = stage.talk.clock.now()
    return await stage.talk.write(lambda c: requests.ask(c, OWNER, kind, ref_id, now=now))


async def sent(stage: ErasingStage) -> str:
    """All that the responder is sent with a question."""
    await stage.talk.exchange("Как там Анна и Зураб?")
    return str(stage.talk.responder.asked[-1])


async def names(stage: ErasingStage) -> list[tuple[Any, ...]]:
    return [(one.display_name, one.aliases, one.username) for one in await stage.people()]


@pytest.mark.parametrize("kind", ["episode", "message"])
async def test_what_rests_on_it_alone_is_out_of_sight_at_once(stage: ErasingStage, kind: Kind) -> None:
    """Sentences, names and people go from lists and prompts, and an undo puts all of it back in its place."""
    ref_id = await second(stage, kind)
    called = await names(stage)
    asked = await ask(stage, kind, ref_id)
    assert await bios(stage) == {"Анна": "Сестра."}
    assert await names(stage) == [("Анна", (), None)]
    prompt = await sent(stage)
    assert not [word for word in ("ламенко", "Нюта", "nyuta", "Учит", "Вихрь") if word in prompt]
    await stage.talk.write(lambda c: requests.undo(c, OWNER, asked.id))
    assert (await bios(stage), await names(stage)) == (BEFORE, called)
    assert "Танцует фламенко" in await sent(stage)


@pytest.mark.parametrize("kind", ["episode", "message"])
async def test_when_its_time_has_come_it_is_nowhere(stage: ErasingStage, kind: Kind) -> None:
    """What was set aside goes with what told it, to the last table."""
    await ask(stage, kind, await second(stage, kind))
    stage.talk.clock.advance(UNDO_WINDOW)
    await stage.eraser.erase_due()
    assert await bios(stage) == {"Анна": "Сестра."}
    for word in ("ламенко", "нюта", "nyuta", "вихрь"):
        assert await stage.tables_with(word) == set()


async def test_erased_otherwise_meanwhile_nothing_stays_aside(stage: ErasingStage) -> None:
    """REST's DELETE does not wait for the time to undo."""
    episode_id = await second(stage, "episode")
    await ask(stage, "episode", episode_id)
    await stage.forget("episode", episode_id)
    assert await stage.tables_with("ламенко") == set()


async def test_what_was_told_meanwhile_stays_with_an_undo(stage: ErasingStage) -> None:
    """A new sentence and a new name stand, and the old ones beside them."""
    asked = await ask(stage, "message", await second(stage, "message"))
    told = {"id": 1, "bio": "Сестра. Любит чай.", "aliases": ["Аннушка"]}
    stage.reply("чай", people_operations=[{"type": "Updated", "person": told, "evidence": [1]}])
    await stage.said("Аннушка любит чай")
    await stage.talk.write(lambda c: requests.undo(c, OWNER, asked.id))
    anna = (await stage.people())[0]
    assert anna.bio == "Сестра. Любит чай. Танцует фламенко."
    assert set(anna.names) == {"Анна", "Аннушка", "Нюта"}
    assert anna.username == "nyuta_f"


async def told_by_a_fact(stage: ErasingStage) -> str:
    """The id of the fact that the message about the dance tells."""
    await second(stage, "message")
    [told] = await stage.facts()
    return told.id


async def test_a_facts_messages_go_and_come_back_with_it(stage: ErasingStage) -> None:
    """Asked for after the fact, they wait as long as it does, and one undo brings back all of it as it was."""
    fact_id = await told_by_a_fact(stage)
    called = await names(stage)
    asked = await ask(stage, "fact", fact_id)
    stage.talk.clock.advance(60)
    now = stage.talk.clock.now()
    assert await stage.talk.write(lambda c: requests.ask_messages(c, OWNER, fact_id, now=now)) == asked
    assert len(await stage.talk.read(lambda c: pending_forgettings.messages_to_forget(c, OWNER))) == 1
    assert await bios(stage) == {"Анна": "Сестра."}
    await stage.talk.write(lambda c: requests.undo(c, OWNER, asked.id))
    assert (await bios(stage), await names(stage)) == (BEFORE, called)
    assert [one.id for one in await stage.facts()] == [fact_id]
    assert await stage.talk.read(lambda c: pending_forgettings.messages_to_forget(c, OWNER)) == set()


async def test_a_fact_and_its_messages_are_erased_together(stage: ErasingStage) -> None:
    """No table holds a word of them: the bot cannot quote what it does not have."""
    fact_id = await told_by_a_fact(stage)
    await ask(stage, "fact", fact_id)
    now = stage.talk.clock.now()
    await stage.talk.write(lambda c: requests.ask_messages(c, OWNER, fact_id, now=now))
    stage.talk.clock.advance(UNDO_WINDOW)
    await stage.eraser.erase_due()
    for word in ("ламенко", "вихр", "зураб"):
        assert await stage.tables_with(word) == set()


async def test_erased_at_once_a_fact_takes_its_messages_along(stage: ErasingStage) -> None:
    """As `laplaced forget --fact ID --messages` does; without it the message stays."""
    fact_id = await told_by_a_fact(stage)
    erased = await stage.eraser.erase_now(OWNER, "fact", fact_id, messages=True)
    assert (erased.erased["facts"], erased.erased["messages"]) == (1, 1)
    assert await stage.tables_with("ламенко") == set()


async def test_a_fact_that_fell_with_its_fragment_leaves_no_words_aside(stage: ErasingStage) -> None:
    """Its fragment was erased while it waited: what was set aside for it goes when its time has come."""
    stage.archivist.script["фламенко"]["people_operations"].append(added("Вера", "Работает в студии «Вихрь».", 1))
    stage.archivist.script["фламенко"]["facts"].append(fact("Вера", "AT", "Студия Вихрь", "Вера в студии «Вихрь»", 1))
    episode_id = await stage.said("фламенко, Зураб, Вера, «Вихрь»")
    found = next(one for one in await stage.facts() if one.fact == "Вера в студии «Вихрь»")
    await ask(stage, "fact", found.id)
    await stage.forget("episode", episode_id)
    stage.talk.clock.advance(UNDO_WINDOW)
    await stage.eraser.erase_due()
    assert await stage.tables_with("вихрь") == set()
