"""Statements over the search items of facts, entities, memories and episodes, and over terms that are due."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, Final, Literal

from sqlalchemy import (
    BigInteger,
    ColumnElement,
    Connection,
    Select,
    Table,
    Text,
    and_,
    bindparam,
    case,
    cast,
    func,
    literal,
    null,
    or_,
    select,
    type_coerce,
    update,
)

from internal.graph.labels import NODES
from internal.graph.model import EDGE_CHANGE, NODE_CHANGE
from internal.knowledge.model import OF_FILE
from internal.people.repository import ITEM_PREFIX as PERSON_PREFIX
from internal.recall.index.people_repository import person_of_change
from internal.storage.change_log import record_change
from internal.storage.chunks import chunks, rows_with
from internal.storage.engine.expressions import without_index
from internal.storage.forgetting import hidings
from internal.storage.forgetting.forgettings import EVERYTHING
from internal.storage.search_items import of_kind, passage_in, passages_of
from internal.storage.tables import (
    claims,
    episodes,
    forgettings,
    graph_edges,
    graph_nodes,
    people,
    search_items,
    vectors,
)
from internal.storage.vectors import Vector, from_blob

ItemKind = Literal["fact", "entity", "episode", "node"]
KINDS: Final[tuple[ItemKind, ...]] = ("fact", "entity", "episode", "node")
"""`entity` is everything known by its name: entities, people, preferences, topics. `node` is every label of the memory
graph but Entity."""

IMPORTED: Final = "imported"
"""The source of an episode that was imported, not written in a chat."""

TERMS_CHANGE: Final = "terms"
EPISODE_CHANGE: Final = "episode"

ALWAYS: Final = -(1 << 62)
FOREVER: Final = 1 << 62
"""Microseconds that stand for an unknown beginning and for an end that has not come."""

_VISIBLE_PERSON: Final = (people.c.merged_into.is_(None), hidings.visible(people.c.entity_id))

# Run for every question: built once, for building a statement takes longer than running it.
_NODE_NAMES: Final = select(graph_nodes.c.id, graph_nodes.c.name, graph_nodes.c.props).where(
    graph_nodes.c.user_id == bindparam("owner"), graph_nodes.c.id.in_(bindparam("ids", expanding=True))
)
_PROFILE_NAMES: Final = select(people.c.entity_id, people.c.display_name, people.c.aliases, people.c.username).where(
    people.c.user_id == bindparam("owner"), people.c.entity_id.in_(bindparam("ids", expanding=True)), *_VISIBLE_PERSON
)
_LAST_SAID: Final = (
    select(claims.c.edge_id, func.max(claims.c.said_at).label("said_at"))
    .where(claims.c.user_id == bindparam("owner"), claims.c.edge_id.in_(bindparam("ids", expanding=True)))
    .where(claims.c.retracted_at.is_(None))
    .group_by(claims.c.edge_id)
)
_MENTIONING: Final = (
    select(graph_edges.c.target, graph_edges.c.source)
    .where(graph_edges.c.user_id == bindparam("owner"), graph_edges.c.target.in_(bindparam("ids", expanding=True)))
    .where(graph_edges.c.type == "MENTIONS", hidings.visible(graph_edges.c.id))
    .order_by(graph_edges.c.created_at.desc())
    .limit(bindparam("most"))
)
_OWNER: Final = bindparam("owner", type_=BigInteger)
_NOTHING: Final = literal("")
ITEMS_OF: Final[Mapping[ItemKind, Sequence[str]]] = {"entity": ("entity:", "node:")}
"""The beginnings of the search items of a kind; by default its own name."""

_NAMED_LABELS: Final = [schema.label for schema in NODES.values() if schema.by_name and schema.label != "Entity"]
CHANGED_KINDS: Final[Mapping[str, Sequence[ItemKind]]] = {
    EDGE_CHANGE: ["fact"],
    NODE_CHANGE: ["entity", "node"],
    EPISODE_CHANGE: ["episode"],
}


@dataclass(frozen=True, slots=True)
class ItemRow:
    """A search item. `terms` are those of its current text; until they are stored, `text` is that text.

    It is valid from `begins` to `ends` and was known from `known` to `gone` (microseconds). `source` and `target` are a
    fact's ends; the `source` of a node is its label, of an import IMPORTED.
    """

    ref_id: str
    terms: str | None
    text: str | None
    vector: Vector | None
    begins: int = ALWAYS
    ends: int = FOREVER
    known: int = ALWAYS
    gone: int = FOREVER
    source: str = ""
    target: str = ""


@dataclass(frozen=True, slots=True)
class DueText:
    """A text whose terms are missing, outdated, or made by another analyzer."""

    user_id: int
    item: str
    text: str
    text_hash: str


@dataclass(frozen=True, slots=True)
class VectorKind:
    """Which vectors are read: those of this model in this size."""

    model: str
    dimensions: int


def rows(
    connection: Connection,
    user_id: int,
    kind: ItemKind,
    vectors_of: VectorKind | None,
    analyzer: str,
    ref_ids: Iterable[str] | None = None,
) -> Iterator[ItemRow]:
    """Yields the visible items of a kind (with these ids) as they are stored now."""
    parts = [None] if ref_ids is None else [list(chunk) for chunk in chunks(ref_ids)]
    for part in parts:
        queries = _queries(kind, vectors_of, analyzer, some=part is not None)
        if kind == "episode" and part is not None and not any(passage_in(ref_id)[1] for ref_id in part):
            queries = queries[:1]  # most changes are of fragments, which have no passages of their own
        for query in queries:
            asked: dict[str, Any] = {"owner": user_id} if part is None else {"owner": user_id, "ids": part}
            yield from map(_item, connection.execute(query, asked))


def count(connection: Connection, user_id: int, kind: ItemKind) -> int:
    """The approximate number of items of a kind."""
    query = select(func.count()).where(search_items.c.user_id == user_id, of_kind(kind))
    return connection.execute(query.select_from(search_items)).scalar_one()


def touched(
    connection: Connection, user_id: int, kind: ItemKind, entries: Sequence[tuple[str, str]]
) -> tuple[str, ...]:
    """The ids of this kind that changes are about, each once."""
    ids = {ref for change, ref in entries if kind in CHANGED_KINDS.get(change, ())}
    for prefix in ITEMS_OF.get(kind, (f"{kind}:",)):
        found = [ref for change, ref in entries if change not in CHANGED_KINDS and ref.startswith(prefix)]
        ids |= {ref.removeprefix(prefix) for ref in found}
    if kind == "episode":
        whole = {ref for change, ref in entries if change == EPISODE_CHANGE}
        ids |= {ref for episode_id in whole for ref in passages_of(connection, user_id, episode_id)}
    if kind == "entity":
        ids |= _entities_of(connection, user_id, entries)
    return tuple(sorted(ids))


def _entities_of(connection: Connection, user_id: int, entries: Sequence[tuple[str, str]]) -> set[str]:
    """The entities of the people that changes are about, hidden ones included."""
    ids = sorted({number for change, ref in entries if (number := person_of_change(change, ref)) is not None})
    query = select(people.c.entity_id).where(without_index(people.c.user_id) == user_id)
    return {row.entity_id for row in rows_with(connection, query, people.c.id, ids)}


def names_of_nodes(connection: Connection, user_id: int, node_ids: Sequence[str]) -> dict[str, tuple[str, ...]]:
    """All names of these nodes: name, aliases, and for a person those of the profile and the @username."""
    found: dict[str, dict[str, None]] = {node_id: {} for node_id in node_ids}
    for row in connection.execute(_NODE_NAMES, {"owner": user_id, "ids": list(node_ids)}).all():
        aliases = row.props.get("aliases") or ()
        found[row.id] |= dict.fromkeys(name for name in (row.name, *aliases) if isinstance(name, str) and name)
    for profile in connection.execute(_PROFILE_NAMES, {"owner": user_id, "ids": list(node_ids)}).all():
        username = [f"@{profile.username}"] if profile.username else []
        found[profile.entity_id] |= dict.fromkeys([profile.display_name, *profile.aliases, *username])
    return {node_id: tuple(names) for node_id, names in found.items() if names}


def last_said(connection: Connection, user_id: int, fact_ids: Sequence[str]) -> dict[str, Any]:
    """When each fact was said last; facts without claims are left out."""
    rows = connection.execute(_LAST_SAID, {"owner": user_id, "ids": list(fact_ids)})
    return {row.edge_id: row.said_at for row in rows}


def memories_about(connection: Connection, user_id: int, node_ids: Sequence[str], *, limit: int) -> dict[str, set[str]]:
    """The ids of the memories that mention each of these entities; with more than `limit` the newest ones."""
    found: dict[str, set[str]] = {}
    for row in connection.execute(_MENTIONING, {"owner": user_id, "ids": list(node_ids), "most": limit}):
        found.setdefault(row.target, set()).add(row.source)
    return found


_DUE_TERMS: Final = (
    select(search_items.c.user_id, search_items.c.item, search_items.c.text, search_items.c.text_hash)
    .where(search_items.c.terms_hash.is_distinct_from(search_items.c.text_hash))
    .order_by(search_items.c.user_id, search_items.c.item)
    .limit(bindparam("most"))
)


def due_terms(connection: Connection, *, limit: int) -> list[DueText]:
    """Texts to analyse, ordered by owner."""
    return [DueText(*row) for row in connection.execute(_DUE_TERMS, {"most": limit})]


def mark_foreign_terms_due(connection: Connection, analyzer: str) -> int:
    """Marks as due all terms made by another analyzer and returns their number."""
    stale = search_items.c.terms_hash.is_not(None) & search_items.c.analyzer.is_distinct_from(analyzer)
    return connection.execute(update(search_items).where(stale).values(terms_hash=None)).rowcount


_STORE_TERMS = (
    update(search_items)
    .where(
        search_items.c.user_id == bindparam("owner"),
        search_items.c.item == bindparam("place"),
        search_items.c.text_hash == bindparam("hash"),
    )
    .values(terms=bindparam("found"), analyzer=bindparam("by"), terms_hash=bindparam("hash"))
)


def store_terms(connection: Connection, due: DueText, terms: str, analyzer: str) -> bool:
    """Stores the terms of a text; returns False if the text has changed or is gone."""
    values = {"owner": due.user_id, "place": due.item, "hash": due.text_hash, "found": terms, "by": analyzer}
    if connection.execute(_STORE_TERMS, values).rowcount == 0:
        return False
    record_change(connection, due.user_id, TERMS_CHANGE, due.item)
    return True


@cache
def _queries(kind: ItemKind, vectors_of: VectorKind | None, analyzer: str, *, some: bool) -> list[Select[Any]]:
    """The statements for a kind's items of an owner, or for `some` of them, by id; building one takes milliseconds."""
    queries = _queries_of_all(kind, vectors_of, analyzer)
    if not some:
        return queries
    return [query.where(query.selected_columns.ref_id.in_(bindparam("ids", expanding=True))) for query in queries]


