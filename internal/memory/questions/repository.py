"""What an owner was asked about his memories: rows of `suggestions` that hold ids and no words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final, Literal

from sqlalchemy import Connection, Row, func, insert, select, update

from internal.storage.tables import suggestions
from internal.storage.types import new_id

KIND: Final = "asked"
"""The kind of such a row, beside the suggestions themselves."""

About = Literal["contradiction", "suggestion", "question", "fading"]
State = Literal["pending", "answered", "declined", "passed"]


@dataclass(frozen=True, slots=True)
class Asked:
    """One question to the owner: what it is about and of which nodes (of a suggestion, its id).

    `passed`: another one came before it was answered. `declined`: it is never asked again. `answer` is what he tapped.
    """

    id: str
    about: About
    refs: Sequence[str]
    state: State
    asked_at: datetime
    answer: str | None = None


def note(connection: Connection, user_id: int, about: About, refs: Sequence[str], now: datetime) -> Asked:
    """Notes a question that is being asked; the one before it is passed over."""
    before = _OURS & (suggestions.c.user_id == user_id) & (suggestions.c.state == "pending")
    connection.execute(update(suggestions).where(before).values(state="passed", decided_at=now))
    asked = Asked(new_id(), about, list(refs), "pending", now)
    payload = {"about": about, "refs": list(refs)}
    row = {"user_id": user_id, "id": asked.id, "kind": KIND, "payload": payload, "state": "pending", "created_at": now}
    connection.execute(insert(suggestions).values(row))
    return asked


def get(connection: Connection, user_id: int, asked_id: str) -> Asked | None:
    one = _OURS & (suggestions.c.user_id == user_id) & (suggestions.c.id == asked_id)
    row = connection.execute(select(suggestions).where(one)).one_or_none()
    return None if row is None else _asked(row)


def close(connection: Connection, user_id: int, asked: Asked, state: State, answer: str, now: datetime) -> None:
    """Notes what the owner tapped; a later tap on the same question takes its place."""
    payload = {"about": asked.about, "refs": list(asked.refs), "answer": answer}
    one = _OURS & (suggestions.c.user_id == user_id) & (suggestions.c.id == asked.id)
    connection.execute(update(suggestions).where(one).values(state=state, payload=payload, decided_at=now))


def ever_asked(connection: Connection, user_id: int, about: About) -> list[Asked]:
    """Everything that was asked about such a thing, oldest first."""
    ours = _OURS & (suggestions.c.user_id == user_id) & (suggestions.c.payload["about"].as_string() == about)
    query = select(suggestions).where(ours).order_by(suggestions.c.created_at, suggestions.c.id)
    return [_asked(row) for row in connection.execute(query)]


def asked_since(connection: Connection, user_id: int, moment: datetime) -> int:
    """How many questions were asked from a moment on."""
    ours = _OURS & (suggestions.c.user_id == user_id) & (suggestions.c.created_at >= moment)
    return connection.execute(select(func.count()).select_from(suggestions).where(ours)).scalar_one()


def waits_for_answer(connection: Connection, user_id: int, since: datetime) -> bool:
    """Whether any question to the owner, about people and facts too, was put since a moment and has no answer."""
    shown = (suggestions.c.state == "pending") & (suggestions.c.kind != "memory") & (suggestions.c.created_at > since)
    query = select(suggestions.c.id).where(suggestions.c.user_id == user_id, shown)
    return connection.execute(query.limit(1)).first() is not None


_OURS: Final = suggestions.c.kind == KIND


def _asked(row: Row[Any]) -> Asked:
    payload = row.payload
    return Asked(row.id, payload["about"], payload["refs"], row.state, row.created_at, payload.get("answer"))
