"""Turns in the database: the messages that get one answer, and the state of that answer.

States: collecting -> running -> answered -> closed | failed | cancelled.
"""

from collections.abc import Collection
from datetime import datetime
from typing import Any, Final

from sqlalchemy import Connection, bindparam, case, func, insert, literal, literal_column, select, update

from internal.dialogue.model import Incoming, Message, Turn, TurnState
from internal.scheduling.lease_repository import in_shards
from internal.storage.rows import read_one, reader
from internal.storage.tables import messages, outbox, turns
from internal.storage.types import new_id, one_of

_OPEN = one_of(turns.c.state, (TurnState.COLLECTING, TurnState.RUNNING))
_COLLECTING = turns.c.state == literal_column(f"'{TurnState.COLLECTING.value}'")

# Run at every message and built once: building a statement takes several times as long as running it.
_ONE: Final = (turns.c.user_id == bindparam("owner")) & (turns.c.id == bindparam("turn"))
_LANE: Final = (turns.c.bot_id == bindparam("bot")) & (turns.c.lane == bindparam("place"))
_OF_LANE: Final = select(turns).where(turns.c.user_id == bindparam("owner"), _LANE, _COLLECTING)
_NEXT: Final = select(turns).where(_LANE, _OPEN).order_by(turns.c.first_seq).limit(1)
_ADD: Final = insert(turns).returning(*turns.c)
_START: Final = (
    update(turns).where(_ONE, _OPEN).values(state=TurnState.RUNNING, attempts=turns.c.attempts + 1).returning(*turns.c)
)
_REVISION: Final = select(func.max(messages.c.rev)).where(
    messages.c.user_id == bindparam("owner"),
    messages.c.seq >= bindparam("first"),  # or the whole log would be read
    messages.c.turn_id == bindparam("turn"),
    messages.c.role == "user",
)
_OWED: Final = select(outbox.c.id).where(
    outbox.c.user_id == bindparam("owner"),
    outbox.c.turn_id == bindparam("turn"),
    outbox.c.state.not_in(("sent", "refused")),
)
_CLOSE: Final = (
    update(turns).where(_ONE, turns.c.state == TurnState.ANSWERED, ~_OWED.exists()).values(state=TurnState.CLOSED)
)
_FINISH: Final = update(turns).where(_ONE, _OPEN).values(state=bindparam("ended"), error=bindparam("why"))
_FINISH_SAME: Final = _FINISH.where(func.coalesce(_REVISION.scalar_subquery(), 0) == bindparam("rev"))


def collecting(connection: Connection, user_id: int, bot_id: int, lane: str) -> Turn | None:
    """The owner's turn of the lane that still takes messages."""
    return read_one(connection.execute(_OF_LANE, {"owner": user_id, "bot": bot_id, "place": lane}), _turn)


def open_turn(
    connection: Connection, incoming: Incoming, *, now: datetime, close_at: datetime, seq: int, id: str | None = None
) -> Turn:
    values = {
        "user_id": incoming.user_id,
        "id": id or new_id(),
        "bot_id": incoming.bot_id,
        "lane": incoming.lane,
        "chat_id": incoming.chat_id,
        "thread_id": incoming.thread_id,
        "state": TurnState.COLLECTING,
        "opened_at": now,
        "close_at": close_at,
        "first_seq": seq,
        "last_seq": seq,
    }
    return _turn(connection.execute(_ADD, values).one())


def ask_again(connection: Connection, message: Message, now: datetime) -> None:
    """Opens a turn for a single message whose words became known after its own turn had ended."""
    new = new_id()
    asked = (messages.c.user_id == message.user_id, messages.c.id == message.id)
    connection.execute(update(messages).where(*asked).values(turn_id=new))
    fields = {"id": new, "state": TurnState.RUNNING, "opened_at": now, "close_at": now}
    fields |= {"first_seq": message.seq, "last_seq": message.seq, "attempts": 0, "error": None}
    before = select(*(literal(fields[c.name], c.type) if c.name in fields else c for c in turns.c)).where(
        turns.c.user_id == message.user_id, turns.c.id == message.turn_id
    )
    connection.execute(insert(turns).from_select([c.name for c in turns.c], before))


