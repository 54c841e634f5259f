"""Today and the week: tasks, occasions, promises in both directions, people to be in touch with, open questions."""

from typing import Final

from nicegui import ui

from bot.console.elements import card, chip, empty_list, style, words
from bot.console.lists import Choices
from bot.console.page_context import Page, PageContext
from bot.console.rest import Json

_DAYS: Final = {"today": 1, "week": 7}
_SECTIONS: Final = ("occasions", "tasks", "promises", "waiting", "contacts", "questions")


async def build(context: PageContext) -> None:
    """Lays out a choice of days, and a card for each section that is not empty."""
    style("records")
    box: ui.element

    async def show(which: str) -> None:
        found = await context.rest.get("/today", user_id=context.user_id, days=_DAYS[which])
        box.clear()
        with box:
            _lay_out(context, found)
            if which == "week":
                _reflect(context, await context.rest.get("/reflections", user_id=context.user_id))

    options = {name: context.say(f"today-{name}") for name in _DAYS}
    with ui.element("div").classes("toolbar"):
        Choices(context, context.say("today-which"), options, "today", show)
    box = ui.element("div")
    await show("today")


def _lay_out(context: PageContext, found: Json) -> None:
    if not any(found[name] for name in _SECTIONS):
        empty_list("wb_sunny", context.say("today-empty"), context.say("today-empty-text"))
    for name in _SECTIONS:
        if found[name]:
            with card(context.say(f"today-{name}")), ui.element("ul").classes("rows"):
                for one in found[name]:
                    _row(context, name, one)


def _reflect(context: PageContext, found: Json) -> None:
    say = context.say
    for one in found["reflections"]:
        values = {"subject": one["subject"].rstrip("."), "before": one["before"].rstrip("."), "count": one["count"]}
        with card(say("today-reflections")) as shown:

            async def dismiss(key: str = one["key"], shown: ui.element = shown) -> None:
                await context.rest.delete(f"/reflections/{key}", user_id=context.user_id)
                shown.delete()

            words("div", say(f"today-{one['kind']}", **values, names=", ".join(one["names"])), "task-title")
            for line in one["sources"]:
                words("div", f"{say.moment(line['at'], 'd MMM y')}: {line['text']}", "task-details")
            ui.button(say("today-dismiss"), color=None, on_click=dismiss).props("flat no-caps").classes("button")


def _row(context: PageContext, section: str, one: Json) -> None:
    say = context.say
    with ui.element("li").classes("task"):
        words("div", one["text"] if section in ("occasions", "questions") else one["title"], "task-title")
        with ui.element("div").classes("task-meta"):
            if section == "occasions":
                words("span", say.moment(f"{one['date']}T12:00:00+00:00", "EEE d MMM"))
                if one["years"]:
                    chip(say("today-years", years=one["years"]))
            elif section != "questions":
                when = max(one["due_at"] or "", one["next_at"] or "")  # a deadline's reminder comes the day before
                shape = "EEE d MMM" if one["whole_day"] and when == one["due_at"] else "EEE d MMM, HH:mm"
                words("span", say.moment(when, shape) if when else say("task-undated"))
        for line in one.get("citations", []):
            words("div", f"{say.moment(line['at'], 'd MMM y')}: {line['quote']}", "task-details")


TODAY = Page("today", "/today", "wb_sunny", "d", build)
