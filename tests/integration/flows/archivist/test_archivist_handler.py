"""What the archivist is shown of a fragment, and that nothing is derived from what changed while it read."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

import pytest
from hypothesis import given, strategies as st
from sqlalchemy import Connection, delete, select
from support.flows.flow_stage import OTHER, OWNER, Talk
from support.stores.stored_values import agent_value

from internal.agents.archivist.reply.name_matcher import NameMatcher
from internal.agents.model import AgentReply, ArchivistRequest, SamePersonHint
from internal.events import agent_state_repository as agent_state
from internal.flows.archival.ingestion import add_episode, text_segments
from internal.flows.archivist.handler import SHOWN_PEOPLE, ArchivistHandler, ArchivistInput, choose
from internal.flows.archivist.name_reader import WorkerNameReader
from internal.flows.archivist.resolve_reply import ReplyResolver
from internal.flows.archivist.write_mentions import MentionFinder
from internal.flows.runs.handler import Prepared, StaleInput
from internal.graph import store
from internal.graph.store import owner_node_id
from internal.knowledge import service as knowledge
from internal.knowledge.entities.types import EntityTypes
from internal.knowledge.model import Fact, FactFilter
from internal.language.worker.process_pool import LanguageWorker
from internal.people import repository as people
from internal.people.model import Circle, Person
from internal.scheduling import run_repository as runs
from internal.scheduling.run import Run
from internal.storage import tables
from internal.testing import FIRST_MOMENT, TrigramEmbedder

ADDED = {"type": "Added", "person": {"display_name": "Петров", "circle": "Friends"}, "evidence": [1]}
MANY = SHOWN_PEOPLE + 50


class LiteralNames:
    """A NameReader that knows a name only as it is written; a message that is part of a name hints at its bearer."""

    async def hints(self, known: Sequence[Person], texts: Sequence[str]) -> list[SamePersonHint]:
        return [SamePersonHint(text, one.id, "prefix") for text in texts for one in known if text in one.display_name]

    async def mentions(self, known: Sequence[Person], texts: Sequence[str]) -> list[set[int]]:
        return [{one.id for one in known if one.display_name in text} for text in texts]


@dataclass
class Answering:
    """An Archivist that answers with one reply, after what the test lets happen meanwhile."""

    reply: dict[str, Any] = field(default_factory=lambda: {"people_operations": [ADDED]})
    asked: list[ArchivistRequest] = field(default_factory=list)

    async def ask(self, request: ArchivistRequest) -> AgentReply:
        self.asked.append(request)
        return AgentReply(json.dumps(self.reply), "scripted")


@dataclass
class Counted:
    applied: list[tuple[int, str, int]] = field(default_factory=list)
    refused: list[str] = field(default_factory=list)
    facts: list[tuple[str, int]] = field(default_factory=list)
    memories: list[tuple[str, int]] = field(default_factory=list)
    timed: list[int] = field(default_factory=list)
    woken: int = 0

    def people_applied(self, user_id: int, op_type: str, count: int = 1) -> None:
        self.applied.append((user_id, op_type, count))

    def facts_changed(self, outcome: str, count: int = 1) -> None:
        self.facts.append((outcome, count))

    def memories_changed(self, outcome: str, count: int = 1) -> None:
        self.memories.append((outcome, count))

    def operation_refused(self, agent: str, reason: str) -> None:
        self.refused.append(reason)

    def extraction_seconds(self, user_id: int, seconds: float) -> None:
        self.timed.append(user_id)

    def wake(self) -> None:
        self.woken += 1


class Stage:
    """One owner's fragment and the handler that archives it."""

    def __init__(self, talk: Talk, worker: LanguageWorker) -> None:
        self.talk, self.archivist, self.counted = talk, Answering(), Counted()
        self.handler = ArchivistHandler(
            talk.database,
            talk.clock,
            self.archivist,
            LiteralNames(),
            ReplyResolver(talk.database, NameMatcher(worker, TrigramEmbedder())),
            self.counted,
            mentions=MentionFinder(talk.database, WorkerNameReader(worker)),
            types=EntityTypes(),
            persona_name="Laplaced",
            tombstone_key=b"k" * 32,
            ask_owner=lambda connection, user_id, links, now: None,
            wake=self.counted.wake,
        )

    async def fragment(self, *said: str) -> Run:
        """The run of a fragment in which this was said and answered."""
        for text in said:
            await self.talk.exchange(text)
        await self.talk.publication().publish_now(OWNER)
        (run,) = await self.talk.read(lambda c: runs.ready_runs(c, "archivist", self.talk.clock.now(), limit=9))
        return run

    async def ask(self, run: Run) -> tuple[Prepared[ArchivistInput], str]:
        prepared = await self.handler.prepare(run)
        return prepared, (await self.handler.ask(prepared)).text

    async def apply(self, run: Run, prepared: Prepared[ArchivistInput], reply: str) -> None:
        now = self.talk.clock.now()
        resolved = await self.handler.resolve(run, prepared, reply)
        effects = await self.talk.write(lambda c: self.handler.apply(c, run, prepared, resolved, now))
        effects.after_commit()

    async def facts(self, **wanted: Any) -> list[Fact]:
        now = self.talk.clock.now()
        return await self.talk.read(lambda c: knowledge.facts_about(c, OWNER, FactFilter(**wanted), now=now))

    async def people(self, user_id: int = OWNER) -> list[Person]:
        return await self.talk.read(lambda c: people.listing(c, user_id))


