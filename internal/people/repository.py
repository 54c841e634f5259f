"""People in the database: rows, name keys, entities and search items, always written together by `save`."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any, Literal

from sqlalchemy import ColumnElement, Connection, Select, bindparam, delete, func, insert, select, update

from internal.errors import Refused
from internal.graph import name_repository
from internal.language.text.spelling import name_key
from internal.people import entity_nodes as entities
from internal.people.model import Circle, Person, embedding_text
from internal.storage import evidence, search_items as searched
from internal.storage.change_log import record_change
from internal.storage.chunks import CHUNK, rows_of, rows_with
from internal.storage.engine.expressions import without_index
from internal.storage.engine.upsert import upsert
from internal.storage.forgetting import hidings
from internal.storage.owner_counters import next_rev
from internal.storage.rows import owner_lookup, read_one, reader
from internal.storage.tables import mentions, name_keys, people, search_items, users

SetBy = Literal["owner", "archivist", "metadata", "names"]
"""The setter of a field: the owner, a model, a Telegram message's metadata, or names (a bio made of names)."""

CONTENT = ("display_name", "aliases", "telegram_id", "username", "circle", "bio")
"""The fields of a profile that are asserted; the others are counters."""

CHANGE_KIND = "person"
ITEM_PREFIX = "person:"


_NAMES = 4 * CHUNK
"""Most names that are read to find people: a person has a few that begin alike."""

_VISIBLE = people.c.merged_into.is_(None) & hidings.visible(people.c.entity_id)


_BY_IDS = select(people).where(
    without_index(people.c.user_id) == bindparam("owner"), people.c.id.in_(bindparam("ids", expanding=True)), _VISIBLE
)

_KNOWN_NAMES = select(people.c.display_name, people.c.aliases).where(people.c.user_id == bindparam("owner"), _VISIBLE)


def item_of(person_id: int) -> str:
    """The key of a person among search items, vectors and evidence."""
    return f"{ITEM_PREFIX}{person_id}"


def current_rev(connection: Connection, user_id: int) -> int:
    """The owner's current revision; a field that changes later gets a larger one. 0 for an unknown owner."""
    following = connection.execute(select(users.c.next_rev).where(users.c.user_id == user_id)).scalar_one_or_none()
    return 0 if following is None else int(following) - 1


def get(connection: Connection, user_id: int, person_id: int) -> Person | None:
    """A person who is neither merged away nor being forgotten."""
    return read_one(connection.execute(_select(user_id).where(people.c.id == person_id)), person_of)


owner_of = owner_lookup(people)


def resolve_id(connection: Connection, user_id: int, person_id: int) -> int | None:
    """The id at the end of the redirects from `person_id`; None if there is no such row."""
    seen: set[int] = set()
    current: int | None = person_id
    while current is not None and current not in seen:
        seen.add(current)
        row = connection.execute(
            select(people.c.merged_into).where(people.c.user_id == user_id, people.c.id == current)
        ).one_or_none()
        if row is None:
            return None
        if row.merged_into is None:
            return current
        current = row.merged_into
    return None


def resolve(connection: Connection, user_id: int, person_id: int) -> Person | None:
    """The person with this id, redirects followed; None if unknown or being forgotten."""
    final = resolve_id(connection, user_id, person_id)
    return None if final is None else get(connection, user_id, final)


def redirected_ids(connection: Connection, user_id: int) -> list[int]:
    """Merged ids that redirect to a visible person or another redirect: a reply may still name them."""
    query = select(people.c.id).where(people.c.user_id == user_id, people.c.merged_into.is_not(None))
    return list(connection.execute(query.order_by(people.c.id)).scalars())


def sources_of(connection: Connection, user_id: int, person_id: int) -> set[int]:
    """The ids of all people merged into this one, directly or through others."""
    found: set[int] = set()
    frontier = [person_id]
    while frontier:
        query = select(people.c.id).where(people.c.user_id == user_id, people.c.merged_into.in_(frontier[:CHUNK]))
        fresh = set(connection.execute(query).scalars()) - found
        found |= fresh
        frontier = frontier[CHUNK:] + sorted(fresh)
    return found


