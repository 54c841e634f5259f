"""Claims and their evidence in the database."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
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
    delete,
    insert,
    or_,
    select,
    union,
    update,
)

from internal.knowledge.claims.changes import ClaimLine
from internal.knowledge.model import CitationOperation, Claim
from internal.knowledge.relations import Group
from internal.storage.chunks import chunks
from internal.storage.engine.upsert import upsert
from internal.storage.tables import claims, evidence, observations
from internal.storage.types import new_id


class Support(NamedTuple):
    """What a version is shown with of a claim that supports it."""

    edge_id: str
    episode_id: str | None
    valid_at: datetime | None
    valid_stated: bool


def evidence_target(claim_id: str) -> str:
    """The key of a claim among evidence."""
    return f"claim:{claim_id}"


def add(connection: Connection, claim: Claim) -> None:
    row = {name: getattr(claim, name) for name in _FIELDS}
    origins = {"source_origin": claim.source, "target_origin": claim.target}
    connection.execute(_ADD, row | origins | {"attributes": dict(claim.attributes)})


def add_lines(connection: Connection, claim: Claim, lines: Iterable[ClaimLine], operation: CitationOperation) -> None:
    """Records what supports a claim; a line that does so already stays as it is."""
    support = [
        {
            "user_id": claim.user_id,
            "target": evidence_target(claim.id),
            "episode_id": claim.episode_id,
            "segment": line.segment,
            "message_id": line.message_id,
            "quote": line.quote,
            "operation": operation,
            "run_id": claim.run_id,
        }
        for line in lines
    ]
    if support:
        connection.execute(_SUPPORT, support)


def copy_to(connection: Connection, claim: Claim, **changes: Any) -> Claim:
    """Stores a claim again under a new id, changed, with the same evidence."""
    copied = replace(claim, id=new_id(), **changes)
    add(connection, copied)
    rows = connection.execute(select(evidence).where(_support(claim.user_id, [claim.id]))).mappings().all()
    if rows:
        moved = [dict(row) | {"target": evidence_target(copied.id)} for row in rows]
        connection.execute(insert(evidence), moved)
    return copied


def of_group(connection: Connection, user_id: int, group: Group) -> list[Claim]:
    """The claims of a group that are held now."""
    source, name, target = group
    query = _OF_RELATION if target is None else _OF_STATEMENT
    asked = {"owner": user_id, "begin": source, "relation": name, "end": target}
    return [_claim(row) for row in connection.execute(query, asked)]


def known_at_nodes(
    connection: Connection, user_id: int, node_ids: Collection[str] | None, known_at: datetime
) -> list[Claim]:
    """The claims held at that moment with one of these nodes at an end, or all."""
    kept = or_(claims.c.retracted_at.is_(None), claims.c.retracted_at > known_at)
    held: ColumnElement[bool] = and_(claims.c.created_at <= known_at, kept)
    if node_ids is None:
        return _found(connection, user_id, held)
    return [one for part in chunks(node_ids) for one in _found(connection, user_id, and_(held, _at(user_id, part)))]


def at_nodes(connection: Connection, user_id: int, node_ids: Collection[str]) -> list[Claim]:
    """Every claim with one of these nodes at an end, retracted ones too."""
    return [one for part in chunks(node_ids) for one in _found(connection, user_id, _at(user_id, part))]


def retracted(connection: Connection, user_id: int, sources: Collection[str]) -> list[Claim]:
    """The claims from these nodes that were taken back."""
    gone = claims.c.retracted_at.is_not(None)
    return [one for part in chunks(sources) for one in _found(connection, user_id, gone & claims.c.source.in_(part))]


def of_edges(connection: Connection, user_id: int, edge_ids: Collection[str]) -> list[Claim]:
    """Every claim that supports one of these versions, retracted ones too, in the order in which they were told."""
    parts = ({"owner": user_id, "ids": part} for part in chunks(edge_ids))
    return [_claim(row) for part in parts for row in connection.execute(_OF_EDGES, part)]


def supporting(connection: Connection, user_id: int, edge_ids: Collection[str]) -> list[Support]:
    """What supports these versions now, in the order in which it was told."""
    parts = ({"owner": user_id, "ids": part} for part in chunks(edge_ids))
    return [Support(*row) for part in parts for row in connection.execute(_SUPPORTING, part).all()]


def by_ids(connection: Connection, user_id: int, ids: Collection[str]) -> list[Claim]:
    return [one for part in chunks(ids) for one in _found(connection, user_id, claims.c.id.in_(part))]


def of_episode(connection: Connection, user_id: int, episode_id: str) -> list[Claim]:
    return _found(connection, user_id, claims.c.episode_id == episode_id)


def supported_by(
    connection: Connection,
    user_id: int,
    *,
    message_ids: Collection[str] = (),
    episode_id: str | None = None,
    segments: Collection[int] = (),
) -> list[Claim]:
    """Every claim that cites one of these messages, or one of these segments of the episode."""
    found: list[str] = []
    for one in _lines(message_ids, episode_id, segments):
        targets = select(evidence.c.target).where(evidence.c.user_id == user_id, evidence.c.target.like("claim:%"), one)
        found += [target.removeprefix("claim:") for target in connection.execute(targets).scalars()]
    return by_ids(connection, user_id, sorted(set(found)))


def support(connection: Connection, user_id: int, claim_ids: Collection[str]) -> list[Row[Any]]:
    """The evidence rows of these claims, in the order of episodes and lines."""
    found: list[Row[Any]] = []
    for part in chunks(claim_ids):
        query = select(evidence).where(_support(user_id, part)).order_by(evidence.c.episode_id, evidence.c.segment)
        found += connection.execute(query)
    return found


def set_operation(connection: Connection, user_id: int, claim_id: str, operation: CitationOperation) -> None:
    """Notes what a claim did to its fact."""
    one = {"owner": user_id, "supported": evidence_target(claim_id), "what": operation}
    connection.execute(_SET_OPERATION, one)


def set_edge(connection: Connection, user_id: int, claim_ids: Collection[str], edge_id: str | None) -> None:
    for part in chunks(claim_ids):
        connection.execute(_SET_EDGE, {"owner": user_id, "ids": part, "edge": edge_id})


def retract(connection: Connection, user_id: int, claim_ids: Collection[str], now: datetime) -> None:
    """From now on it is not held that this was said; what was known before stays."""
    for part in chunks(claim_ids):
        one = (claims.c.user_id == user_id) & claims.c.id.in_(part) & claims.c.retracted_at.is_(None)
        connection.execute(update(claims).where(one).values(retracted_at=now))


def remove(connection: Connection, user_id: int, claim_ids: Collection[str]) -> None:
    """Deletes claims with their evidence."""
    for part in chunks(claim_ids):
        connection.execute(delete(evidence).where(_support(user_id, part)))
        connection.execute(delete(claims).where(claims.c.user_id == user_id, claims.c.id.in_(part)))


def drop_lines(
    connection: Connection,
    user_id: int,
    *,
    message_ids: Collection[str],
    episode_id: str | None,
    segments: Collection[int],
) -> None:
    """Deletes the evidence rows of these lines, whatever they support."""
    for one in _lines(message_ids, episode_id, segments):
        connection.execute(delete(evidence).where(evidence.c.user_id == user_id, one))


def drop_support(
    connection: Connection, user_id: int, targets: Collection[str], episode_id: str, segments: Collection[int]
) -> None:
    """Deletes what these segments of an episode support among these keys (`claim:<id>`, `entity:<id>`)."""
    for one in _lines((), episode_id, segments):
        for part in chunks(targets):
            ours = (evidence.c.user_id == user_id) & evidence.c.target.in_(part)
            connection.execute(delete(evidence).where(ours, one))


def drop_episode(connection: Connection, user_id: int, episode_id: str) -> list[str]:
    """Deletes every evidence row of an episode; the ids of the entities that it supported."""
    one = (evidence.c.user_id == user_id) & (evidence.c.episode_id == episode_id)
    targets = sorted(set(connection.execute(delete(evidence).where(one).returning(evidence.c.target)).scalars()))
    return [target.removeprefix(_ENTITY) for target in targets if target.startswith(_ENTITY)]


def cite_node(
    connection: Connection,
    user_id: int,
    node_id: str,
    episode_id: str,
    segments: Mapping[int, str | None],
    operation: CitationOperation,
    run_id: str | None,
) -> None:
    for segment, message_id in segments.items():
        row = upsert(evidence).values(
            user_id=user_id,
            target=f"{_ENTITY}{node_id}",
            episode_id=episode_id,
            segment=segment,
            message_id=message_id,
            operation=operation,
            run_id=run_id,
        )
        connection.execute(row.on_conflict_do_nothing())


def node_support(connection: Connection, user_id: int, targets: Collection[str]) -> list[Row[Any]]:
    """The evidence rows of these keys (`entity:<id>`, `person:<id>`)."""
    return list(connection.execute(_NODE_SUPPORT, {"owner": user_id, "targets": list(targets)}))


def entities_cited(
    connection: Connection,
    user_id: int,
    *,
    message_ids: Collection[str],
    episode_id: str | None,
    segments: Collection[int],
) -> list[str]:
    """The entities that cite one of these lines."""
    found: set[str] = set()
    for one in _lines(message_ids, episode_id, segments):
        query = select(evidence.c.target).where(
            evidence.c.user_id == user_id, evidence.c.target.like(f"{_ENTITY}%"), one
        )
        found |= {target.removeprefix(_ENTITY) for target in connection.execute(query).scalars()}
    return sorted(found)


def names_node(connection: Connection, user_id: int, node_id: str) -> bool:
    """Whether any claim, however old, has this node at an end, as it stands or as it was written."""
    return any(connection.execute(query, {"owner": user_id, "node": node_id}).first() for query in _NAMING)


def is_remembered(connection: Connection, user_id: int, node_id: str) -> bool:
    """Whether the memory graph tells of this node too: a preference or a topic is a node of both."""
    told = (observations.c.user_id == user_id) & (observations.c.target == node_id)
    return connection.execute(select(observations.c.id).where(told).limit(1)).first() is not None


_ENTITY: Final = "entity:"

_FIELDS: Final = (
    "user_id", "id", "edge_id", "source", "name", "target", "statement", "fact", "valid_at", "valid_stated",
    "invalid_at", "said_at", "created_at", "retracted_at", "episode_id", "run_id", "set_by",
)  # fmt: skip


_MINE: Final = claims.c.user_id == bindparam("owner")

# Run once or more for each claim: built once, for building a statement takes several times as long as running it.
_ADD: Final = insert(claims)
_SUPPORT: Final = upsert(evidence).on_conflict_do_nothing()
_OF_RELATION: Final = (
    select(claims)
    .where(_MINE, claims.c.source == bindparam("begin"), claims.c.name == bindparam("relation"))
    .where(claims.c.retracted_at.is_(None))
    .order_by(claims.c.said_at, claims.c.id)
)
_OF_STATEMENT: Final = _OF_RELATION.where(claims.c.target == bindparam("end"))
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
_SET_OPERATION: Final = (
    update(evidence)
    .where(evidence.c.user_id == bindparam("owner"), evidence.c.target == bindparam("supported"))
    .values(operation=bindparam("what"))
)
_NODE_SUPPORT: Final = (
    select(evidence)
    .where(evidence.c.user_id == bindparam("owner"), evidence.c.target.in_(bindparam("targets", expanding=True)))
    .order_by(evidence.c.episode_id, evidence.c.segment)
)


def _naming(end: str) -> Select[Any]:
    """Claims with a node at this end; an origin only where it differs, which is what its index holds."""
    query = select(claims.c.id).where(_MINE, claims.c[end] == bindparam("node"))
    now = end.removesuffix("_origin")
    return query.limit(1) if now == end else query.where(claims.c[end] != claims.c[now]).limit(1)


_NAMING: Final = [_naming(end) for end in ("source", "target", "source_origin", "target_origin")]


def _support(user_id: int, claim_ids: Collection[str]) -> ColumnElement[bool]:
    return (evidence.c.user_id == user_id) & evidence.c.target.in_([evidence_target(one) for one in claim_ids])


def _lines(
    message_ids: Collection[str], episode_id: str | None, segments: Collection[int]
) -> list[ColumnElement[bool]]:
    """Conditions, any of which a row of evidence about one of these lines fulfils."""
    found: list[ColumnElement[bool]] = [evidence.c.message_id.in_(part) for part in chunks(message_ids)]
    numbers = chunks(segments) if episode_id is not None else ()
    return found + [and_(evidence.c.episode_id == episode_id, evidence.c.segment.in_(part)) for part in numbers]


def _at(user_id: int, node_ids: Collection[str]) -> ColumnElement[bool]:
    """Both ends as two index searches: asked with OR, SQLite reads every claim of the owner."""
    ends = [
        select(claims.c.id).where(claims.c.user_id == user_id, claims.c[end].in_(list(node_ids)))
        for end in ("source", "target")
    ]
    return claims.c.id.in_(union(*ends))


def _found(connection: Connection, user_id: int, condition: ColumnElement[bool]) -> list[Claim]:
    query = select(claims).where(claims.c.user_id == user_id, condition).order_by(claims.c.said_at, claims.c.id)
    return [_claim(row) for row in connection.execute(query)]


def _claim(row: Row[Any]) -> Claim:
    return Claim(attributes=row.attributes, **{name: getattr(row, name) for name in _FIELDS})
