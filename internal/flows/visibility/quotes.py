"""What messages answer, without what is about to be forgotten."""

from collections.abc import Iterable

from sqlalchemy import Connection

from internal.dialogue import repository as dialogue
from internal.dialogue.model import Message
from internal.flows.visibility.pending_forgettings import everything_asked, messages_to_forget
from internal.storage.erasure import traces


def quotes_shown(connection: Connection, user_id: int, found: Iterable[Message]) -> list[Message]:
    """The same messages, without quotes that hold words of messages which are about to be forgotten."""
    said = list(found)
    if not any(message.quoted for message in said):
        return said
    everything = everything_asked(connection, user_id) is not None
    going = dialogue.by_ids(connection, user_id, sorted(messages_to_forget(connection, user_id)))
    holds = traces.Lines(message.content for message in going)
    return [one.without_quote() if one.quoted and (everything or holds(one.quoted.text)) else one for one in said]
