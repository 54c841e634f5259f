"""A database in memory with two owners, and fragments that can be archived into it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from sqlalchemy import Connection, insert, select
from support.stores.stores import memory_store

from internal.people import apply_operations, repository
from internal.people.model import Person
from internal.people.operations import ApplyContext, ApplyOutcome, Operation, SourceLine
from internal.storage.tables import events, users

OWNER, STRANGER = 1, 2
NOON = datetime(2026, 2, 7, 12, tzinfo=UTC)
KEY = b"k" * 32


@contextmanager
def memory() -> Iterator[Connection]:
    with memory_store() as connection:
        for user_id in (OWNER, STRANGER):
            row = {"user_id": user_id, "role": "member", "state": "active", "name": "", "lang": "ru", "tz": "UTC"}
            connection.execute(insert(users).values(**row, settings={}, created_at=NOON))
        yield connection


@dataclass(slots=True)
class Archive:
    """One owner's archive: fragments of some lines, a minute apart, each line vouching for the given Telegram ids."""

    connection: Connection
    user_id: int = OWNER
    fragments: int = 0

    def fragment(
        self,
        *operations: Operation,
        at: datetime = NOON,
        lines: int = 3,
        telegram_ids: tuple[int, ...] = (),
        snapshot_rev: int | None = None,
        episode: str | None = None,
    ) -> ApplyOutcome:
        """Applies what an archivist answered to the next fragment (or to the given one again)."""
        self.fragments += 1
        rev = repository.current_rev(self.connection, self.user_id) if snapshot_rev is None else snapshot_rev
        context = ApplyContext(
            episode_id=episode or f"episode-{self.fragments}",
            run_id=f"run-{self.fragments}",
            lines={
                n: SourceLine(at + timedelta(minutes=n - 1), 10 + n, f"message-{n}", telegram_ids)
                for n in range(1, lines + 1)
            },
            snapshot_rev=rev,
            tombstone_key=KEY,
            now=at + timedelta(hours=1),
        )
        return apply_operations.apply(self.connection, self.user_id, operations, context)

    @property
    def rev(self) -> int:
        return repository.current_rev(self.connection, self.user_id)

    @property
    def people(self) -> list[Person]:
        return sorted(repository.listing(self.connection, self.user_id), key=lambda person: person.id)

    def person(self, name: str) -> Person:
        """The only person of that display name."""
        (found,) = [person for person in self.people if person.display_name == name]
        return found

    def events(self, event_type: str) -> Sequence[dict[str, Any]]:
        query = select(events.c.payload).where(events.c.user_id == self.user_id, events.c.event_type == event_type)
        return list(self.connection.execute(query.order_by(events.c.seq)).scalars())


def reasons(outcome: ApplyOutcome) -> list[str]:
    return [refused.reason for refused in outcome.refused]
