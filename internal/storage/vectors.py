"""Vectors of search items: float32, little-endian, L2-normalised, each with its model, size and text hash.

The column `embedded` of an item names the vector stored for its text (`made_by`), empty if there is none, so that due
items are an index lookup. Messages come after everything else.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from heapq import nlargest
from typing import Any, Final, TypeVar

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import (
    ColumnElement,
    Connection,
    Select,
    and_,
    bindparam,
    delete,
    func,
    or_,
    select,
    text,
    tuple_,
    update,
)

from internal.storage.change_log import record_change
from internal.storage.engine.commit_order import state_of
from internal.storage.engine.upsert import upsert
from internal.storage.tables import changes, search_items, vectors

Vector = NDArray[np.float32]

K = TypeVar("K")

CHANGE_KIND = "vector"

_AT_ONCE: Final = 2_000
"""Most vectors in memory at once in a search: 24 MB at 3,072 numbers each."""

_WIRE = np.dtype("<f4")

MESSAGE: Final = "message"
"""The kind of item that is embedded after all others."""

# The conditions of the partial indexes of due items, word for word.
_DUE: Final = text("embedded IS NULL AND kind <> 'message'")
_DUE_MESSAGE: Final = text("embedded IS NULL AND kind = 'message'")

# Runs for each item and is built once: building a statement takes longer than running it.
_EMBEDDED: Final = (
    update(search_items)
    .where(
        search_items.c.user_id == bindparam("owner"),
        search_items.c.item == bindparam("place"),
        search_items.c.text_hash == bindparam("hash"),
    )
    .values(embedded=bindparam("by"))
)
_ROW: Final = upsert(vectors)
_PUT: Final = _ROW.on_conflict_do_update(
    index_elements=["user_id", "item", "model"],
    set_={name: _ROW.excluded[name] for name in ("dim", "text_hash", "vec")},
)
_REMOVE: Final = delete(vectors).where(vectors.c.user_id == bindparam("owner"), vectors.c.item == bindparam("gone"))


@dataclass(frozen=True, slots=True)
class DueItem:
    """A text whose vector is missing or of an older text. Its context, if any, comes first.

    `known` means that the vector is stored already and only has to be acknowledged.
    """

    user_id: int
    item: str
    text: str
    text_hash: str
    known: bool = False

    @property
    def is_message(self) -> bool:
        return self.item.startswith(f"{MESSAGE}:")


@dataclass(frozen=True, slots=True)
class VectorProgress:
    """The number of search items with a vector of the current model, and of all search items."""

    done: int
    total: int


def to_blob(vector: Vector) -> bytes:
    """Returns the stored form. Raises ValueError unless it is one finite vector of non-zero length."""
    length = float(np.linalg.norm(vector))
    if vector.ndim != 1 or not np.isfinite(length) or length == 0:
        raise ValueError("a vector must be finite and must not be zero")
    return np.asarray(vector / np.float32(length), dtype=_WIRE).tobytes()


def from_blob(blob: bytes) -> Vector:
    """A read-only view of a stored vector."""
    return np.frombuffer(blob, dtype=_WIRE)


def nearest(
    connection: Connection, user_id: int, model: str, wanted: Mapping[K, Vector], *only: ColumnElement[bool], count: int
) -> dict[K, list[tuple[str, float]]]:
    """The ids of the search items that meet `only` nearest to each wanted vector, best first, with the cosines.

    `wanted` are vectors of length 1 by `model`. Vectors of other models and sizes, and of older
    texts, are passed over.
    """
    if not wanted:
        return {}
    matrix = np.stack(list(wanted.values()))
    same_item = (vectors.c.user_id == search_items.c.user_id) & (vectors.c.item == search_items.c.item)
    current = (vectors.c.model == model) & (vectors.c.text_hash == search_items.c.text_hash)
    joined = search_items.join(vectors, same_item & current & (vectors.c.dim == matrix.shape[1]))
    query = select(search_items.c.ref_id, vectors.c.vec).select_from(joined)
    best: dict[K, list[tuple[float, str]]] = {key: [] for key in wanted}
    for rows in connection.execute(query.where(search_items.c.user_id == user_id, *only)).partitions(_AT_ONCE):
        ids, stored = [row.ref_id for row in rows], np.stack([from_blob(row.vec) for row in rows])
        for key, cosines in zip(wanted, matrix @ stored.T, strict=True):
            best[key] = nlargest(count, [*best[key], *zip(cosines.tolist(), ids, strict=True)])
    return {key: [(id, cosine) for cosine, id in found] for key, found in best.items() if found}


def made_by(model: str, dim: int) -> str:
    """The mark in an item that says which vector of its text is stored."""
    return f"{model}/{dim}"


def due(
    connection: Connection, model: str, dim: int, *, limit: int, without: Collection[int] = (), after: int | None = None
) -> list[DueItem]:
    """Items to embed, owner by owner, except those of the owners in `without`; the owner `after` comes last.

    Messages come when nothing else is left, an owner's newest first.
    """
    given = {"of": model, "size": dim, "without": list(without)} | ({} if after is None else {"last": after})
    found: list[DueItem] = []
    for messages in (False, True):
        for later in (None,) if after is None else (True, False):
            if len(found) < limit:
                found += _due(connection, _due_items(messages, later), {**given, "most": limit - len(found)})
    return found


def progress(connection: Connection, model: str, dim: int) -> VectorProgress:
    total = connection.execute(select(func.count()).select_from(search_items)).scalar_one()
    done = select(func.count()).where(search_items.c.embedded == made_by(model, dim))
    return VectorProgress(done=connection.execute(done).scalar_one(), total=total)


def save_vector(connection: Connection, due_item: DueItem, model: str, vector: Vector) -> bool:
    """Stores a vector. Returns False if the item's text has changed or is gone. Raises ValueError like `to_blob`."""
    blob, dim = to_blob(vector), vector.shape[0]
    if not acknowledge(connection, due_item, model, dim):
        return False
    key = {"user_id": due_item.user_id, "item": due_item.item, "model": model}
    connection.execute(_PUT, {**key, "dim": dim, "text_hash": due_item.text_hash, "vec": blob})
    record_change(connection, due_item.user_id, CHANGE_KIND, due_item.item)
    return True


