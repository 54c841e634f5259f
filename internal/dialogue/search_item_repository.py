"""What a message is found by: its words, told pictures included; its vector also holds the line before it.

Every line that anybody may be shown has a search item, written with the line itself; what has none is in no context of
another either. So whoever takes a line out of search has the line behind it made anew.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from datetime import timedelta
from typing import Any, Final

from sqlalchemy import Connection, bindparam, delete, exists, literal, select

from internal.dialogue.model import Message, visible
from internal.dialogue.rows import message_of
from internal.language.search.message_traits import PICTURE, traits_of
from internal.storage import search_items
from internal.storage.engine.upsert import upsert
from internal.storage.erasure import forgettings
from internal.storage.erasure.forgettings import EVERYTHING, Forgetting
from internal.storage.tables import messages, search_backlog, users
from internal.storage.tables import search_items as items
from internal.storage.vectors import MESSAGE

CONTEXT_GAP: Final = timedelta(hours=3)
"""A line said longer before is no context of the next."""

CONTEXT_CHARACTERS: Final = 300
"""Of the line before, its end."""

_NEAR: Final = 50
"""Places of the log in which the line before or behind is looked for: other lanes may stand between."""

_TOLD: Final = ("description", "title", "name")
"""What of an attachment tells what it is, the best first."""

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


def put_item(connection: Connection, message: Message) -> None:
    """Makes a message findable, with the line before it as it can be found now; hidden and empty ones are left out."""
    text = words_of(message)
    if not text or not _may_be_found(message):
        return
    search_items.put(
        connection,
        message.user_id,
        MESSAGE,
        message.id,
        text,
        message.rev,
        context=_context(connection, message),
        traits=traits_of(text) | (PICTURE if _shows(message) else 0),
    )


def follow_edit(connection: Connection, message: Message) -> None:
    """After an edit: what told the old words goes at once, from the line behind it too."""
    if _is_hidden(forgettings.pending(connection, message.user_id), message):
        return
    search_items.forget_words(connection, message.user_id, MESSAGE, message.id)
    if words_of(message) and _may_be_found(message):
        put_item(connection, message)
    else:
        search_items.remove(connection, message.user_id, MESSAGE, [message.id])
    _renew(connection, _behind(connection, [message]))


def take_out(connection: Connection, gone: Sequence[Message]) -> None:
    """Takes messages of one owner out of search for good, and what they said out of the lines behind them."""
    if gone:
        search_items.remove(connection, gone[0].user_id, MESSAGE, [message.id for message in gone])
        _renew(connection, _behind(connection, gone))


def hide(connection: Connection, hidden: Sequence[Message]) -> None:
    """Takes messages of one owner out of search until they are shown again; their vectors wait for that."""
    if hidden:
        search_items.hide(connection, hidden[0].user_id, MESSAGE, [message.id for message in hidden])
        _renew(connection, _behind(connection, hidden))


def hide_all(connection: Connection, user_id: int) -> None:
    """`hide` for everything an owner and his bots said up to now."""
    search_items.hide_kind(connection, user_id, MESSAGE)


def show(connection: Connection, shown: Sequence[Message]) -> None:
    """Makes messages of one owner findable again that were hidden, but for those that another request still hides."""
    if not shown:
        return
    asked = forgettings.pending(connection, shown[0].user_id)
    there = [message for message in shown if not _is_hidden(asked, message)]
    for message in there:
        put_item(connection, message)
    _renew(connection, _behind(connection, there))


def put_later(connection: Connection, user_id: int) -> None:
    """Has all messages of an owner made findable in the background."""
    row = upsert(search_backlog).values(user_id=user_id, seq=0)
    connection.execute(row.on_conflict_do_update(index_elements=["user_id"], set_={"seq": 0}))


def put_some(connection: Connection, *, limit: int) -> int:
    """Makes up to `limit` messages of one owner findable that `put_later` left; how many were looked at.

    The earliest come first, so that each finds the line before it.
    """
    backlog = connection.execute(select(search_backlog).limit(1)).one_or_none()
    if backlog is None:
        return 0
    user_id = backlog.user_id
    query = select(messages).where(messages.c.user_id == user_id, messages.c.seq > backlog.seq)
    found = [message_of(row) for row in connection.execute(query.order_by(messages.c.seq).limit(limit))]
    asked = forgettings.pending(connection, user_id)
    for message in found:
        if not _is_hidden(asked, message):
            put_item(connection, message)
    place = search_backlog.c.user_id == user_id
    if len(found) < limit:
        connection.execute(delete(search_backlog).where(place))
    else:
        connection.execute(search_backlog.update().where(place).values(seq=found[-1].seq))
    return len(found)


def waits(connection: Connection) -> bool:
    """Whether messages are left that `put_some` is to make findable."""
    return bool(connection.execute(select(exists().select_from(search_backlog))).scalar_one())


def words_of(message: Message) -> str:
    """What a message says by itself: its text, and what its attachments are told to show."""
    told = [f"[{kind}: {words}]" for kind, words in map(_told, message.attachments) if words]
    return " ".join(part for part in (message.content.strip(), *told) if part)


def _told(attachment: dict[str, Any]) -> tuple[str, str]:
    kind = str(attachment.get("kind") or "attachment")
    if kind in _NAMES_ONLY:
        return kind, ""
    words = (attachment.get(name) for name in _TOLD)
    return kind, next((word.strip() for word in words if isinstance(word, str) and word.strip()), "")


def _shows(message: Message) -> bool:
    return any(attachment.get("kind") == "photo" for attachment in message.attachments)


def _may_be_found(message: Message) -> bool:
    return message.role != "system" and bool(visible([message]))


def _is_hidden(asked: Iterable[Forgetting], message: Message) -> bool:
    """Whether its forgetting was asked for, by itself, with its fragment or with everything said till then."""
    for one in asked:
        if one.kind == EVERYTHING and message.timestamp <= one.created_at:
            return True
        if one.ref_id is not None and (one.kind, one.ref_id) in (
            ("message", message.id),
            ("episode", message.episode_id),
        ):
            return True
    return False


def _context(connection: Connection, message: Message) -> str | None:
    before = connection.execute(_BEFORE, _place(message)).one_or_none()
    near = before is not None and abs(message.timestamp - before.timestamp) <= CONTEXT_GAP
    name = _speaker(connection, message.user_id, message.role, message.forward.name if message.forward else None)
    lines = [f"{name}:"] if name else []
    if near and before is not None:
        origin = before.forward["name"] if before.forward else None
        speaker = name
        if (before.role, origin) != (message.role, message.forward.name if message.forward else None):
            speaker = _speaker(connection, message.user_id, before.role, origin)
        said = before.text[-CONTEXT_CHARACTERS:]
        lines.insert(0, f"{speaker}: {said}" if speaker else said)
    return "\n".join(lines) or None


def _speaker(connection: Connection, user_id: int, role: str, origin: str | None) -> str:
    """Who said a line, as far as that is known: whom it was forwarded from, or the owner."""
    if origin:
        return origin
    name = connection.execute(_NAME, {"owner": user_id}).scalar_one_or_none() if role == "user" else None
    return name or ""


def _place(message: Message) -> dict[str, Any]:
    return {
        "owner": message.user_id,
        "chat": message.chat_id,
        "thread": message.thread_id,
        "seq": message.seq,
    }


def _behind(connection: Connection, lines: Sequence[Message]) -> list[Message]:
    """The lines behind these that can be found, in whose context they may stand, each once."""
    found: dict[str, Message] = {}
    for message in lines:
        row = connection.execute(_BEHIND, _place(message)).one_or_none()
        if row is not None and row.timestamp - message.timestamp <= CONTEXT_GAP:
            found[row.id] = message_of(row)
    return list(found.values())


def _renew(connection: Connection, lines: Collection[Message]) -> None:
    """Gives lines the context that they have now: vectors of the old one still tell it."""
    for message in lines:
        search_items.forget_words(connection, message.user_id, MESSAGE, message.id)
        put_item(connection, message)
