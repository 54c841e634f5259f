"""The text of an empty list: either nothing is known, or messages are still to be read."""

from sqlalchemy import Connection

from bot.telegram.i18n import phrase
from internal.access.model import User
from internal.flows.views.status import reading_state


def nothing_yet(connection: Connection, user: User, text: str) -> str:
    """The text of an empty list, and whether something is not read yet. Called in the read that finds the list empty:
    otherwise something archived in between would be in neither.
    """
    match reading_state(connection, user.user_id):
        case "reading":
            return phrase(user.lang, "still-reading")
        case "waiting":
            return f"{text}\n\n{phrase(user.lang, 'not-read-yet')}"
    return text
