"""A fragment becomes people: what the archivist is shown, and what of its reply is applied."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

import pytest
from flow_stage import OWNER, Talk, until
from sqlalchemy import Connection, select

from internal.agents.model import AgentReply, ArchivistRequest, SamePersonHint
from internal.config import RunsConfig
from internal.dialogue.model import ForwardOrigin
from internal.errors import ModelReplyTruncated
from internal.flows.archival import SHOWN_PEOPLE, ArchivalHandler, choose
from internal.flows.runs import RunLoop
from internal.language.hints import hints
from internal.language.names import mentions_of
from internal.people import repository as people
from internal.people import service
from internal.people.model import Circle, Person
from internal.recall.people import names_of
from internal.storage import tables

KEY = b"k" * 32
Reply = dict[str, Any] | Exception | Callable[[ArchivistRequest], Awaitable[dict[str, Any]]]


class DirectNames:
    """The name reader without its process."""

    async def hints(self, known: Sequence[Person], texts: Sequence[str]) -> list[SamePersonHint]:
        found = hints({person.id: names_of(person) for person in known}, texts)
        return [SamePersonHint(mention, person_id, reason) for mention, person_id, reason in found]

    async def mentions(self, known: Sequence[Person], texts: Sequence[str]) -> list[set[int]]:
        return mentions_of(texts, {person.id: names_of(person) for person in known})


@dataclass
class Archive:
    """An archivist that answers by script, and the loop that works its runs off."""

    talk: Talk
    script: list[Reply] = field(default_factory=list)
    asked: list[ArchivistRequest] = field(default_factory=list)
    counted: list[tuple[str, int]] = field(default_factory=list)
    refused: list[str] = field(default_factory=list)
    outcomes: list[str] = field(default_factory=list)
    questions: int = 0
    woken: int = 0

    async def ask(self, request: ArchivistRequest) -> AgentReply:
        self.asked.append(request)
        said = self.script.pop(0) if self.script else {"people_operations": []}
        if isinstance(said, Exception):
            raise said
        if not isinstance(said, dict):
            said = await said(request)
        return AgentReply(json.dumps(said, ensure_ascii=False), "scripted")

    def people_applied(self, user_id: int, op_type: str, count: int = 1) -> None:
        self.counted.append((op_type, count))

    def operation_refused(self, agent: str, reason: str) -> None:
        self.refused.append(reason)

    def extraction_seconds(self, user_id: int, seconds: float) -> None:
        return

    def agent_run(self, agent: str, outcome: str) -> None:
        self.outcomes.append(outcome)

    def ask_owner(self, connection: Connection, user_id: int, now: datetime) -> None:
        self.questions += 1

    def wake(self) -> None:
        self.woken += 1

    def notify(self, connection: Connection, user_id: int, key: str, dedupe: str, now: datetime) -> None:
        raise AssertionError(key)  # nothing dies in these tests

    def loop(self) -> RunLoop:
        handler = ArchivalHandler(
            self.talk.database,
            self.talk.clock,
            self,
            DirectNames(),
            self,
            persona_name="Laplaced",
            tombstone_key=KEY,
            ask_owner=self.ask_owner,
            wake=self.wake,
        )
        config = RunsConfig(retry_base=timedelta(seconds=2), max_attempts=3)
        return RunLoop(self.talk.database, self.talk.clock, [handler], config, self, 0, self.notify)

    async def work(self) -> None:
        loop = self.loop()
        await loop.start_ready()
        await until(lambda: not loop._working and not loop._lookups)

    async def archive(self, *replies: Reply) -> None:
        """Publishes what waits and works it off."""
        self.script += replies
        await self.talk.publication().publish_now(OWNER)
        await self.work()

    async def people(self) -> dict[str, Person]:
        return {person.display_name: person for person in await self.talk.read(lambda c: people.listing(c, OWNER))}

    async def edit(self, text: str) -> None:
        """The owner changes his first message."""
        first = (await self.talk.messages())[0]
        await self.talk.edit(first, text)


@pytest.fixture
def archive(talk: Talk) -> Archive:
    return Archive(talk)


def added(name: str, **more: Any) -> dict[str, Any]:
    evidence = {"evidence": more.pop("evidence")} if "evidence" in more else {}
    return {"people_operations": [{"type": "Added", "person": {"display_name": name, "bio": "x", **more}, **evidence}]}


async def test_the_archivist_sees_the_slice_numbered_and_who_is_known(archive: Archive) -> None:
    """Numbers count from one over what is shown; forwards tell whose words they are; his profile is there."""
    await archive.talk.exchange("Petrov came", "Good.")
    await archive.archive(added("Petrov", circle="Friends"))
    forwarded = ForwardOrigin("user", "Marko", 55)
    await archive.talk.exchange("With Petrov again", "Nice.", forward=forwarded)
    await archive.archive()
    request = archive.asked[1]
    assert request.owner.name == "Olena"
    assert {person.display_name for person in request.people} == {"Petrov", "Marko"}
    lines = [(line.number, line.role, line.text, line.forwarded_from) for line in request.transcript]
    assert lines == [(1, "user", "With Petrov again", "Marko"), (2, "assistant", "Nice.", None)]
    assert request.transcript[0].telegram_ids == (55,)


async def test_effects_counters_and_events_follow_one_commit(archive: Archive) -> None:
    """What is applied is counted once, what is refused by its reason, and whoever waits is woken."""
    await archive.talk.exchange("Petrov came")
    reply = added("Petrov")
    reply["people_operations"] += [{"type": "Updated", "person": {"id": 99, "bio": "?"}}]
    await archive.archive(reply)
    assert archive.counted == [("Added", 1)]
    assert archive.refused == ["unknown_id"]
    assert archive.woken == 1
    results = await archive.talk.events("agent_result")
    [event] = [event for event in results if event.source == "agent:Archivist"]
    assert (event.payload["applied"], event.payload["refused"]) == ({"Added": 1}, 1)
    assert set(event.links or {}) == {"run", "fragment"}


@pytest.mark.parametrize("reply", [{}, {"nonsense": []}, {"people_operations": "Petrov"}])
async def test_a_reply_that_cannot_be_read_is_a_failed_attempt(archive: Archive, reply: dict[str, Any]) -> None:
    """Valid JSON with unknown keys is no empty success: nothing is applied, and it is tried again."""
    await archive.talk.exchange("Petrov came")
    await archive.archive(reply, added("Petrov"))
    assert (await archive.people(), archive.outcomes) == ({}, ["failed"])
    archive.talk.clock.advance(10)
    await archive.work()
    assert set(await archive.people()) == {"Petrov"}


async def test_evidence_edited_meanwhile_is_asked_anew(archive: Archive) -> None:
    """What was said of the old words is dropped, and the attempt is not charged."""

    async def edited(request: ArchivistRequest) -> dict[str, Any]:
        await archive.edit("Sidorov came")
        return added("Petrov", evidence=[1])

    await archive.talk.exchange("Petrov came")
    await archive.archive(edited, added("Sidorov", evidence=[1]))
    assert set(await archive.people()) == {"Sidorov"}
    assert archive.outcomes == ["stale", "applied"]
    assert archive.asked[1].transcript[0].text == "Sidorov came"
    [run] = await archive.talk.read(lambda c: c.execute(select(tables.runs.c.attempts)).all())
    assert run.attempts == 1


async def test_evidence_deleted_meanwhile_supports_nothing(archive: Archive) -> None:
    """A fragment of which nothing is left is done without a model."""

    async def deleted(request: ArchivistRequest) -> dict[str, Any]:
        await archive.talk.write(lambda c: c.execute(tables.messages.delete()))
        return added("Petrov")

    await archive.talk.exchange("Petrov came")
    await archive.archive(deleted)
    assert (await archive.people(), archive.outcomes, len(archive.asked)) == ({}, ["stale", "applied"], 1)


async def test_a_person_meant_in_several_slices_is_mentioned_once_a_fragment(archive: Archive) -> None:
    """However often he is named, in declined forms too; the assistant's and forwarded words do not count."""
    await archive.talk.exchange("Петров приехал")
    await archive.archive(added("Петров"))
    for _ in range(65):
        await archive.talk.exchange("Говорил с Петровым", "Петров хорош.")
    await archive.archive()
    assert len(archive.asked) == 4
    assert (await archive.people())["Петров"].mention_count == 2
    await archive.talk.exchange("Погода", "Петров просил передать.")
    await archive.talk.exchange("Петров написал", forward=ForwardOrigin("hidden_user", "Кто-то"))
    await archive.archive()
    assert (await archive.people())["Петров"].mention_count == 2


