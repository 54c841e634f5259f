"""Inbox and outbox in the database."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict
from datetime import datetime
from types import MappingProxyType
from typing import Any, Final

from sqlalchemy import ColumnElement, Connection, Row, Select, bindparam, case, delete, func, select, true, update

from internal.dialogue.mailbox.model import (
    OTHER_BOT,
    STUCK,
    InboxRow,
    InboxState,
    OutboxRow,
    OutboxState,
    Outgoing,
    QuarantinedUpdate,
    Unsent,
)
from internal.scheduling.lease_repository import in_shards
from internal.storage.database import ring_after
from internal.storage.engine.row_policies import across_owners
from internal.storage.engine.upsert import upsert
from internal.storage.rows import read_one
from internal.storage.tables import inbox, outbox
from internal.storage.types import new_id, one_of
from internal.text_caches import cached

INBOX: Final = "inbox"
OUTBOX: Final = "outbox"
"""Bells for the worker of a chat: it has an update, or a message to be sent. The word is the chat."""

_PARTS: Final = 4
"""Most sets of shards whose statements are cached: a worker's set changes when other workers start or end."""

_NO_CHATS: Final[Mapping[int, int]] = MappingProxyType({})
_ADDRESS = ("user_id", "bot_id", "chat_id", "thread_id", "turn_id", "message_id", "part", "dedupe")
_UNSENT = one_of(outbox.c.state, (OutboxState.PENDING, OutboxState.SENDING, OutboxState.UNKNOWN))
_WAITING = _UNSENT & outbox.c.state.in_((OutboxState.PENDING, OutboxState.UNKNOWN))
_UNSETTLED = outbox.c.state.in_((OutboxState.PENDING, OutboxState.SENDING, OutboxState.UNKNOWN, OutboxState.HELD))
_STUCK = outbox.c.error.startswith(STUCK)
# Run at every message and built once: building a statement takes several times as long as running it.
_RECEIVED: Final = (inbox.c.n == bindparam("number")) & (inbox.c.state == InboxState.RECEIVED)
_SETTLE_KEPT: Final = (
    update(inbox)
    .where(_RECEIVED)
    .values(state=bindparam("ended"), error=bindparam("why"), user_id=bindparam("owner"))
    .returning(inbox.c.update_id)
)
_SETTLE: Final = _SETTLE_KEPT.values(raw="", chat_id=None)
_RECEIVE: Final = (
    upsert(inbox).on_conflict_do_nothing(index_elements=["bot_id", "update_id"]).returning(inbox.c.n, inbox.c.update_id)
)
_PUT: Final = upsert(outbox).on_conflict_do_nothing(index_elements=["user_id", "dedupe"]).returning(outbox.c.id)
_ONE: Final = (outbox.c.user_id == bindparam("owner")) & (outbox.c.id == bindparam("row"))
_SENDING: Final = (
    update(outbox).where(_ONE, _UNSETTLED).values(state=OutboxState.SENDING, attempts=outbox.c.attempts + 1)
)
_SENT: Final = (
    update(outbox)
    .where(_ONE, _UNSETTLED)
    .values(state=OutboxState.SENT, tg_id=bindparam("number"), payload={}, error=None)
)
_BY_DEDUPE: Final = select(outbox).where(outbox.c.user_id == bindparam("owner"), outbox.c.dedupe == bindparam("key"))
_WAY = case((_STUCK, func.coalesce(outbox.c.turn_id, outbox.c.id)), else_="")
"""The queue of a message within its chat: messages of one queue are sent in order; a stuck answer has its own."""


# -- inbox ------------------------------------------------------------------------------------------------------


def receive(
    connection: Connection,
    bot_id: int,
    updates: Sequence[tuple[int, str]],
    now: datetime,
    chats: Mapping[int, int] = _NO_CHATS,
) -> list[InboxRow]:
    """Stores raw updates (update_id, JSON) and returns the new ones in order; repeated ones are dropped.

    `chats` gives, by update_id, the chat with which an update stays in order.
    """
    if not updates:
        return []
    common = {"bot_id": bot_id, "state": InboxState.RECEIVED, "received_at": now}
    rows = [{"update_id": one, "chat_id": chats.get(one), "raw": raw, **common} for one, raw in updates]
    stored = connection.execute(_RECEIVE, rows if len(rows) > 1 else rows[0])
    numbers = {row.update_id: row.n for row in stored}
    fresh = [(numbers.pop(update_id), update_id, raw) for update_id, raw in updates if update_id in numbers]
    for n, update_id, _ in fresh:
        ring_after(connection, INBOX, chats.get(update_id, n))
    return [
        InboxRow(n, bot_id, update_id, raw, InboxState.RECEIVED, 0, now, chats.get(update_id))
        for n, update_id, raw in fresh
    ]


