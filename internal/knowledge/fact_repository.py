"""Facts in the database: versions (an edge with its words), their search items and contradictions."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Final

from sqlalchemy import ColumnElement, Connection, Row, Select, and_, bindparam, func, insert, or_, select, update

from internal.graph import store
from internal.graph.edge_repository import FACT_ITEM, EdgeTime, visible
from internal.graph.model import EDGE_CHANGE, Node, NodeFilter
from internal.graph.relationships import FACT
from internal.knowledge.model import Claim, Fact, FactFilter
from internal.knowledge.relations import Group, relation_name
from internal.storage import search_items
from internal.storage.change_log import record_change
from internal.storage.chunks import rows_of, rows_with
from internal.storage.engine.expressions import text_items
from internal.storage.owner_counters import next_rev
from internal.storage.rows import read_one
from internal.storage.tables import claims, facts, graph_edges, graph_nodes, people, suggestions
from internal.storage.types import new_id

CONTRADICTION: Final = "Contradiction"
SUGGESTION: Final = "contradiction"
"""The kind of suggestion by which the owner is asked."""


@dataclass(frozen=True, slots=True)
class StoredVersion:
    """A stored version of a fact and the id of the claim whose words it takes. `fact.episodes` and names are empty."""

    fact: Fact
    claim_id: str


def add(connection: Connection, fact: Fact, claim_id: str, *, now: datetime, run_id: str | None) -> StoredVersion:
    """Stores a fact as an edge with its words. Raises what `store.add_edge` raises."""
    edge = store.add_edge(
        connection,
        fact.user_id,
        FACT,
        fact.source,
        fact.target,
        {"name": fact.name, "fact": fact.fact},
        now=now,
        valid_at=fact.valid_at,
        invalid_at=fact.invalid_at,
        run_id=run_id,
    )
    stored = replace(fact, id=edge.id, created_at=now)
    row = {name: getattr(stored, name) for name in _WORDS} | {"attributes": dict(stored.attributes)}
    connection.execute(_ADD, row | {"edge_id": stored.id, "claim_id": claim_id})
    put_item(connection, stored)
    return StoredVersion(stored, claim_id)


def put_item(connection: Connection, fact: Fact, *, anew: bool = False) -> None:
    """Updates the search item to the fact's words and the names of its ends; `anew` removes the old one first."""
    if anew:
        search_items.remove(connection, fact.user_id, FACT_ITEM, [fact.id])
    names = names_of(connection, fact.user_id, [fact.source, fact.target])
    said = fact.fact.casefold()
    unsaid = [name for end in (fact.source, fact.target) if (name := names.get(end)) and name.casefold() not in said]
    text = "\n".join([fact.fact, *unsaid])
    search_items.save_search_item(
        connection, fact.user_id, FACT_ITEM, fact.id, text, next_rev(connection, fact.user_id)
    )


def names_of(connection: Connection, user_id: int, node_ids: Collection[str]) -> dict[str, str]:
    """The names of these nodes, hidden ones too."""
    return {row.id: row.name or "" for row in rows_of(connection, _NAMES, sorted(set(node_ids)), owner=user_id)}


def set_times(
    connection: Connection, version: StoredVersion, times: Mapping[EdgeTime, datetime | None], now: datetime
) -> None:
    store.update_edge(connection, version.fact.user_id, version.fact.id, now=now, times=times)


def set_words(
    connection: Connection, version: StoredVersion, now: datetime, claim_id: str, **changes: Any
) -> StoredVersion:
    """Changes the words of a version in place, wherever they are stored."""
    changed = replace(version.fact, **changes)
    row = {name: getattr(changed, name) for name in _WORDS} | {"attributes": dict(changed.attributes)}
    connection.execute(update(facts).where(_one(changed.user_id, changed.id)).values(row | {"claim_id": claim_id}))
    if changed.fact != version.fact.fact:
        words = {"name": changed.name, "fact": changed.fact}
        store.update_edge(connection, changed.user_id, changed.id, now=now, properties=words)
        put_item(connection, changed, anew=True)
    else:
        record_change(connection, changed.user_id, EDGE_CHANGE, changed.id)
    return StoredVersion(changed, claim_id)


