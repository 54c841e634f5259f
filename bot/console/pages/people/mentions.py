"""Where a person is mentioned: how often in each month, and the conversations with the very lines, newest first."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Final

from nicegui import ui

from bot.console.elements import card, chip, told, words
from bot.console.page_context import PageContext
from bot.console.pages.people.source_line import lay_receipt
from bot.console.rest import Json

_AT_ONCE: Final = 8
_MONTHS: Final = 36
"""Months that are drawn, the latest ones."""


async def lay_mentions(seat: PageContext, person_id: int) -> None:
    """The first page; more on demand. Raises Trouble."""
    found = await seat.rest.get(f"/people/{person_id}/mentions", user_id=seat.user_id, limit=_AT_ONCE)
    with card(seat.say("people-talks")):
        if not found["count"]:
            words("p", seat.say("people-talks-none"), "dim")
            return
        _lay_months(seat, found["months"])
        _Mentions(seat, person_id, found)


class _Mentions:
    def __init__(self, seat: PageContext, person_id: int, found: Json) -> None:
        self._seat, self._person_id, self._count, self._shown = seat, person_id, found["count"], 0
        self._list = ui.element("ul").classes("rows")
        self._more = ui.button(seat.say("earlier"), color=None, on_click=self._earlier).props("flat no-caps")
        self._more.classes("button")
        self._add(found["mentions"])

    def _add(self, mentions: Sequence[Json]) -> None:
        with self._list:
            for mention in mentions:
                _row(self._seat, mention)
        self._shown += len(mentions)
        self._more.set_visibility(self._shown < self._count and bool(mentions))

    async def _earlier(self) -> None:
        with told(self._seat):
            path = f"/people/{self._person_id}/mentions"
            found = await self._seat.rest.get(path, user_id=self._seat.user_id, limit=_AT_ONCE, offset=self._shown)
            self._add(found["mentions"])


def _lay_months(seat: PageContext, months: Sequence[Json]) -> None:
    counts = {one["month"]: one["count"] for one in months}
    drawn = list(_between(min(counts), max(counts)))[-_MONTHS:]
    most = max(counts.values())
    with ui.element("div").classes("months").props("role=img") as bars:
        named = [seat.say("people-month", month=_month(seat, one), count=counts[one]) for one in drawn if one in counts]
        bars.props["aria-label"] = f"{seat.say('people-by-month')}: {'; '.join(named)}"
        for one in drawn:
            bar = ui.element("div").classes("month" if one in counts else "month none")
            if one in counts:
                bar.style(f"height: {max(6.0, 100 * counts[one] / most):.0f}%")
                bar.props["title"] = seat.say("people-month", month=_month(seat, one), count=counts[one])
    with ui.element("div").classes("months-ends").props("aria-hidden=true"):
        words("span", _month(seat, drawn[0]))
        if len(drawn) > 1:
            words("span", _month(seat, drawn[-1]))


def _between(first: str, last: str) -> Iterator[str]:
    """Every month from one to another, as 2026-03."""
    begin, end = (12 * int(one[:4]) + int(one[5:]) - 1 for one in (first, last))
    for number in range(begin, end + 1):
        yield f"{number // 12:04d}-{number % 12 + 1:02d}"


def _month(seat: PageContext, month: str) -> str:
    return seat.say.moment(f"{month}-15T12:00:00+00:00", "LLL y")


def _row(seat: PageContext, mention: Json) -> None:
    say, lines = seat.say, mention["lines"]
    first = lines[0]["quote"] if lines else mention["episode_name"]
    with ui.element("li"), ui.element("details").classes("row") as row:
        with ui.element("summary"):
            words("time", say.moment(mention["at"]), "row-title")
            words("span", first if len(first) <= 140 else f"{first[:139].rstrip()}…", "row-text")
            if len(lines) > 1:
                chip(f"{len(lines)}")
        body = ui.element("div").classes("row-body")
    row.on("toggle", partial(_open, seat, mention, body), throttle=1.0)


async def _open(seat: PageContext, mention: Json, body: ui.element) -> None:
    if body.default_slot.children:
        return
    with body:
        for line in mention["lines"]:
            lay_receipt(seat, line)
        if not mention["lines"]:
            words("p", seat.say("people-no-lines"), "dim")
        whole = words("button", seat.say("people-whole-talk"), "act small").props("type=button")
        whole.on("click", partial(_whole, seat, mention["episode_uuid"], body, whole))


async def _whole(seat: PageContext, episode_id: str, body: ui.element, button: ui.element) -> None:
    with told(seat):
        episode = await seat.rest.get(f"/graph/episodes/{episode_id}", user_id=seat.user_id)
        button.delete()
        with body:
            words("pre", episode["content"], "exact").props("tabindex=0")
