"""Message numbers and revisions of each owner, which grow only in the transaction of the numbered rows."""

from typing import Final

from sqlalchemy import Connection, bindparam, func, select, update

from internal.errors import NotFound
from internal.storage.tables import changes, users

# Events and changes are numbered under the owner's lock. It is taken before his row: two transactions that took them in
# opposite orders would block each other until the server notices.
_LOCKED: Final = select(func.pg_advisory_xact_lock(bindparam("owner")))

_NUMBERED: Final = (
    update(users)
    .where(users.c.user_id == bindparam("owner"))
    .values(next_seq=users.c.next_seq + 1, next_rev=users.c.next_rev + 1)
    .returning(users.c.next_seq, users.c.next_rev, users.c.name)
)
_LOCKED_AND_NUMBERED: Final = _NUMBERED.where(_LOCKED.scalar_subquery().is_not(None))
_LAST: Final = (
    select(changes.c.seq)
    .where(changes.c.user_id == bindparam("owner"), changes.c.kind.not_in(bindparam("besides", expanding=True)))
    .order_by(changes.c.seq.desc())
    .limit(1)
)
VERSION: Final = (users.c.next_rev, func.coalesce(_LAST.scalar_subquery(), 0).label("last_change"))
"""The owner's latest revision and change. While neither grows, only rows of the kinds `besides` may have changed."""

# Run at nearly every write: built once, for building a statement takes several times as long as running it.
_ADVANCED: Final = {
    counter: update(users)
    .where(users.c.user_id == bindparam("owner"))
    .values({counter: users.c[counter] + bindparam("count")})
    .returning(users.c[counter])
    for counter in ("next_seq", "next_rev")
}
_LOCKED_AND_ADVANCED: Final = {
    counter: advanced.where(_LOCKED.scalar_subquery().is_not(None)) for counter, advanced in _ADVANCED.items()
}


def next_seq(connection: Connection, user_id: int, count: int = 1) -> int:
    """Returns the first of `count` new message numbers of this owner. Raises NotFound for an unknown owner."""
    return _advance(connection, user_id, "next_seq", count)


def next_rev(connection: Connection, user_id: int) -> int:
    """Returns a new revision number for a change of this owner's data; later changes have larger numbers."""
    return _advance(connection, user_id, "next_rev", 1)


def next_message_number(connection: Connection, user_id: int) -> tuple[int, int, str]:
    """The number and the revision of a new message, and its owner's name. Raises NotFound for an unknown owner."""
    advanced = _NUMBERED if connection.dialect.name == "sqlite" else _LOCKED_AND_NUMBERED
    after = connection.execute(advanced, {"owner": user_id}).one_or_none()
    if after is None:
        raise NotFound(f"there is no user {user_id}")
    return int(after[0]) - 1, int(after[1]) - 1, after[2] or ""


def note_change(connection: Connection, user_id: int) -> None:
    """Raises the owner's revision for a change that no other row records, so that caches read again."""
    _advance(connection, user_id, "next_rev", 1)


def hold_owner(connection: Connection, user_id: int) -> None:
    """Takes the owner's lock. Call it before writing the owner's row in any way but the counters above."""
    if connection.dialect.name != "sqlite":
        connection.execute(_LOCKED, {"owner": user_id})


def _advance(connection: Connection, user_id: int, counter: str, count: int) -> int:
    advanced = _ADVANCED if connection.dialect.name == "sqlite" else _LOCKED_AND_ADVANCED
    after = connection.execute(advanced[counter], {"owner": user_id, "count": count}).scalar_one_or_none()
    if after is None:
        raise NotFound(f"there is no user {user_id}")
    return int(after) - count