def version(connection: Connection, user_id: int, fact_id: str, *, hidden: bool = False) -> StoredVersion | None:
    """One version of a fact, expired ones too; with `hidden` also one that is being forgotten."""
    query = _select(user_id).where(facts.c.edge_id == fact_id)
    return read_one(connection.execute(query if hidden else query.where(*visible())), _version)


def versions(
    connection: Connection, user_id: int, ids: Collection[str], *, hidden: bool = True
) -> dict[str, StoredVersion]:
    """The versions among these that are stored, by id."""
    statement = _ANY_VERSIONS if hidden else _SEEN_VERSIONS
    return {row.id: _version(row) for row in rows_of(connection, statement, ids, owner=user_id)}


def current_of_group(connection: Connection, user_id: int, group: Group) -> list[StoredVersion]:
    """The versions of a group that are not expired, hidden ones too, in the order of creation."""
    source, name, target = group
    query = _OF_RELATION if target is None else _OF_STATEMENT
    asked = {"owner": user_id, "begin": source, "relation": name, "end": target}
    return [_version(row) for row in connection.execute(query, asked)]


def at_nodes(connection: Connection, user_id: int, node_ids: Collection[str]) -> list[StoredVersion]:
    """Every version at one of these nodes, expired and hidden ones too."""
    ends = [graph_edges.c[end].in_(list(node_ids)) for end in ("source", "target")]
    return [_version(row) for row in connection.execute(_select(user_id).where(or_(*ends)))]


def worded_by(connection: Connection, user_id: int, claim_ids: Collection[str]) -> list[StoredVersion]:
    """The versions that take the words of one of these claims."""
    return [_version(row) for row in rows_with(connection, _select(user_id), facts.c.claim_id, claim_ids)]


def chain(connection: Connection, user_id: int, fact_id: str) -> list[StoredVersion]:
    """Every version of a fact, oldest first, hidden ones too; empty for an unknown id."""
    return chains(connection, user_id, [fact_id]).get(fact_id, [])


def chains(connection: Connection, user_id: int, fact_ids: Collection[str]) -> dict[str, list[StoredVersion]]:
    """Like `chain`, but for many facts, by the given ids; unknown ids are left out."""
    found: dict[str, StoredVersion] = {}
    fresh = versions(connection, user_id, fact_ids)
    while fresh:
        found |= fresh
        before = {
            version.fact.supersedes for version in fresh.values() if version.fact.supersedes is not None
        } - found.keys()
        beside = versions(connection, user_id, before) | successors(connection, user_id, fresh)
        fresh = {one: version for one, version in beside.items() if one not in found}
    whole: dict[str, list[StoredVersion]] = {}
    for one in sorted(found.values(), key=lambda one: (one.fact.expired_at is None, one.fact.created_at, one.fact.id)):
        whole.setdefault(_first(found, one), []).append(one)
    return {fact_id: whole[_first(found, found[fact_id])] for fact_id in fact_ids if fact_id in found}


def _first(found: Mapping[str, StoredVersion], version: StoredVersion) -> str:
    """The id of the first version of a chain."""
    while (before := found.get(version.fact.supersedes or "")) is not None:
        version = before
    return version.fact.id


def successors(connection: Connection, user_id: int, known: Collection[str]) -> dict[str, StoredVersion]:
    """The versions that replaced one of `known`, except those in `known`."""
    rows = rows_of(connection, _SUCCESSORS, known, owner=user_id)
    return {row.id: _version(row) for row in rows if row.id not in known}


def listing(
    connection: Connection,
    user_id: int,
    wanted: FactFilter,
    *,
    now: datetime,
    limit: int | None,
    offset: int = 0,
    newest_first: bool = False,
) -> list[StoredVersion]:
    """Visible facts that fit, in the order of `valid_at`; `known_at` is ignored.

    With `newest_first` the last learned come first.
    """
    came = (graph_edges.c.created_at, graph_edges.c.id)
    order = [column.desc() for column in came] if newest_first else [graph_edges.c.valid_at.nulls_first(), *came]
    query = _select(user_id).where(*visible(), *_fitting(user_id, wanted, now)).order_by(*order)
    return [_version(row) for row in connection.execute(query.limit(limit).offset(offset))]


def count(connection: Connection, user_id: int, wanted: FactFilter, now: datetime) -> int:
    query = select(func.count()).select_from(_JOINED).where(facts.c.user_id == user_id, *visible())
    return connection.execute(query.where(*_fitting(user_id, wanted, now))).scalar_one()


