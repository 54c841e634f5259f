"""Notifications, and what was decided about each and why."""

from functools import partial
from typing import Final

from nicegui import ui

from bot.console.elements import card, chip, style, words
from bot.console.lists import AT_ONCE, Choices, EmptyText, GrowingList
from bot.console.page_context import Page, PageContext
from bot.console.rest import Json

_ICONS: Final = {"reminder": "alarm", "confirm": "help_outline", "team": "groups", "question": "quiz", "notice": "info"}
_KINDS: Final = {"waiting": "", "deferred": "warn", "sent": "good", "merged": "good", "dropped": "bad"}
_ALL: Final = "all"
_NOTHING: Final = EmptyText("notifications_none", "notices-empty", "notices-empty-text")


async def build(context: PageContext) -> None:
    """Lays out the notifications, newest first, in every state."""
    style("records")
    await _NotificationList(context).show(_ALL)


class _NotificationList:
    """The list, filtered by state."""

    def __init__(self, context: PageContext) -> None:
        self._context = context
        options = {state: context.say(f"notice-{state}") for state in (_ALL, *_KINDS)}
        with ui.element("div").classes("toolbar"):
            Choices(context, context.say("notices-which"), options, _ALL, self.show)
        with card(classes="list-card"):
            self._list = GrowingList(context, partial(self._listed, _ALL), self._row, _NOTHING)

    async def show(self, state: str) -> None:
        await self._list.show(partial(self._listed, state))

    async def _listed(self, state: str, offset: int) -> tuple[list[Json], int]:
        wanted = None if state == _ALL else state
        query = {"user_id": self._context.user_id, "state": wanted, "limit": AT_ONCE, "offset": offset}
        found = await self._context.rest.get("/notifications", **query)
        # REST does not count rows of one state: a full page may be followed by another.
        full = offset + len(found["notifications"]) + (len(found["notifications"]) == AT_ONCE)
        return found["notifications"], found["count"] if wanted is None else full

    def _row(self, notice: Json) -> None:
        say = self._context.say
        with ui.element("li").classes("notice-row"):
            ui.icon(_ICONS.get(notice["kind"], "notifications")).classes("notice-sign").props("aria-hidden=true")
            with ui.element("div").classes("notice-head"):
                words("span", notice["text"], "notice-text")
                chip(say(f"notice-{notice['state']}"), _KINDS.get(notice["state"], ""))
                if notice["urgent"]:
                    chip(say("notice-urgent"), "bad")
            if notice["reason"]:
                words("div", say("notice-why", reason=say.reason(notice["reason"])), "notice-why")
            with ui.element("div").classes("notice-times"):
                words("span", say.known(f"notice-kind-{notice['kind']}", notice["kind"]))
                words("span", say("notice-made", at=say.moment(notice["created_at"])))
                if notice["decided_at"]:
                    words("span", say("notice-decided", at=say.moment(notice["decided_at"])))
                if notice["state"] in {"waiting", "deferred"}:
                    words("span", say("notice-from", at=say.moment(notice["not_before"])))


NOTIFICATIONS = Page("notifications", "/notifications", "notifications", "n", build)
