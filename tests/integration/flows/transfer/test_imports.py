"""Imports are stored once: again, grown, interrupted or side by side."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given, settings, strategies as st
from sqlalchemy import Connection, func, select
from support.flows.flow_stage import OTHER, OWNER, Talk
from support.long import examples
from support.stores.stores import refuse, relent

from internal.access import repository as users, service as access
from internal.errors import NotFound, Refused, StorageError
from internal.flows.forgetting.requests import ask_forget
from internal.flows.transfer.import_estimate import Forecast
from internal.flows.transfer.imports import Importer
from internal.import_formats.model import EpisodeDraft, conversations
from internal.knowledge.model import Segment
from internal.storage.database import Database
from internal.storage.tables import episodes, runs, segments

MARCH = datetime(2024, 3, 1, 12, tzinfo=UTC)
GUEST = 909


def draft(*numbers: int, text: str = "слово", place: str = "Петро") -> EpisodeDraft:
    lines = tuple(
        Segment(
            n, MARCH + timedelta(minutes=number), f"{text} {number}", None, own=False, key=f"telegram:user9:{number}"
        )
        for n, number in enumerate(numbers, start=1)
    )
    return EpisodeDraft(f"{place} {numbers[0]}", f"Telegram chat {place}", None, place, lines)


@pytest.fixture
def importing(talk: Talk) -> Importer:
    return Importer(talk.database, talk.clock, ["archivist"], Guests(talk.database), woken=talk.ended.wake)


class Guests:
    """Lets one in who has not written yet."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def stored(self, user_id: int) -> bool:
        known = await self._database.read(lambda c: users.find(c, user_id))
        if known is None and user_id != GUEST:
            raise NotFound(f"there is no user {user_id}")
        return known is not None

    def expect(self, connection: Connection, user_id: int, now: datetime) -> None:
        access.expect(connection, user_id, admit_all=False, now=now)


async def stored(talk: Talk, user_id: int = OWNER) -> list[list[str]]:
    """The keys of each episode, in the order of their segments."""

    def work(connection: Connection) -> list[list[str]]:
        query = select(segments.c.episode_id, segments.c.key).where(segments.c.user_id == user_id)
        rows = connection.execute(query.order_by(segments.c.episode_id, segments.c.n))
        found: dict[str, list[str]] = {}
        for episode_id, key in rows:
            found.setdefault(episode_id, []).append(key.rsplit(":", 1)[1])
        return list(found.values())

    return await talk.read(work)


async def test_a_grown_export_adds_what_is_new(talk: Talk, importing: Importer) -> None:
    """The second time only the new messages are stored, as an episode of their own, cited from 1 on."""
    assert (await importing.take(OWNER, [draft(1, 2, 3), draft(10, 11)], dry_run=False)).new == [[1, 2, 3], [1, 2]]
    taken = await importing.take(OWNER, [draft(1, 2, 3, 4, 5), draft(10, 11)], dry_run=False)
    assert (taken.new, taken.episodes, taken.messages, taken.known, taken.changed) == ([[4, 5], []], 1, 2, 5, 0)
    assert await stored(talk) == [["1", "2", "3"], ["10", "11"], ["4", "5"]]
    assert await talk.read(lambda c: c.execute(select(func.count()).select_from(runs)).scalar_one()) == 3
    assert talk.ended.woken == 2
    assert (await importing.take(OWNER, [draft(1, 2), draft(11)], dry_run=False)).messages == 0
    assert talk.ended.woken == 2


async def test_another_owner_has_an_import_of_his_own(talk: Talk, importing: Importer) -> None:
    """What one has is not known to the other."""
    for owner in (OWNER, OTHER):
        assert (await importing.take(owner, [draft(1)], dry_run=False)).messages == 1
    assert await stored(talk, OTHER) == [["1"]]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("слово", "[reply to Петро, 2024-03-01 11:58] слово"),
        ("[reply to an earlier message] слово", "[reply to Петро, 2024-03-01 11:58] слово"),
        ("[reply to Петро, 2024-03-01 11:58] слово", "слово"),
    ],
)
async def test_what_a_message_answers_is_not_among_its_words(importing: Importer, before: str, after: str) -> None:
    """Episodes of before replies were kept hold the same messages, and nothing is told of them."""
    await importing.take(OWNER, [draft(1, 2, text=before)], dry_run=False)
    taken = await importing.take(OWNER, [draft(1, 2, text=after)], dry_run=False)
    assert (taken.messages, taken.known, taken.changed) == (0, 2, 0)
    edited = after.replace("слово", "інше")
    assert (await importing.take(OWNER, [draft(1, 2, text=edited)], dry_run=False)).changed == 2


async def test_edited_messages_are_told_and_stay(talk: Talk, importing: Importer) -> None:
    """What was cited does not change under its citations."""
    await importing.take(OWNER, [draft(1, 2)], dry_run=False)
    taken = await importing.take(OWNER, [draft(1, 2, text="інше")], dry_run=False)
    assert (taken.messages, taken.known, taken.changed) == (0, 2, 2)
    texts = await talk.read(lambda c: c.execute(select(segments.c.text)).scalars().all())
    assert texts == ["слово 1", "слово 2"]


