"""The search items of messages: their own words and descriptions of pictures; the vector also covers the line before.

Every message that may be shown has a search item, written with the message. A message without one is no context of
another, so removing one renews the item of the next line.
"""

from collections.abc import Collection, Sequence
from datetime import timedelta
from typing import Any, Final

from sqlalchemy import Connection, bindparam, delete, exists, literal, select

from internal.dialogue.message_rows import message_of
from internal.dialogue.model import Message, visible
from internal.language.search.message_traits import PICTURE, traits_of
from internal.storage import search_items
from internal.storage.engine.upsert import upsert
from internal.storage.forgetting import forgettings, hidings
from internal.storage.forgetting.forgettings import EVERYTHING
from internal.storage.tables import messages, search_backlog, search_items as items, users
from internal.storage.vectors import MESSAGE

CONTEXT_GAP: Final = timedelta(hours=3)
"""The longest time between a line and the next for which it is context."""

CONTEXT_CHARACTERS: Final = 300
"""Characters at the end of the line before that count as context."""

_LONG_MESSAGE: Final = 1_000
"""Characters from which a line is no context: the end of a page is unrelated to the next message."""

_NEAR: Final = 50
"""The number of log entries searched for the previous or next line: other lanes may lie between."""

_DESCRIPTIONS: Final = ("description", "title", "name")
"""Fields of an attachment that describe it, the best first."""

_NAMES_ONLY: Final = frozenset({"mention"})
"""Attachments that repeat words of the text."""

# Run at every message: built once, for building a statement takes longer than running it.
_ITEM: Final = literal(f"{MESSAGE}:") + messages.c.id
_FOUND: Final = (items.c.user_id == messages.c.user_id) & (items.c.item == _ITEM)
_LANE: Final = (
    messages.c.user_id == bindparam("owner"),
    messages.c.chat_id.is_not_distinct_from(bindparam("chat")),
    messages.c.thread_id.is_not_distinct_from(bindparam("thread")),
)
_BEFORE: Final = (
    select(messages.c.id, messages.c.role, messages.c.forward, messages.c.timestamp, items.c.text)
    .join(items, _FOUND)
    .where(*_LANE, messages.c.seq < bindparam("seq"), messages.c.seq >= bindparam("seq") - _NEAR)
    .order_by(messages.c.seq.desc())
    .limit(1)
)
_BEHIND: Final = (
    select(*messages.c)
    .join(items, _FOUND)
    .where(*_LANE, messages.c.seq > bindparam("seq"), messages.c.seq <= bindparam("seq") + _NEAR)
    .order_by(messages.c.seq)
    .limit(1)
)
_NAME: Final = select(users.c.name).where(users.c.user_id == bindparam("owner"))


def put_item(connection: Connection, message: Message, owner_name: str | None = None) -> None:
    """Makes a message searchable with its present context. Hidden and empty messages are left out.

    The name of the owner is read unless it is known.
    """
    text = words_of(message)
    if not text or not _may_be_found(message):
        return
    search_items.save_search_item(
        connection,
        message.user_id,
        MESSAGE,
        message.id,
        text,
        message.rev,
        context=_context(connection, message, owner_name),
        traits=traits_of(text) | (PICTURE if _shows(message) else 0),
    )


def follow_edit(connection: Connection, message: Message) -> None:
    """Renews the search item after an edit, and the context of the next line, in one step."""
    if not _visible(connection, message.user_id, [message]):
        return
    search_items.forget_words(connection, message.user_id, MESSAGE, message.id)
    if words_of(message) and _may_be_found(message):
        put_item(connection, message)
    else:
        search_items.remove(connection, message.user_id, MESSAGE, [message.id])
    _renew(connection, _following_lines(connection, [message]))


def take_out(connection: Connection, gone: Sequence[Message]) -> None:
    """Takes messages of one owner out of search for good, and out of the context of the next lines."""
    if gone:
        search_items.remove(connection, gone[0].user_id, MESSAGE, [message.id for message in gone])
        _renew(connection, _following_lines(connection, gone))


def hide(connection: Connection, hidden: Sequence[Message]) -> None:
    """Takes messages of one owner out of search until they are visible again; keeps their vectors."""
    if hidden:
        search_items.hide(connection, hidden[0].user_id, MESSAGE, [message.id for message in hidden])
        _renew(connection, _following_lines(connection, hidden))


def hide_all(connection: Connection, user_id: int) -> None:
    """Runs `hide` for all messages in an owner's log."""
    search_items.hide_kind(connection, user_id, MESSAGE)


def show(connection: Connection, shown: Sequence[Message]) -> None:
    """Makes hidden messages of one owner searchable again, except those that another request still hides."""
    if not shown:
        return
    there = _visible(connection, shown[0].user_id, shown)
    for message in there:
        put_item(connection, message)
    _renew(connection, _following_lines(connection, there))