def unprocessed_updates(
    connection: Connection, shards: Collection[int] | None = None, limit: int | None = None
) -> list[InboxRow]:
    """Accepted updates of any bot that are not processed yet, in order of arrival; `shards` limits them."""
    query = _unprocessed(_part(shards))
    return [_inbox_row(row) for row in connection.execute(query if limit is None else query.limit(limit))]


def mark_processed(
    connection: Connection,
    n: int,
    state: InboxState,
    *,
    user_id: int | None = None,
    error: str | None = None,
    keep_raw: bool = False,
) -> int | None:
    """Marks an update as processed and deletes its text unless it has to be examined.

    Returns Telegram's id of the update; None if it was settled already.
    """
    outcome = {"number": n, "ended": state, "why": error, "owner": user_id}
    with across_owners(connection):  # until now it had no owner
        return connection.execute(_SETTLE_KEPT if keep_raw else _SETTLE, outcome).scalar_one_or_none()


def quarantined(connection: Connection) -> int:
    """The number of quarantined updates."""
    query = select(func.count()).select_from(inbox).where(inbox.c.state == InboxState.QUARANTINED.value)
    return int(connection.execute(query).scalar_one())


def quarantine(connection: Connection, *, limit: int) -> list[QuarantinedUpdate]:
    """The quarantined updates, oldest first."""
    query = select(inbox).where(inbox.c.state == InboxState.QUARANTINED.value).order_by(inbox.c.n).limit(limit)
    return [
        QuarantinedUpdate(row.n, row.update_id, row.error or "", row.received_at, row.raw)
        for row in connection.execute(query)
    ]


def replay(connection: Connection, n: int | None) -> list[InboxRow]:
    """Gives one quarantined update (None = all) new attempts. Returns the rows to process, oldest first."""
    values = {"state": InboxState.RECEIVED, "attempts": 0, "error": None}
    changed = connection.execute(update(inbox).where(_set_aside(n)).values(values).returning(*inbox.c))
    return sorted((_inbox_row(row) for row in changed), key=lambda row: row.n)


def discard(connection: Connection, n: int | None) -> int:
    """Deletes the text of one quarantined update (None = all), keeps its key against duplicates. Returns how many."""
    values = {"state": InboxState.IGNORED, "raw": "", "chat_id": None}
    return connection.execute(update(inbox).where(_set_aside(n)).values(values)).rowcount


def newest(connection: Connection) -> datetime | None:
    """The time of the latest update or queued message by this machine's clock; None if there never was one."""
    moments = [
        connection.execute(select(func.max(column))).scalar_one()
        for column in (inbox.c.received_at, outbox.c.created_at)
    ]
    return max((moment for moment in moments if moment is not None), default=None)


def count_attempt(connection: Connection, n: int) -> int:
    """Counts one more failed attempt at an update. Returns the number of attempts."""
    changed = update(inbox).where(inbox.c.n == n).values(attempts=inbox.c.attempts + 1)
    return int(connection.execute(changed.returning(inbox.c.attempts)).scalar_one())


def drop_settled(connection: Connection, before: datetime) -> int:
    """Deletes keys of processed updates, because Telegram may choose new ids after a quiet week."""
    old = inbox.c.state.in_((InboxState.INGESTED, InboxState.IGNORED)) & (inbox.c.received_at < before)
    return connection.execute(delete(inbox).where(old)).rowcount


# -- outbox -----------------------------------------------------------------------------------------------------


def enqueue(connection: Connection, outgoing: Outgoing, now: datetime) -> str | None:
    """Queues one message; None if one with this dedupe key was queued before."""
    plain = asdict(outgoing)
    values = {key: plain.pop(key) for key in _ADDRESS}
    times = {"due_at": now, "created_at": now}
    row = {"id": new_id(), "payload": plain, "state": OutboxState.PENDING, "tg_id": None, **times, **values}
    queued = connection.execute(_PUT, row).scalar_one_or_none()
    ring_after(connection, OUTBOX, outgoing.chat_id)
    return queued


def due(connection: Connection, now: datetime, *, limit: int, shards: Collection[int] | None = None) -> list[OutboxRow]:
    """The next message of every chat that may be sent now, oldest first: part k+1 waits for part k.

    A stuck answer delays only its own parts. `shards` limits this and the following functions to their chats.
    """
    return [_outbox_row(row) for row in connection.execute(_due(_part(shards)), {"now": now, "most": limit})]


def next_due_at(connection: Connection, shards: Collection[int] | None = None) -> datetime | None:
    """The time at which the earliest waiting message becomes due."""
    return connection.execute(_next_due(_part(shards))).scalar_one_or_none()


def mark_sending(connection: Connection, user_id: int, row_id: str) -> bool:
    """C5: marks that the request is about to be sent."""
    return connection.execute(_SENDING, {"owner": user_id, "row": row_id}).rowcount == 1


