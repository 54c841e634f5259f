"""Which messages time has overtaken: by what was told later, by a correction, by a contradiction that was settled."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import pytest
from sqlalchemy import Connection
from support.flows.fact_search_stage import day
from support.flows.message_stage import Talk
from support.flows.recall_stage import NOON, OWNER

from internal.graph import store
from internal.knowledge import service
from internal.knowledge.claims.changes import ClaimLine, NewClaim
from internal.recall.search.outdated_messages import Outdated, outdated
from internal.storage.database import Database


@dataclass(slots=True)
class Told:
    """What somebody wrote, and the facts that were drawn from it."""

    talk: Talk

    async def node(self, name: str) -> str:
        given = {"name": name, "type": "concept"}
        made: str = (await self.write(lambda c: store.add_node(c, OWNER, "Entity", given, now=NOON))).id
        return made

    async def claim(self, source: str, relation: str, target: str, words: str, **more: Any) -> tuple[str, str]:
        """A message and the one fact that it tells: their ids."""
        message = await self.talk.say(words + "!")
        line = ClaimLine(1, message.content, message.id)
        given = {"said_at": message.timestamp, "episode_id": f"of {message.id}", "lines": [line], **more}
        claim = NewClaim(source, relation, target, words, **given)
        outcome = await self.write(lambda c: service.record_claims(c, OWNER, [claim], now=self.talk.clock.now()))
        [fact_id] = outcome.facts
        return message.id, str(fact_id)

    async def outdated(self, *message_ids: str, after: timedelta = timedelta(days=1)) -> Mapping[str, Outdated]:
        now = self.talk.clock.now() + after
        return await self.talk.database.read(lambda c: outdated(c, OWNER, message_ids, now))

    async def write(self, work: Any) -> Any:
        return await self.talk.database.write(work)


@pytest.fixture
def told(database: Database) -> Told:
    return Told(Talk.of(database))


async def test_a_later_place_overtakes_the_message_of_an_earlier_one(told: Told) -> None:
    """By the fact and by its message; of two earlier ones each by the last."""
    olya, cities = await told.node("Оля"), [await told.node(name) for name in ("Киев", "Львов", "Одесса")]
    months = [day(f"2025-0{number}-01") for number in (1, 3, 5)]
    (first, _), (second, _), (last, fact) = [
        await told.claim(olya, "LIVES_IN", city, f"Оля живёт тут: {city}", valid_at=month, valid_stated=True)
        for city, month in zip(cities, months, strict=True)
    ]
    found = await told.outdated(first, second, last)
    after = frozenset({f"fact:{fact}", f"message:{last}"})
    assert found == {first: Outdated(months[1], after), second: Outdated(months[2], after)}


async def test_what_comes_later_has_not_overtaken_anything_yet(told: Told) -> None:
    """Who moves next year lives where she lives."""
    olya, kyiv, odesa = await told.node("Оля"), await told.node("Киев"), await told.node("Одесса")
    here, _ = await told.claim(olya, "LIVES_IN", kyiv, "Оля живёт в Киеве", valid_at=day("2025-01-01"))
    await told.claim(olya, "LIVES_IN", odesa, "Оля переедет в Одессу", valid_at=day("2027-01-01"), valid_stated=True)
    assert await told.outdated(here) == {}
    assert list(await told.outdated(here, after=timedelta(days=700))) == [here]


async def test_who_tells_an_end_is_not_overtaken_by_it(told: Told) -> None:
    """ "He has left ACME" is what is so now; that he works there is not, though nothing took its place."""
    petrov, acme = await told.node("Петров"), await told.node("ACME")
    began, ended = day("2024-01-01"), day("2026-01-01")
    works, _ = await told.claim(petrov, "WORKS_FOR", acme, "Петров работает в ACME", valid_at=began, valid_stated=True)
    left, _ = await told.claim(petrov, "WORKS_FOR", acme, "Петров ушёл из ACME", invalid_at=ended)
    assert await told.outdated(works, left) == {works: Outdated(ended, frozenset())}


async def test_a_correction_overtakes_the_words_that_were_wrong(told: Told) -> None:
    """The new version cites the same message; other dates for the same words do not make it wrong."""
    masha, tea = await told.node("Маша"), await told.node("чай")
    message, fact = await told.claim(masha, "LIKES", tea, "Маша любит зелёный чай")
    assert await told.outdated(message) == {}

    def corrected(connection: Connection, fact_id: str, words: str, **more: Any) -> str:
        now = told.talk.clock.now() + timedelta(hours=1)
        return service.update_fact(connection, OWNER, fact_id, words, reason="не так", now=now, **more)[1].id

    dated = await told.write(lambda c: corrected(c, fact, "Маша любит зелёный чай", begins=day("2020-01-01")))
    assert await told.outdated(message) == {}
    new = await told.write(lambda c: corrected(c, dated, "Маша любит чёрный чай"))
    assert (await told.outdated(message))[message].replaced_by == {f"fact:{new}"}


async def test_what_tells_anything_else_that_holds_is_not_outdated(told: Told) -> None:
    """One fact of two has ended: the message still says the other; so does one from which nothing was drawn."""
    olya, kyiv, odesa, cat = [await told.node(name) for name in ("Оля", "Киев", "Одесса", "кот")]
    message, _ = await told.claim(olya, "LIVES_IN", kyiv, "Оля живёт в Киеве с котом", valid_at=day("2025-01-01"))
    line = ClaimLine(1, "с котом", message)
    claim = NewClaim(olya, "OWNS", cat, "У Оли есть кот", said_at=NOON, episode_id=f"of {message}", lines=[line])
    await told.write(lambda c: service.record_claims(c, OWNER, [claim], now=NOON))
    await told.claim(olya, "LIVES_IN", odesa, "Оля живёт в Одессе", valid_at=day("2025-05-01"), valid_stated=True)
    small = await told.talk.say("Ага")
    assert await told.outdated(message, small.id) == {}
