"""Leases in the database. They expire by the database's clock: clocks of two machines may be minutes apart.

SQLite has only its process's clock, and no other process. Taking and renewing run in transactions that see each
statement's newest state (`Database.beside`); `require` is part of every transaction that writes under a lease.
"""

import time
from collections.abc import Collection
from datetime import timedelta
from typing import Any

from sqlalchemy import BigInteger, ColumnElement, Connection, cast, delete, extract, func, literal, select, update

from internal.errors import LeaseLost
from internal.scheduling.run import SHARD_COUNT
from internal.storage.engine.upsert import upsert
from internal.storage.tables import leases


def take_leases(connection: Connection, names: Collection[str], holder: str, length: timedelta) -> set[str]:
    """Takes leases that are free, expired or the holder's own, for `length`. Returns those it holds now.

    Never waits: a lease under which a transaction is being written counts as another holder's.
    """
    until = _now(connection) + _micros(length)
    free = (leases.c.holder == holder) | (leases.c.until <= _now(connection))
    # FOR UPDATE, because it conflicts with the lock of `require` and makes that fail afterwards.
    ours = select(leases.c.name).where(leases.c.name.in_(sorted(names)), free).with_for_update(skip_locked=True)
    taken = set(connection.execute(ours).scalars())
    if taken:
        connection.execute(update(leases).where(leases.c.name.in_(sorted(taken))).values(holder=holder, until=until))
    if missing := sorted(set(names) - taken):
        new = upsert(leases).values([{"name": name, "holder": holder, "until": until} for name in missing])
        new = new.on_conflict_do_nothing(index_elements=["name"])
        taken.update(connection.execute(new.returning(leases.c.name)).scalars())
    return taken


def renew(connection: Connection, names: Collection[str], holder: str, length: timedelta) -> set[str]:
    """Renews these leases from now on for `length`. Returns those that are still the holder's.

    An expired lease that no other holder took is still the holder's: nobody has worked under it.
    """
    ours = leases.c.name.in_(sorted(names)) & (leases.c.holder == holder)
    renewed = update(leases).where(ours).values(until=_now(connection) + _micros(length)).returning(leases.c.name)
    return set(connection.execute(renewed).scalars())


def release(connection: Connection, names: Collection[str], holder: str) -> None:
    """Releases those of these leases that are the holder's."""
    connection.execute(delete(leases).where(leases.c.name.in_(sorted(names)), leases.c.holder == holder))


def release_all(connection: Connection, holder: str) -> None:
    """Releases all leases of this holder."""
    connection.execute(delete(leases).where(leases.c.holder == holder))


def holder_of(connection: Connection, name: str) -> str | None:
    """The present holder; None for a lease that is free or expired."""
    lasting = select(leases.c.holder).where(leases.c.name == name, leases.c.until > _now(connection))
    return connection.execute(lasting).scalar_one_or_none()


def active_leases(connection: Connection, prefix: str) -> dict[str, str]:
    """Every lease that has not expired and whose name begins with `prefix`, with its holder."""
    query = select(leases.c.name, leases.c.holder).where(leases.c.until > _now(connection))
    rows = connection.execute(query.where(leases.c.name.startswith(prefix, autoescape=True)))
    return {row.name: row.holder for row in rows}


def drop_lapsed(connection: Connection, prefix: str) -> int:
    """Deletes expired leases of this kind that nobody will take again. Returns how many."""
    lapsed = leases.c.name.startswith(prefix, autoescape=True) & (leases.c.until <= _now(connection))
    return connection.execute(delete(leases).where(lapsed)).rowcount


def require(connection: Connection, name: str, holder: str) -> None:
    """Locks the lease until the commit, so that nobody takes it before. Raises LeaseLost if somebody has it already.

    Without the row's lock another worker could take the lease and read while this transaction is still uncommitted.
    The holder's own renewals use another connection and do not conflict.
    """
    row = select(leases.c.holder).where(leases.c.name == name).with_for_update(read=True, key_share=True)
    if connection.execute(row).scalar_one_or_none() != holder:
        raise LeaseLost


def in_shards(chat: ColumnElement[int], shards: Collection[int]) -> ColumnElement[bool]:
    """Whether a chat, or a number used instead of one, is in one of these shards."""
    return (func.abs(chat) % SHARD_COUNT).in_(sorted(shards))


def _now(connection: Connection) -> ColumnElement[Any]:
    """Microseconds since 1970 by the database's clock."""
    if connection.dialect.name == "sqlite":
        return literal(time.time_ns() // 1000, BigInteger)
    return cast(extract("epoch", func.clock_timestamp()) * 1_000_000, BigInteger)


def _micros(length: timedelta) -> int:
    return length // timedelta(microseconds=1)
