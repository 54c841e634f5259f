"""The change log kept short: of each thing only its last change is needed, for whoever follows looks at the row itself.

Nightly decay changes every link of an owner: without this the log of a year would hold each of them 365 times.
"""

from __future__ import annotations

from typing import Final

from sqlalchemy import Connection, delete, func, select

from internal.storage.chunks import chunks
from internal.storage.database import Database
from internal.storage.tables import changes

_CHUNK: Final = 1_000
"""Rows deleted in one transaction."""


async def compact(database: Database, user_id: int) -> int:
    """Drops an owner's entries that a later one of the same thing stands for; how many.

    Wherever a reader has got to in the log, it meets the last change of everything that changed behind that place.
    What is superseded is looked for beside the writer and stays superseded, so nobody waits for it.
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
