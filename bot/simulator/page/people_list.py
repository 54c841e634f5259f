"""The list of people on the left: who can write, the last message, the number of unread ones."""

from collections.abc import Callable
from dataclasses import dataclass

from nicegui import ui

from bot.shared.phrases import initials
from bot.simulator.page.page_context import PageContext, clock, colour, full_name
from bot.simulator.repository import Json


@dataclass
class _Row:
    element: ui.element
    preview: ui.label
    time: ui.label
    unread: ui.badge


class PeopleList:
    """People, and below the chosen one his groups."""

    def __init__(
        self,
        context: PageContext,
        choose: Callable[[int, int], None],
        add_person: Callable[[], None],
        add_group: Callable[[], None],
        header: Callable[[], None],
    ) -> None:
        self._context = context
        self._choose = choose
        self._rows: dict[int, _Row] = {}
        offline = context.telegram.installation is not None
        with ui.element("div").classes("sidebar"):
            with ui.element("div").classes("sidebar-head"):
                with ui.element("div").classes("sidebar-titles"):
                    ui.label(context.say("title")).classes("sidebar-title")
                    if offline:  # otherwise messages are sent to a provider's model
                        ui.label(context.say("subtitle")).classes("sidebar-subtitle")
                header()
            if offline:
                ui.link(context.say("setup-link"), "/setup").classes("setup-link")
            self._list = ui.element("div").classes("people")
            ui.button(context.say("add-person"), icon="person_add_alt", on_click=add_person, color=None).props(
                "flat no-caps"
            ).classes("add-person")
            ui.button(context.say("add-group"), icon="group_add", on_click=add_group, color=None).props(
                "flat no-caps"
            ).classes("add-person")
        self.rebuild()

    def rebuild(self) -> None:
        """Lays out all rows again, because a person or chat is new."""
        repository = self._context.telegram.repository
        self._list.clear()
        self._rows.clear()
        with self._list:
            for user in repository.users():
                self._person(user)
                if user["id"] == self._context.user_id:
                    for group in repository.groups_of(user["id"]):
                        self._group(user, group)

    def _person(self, user: Json) -> None:
        chosen = user["id"] == self._context.user_id and self._context.private
        self._row(user["id"], user["id"], full_name(user), str(user.get("language_code", "")), chosen, "")

    def _group(self, user: Json, group: Json) -> None:
        self._row(user["id"], group["id"], group["title"], "", group["id"] == self._context.chat_id, "nested")

    def _row(self, user_id: int, chat_id: int, name: str, tag: str, chosen: bool, extra: str) -> None:
        classes = " ".join(["person", "chosen" if chosen else "", extra]).strip()
        row = ui.element("div").classes(classes).props(f"role=button tabindex=0 data-chat={chat_id}")
        row.on("click", lambda: self._choose(user_id, chat_id)).on(
            "keydown.enter", lambda: self._choose(user_id, chat_id)
        )
        with row:
            ui.label(initials(name)).classes(f"avatar {colour(chat_id)}")
            with ui.element("div").classes("person-lines"):
                with ui.element("div").classes("person-line"):
                    ui.label(name).classes("person-name")
                    if tag:
                        ui.label(tag.upper()).classes("person-tag")
                    time = ui.label().classes("person-time")
                with ui.element("div").classes("person-line"):
                    preview = ui.label().classes("person-preview")
                    unread = ui.badge(color=None).classes("person-unread")
        self._rows[chat_id] = _Row(row, preview, time, unread)
        self.refresh(chat_id)

    def refresh(self, chat_id: int) -> None:
        """Shows the last message and the number of unread ones of a chat."""
        row = self._rows.get(chat_id)
        if row is None:
            return
        repository = self._context.telegram.repository
        last = next(iter(repository.history(chat_id, 1)), None)
        row.preview.set_text(self._context.preview(last))
        row.time.set_text("" if last is None else clock(last["date"]))
        unread = repository.unread(chat_id)
        row.unread.set_text(str(unread))
        row.unread.set_visibility(unread > 0)
