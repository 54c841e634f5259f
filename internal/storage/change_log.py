"""Keeps the change log short: only the last change of each row is needed, since readers look at the row itself.

Nightly decay changes every link of an owner, so without this a year's log would hold each of them 365 times.
"""

from typing import Final

from sqlalchemy import Connection, delete, func, select

from internal.storage.chunks import chunks
from internal.storage.database import Database
from internal.storage.tables import changes

_CHUNK: Final = 250
"""Rows deleted in one transaction."""


async def compact(database: Database, user_id: int) -> int:
    """Deletes an owner's entries that a later entry for the same row replaces. Returns how many.

    A reader at any place in the log still meets the last change of every row that changed behind that place.
    Replaced entries are looked up outside the writing connection, so nobody waits; they stay replaced meanwhile.
    """
    stale = await database.read(lambda c: _superseded(c, user_id))
    for chunk in chunks(stale, _CHUNK):
        superseded = delete(changes).where(changes.c.user_id == user_id, changes.c.seq.in_(chunk))
        await database.write(lambda c: c.execute(superseded).rowcount)  # noqa: B023 - awaited here
    return len(stale)


def _superseded(connection: Connection, user_id: int) -> list[int]:
    ours = changes.c.user_id == user_id
    last = select(func.max(changes.c.seq)).where(ours).group_by(changes.c.kind, changes.c.id)
    return list(connection.execute(select(changes.c.seq).where(ours, changes.c.seq.not_in(last))).scalars())