def mark_sent(connection: Connection, user_id: int, row_id: str, tg_id: int | None) -> bool:
    """C6: marks that Telegram has it. Deletes the text from the row, because the message log has it."""
    return connection.execute(_SENT, {"owner": user_id, "row": row_id, "number": tg_id}).rowcount == 1


def postpone(connection: Connection, user_id: int, row_id: str, due_at: datetime, error: str) -> bool:
    """Marks that it was certainly not delivered and is retried at `due_at`."""
    return _move(connection, user_id, row_id, OutboxState.PENDING, due_at=due_at, error=error)


def stuck_before(connection: Connection, row: OutboxRow) -> datetime | None:
    """The time of the next attempt at a stuck message before this one in its chat; None if there is none."""
    before = _UNSENT & _STUCK & (outbox.c.chat_id == row.outgoing.chat_id) & (outbox.c.n < row.n)
    earliest: datetime | None = connection.execute(select(func.min(outbox.c.due_at)).where(before)).scalar_one()
    return earliest


def mark_stuck(connection: Connection, row: OutboxRow, due_at: datetime, error: str) -> None:
    """Lets the others of its chat pass a message, but not the later parts of its answer."""
    out = row.outgoing
    later_parts = (outbox.c.n > row.n) & outbox.c.turn_id.is_not(None) & (outbox.c.turn_id == out.turn_id)
    whole = _UNSENT & (outbox.c.chat_id == out.chat_id) & ((outbox.c.n == row.n) | later_parts)
    connection.execute(update(outbox).where(whole).values(due_at=due_at, error=STUCK))
    postpone(connection, out.user_id, row.id, due_at, error)


def mark_unknown(connection: Connection, user_id: int, row_id: str, due_at: datetime, error: str) -> bool:
    """Marks that it may have been delivered; it is sent once more at `due_at`, and then given up."""
    uncertain = outbox.c.uncertain + 1
    return _move(connection, user_id, row_id, OutboxState.UNKNOWN, due_at=due_at, error=error, uncertain=uncertain)


def refuse(connection: Connection, user_id: int, row_id: str, error: str) -> bool:
    """Marks that it will never be delivered."""
    return _move(connection, user_id, row_id, OutboxState.REFUSED, error=error, payload={})


def hold_messages(connection: Connection, user_id: int, error: str) -> int:
    """Holds all queued messages of a user who cannot be reached."""
    waiting = _UNSENT & (outbox.c.user_id == user_id)
    return connection.execute(update(outbox).where(waiting).values(state=OutboxState.HELD, error=error)).rowcount


def release(connection: Connection, user_id: int, bot_id: int, now: datetime) -> int:
    """Releases the held messages of a user who writes to this bot again."""
    return _release(connection, bot_id, outbox.c.user_id == user_id, now)


def hold_others(connection: Connection, bot_id: int) -> int:
    """Holds the queued messages of other bots, whose chats and message ids are different ones."""
    foreign = _UNSENT & (outbox.c.bot_id != bot_id)
    values = {"state": OutboxState.HELD, "error": OTHER_BOT}
    return connection.execute(update(outbox).where(foreign).values(values)).rowcount


def release_own(connection: Connection, bot_id: int, now: datetime) -> int:
    """Releases the messages of this bot that were held while another bot's token was set."""
    return _release(connection, bot_id, outbox.c.error == OTHER_BOT, now)


def _release(connection: Connection, bot_id: int, which: ColumnElement[bool], now: datetime) -> int:
    held = (outbox.c.state == OutboxState.HELD) & (outbox.c.bot_id == bot_id) & which
    values = {"state": OutboxState.PENDING, "due_at": now}
    return connection.execute(update(outbox).where(held).values(values)).rowcount


def interrupted(connection: Connection, shards: Collection[int] | None = None) -> list[OutboxRow]:
    """Messages that were being sent when the process died, oldest first. They may have been delivered."""
    sending = (outbox.c.state == OutboxState.SENDING) & _in(shards, outbox.c.chat_id)
    query = select(outbox).where(sending).order_by(outbox.c.n)
    return [_outbox_row(row) for row in connection.execute(query)]


def move_chat(connection: Connection, old: int, new: int) -> int:
    """Moves unsent messages of a group that became a supergroup to its new chat id."""
    return connection.execute(update(outbox).where(outbox.c.chat_id == old, _UNSENT).values(chat_id=new)).rowcount


def inbox_depth(connection: Connection) -> tuple[int, datetime | None]:
    """The number of unprocessed updates, and the time of the oldest one."""
    query = select(func.count(), func.min(inbox.c.received_at)).where(inbox.c.state == InboxState.RECEIVED)
    count, oldest = connection.execute(query).one()
    return count, oldest