@pytest.fixture
async def worker() -> AsyncIterator[LanguageWorker]:
    language = LanguageWorker()
    yield language
    await language.close()


@pytest.fixture
def stage(talk: Talk, worker: LanguageWorker) -> Stage:
    return Stage(talk, worker)


def profile(number: int, name: str, *, circle: Circle = Circle.OTHER, days: int = 0, user_id: int = OWNER) -> Person:
    seen = FIRST_MOMENT + timedelta(days=days)
    return Person(number, user_id, f"entity-{user_id}-{number}-{name}", name, circle, "", seen, seen)


def remember(stage: Stage, profiles: Sequence[Person]) -> Callable[[Connection], list[Person]]:
    return lambda c: [people.create(c, one, by="archivist", now=stage.talk.clock.now()) for one in profiles]


async def test_a_fragment_becomes_people(stage: Stage) -> None:
    """The archivist sees its lines in order, the assistant's among them; what it adds is there after the commit."""
    run = await stage.fragment("Встретил Петрова")
    await stage.apply(run, *await stage.ask(run))
    (request,) = stage.archivist.asked
    assert [(one.number, one.role, one.speaker) for one in request.transcript] == [
        (1, "user", "Olena"),
        (2, "assistant", "Laplaced"),
    ]
    assert [person.display_name for person in await stage.people()] == ["Петров"]
    assert (stage.counted.applied, stage.counted.timed) == ([(OWNER, "Added", 1)], [OWNER])
    assert stage.counted.woken == 1
    mine = agent_state.agent_id("archivist", OWNER)
    cursor = await stage.talk.read(lambda c: agent_value(c, mine, "cursor"))
    assert cursor == {"run": run.id, "fragment": run.episode_id, "rev": run.rev}


async def test_what_was_edited_meanwhile_proves_nothing(stage: Stage) -> None:
    """Nothing of the reply is written; asked again, the archivist sees the new words, and that is applied."""
    run = await stage.fragment("Встретил Петрова")
    stale = await stage.ask(run)
    (question, _) = await stage.talk.messages()
    await stage.talk.edit(question, "Встретил Сидорова")
    with pytest.raises(StaleInput):
        await stage.apply(run, *stale)
    assert await stage.people() == []
    assert stage.counted.applied == []
    await stage.apply(run, *await stage.ask(run))
    assert stage.archivist.asked[-1].transcript[0].text == "Встретил Сидорова"
    assert len(await stage.people()) == 1


