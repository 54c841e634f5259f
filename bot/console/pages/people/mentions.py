"""Where a person is mentioned: how often in each month, and the conversations with the exact lines, newest first."""

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Final

from nicegui import ui

from bot.console.elements import card, chip, trouble_notice, words
from bot.console.page_context import PageContext
from bot.console.rest import Json


def lay_source(context: PageContext, line: Json) -> None:
    say = context.say
    with ui.element("blockquote").classes("quote"):
        words("p", line["quote"])
        with ui.element("footer"):
            if line["speaker"]:
                words("span", line["speaker"])
            if line["forwarded_from"]:
                words("span", say("people-forwarded", name=line["forwarded_from"]))
            words("time", say.moment(line["at"]))
            for address, name in ((line["telegram_link"], "message"), (line["url"], "source")):
                # Other schemes than the web's could run code.
                if address and address.startswith(("https://", "http://")):
                    link = words("a", say(f"people-open-{name}")).props('target="_blank" rel="noopener noreferrer"')
                    link.props["href"] = address


_AT_ONCE: Final = 8
_MONTHS: Final = 36
"""The most months that are drawn, counted from the latest."""


async def lay_mentions(context: PageContext, person_id: int) -> None:
    """Lays out the first page; more on demand. Raises Trouble."""
    found = await context.rest.get(f"/people/{person_id}/mentions", user_id=context.user_id, limit=_AT_ONCE)
    with card(context.say("people-talks")):
        if not found["count"]:
            words("p", context.say("people-talks-none"), "dim")
            return
        _lay_months(context, found["months"])
        _Mentions(context, person_id, found)


class _Mentions:
    def __init__(self, context: PageContext, person_id: int, found: Json) -> None:
        self._context, self._person_id, self._count, self._shown = context, person_id, found["count"], 0
        self._list = ui.element("ul").classes("rows")
        self._more = ui.button(context.say("earlier"), color=None, on_click=self._earlier).props("flat no-caps")
        self._more.classes("button")
        self._add(found["mentions"])

    def _add(self, mentions: Sequence[Json]) -> None:
        with self._list:
            for mention in mentions:
                _row(self._context, mention)
        self._shown += len(mentions)
        self._more.set_visibility(self._shown < self._count and bool(mentions))

    async def _earlier(self) -> None:
        with trouble_notice(self._context):
            path = f"/people/{self._person_id}/mentions"
            found = await self._context.rest.get(
                path, user_id=self._context.user_id, limit=_AT_ONCE, offset=self._shown
            )
            self._add(found["mentions"])


def _lay_months(context: PageContext, months: Sequence[Json]) -> None:
    counts = {one["month"]: one["count"] for one in months}
    drawn = list(_between(min(counts), max(counts)))[-_MONTHS:]
    most = max(counts.values())
    with ui.element("div").classes("months").props("role=img") as bars:
        named = [
            context.say("people-month", month=_month(context, one), count=counts[one]) for one in drawn if one in counts
        ]
        bars.props["aria-label"] = f"{context.say('people-by-month')}: {'; '.join(named)}"
        for one in drawn:
            bar = ui.element("div").classes("month" if one in counts else "month none")
            if one in counts:
                bar.style(f"height: {max(6.0, 100 * counts[one] / most):.0f}%")
                bar.props["title"] = context.say("people-month", month=_month(context, one), count=counts[one])
    with ui.element("div").classes("months-ends").props("aria-hidden=true"):
        words("span", _month(context, drawn[0]))
        if len(drawn) > 1:
            words("span", _month(context, drawn[-1]))


def _between(first: str, last: str) -> Iterator[str]:
    """Every month from `first` to `last`, in the form 2026-03."""
    begin, end = (12 * int(one[:4]) + int(one[5:]) - 1 for one in (first, last))
    for number in range(begin, end + 1):
        yield f"{number // 12:04d}-{number % 12 + 1:02d}"


def _month(context: PageContext, month: str) -> str:
    return context.say.moment(f"{month}-15T12:00:00+00:00", "LLL y")


def _row(context: PageContext, mention: Json) -> None:
    say, lines = context.say, mention["lines"]
    first = lines[0]["quote"] if lines else say.source(mention["episode_name"])
    with ui.element("li"), ui.element("details").classes("row") as row:
        with ui.element("summary"):
            words("time", say.moment(mention["at"]), "row-title")
            words("span", first if len(first) <= 140 else f"{first[:139].rstrip()}…", "row-text")
            if len(lines) > 1:
                chip(f"{len(lines)}")
        body = ui.element("div").classes("row-body")
    row.on("toggle", partial(_open, context, mention, body), throttle=1.0)


async def _open(context: PageContext, mention: Json, body: ui.element) -> None:
    if body.default_slot.children:
        return
    with body:
        for line in mention["lines"]:
            lay_source(context, line)
        if not mention["lines"]:
            words("p", context.say("people-no-lines"), "dim")
        whole = words("button", context.say("people-whole-talk"), "act small").props("type=button")
        whole.on("click", partial(_whole, context, mention["episode_uuid"], body, whole))


async def _whole(context: PageContext, episode_id: str, body: ui.element, button: ui.element) -> None:
    with trouble_notice(context):
        episode = await context.rest.get(f"/graph/episodes/{episode_id}", user_id=context.user_id)
        button.delete()
        with body:
            words("pre", episode["content"], "exact").props("tabindex=0")