async def test_a_dry_run_only_looks(talk: Talk, importing: Importer) -> None:
    """It tells what the real one then does."""
    await importing.take(OWNER, [draft(1)], dry_run=False)
    foretold = await importing.take(OWNER, [draft(1, 2), draft(3)], dry_run=True)
    assert await stored(talk) == [["1"]]
    assert await importing.take(OWNER, [draft(1, 2), draft(3)], dry_run=False) == foretold


async def test_two_imports_at_once_double_nothing(talk: Talk, importing: Importer) -> None:
    """Whoever comes second finds what the first has stored."""
    both = await asyncio.gather(*(importing.take(OWNER, [draft(1, 2), draft(3)], dry_run=False) for _ in range(2)))
    assert sum(taken.messages for taken in both) == 3
    assert sorted(await stored(talk)) == [["1", "2"], ["3"]]


async def test_an_episode_fails_alone(talk: Talk, importing: Importer) -> None:
    """One that cannot be stored takes none of its neighbours with it, and the next try stores it."""
    await talk.write(lambda c: refuse(c, "INSERT", "segments", when="substr(new.key, length(new.key) - 1) = ':3'"))
    with pytest.raises(Exception, match="refused"):
        await importing.take(OWNER, [draft(1), draft(2, 3), draft(4)], dry_run=False)
    assert await stored(talk) == [["1"], ["4"]]
    assert await talk.read(lambda c: c.execute(select(func.count()).select_from(episodes)).scalar_one()) == 2
    await talk.write(relent)
    assert (await importing.take(OWNER, [draft(1), draft(2, 3), draft(4)], dry_run=False)).messages == 2


async def test_who_is_let_in_needs_not_have_written(talk: Talk, importing: Importer) -> None:
    """A look makes nothing; with the first import there is a place for him, in UTC until he tells his zone."""
    terms = await importing.terms(GUEST)
    assert (terms.name, terms.tz) == (str(GUEST), "UTC")
    assert (await importing.take(GUEST, [draft(1)], dry_run=True)).messages == 1
    assert await talk.read(lambda c: users.find(c, GUEST)) is None
    assert (await importing.take(GUEST, [draft(1)], dry_run=False)).messages == 1
    assert await stored(talk, GUEST) == [["1"]]
    with pytest.raises(NotFound):
        await importing.take(404, [draft(1)], dry_run=False)


async def test_terms_tell_what_an_importer_has_to_know(talk: Talk, importing: Importer) -> None:
    """The owner's zone, the bot's own id and what the archivist has cost; nothing of an unknown owner."""

    def paid(connection: Connection) -> None:
        users.write_setting(connection, "bot_id", 42)
        users.add_spend(connection, OWNER, "2024-03-01", "archivist", tokens=1_000, cost_usd=0.5)
        users.add_spend(connection, OTHER, "2024-03-02", "archivist", tokens=3_000, cost_usd=0.5)
        users.add_spend(connection, OTHER, "2024-03-02", "responder", tokens=9, cost_usd=9)

    assert (await importing.terms(OWNER)).own_bot is None
    await talk.write(paid)
    terms = await importing.terms(OWNER)
    assert (terms.name, terms.tz, terms.own_bot) == ("Olena", "UTC", 42)
    assert (terms.calls, terms.tokens, terms.cost_usd) == (2, 4_000, 1.0)
    with pytest.raises(NotFound):
        await importing.terms(404)
    await talk.write(lambda c: ask_forget(c, OWNER, None, now=talk.clock.now()))
    with pytest.raises(Refused, match="about to be forgotten"):
        await importing.terms(OWNER)


async def test_a_closed_database_is_told(talk: Talk, importing: Importer) -> None:
    """Nothing is swallowed on the way."""
    await talk.database._finish()
    with pytest.raises(StorageError):
        await importing.take(OWNER, [draft(1)], dry_run=False)


@settings(max_examples=examples(30))
@given(st.lists(st.integers(1, 400), unique=True, max_size=150), st.integers(0, 150))
def test_a_forecast_counts_what_would_be_stored(numbers: list[int], known: int) -> None:
    """Every new message once, a call for each episode that has one, and its span in time."""
    lines = [Segment(0, MARCH + timedelta(hours=n), "слово", None, key=str(n)) for n in sorted(numbers)]
    forecast, new = Forecast(UTC), set(sorted(numbers)[known:])
    episodes_ = list(conversations(lines))
    for parts in episodes_:
        forecast.add(EpisodeDraft("", "", None, "тут", parts), {part.n for part in parts if int(part.key or 0) in new})
    expected = [part for parts in episodes_ for part in parts if int(part.key or 0) in new]
    assert forecast.messages == len(expected)
    assert forecast.calls == sum(any(int(part.key or 0) in new for part in parts) for parts in episodes_)
    assert (forecast.first, forecast.last) == (
        (min(part.at for part in expected), max(part.at for part in expected)) if expected else (None, None)
    )
    assert forecast.tokens >= 1_000 * forecast.calls


def test_longer_messages_are_foretold_to_cost_more() -> None:
    """Tokens are counted in the words of the prompt, forwards and speakers included."""

    def tokens(**more: str) -> int:
        forecast = Forecast(UTC)
        line = Segment(1, MARCH, **{"text": "так", "message_id": None, "speaker": "Олена", **more})  # type: ignore[arg-type]
        forecast.add(EpisodeDraft("", "", None, "тут", (line,)), {1})
        return forecast.tokens

    assert tokens() < tokens(forwarded_from="Іван Петров") < tokens(text="слово за словом " * 50)