def _queries_of_all(kind: ItemKind, vectors_of: VectorKind | None, analyzer: str) -> list[Select[Any]]:
    match kind:
        case "fact":
            return [_facts(vectors_of, analyzer)]
        case "entity":
            memories = _memories(vectors_of, analyzer)
            named = memories.where(graph_nodes.c.label.in_(_NAMED_LABELS))
            return [_nodes(vectors_of, analyzer), named, _people(vectors_of, analyzer)]
        case "node":
            return [_memories(vectors_of, analyzer)]
        case "episode":
            return [_episodes(vectors_of, analyzer), _passages(vectors_of, analyzer)]


def _facts(vectors_of: VectorKind | None, analyzer: str) -> Select[Any]:
    edge = graph_edges.c
    query = searchable_rows(graph_edges, literal("fact:") + edge.id, vectors_of, analyzer, edge.id).add_columns(
        micros(edge.valid_at).label("begins"),
        micros(edge.invalid_at).label("ends"),
        micros(edge.created_at).label("known"),
        micros(edge.expired_at).label("gone"),
        edge.source,
        edge.target,
    )
    return query.where(edge.user_id == _OWNER, edge.type == "FACT", hidings.visible(edge.id))


def _nodes(vectors_of: VectorKind | None, analyzer: str) -> Select[Any]:
    query = searchable_rows(graph_nodes, literal("entity:") + graph_nodes.c.id, vectors_of, analyzer, graph_nodes.c.id)
    return _timeless(query).where(graph_nodes.c.user_id == _OWNER, *_visible_node())


