"""The input area: text, commands, replies, edits, and attachments."""

import secrets
from collections.abc import Callable
from functools import partial
from pathlib import Path

from nicegui import events, ui

from bot.simulator.actions import ActRefused
from bot.simulator.entities import trimmed
from bot.simulator.media import MEDIA, with_file
from bot.simulator.methods.commands import menu_button_of
from bot.simulator.methods.registry import Upload
from bot.simulator.page.dialogs import ContactDialog, ForwardDialog
from bot.simulator.page.inline_results import InlineResults
from bot.simulator.page.mini_app import open_mini_app
from bot.simulator.page.page_context import PageContext
from bot.simulator.repository import Json
from bot.simulator.server.errors import ApiRefusal

# Enter sends the field's current text: the value that the server knows may lack the last keystroke.
_VALUE_OF_KEY = "(e) => { if (!e.isComposing) emit(e.target.value); }"
_FILES = {
    "photo": ("image", "image/*"), "voice": ("graphic_eq", "audio/*"), "video_note": ("videocam", "video/*"),
    "audio": ("music_note", "audio/*"), "document": ("description", ""),
}  # fmt: skip
"""Kinds sent as a picked file: the icon, and the file types that the browser offers."""
_MEDIA_ICONS = {"sticker": "emoji_emotions", "video": "movie", "location": "place"}
_PHRASES = {"video_note": "video-note", "document": "file"}
_RECORDER = (Path(__file__).parent / "recorder.js").read_text(encoding="utf-8")


