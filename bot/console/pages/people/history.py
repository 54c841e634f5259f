"""Facts over time: each a bar from when it began to hold until it ended, and behind it the lines that say so."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Final

from nicegui import ui

from bot.console.elements import card, chip, words
from bot.console.page_context import PageContext
from bot.console.pages.people.source_line import lay_receipt
from bot.console.rest import Json

_DAY: Final = "d MMM y"
_MARKS: Final = 6
"""Most years or months named on the axis."""


def lay_history(seat: PageContext, facts: Sequence[Json], tone: str) -> None:
    """Facts as `/graph/nodes/{id}/facts` tells them, all versions; what holds now comes first."""
    say, now = seat.say, datetime.now(UTC)
    with card(say("people-facts")):
        if not facts:
            words("p", say("people-facts-none"), "row-title")
            words("p", say("people-facts-none-text"), "dim")
            return
        axis = _Axis(facts, now)
        with ui.element("div").classes("axis").props("aria-hidden=true"):
            for share, at, form in axis.marks():
                words("span", say.moment(at, form)).style(f"left: {share:.2f}%")
        with ui.element("ul").classes("facts-list"):
            for fact in sorted(facts, key=lambda one: _place(one, now)):
                with ui.element("li"):
                    _lay_fact(seat, fact, axis, tone, now)


class _Axis:
    """The stretch of time that is drawn, from the first beginning until now or the last end that is known."""

    def __init__(self, facts: Sequence[Json], now: datetime) -> None:
        times = [_moment(one[name]) for one in facts for name in ("valid_at", "created_at", "invalid_at")]
        known = [at for at in times if at is not None]
        self.end = max(now, *known)
        self.begin = min(*known, self.end - timedelta(days=30))
        self._span = self.end - self.begin

    def share(self, at: datetime) -> float:
        """Where a moment stands, in percent."""
        return min(100.0, max(0.0, 100 * ((at - self.begin) / self._span)))

    def marks(self) -> list[tuple[float, datetime, str]]:
        """(place in percent, moment, its pattern): years, or months of a short stretch."""
        months = (self.end.year - self.begin.year) * 12 + self.end.month - self.begin.month
        step = max(1, -(-months // _MARKS))
        step = -(-step // 12) * 12 if months > 30 else step
        found = []
        first = 12 * self.begin.year + (0 if step % 12 == 0 else self.begin.month - 1)
        for number in range(first, 12 * self.end.year + self.end.month, step):
            at = datetime(number // 12, number % 12 + 1, 1, 12, tzinfo=UTC)
            if self.begin <= at <= self.end and self.share(at) < 86:
                found.append((self.share(at), at, "y" if step % 12 == 0 else "LLL y"))
        return found


def _lay_fact(seat: PageContext, fact: Json, axis: _Axis, tone: str, now: datetime) -> None:
    state = _state(fact, now)
    kind = {"now": "", "ended": "past", "corrected": "past corrected"}[state]
    with ui.element("details").classes(f"life {kind} {tone}"):
        with ui.element("summary"):
            with ui.element("span").classes("life-words"):
                words("b", fact["fact"])
                words("span", _when(seat, fact), "life-when")
            with ui.element("span").classes("life-track").props("aria-hidden=true"):
                begin, end = _moment(fact["valid_at"]), _moment(fact["invalid_at"] or fact["expired_at"])
                left = 0.0 if begin is None else axis.share(begin)
                width = (100.0 if end is None else axis.share(end)) - left
                bar = ui.element("span").classes("life-bar" + (" open-start" if begin is None else ""))
                bar.style(f"left: {min(left, 98.5):.2f}%; width: {max(width, 0):.2f}%")
        with ui.element("div").classes("life-body"):
            _lay_why(seat, fact, state)


def _lay_why(seat: PageContext, fact: Json, state: str) -> None:
    say = seat.say
    with ui.element("div").classes("life-chips"):
        chip(say(f"people-fact-{state}"), {"now": "good", "ended": "", "corrected": "warn"}[state])
        chip(fact["name"])
    if fact["original_fact"]:
        words("p", say("people-before", words=fact["original_fact"]), "dim")
    if fact["update_reason"]:
        words("p", say("people-why", reason=fact["update_reason"]), "dim")
    if not fact["evidence"]:
        words("p", say("people-no-receipts"), "dim")
        return
    words("h3", say("people-receipts"), "details-title")
    for line in fact["evidence"]:
        lay_receipt(seat, line)


def _when(seat: PageContext, fact: Json) -> str:
    say = seat.say
    begin, end = fact["valid_at"], fact["invalid_at"]
    if begin and end:
        return say("people-fact-span", **{"from": say.moment(begin, _DAY)}, until=say.moment(end, _DAY))
    if begin:
        return say("people-fact-since", **{"from": say.moment(begin, _DAY)})
    return say("people-fact-until", until=say.moment(end, _DAY)) if end else say("people-fact-unknown")


def _state(fact: Json, now: datetime) -> str:
    if fact["expired_at"]:
        return "corrected"
    ended = _moment(fact["invalid_at"])
    return "ended" if ended is not None and ended <= now else "now"


def _place(fact: Json, now: datetime) -> tuple[int, float]:
    begin = _moment(fact["valid_at"]) or _moment(fact["created_at"]) or now
    return ("now", "ended", "corrected").index(_state(fact, now)), -begin.timestamp()


def _moment(told: str | None) -> datetime | None:
    return None if told is None else datetime.fromisoformat(told)
