"""Dialogs: a new person, a contact card, a forwarded message."""

import time
from collections.abc import Callable

from nicegui import ui

from bot.shared.languages import LANGUAGES
from bot.simulator.entities import with_found
from bot.simulator.page.page_context import PageContext, full_name
from bot.simulator.repository import Json

_FORWARDED_AGO = 3600


class _Dialog:
    """A card with a title, a line of explanation, fields, and two buttons."""

    def __init__(self, context: PageContext, title: str, hint: str, action: str) -> None:
        self._context = context
        with ui.dialog() as self._dialog, ui.card().classes("dialog"):
            ui.label(context.say(title)).classes("dialog-title")
            ui.label(context.say(hint)).classes("dialog-hint")
            self._fields()
            with ui.row().classes("dialog-buttons"):
                ui.button(context.say("cancel"), on_click=self._dialog.close, color=None).props("flat no-caps")
                ui.button(context.say(action), on_click=self._submit, color=None).props("unelevated no-caps")
        self._dialog.on("hide", self._dialog.delete)

    def open(self) -> None:
        self._dialog.open()

    def _input(self, phrase: str, value: str = "") -> ui.input:
        return ui.input(self._context.say(phrase), value=value).props("outlined dense").classes("dialog-field")

    def _required(self, field: ui.input | ui.textarea) -> str | None:
        """The field's text, or None if it is empty, which is marked."""
        text = str(field.value or "").strip()
        field.props("error" if not text else "", remove="" if not text else "error")
        return text or None

    def _fields(self) -> None:
        raise NotImplementedError

    def _read(self) -> Json | None:
        """The values that were filled in, or None if one is missing, which is marked."""
        raise NotImplementedError

    def _done(self, filled: Json) -> None:
        raise NotImplementedError

    def _submit(self) -> None:
        filled = self._read()
        if filled is not None:
            self._dialog.close()
            self._done(filled)  # last: it may lay out the page again, which removes this dialog


class PersonDialog(_Dialog):
    """Adds a person; `added` gets the User object."""

    def __init__(self, context: PageContext, added: Callable[[Json], None]) -> None:
        self._added = added
        super().__init__(context, "add-person", "add-person-hint", "add")

    def _fields(self) -> None:
        self._first = self._input("first-name").props("autofocus").on("keydown.enter", self._submit)
        self._last = self._input("last-name")
        self._username = self._input("username").props('prefix="@"')
        self._language = ui.select(LANGUAGES, label=self._context.say("language"), value=self._context.say.language)
        self._language.props("outlined dense").classes("dialog-field")

    def _read(self) -> Json | None:
        first = self._required(self._first)
        if first is None:
            return None
        username = "".join(letter for letter in str(self._username.value or "") if letter.isalnum() or letter == "_")
        last, language = str(self._last.value or "").strip(), str(self._language.value)
        return {"first_name": first, "last_name": last, "username": username, "language_code": language}

    def _done(self, filled: Json) -> None:
        self._added(self._context.telegram.add_user(None, **filled))


class GroupDialog(_Dialog):
    """Makes a group with the bot; `added` gets its Chat object."""

    def __init__(self, context: PageContext, added: Callable[[Json], None]) -> None:
        self._added = added
        super().__init__(context, "add-group", "add-group-hint", "add")

    def _fields(self) -> None:
        context = self._context
        others = {
            one["id"]: full_name(one) for one in context.telegram.repository.users() if one["id"] != context.user_id
        }
        self._title = self._input("group-title").props("autofocus")
        self._members = ui.select(others, multiple=True, label=context.say("group-people"), value=list(others)[:2])
        self._members.props("outlined dense use-chips").classes("dialog-field")
        self._everything = ui.switch(context.say("group-everything"), value=False)

    def _read(self) -> Json | None:
        title = self._required(self._title)
        members = [self._context.user_id, *self._members.value]
        return None if title is None else {"title": title, "members": members}

    def _done(self, filled: Json) -> None:
        self._added(self._context.people.create_group(**filled, privacy=not self._everything.value))


class TopicDialog(_Dialog):
    """Names a new topic."""

    def __init__(self, context: PageContext, named: Callable[[str], None]) -> None:
        self._named = named
        super().__init__(context, "add-topic", "add-topic-hint", "add")

    def _fields(self) -> None:
        self._name = self._input("topic-name").props("autofocus").on("keydown.enter", self._submit)

    def _read(self) -> Json | None:
        name = self._required(self._name)
        return None if name is None else {"name": name}

    def _done(self, filled: Json) -> None:
        self._named(str(filled["name"]))


class ContactDialog(_Dialog):
    """Makes a contact card; `send` gets the Message fields."""

    def __init__(self, context: PageContext, send: Callable[[Json], None]) -> None:
        self._send = send
        super().__init__(context, "share-contact", "share-contact-hint", "send")

    def _fields(self) -> None:
        self._first = self._input("first-name").props("autofocus")
        self._last = self._input("last-name")
        self._phone = self._input("phone", "+380441234567")
        self._account = ui.switch(self._context.say("with-account"), value=True)

    def _read(self) -> Json | None:
        first, phone = self._required(self._first), self._required(self._phone)
        if first is None or phone is None:
            return None
        contact: Json = {"phone_number": phone, "first_name": first}
        last = str(self._last.value or "").strip()
        contact |= {"last_name": last} if last else {}
        contact |= (
            {"user_id": self._context.telegram.outsider(f"{first} {last}".strip())["id"]} if self._account.value else {}
        )
        return {"contact": contact}

    def _done(self, filled: Json) -> None:
        self._send(filled)


class ForwardDialog(_Dialog):
    """Makes a forwarded message of any origin; `send` gets the Message fields."""

    def __init__(self, context: PageContext, send: Callable[[Json], None]) -> None:
        self._send = send
        super().__init__(context, "forward", "forward-hint", "send")

    def _fields(self) -> None:
        say = self._context.say
        origins = {
            "user": say("from-person"), "hidden_user": say("from-hidden"), "channel": say("from-channel"),
            "chat": say("from-group"),
        }  # fmt: skip
        self._kind = ui.select(origins, value="user").props("outlined dense").classes("dialog-field")
        self._name = self._input("name").props("autofocus")
        self._text = ui.textarea(say("text")).props("outlined dense autogrow").classes("dialog-field")

    def _read(self) -> Json | None:
        name, text = self._required(self._name), self._required(self._text)
        if name is None or text is None:
            return None
        found = with_found(text, [])
        content: Json = {"text": text, "forward_origin": self._origin(str(self._kind.value), name)}
        return content | ({"entities": found} if found else {})

    def _done(self, filled: Json) -> None:
        self._send(filled)

    def _origin(self, kind: str, name: str) -> Json:
        base: Json = {"type": kind, "date": int(time.time()) - _FORWARDED_AGO}
        if kind == "hidden_user":
            return {**base, "sender_user_name": name}
        if kind == "user":
            return {**base, "sender_user": self._known(name) or self._context.telegram.outsider(name)}
        number = -1_001_500_000_000 - self._context.telegram.outsider(name)["id"] % 1_000_000
        if kind == "channel":
            return {**base, "chat": {"id": number, "type": "channel", "title": name}, "message_id": 1}
        return {**base, "sender_chat": {"id": number, "type": "supergroup", "title": name}}

    def _known(self, name: str) -> Json | None:
        users = self._context.telegram.repository.users()
        return next((user for user in users if name in (full_name(user), user["first_name"])), None)
