"""Disclosures: a row and an event for each time that an owner showed a part of the memory to somebody else."""

import hashlib
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Connection, select

from internal.events import repository as events
from internal.storage.engine.upsert import upsert
from internal.storage.tables import disclosures


@dataclass(frozen=True, slots=True)
class Disclosure:
    """A part (`kind`, `ref_id`) of a user's memory that was shown to `audience` (`group:<id>`, `user:<id>`), and why.

    `text_hash` proves the words without holding them: SHA-256 of the id, a line break and the words.
    """

    user_id: int
    id: str
    kind: str
    ref_id: str
    text_hash: str
    audience: str
    reason: str
    at: datetime


def record(
    connection: Connection, user_id: int, id: str, text: str, *, kind: str, ref_id: str, audience: str, reason: str,
    now: datetime,
) -> bool:  # fmt: skip
    """Records a disclosure before its text is sent. `id` identifies it; returns False if it is recorded already."""
    text_hash = hashlib.sha256(f"{id}\n{text}".encode()).hexdigest()
    what = {"kind": kind, "ref_id": ref_id, "audience": audience, "reason": reason}
    row = {"user_id": user_id, "id": id, "text_hash": text_hash, "at": now, **what}
    if connection.execute(upsert(disclosures).values(row).on_conflict_do_nothing()).rowcount == 0:
        return False
    events.append(
        connection, "disclosed", source=f"user:{user_id}", now=now, user_id=user_id, payload={"id": id, **what}
    )
    return True


def listing(connection: Connection, user_id: int, *, limit: int) -> list[Disclosure]:
    """The disclosures of an owner, newest first."""
    query = select(disclosures).where(disclosures.c.user_id == user_id).order_by(disclosures.c.at.desc()).limit(limit)
    return [Disclosure(**row) for row in connection.execute(query).mappings()]