async def test_what_was_deleted_meanwhile_proves_nothing(stage: Stage) -> None:
    """Asked again, the archivist sees what is left, under numbers of its own."""
    run = await stage.fragment("Встретил Петрова", "Он теперь врач")
    stale = await stage.ask(run)
    gone = (await stage.talk.messages())[0]
    await stage.talk.write(lambda c: c.execute(delete(tables.messages).where(tables.messages.c.id == gone.id)))
    with pytest.raises(StaleInput):
        await stage.apply(run, *stale)
    assert await stage.people() == []
    prepared, _ = await stage.ask(run)
    assert [one.text for one in prepared.input.request.transcript] == ["Answer.", "Он теперь врач", "Answer."]
    assert [one.number for one in prepared.input.request.transcript] == [1, 2, 3]


async def test_a_fragment_of_which_nothing_is_left_costs_no_call(stage: Stage) -> None:
    """It is applied as a conversation about nobody."""
    run = await stage.fragment("Встретил Петрова")
    await stage.talk.write(lambda c: c.execute(delete(tables.messages).where(tables.messages.c.user_id == OWNER)))
    await stage.apply(run, *await stage.ask(run))
    assert (stage.archivist.asked, await stage.people()) == ([], [])


async def test_a_reply_that_was_stored_is_compared_with_what_was_shown_then(stage: Stage) -> None:
    """After a restart the slice is read anew: the snapshot that lies beside the reply is the older one, and counts."""
    run = await stage.fragment("Встретил Петрова")
    shown, reply = await stage.ask(run)
    stored = await stage.talk.write(lambda c: _stored(c, run, shown.snapshot, reply))
    (question, _) = await stage.talk.messages()
    await stage.talk.edit(question, "Встретил Сидорова")
    with pytest.raises(StaleInput):
        await stage.apply(stored, await stage.handler.prepare(stored), reply)


def _stored(connection: Connection, run: Run, snapshot: dict[str, Any], reply: str) -> Run:
    table = tables.runs
    done = table.update().where(table.c.id == run.id).values(state="replied", snapshot=snapshot, reply=reply)
    connection.execute(done)
    return runs._run(connection.execute(select(table).where(table.c.id == run.id)).one())


async def test_of_very_many_people_those_who_are_named_are_shown(stage: Stage) -> None:
    """However far and long ago; those who are not shown cannot be named by id."""
    named = profile(0, "Встретил Петрова", days=-900)
    crowd = [profile(0, f"Прохожий {number}", days=number) for number in range(MANY)]
    known = await stage.talk.write(remember(stage, [named, *crowd]))
    run = await stage.fragment("Встретил Петрова")
    prepared, _ = await stage.ask(run)
    shown = [person.id for person in prepared.input.request.people]
    assert len(shown) == SHOWN_PEOPLE
    assert shown == sorted(shown) == prepared.snapshot["people"]
    assert known[0].id in shown
    assert [hint.person_id for hint in prepared.input.request.hints] == [known[0].id]
    assert list(prepared.input.mentioned) == [known[0].id]
    unseen = next(person.id for person in known if person.id not in shown)
    reply = {"people_operations": [{"type": "Updated", "person": {"id": unseen, "bio": "Врач"}, "evidence": [1]}]}
    await stage.apply(run, prepared, json.dumps(reply))
    assert stage.counted.refused == ["unknown_id"]


async def test_hints_at_people_who_are_not_shown_are_left_out(stage: Stage) -> None:
    """They would name ids that the archivist knows nothing about."""
    await stage.talk.write(remember(stage, [profile(0, f"Тётя {number}") for number in range(MANY)]))
    prepared = await stage.handler.prepare(await stage.fragment("Тётя"))
    request = prepared.input.request
    assert {hint.person_id for hint in request.hints} == {person.id for person in request.people}
    assert len(request.people) == SHOWN_PEOPLE


