"""The first half of the time rules: makes periods of the claims on one track, and closes them by other tracks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from internal.knowledge.claims.changes import ALSO
from internal.knowledge.model import Claim

_LONG_AGO = datetime.min.replace(tzinfo=UTC)
_NEVER = datetime.max.replace(tzinfo=UTC)


@dataclass(slots=True, eq=False)
class SpanDraft:
    """A span under construction. `said_end`: a claim with both dates stated its end, so an end without a beginning
    does not change it. `undated` are claims that support it without a date."""

    track: int
    start: datetime | None
    end: datetime | None
    claims: list[Claim] = field(default_factory=list)
    undated: list[Claim] = field(default_factory=list)
    ends: list[Claim] = field(default_factory=list)
    said_end: bool = False

    @property
    def owned(self) -> bool:
        """Whether the owner himself said it."""
        return any(map(owned, (*self.claims, *self.undated, *self.ends)))

    @property
    def all_claims(self) -> list[Claim]:
        return [*self.claims, *self.undated]

    def runs_until(self, moment: datetime) -> bool:
        """Whether it began before this moment and lasts up to it."""
        return starts(self) < moment <= stops(self)

    def starts_at(self, moment: datetime) -> list[Claim]:
        return [claim for claim in self.claims if claim.valid_at == moment]


def starts(interval: SpanDraft | Claim) -> datetime:
    """The beginning; an unknown one is long ago."""
    at = interval.start if isinstance(interval, SpanDraft) else interval.valid_at
    return _LONG_AGO if at is None else at


def stops(interval: SpanDraft | Claim) -> datetime:
    """The end; an open one is never."""
    at = interval.end if isinstance(interval, SpanDraft) else interval.invalid_at
    return _NEVER if at is None else at


def overlapping(one: SpanDraft, other: SpanDraft) -> bool:
    return starts(one) < stops(other) and starts(other) < stops(one)


def owned(claim: Claim) -> bool:
    return claim.set_by == "owner"


def also(claim: Claim) -> bool:
    """Whether the claim was stated as one among several."""
    return claim.attributes.get(ALSO) is True


def outright(claim: Claim) -> bool:
    """Whether both dates of the claim are known."""
    return claim.valid_at is not None and claim.invalid_at is not None


def claim_order(claim: Claim) -> tuple[Any, ...]:
    """The key of a total order of claims; the time of arrival counts only between claims equal in all else."""
    return (starts(claim), stops(claim), not owned(claim), claim.said_at, claim.target, claim.fact, claim.id)


class Track:
    """The claims about one target (or of one statement) in the order of their own time, as periods.

    `contested` are pairs of periods of which one would change what the owner said. First dated claims are laid in order
    of time; `settle` lays the others when it is known which period is still open.
    """

    def __init__(self, number: int, claims: Sequence[Claim]) -> None:
        self.number = number
        self.dated: list[SpanDraft] = []
        self.vague: list[SpanDraft] = []
        self.contested: list[tuple[SpanDraft, SpanDraft]] = []
        self._undated = [claim for claim in claims if claim.valid_at is None and claim.invalid_at is None]
        self._loose: list[tuple[Claim, SpanDraft | None]] = []
        dated = [claim for claim in claims if claim.valid_at is not None]
        ends = [claim for claim in claims if claim.valid_at is None and claim.invalid_at is not None]
        timed = [(starts(claim), 1, claim_order(claim), claim) for claim in dated]
        timed += [(stops(claim), 0, claim_order(claim), claim) for claim in ends]
        for moment, begins, _, claim in sorted(timed, key=lambda event: event[:3]):
            if begins:
                self._begin(claim, moment)
            elif (lost := self._end(claim, moment)) is not None:
                self._loose.append((claim, lost.against))

    def settle(self, pieces: Sequence[SpanDraft]) -> None:
        """Lays undated claims: on the open piece of this track, else beside it with claims that only state an end."""
        ended = self._vague_end([claim for claim, _ in self._loose])
        still = [piece for piece in pieces if piece.end is None]
        for claim in self._undated:
            home = still[-1] if still else self._vague_home(claim, ended)
            home.undated.append(claim)
        if ended is not None:
            against = [period for _, period in self._loose if period is not None]
            against += [period for period in self.vague if period.owned and not ended.owned]
            self.contested += [(period, ended) for period in {id(period): period for period in against}.values()]

    def _vague_home(self, claim: Claim, ended: SpanDraft | None) -> SpanDraft:
        """The period of an undated claim: the ended one, unless it was said after the end or only the owner said it."""
        if ended is None or (owned(claim) and not ended.owned):
            return self._standing()
        return ended if claim.said_at <= max(end.said_at for end in ended.ends) else self._standing()

    def _begin(self, claim: Claim, moment: datetime) -> None:
        running = [period for period in self.dated if stops(period) >= moment]
        for period in running:
            if _agree(period, claim):
                _join(period, claim)
                # A period that touched it overlaps it now, if the claim goes on beyond the point where both met.
                beneath = [other for other in running if other is not period and overlapping(period, other)]
                self.contested += [(period, other) for other in beneath]
                return
        fresh = SpanDraft(self.number, moment, claim.invalid_at, [claim], said_end=claim.invalid_at is not None)
        self.dated.append(fresh)
        self.contested += [(period, fresh) for period in running if stops(period) > moment]

    def _end(self, claim: Claim, moment: datetime) -> _UndatedEnd | None:
        """Ends the running period. Returns the end if no period is ended by it."""
        running = [period for period in self.dated if period.runs_until(moment)]
        if running:
            period = max(running, key=lambda one: (one.owned == owned(claim), starts(one)))
            if period.owned and not owned(claim) and period.end != moment:
                return _UndatedEnd(period)
            if period.end is None or (owned(claim) and not period.owned):
                period.end, period.said_end = moment, False
            period.ends.append(claim)
            return None
        earlier = [period for period in self.dated if starts(period) < moment]
        if earlier and not earlier[-1].said_end:
            earlier[-1].ends.append(claim)
            return None
        return _UndatedEnd(None)

    def _vague_end(self, ends: Sequence[Claim]) -> SpanDraft | None:
        if not ends:
            return None
        first = min(ends, key=lambda claim: (not owned(claim), stops(claim)))
        period = SpanDraft(self.number, None, first.invalid_at, ends=list(ends))
        self.vague.append(period)
        return period

    def _standing(self) -> SpanDraft:
        for period in self.vague:
            if period.end is None:
                return period
        self.vague.append(SpanDraft(self.number, None, None))
        return self.vague[-1]


@dataclass(frozen=True, slots=True)
class _UndatedEnd:
    """An end that ended nothing; `against` is the owner's period that it may not end."""

    against: SpanDraft | None