def every(connection: Connection, user_id: int) -> list[Fact]:
    """Every version of every fact, hidden ones too."""
    return [_version(row).fact for row in connection.execute(_select(user_id))]


def relations(connection: Connection, user_id: int) -> list[str]:
    """The names of relations of an owner's facts, each once."""
    return list(connection.execute(select(facts.c.name).where(facts.c.user_id == user_id).distinct()).scalars())


def all_words(connection: Connection, user_id: int) -> list[tuple[str, str]]:
    """(id, words) of every version and of every claim that supports one."""
    texts_of_fact = [facts.c[name] for name in ("name", "fact", "original_fact", "update_reason")]
    found = connection.execute(select(facts.c.edge_id, *texts_of_fact).where(facts.c.user_id == user_id)).all()
    beneath = select(claims.c.edge_id, claims.c.fact).where(claims.c.user_id == user_id, claims.c.edge_id.is_not(None))
    rows = [*found, *connection.execute(beneath)]
    return [(fact_id, "\n".join(text for text in texts if text)) for fact_id, *texts in rows]


def fitting_nodes(connection: Connection, user_id: int, types: Collection[str]) -> set[str]:
    """The ids of visible nodes whose label or type is one of these."""
    return set(connection.execute(_typed(user_id, types)).scalars())


def relink(connection: Connection, version: StoredVersion, supersedes: str | None, original: str | None) -> None:
    """Links a version to another predecessor, whose text becomes its `original_fact`; drops `update_reason`."""
    values = {"supersedes": supersedes, "original_fact": original, "update_reason": None}
    connection.execute(update(facts).where(_one(version.fact.user_id, version.fact.id)).values(values))
    record_change(connection, version.fact.user_id, EDGE_CHANGE, version.fact.id)


def contradictions(connection: Connection, user_id: int, status: str | None = None) -> list[Node]:
    """The contradictions of this status (None = any) that are about facts, oldest first."""
    wanted = NodeFilter(labels=[CONTRADICTION], status=status)
    found = store.nodes(connection, user_id, wanted, limit=10_000)
    return [node for node in found if node.properties.get("facts")]


def person_of(connection: Connection, user_id: int, node_id: str) -> int | None:
    """The id of the person whose entity this is."""
    return connection.execute(_PERSON, {"owner": user_id, "node": node_id}).scalar_one_or_none()


def ask(connection: Connection, user_id: int, contradiction_id: str, now: datetime, run_id: str | None) -> str:
    """Stores the question about a contradiction for the owner."""
    suggestion_id = new_id()
    row = insert(suggestions).values(
        user_id=user_id,
        id=suggestion_id,
        kind=SUGGESTION,
        payload={"contradiction": contradiction_id},
        state="pending",
        run_id=run_id,
        created_at=now,
    )
    connection.execute(row)
    return suggestion_id


def close_question(connection: Connection, user_id: int, contradiction_id: str, state: str, now: datetime) -> None:
    one = and_(*_question(user_id, contradiction_id), suggestions.c.state == "pending")
    connection.execute(update(suggestions).where(one).values(state=state, decided_at=now))


def question(connection: Connection, user_id: int, contradiction_id: str) -> str | None:
    """The id of the pending question about a contradiction."""
    query = select(suggestions.c.id).where(*_question(user_id, contradiction_id), suggestions.c.state == "pending")
    return connection.execute(query.limit(1)).scalar_one_or_none()


_WORDS: Final = (
    "user_id", "name", "fact", "supersedes", "original_fact", "update_reason", "updated_at", "set_by",
    "valid_precision", "invalid_precision",
)  # fmt: skip

_JOINED: Final = facts.join(
    graph_edges, and_(graph_edges.c.user_id == facts.c.user_id, graph_edges.c.id == facts.c.edge_id)
)


_TIMES: Final = ("valid_at", "invalid_at", "expired_at")

_EVERY: Final = select(
    *[facts.c[name] for name in (*_WORDS, "attributes", "claim_id")],
    *[graph_edges.c[name] for name in ("id", "source", "target", "created_at", *_TIMES)],
).select_from(_JOINED)