async def test_nobody_elses_people_are_shown(stage: Stage) -> None:
    """Another owner's memory is another memory."""
    await stage.talk.write(remember(stage, [profile(0, "Встретил Петрова", user_id=OTHER)]))
    run = await stage.fragment("Встретил Петрова")
    prepared, reply = await stage.ask(run)
    assert (prepared.input.request.people, prepared.input.mentioned) == ([], {})
    await stage.apply(run, prepared, reply)
    assert len(await stage.people()) == 1
    assert [person.mention_count for person in await stage.people(OTHER)] == [0]


def crowd_of(count: int) -> list[Person]:
    return [profile(number, f"Прохожий {number}", days=number % 400) for number in range(1, count + 1)]


@pytest.mark.parametrize("count", [0, 1, SHOWN_PEOPLE])
def test_everybody_is_shown_while_they_are_few(count: int) -> None:
    """In their own order."""
    crowd = crowd_of(count)
    assert choose(crowd, {1}) == crowd


def test_the_likely_come_before_the_closest_and_those_before_the_most_recent() -> None:
    """Of too many people the farthest, longest unseen and unmentioned are left out."""
    crowd = crowd_of(MANY)
    family = [profile(MANY + number, "Тётя", circle=Circle.FAMILY, days=-500) for number in range(1, 11)]
    likely = {person.id for person in crowd[:5]}
    shown = choose([*crowd, *family], likely)
    ids = {person.id for person in shown}
    assert likely | {person.id for person in family} <= ids
    others = [person for person in crowd if person.id not in likely]
    latest = sorted(others, key=lambda person: person.last_seen, reverse=True)[: SHOWN_PEOPLE - 15]
    assert {person.last_seen for person in latest} == {one.last_seen for one in shown if one in others}


@given(st.integers(SHOWN_PEOPLE + 1, MANY), st.sets(st.integers(1, MANY), max_size=MANY))
def test_a_choice_is_full_ordered_and_prefers_the_likely(count: int, likely: set[int]) -> None:
    """Whoever is likely is left out only for somebody as likely."""
    shown = [person.id for person in choose(crowd_of(count), likely)]
    assert len(shown) == len(set(shown)) == SHOWN_PEOPLE
    assert shown == sorted(shown)
    wanted = {one for one in likely if one <= count}
    assert len(wanted & set(shown)) == min(len(wanted), SHOWN_PEOPLE)


WORKS = {
    "source": "Петров", "relation": "WORKS_FOR", "target": "ACME", "fact": "Петров работает в ACME",
    "valid_at": None, "invalid_at": None, "entity_types": {"ACME": "Organization"}, "evidence": [1],
}  # fmt: skip


async def test_facts_of_a_reply_join_its_people_with_receipts(stage: Stage) -> None:
    """The fact runs from the person's own entity, since the message's time, supported by its very words."""
    stage.archivist.reply = {"people_operations": [ADDED], "facts": [WORKS]}
    run = await stage.fragment("Петров работает в ACME")
    await stage.apply(run, *await stage.ask(run))
    ((petrov,), (fact,), (said, _)) = await stage.people(), await stage.facts(), await stage.talk.messages()
    assert (fact.source, fact.target_name, fact.name) == (petrov.entity_id, "ACME", "WORKS_FOR")
    assert (fact.valid_at, fact.episodes) == (said.timestamp, (run.episode_id,))
    (line,) = await stage.talk.read(lambda c: knowledge.evidence_of_fact(c, OWNER, fact.id))
    assert (line.quote, line.message_id) == ("Петров работает в ACME", said.id)
    assert ("created", 1) in stage.counted.facts


async def test_the_next_slice_is_told_what_is_known(stage: Stage) -> None:
    """Things that it may mean are shown with their types, facts with the day since when they hold."""
    stage.archivist.reply = {"people_operations": [ADDED], "facts": [WORKS]}
    run = await stage.fragment("Петров работает в ACME")
    await stage.apply(run, *await stage.ask(run))
    await stage.ask(await stage.fragment("Видел Петрова у ACME"))
    request = stage.archivist.asked[-1]
    assert [(one.name, one.type) for one in request.entities] == [("ACME", "Organization")]
    assert request.facts == [f"Петров работает в ACME (since {FIRST_MOMENT:%Y-%m-%d})"]


