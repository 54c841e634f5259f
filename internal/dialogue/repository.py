"""Messages and dialogue state in the database."""

from array import array
from collections.abc import Sequence
from datetime import datetime
from typing import Any, Final

from sqlalchemy import (
    ColumnElement,
    Connection,
    FromClause,
    Select,
    Text,
    bindparam,
    case,
    cast,
    func,
    insert,
    select,
    update,
)

from internal.dialogue import search_item_repository
from internal.dialogue.message_rows import AS_STORED, kept_messages, message_of, plain_forward
from internal.dialogue.model import UNDELIVERED, DialogueState, DialogueStateRow, Incoming, Message, Role, Turn
from internal.storage.engine.row_policies import across_owners
from internal.storage.engine.upsert import upsert
from internal.storage.owner_counters import next_message_number, next_rev, note_change
from internal.storage.rows import read_one
from internal.storage.tables import dialogue_state, messages
from internal.storage.types import Timestamp, new_id

MOST_SEQ: Final = 2**63 - 1

# Runs at every message and is built once: building a statement takes several times as long as running it.
_INSERT: Final = insert(messages).returning(*messages.c)
# The same for the context of a prompt.
_BY_IDS: Final = select(messages).where(
    messages.c.user_id == bindparam("owner"), messages.c.id.in_(bindparam("ids", expanding=True))
)
_SENT: Final = select(messages).where(
    messages.c.user_id == bindparam("owner"),
    messages.c.bot_id == bindparam("bot"),
    messages.c.chat_id == bindparam("chat"),
    messages.c.tg_id == bindparam("number"),
)
_OF_TURN: Final = (
    select(messages)
    .where(
        messages.c.user_id == bindparam("owner"),
        messages.c.seq >= bindparam("first"),  # otherwise the whole log would be read
        messages.c.turn_id == bindparam("turn"),
        messages.c.role == "user",
    )
    .order_by(messages.c.seq)
)
_BEFORE: Final = (
    select(*AS_STORED)
    .where(messages.c.user_id == bindparam("owner"), messages.c.seq < bindparam("before"))
    .order_by(messages.c.seq.desc())
    .limit(bindparam("most"))
)
_TOUCH: Final = (
    upsert(dialogue_state)
    .values(user_id=bindparam("owner"), last_activity=bindparam("at"), is_active=True)
    .on_conflict_do_update(
        index_elements=["user_id"], set_={"last_activity": bindparam("at", type_=Timestamp), "is_active": True}
    )
)
_this: Final = (messages.c.user_id == bindparam("owner")) & (messages.c.id == bindparam("message"))
_other: Final = messages.alias("other")
# A local Telegram server with a deleted folder restarts its numbers, so the number may be taken.
_TAKEN: Final = select(_other.c.seq).where(
    _other.c.user_id == bindparam("owner"),
    _other.c.bot_id == messages.c.bot_id,
    _other.c.chat_id == messages.c.chat_id,
    _other.c.tg_id == bindparam("number"),
)
_DELIVERED: Final = update(messages).where(_this).values(delivery=bindparam("came"))
_NUMBERED: Final = _DELIVERED.values(
    tg_id=case((_TAKEN.exists(), messages.c.tg_id), else_=bindparam("number", type_=messages.c.tg_id.type))
)


def add_incoming(
    connection: Connection, incoming: Incoming, *, metadata: dict[str, Any], turn_id: str | None
) -> Message | None:
    """Stores a user's message. Returns None if this Telegram message is stored already."""
    if find_incoming(connection, incoming) is not None:
        return None
    return _insert(
        connection,
        incoming.user_id,
        role="user",
        content=incoming.text,
        timestamp=incoming.timestamp,
        user_metadata=metadata,
        sender_id=incoming.speaker.id if incoming.speaker else incoming.user_id,
        bot_id=incoming.bot_id,
        chat_id=incoming.chat_id,
        thread_id=incoming.thread_id,
        tg_id=incoming.tg_id,
        reply_to=incoming.reply_to,
        forward=plain_forward(incoming.forward),
        attachments=incoming.attachments or None,
        edited_at=incoming.edited_at,
        turn_id=turn_id,
    )


def add(
    connection: Connection,
    user_id: int,
    role: Role,
    content: str,
    *,
    now: datetime,
    user_metadata: dict[str, Any] | None = None,
    turn_id: str | None = None,
    bot_id: int | None = None,
    chat_id: int | None = None,
    thread_id: int | None = None,
    delivery: str | None = None,
) -> Message:
    """Stores a message that did not come from Telegram: an answer, a hidden instruction, a system message."""
    return _insert(
        connection,
        user_id,
        role=role,
        content=content,
        timestamp=now,
        user_metadata=user_metadata,
        bot_id=bot_id,
        chat_id=chat_id,
        thread_id=thread_id,
        turn_id=turn_id,
        delivery=delivery,
    )


