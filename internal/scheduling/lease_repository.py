"""Leases in the database. Only its own clock judges them: those of two machines may be minutes apart.

SQLite has no clock but its process's, and no other process. What takes and renews runs in transactions that see each
statement's newest state (`Database.beside`); `require` is part of whatever transaction writes in a lease's name.
"""

from __future__ import annotations

import time
from collections.abc import Collection
from datetime import timedelta
from typing import Any

from sqlalchemy import BigInteger, ColumnElement, Connection, cast, delete, extract, func, literal, select, update

from internal.errors import LeaseLost
from internal.scheduling.model import DISTRICTS
from internal.storage.engine.upsert import upsert
from internal.storage.tables import leases


def take(connection: Connection, names: Collection[str], holder: str, length: timedelta) -> set[str]:
    """Gives the holder what of these is free, ran out or is his, from now on for `length`; what he has now.

    Never waits: a lease in whose name a transaction is just being written counts as somebody else's.
    """
    until = _now(connection) + _micros(length)
    free = (leases.c.holder == holder) | (leases.c.until <= _now(connection))
    # FOR UPDATE, not less: it is what `require` stands in the way of, and what makes it fail afterwards.
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
    """Has the holder keep these for `length` from now on; those that are still his.

    One that ran out and that nobody took meanwhile is still his: nobody has worked in its name.
    """
    ours = leases.c.name.in_(sorted(names)) & (leases.c.holder == holder)
    renewed = update(leases).where(ours).values(until=_now(connection) + _micros(length)).returning(leases.c.name)
    return set(connection.execute(renewed).scalars())


def release(connection: Connection, names: Collection[str], holder: str) -> None:
    """Gives these back, as far as they are the holder's."""
    connection.execute(delete(leases).where(leases.c.name.in_(sorted(names)), leases.c.holder == holder))


def release_all(connection: Connection, holder: str) -> None:
    """Gives back whatever this holder has."""
    connection.execute(delete(leases).where(leases.c.holder == holder))


def holder_of(connection: Connection, name: str) -> str | None:
    """Who has it now; None for one that is free or ran out."""
    lasting = select(leases.c.holder).where(leases.c.name == name, leases.c.until > _now(connection))
    return connection.execute(lasting).scalar_one_or_none()


def standing(connection: Connection, prefix: str) -> dict[str, str]:
    """Every lease that has not run out and whose name begins with `prefix`, with its holder."""
    query = select(leases.c.name, leases.c.holder).where(leases.c.until > _now(connection))
    rows = connection.execute(query.where(leases.c.name.startswith(prefix, autoescape=True)))
    return {row.name: row.holder for row in rows}


def drop_lapsed(connection: Connection, prefix: str) -> int:
    """Deletes leases of this kind that ran out and that nobody will want again; how many."""
    lapsed = leases.c.name.startswith(prefix, autoescape=True) & (leases.c.until <= _now(connection))
    return connection.execute(delete(leases).where(lapsed)).rowcount


def require(connection: Connection, name: str, holder: str) -> None:
    """Ties the transaction to the lease: nobody takes it before the commit. Raises LeaseLost when somebody did.

    Without the row's lock another could take the lease and read, while this transaction is still to be committed.
    Renewing does not disturb it: the holder's own renewals come over another connection.
    """
    row = select(leases.c.holder).where(leases.c.name == name).with_for_update(read=True, key_share=True)
    if connection.execute(row).scalar_one_or_none() != holder:
        raise LeaseLost


def in_districts(chat: ColumnElement[int], districts: Collection[int]) -> ColumnElement[bool]:
    """Whether a chat, or what stands for one, is in one of these districts."""
    return (func.abs(chat) % DISTRICTS).in_(sorted(districts))


def _now(connection: Connection) -> ColumnElement[Any]:
    """Microseconds since 1970 by the database's clock."""
    if connection.dialect.name == "sqlite":
        return literal(time.time_ns() // 1000, BigInteger)
    return cast(extract("epoch", func.clock_timestamp()) * 1_000_000, BigInteger)


def _micros(length: timedelta) -> int:
    return length // timedelta(microseconds=1)
