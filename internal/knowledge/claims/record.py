"""Records claims: checks each by itself, stores them, then projects their facts."""

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime

from sqlalchemy import Connection

from internal.errors import NotFound, Refusal, Refused, expect_found
from internal.graph import registry, store
from internal.graph.model import Node
from internal.graph.relationships import FACT
from internal.knowledge import fact_repository
from internal.knowledge.claims import repository as claim_repository
from internal.knowledge.claims.changes import Changes, NewClaim, RecordOutcome
from internal.knowledge.claims.projection import FactProjector
from internal.knowledge.claims.time_rules import refuse_interval
from internal.knowledge.model import CitationOperation, Claim
from internal.knowledge.relations import group_of, relation_name, statement_key
from internal.storage import evidence
from internal.storage.evidence import Support
from internal.storage.types import new_id

MAX_FACT = 2000
"""Characters of a fact's words: a statement, not a document."""


def record_claims(
    connection: Connection,
    user_id: int,
    claims: Sequence[NewClaim],
    *,
    now: datetime,
    run_id: str | None = None,
    source: str = "agent:Archivist",
) -> RecordOutcome:
    """Stores claims and projects their facts; a claim that breaks a rule is refused, the others are stored.

    The same claim of the same episode only adds its lines. Reasons of refusal: relation_name, empty_fact,
    too_long, interval, no_support, unknown_node, wrong_ends, self_loop. `source` is that of the events.
    """
    stored: list[tuple[Claim, bool]] = []
    refused: list[Refusal] = []
    for new in claims:
        try:
            stored.append(_store(connection, user_id, new, now, run_id))
        except (Refused, NotFound) as error:
            refused.append(Refusal.of(error))
    projector = FactProjector(connection, user_id, now=now, run_id=run_id)
    projector.project(group_of(claim) for claim, _ in stored)
    projector.record(source)
    ids = [claim.id for claim, _ in stored]
    edges = {claim.id: claim.edge_id for claim in claim_repository.by_ids(connection, user_id, ids)}
    referenced = _note_operations(
        connection, user_id, [claim for claim, fresh in stored if fresh], edges, projector.changes
    )
    return RecordOutcome(ids, [edges[claim_id] for claim_id in ids], referenced, refused, projector.changes)


def reproject(connection: Connection, user_id: int, node_ids: Collection[str], *, now: datetime) -> Changes:
    """Projects every fact about these nodes again, after a merge, a split or a renaming of one of them."""
    claimed = {group_of(claim) for claim in claim_repository.at_nodes(connection, user_id, node_ids)}
    # A fact whose last claim went to the other side of a split is not found by the claims at these nodes.
    standing = {group_of(version.fact) for version in fact_repository.at_nodes(connection, user_id, node_ids)}
    projector = FactProjector(connection, user_id, now=now)
    projector.project(claimed | standing)
    for version in fact_repository.at_nodes(connection, user_id, node_ids):
        fact_repository.put_item(connection, version.fact)
    projector.record("system:knowledge")
    return projector.changes


def cite_node(
    connection: Connection,
    user_id: int,
    node_id: str,
    episode_id: str,
    segments: Mapping[int, str | None],
    *,
    operation: CitationOperation,
    run_id: str | None = None,
) -> None:
    """Records what supports an entity: segment number -> message id, or None; segment 0 is the whole episode."""
    lines = evidence.of_segments(episode_id, segments)
    evidence.add(connection, user_id, "entity", {node_id: lines}, operation=operation, run_id=run_id)


def _store(
    connection: Connection, user_id: int, new: NewClaim, now: datetime, run_id: str | None
) -> tuple[Claim, bool]:
    """The stored claim, and whether it is new."""
    source, target = (_end_node(connection, user_id, end) for end in (new.source, new.target))
    name = relation_name(new.relation)
    _check(new, source, target)
    claim = Claim(
        user_id=user_id,
        id=new_id(),
        source=source.id,
        name=name,
        target=target.id,
        statement=statement_key(new.fact),
        fact=" ".join(new.fact.split()),
        said_at=new.said_at,
        created_at=now,
        valid_at=new.valid_at,
        valid_stated=new.valid_stated,
        invalid_at=new.invalid_at,
        valid_precision=new.valid_precision,
        invalid_precision=new.invalid_precision,
        attributes=new.attributes,
        episode_id=new.episode_id,
        run_id=run_id,
        set_by=new.set_by,
    )
    known = _same_claim(connection, claim)
    if known is None:
        claim_repository.add(connection, claim)
    stored = known or claim
    lines = [Support(new.episode_id or "", line.segment, line.message_id, line.quote) for line in new.lines]
    evidence.add(connection, user_id, "claim", {stored.id: lines}, operation="referenced", run_id=stored.run_id)
    return stored, known is None


def _check(new: NewClaim, source: Node, target: Node) -> None:
    registry.relationship_of(FACT, source.label, target.label)
    if source.id == target.id:
        raise Refused("self_loop", "target: another node than the source is expected")
    if not statement_key(new.fact):
        raise Refused("empty_fact", "fact: words are expected")
    if len(new.fact) > MAX_FACT:
        raise Refused("too_long", f"fact: at most {MAX_FACT} characters are expected")
    refuse_interval(new.valid_at, new.invalid_at)
    if new.set_by != "owner" and not (new.lines and new.episode_id):
        raise Refused("no_support", "evidence: at least one line is expected")


def _same_claim(connection: Connection, claim: Claim) -> Claim | None:
    """The claim of the same episode that says exactly this, if it is stored already."""
    if claim.episode_id is None:
        return None
    known = claim_repository.of_group(connection, claim.user_id, group_of(claim))
    return next(
        (stored for stored in known if all(getattr(stored, name) == getattr(claim, name) for name in _SAME)), None
    )


_SAME = (
    "episode_id", "target", "statement", "valid_at", "valid_precision", "invalid_at", "invalid_precision", "set_by",
)  # fmt: skip
"""Fields in which two claims of one group agree when they are the same claim."""


def _end_node(connection: Connection, user_id: int, node_id: str) -> Node:
    return expect_found(store.resolve_node(connection, user_id, node_id), f"there is no node {node_id}")


def _note_operations(
    connection: Connection, user_id: int, claims: Sequence[Claim], edges: Mapping[str, str | None], changes: Changes
) -> list[str]:
    """Notes for each claim whether it created, changed or repeated its fact. Returns the repeated facts."""
    created = set(changes.created)
    changed = {*changes.closed, *changes.reopened, *changes.moved, *changes.updated}
    referenced: list[str] = []
    for claim in claims:
        edge_id = edges[claim.id]
        if edge_id in created:
            created.discard(edge_id)
            evidence.set_operation(connection, user_id, "claim", claim.id, "created")
        elif edge_id in changed:
            evidence.set_operation(connection, user_id, "claim", claim.id, "updated")
        elif edge_id is not None and edge_id not in changes.created:
            referenced.append(edge_id)
    return list(dict.fromkeys(referenced))