def entity_ids(connection: Connection, user_id: int, person_ids: Iterable[int]) -> set[str]:
    """The entities of these people, visible or not."""
    query = select(people.c.entity_id).where(people.c.user_id == user_id, people.c.id.in_(list(person_ids)))
    return set(connection.execute(query).scalars())


def by_ids(connection: Connection, user_id: int, person_ids: Sequence[int]) -> dict[int, Person]:
    """The visible people among these, by id."""
    return {row.id: person_of(row) for row in rows_of(connection, _BY_IDS, person_ids, owner=user_id)}


def listing(
    connection: Connection,
    user_id: int,
    *,
    circles: Iterable[Circle] | None = None,
    limit: int | None = None,
    offset: int = 0,
) -> list[Person]:
    """Visible people, most mentioned first, then in the order of storing."""
    query = _select(user_id, circles).order_by(people.c.mention_count.desc(), people.c.id)
    return [person_of(row) for row in connection.execute(query.limit(limit).offset(offset))]


def known_names(connection: Connection, user_id: int) -> list[str]:
    """The names of all visible people."""
    rows = connection.execute(_KNOWN_NAMES, {"owner": user_id})
    return [name for row in rows for name in (row.display_name, *row.aliases)]


def counts(connection: Connection, user_id: int) -> dict[Circle, int]:
    """The number of visible people in each circle, empty circles included."""
    query = select(people.c.circle, func.count()).where(people.c.user_id == user_id, _VISIBLE).group_by(people.c.circle)
    found = {Circle(circle): count for circle, count in connection.execute(query)}
    return {circle: found.get(circle, 0) for circle in Circle}


def by_telegram_id(connection: Connection, user_id: int, telegram_id: int) -> Person | None:
    return read_one(connection.execute(_select(user_id).where(people.c.telegram_id == telegram_id)), person_of)


def by_username(connection: Connection, user_id: int, username: str) -> Person | None:
    key = name_key(username)
    row = connection.execute(_select(user_id).where(people.c.username_key == key)).one_or_none() if key else None
    return None if row is None else person_of(row)


def hidden_holds(connection: Connection, user_id: int, telegram_id: int | None, username: str | None) -> bool:
    """Whether somebody who is being forgotten still holds this Telegram id or username."""
    held: list[ColumnElement[bool]] = []
    if telegram_id is not None:
        held.append(people.c.telegram_id == telegram_id)
    if username:
        held.append(people.c.username_key == name_key(username))
    hidden = (people.c.user_id == user_id) & people.c.merged_into.is_(None) & hidings.hidden(people.c.entity_id)
    return any(connection.execute(select(people.c.id).where(hidden, claim)).first() for claim in held)


def by_name_keys(connection: Connection, user_id: int, keys: Iterable[str]) -> list[Person]:
    """Visible people with one of these name keys (rejected aliases do not count), in the order of storing."""
    wanted = sorted(key for key in keys if key)[:CHUNK]
    return sorted(_named(connection, user_id, name_keys.c.key.in_(wanted)), key=lambda person: person.id)


def by_name_prefix(connection: Connection, user_id: int, key: str, *, limit: int) -> list[Person]:
    """Visible people one of whose names begins with this key, most mentioned first."""
    if not key:
        return []
    # A range, not LIKE: names may hold % and _.
    found = _named(connection, user_id, (name_keys.c.key >= key) & (name_keys.c.key < key + "\U0010ffff"))
    return sorted(found, key=lambda person: (-person.mention_count, person.id))[:limit]


