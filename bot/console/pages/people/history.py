"""Facts over time: each a bar from its beginning to its end, with its sources."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Final

from nicegui import ui

from bot.console.elements import card, chip, words
from bot.console.page_context import PageContext
from bot.console.pages.people.mentions import lay_source
from bot.console.rest import Json

_MARKS: Final = 6
"""The most years or months marked on the axis."""


def lay_history(context: PageContext, facts: Sequence[Json], tone: str) -> None:
    """Shows facts as `/graph/nodes/{id}/facts` returns them, all versions; current ones first."""
    say, now = context.say, datetime.now(UTC)
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
            for fact in sorted(facts, key=lambda one: _order_key(one, now)):
                with ui.element("li"):
                    _lay_fact(context, fact, axis, tone, now)


class _Axis:
    """The period drawn: from the first beginning until now or the last known end."""

    def __init__(self, facts: Sequence[Json], now: datetime) -> None:
        times = [_moment(one[name]) for one in facts for name in ("valid_at", "created_at", "invalid_at")]
        known = [at for at in times if at is not None]
        self.end = max(now, *known)
        self.begin = min(*known, self.end - timedelta(days=30))
        self._span = self.end - self.begin

    def share(self, at: datetime) -> float:
        """The position of a moment, in percent."""
        return min(100.0, max(0.0, 100 * ((at - self.begin) / self._span)))

    def marks(self) -> list[tuple[float, datetime, str]]:
        """(position in percent, moment, its date pattern): years, or months of a short period."""
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


def _lay_fact(context: PageContext, fact: Json, axis: _Axis, tone: str, now: datetime) -> None:
    state = _state(fact, now)
    kind = {"now": "", "ended": "past", "corrected": "past corrected"}[state]
    with ui.element("details").classes(f"life {kind} {tone}"):
        with ui.element("summary"):
            with ui.element("span").classes("life-words"):
                words("b", fact["fact"])
                words("span", _when(context, fact), "life-when")
            with ui.element("span").classes("life-track").props("aria-hidden=true"):
                begin, end = _moment(fact["valid_at"]), _moment(fact["invalid_at"] or fact["expired_at"])
                left = 0.0 if begin is None else axis.share(begin)
                width = (100.0 if end is None else axis.share(end)) - left
                bar = ui.element("span").classes("life-bar" + (" open-start" if begin is None else ""))
                bar.style(f"left: {min(left, 98.5):.2f}%; width: {max(width, 0):.2f}%")
        with ui.element("div").classes("life-body"):
            _lay_why(context, fact, state)


def _lay_why(context: PageContext, fact: Json, state: str) -> None:
    say = context.say
    with ui.element("div").classes("life-chips"):
        chip(say(f"people-fact-{state}"), {"now": "good", "ended": "", "corrected": "warn"}[state])
        chip(say.relation(fact["name"]))
    if fact["original_fact"]:
        words("p", say("people-before", words=fact["original_fact"]), "dim")
    if fact["update_reason"]:
        words("p", say("people-why", reason=fact["update_reason"]), "dim")
    if not fact["evidence"]:
        words("p", say("people-no-sources"), "dim")
        return
    words("h3", say("people-sources"), "details-title")
    for line in fact["evidence"]:
        lay_source(context, line)


def _when(context: PageContext, fact: Json) -> str:
    say = context.say
    begin, end = fact["valid_at"], fact["invalid_at"]
    if begin and end:
        return say("people-fact-span", **{"from": say.day(fact, "valid_at")}, until=say.day(fact, "invalid_at"))
    if begin:
        return say("people-fact-since", **{"from": say.day(fact, "valid_at")})
    return say("people-fact-until", until=say.day(fact, "invalid_at")) if end else say("people-fact-unknown")


def _state(fact: Json, now: datetime) -> str:
    if fact["expired_at"]:
        return "corrected"
    ended = _moment(fact["invalid_at"])
    return "ended" if ended is not None and ended <= now else "now"


def _order_key(fact: Json, now: datetime) -> tuple[int, float]:
    begin = _moment(fact["valid_at"]) or _moment(fact["created_at"]) or now
    return ("now", "ended", "corrected").index(_state(fact, now)), -begin.timestamp()


def _moment(value: str | None) -> datetime | None:
    return None if value is None else datetime.fromisoformat(value)
