"""Reruns of a slice: removes what only the earlier reading supports."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Connection

from internal.errors import Refused
from internal.graph import store
from internal.knowledge import fact_repository
from internal.knowledge.claims import repository as claim_repository
from internal.knowledge.claims.changes import NewClaim, Removal
from internal.knowledge.entities.names import drop_name_support, drop_names
from internal.knowledge.model import Claim
from internal.knowledge.relations import is_functional, materially_different, relation_name, statement_key
from internal.knowledge.removal.removal import remove_claims
from internal.storage import evidence
from internal.storage.evidence import Lines


@dataclass(frozen=True, slots=True)
class SliceClaims:
    """The support of a slice: current claims that are not the owner's own word, and the ids of entities.

    `names` are the keys of the names it gave to nodes, by node id.
    """

    episode_id: str
    segments: Collection[int]
    claims: Sequence[Claim]
    nodes: Collection[str]
    names: Mapping[str, Collection[str]]


def remove_slice_claims(
    connection: Connection, user_id: int, episode_id: str, segments: Collection[int]
) -> SliceClaims:
    """Removes the support of these segments; `remove_unsupported` then removes what has none left.

    Claims that the owner made or retracted keep their lines.
    """
    lines = Lines(episode_id=episode_id, segments=segments)
    claims = [
        claim
        for claim in claim_repository.supported_by(connection, user_id, lines)
        if claim.set_by != "owner" and claim.retracted_at is None
    ]
    nodes = evidence.cited_ids(connection, user_id, "entity", lines)
    claim_repository.stored.withdraw(connection, user_id, claims, lines)
    evidence.remove_support(connection, user_id, [evidence.target("entity", node_id) for node_id in nodes], lines)
    names = drop_name_support(connection, user_id, episode_id, segments)
    return SliceClaims(episode_id, segments, claims, nodes, names)


def remove_unsupported(
    connection: Connection, user_id: int, before: SliceClaims, new_claims: Sequence[NewClaim], *, now: datetime
) -> Removal:
    """Removes withdrawn claims that the new reply does not repeat in the same words with the same dates.

    Entities that the new reply cites keep their description.
    """
    again = {_identity(new_claim) for new_claim in new_claims}
    unsupported = claim_repository.stored.unsupported(connection, user_id, before.claims)
    unsupported = [claim for claim in unsupported if _identity(claim) not in again]
    lines = Lines(episode_id=before.episode_id, segments=before.segments)
    cited = evidence.cited_ids(connection, user_id, "entity", lines)
    removal = remove_claims(connection, user_id, unsupported, before.nodes, set(before.nodes) - cited, now=now)
    for node in store.nodes_by_ids(connection, user_id, before.names).values():
        drop_names(connection, user_id, node, before.names[node.id], now=now)
    return removal


def without_corrected(
    connection: Connection, user_id: int, episode_id: str, new_claims: Sequence[NewClaim]
) -> list[NewClaim]:
    """The claims except those of this episode that the owner corrected or retracted and has not restored."""
    claims = [one for one in claim_repository.of_episode(connection, user_id, episode_id) if one.set_by != "owner"]
    standing = {_identity(claim) for claim in claims if claim.retracted_at is None}
    retracted = [one for one in claims if one.retracted_at is not None and _identity(one) not in standing]
    return [new_claim for new_claim in new_claims if not any(_same_statement(new_claim, claim) for claim in retracted)]


def without_denied(
    connection: Connection, user_id: int, new_claims: Sequence[NewClaim]
) -> tuple[list[NewClaim], list[NewClaim]]:
    """Splits claims into those to keep and those that the owner denied after they were said, in any episode.

    A claim from a later line is kept, and so is one about a period that ended before or began after the denied one.
    """
    denied = _denied(connection, user_id, {new_claim.source for new_claim in new_claims})
    kept, refused = list[NewClaim](), list[NewClaim]()
    for new_claim in new_claims:
        (refused if any(_denied_since(new_claim, claim) for claim in denied) else kept).append(new_claim)
    return kept, refused


def _denied(connection: Connection, user_id: int, sources: Collection[str]) -> list[Claim]:
    """The claims that were retracted together with their facts, without a replacement."""
    gone = {
        claim.edge_id for claim in claim_repository.retracted(connection, user_id, sources) if claim.edge_id is not None
    }
    versions = {**fact_repository.versions(connection, user_id, gone)}
    versions |= fact_repository.successors(connection, user_id, gone)
    claims = claim_repository.of_edges(connection, user_id, gone)
    stands = {version.fact.supersedes for version in versions.values()}
    stands |= {claim.edge_id for claim in claims if claim.retracted_at is None}
    return [claim for claim in claims if claim.edge_id not in stands]


def _denied_since(new_claim: NewClaim, claim: Claim) -> bool:
    if claim.retracted_at is None or new_claim.said_at > claim.retracted_at:
        return False
    if (new_claim.source, new_claim.target) != (claim.source, claim.target) or _hold_at_different_times(
        new_claim, claim
    ):
        return False
    same_relation = _name(new_claim.relation) == claim.name and is_functional(claim.name)
    return same_relation or not materially_different(new_claim.fact, claim.fact)


def _hold_at_different_times(new_claim: NewClaim, claim: Claim) -> bool:
    """Whether both are known to hold at different times."""
    return any(
        first.invalid_at is not None and then.valid_at is not None and first.invalid_at <= then.valid_at
        for first, then in ((new_claim, claim), (claim, new_claim))
    )


def _identity(claim: Claim | NewClaim) -> tuple[object, ...]:
    name = claim.name if isinstance(claim, Claim) else _name(claim.relation)
    return claim.source, name, claim.target, statement_key(claim.fact), claim.valid_at, claim.invalid_at


def _same_statement(new_claim: NewClaim, claim: Claim) -> bool:
    name = _name(new_claim.relation)
    if (new_claim.source, name, new_claim.target) != (claim.source, claim.name, claim.target):
        return False
    return is_functional(name) or not materially_different(new_claim.fact, claim.fact)


def _name(relation: str) -> str:
    try:
        return relation_name(relation)
    except Refused:
        return ""  # it is refused when it is recorded
