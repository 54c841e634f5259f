"""Vectors of search items: float32, little-endian, L2-normalised, each with the model, the size and the text it is of.

What is due is a query: an item whose `text_hash` differs from its vector's, or that has none of this model and size.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import ColumnElement, Connection, and_, bindparam, delete, func, or_, select
from sqlalchemy.dialects.sqlite import insert as upsert

from internal.storage.owners import record_change
from internal.storage.tables import changes, search_items, vectors

Vector = NDArray[np.float32]

CHANGE_KIND = "vector"
_WIRE = np.dtype("<f4")

# Run for each item that goes: built once, for building a statement takes longer than running it.
_REMOVE = delete(vectors).where(vectors.c.user_id == bindparam("owner"), vectors.c.item == bindparam("gone"))


@dataclass(frozen=True, slots=True)
class DueItem:
    """A text whose vector is missing or of an older text."""

    user_id: int
    item: str
    text: str
    text_hash: str


@dataclass(frozen=True, slots=True)
class Progress:
    """How many search items have a vector of the current model, of how many."""

    done: int
    total: int


def to_blob(vector: Vector) -> bytes:
    """The stored form. ValueError unless it is one finite vector of a length that is not zero."""
    length = float(np.linalg.norm(vector))
    if vector.ndim != 1 or not np.isfinite(length) or length == 0:
        raise ValueError("a vector must be finite and must not be zero")
    return np.asarray(vector / np.float32(length), dtype=_WIRE).tobytes()


def from_blob(blob: bytes) -> Vector:
    """A read-only view of a stored vector."""
    return np.frombuffer(blob, dtype=_WIRE)


def due(connection: Connection, model: str, dim: int, *, limit: int, without: Collection[int] = ()) -> list[DueItem]:
    """Items to embed, one owner after the other, but for those owners `without` whom it is to be done."""
    query = (
        select(search_items.c.user_id, search_items.c.item, search_items.c.text, search_items.c.text_hash)
        .outerjoin(vectors, _of(model))
        .where(or_(vectors.c.item.is_(None), ~_current(dim)), search_items.c.user_id.not_in(without))
        .order_by(search_items.c.user_id, search_items.c.item)
        .limit(limit)
    )
    return [DueItem(*row) for row in connection.execute(query)]


def progress(connection: Connection, model: str, dim: int) -> Progress:
    total = connection.execute(select(func.count()).select_from(search_items)).scalar_one()
    joined = search_items.join(vectors, and_(_of(model), _current(dim)))
    return Progress(done=connection.execute(select(func.count()).select_from(joined)).scalar_one(), total=total)


def put(connection: Connection, due_item: DueItem, model: str, vector: Vector) -> bool:
    """Stores a vector; False if the item's text has changed or is gone since it was read. ValueError as `to_blob`."""
    blob = to_blob(vector)
    place = (search_items.c.user_id == due_item.user_id) & (search_items.c.item == due_item.item)
    current = connection.execute(select(search_items.c.text_hash).where(place)).scalar_one_or_none()
    if current != due_item.text_hash:
        return False
    values = {"dim": vector.shape[0], "text_hash": due_item.text_hash, "vec": blob}
    row = upsert(vectors).values(user_id=due_item.user_id, item=due_item.item, model=model, **values)
    connection.execute(row.on_conflict_do_update(index_elements=["user_id", "item", "model"], set_=values))
    record_change(connection, due_item.user_id, CHANGE_KIND, due_item.item)
    return True


def remove(connection: Connection, user_id: int, items: Sequence[str]) -> None:
    """Deletes every model's vectors of these items."""
    for item in items:
        connection.execute(_REMOVE, {"owner": user_id, "gone": item})
        record_change(connection, user_id, CHANGE_KIND, item, "delete")


def remove_other_models(connection: Connection, model: str, dim: int, *, limit: int) -> int:
    """Deletes up to `limit` vectors of other models or sizes; how many there were."""
    foreign = select(vectors.c.user_id, vectors.c.item, vectors.c.model).where(
        or_(vectors.c.model != model, vectors.c.dim != dim)
    )
    rows = connection.execute(foreign.limit(limit)).all()
    for user_id, item, other in rows:
        one = (vectors.c.user_id == user_id) & (vectors.c.item == item) & (vectors.c.model == other)
        connection.execute(delete(vectors).where(one))
    return len(rows)


def of_other_models(connection: Connection, model: str, dim: int) -> int:
    """How many stored vectors are of another model or size; they are deleted once all of this one are there."""
    query = select(func.count()).select_from(vectors).where(or_(vectors.c.model != model, vectors.c.dim != dim))
    return connection.execute(query).scalar_one()


def last_change(connection: Connection) -> int:
    """The newest entry of the whole change log; 0 when it is empty."""
    return connection.execute(select(func.max(changes.c.seq))).scalar_one() or 0


def _of(model: str) -> ColumnElement[bool]:
    return and_(
        vectors.c.user_id == search_items.c.user_id, vectors.c.item == search_items.c.item, vectors.c.model == model
    )


def _current(dim: int) -> ColumnElement[bool]:
    return and_(vectors.c.text_hash == search_items.c.text_hash, vectors.c.dim == dim)
