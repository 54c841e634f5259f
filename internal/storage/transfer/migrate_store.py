"""Moves everything that a store says into another one, whatever their engines; one that was interrupted goes on.

Each batch is committed together with how far its table is, in a table that the target has only until the move is done.
So a killed move doubles nothing, and whoever opens its target meanwhile can see that it is half a store.
"""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from sqlalchemy import Column, Connection, MetaData, Table, Text, delete, inspect, select

from internal.errors import Refused, StorageError
from internal.storage.database import Database, Snapshot
from internal.storage.engine.sqlite import remove_with_log
from internal.storage.engine.upsert import upsert
from internal.storage.migration import bring_up_to_date, current_revision, head_revision, refuse_newer
from internal.storage.transfer.content_hash import Content, content_of
from internal.storage.transfer.row_copy import (
    FIRST_ROWS,
    Batch,
    Key,
    carried_tables,
    empty,
    go_on_behind,
    highest_given,
    is_empty,
    next_limit,
    put_batch,
    read_batch,
    row_counts,
    without_haste,
)

Told = Callable[[str, int, int], object]
"""Is told what is done ("reading", "moving", "comparing"), how many rows of it are done, and of how many."""

NAME: Final = "unfinished_move"
_INTERRUPTED: Final = "a move into this store was interrupted; run the same laplaced migrate-store again"

_HEAD: Final = ""
"""The part that stands for the move as a whole."""

_move = Table(
    NAME,
    MetaData(),
    Column("part", Text, primary_key=True),
    Column("state", Text, nullable=False),
)


@dataclass(frozen=True, slots=True)
class Moved:
    """`rows` were moved now, `before` by an interrupted move; `begun_anew` because the source had changed since.

    `nul_lost` characters NUL are not in the target, whose engine keeps none.
    """

    source: Content
    target: Content
    rows: int
    before: int
    begun_anew: bool
    nul_lost: int

    @property
    def differing(self) -> list[str]:
        """The tables that are not the same on both sides; none after a move that went well."""
        return self.source.differences(self.target)


def draft_of(path: Path) -> Path:
    """Where a store is written until it may become the database file `path`."""
    return path.with_name(f".{path.name}.{head_revision()}.moving")


def drafts_of(path: Path) -> list[Path]:
    """The drafts that interrupted moves to `path` have left."""
    return sorted(path.parent.glob(f".{path.name}.*.moving"))


async def nothing_kept() -> None:
    """What the target holds is a copy, or nothing."""


async def move(
    source: Database,
    target: Database,
    *,
    name: str,
    told: Told,
    force: bool = False,
    keep: Callable[[], Awaitable[object]] = nothing_kept,
) -> Moved:
    """Moves what `source` says at this moment; the caller acts for everyone. `name` tells sources apart.

    The target is empty, or half a move of the same source, which goes on; else Refused("not_empty") unless `force`,
    and then it is emptied after `keep`. Raises StorageError for a schema that is not this program's on either side.
    A target that is not the same afterwards stays marked as half a store.
    """
    await need_source(source)
    await _need_schema(target, "target", made=True)
    tables = carried_tables()
    async with source.snapshot() as snapshot:
        await snapshot.read(without_haste)
        counts = await snapshot.read(lambda c: row_counts(c, tables))
        # Its hashes are those of what the target will be able to keep.
        meant = await look(snapshot, tables, counts, told, "reading", without_nul=target.shared)
        begun = await _begin(target, {"source": name, "content": meant.tables}, force, keep)
        total = sum(counts.values())
        carrier = Carrier(snapshot, target, noting=True, told=lambda rows: told("moving", rows, total))
        await carrier.carry_all(tables)
    async with target.snapshot() as snapshot:
        await snapshot.read(without_haste)
        arrived = await look(snapshot, tables, counts, told, "comparing")
    moved = Moved(meant, arrived, carrier.moved, carrier.before, begun, carrier.nul_lost)
    if not moved.differing:
        await target.write(_move.drop)
    return moved


async def need_source(source: Database) -> None:
    """Raises StorageError for what cannot be moved: no store, one of an older schema, half a store; SchemaTooNew."""
    await _need_schema(source, "source")
    await source.read(refuse_half)


async def look(
    snapshot: Snapshot,
    tables: Sequence[Table],
    counts: dict[str, int],
    told: Told,
    what: str,
    *,
    without_nul: bool = False,
) -> Content:
    """The content of these tables. Cancelled, it stops within a thousand rows."""
    total, done, stopped = sum(counts.values()), 0, False

    def looked_at(rows: int) -> None:
        nonlocal done
        done += rows
        told(what, min(done, total), total)
        if stopped:
            raise StorageError("it was stopped")

    try:
        return await snapshot.read(lambda c: content_of(c, tables, without_nul=without_nul, looked_at=looked_at))
    finally:
        stopped = True


