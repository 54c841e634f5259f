"""The strength of each memory, its forecast, and the day it fades."""

from datetime import datetime, timedelta
from functools import partial
from typing import Any, Final

from nicegui import ui

from bot.console.charts import COLOURS, chart, colour
from bot.console.elements import card, empty_list, style, words
from bot.console.lists import AT_ONCE, Choices, EmptyText, GrowingList, figure, figures, meter
from bot.console.page_context import Page, PageContext
from bot.console.rest import Json

_CURVES: Final = 8
"""The most curves of a chart; more could not be distinguished."""
_POINTS: Final = 60
_BEFORE, _AHEAD = timedelta(days=180), timedelta(days=365)
_NOTHING: Final = EmptyText("psychology_alt", "memory-empty", "memory-empty-text")


async def build(context: PageContext) -> None:
    """Lays out the memories that fade soonest."""
    style("records")
    await _Memory(context).show("weakest")


class _Memory:
    """The figures, both charts, and the memories, weakest or strongest first."""

    def __init__(self, context: PageContext) -> None:
        self._context = context
        self._begun: Json = {}
        self._all = ui.element("div")
        options = {one: context.say(f"memory-{one}") for one in ("weakest", "strongest")}
        with self._all:
            self._figures = ui.element("div")
            with ui.element("div").classes("toolbar"):
                Choices(context, context.say("memory-which"), options, "weakest", self.show)
            self._charts = ui.element("div")
            with card(context.say("memory-list"), "list-card"):
                self._list = GrowingList(context, partial(self._listed, "weakest"), self._row, _NOTHING)
        self._none = ui.element("div")

    async def show(self, first: str) -> None:
        found = await self._context.rest.get(
            "/memory/strength", user_id=self._context.user_id, first=first, limit=AT_ONCE
        )
        self._none.clear()
        self._all.set_visibility(bool(found["count"]))
        if not found["count"]:
            with self._none:
                empty_list(_NOTHING.icon, self._context.say(_NOTHING.title), self._context.say(_NOTHING.text))
            return
        self._figures.clear()
        with self._figures:
            self._rates(found)
        self._charts.clear()
        with self._charts, ui.element("div").classes("two"):
            with card(self._context.say("memory-curves")):
                self._curves(found)
            with card(self._context.say("memory-spread")):
                self._spread(found["spread"])
        self._forget_below, self._at, self._rows = found["forget_below"], found["at"], 0
        self._begun = found
        await self._list.show(partial(self._listed, first))

    async def _listed(self, first: str, offset: int) -> tuple[list[Json], int]:
        query = {"user_id": self._context.user_id, "first": first, "limit": AT_ONCE, "offset": offset}
        # The first rows came with the figures.
        found = await self._context.rest.get("/memory/strength", **query) if offset else self._begun
        return found["memories"], found["count"]

    def _rates(self, found: Json) -> None:
        say = self._context.say
        half = found["half_life_days"]
        with figures():
            figure(say("memory-count"), say.number(found["count"]))
            figure(say("memory-half-life"), say("memory-days", days=round(half)) if half else say("memory-never"))
            figure(say("memory-weak"), say.number(sum(found["spread"][:3])), "warn" if sum(found["spread"][:3]) else "")
            figure(say("memory-forget-below"), _percent(found["forget_below"]))

    def _curves(self, found: Json) -> None:
        """A chart with the strength of each memory from its last use on, into the future if it is not used."""
        say, now = self._context.say, datetime.fromisoformat(found["at"])
        series: list[dict[str, Any]] = [
            {
                "name": _short(one["summary"]),
                "type": "line",
                "smooth": True,
                "showSymbol": False,
                "data": _curve(one, now),
            }
            for one in found["memories"][:_CURVES]
        ]
        lines: list[dict[str, Any]] = [{"xAxis": _ms(now), "label": {"formatter": say("memory-today")}}]
        if found["forget_below"]:
            lines.append({"yAxis": found["forget_below"], "label": {"show": False}})
        style_of = {":color": colour("--dim"), "type": "dashed"}
        mark = {
            "symbol": "none",
            "silent": True,
            "data": lines,
            "lineStyle": style_of,
            "label": {":color": colour("--dim")},
        }
        if series:
            series[0]["markLine"] = mark
        options = {
            "tooltip": {"trigger": "item", ":valueFormatter": _AS_PERCENT},
            "grid": {"left": 8, "right": 16, "top": 24, "bottom": 8, "containLabel": True},
            "xAxis": {
                "type": "time",
                "min": _ms(now - _BEFORE),
                "max": _ms(now + _AHEAD),
                "axisLabel": {"formatter": "{MM}.{yyyy}", "hideOverlap": True},
            },
            "yAxis": {"type": "value", "min": 0, "max": 1, "axisLabel": {":formatter": _AS_PERCENT}},
            "series": series,
        }
        chart(options, say("memory-curves-chart"))
        if found["forget_below"]:
            words("p", say("memory-offered", share=_percent(found["forget_below"])), "chart-note")

    def _spread(self, spread: list[int]) -> None:
        say = self._context.say
        names = [f"{n * 10}–{n * 10 + 10}%" for n in range(len(spread))]
        options = {
            "tooltip": {"trigger": "axis"},
            "grid": {"left": 8, "right": 8, "top": 24, "bottom": 8, "containLabel": True},
            "xAxis": {"type": "category", "data": names, "axisLabel": {":formatter": _FROM}},
            "yAxis": {"type": "value", "minInterval": 1},
            "series": [{"name": say("memory-count"), "type": "bar", "data": spread, "barMaxWidth": 30}],
        }
        chart(options, say("memory-spread-chart"))

    def _row(self, one: Json) -> None:
        say = self._context.say
        left = _percent(one["retention"])
        kind = "bad" if one["retention"] < self._forget_below else "warn" if one["retention"] < 0.3 else ""
        with ui.element("li").classes("memory-row"):
            with ui.element("span").classes("fact-words"):
                if self._rows < min(_CURVES, len(COLOURS)):
                    ui.element("span").classes("curve-dot").style(f"background: var({COLOURS[self._rows]})")
                words("span", one["summary"])
            with ui.element("span").classes("memory-left"):
                meter(one["retention"], say("memory-left", share=left), kind)
                words("span", left).props("aria-hidden=true")
            with ui.element("span").classes("memory-meta"):
                words("span", say("memory-since", day=say.moment(one["created"], "d MMM y")))
                words("span", say("memory-used", count=one["access_count"]))
                if one["last_accessed"]:
                    words("span", say("memory-last", day=say.moment(one["last_accessed"], "d MMM y")))
                if one["faded_at"]:
                    phrase = "memory-faded" if one["faded_at"] < self._at else "memory-fades"
                    words("span", say(phrase, day=say.moment(one["faded_at"], "LLLL y")))
        self._rows += 1


_AS_PERCENT: Final = "(value) => Math.round((Array.isArray(value) ? value[1] : value) * 100) + '%'"


_FROM: Final = "(name) => name.split('–')[0] + '%'"
"""JavaScript for the label at the beginning of a bar: the whole range would be slanted."""


def _curve(one: Json, now: datetime) -> list[list[float]]:
    """Points of (milliseconds, retention)."""
    used = max(datetime.fromisoformat(one["created"]), datetime.fromisoformat(one["last_accessed"] or one["created"]))
    begin, end = max(used, now - _BEFORE), now + _AHEAD
    points = []
    for n in range(_POINTS + 1):
        at = begin + (end - begin) * n / _POINTS
        half = one["half_life_days"]
        lives = (at - used) / timedelta(days=half) if half else 0.0
        points.append([_ms(at), round(one["confidence"] * 2.0**-lives, 4)])
    return points


def _ms(moment: datetime) -> float:
    return round(moment.timestamp() * 1000)


def _percent(share: float) -> str:
    return f"{round(share * 100)}%"


def _short(text: str) -> str:
    return text if len(text) <= 48 else f"{text[:47].rstrip()}…"


MEMORY = Page("memory", "/memory", "show_chart", "y", build)