# Run once or more for each fact that is written: built once, for building a statement takes longer than running it.
_ADD: Final = insert(facts)
_MINE: Final = _EVERY.where(facts.c.user_id == bindparam("owner"))
_ANY_VERSIONS: Final = _MINE.where(facts.c.edge_id.in_(bindparam("ids", expanding=True)))
_SEEN_VERSIONS: Final = _ANY_VERSIONS.where(*visible())
_SUCCESSORS: Final = _MINE.where(facts.c.supersedes.in_(bindparam("ids", expanding=True)))
_OF_RELATION: Final = (
    _MINE.where(graph_edges.c.source == bindparam("begin"), facts.c.name == bindparam("relation"))
    .where(graph_edges.c.expired_at.is_(None))
    .order_by(graph_edges.c.created_at, graph_edges.c.id)
)
_OF_STATEMENT: Final = _OF_RELATION.where(graph_edges.c.target == bindparam("end"))
_NAMES: Final = select(graph_nodes.c.id, graph_nodes.c.name).where(
    graph_nodes.c.user_id == bindparam("owner"), graph_nodes.c.id.in_(bindparam("ids", expanding=True))
)
_PERSON: Final = select(people.c.id).where(
    people.c.user_id == bindparam("owner"), people.c.entity_id == bindparam("node")
)


def _select(user_id: int) -> Select[Any]:
    return _EVERY.where(facts.c.user_id == user_id)


def _fitting(user_id: int, wanted: FactFilter, now: datetime) -> Iterable[ColumnElement[bool]]:
    edge = graph_edges.c
    if wanted.node_id is not None:
        yield or_(edge.source == wanted.node_id, edge.target == wanted.node_id)
    if wanted.relations:
        yield facts.c.name.in_([relation_name(name) for name in wanted.relations])
    if wanted.entity_types:
        typed = _typed(user_id, wanted.entity_types)
        yield or_(edge.source.in_(typed), edge.target.in_(typed))
    if wanted.as_of is not None:
        begun = edge.valid_at <= wanted.as_of if wanted.until is None else edge.valid_at < wanted.until
        yield or_(edge.valid_at.is_(None), begun)
        yield or_(edge.invalid_at.is_(None), edge.invalid_at > wanted.as_of)
        yield edge.expired_at.is_(None)
    elif wanted.ended:
        yield edge.expired_at.is_(None)
        yield edge.invalid_at <= now
    elif not wanted.include_invalid:
        yield edge.expired_at.is_(None)
        yield or_(edge.invalid_at.is_(None), edge.invalid_at > now)


def _typed(user_id: int, types: Collection[str]) -> Select[Any]:
    """Nodes by label, by type, or by one of the knowledge labels that they were given."""
    named = list(types)
    labels = text_items(graph_nodes.c.props["labels"]).table_valued("value")
    carried = select(labels.c.value).where(func.lower(labels.c.value).in_([name.lower() for name in named])).exists()
    kind = or_(graph_nodes.c.label.in_(named), graph_nodes.c.subtype.in_([name.lower() for name in named]), carried)
    return select(graph_nodes.c.id).where(graph_nodes.c.user_id == user_id, kind)


_OF_ROW: Final = (*_WORDS, "attributes", "claim_id", "id", "source", "target", "created_at", *_TIMES)
"""The columns of a row of `_EVERY` in order: reading them by name takes twice as long."""


def _version(row: Row[Any]) -> StoredVersion:
    values = dict(zip(_OF_ROW, row, strict=True))
    claim_id = values.pop("claim_id")
    return StoredVersion(Fact(**values), claim_id)


def _one(user_id: int, edge_id: str) -> ColumnElement[bool]:
    return (facts.c.user_id == user_id) & (facts.c.edge_id == edge_id)


def _question(user_id: int, contradiction_id: str) -> Sequence[ColumnElement[bool]]:
    about = suggestions.c.payload["contradiction"].as_string() == contradiction_id
    return (suggestions.c.user_id == user_id, suggestions.c.kind == SUGGESTION, about)


def merged_attributes(claims: Sequence[Claim]) -> dict[str, Any]:
    """The merged attributes of claims: later ones override earlier ones, the owner's override all."""
    ordered = sorted(claims, key=lambda claim: (claim.set_by == "owner", claim.said_at, claim.id))
    return {name: value for claim in ordered for name, value in claim.attributes.items()}
