"""A fact in the owner's own words, and where its other end goes."""

from __future__ import annotations

import itertools
from collections.abc import AsyncIterator, Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import ParamSpec, TypeVar
from zoneinfo import ZoneInfo

import pytest
from sqlalchemy import Connection
from support.stores.stores import where

from internal.access import service as access
from internal.access.model import Author, User
from internal.errors import Conflict, ModelUnavailable, NotFound
from internal.flows.correcting.facts import FactCorrections
from internal.graph import store
from internal.knowledge import service as knowledge
from internal.knowledge.claims.changes import NEITHER, ClaimLine, NewClaim
from internal.knowledge.model import Fact, FactFilter
from internal.language.worker.calls import LanguageCalls
from internal.people import service as people
from internal.people.service import TelegramAccount
from internal.storage.database import Database
from internal.storage.migration import migrate
from internal.storage.types import new_id
from internal.testing import FrozenClock

P = ParamSpec("P")
T = TypeVar("T")
NOW = datetime(2026, 11, 21, 12, 0, tzinfo=UTC)


class Here:
    """The language process, in this process."""

    async def run(self, function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        return function(*args, **kwargs)


class Away:
    """A language process that cannot be reached."""

    async def run(self, function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        raise ModelUnavailable("the language process is closed")


class Memory:
    """One owner's facts."""

    def __init__(self, database: Database, user: User) -> None:
        self.database, self.user, self.clock = database, user, FrozenClock(NOW)
        self.accounts = itertools.count(100)

    async def node(self, name: str, kind: str = "organization") -> str:
        made = {"name": name, "type": kind}
        return (await self.write(lambda c: store.add_node(c, self.user.user_id, "Entity", made, now=NOW))).id

    async def person(self, name: str) -> str:
        sender = TelegramAccount(next(self.accounts), name)
        added = await self.write(lambda c: people.from_metadata(c, self.user.user_id, sender, seen_at=NOW, now=NOW))
        return added.entity_id

    async def fact(self, source: str, relation: str, target: str, words: str, *, later: int = 0) -> str:
        at = NOW + timedelta(minutes=later)
        claim = NewClaim(source, relation, target, words, at, at, episode_id=new_id(), lines=[ClaimLine(1, words)])

        def work(connection: Connection) -> str:
            [fact_id] = knowledge.record_claims(connection, self.user.user_id, [claim], now=NOW).facts
            assert fact_id is not None
            return fact_id

        return await self.write(work)

    async def held(self) -> list[Fact]:
        """What is held now, of the past too."""
        wanted = FactFilter(include_invalid=True)
        found = await self.write(lambda c: knowledge.facts_about(c, self.user.user_id, wanted, now=NOW))
        return [one for one in found if one.expired_at is None]

    async def write(self, work: Callable[[Connection], T]) -> T:
        return await self.database.write(work)

    async def restated(self, fact_id: str, words: str, language: LanguageCalls | None = None) -> Fact:
        restating = FactCorrections(self.database, self.clock, language or Here(), b"k" * 32)
        return (await restating.restate(self.user, fact_id, words)).fact


@pytest.fixture
async def memory(tmp_path: Path) -> AsyncIterator[Memory]:
    async with Database.open(where(tmp_path)) as database:
        await database.exclusive(migrate)
        author = Author(1, "Olena", None, "ru")
        user = await database.write(lambda c: access.admit(c, author, allowed=(), admit_all=True, now=NOW))
        assert user is not None
        yield Memory(database, user)


async def works(memory: Memory) -> str:
    return await memory.fact(
        await memory.person("Петров"), "WORKS_FOR", await memory.node("ACME"), "Петров работает в ACME"
    )


async def test_a_thing_known_under_another_form_is_that_thing(memory: Memory) -> None:
    """No second node is made for it."""
    fact_id, known = await works(memory), await memory.node("Ромашка")
    assert (await memory.restated(fact_id, "Петров работает в «Ромашке»")).target == known


async def test_a_new_thing_is_of_the_kind_of_the_old_one(memory: Memory) -> None:
    """And is found under its basic form."""
    fact = await memory.restated(await works(memory), "Петров работает в Ромашке")
    node = await memory.write(lambda c: store.get_node(c, 1, fact.target))
    assert node is not None
    assert (node.name, node.subtype) == ("Ромашка", "organization")


async def test_what_two_things_are_called_moves_nothing(memory: Memory) -> None:
    """The words change all the same."""
    fact_id = await works(memory)
    before = (await memory.write(lambda c: knowledge.fact(c, 1, fact_id))).target
    await memory.node("Ромашка")
    await memory.node("Ромашка", "project")
    fact = await memory.restated(fact_id, "Петров работает в Ромашка")
    assert (fact.fact, fact.target) == ("Петров работает в Ромашка", before)


async def test_people_are_found_and_never_made(memory: Memory) -> None:
    """A fact moves to somebody known; a stranger's name changes words only."""
    masha, peter, olga = [await memory.person(name) for name in ("Маша", "Пётр", "Ольга")]
    fact_id = await memory.fact(masha, "KNOWS", peter, "Маша дружит с Петром")
    moved = await memory.restated(fact_id, "Маша дружит с Ольгой")
    assert moved.target == olga
    stranger = await memory.restated(fact_id, "Маша дружит с Зинаидой")
    assert (stranger.fact, stranger.target) == ("Маша дружит с Зинаидой", olga)
    assert await memory.write(lambda c: store.nodes_called(c, 1, ["Зинаида", "Зинаидой"])) == []


async def test_without_the_language_process_the_words_change(memory: Memory, caplog: pytest.LogCaptureFixture) -> None:
    """The other end stays where it was."""
    fact_id = await works(memory)
    fact = await memory.restated(fact_id, "Петров работает в Ромашке", Away())
    assert (fact.fact, fact.target_name) == ("Петров работает в Ромашке", "ACME")
    assert "restated_in_words_only" in caplog.text


async def test_a_fact_that_is_gone_cannot_be_restated(memory: Memory) -> None:
    """Nor one that the owner gave up."""
    with pytest.raises(NotFound):
        await memory.restated(new_id(), "Петров")
    petrov = await memory.person("Петров")
    for place in ("Киев", "Львов"):
        fact_id = await memory.fact(petrov, "LIVES_IN", await memory.node(place, "place"), f"Петров: {place}")
    [asked] = await memory.write(lambda c: knowledge.open_contradictions(c, 1))
    await memory.write(lambda c: knowledge.resolve_contradiction(c, 1, asked.id, NEITHER, now=NOW))
    with pytest.raises(Conflict):
        await memory.restated(fact_id, "Петров в Одессе")
    assert await memory.write(lambda c: knowledge.facts_about(c, 1, FactFilter(), now=NOW)) == []


# Time and denials


def local(year: int, month: int = 1, number: int = 1) -> datetime:
    return datetime(year, month, number, tzinfo=ZoneInfo("Europe/Moscow"))


@pytest.mark.parametrize(
    ("words", "begins", "ends"),
    [
        ("Anna works for Zalando since May 2024", local(2024, 5), None),
        ("Анна работает в Zalando с мая 2024", local(2024, 5), None),
        ("Анна працює в Zalando від травня 2024", local(2024, 5), None),
        ("Anna worked for Zalando from 2019 until 2023", local(2019), local(2023)),
        ("Анна работала в Zalando до 2023", None, local(2023)),
    ],
)
async def test_dates_in_a_correction_are_the_facts(
    memory: Memory, words: str, begins: datetime | None, ends: datetime | None
) -> None:
    """In the owner's zone; a beginning that was only the time of the message gives way to an end before it."""
    fact_id = await memory.fact(await memory.person("Anna"), "WORKS_FOR", await memory.node("Zalando"), "Anna: Zalando")
    new = await memory.restated(fact_id, words)
    assert (new.fact, new.valid_at, new.invalid_at) == (words, begins, ends)
    assert new.target_name == "Zalando"
    [held] = await memory.held()
    assert (held.id, held.valid_at, held.invalid_at, held.set_by) == (new.id, begins, ends, "owner")


@pytest.mark.parametrize(
    ("words", "ends"),
    [
        ("Anna no longer works for Zalando", NOW),
        ("Анна больше не работает в Zalando", NOW),
        ("Анна вже не працює в Zalando", NOW),
        ("Anna quit Zalando in March 2025", local(2025, 3)),
        ("Анна не работает в Zalando с марта 2025", local(2025, 3)),
    ],
)
async def test_what_is_over_closes_the_fact(memory: Memory, words: str, ends: datetime) -> None:
    """It keeps its words and gets an end; said twice it is one correction, and the slice's old words change nothing."""
    anna, zalando = await memory.person("Anna"), await memory.node("Zalando")
    fact_id = await memory.fact(anna, "WORKS_FOR", zalando, "Anna works for Zalando")
    for _ in range(2):
        ended = await memory.restated(fact_id, words)
        assert (ended.fact, ended.invalid_at, ended.expired_at) == ("Anna works for Zalando", ends, None)
    current = FactFilter(ended=False)
    assert await memory.write(lambda c: knowledge.facts_about(c, memory.user.user_id, current, now=NOW)) == []


@pytest.mark.parametrize(
    "words", ["Anna does not live in Berlin", "Анна не живёт в Берлине", "Анна не мешкає в Берліні"]
)
async def test_a_denied_fact_is_held_no_more(memory: Memory, words: str) -> None:
    """Nothing takes its place, and its history keeps it; what it had ended holds again."""
    anna = await memory.person("Anna")
    before = await memory.fact(anna, "LIVES_IN", await memory.node("Lviv", "place"), "Anna lives in Lviv")
    memory.clock.advance(60)
    fact_id = await memory.fact(anna, "LIVES_IN", await memory.node("Berlin", "place"), "Anna lives in Berlin", later=1)
    for _ in range(2):
        assert (await memory.restated(fact_id, words)).expired_at is not None
    held = await memory.held()
    assert [(one.fact, one.invalid_at) for one in held] == [("Anna lives in Lviv", None)]
    assert before == held[0].id


async def test_a_denial_that_tells_what_is_so_is_a_correction(memory: Memory) -> None:
    """ "Not in Berlin but in Paris" is a fact about Paris."""
    fact_id = await memory.fact(
        await memory.person("Anna"), "LIVES_IN", await memory.node("Berlin", "place"), "Anna lives in Berlin"
    )
    new = await memory.restated(fact_id, "Anna lives in Paris, not in Berlin")
    assert new.fact == "Anna lives in Paris, not in Berlin"
    assert new.expired_at is None


async def test_without_the_language_process_a_correction_is_words(memory: Memory) -> None:
    """No date is guessed and nothing is closed."""
    fact_id = await memory.fact(
        await memory.person("Anna"), "WORKS_FOR", await memory.node("ACME"), "Anna works for ACME"
    )
    new = await memory.restated(fact_id, "Anna no longer works for ACME", Away())
    assert (new.fact, new.invalid_at) == ("Anna no longer works for ACME", None)