def people_at(connection: Connection, user_id: int, entity_ids: Iterable[str]) -> dict[str, int]:
    """The ids of the people whose entities are among these, by entity."""
    query = select(people.c.entity_id, people.c.id).where(people.c.user_id == user_id)
    return {row.entity_id: row.id for row in rows_with(connection, query, people.c.entity_id, sorted(entity_ids))}


def _named(connection: Connection, user_id: int, condition: ColumnElement[bool]) -> list[Person]:
    """Visible people with names that meet a condition, in two queries: in a join SQLite would read all people."""
    entities = select(name_keys.c.entity_id).where(name_keys.c.user_id == user_id, condition, ~name_keys.c.rejected)
    # In the order of the index by key: ordered by entity, SQLite would read every name of the owner.
    found = connection.execute(entities.order_by(name_keys.c.key, name_keys.c.entity_id).limit(_NAMES)).scalars()
    ids = list(dict.fromkeys(found))[:CHUNK]
    query = select(people).where(people.c.user_id == user_id, people.c.entity_id.in_(ids), _VISIBLE)
    return list(map(person_of, connection.execute(query)))


def rejected_keys(connection: Connection, user_id: int, entity_id: str) -> set[str]:
    """The keys of names that the owner removed from this person; no model adds them again."""
    query = select(name_keys.c.key).where(
        name_keys.c.user_id == user_id, name_keys.c.entity_id == entity_id, name_keys.c.rejected
    )
    return set(connection.execute(query).scalars())


def reject_keys(connection: Connection, user_id: int, entity_id: str, keys: Iterable[str]) -> None:
    for key in keys:
        row = upsert(name_keys).values(
            user_id=user_id, key=key, entity_id=entity_id, kind="alias", set_by="owner", rejected=True
        )
        connection.execute(
            row.on_conflict_do_update(
                index_elements=["user_id", "key", "entity_id"], set_={"rejected": True, "set_by": "owner"}
            )
        )


def create(
    connection: Connection, person: Person, *, by: SetBy | Mapping[str, SetBy], now: datetime, run_id: str | None = None
) -> Person:
    """Stores a new person (its `id` is ignored) with names, entity and search item. Raises what `save` raises."""
    refuse_taken(connection, replace(person, id=0))
    row = insert(people).values(_row(person)).returning(people.c.id)
    stored = replace(person, id=int(connection.execute(row).scalar_one()))
    stated = [name for name in CONTENT if getattr(stored, name) is not None]
    return _write(connection, stored, stated, by, now, run_id)


def save(
    connection: Connection,
    before: Person,
    after: Person,
    *,
    by: SetBy | Mapping[str, SetBy],
    now: datetime,
    run_id: str | None = None,
    hidden: bool = False,
) -> Person:
    """Writes a changed profile with a fresh `rev`, its name keys, its search item and the change log.

    `by` is the setter of the fields of CONTENT that differ, one for all or one for each (absent: archivist). An
    unchanged profile is not written; a `hidden` or merged one gets no search item. Raises Refused("telegram_id_taken" |
    "username_taken") when another person has it.
    """
    if before == after:
        return after
    refuse_taken(connection, after)
    changed = [name for name in CONTENT if getattr(before, name) != getattr(after, name)]
    return _write(connection, after, changed, by, now, run_id, hidden)


def _write(
    connection: Connection,
    person: Person,
    changed: Sequence[str],
    by: SetBy | Mapping[str, SetBy],
    now: datetime,
    run_id: str | None,
    hidden: bool = False,
) -> Person:
    rev = next_rev(connection, person.user_id)
    marks = {
        name: {"by": by if isinstance(by, str) else by.get(name, "archivist"), "rev": rev, "at": now.isoformat()}
        for name in changed
    }
    saved = replace(person, rev=rev, field_meta={**person.field_meta, **marks})
    values = _row(saved) | ({"run_id": run_id} if run_id else {})
    connection.execute(update(people).where(people.c.user_id == saved.user_id, people.c.id == saved.id).values(values))
    renamed = {"display_name", "aliases"} & set(changed)
    if renamed and not (hidden and resolve_id(connection, saved.user_id, saved.id) != saved.id):
        _write_name_keys(connection, saved, marks)
    if set(entities.MIRRORED) & set(changed):
        entities.keep(connection, saved, now=now, run_id=run_id, hidden=hidden)
    if not hidden:
        put_search_item(connection, saved)
    record_change(connection, saved.user_id, CHANGE_KIND, str(saved.id))
    return saved


