"""Facts of one owner: the cost of recording claims, removing an episode's, and listing facts, now and as known.

    python -m benchmarks.storage.facts [--facts 1000 20000] [--profile record|remove|known_at]

The service records `--facts` facts of one owner in three languages, eight claims to an episode. Half are about what
people like, read and visit, a third about where they live and work (later ones close earlier ones), the rest repeats
earlier claims. Then 200 more claims are recorded, 200 facts are listed (as they are now, as they were known in the
middle, and those of one entity), and 200 claims are removed, an episode at a time. It counts processor time, which
other load changes little, and statements. Beside each episode a bare loop inserts as many rows with the same words into
the same table, a statement each.
"""

from __future__ import annotations

import argparse
import asyncio
import cProfile
import pstats
import random
import statistics
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, delete, event, insert

from benchmarks.shared import figures
from benchmarks.shared.bot_process import circumstances
from internal.graph import store
from internal.knowledge import episode_repository, service
from internal.knowledge.claims.changes import ClaimLine, NewClaim
from internal.knowledge.model import Episode, FactFilter, Segment
from internal.storage.database import Database
from internal.storage.migration import migrate
from internal.storage.tables import claims, users
from internal.storage.types import new_id

OWNER, SEED, CLAIMS_AN_EPISODE, MEASURED, LISTED = 1, 7, 8, 200, 200
BEGAN = datetime(2020, 1, 1, tzinfo=UTC)
ENTITIES_A_FACT = 0.2
PEOPLE = ("Катя", "Богдан", "Olha", "Dmytro", "Роман", "Юлія", "Stephen", "Галина", "Петро", "Anna")
LIVES = (("LIVES_IN", "{} живёт в {}"), ("WORKS_FOR", "{} працює в {}"), ("LIVES_IN", "{} lives in {}"))
LIKES = (("LIKES", "{} любит {}"), ("READS", "{} читає {}"), ("VISITED", "{} visited {}"), ("OWNS", "{} купил {}"))


@dataclass
class Teller:
    """Makes episodes, one after another, each with what it claims. The same seed tells the same."""

    connection: Connection
    size: int
    chance: random.Random = field(default_factory=lambda: random.Random(SEED))
    now: datetime = BEGAN
    nodes: list[tuple[str, str]] = field(default_factory=list)
    statements: list[tuple[str, str, str, str, datetime | None]] = field(default_factory=list)
    episodes: list[str] = field(default_factory=list)

    def make_nodes(self) -> None:
        for number in range(int(self.size * ENTITIES_A_FACT)):
            name = f"{self.chance.choice(PEOPLE)} {number}"
            node = store.add_node(self.connection, OWNER, "Entity", {"name": name}, now=self.now)
            self.nodes.append((node.id, name))

    def episode(self) -> list[NewClaim]:
        """Stores an episode and tells what it claims; that is not recorded yet."""
        self.now += timedelta(minutes=7)
        episode_id = new_id()
        statements = [self._sentence() for _ in range(CLAIMS_AN_EPISODE)]
        episode = Episode(
            user_id=OWNER,
            id=episode_id,
            source="text",
            name="note",
            content="\n".join(words for *_, words, _ in statements),
            source_description="benchmark",
            source_url=None,
            reference_time=self.now,
            created_at=self.now,
        )
        lines = [Segment(number, self.now, words, None) for number, (*_, words, _) in enumerate(statements, 1)]
        episode_repository.add_episode(self.connection, episode, lines)
        self.episodes.append(episode_id)
        return [self._claim(episode_id, number, *one) for number, one in enumerate(statements, 1)]

    def _sentence(self) -> tuple[str, str, str, str, datetime | None]:
        kind = self.chance.random()
        if kind < 0.15 and self.statements:
            return self.chance.choice(self.statements)
        (source, who), (target, what) = self.chance.sample(self.nodes, 2)
        relation, words = self.chance.choice(LIVES if kind < 0.5 else LIKES)
        since = BEGAN + timedelta(days=self.chance.randrange(2500)) if kind < 0.5 else self.now
        one = (source, relation, target, words.format(who, what), since)
        self.statements.append(one)
        return one

    def _claim(
        self, episode_id: str, number: int, source: str, relation: str, target: str, words: str, since: datetime | None
    ) -> NewClaim:
        line = ClaimLine(number, words)
        return NewClaim(
            source, relation, target, words, said_at=self.now, valid_at=since, episode_id=episode_id, lines=[line]
        )


@dataclass
class Measured:
    """Processor's milliseconds and statements, each one of a piece of work."""

    cpu_ms: list[float] = field(default_factory=list)
    statements: list[int] = field(default_factory=list)


