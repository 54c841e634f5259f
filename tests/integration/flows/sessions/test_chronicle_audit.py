"""The audit of a chronicle finds every kind of harm, and a repair mends what can be mended."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any, ParamSpec, TypeVar

import pytest
from sqlalchemy import text, update
from support.flows.chronicle_stage import check_line
from support.flows.flow_stage import OWNER, Talk
from test_chronicle import judged, sessions, silence

from internal.chronicle import audit, repository
from internal.chronicle.model import Audit
from internal.dialogue import repository as dialogue
from internal.errors import ModelUnavailable
from internal.flows.merging import entities
from internal.flows.sessions.audit import ChronicleAudit
from internal.flows.sessions.lifecycle import UNJUDGED, SessionLifecycle
from internal.graph import store
from internal.graph.model import Node
from internal.people import repository as people, service as people_service
from internal.people.service import TelegramAccount
from internal.people.suggestion_repository import pending
from internal.scheduling import run_repository as runs
from internal.storage.tables import people as people_table

P = ParamSpec("P")
T = TypeVar("T")

WHOLE = Audit(1.0, 1.0, 1.0, 1.0, 0)


class LanguageHere:
    """The language process, in this process; or none, when it is down."""

    def __init__(self) -> None:
        self.down = False

    async def run_bulk(self, function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        if self.down:
            raise ModelUnavailable("the language process is down")
        return function(*args, **kwargs)


def auditing(talk: Talk, lifecycle: SessionLifecycle = UNJUDGED) -> ChronicleAudit:
    return ChronicleAudit(talk.database, talk.clock, LanguageHere(), lifecycle)


async def harm(talk: Talk, statement: str) -> None:
    assert (await talk.write(lambda c: c.execute(text(statement)))).rowcount > 0


async def talked(talk: Talk) -> None:
    """Two closed sessions that are judged, and one that goes on."""
    for number in range(2):
        await talk.exchange(f"Question {number}", f"Answer {number}.")
        await talk.exchange(f"And then {number}?", f"That {number}.")
        await silence(talk)
        await judged(talk, (await sessions(talk))[number])
    await talk.exchange("Now", "Yes.")


async def entity(talk: Talk, name: str, **told: Any) -> Node:
    def work(connection: Any) -> Node:
        node = store.add_node(connection, OWNER, "Entity", {"name": name, **told}, now=talk.clock.now())
        other = store.add_node(connection, OWNER, "Topic", {"name": f"Topic of {name}"}, now=talk.clock.now())
        fact = {"name": "IS_ABOUT", "fact": f"{name} is a topic"}
        store.add_edge(connection, OWNER, "FACT", node.id, other.id, fact, now=talk.clock.now())
        return node

    return await talk.write(work)


async def test_an_empty_memory_is_whole(talk: Talk) -> None:
    """Nothing said, nothing wrong."""
    assert await auditing(talk).audit(OWNER) == WHOLE


async def test_what_turns_wrote_is_whole(talk: Talk) -> None:
    """And a repair of it changes nothing."""
    await talked(talk)
    assert await auditing(talk).audit(OWNER) == WHOLE
    before = await talk.read(lambda c: repository.events(c, OWNER))
    done = await auditing(talk).repair(OWNER)
    assert (done.before, done.after, done.mended, done.judged, done.offered) == (WHOLE, WHOLE, {}, 0, 0)
    assert await talk.read(lambda c: repository.events(c, OWNER)) == before


async def test_a_question_about_two_facts_is_no_orphan(talk: Talk) -> None:
    """It hangs on nothing but the facts that it names; a repair leaves the owner his question."""
    await talked(talk)
    facts = {"description": "LIVES_IN: same_time", "facts": ["fact-1", "fact-2"]}
    await talk.write(lambda c: store.add_node(c, OWNER, "Contradiction", facts, now=talk.clock.now()))
    assert await auditing(talk).audit(OWNER) == WHOLE
    assert (await auditing(talk).repair(OWNER)).mended == {}


HARM = [
    ("DELETE FROM chronicle WHERE label = 'Feedback'", "next_integrity", "missing"),
    ("DELETE FROM chronicle WHERE label = 'Response'", "full_text", "missing"),
    ("DELETE FROM chronicle WHERE label = 'Request'", "next_integrity", "missing"),
    ("DELETE FROM chronicle WHERE n = (SELECT max(n) FROM chronicle)", "full_text", "missing"),
    ("DELETE FROM chronicle", "next_integrity", "missing"),
    ("UPDATE chronicle SET n = -n WHERE label != 'Analysis'", "next_integrity", "misplaced"),
    ("UPDATE chronicle SET n = n + 10000 WHERE n = (SELECT min(n) FROM chronicle)", "next_integrity", "misplaced"),
    ("DELETE FROM messages WHERE seq = 1", "orphans", "without_message"),
    ("UPDATE chronicle SET answers_n = 999999 WHERE label = 'Response'", "orphans", "dangling"),
    ("UPDATE chronicle SET answers_n = 999999 WHERE label = 'Analysis' AND answers_n > 0", "orphans", "dangling"),
    ("UPDATE chronicle SET label = 'Feedback' WHERE label = 'Request'", None, "mislabelled"),
    ("UPDATE chronicle SET attrs = '{\"forgotten\": true}' WHERE label = 'Analysis'", "orphans", "wiped"),
    ("INSERT INTO sessions SELECT user_id, 'empty', topic, topic_by, trigger, tz, opened_at, opened_at, rev, 0"
     " FROM sessions LIMIT 1", "orphans", "empty"),
    ("INSERT INTO event_mentions SELECT user_id, id, 'gone', 'gone', 3, NULL FROM chronicle LIMIT 1",
     "orphans", "lost_mentions"),
    ("INSERT INTO graph_nodes (user_id, id, label, name, created_at, props, field_meta, access_count, schema_v, rev)"
     " VALUES (1, 'alone', 'Concept', 'alone', 0, '{\"name\": \"alone\"}', '{}', 0, 1, 1)", "orphans", "lone_nodes"),
]  # fmt: skip


@pytest.mark.parametrize(("statement", "figure", "kind"), HARM)
async def test_harm_is_found_and_mended(talk: Talk, statement: str, figure: str | None, kind: str) -> None:
    """Each kind shows in its figure; afterwards the line is whole again, and a second repair has nothing to do."""
    await talked(talk)
    await harm(talk, statement)
    found = await auditing(talk).audit(OWNER)
    if figure == "orphans":
        assert found.orphans > 0
    elif figure is not None:
        assert getattr(found, figure) < 1.0
    done = await auditing(talk).repair(OWNER)
    assert done.mended[kind] > 0
    after = done.after
    assert (after.next_integrity, after.full_text, after.orphans) == (1.0, 1.0, 0)
    await talk.read(lambda c: check_line(c, OWNER))
    assert (await auditing(talk).repair(OWNER)).mended == {}


async def test_a_line_that_was_lost_comes_back_as_it_was(talk: Talk) -> None:
    """From the log alone: the same sessions, labels and answers; only what was judged is to be judged again."""
    await talked(talk)

    def shape(connection: Any) -> list[Any]:
        events = [one for one in repository.events(connection, OWNER) if one.message_id is not None]
        places = {one.n: place for place, one in enumerate(events)}
        starts = {one.session_id: place for place, one in reversed(list(enumerate(events)))}
        return [(one.label, one.text, places.get(one.answers_n or 0), starts[one.session_id]) for one in events]

    before = await talk.read(shape)
    await harm(talk, "DELETE FROM chronicle")
    await harm(talk, "DELETE FROM sessions")
    done = await auditing(talk).repair(OWNER)
    assert await talk.read(shape) == before
    assert done.after.next_integrity == 1.0
    assert done.after.analysis_coverage == 0.0


async def test_unjudged_sessions_get_a_run(talk: Talk) -> None:
    """Closed ones with an answer that nobody judged, once; one that goes on is none of them."""
    await talk.exchange("One")
    await silence(talk)
    await talk.exchange("Two")
    assert (await auditing(talk).audit(OWNER)).analysis_coverage == 0.0
    judging = auditing(talk, SessionLifecycle(["analyst"]))
    assert (await judging.repair(OWNER)).judged == 1
    assert (await judging.repair(OWNER)).judged == 0
    [first, second] = await sessions(talk)
    assert [run.agent for run in await talk.read(lambda c: runs.of_session(c, OWNER, first.id))] == ["analyst"]
    assert await talk.read(lambda c: runs.of_session(c, OWNER, second.id)) == []


@pytest.mark.parametrize(
    ("one", "other"),
    [("Акме", "акме"), ("Акме", "«Акме»"), ("Тула", "Туле"), ("Акме", "Akme"), ("Київ", "Києві")],
)
async def test_things_that_differ_in_form_only_are_doubled(talk: Talk, one: str, other: str) -> None:
    """In case, quotation marks, declension or alphabet: one of the two is one too many, and becomes part of the first.

    If that was wrong, a split makes two of them again, and they stay two.
    """
    known = [await entity(talk, name, type="organization") for name in (one, other, "Something else")]
    found = await auditing(talk).audit(OWNER)
    assert found.entity_uniqueness == pytest.approx(2 / 3)
    done = await auditing(talk).repair(OWNER)
    assert (done.after.entity_uniqueness, done.mended, done.doubled) == (1.0, {"doubled": 1}, ())
    merged = await talk.read(lambda c: store.resolve_node(c, OWNER, known[1].id))
    assert merged is not None
    assert (merged.id, merged.name) == (known[0].id, one)
    now = talk.clock.now()
    await talk.write(lambda c: entities.split(c, OWNER, known[1].id, now=now))
    done = await auditing(talk).repair(OWNER)
    assert (done.after.entity_uniqueness, done.mended, done.doubled) == (1.0, {}, ())
    assert [await talk.read(lambda c, n=n: store.get_node(c, OWNER, n.id)) is not None for n in known] == [True] * 3  # type: ignore[misc]


async def test_things_of_different_types_are_two(talk: Talk) -> None:
    """An organization and a person of one name stay two; what nobody gave a type may be either thing."""
    await entity(talk, "Роза", type="organization")
    await entity(talk, "Роза", type="person")
    assert (await auditing(talk).audit(OWNER)).entity_uniqueness == 1.0
    await entity(talk, "Роза", type="concept")
    assert (await auditing(talk).audit(OWNER)).entity_uniqueness == pytest.approx(2 / 3)


async def test_without_the_language_process_case_is_seen_through(talk: Talk) -> None:
    """The audit does not fail for it: it finds less."""
    for name in ("Акме", "АКМЕ", "Тула", "Туле"):
        await entity(talk, name, type="organization")
    language = LanguageHere()
    language.down = True
    found = await ChronicleAudit(talk.database, talk.clock, language, UNJUDGED).audit(OWNER)
    assert found.entity_uniqueness == 0.75


async def test_doubled_people_are_offered_for_merging(talk: Talk) -> None:
    """Once, and only those who may be one: two Telegram accounts are two people."""

    def add(connection: Any, name: str, telegram_id: int) -> int:
        sender = TelegramAccount(telegram_id, name)
        now = talk.clock.now()
        return people_service.from_metadata(connection, OWNER, sender, seen_at=now, now=now).id

    first = await talk.write(lambda c: add(c, "Олена Коваль", 501))
    second = await talk.write(lambda c: add(c, "Олена Коваль", 502))
    assert (await auditing(talk).audit(OWNER)).entity_uniqueness == 1.0
    lost = update(people_table).where(people_table.c.id == second).values(telegram_id=None)
    await talk.write(lambda c: c.execute(lost))
    assert (await auditing(talk).audit(OWNER)).entity_uniqueness == 0.5
    assert (await auditing(talk).repair(OWNER)).offered == 1
    assert (await auditing(talk).repair(OWNER)).offered == 0
    [asked] = await talk.read(lambda c: pending(c, OWNER))
    assert (asked.kind, asked.payload["source_id"], asked.payload["target_id"]) == ("merge", second, first)
    assert await talk.read(lambda c: people.get(c, OWNER, second)) is not None


async def test_an_older_memory_gets_its_chronicle(talk: Talk) -> None:
    """Messages without any event are cut into sessions by silence; answers find their questions."""
    start = talk.clock.now()

    def work(connection: Any) -> None:
        for minutes, role in ((0, "user"), (1, "assistant"), (29, "user"), (61, "user"), (62, "assistant")):
            at = start + timedelta(minutes=minutes)
            dialogue.add(connection, OWNER, role, f"At {minutes}", now=at)

    await talk.write(work)
    assert await talk.write(lambda c: audit.fill_from_log(c, OWNER)) == 5
    events = await talk.read(lambda c: check_line(c, OWNER))
    assert [event.label.value for event in events] == ["Request", "Response", "Feedback", "Request", "Response"]
    first, second = await sessions(talk)
    assert (first.topic, first.closed_at) == ("At 0", start + timedelta(minutes=59))
    assert (second.topic, second.closed_at) == ("At 61", start + timedelta(minutes=92))
