"""Claims in the database."""

from collections.abc import Collection
from dataclasses import replace
from datetime import datetime
from typing import Any, Final, NamedTuple

from sqlalchemy import (
    ColumnElement,
    Connection,
    Row,
    Select,
    and_,
    bindparam,
    insert,
    or_,
    select,
    union,
    update,
)

from internal.knowledge.model import Claim
from internal.knowledge.relations import Group
from internal.storage import evidence
from internal.storage.chunks import chunks, delete_with, rows_of
from internal.storage.evidence import Lines
from internal.storage.tables import claims, observations
from internal.storage.types import new_id


class Support(NamedTuple):
    """The part of a supporting claim that a version is shown with."""

    edge_id: str
    episode_id: str | None
    valid_at: datetime | None
    valid_stated: bool


def add(connection: Connection, claim: Claim) -> None:
    row = {name: getattr(claim, name) for name in _FIELDS}
    origins = {"source_origin": claim.source, "target_origin": claim.target}
    connection.execute(_ADD, row | origins | {"attributes": dict(claim.attributes)})


def copy_to(connection: Connection, claim: Claim, **changes: Any) -> Claim:
    """Stores a claim again under a new id, changed, with the same evidence."""
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
    return [_claim(row) for row in connection.execute(query, asked)]


def known_at_nodes(
    connection: Connection, user_id: int, node_ids: Collection[str] | None, known_at: datetime
) -> list[Claim]:
    """The claims held at that moment with one of these nodes at an end, or all."""
    kept = or_(claims.c.retracted_at.is_(None), claims.c.retracted_at > known_at)
    held: ColumnElement[bool] = and_(claims.c.created_at <= known_at, kept)
    if node_ids is None:
        return _claims_where(connection, user_id, held)
    return [
        claim
        for part in chunks(node_ids)
        for claim in _claims_where(connection, user_id, and_(held, _at(user_id, part)))
    ]


def at_nodes(connection: Connection, user_id: int, node_ids: Collection[str]) -> list[Claim]:
    """Every claim with one of these nodes at an end, retracted ones too."""
    return [claim for part in chunks(node_ids) for claim in _claims_where(connection, user_id, _at(user_id, part))]


def retracted(connection: Connection, user_id: int, sources: Collection[str]) -> list[Claim]:
    """The retracted claims from these nodes."""
    gone = claims.c.retracted_at.is_not(None)
    return [
        claim
        for part in chunks(sources)
        for claim in _claims_where(connection, user_id, gone & claims.c.source.in_(part))
    ]


def of_edges(connection: Connection, user_id: int, edge_ids: Collection[str]) -> list[Claim]:
    """Every claim that supports one of these versions, retracted ones too, in the order of `said_at`."""
    return [_claim(row) for row in rows_of(connection, _OF_EDGES, edge_ids, owner=user_id)]


def supporting(connection: Connection, user_id: int, edge_ids: Collection[str]) -> list[Support]:
    """What supports these versions now, in the order of `said_at`."""
    return [Support(*row) for row in rows_of(connection, _SUPPORTING, edge_ids, owner=user_id)]


def by_ids(connection: Connection, user_id: int, ids: Collection[str]) -> list[Claim]:
    return [claim for part in chunks(ids) for claim in _claims_where(connection, user_id, claims.c.id.in_(part))]


def of_episode(connection: Connection, user_id: int, episode_id: str) -> list[Claim]:
    return _claims_where(connection, user_id, claims.c.episode_id == episode_id)


def supported_by(connection: Connection, user_id: int, lines: Lines) -> list[Claim]:
    """Every claim that cites one of these lines."""
    return by_ids(connection, user_id, sorted(evidence.cited_ids(connection, user_id, "claim", lines)))


def set_edge(connection: Connection, user_id: int, claim_ids: Collection[str], edge_id: str | None) -> None:
    for part in chunks(claim_ids):
        connection.execute(_SET_EDGE, {"owner": user_id, "ids": part, "edge": edge_id})


def retract(connection: Connection, user_id: int, claim_ids: Collection[str], now: datetime) -> None:
    """Retracts claims from now on; what was known before stays."""
    for part in chunks(claim_ids):
        one = (claims.c.user_id == user_id) & claims.c.id.in_(part) & claims.c.retracted_at.is_(None)
        connection.execute(update(claims).where(one).values(retracted_at=now))


def remove(connection: Connection, user_id: int, claim_ids: Collection[str]) -> None:
    """Deletes claims with their evidence."""
    evidence.remove(connection, user_id, "claim", claim_ids)
    delete_with(connection, claims, user_id, claims.c.id, claim_ids)


def names_node(connection: Connection, user_id: int, node_id: str) -> bool:
    """Whether any claim, however old, has this node at an end, as it stands or as it was written."""
    return any(connection.execute(query, {"owner": user_id, "node": node_id}).first() for query in _NAMING)


def is_remembered(connection: Connection, user_id: int, node_id: str) -> bool:
    """Whether the memory graph has observations of this node: a preference or topic belongs to both graphs."""
    of_node = (observations.c.user_id == user_id) & (observations.c.target == node_id)
    return connection.execute(select(observations.c.id).where(of_node).limit(1)).first() is not None


_FIELDS: Final = (
    "user_id", "id", "edge_id", "source", "name", "target", "statement", "fact", "valid_at", "valid_stated",
    "invalid_at", "said_at", "created_at", "retracted_at", "episode_id", "run_id", "set_by", "valid_precision",
    "invalid_precision",
)  # fmt: skip


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
    """Claims with a node at this end; an origin only where it differs, which is what its index holds."""
    query = select(claims.c.id).where(_MINE, claims.c[end] == bindparam("node"))
    now = end.removesuffix("_origin")
    return query.limit(1) if now == end else query.where(claims.c[end] != claims.c[now]).limit(1)


_NAMING: Final = [_naming(end) for end in ("source", "target", "source_origin", "target_origin")]


def _at(user_id: int, node_ids: Collection[str]) -> ColumnElement[bool]:
    """Both ends as two index searches: asked with OR, SQLite reads every claim of the owner."""
    ends = [
        select(claims.c.id).where(claims.c.user_id == user_id, claims.c[end].in_(list(node_ids)))
        for end in ("source", "target")
    ]
    return claims.c.id.in_(union(*ends))


def _claims_where(connection: Connection, user_id: int, condition: ColumnElement[bool]) -> list[Claim]:
    query = select(claims).where(claims.c.user_id == user_id, condition).order_by(claims.c.said_at, claims.c.id)
    return [_claim(row) for row in connection.execute(query)]


def _claim(row: Row[Any]) -> Claim:
    return Claim(attributes=row.attributes, **{name: getattr(row, name) for name in _FIELDS})