class Composer:
    """The input area of the page. `sent` is called after each message of this person."""

    def __init__(self, context: PageContext, sent: Callable[[], None]) -> None:
        self._context = context
        self._sent = sent
        self._reply_to: Json | None = None
        self._editing: Json | None = None
        self._offered: list[Json] = []
        self._chosen = 0
        with ui.element("div").classes("composer"):
            self._suggestions = ui.element("div").classes("suggestions")
            self._reply_bar = ui.element("div").classes("context")
            self._line()
            self._reply_keys = ui.element("div").classes("reply-keyboard")
        self.inline = InlineResults(context, self._suggestions, self._put, self.send_text)
        self._suggestions.set_visibility(False)
        self._reply_bar.set_visibility(False)
        self.show_reply_keyboard()

    def _line(self) -> None:
        say = self._context.say
        with ui.element("div").classes("line"):
            self._menu_button()
            with ui.element("div").classes("field"):
                self.text = ui.textarea(placeholder=say("message"), on_change=self._suggest)
                self.text.props("borderless autogrow dense rows=1 input-class=field-text")
                self.text.props["aria-label"] = say("message")
                self.text.on("keydown.enter.exact.prevent", self._entered, js_handler=_VALUE_OF_KEY)
                self.text.on("keydown.up", lambda: self._move(-1)).on("keydown.down", lambda: self._move(1))
                self.text.on("keydown.esc", self._drop_context)
                self._attach_button()
            mic = ui.button(icon="mic", color=None).props("round flat").classes("mic")
            mic.props["aria-label"] = say("record")
            mic.on("click", self._recording, js_handler=_RECORDER.replace("USER", str(self._context.user_id))
                   .replace("CHAT", str(self._context.chat_id)))  # fmt: skip
            self._mic = mic
            send = ui.button(icon="send", on_click=lambda: self._submit(self.text.value or ""), color=None)
            send.props("round unelevated").classes("send")
            send.props["aria-label"] = say("send")
        # Quasar's uploader supplies the file dialog and the transfer; only its look is hidden.
        self._uploaders = {kind: self._uploader(kind, accept) for kind, (_, accept) in _FILES.items()}

    def _uploader(self, kind: str, accept: str) -> ui.upload:
        uploader = ui.upload(on_multi_upload=partial(self._uploaded, kind), auto_upload=True, multiple=True)
        return uploader.props(f'accept="{accept}"' if accept else "").classes("hidden")

    def _recording(self, event: events.GenericEventArguments) -> None:
        """Shows that the microphone is on or off, or why it is not available."""
        if event.args not in ("on", "off"):
            ui.notify(self._context.say("not-sent", reason=str(event.args)), type="negative")
        self._mic.props(f"icon={'stop_circle' if event.args == 'on' else 'mic'}")

    def _menu_button(self) -> None:
        with ui.button(icon="menu", color=None).props("round flat").classes("menu-button") as button:
            button.props["aria-label"] = self._context.say("menu")
            self._command_menu = ui.menu().props("anchor='top left' self='bottom left'").classes("command-menu")
        self.refresh_commands()

    def refresh_commands(self) -> None:
        """Shows the command menu that the bot has set for this person."""
        commands = self._context.telegram.commands_for(self._context.user_id, self._context.chat_id)
        app = menu_button_of(self._context.telegram.repository, self._context.chat_id)
        self._command_menu.clear()
        with self._command_menu:
            if app["type"] == "web_app" and self._context.private:
                with ui.menu_item(on_click=partial(self.open_app, app["web_app"]["url"])).classes("command"):
                    ui.icon("apps")
                    ui.label(app["text"]).classes("command-name")
            for command in commands:
                with ui.menu_item(on_click=partial(self.send_text, f"/{command['command']}")).classes("command"):
                    ui.label(f"/{command['command']}").classes("command-name")
                    ui.label(command["description"]).classes("command-text")
            if not commands:
                ui.menu_item("/start", on_click=lambda: self.send_text("/start"))

    def open_app(self, url: str) -> None:
        """Opens a Mini App in the colours of the page."""
        open_mini_app(self._context, url, dark=self._context.telegram.repository.setting("theme") is True)

    def _attach_button(self) -> None:
        say = self._context.say
        with ui.button(icon="attach_file", color=None).props("round flat").classes("attach-button") as button:
            button.props["aria-label"] = say("attach")
            with ui.menu().props("anchor='top right' self='bottom right'").classes("attach-menu"):
                for kind, (icon, _) in _FILES.items():
                    self._attachment(icon, say(_PHRASES.get(kind, kind)), partial(self._pick, kind))
                for media, icon in _MEDIA_ICONS.items():
                    self._attachment(icon, say(media), partial(self._send_media, media))
                self._attachment("person", say("contact"), self._offer_contact)
                self._attachment("forward", say("forward"), self._offer_forward)

    def _attachment(self, icon: str, label: str, act: Callable[[], object]) -> None:
        with ui.menu_item(on_click=act).classes("attachment"):
            ui.icon(icon)
            ui.label(label)

    # Sending

    def send_text(self, text: str) -> None:
        """Sends a text that was not typed: a command, a key of the keyboard, Start."""
        context = self._context
        self._guarded(lambda: context.people.say(context.user_id, text, chat_id=context.chat_id, extra=context.place()))

    def _entered(self, event: events.GenericEventArguments) -> None:
        text = str(event.args)
        exact = any(f"/{command['command']}" == text.strip() for command in self._offered)
        if self._offered and not exact:
            self._complete(self._offered[self._chosen])
            return
        self._submit(text)

    def _submit(self, text: str) -> None:
        if not text.strip():
            return
        if self._editing is not None:
            message_id = int(self._editing["message_id"])
            done = self._guarded(
                lambda: self._context.people.edit(
                    self._context.user_id, message_id, text, chat_id=self._context.chat_id
                )
            )
        else:
            reply_to = self._reply_id()
            done = self._guarded(
                lambda: self._context.people.say(
                    self._context.user_id,
                    text,
                    chat_id=self._context.chat_id,
                    reply_to=reply_to,
                    extra=self._context.place(),
                )
            )
        if done:
            self.text.set_value("")
            self._drop_context()

    def _send_media(self, media: str) -> None:
        self._send(MEDIA[media]())

    def _send(self, content: Json) -> None:
        reply_to = self._reply_id()
        send = self._context.people.send
        if self._guarded(
            lambda: send(
                self._context.user_id, content | self._context.place(), chat_id=self._context.chat_id, reply_to=reply_to
            )
        ):
            self._drop_context()

    def _reply_id(self) -> int | None:
        return None if self._reply_to is None else int(self._reply_to["message_id"])

    def _guarded(self, act: Callable[[], object]) -> bool:
        try:
            act()
        except (ActRefused, ApiRefusal) as error:
            ui.notify(self._context.say("not-sent", reason=str(error)), type="negative")
            return False
        self._sent()
        return True

    def _pick(self, kind: str) -> None:
        self._uploaders[kind].run_method("pickFiles")

    async def _uploaded(self, kind: str, event: events.MultiUploadEventArguments) -> None:
        """Sends the picked files, several pictures or files as an album; the text of the field becomes the caption."""
        album = {"media_group_id": secrets.token_hex(6)} if len(event.files) > 1 else {}
        for file in event.files:
            upload = Upload(file.name, file.content_type or "application/octet-stream", await file.read())
            try:
                content = with_file(self._context.telegram.repository, kind, upload)
            except ApiRefusal as error:
                ui.notify(self._context.say("not-sent", reason=error.description), type="negative")
                continue
            caption, _ = trimmed(self.text.value or "", [])
            self._send(content | album | ({"caption": caption} if caption else {}))
            self.text.set_value("")
        self._uploaders[kind].reset()

    def _offer_contact(self) -> None:
        ContactDialog(self._context, self._send).open()

    def _offer_forward(self) -> None:
        ForwardDialog(self._context, self._send).open()

    # Replies and edits

    def reply(self, message: Json) -> None:
        """Makes the next message a reply to this one."""
        self._editing, self._reply_to = None, message
        self._show_context("reply", self._context.say("reply-to", name=self._context.author(message)), message)

    def edit(self, message: Json) -> None:
        """Puts this message's text into the field; sending edits the message."""
        self._reply_to, self._editing = None, message
        self.text.set_value(str(message.get("text") or message.get("caption") or ""))
        self._show_context("edit", self._context.say("editing"), message)

    def _show_context(self, icon: str, title: str, message: Json) -> None:
        self._reply_bar.clear()
        with self._reply_bar:
            ui.icon(icon).classes("context-icon")
            with ui.element("div").classes("context-lines"):
                ui.label(title).classes("quote-author")
                ui.label(self._context.preview(message)).classes("quote-text")
            close = ui.button(icon="close", on_click=self._drop_context, color=None).props("flat round dense")
            close.props["aria-label"] = self._context.say("cancel")
        self._reply_bar.set_visibility(True)
        self.text.run_method("focus")

    def _drop_context(self) -> None:
        if self._editing is not None:
            self.text.set_value("")
        self._reply_to = self._editing = None
        self._reply_bar.set_visibility(False)

    # Commands while typing

    def _suggest(self, event: events.ValueChangeEventArguments[str | None]) -> None:
        typed = event.value or ""
        wanted = typed[1:].lower() if typed.startswith("/") and len(typed.split()) <= 1 else None
        commands = self._context.telegram.commands_for(self._context.user_id, self._context.chat_id)
        self._offered = [] if wanted is None else [c for c in commands if c["command"].startswith(wanted)]
        self._chosen = 0
        if not self.inline.typed(typed):
            self._show_suggestions()

    def _put(self, text: str) -> None:
        self.text.set_value(text)
        self.text.run_method("focus")

    def _move(self, step: int) -> None:
        if self._offered:
            self._chosen = (self._chosen + step) % len(self._offered)
            self._show_suggestions()

    def _show_suggestions(self) -> None:
        self._suggestions.clear()
        self._suggestions.set_visibility(bool(self._offered))
        with self._suggestions:
            for number, command in enumerate(self._offered):
                row = ui.element("div").classes("command" + (" chosen" if number == self._chosen else ""))
                with row.on("click", partial(self._complete, command)):
                    ui.label(f"/{command['command']}").classes("command-name")
                    ui.label(command["description"]).classes("command-text")

    def _complete(self, command: Json) -> None:
        self.text.set_value("")
        self.send_text(f"/{command['command']}")

    # Requests of the bot

    def obey_markup(self, message: Json) -> None:
        """Shows or removes a keyboard, or starts a reply, as a new message of the bot asks."""
        markup = message.get("reply_markup", {})
        if markup.get("force_reply"):
            self.reply(message)
        if "keyboard" in markup or "remove_keyboard" in markup:
            self.show_reply_keyboard()

    def show_reply_keyboard(self) -> None:
        """Shows the keyboard of the last message that brought one, unless a later message removed it."""
        history = self._context.telegram.repository.history(self._context.chat_id, 100)
        markups = [message.get("reply_markup", {}) for message in history]
        latest: Json = next((m for m in reversed(markups) if "keyboard" in m or "remove_keyboard" in m), {})
        rows = latest.get("keyboard", [])
        self._reply_keys.clear()
        self._reply_keys.set_visibility(bool(rows))
        with self._reply_keys:
            for row in rows:
                with ui.element("div").classes("keyboard-row"):
                    for key in row:
                        text = key if isinstance(key, str) else str(key["text"])
                        button = ui.button(text, on_click=partial(self.send_text, text), color=None)
                        button.props("flat no-caps").classes("key")