async def test_a_slice_too_long_for_the_model_is_halved_and_nothing_is_left_out(archive: Archive) -> None:
    """Each half has its own numbers from one, and evidence points to the right messages."""
    await archive.talk.exchange("One", "1.")
    await archive.talk.exchange("Petrov came", "2.")
    await archive.archive(ModelReplyTruncated("length"), {"people_operations": []}, added("Petrov", evidence=[1]))
    assert [len(request.transcript) for request in archive.asked] == [4, 2, 2]
    assert archive.asked[2].transcript[0].text == "Petrov came"
    query = select(tables.evidence.c.segment, tables.evidence.c.message_id)
    [row] = await archive.talk.read(lambda c: c.execute(query).all())
    assert (row.segment, row.message_id) == (3, (await archive.talk.messages())[2].id)


async def test_the_owners_word_is_only_questioned(archive: Archive) -> None:
    """What he set himself is not overwritten; he is asked."""
    await archive.talk.exchange("Petrov came")
    await archive.archive(added("Petrov", circle="Friends"))
    petrov = (await archive.people())["Petrov"]
    now = archive.talk.clock.now()
    await archive.talk.write(lambda c: service.move(c, OWNER, petrov.id, Circle.FAMILY, now=now))
    await archive.talk.exchange("Petrov the colleague")
    change = {"type": "Updated", "person": {"id": petrov.id, "circle": "Work_Outer"}}
    await archive.archive({"people_operations": [change]})
    assert (await archive.people())["Petrov"].circle is Circle.FAMILY
    assert archive.questions == 1


