"""The trigger of an update's events: a command, button or answer. Contains no words of the user."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any, Final

from aiogram.types import CallbackQuery, Message, Update

from bot.telegram.handlers import buttons
from bot.telegram.handlers.buttons import BUTTONS, Owned
from bot.telegram.menu import OWNER_COMMANDS
from bot.telegram.message_reader import is_command
from internal.access import service as access
from internal.access.model import User
from internal.dialogue.mailbox.model import InboxRow
from internal.events.trigger import UpdateTrigger

_ANSWERS: Final[Mapping[str, str]] = {
    "task": "/tasks",
    "task_when": "/tasks",
    "person": "/person",
    "edit": "/person",
    "merge": "/person",
    "join": "/facts",
    "correct": "/correct",
    "correct-sure": "/correct",
    "memory": "/correct",
    "forget": "/forget",
    "zone": "/timezone",
    "quiet": "/quiet",
    "asof": "/asof",
    "access": "/access",
    "team-name": "/team",
    "team-invite": "/team",
}
"""The command whose question is answered in words; other questions go by their own name."""

_ALIASES: Final[Mapping[str, str]] = {"task": "tasks"}


def trigger_of(update: Update, row: InboxRow, user: User, now: datetime) -> UpdateTrigger:
    """The trigger recorded with the update and with everything that it leads to."""
    payload: dict[str, Any] = {"update_id": row.update_id}
    if update.callback_query is not None:
        payload |= _button(update.callback_query)
    elif update.message is not None:
        payload |= _message(update.message, user, now)
    return UpdateTrigger(user.user_id, row.key, payload, now)


def _button(query: CallbackQuery) -> dict[str, str]:
    data = query.data or ""
    made = BUTTONS.get(data.partition(":")[0])
    if made is None:
        return {}
    try:
        action = _action(made.unpack(data))
    except (TypeError, ValueError):  # from an older version: the handlers answer that the button is too old
        return {"button": made.command}
    return {"button": made.command} | ({"action": action} if action else {})


def _action(pressed: Owned) -> str:
    match pressed:
        case buttons.TaskButton():
            return "yes" if pressed.tap is buttons.TaskTap.CONFIRM else pressed.tap.name.lower()
        case buttons.PersonButton() | buttons.TeamButton():
            return pressed.action.name.lower()
        case _:
            return ""


def _message(message: Message, user: User, now: datetime) -> dict[str, str]:
    if is_command(message):
        # An unknown command may be the user's own words.
        name = (message.text or "").split(maxsplit=1)[0].removeprefix("/").partition("@")[0].lower()
        name = _ALIASES.get(name, name)
        return {"command": f"/{name}"} if name in OWNER_COMMANDS else {}
    awaited = access.awaited(user, now, message.message_id)
    if awaited is not None:
        return {"answer": _ANSWERS.get(awaited.kind, awaited.kind)}
    return {"command": "contact"} if message.contact is not None else {}
