"""A message as a bubble: origin, quote, content, buttons, time and ticks."""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

from nicegui import events, ui

from bot.simulator.page.media import avatar, show_media
from bot.simulator.page.page_context import PageContext, clock, colour, full_name
from bot.simulator.page.rendering import html_of, rich_html
from bot.simulator.repository import Json

_SERVICE = (
    "new_chat_members", "left_chat_member", "migrate_to_chat_id", "migrate_from_chat_id", "pinned_message",
    "forum_topic_created",
)  # fmt: skip


@dataclass(frozen=True)
class Reactions:
    """What a bubble can ask the page to do."""

    reply: Callable[[Json], None]
    edit: Callable[[Json], None]
    press: Callable[[Json, Json], None]
    react: Callable[[Json, str], None]
    vote: Callable[[Json, int], None]
    send: Callable[[str], None]
    open_app: Callable[[str], None]


class Bubble:
    """One message on the screen; `element` is its row in the list."""

    def __init__(self, context: PageContext, message: Json, reactions: Reactions) -> None:
        self._context = context
        self._reactions = reactions
        self.message = message
        self._ticks: ui.icon | None = None
        self._buttons: dict[str, ui.button] = {}
        self.element = ui.element("div").props(f"data-message={message['message_id']}")
        self._fill()

    def replace(self, message: Json) -> None:
        """Shows another version of the message."""
        self.message = message
        self.element.clear()
        self._buttons.clear()
        self._fill()

    def refresh_ticks(self) -> None:
        """Shows two ticks as soon as the bot has received the message."""
        if self._ticks is not None and self._ticks.name == "done" and not self._pending():
            self._ticks.name = "done_all"
            self._ticks.classes("taken")

    def settle_button(self, data: str) -> None:
        """Marks a button as answered when the bot has answered its callback data."""
        if data in self._buttons:
            self._buttons[data].props(remove="loading")

    def _pending(self) -> bool:
        return self._context.telegram.repository.message_is_pending(self._context.chat_id, self.message["message_id"])

    def _fill(self) -> None:
        if any(field in self.message for field in _SERVICE):
            with self.element.classes("service"):
                ui.label(self._context.media_name(self.message))
            return
        side = "mine" if self._context.mine(self.message) else "theirs"
        with self.element.classes(f"message {side}"):
            if not self._context.private and side == "theirs":
                avatar(self.message["from"])
            with ui.element("div").classes("stack"):
                with ui.element("div").classes(self._shape()):
                    self._content()
                self._keyboard()
                self._show_reactions()
            self._actions()

    def _shape(self) -> str:
        if "sticker" in self.message or "dice" in self.message:
            return "bubble bare"
        compact = any(field in self.message for field in ("voice", "audio", "contact", "document", "location"))
        return "bubble compact" if compact and "caption" not in self.message else "bubble"

    # Inside the bubble

    def _content(self) -> None:
        message, context = self.message, self._context
        if not context.private and not context.mine(message):
            ui.label(context.author(message)).classes(f"author {colour(message['from']['id'])}")
        if "forward_origin" in message:
            origin = context.say("forwarded-from", name=origin_name(message["forward_origin"]))
            ui.label(origin).classes("forwarded")
        if "via_bot" in message:
            ui.label(context.say("via", name=f"@{message['via_bot']['username']}")).classes("forwarded")
        if "reply_to_message" in message:
            self._quote(message["reply_to_message"], message.get("quote", {}).get("text", ""))
        show_media(context, message, partial(self._reactions.vote, message))
        if "rich_message" in message:  # the HTML was made here, as in _text
            ui.html(rich_html(message["rich_message"]), sanitize=False).classes("text rich")
        text = message.get("text") or message.get("caption")
        if text:
            self._text(text, message.get("entities") or message.get("caption_entities") or [])
        self._meta()

    def _quote(self, quoted: Json, part: str) -> None:
        """Shows the message that this one answers, or the selected part of it."""
        with ui.element("div").classes("quote"):
            ui.label(self._context.author(quoted)).classes("quote-author")
            ui.label(f"«{part}»" if part else self._context.preview(quoted)).classes("quote-text")

    def _text(self, text: str, entities: list[Json]) -> None:
        # The HTML was made here, with every character of the message escaped (rendering.py).
        element = ui.html(html_of(text, entities), sanitize=False).classes("text")
        if any(entity["type"] == "bot_command" for entity in entities):
            element.on("click", self._command_clicked, js_handler=_COMMAND_OF_CLICK)

    def _command_clicked(self, event: events.GenericEventArguments) -> None:
        self._reactions.send(str(event.args))

    def _meta(self) -> None:
        with ui.element("div").classes("meta"):
            if "edit_date" in self.message:
                ui.label(self._context.say("edited"))
            ui.label(clock(self.message["date"]))
            if self._context.mine(self.message):
                pending = self._pending()
                self._ticks = ui.icon("done" if pending else "done_all").classes("ticks" if pending else "ticks taken")

    # Below and beside the bubble

    def _show_reactions(self) -> None:
        """Shows the reactions; the tooltip of each emoji names the people."""
        telegram, mine = self._context.telegram, self._context.user_id
        types = telegram.repository.reactions(self._context.chat_id, int(self.message["message_id"]))
        given = {who: str(one[0].get("emoji", "")) for who, one in types.items() if one}
        if not given:
            return
        with ui.element("div").classes("reactions"):
            for emoji, count in Counter(given.values()).items():
                own = given.get(mine) == emoji
                chip = ui.label(f"{emoji} {count}" if count > 1 else emoji)
                chip.classes("reaction own" if own else "reaction")
                chip.on("click", partial(self._reactions.react, self.message, "" if own else emoji))
                people = [telegram.repository.user(who) or telegram.bot for who, what in given.items() if what == emoji]
                chip.props["title"] = ", ".join(map(full_name, people))

    def _keyboard(self) -> None:
        rows = self.message.get("reply_markup", {}).get("inline_keyboard", [])
        if not rows:
            return
        with ui.element("div").classes("keyboard"):
            for row in rows:
                with ui.element("div").classes("keyboard-row"):
                    for button in row:
                        self._button(button)

    def _button(self, button: Json) -> None:
        element = ui.button(button["text"], color=None).props("flat no-caps dense").classes("key")
        if "url" in button:
            element.props("target=_blank icon-right=north_east")
            element.props["href"] = button["url"]
        elif "web_app" in button:
            element.props("icon-right=apps").on_click(partial(self._reactions.open_app, str(button["web_app"]["url"])))
        elif "copy_text" in button:
            element.props("icon-right=content_copy").on_click(lambda: self._copy(str(button["copy_text"]["text"])))
        else:
            data = button.get("callback_data")
            if data is not None:
                self._buttons[data] = element
            element.on_click(lambda: self._pressed(button, element))

    def _pressed(self, button: Json, element: ui.button) -> None:
        if "callback_data" in button:
            element.props("loading")
            ui.timer(_PATIENCE, partial(self.settle_button, button["callback_data"]), once=True)
        self._reactions.press(self.message, button)

    def _copy(self, text: str) -> None:
        ui.clipboard.write(text)
        ui.notify(self._context.say("copied"), position="top")

    def _actions(self) -> None:
        say, text = self._context.say, self.message.get("text") or self.message.get("caption")
        with ui.element("div").classes("actions"):
            self._action("reply", say("reply"), lambda: self._reactions.reply(self.message))
            with self._action("add_reaction", say("react")), ui.menu().classes("reaction-menu"):
                for emoji in _OFFERED:
                    ui.button(emoji, on_click=partial(self._reactions.react, self.message, emoji), color=None).props(
                        "flat round dense"
                    )
            if text and self._context.mine(self.message):
                self._action("edit", say("edit"), lambda: self._reactions.edit(self.message))
            if text:
                self._action("content_copy", say("copy"), lambda: self._copy(str(text)))

    def _action(self, icon: str, label: str, act: Callable[[], Any] | None = None) -> ui.button:
        button = ui.button(icon=icon, on_click=act, color=None).props("flat round dense size=sm")
        button.props["aria-label"] = button.props["title"] = label
        return button


_COMMAND_OF_CLICK = "(e) => { const c = e.target.closest('[data-command]'); if (c) emit(c.dataset.command); }"
_OFFERED = ("👍", "👎", "❤", "🔥", "🤔", "👌", "😢", "🎉")
_PATIENCE = 15.0  # seconds a button waits for the bot until it can be pressed again


def origin_name(origin: Json) -> str:
    """The author of a forwarded message, if the origin names one."""
    match origin.get("type"):
        case "user":
            return full_name(origin["sender_user"])
        case "hidden_user":
            return str(origin["sender_user_name"])
        case "chat":
            return str(origin["sender_chat"].get("title", ""))
        case "channel":
            return str(origin["chat"].get("title", ""))
    return "?"
