"""What several forgettings hide stays hidden until the last of them is undone, in whatever order that happens."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from itertools import combinations, permutations
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings, strategies as st
from sqlalchemy import Connection, select
from support.flows.erase_stage import ErasingStage, added, bios, fact
from support.flows.flow_stage import OWNER, Talk
from support.flows.random_episodes import EPISODES, NOON, Line, memory, tell
from support.long import LONG, examples

from internal.dialogue import repository as dialogue, search_item_repository as message_items
from internal.errors import NotFound
from internal.flows.forgetting import erase, requests
from internal.flows.forgetting.hide import show
from internal.flows.forgetting.requests import UNDO_WINDOW
from internal.flows.visibility.messages import messages_shown
from internal.graph import store
from internal.knowledge import fact_repository
from internal.people import repository as people, support
from internal.storage.engine.savepoints import taken_back
from internal.storage.forgetting import forgettings, hidings as hiding_rows
from internal.storage.forgetting.forgettings import Kind
from internal.storage.tables import graph_edges, graph_nodes, hidings, messages, search_items, suggestions

Target = tuple[Kind, str | None]

STUDIO = {"label": "Entity", "properties": {"name": "Студия Вихрь"}}
NOTE = {
    "label": "Memory",
    "properties": {"content": "Анна нашла занятия"},
    "links": [{"type": "MENTIONS", "to": STUDIO, "properties": {}}],
    "evidence": [1],
}


@pytest.fixture
async def stage(talk: Talk) -> ErasingStage:
    """One message tells of two people, a thing, a fact and a memory; another one of its fragment tells more of one."""
    stage = ErasingStage(talk)
    stage.reply("сестра", people_operations=[added("Анна", "Сестра.", 1, circle="Family")])
    await stage.said("Анна — моя сестра")
    stage.archivist.script.clear()
    updated = {"id": 1, "bio": "Сестра. Танцует фламенко.", "aliases": ["Нюта"], "username": "nyuta_f"}
    stage.reply(
        "фламенко",
        people_operations=[
            {"type": "Updated", "person": updated, "evidence": [1]},
            added("Зураб", "Учит фламенко. Работает в студии Вихрь.", 1),
        ],
        facts=[fact("Зураб", "WORKS_FOR", "Студия Вихрь", "Зураб работает в студии Вихрь", 1)],
        memories=[NOTE],
    )
    await stage.said("Анна, она же Нюта @nyuta_f, учится фламенко у Зураба из студии Вихрь", "Анна рада")
    stage.archivist.script.clear()
    return stage


def visible(connection: Connection) -> set[tuple[Any, ...]]:
    """Ids of all that lists, graph and search show, with the parts of profiles."""
    while message_items.put_some(connection, limit=100):
        pass
    nodes = connection.execute(select(graph_nodes.c.id)).scalars().all()
    edges = connection.execute(select(graph_edges.c.id)).scalars().all()
    said = dialogue.by_ids(connection, OWNER, connection.execute(select(messages.c.id)).scalars().all())
    found = connection.execute(select(search_items.c.item)).scalars()
    return {
        *(("node", one) for one in store.nodes_by_ids(connection, OWNER, nodes)),
        *(("edge", one) for one in edges if store.get_edge(connection, OWNER, one)),
        *(("message", one.id) for one in messages_shown(connection, OWNER, said)),
        *(("found", one) for one in found if one.startswith(("message:", "person:"))),
        *(
            ("part", one.id, part.kind, part.text)
            for one in people.listing(connection, OWNER)
            for part in support.parts(one).values()
        ),
    }


def left_by_erasing(connection: Connection) -> set[tuple[Any, ...]]:
    """What would be visible if everything pending were erased now, in its order."""
    with taken_back(connection):
        for asked in forgettings.pending(connection, OWNER):
            taken = hiding_rows.of_requests(connection, OWNER, [asked.id], "message")
            forgettings.close(connection, asked, "done")
            erase.erase(connection, asked, taken, key=b"k" * 32, now=asked.due_at, wipe=False)
            show(connection, asked)
        return visible(connection)


class Asker:
    """Asks and undoes, one second after the other; what is hidden is always what will be erased."""

    def __init__(self, connection: Connection) -> None:
        self.connection, self.now = connection, NOON + timedelta(days=300)
        self.pending: dict[Target, str] = {}
        self.everything = visible(connection)
        self.left: dict[tuple[Target, ...], set[tuple[Any, ...]]] = {}

    def ask(self, target: Target) -> bool:
        """False for what another request hides: it cannot be named any more. A fact takes its messages along."""
        self.now += timedelta(seconds=1)
        try:
            asked = requests.ask(self.connection, OWNER, *target, now=self.now)
        except NotFound:
            return False
        if target[0] == "fact":
            requests.ask_messages(self.connection, OWNER, asked.ref_id or "", now=self.now)
        self.pending[target] = asked.id
        return True

    def undo(self, target: Target) -> None:
        requests.undo(self.connection, OWNER, self.pending.pop(target))

    def check(self) -> None:
        shown, waiting = visible(self.connection), tuple(self.pending)
        if waiting not in self.left:
            self.left[waiting] = self.everything & left_by_erasing(self.connection)
        assert shown == self.left[waiting], waiting
        if not waiting:
            assert shown == self.everything
            assert self.connection.execute(select(hidings)).all() == []
            assert self.connection.execute(select(suggestions).where(suggestions.c.kind == "set_aside")).all() == []

    def undo_in_every_order(self) -> None:
        self.check()
        for target in list(self.pending):
            before = dict(self.pending)
            self.connection.exec_driver_sql("SAVEPOINT undone")
            self.undo(target)
            self.undo_in_every_order()
            self.connection.exec_driver_sql("ROLLBACK TO SAVEPOINT undone")
            self.connection.exec_driver_sql("RELEASE SAVEPOINT undone")
            self.pending = before


def hidden_by_each(asker: Asker, targets: Sequence[Target]) -> dict[Target, set[tuple[Any, ...]]]:
    """What each request hides when it is the only one; an undo brings all of it back."""
    found = {}
    for target in targets:
        assert asker.ask(target), target
        found[target] = asker.everything - visible(asker.connection)
        assert found[target], target
        asker.undo(target)
        asker.check()
    return found


async def test_every_two_forgettings_in_every_order(stage: ErasingStage) -> None:
    """A fact, a thing, a memory, a person, a message, an episode and everything: each pair, undone both ways.

    In the long run also asked for both ways; in the short one every second pair, in turn one or the other way round.
    At least what the pending ones hide each by itself is hidden; after the last undo all is as it was.
    """

    def work(connection: Connection) -> None:
        [works] = fact_repository.every(connection, OWNER)
        said = connection.execute(select(messages).where(messages.c.content.contains("фламенко"))).one()
        [zurab] = [one for one in people.listing(connection, OWNER) if one.display_name == "Зураб"]
        [note] = connection.execute(select(graph_nodes.c.id).where(graph_nodes.c.label == "Memory")).scalars()
        targets: list[Target] = [
            ("fact", works.id), ("entity", works.target), ("memory", note), ("person", str(zurab.id)),
            ("message", said.id), ("episode", said.episode_id), ("everything", None),
        ]  # fmt: skip
        asker = Asker(connection)
        alone = hidden_by_each(asker, targets)
        pairs = [pair[:: 1 - 2 * (n % 2)] for n, pair in enumerate(list(combinations(targets, 2))[::2])]
        for first, second in permutations(targets, 2) if LONG else pairs:
            assert asker.ask(first)
            if not asker.ask(second):
                assert any(one in alone[first] for one in alone[second]), (first, second)
            assert not visible(connection) & set().union(*(alone[one] for one in asker.pending))
            asker.undo_in_every_order()
            for target in list(asker.pending):
                asker.undo(target)

    await stage.database.write(work)


def test_shared_messages_in_every_order() -> None:
    """Two facts of one message, a fact of two messages, and an answer that quotes both: three of them at once.

    Whatever is undone first, the others' messages and answers stay hidden and are erased.
    """
    with memory() as connection:
        tell(connection, 1, [Line("Анна", "", None, "Київ", 2020, "чай")])
        tell(connection, 2, [Line("Анна", "", None, "Київ", 2020, "кава")])
        both = [f"message-{n}-1" for n in (1, 2)]
        words = " и ".join(one.content for one in dialogue.by_ids(connection, OWNER, both))
        dialogue.add(connection, OWNER, "assistant", f"Ты говорила: {words}", now=NOON + timedelta(days=1))
        for message in dialogue.by_ids(connection, OWNER, connection.execute(select(messages.c.id)).scalars().all()):
            message_items.put_item(connection, message)
        facts = [one.id for one in fact_repository.every(connection, OWNER) if "кава" not in one.fact]
        targets: list[Target] = [*(("fact", one) for one in facts), *(("message", one) for one in both)]
        asker = Asker(connection)
        assert len(targets) == 4
        for chosen in list(combinations(targets, 3))[:: 1 if LONG else 3]:
            for target in chosen:
                asker.ask(target)
            asker.undo_in_every_order()
            for target in list(asker.pending):
                asker.undo(target)


@settings(max_examples=examples(8), derandomize=True, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(told=EPISODES, data=st.data())
def test_hidden_is_what_the_pending_requests_will_erase(told: list[list[Line]], data: st.DataObject) -> None:
    """Whatever was said, and in whatever order requests are made and undone."""
    with memory() as connection:
        targets: list[Target] = [("everything", None)]
        for number, lines in enumerate(told, start=1):
            tell(connection, number, lines)
            targets.append(("episode", f"episode-{number}"))
            targets += [("message", f"message-{number}-{n}") for n in range(1, len(lines) + 1)]
        targets += [("person", str(one.id)) for one in people.listing(connection, OWNER)]
        for one in fact_repository.every(connection, OWNER)[:3]:
            targets += [("fact", one.id), ("entity", one.target)]
        for message in dialogue.by_ids(connection, OWNER, connection.execute(select(messages.c.id)).scalars().all()):
            message_items.put_item(connection, message)
        for person in people.listing(connection, OWNER):
            people.put_search_item(connection, person)
        asker, targets = Asker(connection), list(dict.fromkeys(targets))
        hidden_by_each(asker, targets)
        for target in data.draw(st.lists(st.sampled_from(targets), max_size=8)):
            if target in asker.pending:
                asker.undo(target)
            else:
                asker.ask(target)
            asker.check()


async def test_a_sentence_does_not_come_back_after_its_message_was_erased(stage: ErasingStage) -> None:
    """Hidden with a fact, it goes with the message that supports it, though the fact's forgetting is undone."""

    def work(connection: Connection) -> str:
        [works] = fact_repository.every(connection, OWNER)
        return requests.ask(connection, OWNER, "fact", works.id, now=stage.talk.clock.now()).id

    said = await stage.talk.read(
        lambda c: c.execute(select(messages).where(messages.c.content.contains("фламенко"))).one()
    )
    asked = await stage.database.write(work)
    assert "Вихрь" not in str(await bios(stage))
    await stage.eraser.erase_now(OWNER, "message", said.id)
    await stage.database.write(lambda c: requests.undo(c, OWNER, asked))
    assert await bios(stage) == {"Анна": "Сестра."}
    stage.talk.clock.advance(UNDO_WINDOW)
    await stage.eraser.erase_due()
    assert await stage.tables_with("Вихрь") == set()


async def test_erased_at_once_while_another_waits(talk: Talk) -> None:
    """Of the two messages that state a fact one waits, the other is erased over REST: now the fact waits too."""
    stage = ErasingStage(talk)
    stage.reply("чай", facts=[fact("user", "LIKES", "чай", "Любит чай", 1)])
    await stage.said("Люблю чай")
    await stage.said("Да, очень люблю чай")
    first, second = [one.id for one in await talk.messages() if one.role == "user"]
    now = talk.clock.now()
    asked = await talk.write(lambda c: requests.ask(c, OWNER, "message", first, now=now))
    assert len(await stage.facts()) == 1
    await stage.forget("message", second)
    assert await stage.facts() == []
    await talk.write(lambda c: requests.undo(c, OWNER, asked.id))
    assert len(await stage.facts()) == 1
