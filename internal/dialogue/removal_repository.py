"""Erases messages of the dialogue for good."""

from collections.abc import Collection, Iterable, Iterator

from sqlalchemy import BigInteger, Connection, cast, delete, exists, select, update

from internal.dialogue import search_item_repository
from internal.dialogue.message_rows import message_of
from internal.dialogue.model import Message
from internal.dialogue.repository import by_ids
from internal.storage.change_log import record_changes
from internal.storage.chunks import chunks, delete_with, rows_with
from internal.storage.tables import dialogue_state, messages, reply_sources, turns

CHANGE_KIND = "message"


def of_episode(connection: Connection, user_id: int, episode_id: str) -> list[Message]:
    """Every message of a fragment in order, hidden and system ones included."""
    query = select(messages.c.id).where(messages.c.user_id == user_id, messages.c.episode_id == episode_id)
    ids = list(connection.execute(query.order_by(messages.c.seq)).scalars())
    return [message for part in chunks(ids) for message in by_ids(connection, user_id, part)]


def every(connection: Connection, user_id: int) -> Iterator[Message]:
    """All messages of an owner."""
    yield from map(message_of, connection.execute(select(messages).where(messages.c.user_id == user_id)))


def answered(connection: Connection, user_id: int, found: Iterable[Message]) -> list[str]:
    """The ids of the messages among these whose turn has ended, or that belong to none."""
    by_turn = [(message.id, message.turn_id or "") for message in found]
    open_ = select(turns.c.id).where(turns.c.user_id == user_id, turns.c.state.in_(("collecting", "running")))
    running = {row.id for row in rows_with(connection, open_, turns.c.id, {turn_id for _, turn_id in by_turn})}
    return [message_id for message_id, turn_id in by_turn if turn_id not in running]


def drop(connection: Connection, user_id: int, message_ids: Collection[str]) -> None:
    """Deletes messages with their reply sources, and moves the dialogue's cursor back to a message that is left."""
    for part in chunks(message_ids):
        search_item_repository.take_out(connection, by_ids(connection, user_id, part))
    delete_with(connection, reply_sources, user_id, reply_sources.c.message_id, message_ids)
    delete_with(connection, messages, user_id, messages.c.id, message_ids)
    record_changes(connection, user_id, CHANGE_KIND, message_ids, "delete")
    drop_sources(connection, user_id, "message", message_ids)
    _move_cursor_back(connection, user_id)


def drop_sources(connection: Connection, user_id: int, kind: str, ref_ids: Iterable[str]) -> None:
    """Removes these from the sources of all replies."""
    for part in chunks(list(ref_ids)):
        named = (reply_sources.c.kind == kind) & reply_sources.c.ref_id.in_(part)
        connection.execute(delete(reply_sources).where(reply_sources.c.user_id == user_id, named))


def known_from_messages(connection: Connection, user_id: int, telegram_id: int) -> bool:
    """Whether the metadata of a stored message (a forward or a contact) names this Telegram account."""
    ours = messages.c.user_id == user_id
    forwarded = cast(messages.c.forward["user_id"].as_string(), BigInteger) == telegram_id
    if connection.execute(select(messages.c.seq).where(ours, forwarded).limit(1)).first():
        return True
    attached = connection.execute(select(messages.c.attachments).where(ours, messages.c.attachments.is_not(None)))
    return any(one.get("telegram_id") == telegram_id for found in attached.scalars() for one in found or ())


def _move_cursor_back(connection: Connection, user_id: int) -> None:
    """Moves the cursor away from a deleted message: otherwise all messages would count as unpublished."""
    cursor = dialogue_state.c.last_published_message_id
    there = exists().where(messages.c.user_id == user_id, messages.c.id == cursor)
    newest = (
        select(messages.c.id)
        .where(messages.c.user_id == user_id, messages.c.episode_id.is_not(None))
        .order_by(messages.c.seq.desc())
        .limit(1)
        .scalar_subquery()
    )
    lost = update(dialogue_state).where(dialogue_state.c.user_id == user_id, cursor.is_not(None), ~there)
    connection.execute(lost.values(last_published_message_id=newest))
