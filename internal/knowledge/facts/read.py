"""Reads facts by their nodes and ids, as they held or were known at a moment."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

from sqlalchemy import Connection

from internal.errors import expect_found
from internal.graph import store
from internal.knowledge import fact_repository
from internal.knowledge.claims import repository as claim_repository
from internal.knowledge.claims.changes import OpenContradiction
from internal.knowledge.claims.contradictions import UNRESOLVED
from internal.knowledge.claims.projection import precisions
from internal.knowledge.claims.repository import SupportingClaim
from internal.knowledge.claims.time_rules import Span, claims_held_at, project
from internal.knowledge.fact_repository import StoredVersion
from internal.knowledge.model import Claim, Fact, FactFilter
from internal.knowledge.relations import Group, group_of, relation_name

_ANYTHING = FactFilter(include_invalid=True)


def facts_about(
    connection: Connection, user_id: int, wanted: FactFilter, *, now: datetime, limit: int = 100, offset: int = 0
) -> list[Fact]:
    """Facts that fit, in the order in which they began to hold, unknown beginnings first.

    Without `as_of` facts that have ended by now (or by `known_at`) are left out unless `include_invalid`.
    """
    if wanted.known_at is None:
        found = fact_repository.listing(connection, user_id, wanted, now=now, limit=limit, offset=offset)
        return filled(connection, user_id, found)
    return _known_facts(connection, user_id, wanted, wanted.known_at)[offset : offset + limit]


def latest_facts(
    connection: Connection, user_id: int, wanted: FactFilter, *, now: datetime, limit: int, offset: int = 0
) -> list[Fact]:
    """Facts that fit, the last learned first; `known_at` is ignored."""
    found = fact_repository.listing(connection, user_id, wanted, now=now, limit=limit, offset=offset, newest_first=True)
    return filled(connection, user_id, found)


def count_facts(connection: Connection, user_id: int, wanted: FactFilter, *, now: datetime) -> int:
    """The number of facts that fit."""
    if wanted.known_at is None:
        return fact_repository.count(connection, user_id, wanted, now)
    return len(_known_facts(connection, user_id, wanted, wanted.known_at))


def facts(
    connection: Connection, user_id: int, fact_ids: Collection[str], *, wanted: FactFilter | None = None, now: datetime
) -> dict[str, Fact]:
    """The visible versions among these ids that fit, by the given id; `wanted` None means any times.

    With `known_at` each is the version that was known then, with the times known then.
    """
    found = fact_repository.versions(connection, user_id, fact_ids, hidden=False)
    if wanted is None or wanted == _ANYTHING:
        return {fact.id: fact for fact in filled(connection, user_id, found.values())}
    if wanted.known_at is None:
        fitting = [version for version in found.values() if _is_wanted(version.fact, wanted, now)]
        typed = _of_types(connection, user_id, [fact.fact for fact in fitting], wanted)
        return {fact.id: fact for fact in filled(connection, user_id, [fact for fact in fitting if fact.fact in typed])}
    nodes = {version.fact.source for version in found.values()}
    known_then = {fact.id: fact for fact in _known_facts(connection, user_id, wanted, wanted.known_at, nodes)}
    chains = fact_repository.chains(connection, user_id, found)
    then = {
        fact_id: next((known_then[version.fact.id] for version in versions if version.fact.id in known_then), None)
        for fact_id, versions in chains.items()
    }
    return {fact_id: fact for fact_id, fact in then.items() if fact is not None}


def fact(connection: Connection, user_id: int, fact_id: str) -> Fact:
    """One version of a fact, expired ones too. Raises NotFound."""
    found = expect_found(fact_repository.version(connection, user_id, fact_id), f"there is no fact {fact_id}")
    return filled(connection, user_id, [found])[0]


def attributes_of_facts(
    connection: Connection, user_id: int, fact_ids: Collection[str]
) -> dict[str, Mapping[str, Any]]:
    """The attributes of these versions, expired and hidden ones too, by id."""
    found = fact_repository.versions(connection, user_id, fact_ids)
    return {fact_id: version.fact.attributes for fact_id, version in found.items()}


def history(connection: Connection, user_id: int, fact_id: str) -> list[Fact]:
    """All versions of a fact, oldest first. Raises NotFound."""
    fact(connection, user_id, fact_id)
    return filled(connection, user_id, fact_repository.chain(connection, user_id, fact_id))


def open_contradictions(connection: Connection, user_id: int) -> list[OpenContradiction]:
    """Unresolved contradictions, oldest first, without those that have a side being forgotten."""
    found: list[OpenContradiction] = []
    for node in fact_repository.contradictions(connection, user_id, UNRESOLVED):
        sides = fact_repository.versions(connection, user_id, node.properties["facts"], hidden=False)
        if len(sides) == len(node.properties["facts"]):
            question = fact_repository.question(connection, user_id, node.id)
            found.append(OpenContradiction(node.id, tuple(node.properties["facts"]), question))
    return found


def answer_given(connection: Connection, user_id: int, contradiction_id: str) -> str | None:
    """The answer to a settled contradiction: the id of the fact that holds, BOTH, NEITHER, or "" if without the owner.

    None for an open or unknown one.
    """
    node = store.get_node(connection, user_id, contradiction_id)
    if node is None or node.properties.get("status") in (None, UNRESOLVED):
        return None
    return str(node.properties.get("resolution") or "")


def filled(connection: Connection, user_id: int, versions: Iterable[StoredVersion]) -> list[Fact]:
    """Facts with the names of their ends and the ids of the episodes that support them."""
    listed = list(versions)
    names = fact_repository.names_of(
        connection, user_id, {end for version in listed for end in (version.fact.source, version.fact.target)}
    )
    support = _support_of(connection, user_id, listed)
    return [
        replace(
            version.fact,
            source_name=names.get(version.fact.source, ""),
            target_name=names.get(version.fact.target, ""),
            episodes=tuple(dict.fromkeys(claim.episode_id for claim in support[version.fact.id] if claim.episode_id)),
            valid_stated=_stated(version.fact.valid_at, support[version.fact.id]),
        )
        for version in listed
    ]


def _support_of(
    connection: Connection, user_id: int, versions: Sequence[StoredVersion]
) -> Mapping[str, Sequence[Claim | SupportingClaim]]:
    """The support of each version as in `claims_of`, with only the fields that `filled` needs."""
    found: dict[str, list[Claim | SupportingClaim]] = {version.fact.id: [] for version in versions}
    current = [version.fact.id for version in versions if version.fact.expired_at is None]
    for support in claim_repository.supporting(connection, user_id, current):
        found[support.edge_id].append(support)
    for version in versions:
        if version.fact.expired_at is not None:
            found[version.fact.id] += _supported_then(connection, user_id, version)
    return found


def _stated(valid_at: datetime | None, support: Iterable[Claim | SupportingClaim]) -> bool:
    return any(claim.valid_stated and claim.valid_at == valid_at for claim in support)


def claims_of(connection: Connection, user_id: int, versions: Sequence[StoredVersion]) -> dict[str, list[Claim]]:
    """The claims that support each version, by its id, in the order of `said_at`.

    An expired version has the claims that supported it until it expired, also if they were moved since.
    """
    current = {version.fact.id for version in versions if version.fact.expired_at is None}
    found: dict[str, list[Claim]] = {version.fact.id: [] for version in versions}
    for claim in claim_repository.of_edges(connection, user_id, current):
        if claim.edge_id is not None and claim.retracted_at is None:
            found[claim.edge_id].append(claim)
    for version in versions:
        if version.fact.id not in current:
            found[version.fact.id] = _supported_then(connection, user_id, version)
    return found


def _supported_then(connection: Connection, user_id: int, version: StoredVersion) -> list[Claim]:
    """The claims of a version's span when it expired, also if they were moved since."""
    assert version.fact.expired_at is not None  # only expired versions are asked about
    group = group_of(version.fact)
    held = {claim.id: claim for claim in claim_repository.of_group(connection, user_id, group, version.fact.expired_at)}
    for span in project(list(held.values()), functional=group[2] is None).spans:
        if version.claim_id in (support := {*span.claims, *span.ends}):
            return [claim for claim in held.values() if claim.id in support]
    return claim_repository.by_ids(connection, user_id, [version.claim_id])


