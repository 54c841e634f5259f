"""The time rules: how facts follow from claims. The result depends on the set of claims, not on the order of arrival.

The claims of one group are laid on tracks: one for each target of a functional relation, one for each statement of
any other. In this order:

1. A claim given twice is one claim. An end that is not later than its beginning is refused.
2. On a track, dated claims that touch or overlap are one period, which begins at the earliest. Disjoint ones stay
   apart: A from 2010 to 2012 and A from 2020 are two.
3. Said ends:
   3a. A claim with both dates ends where it says; joined ones at the latest of their said ends.
   3b. An end without a beginning ("quit yesterday") ends the open period that runs at it.
   3c. Where none is open, a period that began before and whose end came from such a word takes it as a repetition.
   3d. What else ends without a beginning is a span of its own with an unknown beginning.
4. Functional: a claim of another target that begins later closes what runs then, at its own beginning. What arrives
   late and is older is thereby closed at birth. A target that is claimed again after another one is a new span
   (A 2020, B 2022, A 2024 are three).
5. Exceptions to rule 4: (a) of two intervals stated with both dates neither closes the other: they overlap as stated;
   (b) a claim stated as one among several (`also`) closes nothing. Such spans are parallel, and nobody is asked.
6. The owner's own word is closed, ended or shortened by his own word only. A model's claim that would is a conflict:
   both stand.
7. Unknown dates are not guessed. A claim without dates supports the span of its track that is open; else it is a span
   with an unknown beginning, which an end said no earlier than the claim may end. Of a functional relation it is a
   conflict with every span of another target that has no end, and an end without a beginning is one with every span of
   another target that runs until then. Both stand.
8. Functional: two targets from exactly the same moment are a conflict, unless (5) makes them parallel. Not functional:
   two open statements of which one denies the other are a conflict, and so are the statements any of which an end
   without a beginning may mean.
9. Functional: a beginning that nobody said is only the moment at which something was said ("lives in Berlin"). If it
   closes what was said after it of an earlier, stated date ("moved to Paris last week"), either may hold now: the times
   stay as rule 4 makes them, and it is a conflict. Not so once the owner has confirmed the later one since.

Conflicts that share a span are one question.
"""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import combinations, permutations, product
from typing import Final, Literal

from internal.errors import Refused
from internal.knowledge.claims.periods import (
    SpanDraft,
    Track,
    also,
    claim_order,
    cut_period,
    outright,
    overlapping,
    owned,
    starts,
    stops,
)
from internal.knowledge.model import Claim
from internal.knowledge.relations import denies, materially_different, resemblance

Reason = Literal["unknown_date", "same_moment", "owner", "denial", "unclear_end"]

_CLEARLY: Final = 10.0
"""Points of resemblance (0-100) by which one statement must lead for an end to mean it alone."""


@dataclass(frozen=True, slots=True)
class Span:
    """One interval [valid_at, invalid_at) of one target, with the ids of the claims that support it and of its ends.

    `valid_at` None = unknown. `text` is the claim whose words it takes, `by_owner` whether the owner said it.
    """

    target: str
    valid_at: datetime | None
    invalid_at: datetime | None
    claims: tuple[str, ...]
    ends: tuple[str, ...]
    text: str
    by_owner: bool = False


@dataclass(frozen=True, slots=True)
class SpanConflict:
    """Spans that cannot all be right, and the reasons why."""

    reasons: tuple[Reason, ...]
    spans: tuple[Span, ...]


@dataclass(frozen=True, slots=True)
class Projection:
    """The result of a projection. Spans are in order of time, unknown beginnings first.

    `parallel` are pairs of spans that overlap because they were stated so.
    """

    spans: tuple[Span, ...] = ()
    conflicts: tuple[SpanConflict, ...] = ()
    parallel: tuple[tuple[Span, Span], ...] = ()


