"""What the models cost, by day and by agent, beside the daily limit."""

from datetime import date, timedelta
from typing import Any, Final

from babel.dates import format_date
from nicegui import ui

from bot.console.charts import chart
from bot.console.elements import card, empty_list, style, words
from bot.console.lists import Choices, dollars, figure, figures
from bot.console.page_context import Page, PageContext
from bot.console.rest import Json

_SPANS: Final = (7, 30, 90)


async def build(context: PageContext) -> None:
    """Lays out the last thirty days."""
    style("records")
    with ui.element("div").classes("toolbar"):
        costs = _Costs(context)
        Choices(
            context,
            context.say("costs-span"),
            {str(one): context.say("costs-days", days=one) for one in _SPANS},
            "30",
            costs.show,
        )
        ui.element("div").classes("toolbar-space")
        words("a", context.say("costs-calls")).props["href"] = context.at("/calls")
    costs.lay()
    await costs.show("30")


class _Costs:
    """The figures and charts, laid out again for each period."""

    def __init__(self, context: PageContext) -> None:
        self._context = context

    def lay(self) -> None:
        self._box = ui.element("div")

    async def show(self, days: str) -> None:
        found = await self._context.rest.get("/spend", user_id=self._context.user_id, days=int(days))
        self._box.clear()
        with self._box:
            if not found["spent"]:
                empty_list("savings", self._context.say("costs-empty"), self._context.say("costs-empty-text"))
                return
            self._figures(found)
            with card(self._context.say("costs-by-day")):
                self._chart(found)
            with card(self._context.say("costs-by-agent")):
                self._table(found["spent"])

    def _figures(self, found: Json) -> None:
        say, spent = self._context.say, found["spent"]
        today = sum(one["cost_usd"] for one in spent if one["day"] == found["last"])
        total = sum(one["cost_usd"] for one in spent)
        days = (date.fromisoformat(found["last"]) - date.fromisoformat(found["first"])).days + 1
        limit = found["daily_limit_usd"] if self._context.user_id is not None else 0
        with figures():
            figure(say("costs-today"), dollars(today), "bad" if limit and today >= limit else "")
            if limit:
                figure(say("costs-limit"), dollars(limit))
            figure(say("costs-total", days=days), dollars(total))
            figure(say("costs-mean"), dollars(total / days))
            figure(say("costs-count"), say.number(sum(one["calls"] for one in spent)))

    def _chart(self, found: Json) -> None:
        say = self._context.say
        first, last = date.fromisoformat(found["first"]), date.fromisoformat(found["last"])
        days = [(first + timedelta(days=n)).isoformat() for n in range((last - first).days + 1)]
        costs = {(one["agent"], one["day"]): one["cost_usd"] for one in found["spent"]}
        series: list[dict[str, Any]] = [
            {
                "name": say.known(f"agent-{agent}", agent),
                "type": "bar",
                "stack": "all",
                "barMaxWidth": 26,
                "data": [round(costs.get((agent, day), 0), 6) for day in days],
            }
            for agent in _agents(found["spent"])
        ]
        labels = [format_date(date.fromisoformat(day), "d MMM", locale=say.language) for day in days]
        options = {
            "tooltip": {"trigger": "axis", ":valueFormatter": "(value) => '$' + value.toFixed(4)"},
            "legend": {"bottom": 0},
            "grid": {"left": 8, "right": 8, "top": 16, "bottom": 56, "containLabel": True},
            "xAxis": {"type": "category", "data": labels},
            "yAxis": {"type": "value", "axisLabel": {":formatter": "(value) => '$' + value"}},
            "series": series,
        }
        chart(options, say("costs-chart"))

    def _table(self, spent: list[Json]) -> None:
        say = self._context.say
        with ui.element("div").classes("scroll-x").props("tabindex=0 role=region") as scroll:
            scroll.props["aria-label"] = say("costs-by-agent")
            with ui.element("table").classes("sheet"):
                with ui.element("tr"):
                    words("th", say("costs-agent")).props("scope=col")
                    for name in ("calls", "tokens", "dollars"):
                        words("th", say(f"costs-{name}-head"), "amount").props("scope=col")
                for agent in _agents(spent):
                    own = [one for one in spent if one["agent"] == agent]
                    with ui.element("tr"):
                        words("td", say.known(f"agent-{agent}", agent))
                        words("td", say.number(sum(one["calls"] for one in own)), "amount")
                        words("td", say.number(sum(one["tokens"] for one in own)), "amount")
                        words("td", dollars(sum(one["cost_usd"] for one in own)), "amount")


def _agents(spent: list[Json]) -> list[str]:
    """The agents, most expensive first."""
    costs: dict[str, float] = {}
    for one in spent:
        costs[one["agent"]] = costs.get(one["agent"], 0) + one["cost_usd"]
    return sorted(costs, key=lambda agent: (-costs[agent], agent))


COSTS = Page("costs", "/costs", "payments", "o", build, everybody=True)
