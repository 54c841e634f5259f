"""Statements for searches of people: their vectors, and the changes since a cache was last read."""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, Select, Text, and_, bindparam, cast, func, literal, select

from internal.people.model import Person
from internal.people.repository import CHANGE_KIND as PERSON, ITEM_PREFIX, person_of
from internal.storage.chunks import CHUNK, chunks
from internal.storage.engine.expressions import without_index
from internal.storage.forgetting import hidings
from internal.storage.forgetting.forgettings import EVERYTHING
from internal.storage.tables import changes, name_keys, people, search_items, vectors
from internal.storage.vectors import Vector, from_blob

MANY_CHANGES = 5_000
"""Above this number reading everything again is cheaper than applying changes."""


# Run before every search: built once, for building it takes longer than running it.
_CHANGES_AFTER = (
    select(changes.c.seq, changes.c.kind, changes.c.id)
    .where(changes.c.user_id == bindparam("owner"), changes.c.seq > bindparam("after"))
    .order_by(changes.c.seq)
    .limit(MANY_CHANGES + 1)
)
_CALLED = (
    select(name_keys.c.entity_id)
    .where(name_keys.c.user_id == bindparam("owner"), name_keys.c.key.in_(bindparam("keys", expanding=True)))
    .where(~name_keys.c.rejected)
    .distinct()
    .limit(CHUNK)
)


@dataclass(frozen=True, slots=True)
class PersonVector:
    """A visible person; `vector` is None until the profile's current text is embedded."""

    person: Person
    vector: Vector | None


@dataclass(frozen=True, slots=True)
class ChangeLog:
    """The changes of an owner's data as (kind, id) up to `seq`; `entries` None: everything must be read again."""

    seq: int
    entries: Sequence[tuple[str, str]] | None


def log_after(connection: Connection, user_id: int, seq: int) -> ChangeLog:
    """The entries of the change log after `seq`."""
    rows = connection.execute(_CHANGES_AFTER, {"owner": user_id, "after": seq}).all()
    if not rows:
        return ChangeLog(seq, ())
    if len(rows) > MANY_CHANGES or any(row.kind == EVERYTHING for row in rows):
        return ChangeLog(last_seq(connection, user_id), None)
    return ChangeLog(rows[-1].seq, tuple((row.kind, row.id) for row in rows))


def last_seq(connection: Connection, user_id: int) -> int:
    query = select(func.max(changes.c.seq)).where(changes.c.user_id == user_id)
    return connection.execute(query).scalar_one() or 0


def count_people(connection: Connection, user_id: int) -> int:
    query = select(func.count()).where(people.c.user_id == user_id, _VISIBLE)
    return connection.execute(query.select_from(people)).scalar_one()


def entities_with_names(connection: Connection, user_id: int, keys: Collection[str]) -> list[str]:
    """The entities that have one of these name keys, rejected aliases excluded; some may be hidden."""
    searched = sorted(key for key in keys if key)[:CHUNK]
    return list(connection.execute(_CALLED, {"owner": user_id, "keys": searched}).scalars())


def people_vectors(
    connection: Connection, user_id: int, model: str, dim: int, ids: Sequence[int] | None = None
) -> Iterator[PersonVector]:
    """Yields visible people (with these ids) and the vector of their current text, of this model and size."""
    if ids is None:
        yield from _vectors_of(connection, _query(model, dim).where(people.c.user_id == user_id))
        return
    for chunk in chunks(ids):
        among = without_index(people.c.user_id) == user_id
        query = _query(model, dim).where(among, people.c.id.in_(chunk))
        yield from _vectors_of(connection, query)


_VISIBLE = people.c.merged_into.is_(None) & hidings.visible(people.c.entity_id)


def _query(model: str, dim: int) -> Select[Any]:
    item = and_(
        search_items.c.user_id == people.c.user_id,
        search_items.c.kind == "person",
        search_items.c.item == literal(ITEM_PREFIX) + cast(people.c.id, Text),
    )
    vector = and_(
        vectors.c.user_id == search_items.c.user_id,
        vectors.c.item == search_items.c.item,
        vectors.c.model == model,
        vectors.c.dim == dim,
        vectors.c.text_hash == search_items.c.text_hash,
    )
    return select(*people.c, vectors.c.vec).select_from(people.outerjoin(search_items, item).outerjoin(vectors, vector))


def _vectors_of(connection: Connection, query: Select[Any]) -> Iterator[PersonVector]:
    for row in connection.execute(query.where(_VISIBLE)):
        yield PersonVector(person_of(row), None if row.vec is None else from_blob(row.vec))


def person_of_change(kind: str, ref: str) -> int | None:
    """The id of the person a change is about, or None."""
    number = ref if kind == PERSON else ref.removeprefix(ITEM_PREFIX) if ref.startswith(ITEM_PREFIX) else ""
    return int(number) if number.isdigit() else None
