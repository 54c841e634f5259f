"""The changes of the last week, each with a button that takes it back."""

from functools import partial
from typing import Final

from nicegui import ui

from bot.console.elements import card, chip, style, trouble_notice, words
from bot.console.lists import AT_ONCE, EmptyText, GrowingList
from bot.console.page_context import Page, PageContext
from bot.console.rest import Json, segment

_NOTHING: Final = EmptyText("history", "changes-empty", "changes-empty-text")


async def build(context: PageContext) -> None:
    """Lays out the changes, newest first; a change that is undone disappears."""
    style("records")
    with card(classes="list-card"):
        shown = GrowingList(context, partial(_listed, context), lambda change: _row(context, change, shown), _NOTHING)
    await shown.show()


async def _listed(context: PageContext, offset: int) -> tuple[list[Json], int]:
    found = (await context.rest.get("/changes", user_id=context.user_id, limit=AT_ONCE, offset=offset))["changes"]
    return found, offset + len(found) + (len(found) == AT_ONCE)


def _row(context: PageContext, change: Json, shown: GrowingList) -> None:
    say = context.say

    async def take_back() -> None:
        with trouble_notice(context):
            await context.rest.post(f"/changes/{segment(change['id'])}/undo", user_id=context.user_id)
            ui.notify(say("changes-undone"), type="positive")
        await shown.show()

    kind = change["kind"]
    what = say(f"changes-of-{change['text']}") if kind == "forgetting" else change["text"]
    with ui.element("li").classes("notice-row"):
        with ui.element("div").classes("notice-head"):
            words("span", what, "notice-text")
            chip(say(f"changes-{kind.replace('_', '-')}"))
        with ui.element("div").classes("notice-times"):
            words("span", say.moment(change["at"]))
            words("span", say("changes-by-owner" if change["by_owner"] else "changes-by-bot"))
        button = ui.button(say("changes-undo"), color=None, on_click=take_back).props("flat no-caps").classes("button")
        button.props["aria-label"] = f"{say('changes-undo')}: {what}"


CHANGES = Page("changes", "/changes", "history", "u", build)