def _memories(vectors_of: VectorKind | None, analyzer: str) -> Select[Any]:
    node = graph_nodes.c
    query = searchable_rows(graph_nodes, literal("node:") + node.id, vectors_of, analyzer, node.id)
    return _timeless(query, source=node.label).where(node.user_id == _OWNER, *_visible_node())


def _people(vectors_of: VectorKind | None, analyzer: str) -> Select[Any]:
    """A person's entity has the profile's terms and vector."""
    query = searchable_rows(
        people, literal(PERSON_PREFIX) + cast(people.c.id, Text), vectors_of, analyzer, people.c.entity_id
    )
    node = and_(graph_nodes.c.user_id == people.c.user_id, graph_nodes.c.id == people.c.entity_id)
    return (
        _timeless(query).join(graph_nodes, node).where(people.c.user_id == _OWNER, *_VISIBLE_PERSON, *_visible_node())
    )


def _passages(vectors_of: VectorKind | None, analyzer: str) -> Select[Any]:
    """Every passage of a document is found by itself: its items follow that of its episode in the order of keys."""
    item, whole = search_items.c.item, literal("episode:") + episodes.c.id
    among = and_(item > whole.concat("#"), item < whole.concat("$"))
    query = _searchable(episodes, among, vectors_of, analyzer, search_items.c.ref_id)
    of_files = episodes.c.source_description == OF_FILE
    return _timeless(query, source=literal(OF_FILE)).where(episodes.c.user_id == _OWNER, of_files, _in_sight())


