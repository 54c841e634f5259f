"""Claims in the database."""

from collections.abc import Collection
from dataclasses import fields, replace
from datetime import datetime
from typing import Any, Final, NamedTuple

from sqlalchemy import ColumnElement, Connection, Select, and_, bindparam, insert, or_, select, union, update

from internal.graph.assertion_repository import Assertions
from internal.knowledge.model import Claim
from internal.knowledge.relations import Group
from internal.storage import evidence
from internal.storage.chunks import chunks, rows_of
from internal.storage.rows import reader
from internal.storage.tables import claims, observations
from internal.storage.types import new_id


class SupportingClaim(NamedTuple):
    """The fields of a supporting claim that are shown with a version."""

    edge_id: str
    episode_id: str | None
    valid_at: datetime | None
    valid_stated: bool


_read: Final = reader(Claim)

stored: Final = Assertions("claim", claims, _read)

by_ids, of_episode, supported_by, remove = stored.by_ids, stored.of_episode, stored.supported_by, stored.remove


def add(connection: Connection, claim: Claim) -> None:
    row = {one.name: getattr(claim, one.name) for one in fields(Claim)}
    origins = {"source_origin": claim.source, "target_origin": claim.target}
    connection.execute(_ADD, row | origins | {"attributes": dict(claim.attributes)})


def copy_to(connection: Connection, claim: Claim, **changes: Any) -> Claim:
    """Stores a changed copy of a claim under a new id with the same evidence."""
    copied = replace(claim, id=new_id(), **changes)
    add(connection, copied)
    targets = {evidence.target("claim", claim.id): evidence.target("claim", copied.id)}
    evidence.copy(connection, claim.user_id, targets)
    return copied


def of_group(connection: Connection, user_id: int, group: Group, until: datetime | None = None) -> list[Claim]:
    """The claims of a group that are held now, or were held just before a moment, in the order of `said_at`."""
    source, name, target = group
    if until is None:
        query = _OF_RELATION if target is None else _OF_STATEMENT
    else:
        kept = or_(claims.c.retracted_at.is_(None), claims.c.retracted_at >= until)
        query = (_RELATION if target is None else _STATEMENT).where(claims.c.created_at < until, kept)
    asked = {"owner": user_id, "begin": source, "relation": name, "end": target}
    return [_read(row) for row in connection.execute(query, asked)]


def known_at_nodes(
    connection: Connection, user_id: int, node_ids: Collection[str] | None, known_at: datetime
) -> list[Claim]:
    """The claims held at that moment with one of these nodes at an end, or all."""
    kept = or_(claims.c.retracted_at.is_(None), claims.c.retracted_at > known_at)
    held: ColumnElement[bool] = and_(claims.c.created_at <= known_at, kept)
    if node_ids is None:
        return stored.where(connection, user_id, held)
    return [claim for part in chunks(node_ids) for claim in stored.where(connection, user_id, held, _at(user_id, part))]


def at_nodes(connection: Connection, user_id: int, node_ids: Collection[str]) -> list[Claim]:
    """Every claim with one of these nodes at an end, retracted ones too."""
    return [claim for part in chunks(node_ids) for claim in stored.where(connection, user_id, _at(user_id, part))]


def retracted(connection: Connection, user_id: int, sources: Collection[str]) -> list[Claim]:
    """The retracted claims from these nodes."""
    gone = claims.c.retracted_at.is_not(None)
    return [
        claim
        for part in chunks(sources)
        for claim in stored.where(connection, user_id, gone, claims.c.source.in_(part))
    ]


def of_edges(connection: Connection, user_id: int, edge_ids: Collection[str]) -> list[Claim]:
    """Every claim that supports one of these versions, retracted ones too, in the order of `said_at`."""
    return [_read(row) for row in rows_of(connection, _OF_EDGES, edge_ids, owner=user_id)]


def supporting(connection: Connection, user_id: int, edge_ids: Collection[str]) -> list[SupportingClaim]:
    """The claims that support these versions now, in the order of `said_at`."""
    return [SupportingClaim(*row) for row in rows_of(connection, _SUPPORTING, edge_ids, owner=user_id)]


def set_edge(connection: Connection, user_id: int, claim_ids: Collection[str], edge_id: str | None) -> None:
    for part in chunks(claim_ids):
        connection.execute(_SET_EDGE, {"owner": user_id, "ids": part, "edge": edge_id})


def retract(connection: Connection, user_id: int, claim_ids: Collection[str], now: datetime) -> None:
    """Retracts claims from now on; past projections of them stay possible."""
    stored.change(connection, user_id, claim_ids, claims.c.retracted_at.is_(None), retracted_at=now)


def names_node(connection: Connection, user_id: int, node_id: str) -> bool:
    """Whether any claim, retracted ones too, has or originally had this node at an end."""
    return any(connection.execute(query, {"owner": user_id, "node": node_id}).first() for query in _NAMING)


def is_remembered(connection: Connection, user_id: int, node_id: str) -> bool:
    """Whether the memory graph has observations of this node: a preference or topic belongs to both graphs."""
    of_node = (observations.c.user_id == user_id) & (observations.c.target == node_id)
    return connection.execute(select(observations.c.id).where(of_node).limit(1)).first() is not None


_MINE: Final = claims.c.user_id == bindparam("owner")

# Run once or more for each claim: built once, for building a statement takes several times as long as running it.
_ADD: Final = insert(claims)
_RELATION: Final = (
    select(claims)
    .where(_MINE, claims.c.source == bindparam("begin"), claims.c.name == bindparam("relation"))
    .order_by(claims.c.said_at, claims.c.id)
)
_STATEMENT: Final = _RELATION.where(claims.c.target == bindparam("end"))
_OF_RELATION: Final = _RELATION.where(claims.c.retracted_at.is_(None))
_OF_STATEMENT: Final = _STATEMENT.where(claims.c.retracted_at.is_(None))
_OF_EDGES: Final = (
    select(claims)
    .where(_MINE, claims.c.edge_id.in_(bindparam("ids", expanding=True)))
    .order_by(claims.c.said_at, claims.c.id)
)
_SUPPORTING: Final = (
    select(claims.c.edge_id, claims.c.episode_id, claims.c.valid_at, claims.c.valid_stated)
    .where(_MINE, claims.c.edge_id.in_(bindparam("ids", expanding=True)), claims.c.retracted_at.is_(None))
    .order_by(claims.c.said_at, claims.c.id)
)
_SET_EDGE: Final = (
    update(claims).where(_MINE, claims.c.id.in_(bindparam("ids", expanding=True))).values(edge_id=bindparam("edge"))
)


def _naming(end: str) -> Select[Any]:
    """Selects claims that have a node at this end, or had it originally: that index holds only ends that were moved."""
    query = select(claims.c.id).where(_MINE, claims.c[end] == bindparam("node"))
    now = end.removesuffix("_origin")
    return query.limit(1) if now == end else query.where(claims.c[end] != claims.c[now]).limit(1)


_NAMING: Final = [_naming(end) for end in ("source", "target", "source_origin", "target_origin")]


def _at(user_id: int, node_ids: Collection[str]) -> ColumnElement[bool]:
    """The condition for one of these nodes at an end, as two index searches: with OR, SQLite reads all claims."""
    ends = [
        select(claims.c.id).where(claims.c.user_id == user_id, claims.c[end].in_(list(node_ids)))
        for end in ("source", "target")
    ]
    return claims.c.id.in_(union(*ends))
