"""How the house is: what was found, what waits, what was given up, and the backups; an owner sees his own part."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any, Final

from nicegui import ui

from bot.console.elements import card, chip, heading, style, told, words
from bot.console.lists import answers, button, dollars, figure, figures, question
from bot.console.page import Page
from bot.console.page_context import PageContext
from bot.console.phrases import Phrases
from bot.console.rest import Json

_SIGNS: Final = {"ok": "check_circle", "note": "info", "finding": "error"}
_ORDER: Final = ("finding", "note", "ok")
_STATES: Final = ("due", "claimed", "replied", "applied", "dead")
_SHOWN_BACKUPS: Final = 8


async def build(seat: PageContext) -> None:
    """The chosen owner's own figures, and for the admin those of the house."""
    style("records")
    if seat.user_id is not None:
        await _own(seat)
    if seat.admin:
        house = ui.element("div")
        await _HealthView(seat, house).show()


async def _own(seat: PageContext) -> None:
    say = seat.say
    status = await seat.rest.get("/graph/status", group_id=str(seat.user_id), user_id=seat.user_id)
    kind = "bad" if status["dead"] else "warn" if status["waiting"] else "good"
    tasks = await seat.rest.get("/tasks", user_id=seat.user_id, state="open", limit=1)
    spend = await seat.rest.get("/spend", user_id=seat.user_id, days=1)
    if seat.admin:
        _title(str(seat.user["name"] if seat.user is not None else seat.user_id))
    else:
        text = "dead" if status["dead"] else "waiting" if status["waiting"] else "well"
        words("p", say(f"health-{text}"), "lead").props("role=status")
    with figures():
        figure(say("health-waiting-runs"), say.number(status["waiting"]), kind if status["waiting"] else "")
        figure(say("health-dead-runs"), say.number(status["dead"]), "bad" if status["dead"] else "")
        for name in ("episodes", "facts", "people"):
            figure(say(f"health-{name}"), say.number(status[name]))
        figure(say("health-tasks"), say.number(tasks["count"]))
        figure(say("health-spent"), dollars(sum(one["cost_usd"] for one in spend["spent"])))


def _title(text: str) -> None:
    heading(text, 2).classes("part-title")


def found(say: Phrases, check: Json) -> tuple[str, str]:
    """What a check told and how it is mended, in the reader's language; the check's own English where it has none."""
    values = {name: _value(say, name, value) for name, value in check["values"].items()}
    name = f"found-{check['key']}"
    return say.known(name, check["told"], **values), say.known(f"{name}-fix", check["fix"], **values)


def _value(say: Phrases, name: str, value: str | int | float) -> str | int | float:
    if name.endswith("_at"):
        return say.moment(str(value))
    return say.span(timedelta(seconds=value)) if name.endswith("_seconds") and not isinstance(value, str) else value