def _agree(period: SpanDraft, claim: Claim) -> bool:
    """Whether a claim may join: it must not touch or move an end if only one side is the owner's word."""
    if period.owned == owned(claim):
        return True
    if period.end == claim.valid_at:
        return False
    if period.owned:
        return claim.invalid_at in (None, period.end)
    return period.end in (None, claim.invalid_at)


def _join(period: SpanDraft, claim: Claim) -> None:
    if period.end == claim.valid_at:
        period.end, period.said_end = claim.invalid_at, claim.invalid_at is not None
    elif claim.invalid_at is not None:
        period.end = max(period.end or claim.invalid_at, claim.invalid_at)
        period.said_end = True
    period.claims.append(claim)


@dataclass(slots=True)
class CutPeriod:
    """A period cut at claims that begin later on other tracks. `passed` are claims that could have closed a piece and
    did not, with whether only the owner's word kept it open."""

    pieces: list[SpanDraft]
    passed: list[tuple[SpanDraft, Claim, bool]]


def cut_period(period: SpanDraft, others: Sequence[Claim]) -> CutPeriod:
    """Closes a dated period at the claims of other targets (in order of time), and opens a new piece at its next own
    claim. A claim from exactly the same moment as one of its own closes nothing."""
    cutting = CutPeriod([], [])
    waiting = list(period.claims)
    piece: SpanDraft | None = None
    for other in others:
        if not starts(period) < starts(other) < stops(period):
            continue
        piece = _advance(cutting, period, piece, waiting, other)
        if piece is None or piece.starts_at(starts(other)):
            continue
        if also(other) or _outright_both(piece, other):
            cutting.passed.append((piece, other, False))
        elif piece.owned and not owned(other):
            cutting.passed.append((piece, other, True))
        else:
            piece.end = other.valid_at
            piece = None
    _advance(cutting, period, piece, waiting, None)
    _assign_ends(period, cutting.pieces)
    return cutting


def _advance(
    cutting: CutPeriod, period: SpanDraft, piece: SpanDraft | None, waiting: list[Claim], until: Claim | None
) -> SpanDraft | None:
    """Adds the period's own claims up to `until` to the open piece, or to a new one. Returns that piece."""
    while waiting and (until is None or starts(waiting[0]) <= starts(until)):
        claim = waiting.pop(0)
        if piece is None:
            piece = SpanDraft(period.track, claim.valid_at, period.end, said_end=period.said_end)
            cutting.pieces.append(piece)
        piece.claims.append(claim)
    return piece


def _outright_both(piece: SpanDraft, other: Claim) -> bool:
    if not outright(other):
        return False
    return any(outright(claim) and starts(claim) < starts(other) < stops(claim) for claim in piece.claims)


def _assign_ends(period: SpanDraft, pieces: Sequence[SpanDraft]) -> None:
    """Gives each end to the last piece that began before it."""
    for end in period.ends:
        [piece for piece in pieces if starts(piece) < stops(end)][-1].ends.append(end)