async def test_people_added_twice_by_two_slices_are_one(archive: Archive) -> None:
    """The second slice sees what the first one wrote."""
    for _ in range(40):
        await archive.talk.exchange("Petrov came")
    await archive.archive(added("Petrov"), added("petrov"))
    assert set(await archive.people()) == {"Petrov"}
    assert [len(request.people) for request in archive.asked] == [0, 1]


def _many(count: int) -> list[Person]:
    start = datetime.fromisoformat("2026-01-01T00:00:00+00:00")
    return [
        Person(
            id=n,
            user_id=OWNER,
            entity_id=str(n),
            display_name=f"P{n}",
            circle=Circle.FAMILY if n == 5 else Circle.OTHER,
            bio="",
            first_seen=start,
            last_seen=start + timedelta(days=n),
        )
        for n in range(count)
    ]


def test_few_people_are_all_shown() -> None:
    """And in the order they are known."""
    assert choose(_many(SHOWN_PEOPLE), set()) == _many(SHOWN_PEOPLE)


def test_of_many_the_likely_the_close_and_the_recent_are_shown() -> None:
    """A prompt is no telephone book."""
    shown = {person.id for person in choose(_many(SHOWN_PEOPLE + 100), {3})}
    assert len(shown) == SHOWN_PEOPLE
    assert {3, 5, SHOWN_PEOPLE + 99} <= shown
    assert 4 not in shown
