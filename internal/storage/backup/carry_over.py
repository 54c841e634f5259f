"""Carries forgettings and finished answers over to a restored database from the one that it replaces."""

from collections import defaultdict
from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, RowMapping, Select, case, insert, inspect, select, update

from internal.storage.engine.upsert import upsert
from internal.storage.forgetting.forgettings import REPLACED, Forgetting, forgetting_of
from internal.storage.tables import forgettings, hidings, inbox, outbox, tombstones, turns, users

_ENDED_TURNS = ("closed", "failed", "cancelled")
_SETTLED = ("sent", "refused")

WORKED_OFF_SINCE = "worked off after this backup was made; to have it stored and answered once more, replay it"


@dataclass(frozen=True, slots=True)
class Legacy:
    """Rows of the replaced database. `owners` maps a user to the time of admission, which identifies the instance.

    `messages` are the ids of the messages that each forgetting hides, by the id of the forgetting.
    """

    owners: dict[int, datetime]
    forgettings: list[RowMapping]
    messages: dict[str, set[str]]
    tombstones: list[RowMapping]
    ended_turns: dict[str, str]
    settled: dict[str, tuple[str, int | None]]
    worked_off: set[tuple[int, int]]


@dataclass(frozen=True, slots=True)
class Successor:
    """A forgetting that was added to the restored database or changed there, with its messages."""

    forgetting: Forgetting
    state: str
    messages: Collection[str] = ()


def read_legacy(connection: Connection) -> Legacy:
    ended = select(turns.c.id, turns.c.state).where(turns.c.state.in_(_ENDED_TURNS))
    settled = select(outbox.c.id, outbox.c.state, outbox.c.tg_id).where(outbox.c.state.in_(_SETTLED))
    worked_off = select(inbox.c.bot_id, inbox.c.update_id).where(inbox.c.state != "received")
    return Legacy(
        owners=_owners(connection),
        forgettings=list(connection.execute(_forgettings(connection)).mappings()),
        messages=_messages(connection),
        tombstones=list(connection.execute(select(tombstones)).mappings()),
        ended_turns={row.id: row.state for row in connection.execute(ended)},
        settled={row_id: (state, tg_id) for row_id, state, tg_id in connection.execute(settled)},
        worked_off={(bot_id, update_id) for bot_id, update_id in connection.execute(worked_off)},
    )


def _forgettings(connection: Connection) -> Select[Any]:
    """Selects forgettings with the columns that this database has: it may be older than this program."""
    there = {column["name"] for column in inspect(connection).get_columns(forgettings.name)}
    query = select(*(column for column in forgettings.c if column.name in there))
    return query.where(forgettings.c.state != REPLACED).order_by(forgettings.c.created_at)


def _messages(connection: Connection) -> dict[str, set[str]]:
    found: dict[str, set[str]] = defaultdict(set)
    if inspect(connection).has_table(hidings.name):
        rows = select(hidings.c.forgetting_id, hidings.c.target).where(hidings.c.kind == "message")
        for forgetting_id, target in connection.execute(rows):
            found[forgetting_id].add(target)
    return found


def take_over_answers(connection: Connection, legacy: Legacy) -> int:
    """Ends turns and messages that the replaced database had finished, or they would be sent twice. Returns how many.

    Updates that it had processed are quarantined with their text: they are in the restored log only if replayed.
    """
    ended = _put_aside(connection, legacy)
    open_turns = select(turns.c.user_id, turns.c.id).where(turns.c.state.not_in(_ENDED_TURNS))
    for user_id, turn_id in connection.execute(open_turns).all():
        if turn_id in legacy.ended_turns:
            ended += 1
            one = (turns.c.user_id == user_id) & (turns.c.id == turn_id)
            connection.execute(update(turns).where(one).values(state=legacy.ended_turns[turn_id]))
    unsent = select(outbox.c.user_id, outbox.c.id).where(outbox.c.state.not_in(_SETTLED))
    for user_id, row_id in connection.execute(unsent).all():
        if row_id in legacy.settled:
            ended += 1
            state, tg_id = legacy.settled[row_id]
            one = (outbox.c.user_id == user_id) & (outbox.c.id == row_id)
            connection.execute(update(outbox).where(one).values(state=state, tg_id=tg_id, payload={}))
    return ended


def _put_aside(connection: Connection, legacy: Legacy) -> int:
    received = select(inbox.c.n, inbox.c.bot_id, inbox.c.update_id).where(inbox.c.state == "received")
    done = [n for n, *key in connection.execute(received).all() if tuple(key) in legacy.worked_off]
    values = {"state": "quarantined", "error": WORKED_OFF_SINCE}
    for n in done:
        connection.execute(update(inbox).where(inbox.c.n == n).values(values))
    return len(done)


def take_over_forgettings(connection: Connection, legacy: Legacy, now: datetime) -> list[Successor]:
    """Makes forgettings since the backup due at once; pending ones stay pending. Returns the changed ones.

    The caller hides, shows and erases. Owners of another instance stay unchanged.
    """
    known = _owners(connection)
    ours = {owner for owner, since in legacy.owners.items() if known.get(owner) == since}
    for row in legacy.tombstones:
        if row["user_id"] in ours:
            _mark_forgotten(connection, row)
    rows = [row for row in legacy.forgettings if row["user_id"] in ours]
    found = [_take_over(connection, row, legacy.messages.get(row["id"], set()), now) for row in rows]
    return [successor for successor in found if successor is not None]


def _owners(connection: Connection) -> dict[int, datetime]:
    return {row.user_id: row.created_at for row in connection.execute(select(users.c.user_id, users.c.created_at))}


def _take_over(connection: Connection, row: RowMapping, taken: set[str], now: datetime) -> Successor | None:
    same = (forgettings.c.user_id == row["user_id"]) & (forgettings.c.id == row["id"])
    stands = connection.execute(select(forgettings.c.state).where(same)).scalar_one_or_none()
    if (stands == row["state"] and not taken) or stands == "done":
        return None
    ours = {"user_id": row["user_id"], "forgetting_id": row["id"], "kind": "message"}
    for message_id in taken:
        connection.execute(upsert(hidings).values(ours | {"target": message_id}).on_conflict_do_nothing())
    values: dict[str, Any] = dict(row)
    if row["state"] == "done":
        values |= {"state": "pending", "due_at": now}
    if stands is None:
        connection.execute(insert(forgettings).values(values))
    else:
        connection.execute(update(forgettings).where(same).values(values))
    return Successor(forgetting_of(values), values["state"], taken)


def _mark_forgotten(connection: Connection, row: RowMapping) -> None:
    put = upsert(tombstones).values(dict(row))
    later = case((tombstones.c.at > put.excluded.at, tombstones.c.at), else_=put.excluded.at)
    connection.execute(put.on_conflict_do_update(index_elements=["user_id", "key_hmac"], set_={"at": later}))