def find_incoming(connection: Connection, incoming: Incoming) -> Message | None:
    return sent(connection, incoming.user_id, incoming.bot_id, incoming.chat_id, incoming.tg_id)


def sent(connection: Connection, user_id: int, bot_id: int, chat_id: int, tg_id: int) -> Message | None:
    """The message with that number in a chat."""
    address = {"owner": user_id, "bot": bot_id, "chat": chat_id, "number": tg_id}
    return read_one(connection.execute(_SENT, address), message_of)


def edit(connection: Connection, message: Message, text: str, edited_at: datetime) -> Message:
    """Replaces the text of an edited message. Its new `rev` makes everything derived from it stale."""
    return _change_text(connection, message, content=text, edited_at=edited_at)


def put_file_text(
    connection: Connection, message: Message, text: str, attachments: Sequence[dict[str, Any]]
) -> Message:
    """Writes the text read from a message's files into it. Like `edit`, but not a change by its author."""
    return _change_text(connection, message, content=text, attachments=list(attachments))


def _change_text(connection: Connection, message: Message, **values: Any) -> Message:
    one = (messages.c.user_id == message.user_id) & (messages.c.seq == message.seq)
    changed = update(messages).where(one).values(**values, rev=next_rev(connection, message.user_id))
    changed_message = message_of(connection.execute(changed.returning(*messages.c)).one())
    search_item_repository.follow_edit(connection, changed_message)
    return changed_message


def mark_delivery(connection: Connection, user_id: int, message_id: str, delivery: str, tg_id: int | None) -> None:
    """Records the delivery of an answer: sent, unknown or refused. An undelivered one is taken out of search."""
    one = {"owner": user_id, "message": message_id, "came": delivery}
    connection.execute(*((_DELIVERED, one) if tg_id is None else (_NUMBERED, one | {"number": tg_id})))
    if delivery in UNDELIVERED:
        note_change(connection, user_id)
        search_item_repository.take_out(connection, by_ids(connection, user_id, [message_id]))


def of_turn(connection: Connection, turn: Turn) -> list[Message]:
    """The user's messages of one turn, in order."""
    asked = {"owner": turn.user_id, "turn": turn.id, "first": turn.first_seq}
    return [message_of(row) for row in connection.execute(_OF_TURN, asked)]


def by_ids(connection: Connection, user_id: int, ids: Sequence[str]) -> list[Message]:
    """The messages with these ids that still exist, in order."""
    found = connection.execute(_BY_IDS, {"owner": user_id, "ids": list(ids)})
    return sorted(map(message_of, found), key=lambda message: message.seq)


def between(connection: Connection, user_id: int, first_seq: int, last_seq: int) -> list[Message]:
    """Every message with first_seq <= seq <= last_seq, in order."""
    query = select(messages).where(
        messages.c.user_id == user_id, messages.c.seq >= first_seq, messages.c.seq <= last_seq
    )
    return [message_of(row) for row in connection.execute(query.order_by(messages.c.seq))]


def said_by(connection: Connection, user_id: int, sender_id: int) -> list[str]:
    """The ids of all messages of this speaker in a group."""
    wrote = (messages.c.user_id == user_id, messages.c.sender_id == sender_id, messages.c.role == "user")
    return list(connection.execute(select(messages.c.id).where(*wrote)).scalars())


def speakers(connection: Connection, group: int) -> set[int]:
    """The Telegram ids of all speakers in a group."""
    wrote = (messages.c.user_id == group, messages.c.role == "user", messages.c.sender_id.is_not(None))
    with across_owners(connection):
        return set(connection.execute(select(messages.c.sender_id).where(*wrote).distinct()).scalars())


def recent(
    connection: Connection, user_id: int, *, before_seq: int | None = None, limit: int, topic: int | None = None
) -> list[Message]:
    """The last `limit` messages (before a seq, exclusive; of one topic), oldest first."""
    before = MOST_SEQ if before_seq is None else before_seq
    query = _BEFORE if topic is None else _BEFORE.where(messages.c.thread_id == topic)
    rows = connection.execute(query, {"owner": user_id, "before": before, "most": limit}).all()
    return list(kept_messages(reversed(rows)))


def unpublished_messages(connection: Connection, user_id: int, *, limit: int | None = None) -> list[Message]:
    """The messages that are in no fragment yet: all after the last published one, or all if there is none.

    This deviates from the specification, which would restore an empty buffer and lose every user's first conversation.
    """
    query = _waiting(user_id).order_by(messages.c.seq)
    return [message_of(row) for row in connection.execute(query if limit is None else query.limit(limit))]


