"""Leases in the database. Only its own clock judges them: those of two machines may be minutes apart.

SQLite has no clock but its process's, and no other process.
"""

from __future__ import annotations

import time
from collections.abc import Collection
from datetime import timedelta
from typing import Any

from sqlalchemy import BigInteger, ColumnElement, Connection, cast, delete, extract, func, literal, select, update

from internal.errors import LeaseLost
from internal.storage.tables import leases
from internal.storage.upsert import upsert


def take(connection: Connection, name: str, holder: str, length: timedelta) -> bool:
    """Makes `holder` the one who has `name`, from now on for `length`. False while somebody else has it.

    Never waits: a lease in whose name a transaction is just being written counts as somebody else's.
    """
    row = connection.execute(
        select(leases.c.holder, leases.c.until > _now(connection)).where(leases.c.name == name)
    ).one_or_none()
    if row is not None and ((row[0] != holder and row[1]) or not _seized(connection, name)):
        return False
    until = _now(connection) + _micros(length)
    values = upsert(leases).values(name=name, holder=holder, until=until)
    values = values.on_conflict_do_update(index_elements=["name"], set_={"holder": holder, "until": until})
    connection.execute(values)
    return True


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


def require(connection: Connection, name: str, holder: str) -> None:
    """Ties the transaction to the lease: nobody else can take it before the commit. Raises LeaseLost.

    Without the row's lock somebody could take the lease and read, while this transaction is still to be committed.
    """
    row = select(leases.c.holder).where(leases.c.name == name).with_for_update(read=True)
    if connection.execute(row).scalar_one_or_none() != holder:
        raise LeaseLost


def drop_lapsed(connection: Connection, prefix: str, since: timedelta) -> int:
    """Deletes leases of this kind that ran out `since` ago and that nobody wanted."""
    old = leases.c.name.startswith(prefix, autoescape=True) & (leases.c.until < _now(connection) - _micros(since))
    return connection.execute(delete(leases).where(old)).rowcount


def _seized(connection: Connection, name: str) -> bool:
    """Locks the row; False if another transaction holds it, which on SQLite none can."""
    row = select(leases.c.name).where(leases.c.name == name).with_for_update(skip_locked=True)
    return connection.execute(row).first() is not None


def _now(connection: Connection) -> ColumnElement[Any]:
    """Microseconds since 1970 by the database's clock."""
    if connection.dialect.name == "sqlite":
        return literal(time.time_ns() // 1000, BigInteger)
    return cast(extract("epoch", func.clock_timestamp()) * 1_000_000, BigInteger)


def _micros(length: timedelta) -> int:
    return length // timedelta(microseconds=1)