def _known_facts(
    connection: Connection, user_id: int, wanted: FactFilter, known_at: datetime, nodes: Collection[str] | None = None
) -> list[Fact]:
    """The timeline over the claims that were known then, each span as its stored version."""
    ends = nodes if wanted.node_id is None else [wanted.node_id]
    claims = claim_repository.known_at_nodes(connection, user_id, ends, known_at)
    if ends is not None:  # a claim about another target may have closed a fact
        sources = {claim.source for claim in claims}
        claims = claim_repository.known_at_nodes(connection, user_id, sources, known_at)
    found = _as_known(connection, user_id, _spans(claims_held_at(claims, known_at)), known_at)
    at_end = [fact for fact in found if wanted.node_id is None or wanted.node_id in (fact.source, fact.target)]
    fitting = [fact for fact in at_end if _is_wanted(fact, wanted, known_at)]
    visible = store.nodes_by_ids(connection, user_id, {end for fact in fitting for end in (fact.source, fact.target)})
    kept = [fact for fact in fitting if fact.source in visible and fact.target in visible]
    named = [
        replace(fact, source_name=visible[fact.source].name, target_name=visible[fact.target].name)
        for fact in _of_types(connection, user_id, kept, wanted)
    ]
    return sorted(named, key=lambda one: (one.valid_at is not None, one.valid_at or known_at, one.created_at, one.id))


