"""A database in memory with two owners, entities, and episodes in which something is claimed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

from sqlalchemy import Connection, Table, insert, select
from support.knowledge.timeline_cases import year_of
from support.stores.stores import memory_store

from internal.graph import store
from internal.knowledge import episode_repository, service
from internal.knowledge.claims.changes import ClaimLine, NewClaim, RecordOutcome
from internal.knowledge.model import Episode, Fact, FactFilter, Segment, SetBy
from internal.language.dates.precision import DatePrecision
from internal.storage.tables import metadata, users
from internal.storage.types import new_id

OWNER, STRANGER = 1, 2
NOON = datetime(2026, 2, 7, 12, tzinfo=UTC)


def year(number: int) -> datetime:
    return datetime(number, 1, 1, tzinfo=UTC)


@contextmanager
def memory() -> Iterator[Connection]:
    with memory_store() as connection:
        for user_id in (OWNER, STRANGER):
            row = {"user_id": user_id, "role": "member", "state": "active", "name": "Оля", "lang": "uk", "tz": "UTC"}
            connection.execute(insert(users).values(**row, settings={}, created_at=NOON))
        yield connection


@dataclass(slots=True)
class Knowledge:
    """One owner's knowledge. Each call that writes happens a minute after the one before."""

    connection: Connection
    user_id: int = OWNER
    now: datetime = NOON
    entities: dict[str, str] = field(default_factory=dict)

    def entity(self, name: str, label: str = "Entity", **properties: Any) -> str:
        """The id of the entity of this name, made on first use."""
        if name not in self.entities:
            given = {"name": name} | properties if label != "Preference" else {"preference": name} | properties
            self.entities[name] = store.add_node(self.connection, self.user_id, label, given, now=self.now).id
        return self.entities[name]

    def later(self) -> datetime:
        self.now += timedelta(minutes=1)
        return self.now

    def episode(self, *lines: str, url: str | None = None, description: str = "notes") -> str:
        """Stores a text episode of these lines; its id."""
        episode_id = new_id()
        episode = Episode(
            user_id=self.user_id,
            id=episode_id,
            source="text",
            name=f"note {len(lines)}",
            content="\n".join(lines),
            source_description=description,
            source_url=url,
            reference_time=self.now,
            created_at=self.now,
        )
        parts = [Segment(n, self.now, line, None) for n, line in enumerate(lines, 1)]
        episode_repository.add_episode(self.connection, episode, parts)
        return episode_id

    def tell(
        self,
        source: str,
        relation: str,
        target: str,
        start: int | None = None,
        end: int | None = None,
        *,
        text: str | None = None,
        episode: str | None = None,
        lines: Sequence[ClaimLine] | None = None,
        by: SetBy = "archivist",
        stated: bool = True,
        exact: tuple[DatePrecision | None, DatePrecision | None] = (None, None),
        **attributes: Any,
    ) -> RecordOutcome:
        """Records one claim, told in an episode of its own unless one is given. `stated`: its beginning was said.

        `exact` is how exact its beginning and its end are.
        """
        words = text or f"{source} {relation.lower().replace('_', ' ')} {target}"
        now = self.later()
        new = NewClaim(
            source=self.entity(source),
            relation=relation,
            target=self.entity(target),
            fact=words,
            said_at=now,
            valid_at=None if start is None else year(start),
            valid_stated=stated and start is not None,
            invalid_at=None if end is None else year(end),
            attributes=attributes,
            episode_id=episode or self.episode(words),
            lines=[ClaimLine(1, words)] if lines is None else lines,
            set_by=by,
            valid_precision=exact[0],
            invalid_precision=exact[1],
        )
        return service.record_claims(self.connection, self.user_id, [new], now=now, run_id="run")

    def facts(self, **wanted: Any) -> list[Fact]:
        return service.facts_about(self.connection, self.user_id, FactFilter(**wanted), now=self.now, limit=1000)

    def timeline(self, **wanted: Any) -> list[tuple[str, int | None, int | None]]:
        """Facts that fit, ended ones too, as (target, first year, last year)."""
        wanted = {"include_invalid": True} | wanted
        current = [one for one in self.facts(**wanted) if one.expired_at is None]
        return [(one.target_name, year_of(one.valid_at), year_of(one.invalid_at)) for one in current]

    def current(self, target: str) -> Fact:
        """The only fact about this target that is not expired."""
        (found,) = [one for one in self.facts(include_invalid=True) if one.target_name == target and not one.expired_at]
        return found

    def rows(self, table: Table) -> list[dict[str, Any]]:
        return [dict(row) for row in self.connection.execute(select(table)).mappings()]

    def everything(self) -> str:
        """Every row of every table that holds what is known, as text; the episodes themselves left out."""
        spared = {"users", "episodes", "segments", "changes"}
        return "\n".join(str(self.rows(table)) for table in metadata.sorted_tables if table.name not in spared)
