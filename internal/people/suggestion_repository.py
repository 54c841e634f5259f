"""Suggestions in the database."""

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final, Literal, get_args

from sqlalchemy import ColumnElement, Connection, delete, insert, select, update

from internal.storage.rows import read_one, reader
from internal.storage.tables import suggestions
from internal.storage.types import new_id

SuggestionKind = Literal["field", "merge"]
SuggestionState = Literal["pending", "accepted", "declined", "stale"]


@dataclass(frozen=True, slots=True)
class Suggestion:
    """A change proposed by a model that only the owner may accept.

    `payload` of a field: {"field", "value", "current"}; of a merge: {"source_id", "target_id", "reason"}.
    """

    id: str
    user_id: int
    kind: SuggestionKind
    person_id: int
    payload: dict[str, Any]
    state: SuggestionState
    created_at: datetime
    run_id: str | None = None


def suggest(
    connection: Connection,
    user_id: int,
    kind: SuggestionKind,
    person_id: int,
    payload: dict[str, Any],
    *,
    now: datetime,
    run_id: str | None = None,
) -> str | None:
    """Stores a suggestion and returns its id; None if the same one is open or was declined before."""
    asked = select(suggestions.c.payload).where(
        suggestions.c.user_id == user_id,
        suggestions.c.kind == kind,
        suggestions.c.person_id == person_id,
        suggestions.c.state.in_(("pending", "declined")),
    )
    identity = _identity(kind, payload)
    if any(_identity(kind, known) == identity for known in connection.execute(asked).scalars()):
        return None
    suggestion_id = new_id()
    row = insert(suggestions).values(
        user_id=user_id,
        id=suggestion_id,
        kind=kind,
        person_id=person_id,
        payload=payload,
        state="pending",
        run_id=run_id,
        created_at=now,
    )
    connection.execute(row)
    return suggestion_id


def pending(connection: Connection, user_id: int, *, limit: int = 100) -> list[Suggestion]:
    """Suggestions about people that wait for the owner's decision, oldest first."""
    about_people = suggestions.c.kind.in_(get_args(SuggestionKind))
    query = select(suggestions).where(suggestions.c.user_id == user_id, suggestions.c.state == "pending", about_people)
    rows = connection.execute(query.order_by(suggestions.c.created_at, suggestions.c.id).limit(limit))
    return [_suggestion(row) for row in rows]


def get(connection: Connection, user_id: int, suggestion_id: str) -> Suggestion | None:
    one = (suggestions.c.user_id == user_id) & (suggestions.c.id == suggestion_id)
    query = select(suggestions).where(one, suggestions.c.kind.in_(get_args(SuggestionKind)))
    return read_one(connection.execute(query), _suggestion)


def decide(connection: Connection, user_id: int, suggestion_id: str, state: SuggestionState, now: datetime) -> bool:
    """Closes a pending suggestion. Returns False if it is not pending any more."""
    one = (suggestions.c.user_id == user_id) & (suggestions.c.id == suggestion_id) & (suggestions.c.state == "pending")
    return connection.execute(update(suggestions).where(one).values(state=state, decided_at=now)).rowcount == 1


def drop_of_runs(connection: Connection, user_id: int, run_ids: Collection[str]) -> None:
    """Deletes the suggestions of these runs about people, decided or not."""
    about_people = suggestions.c.kind.in_(get_args(SuggestionKind)) & suggestions.c.run_id.in_(list(run_ids))
    connection.execute(delete(suggestions).where(suggestions.c.user_id == user_id, about_people))


def repoint(connection: Connection, user_id: int, source_id: int, target_id: int) -> None:
    """Moves suggestions about a merge's source to its target, and settles suggested merges of the pair."""
    ours = (suggestions.c.user_id == user_id) & (suggestions.c.state == "pending")
    connection.execute(
        update(suggestions)
        .where(ours, suggestions.c.person_id == source_id, suggestions.c.kind == "field")
        .values(person_id=target_id)
    )
    for pair in ((source_id, target_id), (target_id, source_id)):
        payload = suggestions.c.payload
        same = (payload["source_id"].as_integer() == pair[0]) & (payload["target_id"].as_integer() == pair[1])
        connection.execute(update(suggestions).where(ours, suggestions.c.kind == "merge", same).values(state="stale"))


ASIDE: Final = "set_aside"
"""The kind of rows that hold hidden parts of a profile, to be erased or put back, and are no suggestion."""


def put_aside(
    connection: Connection, user_id: int, person_id: int, payload: dict[str, Any], now: datetime, kind: str = ASIDE
) -> str:
    """Stores parts taken out of a profile. Returns the id of the row."""
    row = {"user_id": user_id, "id": new_id(), "kind": kind, "person_id": person_id, "payload": payload}
    connection.execute(insert(suggestions).values(row | {"state": "held", "created_at": now}))
    return str(row["id"])


def hidden_profile_parts(
    connection: Connection, user_id: int, person_id: int | None = None
) -> list[tuple[int, dict[str, Any]]]:
    """The parts taken out of profiles (None: of all), with the ids of their people, newest first."""
    query = select(suggestions.c.person_id, suggestions.c.payload).where(*_hidden_parts_of(user_id, person_id))
    return [
        (row[0], row[1])
        for row in connection.execute(query.order_by(suggestions.c.created_at.desc(), suggestions.c.id.desc()))
    ]


def drop_aside(connection: Connection, user_id: int, person_id: int) -> None:
    connection.execute(delete(suggestions).where(*_hidden_parts_of(user_id, person_id)))


def _hidden_parts_of(user_id: int, person_id: int | None) -> list[ColumnElement[bool]]:
    one = [] if person_id is None else [suggestions.c.person_id == person_id]
    return [suggestions.c.user_id == user_id, suggestions.c.kind == ASIDE, *one]


EDITED: Final = "edited"
"""The kind of rows that hold the values replaced by an edit, while it can be undone, and are no suggestion."""
KEPT: Final = timedelta(days=7)


def keep_edit(connection: Connection, user_id: int, person_id: int, payload: dict[str, Any], now: datetime) -> str:
    """Stores the values that an edit replaced and returns their id; deletes those too old to be restored."""
    drop_edits(connection, user_id, suggestions.c.created_at < now - KEPT)
    return put_aside(connection, user_id, person_id, payload, now, EDITED)


def kept_edit(connection: Connection, user_id: int, edit_id: str) -> tuple[int, dict[str, Any]] | None:
    """The id of the edited person and the replaced values."""
    ours = (suggestions.c.user_id == user_id) & (suggestions.c.kind == EDITED) & (suggestions.c.id == edit_id)
    row = connection.execute(select(suggestions.c.person_id, suggestions.c.payload).where(ours)).one_or_none()
    return None if row is None else (row.person_id, row.payload)


def drop_edits(connection: Connection, user_id: int, which: ColumnElement[bool]) -> None:
    connection.execute(delete(suggestions).where(suggestions.c.user_id == user_id, suggestions.c.kind == EDITED, which))


def _identity(kind: SuggestionKind, payload: dict[str, Any]) -> tuple[Any, ...]:
    if kind == "merge":
        return (frozenset((payload["source_id"], payload["target_id"])),)
    return (payload["field"], payload["value"])


_suggestion = reader(Suggestion)