def _spans(claims: Iterable[Claim]) -> list[tuple[Span, dict[str, Claim]]]:
    """The spans that follow from these claims, each with the claims of its group by id."""
    groups: dict[Group, dict[str, Claim]] = {}
    for claim in claims:
        groups.setdefault(group_of(claim), {})[claim.id] = claim
    return [
        (span, by_id)
        for group, by_id in groups.items()
        for span in project(list(by_id.values()), functional=group[2] is None).spans
        if span.target != group[0]
    ]


def _as_known(
    connection: Connection, user_id: int, spans: Sequence[tuple[Span, Mapping[str, Claim]]], known_at: datetime
) -> list[Fact]:
    """Past spans as the stored versions of that time, without hidden or forgotten ones."""
    edges = {claim.edge_id for _, claims in spans for claim in claims.values() if claim.edge_id}
    chains = fact_repository.chains(connection, user_id, edges)
    stood: list[tuple[Span, Mapping[str, Claim], StoredVersion]] = []
    for span, claims in spans:
        best = _stored_version(span, claims, chains, known_at)
        if best is not None:
            stood.append((span, claims, best))
    visible = fact_repository.versions(connection, user_id, {best.fact.id for *_, best in stood}, hidden=False)
    return [_then(span, claims, best.fact) for span, claims, best in stood if best.fact.id in visible]


def _stored_version(
    span: Span, claims: Mapping[str, Claim], chains: Mapping[str, Sequence[StoredVersion]], known_at: datetime
) -> StoredVersion | None:
    """The stored version of a span at that moment, preferably with the same words."""
    edges = {claims[claim_id].edge_id for claim_id in (*span.claims, *span.ends)}
    then = [
        version
        for edge in edges
        for version in chains.get(edge or "", ())
        if version.fact.created_at <= known_at
        and (version.fact.expired_at is None or version.fact.expired_at > known_at)
    ]
    words = claims[span.text].id
    return min(then, key=lambda one: (one.claim_id != words, one.fact.created_at, one.fact.id), default=None)


def _then(span: Span, claims: Mapping[str, Claim], fact: Fact) -> Fact:
    support = sorted((claims[claim_id] for claim_id in (*span.claims, *span.ends)), key=_when)
    exact = precisions(span, support, claims.values())
    return replace(
        fact,
        fact=claims[span.text].fact,
        episodes=tuple(dict.fromkeys(claim.episode_id for claim in support if claim.episode_id)),
        expired_at=None,
        valid_at=span.valid_at,
        invalid_at=span.invalid_at,
        valid_stated=_stated(span.valid_at, support),
        valid_precision=exact["valid_precision"],
        invalid_precision=exact["invalid_precision"],
    )


def _when(claim: Claim) -> tuple[datetime, str]:
    return claim.said_at, claim.id


def _is_wanted(one: Fact, wanted: FactFilter, at: datetime) -> bool:
    if wanted.relations and one.name not in {relation_name(name) for name in wanted.relations}:
        return False
    if wanted.node_id is not None and wanted.node_id not in (one.source, one.target):
        return False
    if wanted.as_of is not None:
        return one.expired_at is None and one.holds(wanted.as_of, wanted.until)
    if wanted.ended:
        return one.expired_at is None and one.invalid_at is not None and one.invalid_at <= at
    if wanted.include_invalid:
        return True
    return one.expired_at is None and (one.invalid_at is None or one.invalid_at > at)


def _of_types(connection: Connection, user_id: int, found: Sequence[Fact], wanted: FactFilter) -> list[Fact]:
    if not wanted.entity_types:
        return list(found)
    typed = fact_repository.fitting_nodes(connection, user_id, wanted.entity_types)
    return [fact for fact in found if fact.source in typed or fact.target in typed]
