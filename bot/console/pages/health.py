"""The state of the bot: health checks, what waits, what failed, and the backups; an owner sees only his own part."""

from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any, Final

from nicegui import ui

from bot.console.elements import card, chip, heading, style, trouble_notice, words
from bot.console.lists import answers, button, dollars, figure, figures, question
from bot.console.page_context import Page, PageContext
from bot.console.phrases import Phrases
from bot.console.rest import Json

_SIGNS: Final = {"ok": "check_circle", "note": "info", "finding": "error"}
_ORDER: Final = ("finding", "note", "ok")
_STATES: Final = ("due", "claimed", "replied", "applied", "dead")
_SHOWN_BACKUPS: Final = 8


async def build(context: PageContext) -> None:
    """Lays out the chosen owner's figures, and for the admin those of the whole bot."""
    style("records")
    if context.user_id is not None:
        await _own(context)
    if context.admin:
        box = ui.element("div")
        await _HealthView(context, box).show()


async def _own(context: PageContext) -> None:
    say = context.say
    status = await context.rest.get("/graph/status", group_id=str(context.user_id), user_id=context.user_id)
    kind = "bad" if status["dead"] else "warn" if status["waiting"] else "good"
    tasks = await context.rest.get("/tasks", user_id=context.user_id, state="open", limit=1)
    spend = await context.rest.get("/spend", user_id=context.user_id, days=1)
    if context.admin:
        _title(str(context.user["name"] if context.user is not None else context.user_id))
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


def check_text(say: Phrases, check: Json) -> tuple[str, str]:
    """A check's result and remedy in the reader's language, or the check's own English if that has none."""
    values = {name: _value(say, name, value) for name, value in check["values"].items()}
    name = f"found-{check['key']}"
    return say.known(name, check["message"], **values), say.known(f"{name}-fix", check["fix"], **values)


def _value(say: Phrases, name: str, value: str | int | float) -> str | int | float:
    if name.endswith("_at"):
        return say.moment(str(value))
    return say.span(timedelta(seconds=value)) if name.endswith("_seconds") and not isinstance(value, str) else value


class _HealthView:
    """Everything an operator looks at, laid out again after each action."""

    def __init__(self, context: PageContext, box: ui.element) -> None:
        self._context, self._box = context, box

    async def show(self) -> None:
        rest = self._context.rest
        queues = await rest.post("/admin/queues")
        checks = await rest.post("/admin/doctor")
        aside = await rest.post("/admin/quarantine")
        dead = await rest.post("/admin/runs/dead")
        self._box.clear()
        with self._box:
            if self._context.user_id is not None:
                _title(self._context.say("health-whole-bot"))
            self._figures(queues, aside, dead)
            self._dead(dead)
            self._aside(aside)
            self._checks(checks)
            with ui.element("div").classes("two"):
                self._runs(queues["runs"])
                self._backups(queues["backups"])

    def _figures(self, queues: Json, aside: list[Json], dead: list[Json]) -> None:
        say = self._context.say
        with figures():
            figure(say("health-unread"), say.number(queues["unread"]), "warn" if queues["unread"] else "")
            figure(say("health-unsent"), say.number(queues["owed"]), "warn" if queues["owed"] else "")
            due = sum(one["count"] for one in queues["runs"] if one["state"] in {"due", "claimed", "replied"})
            figure(say("health-waiting-runs"), say.number(due))
            figure(say("health-dead-runs"), say.number(len(dead)), "bad" if dead else "")
            figure(say("health-set-aside"), say.number(len(aside)), "bad" if aside else "")

    def _checks(self, checks: list[Json]) -> None:
        say = self._context.say
        with card(say("health-checks")), ui.element("ul").classes("rows"):
            for check in sorted(checks, key=lambda one: _ORDER.index(one["level"])):
                with ui.element("li").classes(f"check {check['level']}"):
                    ui.icon(_SIGNS[check["level"]]).props("role=img").props["aria-label"] = say(
                        f"check-{check['level']}"
                    )
                    words("div", say.known(f"check-{check['name'].replace(' ', '-')}", check["name"]), "check-name")
                    result, fix = check_text(say, check)
                    words("div", result, "check-result")
                    if fix:
                        words("div", fix, "check-fix")

    def _dead(self, dead: list[Json]) -> None:
        say = self._context.say
        if not dead:
            return
        names = {user["user_id"]: user["name"] for user in self._context.users}
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
        say = self._context.say
        if not aside:
            return
        with card(say("health-set-aside")), ui.element("ul").classes("rows"):
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
        say = self._context.say
        with question(say("health-drop-title")) as dialog:
            words("p", say("health-drop-text"), "dim")
            answers(self._context, dialog, say("health-drop"), partial(self._order, "/admin/quarantine/drop", {"n": n}))
        dialog.open()

    def _runs(self, counted: list[Json]) -> None:
        say = self._context.say
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
        say = self._context.say
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
        with trouble_notice(self._context):
            await self._order(path, body)

    async def _order(self, path: str, body: dict[str, Any]) -> None:
        await self._context.rest.post(path, body)
        ui.notify(self._context.say("health-done"), type="positive")
        await self.show()


HEALTH = Page("health", "/health", "monitor_heart", "h", build, everybody=True)