def put_later(connection: Connection, user_id: int) -> None:
    """Marks all messages of an owner to be made searchable in the background."""
    row = upsert(search_backlog).values(user_id=user_id, seq=0)
    connection.execute(row.on_conflict_do_update(index_elements=["user_id"], set_={"seq": 0}))


def put_some(connection: Connection, *, limit: int) -> int:
    """Makes up to `limit` messages of one owner searchable that `put_later` marked. Returns how many were examined.

    The earliest come first, so that each finds the line before it.
    """
    backlog = connection.execute(select(search_backlog).limit(1)).one_or_none()
    if backlog is None:
        return 0
    user_id = backlog.user_id
    query = select(messages).where(messages.c.user_id == user_id, messages.c.seq > backlog.seq)
    found = [message_of(row) for row in connection.execute(query.order_by(messages.c.seq).limit(limit))]
    for message in _visible(connection, user_id, found):
        put_item(connection, message)
    of_owner = search_backlog.c.user_id == user_id
    if len(found) < limit:
        connection.execute(delete(search_backlog).where(of_owner))
    else:
        connection.execute(search_backlog.update().where(of_owner).values(seq=found[-1].seq))
    return len(found)


def waits(connection: Connection) -> bool:
    """Whether messages are left for `put_some`."""
    return bool(connection.execute(select(exists().select_from(search_backlog))).scalar_one())


def words_of(message: Message) -> str:
    """The words of a message alone: its text without cards, and the descriptions of its attachments."""
    described = [f"[{kind}: {words}]" for kind, words in map(_description, message.attachments) if words]
    return " ".join(part for part in (message.spoken.strip(), *described) if part)


def _description(attachment: dict[str, Any]) -> tuple[str, str]:
    kind = str(attachment.get("kind") or "attachment")
    if kind in _NAMES_ONLY:
        return kind, ""
    words = (attachment.get(name) for name in _DESCRIPTIONS)
    return kind, next((word.strip() for word in words if isinstance(word, str) and word.strip()), "")


def _shows(message: Message) -> bool:
    return any(attachment.get("kind") == "photo" for attachment in message.attachments)


def _may_be_found(message: Message) -> bool:
    return message.role != "system" and bool(visible([message]))


def _visible(connection: Connection, user_id: int, found: Sequence[Message]) -> list[Message]:
    """The messages among these that no pending request hides."""
    asked = [one.created_at for one in forgettings.pending(connection, user_id) if one.kind == EVERYTHING]
    hidden = hidings.hidden_among(connection, user_id, "message", [message.id for message in found])
    return [one for one in found if one.id not in hidden and not any(one.timestamp <= at for at in asked)]


def _context(connection: Connection, message: Message, owner_name: str | None) -> str | None:
    before = connection.execute(_BEFORE, _position(message)).one_or_none()
    near = (
        before is not None
        and abs(message.timestamp - before.timestamp) <= CONTEXT_GAP
        and len(before.text) < _LONG_MESSAGE
    )
    if owner_name is None:
        owner_name = connection.execute(_NAME, {"owner": message.user_id}).scalar_one_or_none()
    name = _speaker(message.role, message.forward.name if message.forward else None, owner_name)
    lines = [f"{name}:"] if name else []
    if near and before is not None:
        origin = before.forward["name"] if before.forward else None
        speaker = name
        if (before.role, origin) != (message.role, message.forward.name if message.forward else None):
            speaker = _speaker(before.role, origin, owner_name)
        said = before.text[-CONTEXT_CHARACTERS:]
        lines.insert(0, f"{speaker}: {said}" if speaker else said)
    return "\n".join(lines) or None


def _speaker(role: str, origin: str | None, owner_name: str | None) -> str:
    """The speaker of a line if known: the original author of a forward, or the owner."""
    return origin or (owner_name if role == "user" else None) or ""


def _position(message: Message) -> dict[str, Any]:
    return {"owner": message.user_id, "chat": message.chat_id, "thread": message.thread_id, "seq": message.seq}


def _following_lines(connection: Connection, lines: Sequence[Message]) -> list[Message]:
    """The next searchable line after each of these, whose context they may be, each once."""
    found: dict[str, Message] = {}
    for message in lines:
        row = connection.execute(_BEHIND, _position(message)).one_or_none()
        if row is not None and row.timestamp - message.timestamp <= CONTEXT_GAP:
            found[row.id] = message_of(row)
    return list(found.values())


def _renew(connection: Connection, lines: Collection[Message]) -> None:
    """Gives lines their present context: vectors of a removed one would still reveal it."""
    for message in lines:
        search_items.forget_words(connection, message.user_id, MESSAGE, message.id)
        put_item(connection, message)