def unsent(connection: Connection) -> Unsent:
    """The waiting messages of all users."""
    waiting = select(func.count(), func.min(outbox.c.due_at)).where(_UNSENT)
    foreign = func.count().filter(outbox.c.error == OTHER_BOT)
    held = select(func.count(), foreign).where(outbox.c.state == OutboxState.HELD)
    count, oldest = connection.execute(waiting).one()
    all_held, of_others = connection.execute(held).one()
    return Unsent(count, oldest, all_held - of_others, of_others)


def get(connection: Connection, row_id: str) -> OutboxRow | None:
    return read_one(connection.execute(select(outbox).where(outbox.c.id == row_id)), _outbox_row)


def by_dedupe(connection: Connection, user_id: int, dedupe: str) -> OutboxRow | None:
    return read_one(connection.execute(_BY_DEDUPE, {"owner": user_id, "key": dedupe}), _outbox_row)


def message_shown(connection: Connection, user_id: int, bot_id: int, chat_id: int, tg_id: int) -> str | None:
    """The id of the answer of which this Telegram message is a part; None if it is none, or settled long ago."""
    shown = select(outbox.c.message_id).where(
        outbox.c.user_id == user_id, outbox.c.bot_id == bot_id, outbox.c.chat_id == chat_id, outbox.c.tg_id == tg_id
    )
    latest = shown.where(outbox.c.message_id.is_not(None)).order_by(outbox.c.n.desc()).limit(1)
    return connection.execute(latest).scalar_one_or_none()


def drop_settled_outgoing(connection: Connection, before: datetime) -> int:
    """Deletes rows of messages settled long ago, whose dedupe keys are no longer needed."""
    settled = outbox.c.state.in_((OutboxState.SENT, OutboxState.REFUSED)) & (outbox.c.created_at < before)
    return connection.execute(delete(outbox).where(settled & ~outbox.c.dedupe.like("once:%"))).rowcount


def _move(connection: Connection, user_id: int, row_id: str, state: OutboxState, **values: Any) -> bool:
    if state in (OutboxState.PENDING, OutboxState.UNKNOWN):
        values["error"] = case((_STUCK, STUCK + values["error"]), else_=values["error"])  # it stays stuck
    changed = update(outbox).where(outbox.c.user_id == user_id, outbox.c.id == row_id, _UNSETTLED)
    return connection.execute(changed.values(state=state, **values)).rowcount == 1


def _order_of_update() -> ColumnElement[int]:
    """The chat with which an update stays in order; an update without one has a key of its own."""
    return func.coalesce(inbox.c.chat_id, inbox.c.n)


def _in(shards: Collection[int] | None, chat: ColumnElement[int]) -> ColumnElement[bool]:
    return true() if shards is None else in_shards(chat, shards)


@cached(_PARTS)
def _unprocessed(shards: frozenset[int] | None) -> Select[Any]:
    query = select(inbox).where(inbox.c.state == InboxState.RECEIVED, _in(shards, _order_of_update()))
    return query.order_by(inbox.c.n)


def _part(shards: Collection[int] | None) -> frozenset[int] | None:
    return None if shards is None else frozenset(shards)


@cached(_PARTS)
def _due(shards: frozenset[int] | None) -> Select[Any]:
    ours = _UNSENT & _in(shards, outbox.c.chat_id)
    first = select(func.min(outbox.c.n).label("n")).where(ours).group_by(outbox.c.chat_id, _WAY).subquery()
    query = select(outbox).join(first, first.c.n == outbox.c.n).where(_WAITING, outbox.c.due_at <= bindparam("now"))
    return query.order_by(outbox.c.n).limit(bindparam("most"))


@cached(_PARTS)
def _next_due(shards: frozenset[int] | None) -> Select[Any]:
    return select(func.min(outbox.c.due_at)).where(_WAITING & _in(shards, outbox.c.chat_id))


def _set_aside(n: int | None) -> ColumnElement[bool]:
    aside = inbox.c.state == InboxState.QUARANTINED
    return aside if n is None else aside & (inbox.c.n == n)


def _inbox_row(row: Row[Any]) -> InboxRow:
    state = InboxState(row.state)
    return InboxRow(row.n, row.bot_id, row.update_id, row.raw, state, row.attempts, row.received_at, row.chat_id)


def _outbox_row(row: Row[Any]) -> OutboxRow:
    address = {key: getattr(row, key) for key in _ADDRESS}
    content = row.payload or {"text": ""}
    return OutboxRow(
        n=row.n,
        id=row.id,
        state=OutboxState(row.state),
        attempts=row.attempts,
        uncertain=row.uncertain,
        due_at=row.due_at,
        created_at=row.created_at,
        outgoing=Outgoing(**(content | address)),
        tg_id=row.tg_id,
        stuck=(row.error or "").startswith(STUCK),
    )