class _HealthView:
    """Everything that an operator looks at, laid anew after whatever he did."""

    def __init__(self, seat: PageContext, place: ui.element) -> None:
        self._seat, self._place = seat, place

    async def show(self) -> None:
        rest = self._seat.rest
        queues = await rest.post("/admin/queues")
        checks = await rest.post("/admin/doctor")
        aside = await rest.post("/admin/quarantine")
        dead = await rest.post("/admin/runs/dead")
        self._place.clear()
        with self._place:
            if self._seat.user_id is not None:
                _title(self._seat.say("health-house"))
            self._figures(queues, aside, dead)
            self._dead(dead)
            self._aside(aside)
            self._checks(checks)
            with ui.element("div").classes("two"):
                self._runs(queues["runs"])
                self._backups(queues["backups"])

    def _figures(self, queues: Json, aside: list[Json], dead: list[Json]) -> None:
        say = self._seat.say
        with figures():
            figure(say("health-unread"), say.number(queues["unread"]), "warn" if queues["unread"] else "")
            figure(say("health-owed"), say.number(queues["owed"]), "warn" if queues["owed"] else "")
            due = sum(one["count"] for one in queues["runs"] if one["state"] in {"due", "claimed", "replied"})
            figure(say("health-waiting-runs"), say.number(due))
            figure(say("health-dead-runs"), say.number(len(dead)), "bad" if dead else "")
            figure(say("health-aside"), say.number(len(aside)), "bad" if aside else "")

    def _checks(self, checks: list[Json]) -> None:
        say = self._seat.say
        with card(say("health-checks")), ui.element("ul").classes("rows"):
            for check in sorted(checks, key=lambda one: _ORDER.index(one["level"])):
                with ui.element("li").classes(f"check {check['level']}"):
                    ui.icon(_SIGNS[check["level"]]).props("role=img").props["aria-label"] = say(
                        f"check-{check['level']}"
                    )
                    words("div", say.known(f"check-{check['name'].replace(' ', '-')}", check["name"]), "check-name")
                    told, fix = found(say, check)
                    words("div", told, "check-told")
                    if fix:
                        words("div", fix, "check-fix")

    def _dead(self, dead: list[Json]) -> None:
        say = self._seat.say
        if not dead:
            return
        names = {user["user_id"]: user["name"] for user in self._seat.users}
        with card(say("health-dead-runs")):
            with ui.element("ul").classes("rows"):
                for run in dead:
                    with ui.element("li").classes("put-aside"):
                        words("span", say.known(f"agent-{run['agent']}", run["agent"]), "row-title")
                        words("span", run["error"], "row-text")
                        words("span", names.get(run["user_id"], str(run["user_id"])), "row-aside")
                        words("time", say.moment(run["created_at"]), "row-aside")
            with ui.element("div").classes("actions"):
                button(say("health-revive"), partial(self._do, "/admin/runs/revive", {}), icon="replay", quiet=True)

    def _aside(self, aside: list[Json]) -> None:
        say = self._seat.say
        if not aside:
            return
        with card(say("health-aside")), ui.element("ul").classes("rows"):
            for update in aside:
                with ui.element("li").classes("put-aside"):
                    words("span", say("health-update", n=update["n"]), "row-title")
                    words("span", update["error"], "row-text")
                    words("time", say.moment(update["received_at"]), "row-aside")
                    order = {"n": update["n"]}
                    replay = partial(self._do, "/admin/quarantine/replay", order)
                    button(say("health-replay"), replay, quiet=True)
                    button(say("health-drop"), partial(self._ask_to_drop, update["n"]), quiet=True)

    def _ask_to_drop(self, n: int) -> None:
        say = self._seat.say
        with question(say("health-drop-title")) as dialog:
            words("p", say("health-drop-text"), "dim")
            answers(self._seat, dialog, say("health-drop"), partial(self._order, "/admin/quarantine/drop", {"n": n}))
        dialog.open()

    def _runs(self, counted: list[Json]) -> None:
        say = self._seat.say
        with card(say("health-runs")):
            if not counted:
                words("p", say("health-no-runs"), "dim")
                return
            found = {(one["agent"], one["state"]): one["count"] for one in counted}
            with ui.element("div").classes("scroll-x").props("tabindex=0 role=region") as scroll:
                scroll.props["aria-label"] = say("health-runs")
                with ui.element("table").classes("sheet"):
                    with ui.element("tr"):
                        words("th", say("health-agent")).props("scope=col")
                        for state in _STATES:
                            words("th", say(f"run-{state}"), "amount").props("scope=col")
                    for agent in sorted({one["agent"] for one in counted}):
                        with ui.element("tr"):
                            words("td", say.known(f"agent-{agent}", agent))
                            for state in _STATES:
                                words("td", say.number(found.get((agent, state), 0)), "amount")

    def _backups(self, backups: list[Json]) -> None:
        say = self._seat.say
        with card(say("health-backups")):
            if not backups:
                words("p", say("health-no-backups"), "dim")
            with ui.element("ul").classes("rows"):
                for made in backups[:_SHOWN_BACKUPS]:
                    with ui.element("li").classes("put-aside"):
                        words("time", say.moment(made["at"]), "row-title")
                        words("span", say.ago(made["at"], datetime.now(UTC)), "row-text")
                        chip(say("health-size", count=round(made["size"] / 1e6, 1)))
            with ui.element("div").classes("actions"):
                button(say("health-back-up"), partial(self._do, "/admin/backup", {}), icon="save", quiet=True)

    async def _do(self, path: str, body: dict[str, Any]) -> None:
        with told(self._seat):
            await self._order(path, body)

    async def _order(self, path: str, body: dict[str, Any]) -> None:
        await self._seat.rest.post(path, body)
        ui.notify(self._seat.say("health-done"), type="positive")
        await self.show()


HEALTH = Page("health", "/health", "monitor_heart", "h", build, everybody=True)
