"""The projection of claims to facts: compares the spans from the time rules with the stored versions."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any, Final

from internal.errors import NotFound
from internal.graph import store
from internal.graph.derivation import Projector
from internal.graph.edge_repository import EdgeTime
from internal.knowledge import fact_repository
from internal.knowledge.claims import repository as claim_repository
from internal.knowledge.claims.changes import ALSO, Changes
from internal.knowledge.claims.contradictions import Contradictions
from internal.knowledge.claims.time_rules import Span, project
from internal.knowledge.fact_repository import StoredVersion, merged_attributes
from internal.knowledge.model import Claim, Fact, SetBy
from internal.knowledge.relations import Group
from internal.language.dates.precision import DatePrecision, finest
from internal.storage.forgetting import hidings

_EVENTS: Final = {
    "created": "fact_created",
    "closed": "fact_closed",
    "reopened": "fact_reopened",
    "updated": "fact_updated",
    "moved": "fact_moved",
    "merged": "fact_merged",
    "rewritten": "fact_rewritten",
    "deleted": "fact_deleted",
    "contradictions": "contradiction_found",
    "settled": "contradiction_settled",
}


@dataclass(frozen=True, slots=True)
class _WantedSpan:
    """A derived span with its claims (ends included), the claim whose words it takes, and how exact its dates are."""

    span: Span
    claims: Sequence[Claim]
    text: Claim
    precisions: Mapping[str, DatePrecision | None]

    @property
    def ids(self) -> set[str]:
        return {claim.id for claim in self.claims}

    @property
    def attributes(self) -> dict[str, Any]:
        merged = merged_attributes([claim for claim in self.claims if claim.id not in self.span.ends])
        return {name: value for name, value in merged.items() if name != ALSO}

    @property
    def set_by(self) -> SetBy:
        return "owner" if self.span.by_owner else self.text.set_by

    @property
    def derived(self) -> dict[str, Any]:
        """The columns of a version that follow from its claims, besides words and times."""
        return {"attributes": self.attributes, "set_by": self.set_by, **self.precisions}


@dataclass
class FactProjector(Projector):
    """Projects groups of claims. Facts that nothing supports any more expire and can still be looked up.

    With `forgetting` no version keeps the words of deleted claims and no edge stays without claims.
    """

    event_types = _EVENTS

    changes: Changes = field(init=False, default_factory=Changes)
    contradictions: Contradictions = field(init=False)

    def __post_init__(self) -> None:
        self.contradictions = Contradictions(self.connection, self.user_id, self.now, self.run_id, self.changes)

    def project(self, groups: Iterable[Group]) -> None:
        for group in sorted(set(groups), key=lambda one: (one[0], one[1], one[2] or "")):
            self._project(group)

    def delete(self, versions: Collection[StoredVersion]) -> None:
        """Deletes versions; their successors are linked to their predecessors."""
        for version in versions:
            for after in fact_repository.successors(self.connection, self.user_id, [version.fact.id]).values():
                fact_repository.relink(self.connection, after, version.fact.supersedes, version.fact.original_fact)
        ids = [version.fact.id for version in versions]
        self.changes.deleted.extend(store.delete_edges(self.connection, self.user_id, ids))
        self.contradictions.forget(ids)

    def expire(self, version: StoredVersion) -> None:
        store.update_edge(self.connection, self.user_id, version.fact.id, now=self.now, times={"expired_at": self.now})

    def rewrite(self, version: StoredVersion, text: Claim) -> StoredVersion:
        """Replaces the words of a version by those of a remaining claim, without a trace of the old words."""
        self.changes.rewritten.append(version.fact.id)
        words = {"fact": text.fact, "update_reason": None}
        rewritten = fact_repository.set_words(self.connection, version, self.now, text.id, **words)
        for after in fact_repository.successors(self.connection, self.user_id, [version.fact.id]).values():
            fact_repository.relink(self.connection, after, version.fact.id, text.fact)
        return rewritten

    def supersede(self, version: StoredVersion, fact: Fact, claim_id: str) -> StoredVersion:
        """Expires a version and stores its successor."""
        self.expire(version)
        follower = replace(fact, supersedes=version.fact.id, original_fact=version.fact.fact, updated_at=self.now)
        added = fact_repository.add(self.connection, follower, claim_id, now=self.now, run_id=self.run_id)
        hidings.inherit(self.connection, self.user_id, "edge", version.fact.id, added.fact.id)
        self.contradictions.follow(version.fact.id, added.fact.id)
        self.changes.updated.append(added.fact.id)
        return added

    def _project(self, group: Group) -> None:
        claims = {claim.id: claim for claim in claim_repository.of_group(self.connection, self.user_id, group)}
        projection = project(list(claims.values()), functional=group[2] is None)
        wanted = [_with_claims(span, claims) for span in projection.spans if span.target != group[0]]
        stored = fact_repository.current_of_group(self.connection, self.user_id, group)
        span_of_version = _span_of_versions(wanted, stored)
        edges: dict[Span, str] = {}
        kept: set[str] = set()
        for wanted_span in wanted:
            version = _continued(
                wanted_span, [version for version in stored if span_of_version.get(version.fact.id) == wanted_span.span]
            )
            if version is not None:
                kept.add(version.fact.id)
            written = self._write(wanted_span, version)
            claim_repository.set_edge(self.connection, self.user_id, wanted_span.ids, written)
            if written is not None:
                edges[wanted_span.span] = written
        self._remove_outdated([version for version in stored if version.fact.id not in kept])
        group_edges = {version.fact.id for version in stored} | set(edges.values())
        self.contradictions.compare(group, projection.conflicts, edges, group_edges)

    def _write(self, one: _WantedSpan, version: StoredVersion | None) -> str | None:
        if version is None:
            return self._create(one)
        version = self._set_times(version, one)
        changed = {name: value for name, value in one.derived.items() if getattr(version.fact, name) != value}
        if one.text.fact != version.fact.fact:
            outdated = version.claim_id not in one.ids
            if self.forgetting and outdated:
                version = self.rewrite(version, one.text)
            elif self._has_new_words(one, version):
                fact = replace(version.fact, fact=one.text.fact, update_reason=None, **changed)
                return self.supersede(version, fact, one.text.id).fact.id
        if changed or (one.text.fact == version.fact.fact and version.claim_id not in one.ids):
            claim_id = version.claim_id if version.claim_id in one.ids else one.text.id
            fact_repository.set_words(self.connection, version, self.now, claim_id, **changed)
        return version.fact.id

    def _has_new_words(self, one: _WantedSpan, version: StoredVersion) -> bool:
        """Whether the words of a version are outdated; a variant of the same words needs no new version."""
        by_id = {claim.id: claim for claim in one.claims}
        before = by_id.get(version.claim_id)
        return before is None or one.span.by_owner or one.text.said_at >= before.said_at

    def _create(self, one: _WantedSpan) -> str | None:
        fact = Fact(
            user_id=self.user_id,
            id="",
            source=one.text.source,
            target=one.span.target,
            name=one.text.name,
            fact=one.text.fact,
            created_at=self.now,
            valid_at=one.span.valid_at,
            invalid_at=one.span.invalid_at,
            **one.derived,
        )
        try:
            added = fact_repository.add(self.connection, fact, one.text.id, now=self.now, run_id=self.run_id)
        except NotFound:
            return None  # an end is just being forgotten; if that is undone, it is projected again
        self.changes.created.append(added.fact.id)
        if fact.invalid_at is not None:
            self.changes.closed.append(added.fact.id)
        return added.fact.id

    def _set_times(self, version: StoredVersion, one: _WantedSpan) -> StoredVersion:
        fact = version.fact
        if (fact.valid_at, fact.invalid_at) == (one.span.valid_at, one.span.invalid_at):
            return version
        times: dict[EdgeTime, datetime | None] = {"valid_at": one.span.valid_at, "invalid_at": one.span.invalid_at}
        fact_repository.set_times(self.connection, version, times, self.now)
        if fact.invalid_at is None and one.span.invalid_at is not None:
            self.changes.closed.append(fact.id)
        elif fact.invalid_at is not None and one.span.invalid_at is None:
            self.changes.reopened.append(fact.id)
        else:
            self.changes.moved.append(fact.id)
        return replace(version, fact=replace(fact, valid_at=one.span.valid_at, invalid_at=one.span.invalid_at))

    def _remove_outdated(self, versions: Sequence[StoredVersion]) -> None:
        """Deletes or expires versions to which no span belongs any more.

        They are deleted when forgetting, because an expired version would reveal the time of a forgotten claim.
        """
        for version in versions:
            if self.forgetting:
                self.delete([version])
            else:
                self.expire(version)
                self.changes.merged.append(version.fact.id)


def _with_claims(span: Span, claims: Mapping[str, Claim]) -> _WantedSpan:
    support = [claims[claim_id] for claim_id in (*span.claims, *span.ends)]
    return _WantedSpan(span, support, claims[span.text], precisions(span, support, claims.values()))


def precisions(span: Span, support: Sequence[Claim], group: Iterable[Claim]) -> dict[str, DatePrecision | None]:
    """The precision of a span's dates: that of its own claims, else that of the claim that closed it."""
    begun = [claim.valid_precision for claim in support if claim.valid_stated and claim.valid_at == span.valid_at]
    ended = [claim.invalid_precision for claim in support if claim.invalid_at == span.invalid_at]
    closed = [claim.valid_precision for claim in group if claim.valid_at == span.invalid_at and claim.valid_stated]
    return {
        "valid_precision": None if span.valid_at is None else finest(begun),
        "invalid_precision": None if span.invalid_at is None else finest(ended) or finest(closed),
    }


def _span_of_versions(wanted: Sequence[_WantedSpan], stored: Sequence[StoredVersion]) -> dict[str, Span]:
    """The span of each version: the one that holds the earliest of the version's claims."""
    span_of_version: dict[str, Span] = {}
    claims = sorted(
        ((claim, wanted_span.span) for wanted_span in wanted for claim in wanted_span.claims),
        key=lambda pair: (pair[0].created_at, pair[0].id),
    )
    targets = {version.fact.id: version.fact.target for version in stored}
    for claim, span in claims:
        if claim.edge_id is not None and targets.get(claim.edge_id) == span.target:
            span_of_version.setdefault(claim.edge_id, span)
    return span_of_version


def _continued(one: _WantedSpan, versions: Sequence[StoredVersion]) -> StoredVersion | None:
    """The version that is updated to this span: the one with the owner's words, else the oldest."""
    if not versions:
        return None
    own = [version for version in versions if one.span.by_owner and version.fact.id == one.text.edge_id]
    return (own or list(versions))[0]
