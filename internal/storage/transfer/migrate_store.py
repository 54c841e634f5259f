"""Copies a whole store into another one of any engine, and continues an interrupted copy.

Each batch is committed together with the position in its table, in a table that the target has only until the end.
So a killed copy doubles nothing, and a process that opens the target meanwhile sees that it is incomplete.
"""

import json
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, Final

from sqlalchemy import Column, Connection, MetaData, Table, Text, delete, inspect, select

from internal.errors import Refused, StorageError
from internal.storage.database import Database, ReadSnapshot
from internal.storage.engine.sqlite import remove_with_log
from internal.storage.engine.upsert import upsert
from internal.storage.migration import bring_up_to_date, current_revision, head_revision, refuse_newer
from internal.storage.transfer import row_copy
from internal.storage.transfer.content_hash import Content, content_of

Progress = Callable[[str, int, int], object]
"""Called with the phase ("reading", "moving", "comparing"), the rows of it that are done, and their number."""

NAME: Final = "unfinished_move"
_INTERRUPTED: Final = "a move into this store was interrupted; run the same laplaced migrate-store again"

_WHOLE_PART: Final = ""
"""The part that stands for the whole copy."""

_MOVED_PART: Final = "moved_to"
"""The part that marks a store whose content was moved to another one."""

_move = Table(NAME, MetaData(), Column("part", Text, primary_key=True), Column("state", Text, nullable=False))


@dataclass(frozen=True, slots=True)
class CopyResult:
    """`rows` were copied now, `before` by an interrupted run; `begun_anew` because the source had changed since.

    `nul_lost` NUL characters are not in the target, whose engine cannot hold them.
    """

    source: Content
    target: Content
    rows: int
    before: int
    begun_anew: bool
    nul_lost: int

    @property
    def differing(self) -> list[str]:
        """The tables that differ between both sides; empty after a successful copy."""
        return self.source.differences(self.target)


def draft_of(path: Path) -> Path:
    """The path at which a store is written until it becomes the database file `path`."""
    return path.with_name(f".{path.name}.{head_revision()}.moving")


def drafts_of(path: Path) -> list[Path]:
    """The drafts that interrupted copies to `path` have left."""
    return sorted(path.parent.glob(f".{path.name}.*.moving"))


async def nothing_kept() -> None:
    """Keeps nothing: the target is empty or holds a copy."""


async def copy_store(
    source: Database,
    target: Database,
    *,
    name: str,
    progress: Progress,
    force: bool = False,
    keep: Callable[[], Awaitable[object]] = nothing_kept,
) -> CopyResult:
    """Copies what `source` holds at this moment. The caller acts for everyone. `name` identifies the source.

    The target is empty, or an incomplete copy of the same source, which is continued; else Refused("not_empty") unless
    `force`, which empties it after `keep`. Raises StorageError for a schema that is not this program's on either side.
    A target that differs afterwards stays marked as incomplete.
    """
    await need_source(source)
    await _need_schema(target, "target", made=True)
    tables = row_copy.carried_tables()
    async with source.snapshot() as snapshot:
        await snapshot.read(row_copy.without_haste)
        counts = await snapshot.read(lambda c: row_copy.row_counts(c, tables))
        # The source is hashed as the target will be able to store it.
        meant = await hash_tables(snapshot, tables, counts, progress, "reading", without_nul=target.shared)
        begun = await _begin(target, {"source": name, "content": meant.tables}, force, keep)
        total = sum(counts.values())
        carrier = Carrier(snapshot, target, noting=True, report=lambda rows: progress("moving", rows, total))
        await carrier.carry_all(tables)
    async with target.snapshot() as snapshot:
        await snapshot.read(row_copy.without_haste)
        arrived = await hash_tables(snapshot, tables, counts, progress, "comparing")
    moved = CopyResult(meant, arrived, carrier.moved, carrier.before, begun, carrier.nul_lost)
    if not moved.differing:
        await target.write(_move.drop)
    return moved


async def need_source(source: Database) -> None:
    """Raises StorageError for a source that cannot be copied: no store, an older schema, incomplete; SchemaTooNew."""
    await _need_schema(source, "source")
    await source.read(refuse_half)


async def hash_tables(
    snapshot: ReadSnapshot,
    tables: Sequence[Table],
    counts: dict[str, int],
    progress: Progress,
    what: str,
    *,
    without_nul: bool = False,
) -> Content:
    """Hashes these tables. When cancelled, it stops within a thousand rows."""
    total, done, stopped = sum(counts.values()), 0, False

    def looked_at(rows: int) -> None:
        nonlocal done
        done += rows
        progress(what, min(done, total), total)
        if stopped:
            raise StorageError("it was stopped")

    try:
        return await snapshot.read(lambda c: content_of(c, tables, without_nul=without_nul, looked_at=looked_at))
    finally:
        stopped = True


def refuse_half(connection: Connection) -> None:
    """Raises StorageError for an incomplete copy: a bot on it would miss the rest."""
    if is_half(connection):
        raise StorageError(_INTERRUPTED)


def refuse_moved(connection: Connection) -> None:
    """Raises StorageError for an incomplete copy, or a store that was moved elsewhere: a bot would fork the history."""
    refuse_half(connection)
    moved = moved_away(connection)
    if moved is not None:
        raise StorageError(
            f"this store {moved}, which storage.url should name. To go on with this one all the same, without what was "
            "said there since: laplaced reopen"
        )


