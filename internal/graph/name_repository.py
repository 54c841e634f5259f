"""Name keys of entities: one row for each key and entity; rejected ones are kept so that they do not come back."""

from collections.abc import Collection, Iterable, Mapping

from sqlalchemy import Connection, delete, select, update

from internal.storage.engine.upsert import upsert
from internal.storage.tables import name_keys


def put_names(
    connection: Connection, user_id: int, entity_id: str, kinds: Mapping[str, str], set_by: Mapping[str, str]
) -> None:
    """Sets the keys of an entity to those of `kinds` (key -> "name" or "alias"); empty keys are left out.

    `set_by` is the setter of each kind; absent = archivist.
    """
    wanted = {key: kind for key, kind in kinds.items() if key}
    ours = (name_keys.c.user_id == user_id) & (name_keys.c.entity_id == entity_id)
    connection.execute(delete(name_keys).where(ours, ~name_keys.c.rejected, name_keys.c.key.not_in(wanted)))
    for key, kind in wanted.items():
        row = upsert(name_keys).values(
            user_id=user_id,
            key=key,
            entity_id=entity_id,
            kind=kind,
            set_by=set_by.get(kind, "archivist"),
            rejected=False,
        )
        same = ["user_id", "key", "entity_id"]
        connection.execute(row.on_conflict_do_update(index_elements=same, set_={"kind": kind, "rejected": False}))


def entities_named(connection: Connection, user_id: int, keys: Collection[str], *, limit: int = 500) -> list[str]:
    """Ids of entities, people among them, one of whose names or aliases has one of these keys."""
    named = select(name_keys.c.entity_id).where(
        name_keys.c.user_id == user_id, name_keys.c.key.in_(sorted(keys)[:limit]), ~name_keys.c.rejected
    )
    return list(connection.execute(named.distinct().order_by(name_keys.c.entity_id).limit(limit)).scalars())


def setters(connection: Connection, user_id: int, entity_id: str) -> dict[str, str]:
    """The setter of each name of an entity, by the folded name."""
    query = select(name_keys.c.key, name_keys.c.set_by).where(
        name_keys.c.user_id == user_id, name_keys.c.entity_id == entity_id, ~name_keys.c.rejected
    )
    return {row.key: row.set_by for row in connection.execute(query)}


def set_setters(connection: Connection, user_id: int, entity_id: str, set_by: Mapping[str, str]) -> None:
    """Records the setters of these names of an entity, by their folded keys."""
    for key, setter in set_by.items():
        one = (name_keys.c.user_id == user_id) & (name_keys.c.entity_id == entity_id) & (name_keys.c.key == key)
        connection.execute(update(name_keys).where(one).values(set_by=setter))


def drop_keys(connection: Connection, user_id: int, entity_id: str, keys: Collection[str]) -> None:
    """Deletes these keys of an entity, rejected ones too."""
    one = (name_keys.c.user_id == user_id) & (name_keys.c.entity_id == entity_id) & name_keys.c.key.in_(sorted(keys))
    connection.execute(delete(name_keys).where(one))


def drop_names(connection: Connection, user_id: int, entity_ids: Iterable[str]) -> None:
    """Deletes all keys of these entities, rejected ones too."""
    for entity_id in entity_ids:
        one = (name_keys.c.user_id == user_id) & (name_keys.c.entity_id == entity_id)
        connection.execute(delete(name_keys).where(one))
