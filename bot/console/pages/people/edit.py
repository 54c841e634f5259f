"""The owner's own changes to a profile."""

from collections.abc import Awaitable, Callable

from nicegui import ui

from bot.console.elements import words
from bot.console.page_context import PageContext
from bot.console.pages.people.circles import CIRCLES, circle_name
from bot.console.pages.people.dialogs import DialogError, answer, answers, asking, cancel
from bot.console.rest import Json

Save = Callable[[Json, Json], Awaitable[None]]
"""Takes the person and the changes."""


def edit_dialog(context: PageContext, person: Json, save: Save) -> None:
    """Asks for changes and sends only those; the agents go on updating the other fields."""
    say, now = context.say, dict[str, str]()
    before = {
        "display_name": person["display_name"],
        "aliases": ", ".join(person["aliases"]),
        "username": person["username"] or "",
        "circle": person["circle"],
        "bio": person["bio"],
    }
    with asking(context, say("people-edit-title"), say("people-edit-text")) as dialog:
        fault = DialogError(context)
        for name, label, kind in (
            ("display_name", "people-name", "input"),
            ("aliases", "people-aliases", "input"),
            ("username", "people-username", "input"),
            ("circle", "people-circle", "select"),
            ("bio", "people-bio", "textarea"),
        ):
            hint = say("people-aliases-hint") if name == "aliases" else ""
            _field(context, say(label), kind, name, before[name], now, hint)

        async def done() -> None:
            changes = {name: value for name, value in now.items() if value.strip() != before[name]}
            with fault.shown():
                if changes:
                    await save(person, _changed_fields(changes))
                dialog.close()

        with answers():
            cancel(context, dialog)
            answer(say("people-save"), done)


def _changed_fields(changes: dict[str, str]) -> Json:
    sent: Json = {name: value.strip() for name, value in changes.items()}
    if "aliases" in sent:
        sent["aliases"] = [one.strip() for one in changes["aliases"].split(",") if one.strip()]
    if "username" in sent:
        sent["username"] = sent["username"] or None
    return sent


def _field(context: PageContext, label: str, kind: str, name: str, value: str, now: dict[str, str], hint: str) -> None:
    with ui.element("label").classes("field"):
        words("span", label)
        field = _Value(kind, value, lambda text: now.update({name: text}))
        if kind == "select":
            with field:
                for circle in CIRCLES:
                    option = words("option", circle_name(context, circle)).props("selected" if circle == value else "")
                    option.props["value"] = circle
        if hint:
            words("small", hint)


class _Value(ui.element):
    """A plain HTML field, which phones and screen readers know."""

    def __init__(self, tag: str, value: str, changed: Callable[[str], None]) -> None:
        super().__init__(tag)
        # Given as `value`, typed text would be overwritten with every change on the page.
        if tag != "select":
            self._props["defaultValue"] = value
        self.props("autocomplete=off")
        # An empty text alone would count as unchanged.
        handler = "(event) => emit({text: event.target.value})"
        self.on("input", lambda event: changed(str(event.args["text"])), js_handler=handler)