async def test_of_a_merge_the_facts_are_told_of_who_is_left(stage: Stage) -> None:
    """What was told of both is one fact of the target afterwards."""
    second = {"type": "Added", "person": {"display_name": "Саша"}, "evidence": [1]}
    told = [{**WORKS, "source": name, "fact": f"{name} работает в ACME"} for name in ("Петров", "Саша")]
    stage.archivist.reply = {"people_operations": [ADDED, second], "facts": told}
    run = await stage.fragment("Петров и Саша работают в ACME")
    await stage.apply(run, *await stage.ask(run))
    ids = {one.display_name: one.id for one in await stage.people()}
    merged = {"type": "Merged", "source_id": ids["Саша"], "target_id": ids["Петров"], "reason": "один", "evidence": [1]}
    stage.archivist.reply = {"people_operations": [merged]}
    run = await stage.fragment("Саша это и есть Петров")
    await stage.apply(run, *await stage.ask(run))
    ((petrov,), (fact,)) = await stage.people(), await stage.facts()
    assert fact.source == petrov.entity_id


async def test_a_text_is_archived_like_a_dialogue(stage: Stage) -> None:
    """Its segments are the lines; it may testify about the owner, and its facts hold since its reference time."""
    then = FIRST_MOMENT - timedelta(days=400)
    stored = await stage.talk.write(
        lambda c: add_episode(
            c, OWNER, source="text", name="note", segments=text_segments("Я живу во Львове.", then),
            source_description="a note", source_url=None, reference_time=then, dedupe=None, agents=["archivist"],
            now=stage.talk.clock.now(),
        )
    )  # fmt: skip
    lives = {"source": "user", "relation": "LIVES_IN", "target": "Львов", "fact": "Живёт во Львове", "evidence": [1]}
    stage.archivist.reply = {"facts": [lives]}
    (run,) = await stage.talk.read(lambda c: runs.ready_runs(c, "archivist", stage.talk.clock.now(), limit=9))
    await stage.apply(run, *await stage.ask(run))
    (fact,) = await stage.facts()
    assert (fact.source, fact.valid_at) == (owner_node_id(OWNER), then)
    assert fact.episodes == (stored.episode.id,)
    assert stage.archivist.asked[-1].transcript[0].text == "Я живу во Львове."


async def test_the_assistants_words_make_no_fact(stage: Stage) -> None:
    """Nothing is written of what only the assistant said; the refusal is counted."""
    stage.archivist.reply = {"people_operations": [], "facts": [{**WORKS, "evidence": [2]}]}
    run = await stage.fragment("Кто такой Петров?")
    await stage.apply(run, *await stage.ask(run))
    assert await stage.facts() == []
    assert stage.counted.refused == ["assistant_only"]


async def test_who_was_only_spoken_of_becomes_the_person(stage: Stage) -> None:
    """A fact told before its person had a profile is the person's own afterwards, and there is one node of the name."""
    spoken_of = {**WORKS, "entity_types": {"Петров": "Person", "ACME": "Organization"}}
    stage.archivist.reply = {"people_operations": [], "facts": [spoken_of]}
    run = await stage.fragment("Петров работает в ACME")
    await stage.apply(run, *await stage.ask(run))
    (before,) = await stage.facts()
    stage.archivist.reply = {"people_operations": [ADDED]}
    run = await stage.fragment("Петров мой друг")
    await stage.apply(run, *await stage.ask(run))
    ((petrov,), (fact,)) = await stage.people(), await stage.facts()
    assert (fact.source, fact.id, fact.episodes) == (petrov.entity_id, before.id, before.episodes)
    called = await stage.talk.read(lambda c: store.nodes_called(c, OWNER, ["Петров"]))
    assert [node.id for node in called] == [petrov.entity_id]