def extend(connection: Connection, turn: Turn, *, close_at: datetime, seq: int) -> Turn:
    """Adds one more message to a collecting turn and moves its closing time."""
    return _change(connection, turn, close_at=close_at, last_seq=seq)


def freeze(connection: Connection, turn: Turn) -> None:
    """Closes the window of a turn that waits for its place in the lane: it takes no more messages."""
    _change(connection, turn, state=TurnState.RUNNING)


def start(connection: Connection, turn: Turn) -> Turn | None:
    """Begins an attempt (C3), counts it and closes the turn for messages. Returns None if the turn is over."""
    return read_one(connection.execute(_START, {"owner": turn.user_id, "turn": turn.id}), _turn)


def discount(connection: Connection, turn: Turn) -> None:
    """Does not count an attempt that an orderly stop of the program interrupted."""
    connection.execute(
        update(turns)
        .where(turns.c.user_id == turn.user_id, turns.c.id == turn.id, turns.c.state == TurnState.RUNNING)
        .values(attempts=case((turns.c.attempts > 0, turns.c.attempts - 1), else_=0))
    )


def finish(
    connection: Connection, turn: Turn, state: TurnState, error: str | None = None, *, rev: int | None = None
) -> bool:
    """Ends a running turn, with `rev` only if this is still its `revision`.

    Returns False if it had ended already; then nothing may be written for it.
    """
    ended = {"owner": turn.user_id, "turn": turn.id, "ended": state, "why": error}
    if rev is None:
        return connection.execute(_FINISH, ended).rowcount == 1
    return connection.execute(_FINISH_SAME, ended | {"rev": rev, "first": turn.first_seq}).rowcount == 1


def close_answered(connection: Connection, user_id: int, turn_id: str) -> None:
    """Closes an answered turn if no part of its answer waits to be settled."""
    connection.execute(_CLOSE, {"owner": user_id, "turn": turn_id})


def unfinished(connection: Connection, bot_id: int, shards: Collection[int] | None = None) -> list[Turn]:
    """Every turn that this bot still has to answer, each owner's in the order of the messages.

    `shards` limits the result to turns of their chats.
    """
    query = select(turns).where(_OPEN, turns.c.bot_id == bot_id)
    if shards is not None:
        query = query.where(in_shards(turns.c.chat_id, shards))
    return [_turn(row) for row in connection.execute(query.order_by(turns.c.user_id, turns.c.first_seq))]


def next_in_lane(connection: Connection, bot_id: int, lane: str) -> Turn | None:
    """The lane's earliest turn without an answer."""
    return read_one(connection.execute(_NEXT, {"bot": bot_id, "place": lane}), _turn)


def first_open_seq(connection: Connection, user_id: int, bot_id: int | None) -> int | None:
    """The first message of the earliest turn without an answer: a fragment ends before it.

    `bot_id` is the running bot, None if none ever ran. Turns of another bot wait for its token and block no fragment.
    """
    opened = select(func.min(turns.c.first_seq)).where(turns.c.user_id == user_id, _OPEN)
    if bot_id is not None:
        opened = opened.where(turns.c.bot_id == bot_id)
    return connection.execute(opened).scalar_one_or_none()


def revision(connection: Connection, turn: Turn) -> int:
    """The newest `rev` among the turn's messages, which grows when one of them is edited."""
    asked = {"owner": turn.user_id, "turn": turn.id, "first": turn.first_seq}
    newest = connection.execute(_REVISION, asked).scalar_one_or_none()
    return int(newest or 0)


def _change(connection: Connection, turn: Turn, **values: Any) -> Turn:
    changed = update(turns).where(turns.c.user_id == turn.user_id, turns.c.id == turn.id).values(values)
    return _turn(connection.execute(changed.returning(*turns.c)).one())


_turn = reader(Turn, state=TurnState)