class Stopwatch:
    """Measures work inside a transaction, and profiles it if it is the one that was asked for."""

    def __init__(self, profiled: str | None) -> None:
        self._profiled, self._statements = profiled, 0
        self.profile = cProfile.Profile()

    def count(self, connection: Connection, *_: object) -> None:
        self._statements += 1

    def measure(self, measured: Measured, name: str, work: Callable[[], Any]) -> None:
        before = self._statements
        if name == self._profiled:
            self.profile.enable()
        began = time.process_time()
        work()
        measured.cpu_ms.append((time.process_time() - began) * 1000)
        self.profile.disable()
        measured.statements.append(self._statements - before)


async def measure(size: int, watch: Stopwatch) -> dict[str, Measured]:
    """Works by name; see the module."""
    with tempfile.TemporaryDirectory() as folder:
        async with Database.open(Path(folder) / "facts.db") as database:
            await database.exclusive(migrate)
            row = {"user_id": OWNER, "role": "owner", "state": "active", "name": "Оля", "lang": "ru", "tz": "UTC"}
            await database.write(lambda c: c.execute(insert(users).values(**row, settings={}, created_at=BEGAN)))
            return await database.write(lambda connection: _work(connection, size, watch))


def _work(connection: Connection, size: int, watch: Stopwatch) -> dict[str, Measured]:
    event.listen(connection, "before_cursor_execute", watch.count)
    teller = Teller(connection, size)
    teller.make_nodes()
    for _ in range(size // CLAIMS_AN_EPISODE):
        new_claims = teller.episode()
        service.record_claims(connection, OWNER, new_claims, now=teller.now, run_id="run")
    found = {name: Measured() for name in ("record", "bare insert", "remove", "list", "known_at", "known_at, one")}
    for _ in range(MEASURED // CLAIMS_AN_EPISODE):
        new_claims = teller.episode()
        record = partial(service.record_claims, connection, OWNER, new_claims, now=teller.now, run_id="run")
        watch.measure(found["record"], "record", record)
        watch.measure(found["bare insert"], "", partial(_bare, connection, new_claims, teller.now))
    _read(connection, teller, watch, found)
    for episode_id in teller.chance.sample(teller.episodes, MEASURED // CLAIMS_AN_EPISODE):
        remove = partial(service.remove_episode_claims, connection, OWNER, episode_id, now=teller.now)
        watch.measure(found["remove"], "remove", remove)
    return found


def _bare(connection: Connection, new_claims: Sequence[NewClaim], now: datetime) -> None:
    """As many rows of the same words, one statement each; gone again afterwards."""
    ids = [new_id() for _ in new_claims]
    for claim_id, claim in zip(ids, new_claims, strict=True):
        row = {"user_id": OWNER, "id": claim_id, "source": claim.source, "name": "BARE", "target": claim.target}
        ends = {"source_origin": claim.source, "target_origin": claim.target, "attributes": {}, "valid_stated": False}
        words = {"statement": claim.fact, "fact": claim.fact, "said_at": now, "created_at": now, "set_by": "archivist"}
        connection.execute(insert(claims).values(row | ends | words))
    connection.execute(delete(claims).where(claims.c.user_id == OWNER, claims.c.id.in_(ids)))


def _read(connection: Connection, teller: Teller, watch: Stopwatch, found: dict[str, Measured]) -> None:
    then = BEGAN + (teller.now - BEGAN) / 2
    facts = partial(service.facts_about, connection, OWNER, now=teller.now, limit=LISTED)
    for _ in range(10):
        node_id, _name = teller.chance.choice(teller.nodes)
        about = FactFilter(node_id=node_id, known_at=then, include_invalid=True)
        watch.measure(found["list"], "list", partial(facts, FactFilter(include_invalid=True)))
        watch.measure(found["known_at, one"], "known_at, one", partial(facts, about))
    wanted = FactFilter(known_at=then, include_invalid=True)
    watch.measure(found["known_at"], "known_at", partial(facts, wanted))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--facts", type=int, nargs="+", default=[1000, 20_000])
    parser.add_argument("--profile", choices=["record", "remove", "list", "known_at", "known_at, one"])
    options = parser.parse_args()
    print(circumstances())
    for size in options.facts:
        watch = Stopwatch(options.profile)
        found = asyncio.run(measure(size, watch))
        for name, measured in found.items():
            one = CLAIMS_AN_EPISODE if name in {"record", "remove", "bare insert"} else 1
            print(
                f"{size:>6} facts  {name:<14} {statistics.median(measured.cpu_ms) / one:8.2f} ms of the processor"
                f"  {statistics.median(measured.statements) / one:8.1f} statements"
            )
        bare = statistics.median(found["bare insert"].cpu_ms)
        for name in ("record", "remove"):
            figures.keep(f"{name} to a bare insert, {size} facts", statistics.median(found[name].cpu_ms) / bare)
        if options.profile:
            pstats.Stats(watch.profile).sort_stats("tottime").print_stats(30)


if __name__ == "__main__":
    main()