def project(claims: Collection[Claim], *, functional: bool) -> Projection:
    """The timeline of one group: claims of one source and relation and, unless functional, of one target.

    Raises Refused("interval") for a claim that ends before it begins.
    """
    unique = sorted({claim.id: claim for claim in claims}.values(), key=claim_order)
    for claim in unique:
        refuse_interval(claim.valid_at, claim.invalid_at)
    return _Timeline(unique, functional).projection()


def claims_held_at(claims: Iterable[Claim], at: datetime) -> list[Claim]:
    """The claims that were held at a moment; their projection is what was known then."""
    return [c for c in claims if c.created_at <= at and (c.retracted_at is None or at < c.retracted_at)]


def refuse_interval(valid_at: datetime | None, invalid_at: datetime | None) -> None:
    """Raises Refused("interval") unless the end is later than the beginning."""
    if valid_at is not None and invalid_at is not None and invalid_at <= valid_at:
        raise Refused("interval", "invalid_at: a time later than valid_at is expected")


def wording(claims: Sequence[Claim]) -> Claim:
    """The claim whose words a span takes: the owner's last claim, else the last that is materially different."""
    ordered = sorted(claims, key=lambda claim: (claim.said_at, claim_order(claim)))
    owners = [claim for claim in ordered if owned(claim)]
    if owners:
        return owners[-1]
    chosen = ordered[0]
    for claim in ordered[1:]:
        if materially_different(chosen.fact, claim.fact):
            chosen = claim
    return chosen