def publish_cursor(
    connection: Connection, user_id: int, episode_id: str, last: Message, first_seq: int, *, closes: bool
) -> None:
    """Moves the dialogue's cursor over a published fragment and assigns its messages to it."""
    connection.execute(
        update(messages)
        .where(
            messages.c.user_id == user_id,
            messages.c.seq >= first_seq,
            messages.c.seq <= last.seq,
            messages.c.episode_id.is_(None),
        )
        .values(episode_id=episode_id)
    )
    values: dict[str, Any] = {"last_published_message_id": last.id}
    if closes:
        values["is_active"] = False
    connection.execute(update(dialogue_state).where(dialogue_state.c.user_id == user_id).values(values))


def record_activity(connection: Connection, user_id: int, now: datetime) -> None:
    """Records the time of activity and marks the dialogue as active."""
    connection.execute(_TOUCH, {"owner": user_id, "at": now})


def close_dialogue(connection: Connection, user_id: int) -> None:
    """Marks a dialogue as ended that has nothing left to publish."""
    connection.execute(update(dialogue_state).where(dialogue_state.c.user_id == user_id).values(is_active=False))


def get_dialogue_state(connection: Connection, user_id: int) -> DialogueStateRow | None:
    row = connection.execute(select(dialogue_state).where(dialogue_state.c.user_id == user_id)).one_or_none()
    return None if row is None else DialogueStateRow(*row)


def idle_since(connection: Connection, moment: datetime, *, limit: int) -> list[int]:
    """Users whose active dialogue has been silent since `moment` or longer, the longest silence first."""
    query = (
        select(dialogue_state.c.user_id)
        .where(dialogue_state.c.is_active.is_(True), dialogue_state.c.last_activity <= moment)
        .order_by(dialogue_state.c.last_activity)
        .limit(limit)
    )
    return list(connection.execute(query).scalars())


def latest_active(connection: Connection, *, limit: int) -> list[int]:
    """Users who wrote something, the latest first."""
    query = select(dialogue_state.c.user_id).order_by(dialogue_state.c.last_activity.desc(), dialogue_state.c.user_id)
    return list(connection.execute(query.limit(limit)).scalars())


def full_since(connection: Connection, moment: datetime | None, size: int) -> list[int]:
    """Users who wrote something since `moment` (None: ever) and have `size` or more unpublished messages."""
    last, waits = messages.alias("last_published"), messages.alias("waits")
    published = select(last.c.seq).where(_is_published(last))
    count = select(func.count()).where(
        waits.c.user_id == dialogue_state.c.user_id,
        # Two levels deep SQLAlchemy does not correlate by itself, and would ask about all users' dialogues together.
        waits.c.seq > func.coalesce(published.correlate(dialogue_state).scalar_subquery(), 0),
        waits.c.episode_id.is_(None),
    )
    query = select(dialogue_state.c.user_id).where(count.scalar_subquery() >= size)
    if moment is not None:
        query = query.where(dialogue_state.c.last_activity >= moment)
    return list(connection.execute(query).scalars())


def restorable(connection: Connection) -> list[DialogueState]:
    """The buffers as they were before the program stopped: active dialogues, and any with unpublished messages.

    Reads one row for each user and an index of the messages: 0.4 s for half a million messages of 10,000 users.
    """
    last = messages.alias("last_published")
    left = (
        select(messages.c.user_id, func.aggregate_strings(cast(messages.c.seq, Text), ",").label("seqs"))
        .join(dialogue_state, dialogue_state.c.user_id == messages.c.user_id)
        .outerjoin(last, _is_published(last))
        .where(messages.c.episode_id.is_(None), messages.c.seq > func.coalesce(last.c.seq, 0))
        .group_by(messages.c.user_id)
    )
    buffers = {user_id: array("q", sorted(map(int, seqs.split(",")))) for user_id, seqs in connection.execute(left)}
    states = connection.execute(select(dialogue_state)).all()
    return [
        DialogueState(row.user_id, buffers.get(row.user_id, array("q")), row.last_activity, row.is_active)
        for row in states
        if row.is_active or row.user_id in buffers
    ]


def _is_published(last: FromClause) -> ColumnElement[bool]:
    """Whether a message is the last published one of its dialogue."""
    state = dialogue_state.c
    return (last.c.user_id == state.user_id) & (last.c.id == state.last_published_message_id)


def _waiting(user_id: int) -> Select[Any]:
    last = messages.alias("last_published")
    published = (
        select(last.c.seq)
        .join(dialogue_state, _is_published(last))
        .where(dialogue_state.c.user_id == user_id)
        .scalar_subquery()
    )
    return select(messages).where(
        messages.c.user_id == user_id, messages.c.seq > func.coalesce(published, 0), messages.c.episode_id.is_(None)
    )


def _insert(connection: Connection, user_id: int, **values: Any) -> Message:
    seq, rev, owner_name = next_message_number(connection, user_id)
    values |= {"user_id": user_id, "seq": seq, "id": new_id(), "rev": rev}
    message = message_of(connection.execute(_INSERT, values).one())
    search_item_repository.put_item(connection, message, owner_name)
    return message
