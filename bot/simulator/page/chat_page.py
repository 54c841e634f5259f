"""The page: people on the left, the chosen conversation on the right, updated by the feed."""

import time
from functools import partial

from nicegui import Client, ui

from bot.shared.phrases import initials
from bot.simulator.actions import ActRefused
from bot.simulator.feed import News
from bot.simulator.page.bubbles import Reactions
from bot.simulator.page.composer import Composer
from bot.simulator.page.conversation import Conversation
from bot.simulator.page.dialogs import GroupDialog, PersonDialog, TopicDialog
from bot.simulator.page.page_context import ONLINE_FOR, PageContext, colour
from bot.simulator.page.people_list import PeopleList
from bot.simulator.repository import Json
from bot.simulator.telegram import Telegram

_THEMES = {"theme-auto": None, "theme-light": False, "theme-dark": True}
_TICK = 0.5


class ChatPage:
    """One open browser tab."""

    def __init__(
        self, telegram: Telegram, client: Client, language: str, user_id: int | None, chat_id: int | None
    ) -> None:
        """`language` is the browser's; without a person the page opens on the first person of that language."""
        self._telegram = telegram
        self._client, self._language = client, language
        self._stale: set[int] = set()
        self._previewing = False
        ui.colors(primary="#3d7eea")
        self._dark = ui.dark_mode(telegram.repository.setting("theme"))
        self._root = ui.element("div").classes("page" if user_id is not None else "page list-open")
        self._open(*self._chosen(user_id, chat_id))
        ui.timer(_TICK, self._tick)
        client.on_connect(self._mark_read)
        client.on_delete(telegram.feed.subscribe(self._news))

    def _chosen(self, user_id: int | None, chat_id: int | None) -> tuple[Json, Json]:
        repository = self._telegram.repository
        users = repository.users()
        speakers = [one for one in users if one.get("language_code") == self._language]
        user = repository.user(user_id or 0) or (speakers or users)[0]
        own = repository.chat(user["id"])
        assert own is not None
        if chat_id is not None and user["id"] in repository.members(chat_id):
            return user, repository.chat(chat_id) or own
        return user, own

    def _open(self, user: Json, chat: Json, topic: int | None = None) -> None:
        """Lays out the page for this person, chat and topic."""
        self._context = PageContext(self._telegram, user, chat, self._language)
        self._context.topic = topic
        self._root.clear()
        with self._root:
            self._people = PeopleList(
                self._context, self._choose, self._add_person, self._add_group, self._theme_button
            )
            with ui.element("div").classes("main"):
                self._head()
                self._pin_bar = ui.element("div").classes("pinned")
                self._topics()
                conversation = ui.element("div").classes("conversation")
                self._composer = Composer(self._context, self._sent)
                reactions = Reactions(
                    self._composer.reply, self._composer.edit, self._press, self._react, self._vote,
                    self._composer.send_text, self._composer.open_app,
                )  # fmt: skip
                with conversation:
                    self._conversation = Conversation(self._context, reactions)
                self._unblock = ui.button(self._context.say("unblock"), on_click=self._toggle_block, color=None)
                self._unblock.props("flat no-caps").classes("unblock")
        self._show_standing()
        self._show_status()
        self._show_pinned()
        self._mark_read()

    # The head

    def _head(self) -> None:
        context = self._context
        with ui.element("div").classes("head"):
            back = ui.button(icon="arrow_back", on_click=lambda: self._root.classes("list-open"), color=None)
            back.props("flat round").classes("back").props["aria-label"] = context.say("back")
            ui.label(initials(context.title)).classes(f"avatar {colour(context.chat_id if not context.private else 4)}")
            with ui.element("div").classes("head-lines"):
                ui.label(context.title).classes("head-title")
                self._status = ui.label().classes("head-status")
            if context.private:
                with ui.button(icon="more_vert", color=None).props("flat round") as more:
                    more.props["aria-label"] = context.say("more")
                    with ui.menu():
                        self._block_item = ui.menu_item(on_click=self._toggle_block)

    def _show_pinned(self) -> None:
        """Shows the message that was pinned last."""
        context = self._context
        last = next(iter(self._telegram.pinned(context.chat_id)), None)
        message = None if last is None else self._telegram.repository.message(context.chat_id, last)
        self._pin_bar.clear()
        self._pin_bar.set_visibility(message is not None)
        with self._pin_bar:
            ui.icon("push_pin")
            ui.label(context.preview(message)).classes("quote-text")

    def _topics(self) -> None:
        """Lays out the topics of the chat and a button to begin one, or nothing in a chat that cannot have topics."""
        context = self._context
        if not context.private and context.chat["type"] != "supergroup":
            return
        topics = context.topics()
        with ui.element("div").classes("topics" if topics else "topics none"):
            for thread, name in ({None: context.say("all-topics")} | topics if topics else {}).items():
                chip = ui.label(name).classes("topic chosen" if thread == context.topic else "topic")
                chip.on("click", partial(self._open, context.user, context.chat, thread))
            add = ui.button(icon="add_comment", on_click=self._add_topic, color=None).props("flat round dense size=sm")
            add.props["aria-label"] = add.props["title"] = context.say("add-topic")

    def _add_topic(self) -> None:
        context = self._context

        def begun(name: str) -> None:
            thread = context.people.create_topic(context.user_id, context.chat_id, name)
            self._open(context.user, context.chat, thread)

        TopicDialog(context, begun).open()

    def _add_group(self) -> None:
        user = self._context.user_id
        GroupDialog(self._context, lambda group: self._choose(user, group["id"])).open()

    def _theme_button(self) -> None:
        with ui.button(icon="contrast", color=None).props("flat round") as button:
            button.props["aria-label"] = self._context.say("theme")
            with ui.menu():
                for phrase, dark in _THEMES.items():
                    ui.menu_item(self._context.say(phrase), on_click=partial(self._set_theme, dark))

    def _set_theme(self, dark: bool | None) -> None:
        self._telegram.repository.set_setting("theme", dark)
        self._dark.set_value(dark)

    def _show_status(self) -> None:
        context, repository = self._context, self._telegram.repository
        typing = self._telegram.is_typing(context.chat_id) or self._telegram.draft(context.chat_id) is not None
        if not context.private:
            text = context.say("group-members", count=len(repository.members(context.chat_id)) + 1)
        elif typing:
            text = context.say("typing") + "…"
        else:
            text = context.say("online" if self._bot_is_there() else "waiting")
        self._status.set_text(text)
        self._status.classes("active" if typing else "", remove="" if typing else "active")

    def _bot_is_there(self) -> bool:
        updates = self._telegram.updates
        fresh = time.time() - updates.last_poll_at < ONLINE_FOR
        return updates.poll_in_flight or fresh or bool(self._telegram.repository.setting("webhook", {}))

    # Actions of the person

    def _choose(self, user_id: int, chat_id: int) -> None:
        self._root.classes(remove="list-open")
        if (user_id, chat_id) == (self._context.user_id, self._context.chat_id):
            return
        extra = f"&chat={chat_id}" if chat_id != user_id else ""
        ui.navigate.history.replace(f"/?user={user_id}{extra}")
        self._open(*self._chosen(user_id, chat_id))

    def _add_person(self) -> None:
        PersonDialog(self._context, lambda user: self._choose(user["id"], user["id"])).open()

    def _sent(self) -> None:
        self._conversation.go_to_end()

    def _press(self, message: Json, button: Json) -> None:
        data = button.get("callback_data")
        if data is None:
            kind = next((key for key in button if key != "text"), "")
            ui.notify(self._context.say("not-here", kind=kind))
            return
        try:
            self._context.people.press(
                self._context.user_id, message["message_id"], data, chat_id=self._context.chat_id
            )
        except ActRefused as error:  # another tab was faster, or the bot has just changed the message
            ui.notify(str(error), type="negative")

    def _react(self, message: Json, emoji: str) -> None:
        context = self._context
        try:
            context.people.react(context.user_id, message["message_id"], emoji, chat_id=context.chat_id)
        except ActRefused as error:
            ui.notify(str(error), type="negative")

    def _vote(self, message: Json, option: int) -> None:
        context = self._context
        try:
            context.people.vote(context.user_id, message["message_id"], [option], chat_id=context.chat_id)
        except ActRefused as error:
            ui.notify(str(error), type="negative")

    def _toggle_block(self) -> None:
        act = self._context.people.unblock if self._context.blocked() else self._context.people.block
        act(self._context.user_id)

    def _show_standing(self) -> None:
        blocked = self._context.blocked()
        self._unblock.set_visibility(blocked)
        self._root.classes("blocked" if blocked else "", remove="" if blocked else "blocked")
        if self._context.private:
            self._block_item.clear()
            with self._block_item:
                ui.label(self._context.say("unblock" if blocked else "block"))

    def _mark_read(self) -> None:
        if not self._client.has_socket_connection:  # just closed, or not open yet
            return
        last = next(iter(self._telegram.repository.history(self._context.chat_id, 1)), None)
        if last is not None and self._telegram.repository.mark_read(self._context.chat_id, last["message_id"]):
            self._telegram.feed.publish("read", self._context.chat_id)

    # Events from elsewhere

    def _tick(self) -> None:
        """Refreshes rows of busy chats a few times a second, and removes expired previews."""
        stale, self._stale = self._stale, set()
        for chat_id in stale:
            self._people.refresh(chat_id)
        previewing = self._previews()
        if self._previewing and not previewing:
            self._conversation.show_preview()
        self._previewing = previewing
        self._show_status()

    def _previews(self) -> bool:
        chat_id = self._context.chat_id
        return self._telegram.draft(chat_id) is not None or self._telegram.is_typing(chat_id)

    def _news(self, news: News) -> None:
        with self._client:
            if news.kind in {"message", "edited", "deleted", "read"}:
                self._stale.add(news.chat_id)
            if news.kind in {"user", "chat"}:
                self._people.rebuild()
            if news.chat_id in {0, self._context.chat_id}:
                self._own_news(news)

    def _own_news(self, news: News) -> None:
        match news.kind:
            case "message":
                self._arrived(news.body)
            case "edited":
                self._conversation.replace(news.body)
            case "deleted":
                self._conversation.remove(news.body)
            case "draft" | "typing":
                self._conversation.show_preview()
                self._show_status()
            case "confirmed":
                self._conversation.refresh_ticks()
            case "commands":
                self._composer.refresh_commands()
            case "answered":
                self._answered(news.body)
            case "chat":
                self._show_standing()
            case "inline":
                self._composer.inline.answered(news.body)
            case "pinned":
                self._show_pinned()

    def _arrived(self, message: Json) -> None:
        self._conversation.arrived(message)
        self._conversation.show_preview()
        if message["from"]["is_bot"]:
            self._composer.obey_markup(message)
        self._mark_read()

    def _answered(self, query: Json) -> None:
        if query["user_id"] != self._context.user_id:
            return
        self._conversation.settle_button(query["message_id"], query["button"])
        text = query["answer"]["text"]
        if text and query["answer"]["show_alert"]:
            with self._root, ui.dialog(value=True) as dialog, ui.card().classes("dialog"):
                ui.label(text).classes("dialog-text")
                ui.button("OK", on_click=dialog.close, color=None).props("unelevated no-caps").classes("dialog-buttons")
        elif text:
            ui.notify(text, position="top")