class _Timeline:
    """One group's claims on their tracks, and the conflicts among them."""

    def __init__(self, claims: Sequence[Claim], functional: bool) -> None:
        self._functional = functional
        self._claims = claims
        self._clashes: list[tuple[Reason, SpanDraft, SpanDraft]] = []
        self._parallel: list[tuple[SpanDraft, SpanDraft]] = []

    def projection(self) -> Projection:
        laid = _by_target(self._claims) if self._functional else _by_statement(self._claims)
        tracks = [Track(number, claims) for number, claims in enumerate(laid.tracks)]
        pieces = self._cut([period for track in tracks for period in track.dated])
        for track in tracks:
            track.settle([piece for period in track.dated for piece in pieces[period]])
            for pair in track.contested:
                self._clash("owner", *(pieces.get(side, [side]) for side in pair))
        dated = [piece for found in pieces.values() for piece in found]
        vague = [period for track in tracks for period in track.vague]
        if self._functional:
            self._compare_beginnings(dated)
            self._compare_unknown(vague, dated)
            self._compare_unsaid(dated)
        else:
            self._compare_denials([*vague, *dated])
            self._compare_unclear([*vague, *dated], laid.unclear)
        return self._result([*vague, *dated])

    def _cut(self, periods: Sequence[SpanDraft]) -> dict[SpanDraft, list[SpanDraft]]:
        """The pieces of each period after rules 4 to 6; without cuts, the period itself."""
        if not self._functional:
            return {period: [period] for period in periods}
        beginnings = [(period.track, claim) for period in periods for claim in period.claims]
        beginnings.sort(key=lambda begun: claim_order(begun[1]))
        others = {track: [c for t, c in beginnings if t != track] for track in {period.track for period in periods}}
        cuttings = {period: cut_period(period, others[period.track]) for period in periods}
        home = {c.id: piece for cutting in cuttings.values() for piece in cutting.pieces for c in piece.claims}
        for piece, claim, by_owner in (passed for cutting in cuttings.values() for passed in cutting.passed):
            if by_owner:
                self._clashes.append(("owner", piece, home[claim.id]))
            else:
                self._parallel.append((piece, home[claim.id]))
        return {period: cutting.pieces for period, cutting in cuttings.items()}

    def _clash(self, reason: Reason, these: Sequence[SpanDraft], those: Sequence[SpanDraft]) -> None:
        self._clashes += [(reason, one, other) for one, other in product(these, those) if overlapping(one, other)]

    def _compare_beginnings(self, dated: Sequence[SpanDraft]) -> None:
        """Rule 8 for functional relations."""
        for one, other in combinations(dated, 2):
            if one.track == other.track or not overlapping(one, other):
                continue
            for claim in one.claims:
                for same in other.starts_at(starts(claim)):
                    if also(claim) or also(same) or (outright(claim) and outright(same)):
                        self._parallel.append((one, other))
                    else:
                        self._clashes.append(("same_moment", one, other))

    def _compare_unknown(self, vague: Sequence[SpanDraft], dated: Sequence[SpanDraft]) -> None:
        """Rule 7 for functional relations."""
        for period in vague:
            for other in (*dated, *vague):
                if period.track == other.track or not _meets(period, other):
                    continue
                if _only_parallel(period) or _only_parallel(other):
                    self._parallel.append((period, other))
                else:
                    self._clashes.append(("unknown_date", period, other))

    def _compare_unsaid(self, dated: Sequence[SpanDraft]) -> None:
        """Rule 9."""
        for closed, running in permutations(dated, 2):
            if closed.track != running.track and closed.end == running.start and _is_doubted(closed, running):
                self._clashes.append(("unknown_date", closed, running))

    def _compare_denials(self, periods: Sequence[SpanDraft]) -> None:
        """Rule 8 for other relations."""
        for one, other in combinations(periods, 2):
            if one.track != other.track and one.end is None and other.end is None and _denied(one, other):
                self._clashes.append(("denial", one, other))

    def _compare_unclear(self, periods: Sequence[SpanDraft], unclear: Sequence[tuple[str, int]]) -> None:
        home = {claim.id: period for period in periods for claim in period.ends}
        for claim_id, track in unclear:
            ended = home[claim_id]
            self._clashes += [
                ("unclear_end", ended, period)
                for period in periods
                if period.track == track and period is not ended and period.runs_until(stops(ended))
            ]

    def _result(self, periods: Sequence[SpanDraft]) -> Projection:
        spans = {id(period): _span(period) for period in periods}
        pairs = {_pair(spans[id(one)], spans[id(other)]) for one, other in self._parallel}
        return Projection(
            spans=tuple(sorted(spans.values(), key=_order_key)),
            conflicts=tuple(_questions([(why, spans[id(a)], spans[id(b)]) for why, a, b in self._clashes])),
            parallel=tuple(sorted(pairs, key=lambda pair: (_order_key(pair[0]), _order_key(pair[1])))),
        )


@dataclass(frozen=True, slots=True)
class _Tracks:
    """Claims by track. `unclear` are ends by id, each with the number of a track that it may mean."""

    tracks: list[list[Claim]]
    unclear: list[tuple[str, int]]


def _by_target(claims: Sequence[Claim]) -> _Tracks:
    targets: dict[str, list[Claim]] = {}
    for claim in claims:
        targets.setdefault(claim.target, []).append(claim)
    return _Tracks(list(targets.values()), [])


def _by_statement(claims: Sequence[Claim]) -> _Tracks:
    """Makes a track of the claims that say the same in similar words; an end joins the track it means."""
    ends = [claim for claim in claims if claim.valid_at is None and claim.invalid_at is not None]
    tracks = _same_statements([claim for claim in claims if claim not in ends])
    found = _Tracks(tracks, [])
    homes = [_tracks_of_end(end, tracks) for end in ends]
    for end, home in zip(ends, homes, strict=True):
        if len(home) == 1:
            tracks[home[0]].append(end)
    alone = [end for end, home in zip(ends, homes, strict=True) if len(home) != 1]
    for end, home in zip(ends, homes, strict=True):
        found.unclear.extend((end.id, number) for number in home if len(home) > 1)
    tracks.extend(_same_statements(alone))
    return found