def put_search_item(connection: Connection, person: Person) -> None:
    """Updates the person's search item to match the profile."""
    searched.save_search_item(connection, person.user_id, "person", str(person.id), embedding_text(person), person.rev)


def drop_search_item(connection: Connection, user_id: int, person_id: int) -> None:
    connection.execute(
        delete(search_items).where(search_items.c.user_id == user_id, search_items.c.item == item_of(person_id))
    )
    record_change(connection, user_id, CHANGE_KIND, str(person_id), "delete")


def add_mention(connection: Connection, user_id: int, person_id: int, episode_id: str) -> bool:
    """Adds a mention. Returns whether it is the person's first in the fragment."""
    row = upsert(mentions).values(user_id=user_id, person_id=person_id, episode_id=episode_id)
    return connection.execute(row.on_conflict_do_nothing()).rowcount == 1


def add_evidence(
    connection: Connection,
    user_id: int,
    person_id: int,
    episode_id: str,
    segments: Mapping[int, str | None],
    *,
    operation: str,
    run_id: str | None,
) -> None:
    """Records the lines that support a profile: segment number -> message id; segment 0 is the whole episode."""
    lines = evidence.of_segments(episode_id, segments)
    evidence.add(connection, user_id, "person", {str(person_id): lines}, operation=operation, run_id=run_id)


def refuse_taken(connection: Connection, person: Person) -> None:
    """Raises Refused when a live person other than this one, hidden or not, has its Telegram id or username."""
    live = (people.c.user_id == person.user_id) & people.c.merged_into.is_(None) & (people.c.id != person.id)
    if person.telegram_id is not None:
        taken = select(people.c.id).where(live, people.c.telegram_id == person.telegram_id)
        if connection.execute(taken).first():
            raise Refused("telegram_id_taken", f"Telegram id {person.telegram_id} belongs to somebody else")
    if person.username:
        taken = select(people.c.id).where(live, people.c.username_key == name_key(person.username))
        if connection.execute(taken).first():
            raise Refused("username_taken", f"@{person.username} belongs to somebody else")


def _write_name_keys(connection: Connection, person: Person, marks: Mapping[str, Mapping[str, Any]]) -> None:
    kinds = {name_key(alias): "alias" for alias in person.aliases} | {name_key(person.display_name): "name"}
    fields = {"name": "display_name", "alias": "aliases"}
    set_by = {kind: marks[field]["by"] for kind, field in fields.items() if field in marks}
    name_repository.put_names(connection, person.user_id, person.entity_id, kinds, set_by)


def _select(user_id: int, circles: Iterable[Circle] | None = None) -> Select[Any]:
    query = select(people).where(people.c.user_id == user_id, _VISIBLE)
    return query if circles is None else query.where(people.c.circle.in_([circle.value for circle in circles]))


def _row(person: Person) -> dict[str, Any]:
    return {
        "user_id": person.user_id,
        "entity_id": person.entity_id,
        "display_name": person.display_name,
        "aliases": list(person.aliases),
        "telegram_id": person.telegram_id,
        "username": person.username,
        "username_key": name_key(person.username) if person.username else None,
        "circle": person.circle.value,
        "bio": person.bio,
        "first_seen": person.first_seen,
        "last_seen": person.last_seen,
        "mention_count": person.mention_count,
        "rev": person.rev,
        "field_meta": person.field_meta,
    }


person_of = reader(Person, circle=Circle, aliases=tuple)
"""Reads a stored row as a profile, visible or not."""
