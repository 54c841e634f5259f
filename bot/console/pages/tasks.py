"""Tasks, reminders and promises by time, with forms and buttons to add, confirm, postpone and close them."""

from collections.abc import Awaitable, Callable
from datetime import datetime, timedelta
from functools import partial
from typing import Any, Final

from nicegui import ui

from bot.console.datetime_field import DateTimeField
from bot.console.elements import card, chip, empty_list, icon_button, style, trouble_notice, words
from bot.console.lists import AT_ONCE, Choices, EmptyText, GrowingList, Select, answers, button, question, row_field
from bot.console.page_context import Page, PageContext
from bot.console.rest import Json
from bot.shared.recurrence_words import repeat_words

_MOST_OPEN: Final = 1000
"""The most open tasks a user may have."""
_FOLDED: Final = 20
"""The tasks of a section that are laid out at first."""
_MORNING: Final = "09:00"
_REPEATS: Final = {"": "", "daily": "FREQ=DAILY", "weekly": "FREQ=WEEKLY", "monthly": "FREQ=MONTHLY"}
_KINDS: Final = ("task", "reminder", "promise")
_SECTIONS: Final = ("proposed", "late", "today", "later", "someday")
_CLOSED: Final = EmptyText("task_alt", "tasks-none-closed", "tasks-none-closed-text")


async def build(context: PageContext) -> None:
    """Lays out a form for a new task, the open tasks by time, and the closed ones."""
    style("records")
    await _Tasks(context).show()


class _Tasks:
    """All sections, laid out again after each change: a change moves a task between them."""

    def __init__(self, context: PageContext) -> None:
        self._context = context
        self._unfolded: dict[str, int] = {}
        _Adding(context, self.show)
        self._open = ui.element("div")
        with card(classes="list-card"), ui.element("details").classes("row") as closed:
            with ui.element("summary"):
                words("h2", context.say("tasks-closed"), "card-title")
                ui.icon("expand_more").props("aria-hidden=true")
            options = {state: context.say(f"tasks-{state}") for state in ("done", "cancelled")}
            with ui.element("div").classes("toolbar"):
                self._which = Choices(context, context.say("tasks-closed"), options, "done", self._show_closed)
            self._over = GrowingList(context, partial(self._closed, "done"), self._row, _CLOSED)
        closed.on("toggle", self._opened, throttle=1.0)

    async def show(self) -> None:
        listed = [
            task
            for state in ("proposed", "open")
            for task in (
                await self._context.rest.get("/tasks", user_id=self._context.user_id, state=state, limit=_MOST_OPEN)
            )["tasks"]
        ]
        now = datetime.now(self._context.say.zone)
        sections: dict[str, list[Json]] = {name: [] for name in _SECTIONS}
        for task in listed:
            sections[_section(task, now)].append(task)
        self._open.clear()
        with self._open:
            if not listed:
                empty_list("task_alt", self._context.say("tasks-empty"), self._context.say("tasks-empty-text"))
            for name, tasks in sections.items():
                if tasks:
                    with card(self._context.say(f"tasks-{name}")):
                        self._section(name, tasks)

    def _section(self, name: str, tasks: list[Json]) -> None:
        """Lays out the first tasks, and the others on demand: hundreds of rows with menus take a browser seconds."""
        rows = ui.element("ul").classes("rows")
        box = ui.element("div")

        def lay(first: int, count: int) -> None:
            with rows:
                for task in tasks[first:count]:
                    self._row(task)
            box.clear()
            if len(tasks) > count:
                with box:
                    button(self._context.say("tasks-more", count=len(tasks) - count), partial(more, count), quiet=True)

        def more(shown: int) -> None:
            self._unfolded[name] = shown + AT_ONCE
            lay(shown, self._unfolded[name])

        lay(0, self._unfolded.get(name, _FOLDED))

    async def _opened(self) -> None:
        with trouble_notice(self._context):
            await self._show_closed(self._which.chosen)

    async def _show_closed(self, state: str) -> None:
        await self._over.show(partial(self._closed, state))

    async def _closed(self, state: str, offset: int) -> tuple[list[Json], int]:
        query = {"user_id": self._context.user_id, "state": state, "limit": AT_ONCE, "offset": offset}
        found = await self._context.rest.get("/tasks", **query)
        return found["tasks"], found["count"]

    def _row(self, task: Json) -> None:
        say = self._context.say
        closed = task["state"] in {"done", "cancelled"}
        with ui.element("li").classes("task closed" if closed else "task"):
            words("div", task["title"], "task-title")
            with ui.element("div").classes("task-meta"):
                if task["kind"] != "task":
                    chip(say(f"task-{task['kind']}"))
                late = not closed and _section(task, datetime.now(say.zone)) == "late"
                words("span", _when(self._context, task), "late" if late else "")
                if task["recurrence"]:
                    words("span", repeat_words(task["recurrence"], self._context.say))
                if task["next_at"] and task["due_at"] and task["next_at"] != task["due_at"] and not task["whole_day"]:
                    words("span", say("task-reminds-at", at=say.moment(task["next_at"], "EEE d MMM, HH:mm")))
                if closed:
                    words("span", say(f"task-{task['state']}", at=say.moment(task["closed_at"], "d MMM y")))
            if task["details"]:
                words("div", task["details"], "task-details")
            with ui.element("div").classes("task-buttons"):
                self._buttons(task)

    def _buttons(self, task: Json) -> None:
        say, title = self._context.say, task["title"]

        def sign(icon: str, phrase: str, kind: str, click: Callable[..., Any]) -> None:
            icon_button(icon, say(phrase, title=title)).classes(kind).on_click(click)

        match task["state"]:
            case "proposed":
                sign("check", "task-do-confirm", "yes", partial(self._change, task, {"state": "open"}))
                sign("close", "task-do-decline", "no", partial(self._change, task, {"state": "cancelled"}))
            case "open":
                sign("check_circle_outline", "task-do-done", "yes", partial(self._change, task, {"state": "done"}))
                with icon_button("snooze", say("task-do-snooze", title=title)), ui.menu():
                    self._snoozes(task)
                sign("delete_outline", "task-do-cancel", "no", partial(self._change, task, {"state": "cancelled"}))
            case _:
                sign("undo", "task-do-open", "", partial(self._change, task, {"state": "open"}))

    def _snoozes(self, task: Json) -> None:
        say, now = self._context.say, datetime.now(self._context.say.zone)
        morning = now.replace(hour=9, minute=0, second=0, microsecond=0)
        choices = {
            "hour": now + timedelta(hours=1),
            "evening": now.replace(hour=19, minute=0, second=0, microsecond=0),
            "tomorrow": morning + timedelta(days=1),
            "week": morning + timedelta(days=7),
        }
        for name, moment in choices.items():
            if moment > now:
                label = say(f"snooze-{name}", at=say.moment(moment, "EEE HH:mm"))
                ui.menu_item(label, partial(self._change, task, {"next_at": moment.isoformat()}))
        ui.menu_item(say("snooze-choose"), partial(self._choose_time, task))

    def _choose_time(self, task: Json) -> None:
        say = self._context.say
        with question(say("snooze-title")) as dialog:
            words("p", task["title"], "dim")
            with ui.element("div").classes("moment"):
                moment = DateTimeField(say)

            async def done() -> None:
                if at := moment.read(_MORNING):
                    await self._patch(task, {"next_at": at})

            answers(self._context, dialog, say("records-save"), done)
        dialog.open()

    async def _change(self, task: Json, changes: Json) -> None:
        with trouble_notice(self._context):
            await self._patch(task, changes)

    async def _patch(self, task: Json, changes: Json) -> None:
        await self._context.rest.patch(f"/tasks/{task['id']}", changes, user_id=self._context.user_id)
        ui.notify(self._context.say("task-changed"), type="positive")
        await self.show()


