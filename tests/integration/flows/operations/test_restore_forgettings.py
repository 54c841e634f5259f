"""A restored backup learns what was forgotten since: of every kind, also what it does not know under that id."""

from datetime import timedelta
from pathlib import Path

from sqlalchemy import Connection, select, update
from support.flows.erase_stage import KEY, ErasingStage
from support.flows.flow_stage import OWNER, Talk

from internal.flows.forgetting import requests
from internal.flows.operations.restore import restore
from internal.flows.visibility.pending_forgettings import messages_to_forget
from internal.graph import store
from internal.graph.model import NodeFilter
from internal.knowledge import service as knowledge
from internal.knowledge.model import FactFilter
from internal.storage.backup import backup
from internal.storage.database import Database
from internal.storage.tables import episodes, messages, users
from internal.testing import FIRST_MOMENT

FAR = FIRST_MOMENT + timedelta(days=9)


def fact(relation: str, target: str, words: str) -> dict[str, object]:
    return {"source": "user", "relation": relation, "target": target, "fact": words, "evidence": [1]}


def known(connection: Connection) -> tuple[list[str], list[str]]:
    """The facts, those hidden apart, and the messages."""
    found = knowledge.facts_about(connection, OWNER, FactFilter(), now=FAR)
    return [one.fact for one in found], list(connection.execute(select(messages.c.content)).scalars())


def _goals(connection: Connection) -> list[str]:
    return [node.id for node in store.nodes(connection, OWNER, NodeFilter(labels=["Goal"]))]


async def test_each_kind_is_forgotten_again(talk: Talk, tmp_path: Path) -> None:
    """A fact, a thing, a memory, a text, a fragment and a message of the backup are erased first."""
    stage = ErasingStage(talk)
    stage.reply("чай", facts=[fact("LIKES", "чай", "Любит чай")])
    stage.reply("кава", facts=[fact("LIKES", "кава", "Любит каву")])
    stage.reply("море", facts=[fact("LIKES", "море", "Любит море")])
    goal = {"label": "Goal", "properties": {"description": "посадити дуб"}, "evidence": [1]}
    stage.reply("ліс", facts=[fact("LIKES", "ліс", "Любит ліс")], memories=[goal])
    fragment = await stage.said("Люблю чай")
    text = await stage.told("Люблю море")
    await stage.said("Люблю каву, кава найкраща", "Секрет")
    await stage.told("Люблю ліс")
    facts = {one.fact: one for one in await stage.facts()}
    assert len(facts) == 4
    secret = next(one for one in await talk.messages() if one.content == "Секрет")
    made = await backup.back_up(stage.database.path, tmp_path / "backups", talk.clock.now())
    await stage.forget("episode", fragment)
    await stage.forget("episode", text)
    await stage.forget("fact", facts["Любит каву"].id)
    await stage.forget("message", secret.id)
    [planted] = await talk.read(_goals)
    await stage.forget("memory", planted)
    now = talk.clock.now()
    waiting = await talk.write(lambda c: requests.ask(c, OWNER, "entity", facts["Любит ліс"].target, now=now))
    here = await talk.read(known)
    talk.clock.advance(60)

    target = tmp_path / "copy.db"
    await backup.back_up_to(stage.database.path, target, talk.clock.now())
    done = await restore(made.path, target, clock=talk.clock, tombstone_key=KEY, force=True)

    assert done.forgotten is not None
    assert done.forgotten >= 6
    async with Database.open(target) as restored:
        assert await restored.read(_goals) == []
        assert await restored.read(known) == here == ([], ["Люблю каву, кава найкраща", "Answer.", "Answer."])
        await restored.write(lambda c: requests.undo(c, OWNER, waiting.id))
        assert (await restored.read(known))[0] == ["Любит ліс"]
    for word in ("море", "чай", "Секрет", "посадити дуб"):
        assert word.encode() not in target.read_bytes()


async def test_messages_of_a_fragment_that_the_backup_does_not_know(talk: Talk, tmp_path: Path) -> None:
    """They were published after it was made: they go all the same."""
    stage = ErasingStage(talk)
    await talk.exchange("Канарейка")
    made = await backup.back_up(stage.database.path, tmp_path / "backups", talk.clock.now())
    await talk.publication().publish_now(OWNER)
    episode = await talk.read(lambda c: c.execute(select(episodes.c.id)).scalar_one())
    await stage.forget("episode", episode)
    target = tmp_path / "copy.db"
    await backup.back_up_to(stage.database.path, target, talk.clock.now())
    await restore(made.path, target, clock=talk.clock, tombstone_key=KEY, force=True)
    async with Database.open(target) as restored:
        assert (await restored.read(known))[1] == []
    assert "Канарейка".encode() not in target.read_bytes()


async def test_of_another_instance_nothing_is_learnt(talk: Talk, tmp_path: Path) -> None:
    """An owner who was admitted at another moment is another installation's: its forgettings are its own."""
    stage = ErasingStage(talk)
    stage.reply("чай", facts=[fact("LIKES", "чай", "Любит чай")])
    await stage.told("Люблю чай")
    (liked,) = await stage.facts()
    made = await backup.back_up(stage.database.path, tmp_path / "backups", talk.clock.now())
    await stage.forget("fact", liked.id)
    users_of = tmp_path / "copy.db"
    await backup.back_up_to(stage.database.path, users_of, talk.clock.now())
    async with Database.open(users_of) as other:
        later = talk.clock.now()
        await other.write(lambda c: c.execute(update(users).values(created_at=later)))
    await restore(made.path, users_of, clock=talk.clock, tombstone_key=KEY, force=True)
    async with Database.open(users_of) as restored:
        assert (await restored.read(known))[0] == ["Любит чай"]


async def test_messages_wait_with_their_fact(talk: Talk, tmp_path: Path) -> None:
    """A fact that waits to be forgotten with the message that stated it: hidden after a restore too, undone with it."""
    stage = ErasingStage(talk)
    stage.reply("чай", facts=[fact("LIKES", "чай", "Любит чай")])
    await stage.said("Люблю чай")
    made = await backup.back_up(stage.database.path, tmp_path / "backups", talk.clock.now())
    [liked] = await stage.facts()
    now = talk.clock.now()
    asked = await talk.write(lambda c: requests.ask(c, OWNER, "fact", liked.id, now=now))
    await talk.write(lambda c: requests.ask_messages(c, OWNER, liked.id, now=now))
    target = tmp_path / "copy.db"
    await backup.back_up_to(stage.database.path, target, talk.clock.now())
    await restore(made.path, target, clock=talk.clock, tombstone_key=KEY, force=True)
    async with Database.open(target) as restored:
        assert len(await restored.read(lambda c: messages_to_forget(c, OWNER))) == 1
        await restored.write(lambda c: requests.undo(c, OWNER, asked.id))
        assert await restored.read(lambda c: messages_to_forget(c, OWNER)) == set()
        assert (await restored.read(known))[0] == ["Любит чай"]
