"""Questions to the owner about memories: rows of `suggestions` with ids and no words."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final, Literal

from sqlalchemy import Connection, Row, func, insert, select, update

from internal.storage.rows import read_one
from internal.storage.tables import suggestions
from internal.storage.types import new_id

KIND: Final = "asked"
"""The kind of these rows."""

About = Literal["contradiction", "suggestion", "question", "fading"]
State = Literal["pending", "answered", "declined", "passed"]


@dataclass(frozen=True, slots=True)
class AskedQuestion:
    """One question to the owner: its subject and the ids of its nodes or its suggestion.

    `passed`: another question came before it was answered. `declined`: never asked again. `answer` is the tap.
    """

    id: str
    about: About
    refs: Sequence[str]
    state: State
    asked_at: datetime
    answer: str | None = None


def note(connection: Connection, user_id: int, about: About, refs: Sequence[str], now: datetime) -> AskedQuestion:
    """Stores a question that is being asked; an earlier pending one becomes `passed`."""
    before = _OURS & (suggestions.c.user_id == user_id) & (suggestions.c.state == "pending")
    connection.execute(update(suggestions).where(before).values(state="passed", decided_at=now))
    asked = AskedQuestion(new_id(), about, list(refs), "pending", now)
    payload = {"about": about, "refs": list(refs)}
    row = {"user_id": user_id, "id": asked.id, "kind": KIND, "payload": payload, "state": "pending", "created_at": now}
    connection.execute(insert(suggestions).values(row))
    return asked


def get(connection: Connection, user_id: int, asked_id: str) -> AskedQuestion | None:
    one = _OURS & (suggestions.c.user_id == user_id) & (suggestions.c.id == asked_id)
    return read_one(connection.execute(select(suggestions).where(one)), _asked)


def close(connection: Connection, user_id: int, asked: AskedQuestion, state: State, answer: str, now: datetime) -> None:
    """Stores the owner's answer; a later answer to the same question replaces it."""
    payload = {"about": asked.about, "refs": list(asked.refs), "answer": answer}
    one = _OURS & (suggestions.c.user_id == user_id) & (suggestions.c.id == asked.id)
    connection.execute(update(suggestions).where(one).values(state=state, payload=payload, decided_at=now))


def ever_asked(connection: Connection, user_id: int, about: About) -> list[AskedQuestion]:
    """All questions of this kind, oldest first."""
    ours = _OURS & (suggestions.c.user_id == user_id) & (suggestions.c.payload["about"].as_string() == about)
    query = select(suggestions).where(ours).order_by(suggestions.c.created_at, suggestions.c.id)
    return [_asked(row) for row in connection.execute(query)]


def asked_since(connection: Connection, user_id: int, moment: datetime) -> int:
    """The number of questions asked since a moment."""
    ours = _OURS & (suggestions.c.user_id == user_id) & (suggestions.c.created_at >= moment)
    return connection.execute(select(func.count()).select_from(suggestions).where(ours)).scalar_one()


def waits_for_answer(connection: Connection, user_id: int, since: datetime) -> bool:
    """Whether any question to the owner, about people and facts too, was put since a moment and has no answer."""
    shown = (suggestions.c.state == "pending") & (suggestions.c.kind != "memory") & (suggestions.c.created_at > since)
    query = select(suggestions.c.id).where(suggestions.c.user_id == user_id, shown)
    return connection.execute(query.limit(1)).first() is not None


_OURS: Final = suggestions.c.kind == KIND


def _asked(row: Row[Any]) -> AskedQuestion:
    payload = row.payload
    return AskedQuestion(row.id, payload["about"], payload["refs"], row.state, row.created_at, payload.get("answer"))