def _episodes(vectors_of: VectorKind | None, analyzer: str) -> Select[Any]:
    query = searchable_rows(episodes, literal("episode:") + episodes.c.id, vectors_of, analyzer, episodes.c.id)
    origin = case(
        (episodes.c.source_description == OF_FILE, OF_FILE), (episodes.c.first_seq.is_(None), IMPORTED), else_=""
    )
    return _timeless(query, source=origin).where(episodes.c.user_id == _OWNER, _in_sight())


def _in_sight() -> ColumnElement[bool]:
    """No pending request to forget the episode, the message that it is a file of, or everything."""
    its = and_(forgettings.c.kind == "episode", forgettings.c.ref_id == episodes.c.id)
    pending = (forgettings.c.user_id == _OWNER, forgettings.c.state == "pending")
    asked = select(forgettings.c.id).where(*pending, or_(forgettings.c.kind == EVERYTHING, its)).exists()
    return and_(~asked, hidings.visible(episodes.c.id))


def _visible_node() -> tuple[ColumnElement[bool], ...]:
    return graph_nodes.c.merged_into.is_(None), hidings.visible(graph_nodes.c.id)


def searchable_rows(
    table: Table, item: ColumnElement[Any], vectors_of: VectorKind | None, analyzer: str, ref_id: ColumnElement[Any]
) -> Select[Any]:
    """Rows of a table with their terms and vectors; rows without a search item are left out."""
    return _searchable(table, search_items.c.item == item, vectors_of, analyzer, ref_id)


def _searchable(
    table: Table, its: ColumnElement[bool], vectors_of: VectorKind | None, analyzer: str, ref_id: ColumnElement[Any]
) -> Select[Any]:
    current = and_(search_items.c.terms_hash == search_items.c.text_hash, search_items.c.analyzer == analyzer)
    query = select(
        ref_id.label("ref_id"),
        case((current, search_items.c.terms)).label("terms"),
        case((or_(current.is_(None), ~current), search_items.c.text)).label("text"),
        (null() if vectors_of is None else vectors.c.vec).label("vec"),
    )
    joined = table.join(search_items, and_(search_items.c.user_id == table.c.user_id, its))
    if vectors_of is None:
        return query.select_from(joined)
    vector = and_(
        vectors.c.user_id == search_items.c.user_id,
        vectors.c.item == search_items.c.item,
        vectors.c.model == vectors_of.model,
        vectors.c.dim == vectors_of.dimensions,
        vectors.c.text_hash == search_items.c.text_hash,
    )
    return query.select_from(joined.outerjoin(vectors, vector))


def _timeless(query: Select[Any], source: ColumnElement[str] = _NOTHING) -> Select[Any]:
    no_times = [null().label(name) for name in ("begins", "ends", "known", "gone")]
    return query.add_columns(*no_times, source.label("source"), _NOTHING.label("target"))


def micros(moment: ColumnElement[Any]) -> ColumnElement[int]:
    """A time as stored, in microseconds: making 20,000 datetimes would take longer than the search itself."""
    return type_coerce(moment, BigInteger)


def _item(row: Any) -> ItemRow:
    # By position, in the order of the select: access by name takes longer than all else.
    ref_id, terms, text, vec, begins, ends, known, gone, source, target = row
    return ItemRow(
        ref_id=ref_id, terms=terms, text=text, vector=None if vec is None else from_blob(vec),
        begins=ALWAYS if begins is None else begins, ends=FOREVER if ends is None else ends,
        known=ALWAYS if known is None else known, gone=FOREVER if gone is None else gone, source=source, target=target,
    )  # fmt: skip