def _same_statements(claims: Sequence[Claim]) -> list[list[Claim]]:
    """Groups claims that say the same, directly or through other claims."""
    groups: list[list[Claim]] = []
    for claim in claims:
        same = [
            group
            for group in groups
            if any(not materially_different(claim.fact, same_claim.fact) for same_claim in group)
        ]
        groups = [group for group in groups if group not in same]
        groups.append([*(same_claim for group in same for same_claim in group), claim])
    return groups


def _tracks_of_end(end: Claim, tracks: Sequence[Sequence[Claim]]) -> list[int]:
    """The numbers of the tracks that an end may mean: one, if it says which or if there is only one that runs."""
    running = [
        n for n, track in enumerate(tracks) if any(starts(claim) < stops(end) <= stops(claim) for claim in track)
    ]
    same = [n for n in running if any(not materially_different(end.fact, track.fact) for track in tracks[n])]
    if same or len(running) < 2:
        return (same or running)[:1]
    likeness = {n: max(resemblance(end.fact, track.fact) for track in tracks[n]) for n in running}
    first, second = sorted(likeness.values(), reverse=True)[:2]
    return [max(running, key=lambda n: likeness[n])] if first - second >= _CLEARLY else running


def _span(period: SpanDraft) -> Span:
    text = wording(period.all_claims or period.ends)
    return Span(
        target=text.target,
        valid_at=period.start,
        invalid_at=period.end,
        claims=tuple(claim.id for claim in sorted(period.all_claims, key=claim_order)),
        ends=tuple(claim.id for claim in sorted(period.ends, key=claim_order)),
        text=text.id,
        by_owner=period.owned,
    )


def _meets(vague: SpanDraft, other: SpanDraft) -> bool:
    """Whether a span of unknown beginning conflicts with another one."""
    if vague.end is None:
        return other.end is None
    return other.start is not None and other.runs_until(vague.end)


def _only_parallel(period: SpanDraft) -> bool:
    """Whether every claim of a period was stated as one among several."""
    return bool(period.all_claims) and all(map(also, period.all_claims))


def _is_doubted(closed: SpanDraft, running: SpanDraft) -> bool:
    """Whether the running period may have ended with the one it seems to have closed: rule 9."""
    begun = running.starts_at(starts(running))
    if running.end is not None or any(claim.valid_stated or also(claim) for claim in begun):
        return False
    if closed.said_end or closed.ends:
        return False
    last = max(claim.created_at if owned(claim) else claim.said_at for claim in running.all_claims)
    return any(claim.valid_stated and not also(claim) and claim.said_at > last for claim in closed.claims)


def _denied(one: SpanDraft, other: SpanDraft) -> bool:
    return any(denies(here.fact, there.fact) for here in one.all_claims for there in other.all_claims)


def _questions(clashes: Iterable[tuple[Reason, Span, Span]]) -> list[SpanConflict]:
    """Joins clashes that share a span into one conflict."""
    questions: list[tuple[set[Reason], set[Span]]] = []
    for reason, one, other in clashes:
        shared = [question for question in questions if {one, other} & question[1]]
        questions = [question for question in questions if question not in shared]
        reasons = {reason}.union(*(question[0] for question in shared))
        questions.append((reasons, {one, other}.union(*(question[1] for question in shared))))
    found = [SpanConflict(tuple(sorted(why)), tuple(sorted(spans, key=_order_key))) for why, spans in questions]
    return sorted(found, key=lambda conflict: [_order_key(span) for span in conflict.spans])


def _pair(one: Span, other: Span) -> tuple[Span, Span]:
    return (one, other) if _order_key(one) <= _order_key(other) else (other, one)


def _order_key(span: Span) -> tuple[object, ...]:
    first = "" if span.valid_at is None else span.valid_at.isoformat()
    return (
        first,
        span.invalid_at is None,
        span.invalid_at.isoformat() if span.invalid_at else "",
        span.target,
        span.text,
    )