def is_half(connection: Connection) -> bool:
    """Whether a copy into this store has begun and not ended."""
    return inspect(connection).has_table(NAME) and moved_away(connection) is None


def moved_away(connection: Connection) -> str | None:
    """The notice "was moved to X on D" of a store whose content was moved, else None."""
    moved = _states(connection).get(_MOVED_PART)
    return None if moved is None else f"was moved to {moved['to']} on {moved['on']}"


def mark_moved(connection: Connection, to: str, now: datetime) -> None:
    """Marks a store whose content was moved to `to`."""
    _move.create(connection, checkfirst=True)
    _note(connection, _MOVED_PART, {"to": to, "on": f"{now:%Y-%m-%d}"})


def refuse_draft(path: Path) -> None:
    """Raises StorageError where a copy to this database file was interrupted: a new file would be opened in its place.

    Deletes the draft of a copy to a file that exists by now, because it holds people's words.
    """
    for draft in drafts_of(path):
        if not path.exists():
            raise StorageError(_INTERRUPTED)
        remove_with_log(draft)


def forget_move(connection: Connection) -> None:
    """Removes the mark of an incomplete copy, or of a store that was moved elsewhere."""
    _move.drop(connection, checkfirst=True)


class Carrier:
    """Copies tables of one snapshot and counts; `before` are rows that an earlier run had copied.

    With `noting` each batch is committed with its position, so that a later run can continue.
    """

    def __init__(
        self,
        snapshot: ReadSnapshot,
        target: Database,
        *,
        noting: bool = False,
        report: Callable[[int], object] = lambda rows: None,
    ) -> None:
        self._snapshot, self._target, self._noting, self._report = snapshot, target, noting, report
        self.moved = self.before = self.nul_lost = 0

    async def carry_all(self, tables: Sequence[Table]) -> None:
        """Copies every missing row of these tables, and the position of each table's own numbers."""
        noted = await self._target.read(_states) if self._noting else {}
        for table in tables:
            await self._carry(table, noted.get(table.name) or {"rows": 0, "nul": 0, "after": None})
        highest = await self._snapshot.read(lambda c: row_copy.highest_given(c, tables))
        await self._target.write(lambda c: row_copy.go_on_behind(c, tables, highest))

    async def _carry(self, table: Table, reached: dict[str, Any]) -> None:
        self.before += reached["rows"]
        self.nul_lost += reached["nul"]
        limit, more = row_copy.FIRST_ROWS, True
        while more and (batch := await self._read(table, reached["after"], limit)).rows:
            more = len(batch.rows) == limit
            lost, limit = await self._put(table, batch, reached), row_copy.next_limit(batch)
            self.moved += len(batch.rows)
            self.nul_lost += lost
            reached = {"rows": reached["rows"] + len(batch.rows), "nul": reached["nul"] + lost, "after": batch.last}
            self._report(self.before + self.moved)

    async def _read(self, table: Table, after: row_copy.Key | None, limit: int) -> row_copy.RowBatch:
        return await self._snapshot.read(lambda c: row_copy.read_batch(c, table, after, limit))

    async def _put(self, table: Table, batch: row_copy.RowBatch, reached: dict[str, Any]) -> int:
        def work(connection: Connection) -> int:
            lost = row_copy.put_batch(connection, table, batch)
            if self._noting:
                rows, nul = reached["rows"] + len(batch.rows), reached["nul"] + lost
                _note(connection, table.name, {"rows": rows, "nul": nul, "after": batch.last})
            return lost

        return await self._target.write(work)


async def _need_schema(database: Database, side: str, *, made: bool = False) -> None:
    """Raises StorageError or SchemaTooNew for another schema; with `made` creates it in a store without any."""
    revision = await database.read(current_revision)
    refuse_newer(revision)
    if revision is None and made:
        await bring_up_to_date(database)
    elif revision is None:
        raise StorageError(f"the {side} is no store of Laplaced")
    elif revision != head_revision():
        raise StorageError(f"the {side} has an older schema than this program; start the bot on it once")


async def _begin(target: Database, head: dict[str, Any], force: bool, keep: Callable[[], Awaitable[object]]) -> bool:
    """Prepares the target. Returns whether an incomplete copy starts over because the source has changed."""
    found = (await target.read(_states)).get(_WHOLE_PART)
    if found == head:
        return False
    anew = found is not None and found["source"] == head["source"]
    if not anew and not await target.read(row_copy.is_empty):
        if not force:
            raise Refused("not_empty", "the target holds something already; with --force it is replaced")
        if found is None:
            await keep()
    await target.write(lambda c: _empty_for(c, head))
    return anew


def _empty_for(connection: Connection, head: dict[str, Any]) -> None:
    row_copy.delete_all_rows(connection)
    _move.create(connection, checkfirst=True)
    connection.execute(delete(_move))
    _note(connection, _WHOLE_PART, head)


def _states(connection: Connection) -> dict[str, dict[str, Any]]:
    """The position of each part by its name; empty for a store into which no copy is under way."""
    if not inspect(connection).has_table(NAME):
        return {}
    return {row.part: json.loads(row.state) for row in connection.execute(select(_move))}


def _note(connection: Connection, part: str, state: dict[str, Any]) -> None:
    row = upsert(_move).values(part=part, state=json.dumps(state))
    connection.execute(row.on_conflict_do_update(index_elements=["part"], set_={"state": row.excluded.state}))