def refuse_half(connection: Connection) -> None:
    """Raises StorageError for a store that a move into has not ended: whoever opened it would miss the rest."""
    if is_half(connection):
        raise StorageError(_INTERRUPTED)


def is_half(connection: Connection) -> bool:
    """Whether a move into this store has begun and not ended."""
    return inspect(connection).has_table(NAME)


def refuse_draft(path: Path) -> None:
    """Raises StorageError where a move to this database file was interrupted: a new one would be opened in its place.

    What is left of a move to a file that is there by now is deleted: it holds what people said.
    """
    for draft in drafts_of(path):
        if not path.exists():
            raise StorageError(_INTERRUPTED)
        remove_with_log(draft)


def forget_move(connection: Connection) -> None:
    """Whatever this store was half of, its content is replaced as a whole."""
    _move.drop(connection, checkfirst=True)


class Carrier:
    """Carries tables of one snapshot, counting; `before` are rows that an earlier run had carried.

    `noting`: each batch is committed with how far it is, for a run that goes on from there.
    """

    def __init__(
        self,
        snapshot: Snapshot,
        target: Database,
        *,
        noting: bool = False,
        told: Callable[[int], object] = lambda rows: None,
    ) -> None:
        self._snapshot, self._target, self._noting, self._told = snapshot, target, noting, told
        self.moved = self.before = self.nul_lost = 0

    async def carry_all(self, tables: Sequence[Table]) -> None:
        """Every row of these that is not there yet, and how far each table's own numbers went."""
        noted = await self._target.read(_states) if self._noting else {}
        for table in tables:
            await self._carry(table, noted.get(table.name) or {"rows": 0, "nul": 0, "after": None})
        highest = await self._snapshot.read(lambda c: highest_given(c, tables))
        await self._target.write(lambda c: go_on_behind(c, tables, highest))

    async def _carry(self, table: Table, reached: dict[str, Any]) -> None:
        self.before += reached["rows"]
        self.nul_lost += reached["nul"]
        limit, more = FIRST_ROWS, True
        while more and (batch := await self._read(table, reached["after"], limit)).rows:
            more = len(batch.rows) == limit
            lost, limit = await self._put(table, batch, reached), next_limit(batch)
            self.moved += len(batch.rows)
            self.nul_lost += lost
            reached = {"rows": reached["rows"] + len(batch.rows), "nul": reached["nul"] + lost, "after": batch.last}
            self._told(self.before + self.moved)

    async def _read(self, table: Table, after: Key | None, limit: int) -> Batch:
        return await self._snapshot.read(lambda c: read_batch(c, table, after, limit))

    async def _put(self, table: Table, batch: Batch, reached: dict[str, Any]) -> int:
        def work(connection: Connection) -> int:
            lost = put_batch(connection, table, batch)
            if self._noting:
                rows, nul = reached["rows"] + len(batch.rows), reached["nul"] + lost
                _note(connection, table.name, {"rows": rows, "nul": nul, "after": batch.last})
            return lost

        return await self._target.write(work)


async def _need_schema(database: Database, side: str, *, made: bool = False) -> None:
    """Raises StorageError, SchemaTooNew; with `made` a store without any schema gets this program's."""
    revision = await database.read(current_revision)
    refuse_newer(revision)
    if revision is None and made:
        await bring_up_to_date(database)
    elif revision is None:
        raise StorageError(f"the {side} is no store of Laplaced")
    elif revision != head_revision():
        raise StorageError(f"the {side} has an older schema than this program; start the bot on it once")


async def _begin(target: Database, head: dict[str, Any], force: bool, keep: Callable[[], Awaitable[object]]) -> bool:
    """Makes the target ready; whether a half-done move of the same source begins anew, since that has changed."""
    found = (await target.read(_states)).get(_HEAD)
    if found == head:
        return False
    anew = found is not None and found["source"] == head["source"]
    if not anew and not await target.read(is_empty):
        if not force:
            raise Refused("not_empty", "the target holds something already; with --force it is replaced")
        if found is None:
            await keep()
    await target.write(lambda c: _empty_for(c, head))
    return anew


def _empty_for(connection: Connection, head: dict[str, Any]) -> None:
    empty(connection)
    _move.create(connection, checkfirst=True)
    connection.execute(delete(_move))
    _note(connection, _HEAD, head)


def _states(connection: Connection) -> dict[str, dict[str, Any]]:
    """How far each part is, by its name; nothing for a store that no move into is under way."""
    if not is_half(connection):
        return {}
    return {row.part: json.loads(row.state) for row in connection.execute(select(_move))}


def _note(connection: Connection, part: str, state: dict[str, Any]) -> None:
    row = upsert(_move).values(part=part, state=json.dumps(state))
    connection.execute(row.on_conflict_do_update(index_elements=["part"], set_={"state": row.excluded.state}))