class _Adding:
    """The form of a new task."""

    def __init__(self, context: PageContext, added: Callable[[], Awaitable[None]]) -> None:
        self._context, self._added = context, added
        say = context.say
        with card(say("tasks-add")), ui.element("form").classes("add-task") as form:
            self._title = row_field(say("task-title"), most=300)
            self._due = DateTimeField(say)
            repeats = {one: repeat_words(rule, say) if rule else say("repeat-never") for one, rule in _REPEATS.items()}
            self._repeat = Select(say("task-repeat"), repeats, "")
            self._kind = Select(say("task-kind"), {kind: say(f"task-{kind}") for kind in _KINDS}, "task")
            button(say("task-add"), None, icon="add").props("type=submit")
        form.on("submit", self._add, js_handler="(e) => { e.preventDefault(); emit(); }")

    async def _add(self) -> None:
        title = (self._title.value or "").strip()
        if not title:
            ui.notify(self._context.say("task-untitled"), type="warning")
            return
        due = self._due.read()
        if due is None:
            return
        wanted: Json = {"user_id": self._context.user_id, "title": title, "kind": self._kind.value}
        if due:
            wanted["due_at"] = due
        if self._repeat.value:
            wanted["recurrence"] = _REPEATS[self._repeat.value]
        with trouble_notice(self._context):
            await self._context.rest.post("/tasks", wanted, user_id=self._context.user_id)
            self._title.value = ""
            self._due.clear()
            await self._added()


def _section(task: Json, now: datetime) -> str:
    if task["state"] == "proposed":
        return "proposed"
    if task["due_at"] is None:
        return "someday"
    due = datetime.fromisoformat(task["next_at"] or task["due_at"]).astimezone(now.tzinfo)
    if due.date() == now.date():
        return "late" if due < now and not task["whole_day"] else "today"
    return "late" if due < now else "later"


def _when(context: PageContext, task: Json) -> str:
    if task["due_at"] is None:
        return context.say("task-undated")
    return context.say.moment(task["due_at"], "EEE d MMM y" if task["whole_day"] else "EEE d MMM y, HH:mm")


TASKS = Page("tasks", "/tasks", "task_alt", "t", build)
