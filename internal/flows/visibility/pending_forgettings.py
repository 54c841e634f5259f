"""The targets of pending forgettings: messages and quotes that no screen and no prompt shows."""

from collections.abc import Iterable, Sequence

from sqlalchemy import Connection

from internal.chronicle.view import HiddenMessages
from internal.dialogue import repository as dialogue
from internal.dialogue.model import Message
from internal.storage.forgetting import forgettings, hidings, traces
from internal.storage.forgetting.forgettings import EVERYTHING, Forgetting


def everything_asked(connection: Connection, user_id: int) -> Forgetting | None:
    """The pending request to forget everything: prompts hold no messages up to its `created_at`."""
    return _everything(forgettings.pending(connection, user_id))


def messages_to_forget(connection: Connection, user_id: int) -> set[str]:
    """The ids of messages, and of their files, that pending requests include: prompts do not hold them."""
    return to_forget(connection, user_id)[1]


def to_forget(connection: Connection, user_id: int) -> tuple[Forgetting | None, set[str]]:
    """Returns `everything_asked` and `messages_to_forget`."""
    asked = forgettings.pending(connection, user_id)
    return _everything(asked), hidings.of_requests(connection, user_id, [one.id for one in asked], "message")


def _everything(asked: Sequence[Forgetting]) -> Forgetting | None:
    return next((one for one in asked if one.kind == EVERYTHING), None)


def hidden_messages(connection: Connection, user_id: int) -> HiddenMessages:
    """The messages hidden by a pending request: single ones, those of a fragment, or everything up to the request."""
    asked = everything_asked(connection, user_id)
    hidden = frozenset(messages_to_forget(connection, user_id))
    return HiddenMessages(hidden, asked.created_at if asked is not None else None)


def quotes_shown(connection: Connection, user_id: int, found: Iterable[Message]) -> list[Message]:
    """The messages, without quotes that contain words of messages about to be forgotten."""
    said = list(found)
    if not any(message.quoted for message in said):
        return said
    everything = everything_asked(connection, user_id) is not None
    going = dialogue.by_ids(connection, user_id, sorted(messages_to_forget(connection, user_id)))
    holds = traces.LineTest(message.content for message in going)
    return [one.without_quote() if one.quoted and (everything or holds(one.quoted.text)) else one for one in said]