def acknowledge(connection: Connection, due_item: DueItem, model: str, dim: int) -> bool:
    """Notes that the vector of an item's text is stored. Returns False if the text has changed or is gone."""
    key = {"owner": due_item.user_id, "place": due_item.item, "hash": due_item.text_hash}
    return connection.execute(_EMBEDDED, {**key, "by": made_by(model, dim)}).rowcount == 1


def disown(connection: Connection, model: str, dim: int, *, limit: int) -> int:
    """Makes up to `limit` items with a vector of another model or size due again. Returns how many."""
    by = search_items.c.embedded
    foreign = select(search_items.c.user_id, search_items.c.item).where(by.is_not(None), by != made_by(model, dim))
    key = tuple_(search_items.c.user_id, search_items.c.item)
    return connection.execute(update(search_items).where(key.in_(foreign.limit(limit))).values(embedded=None)).rowcount


def remove(connection: Connection, user_id: int, items: Sequence[str]) -> None:
    """Deletes every model's vectors of these items."""
    for item in items:
        connection.execute(_REMOVE, {"owner": user_id, "gone": item})
        record_change(connection, user_id, CHANGE_KIND, item, "delete")


def remove_other_models(connection: Connection, model: str, dim: int, *, limit: int) -> int:
    """Deletes up to `limit` vectors of other models or sizes. Returns how many."""
    foreign = select(vectors.c.user_id, vectors.c.item, vectors.c.model).where(
        or_(vectors.c.model != model, vectors.c.dim != dim)
    )
    rows = connection.execute(foreign.limit(limit)).all()
    for user_id, item, other in rows:
        one = (vectors.c.user_id == user_id) & (vectors.c.item == item) & (vectors.c.model == other)
        connection.execute(delete(vectors).where(one))
    return len(rows)


def of_other_models(connection: Connection, model: str, dim: int) -> int:
    """The number of vectors of another model or size. They are deleted once all of the current model exist."""
    query = select(func.count()).select_from(vectors).where(or_(vectors.c.model != model, vectors.c.dim != dim))
    return connection.execute(query).scalar_one()


def last_change(connection: Connection) -> str:
    """A value that stays the same while nothing is added to the change log."""
    return state_of(connection, changes)


@cache
def _due_items(messages: bool, later: bool | None) -> Select[Any]:
    """`later`: only owners who come after the last one, or only the others. Built once, as it runs at every message."""
    item = search_items.c
    current = and_(
        vectors.c.user_id == item.user_id,
        vectors.c.item == item.item,
        vectors.c.model == bindparam("of"),
        vectors.c.dim == bindparam("size"),
        vectors.c.text_hash == item.text_hash,
    )
    query = select(item.user_id, item.item, item.text, item.text_hash, item.context, vectors.c.item.label("known"))
    query = query.outerjoin(vectors, current).where(_DUE_MESSAGE if messages else _DUE)
    query = query.where(item.user_id.not_in(bindparam("without", expanding=True))).limit(bindparam("most"))
    if later is not None:
        behind = item.user_id < bindparam("last") if messages else item.user_id > bindparam("last")
        query = query.where(behind if later else ~behind)
    order = (item.user_id, item.item)
    return query.order_by(*([column.desc() for column in order] if messages else order))


def _due(connection: Connection, query: Select[Any], given: dict[str, Any]) -> list[DueItem]:
    return [
        DueItem(
            user_id=row.user_id,
            item=row.item,
            text=row.text if row.context is None else f"{row.context} {row.text}",
            text_hash=row.text_hash,
            known=row.known is not None,
        )
        for row in connection.execute(query, given)
    ]
