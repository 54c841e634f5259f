"""Model calls in the database: the exact prompt and reply, stored for a while, and the causes of the calls."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from sqlalchemy import ColumnElement, Connection, Row, String, cast, delete, func, insert, or_, select

from internal.storage.tables import model_calls

_ADD: Final = insert(model_calls)


def add(connection: Connection, rows: Sequence[dict[str, Any]]) -> None:
    """Stores calls. Each row holds the columns of `model_calls` except `n`."""
    if rows:
        connection.execute(_ADD, list(rows))


@dataclass(frozen=True, slots=True)
class Calls:
    """A filter of calls: made for one owner, or (None) for all; by one agent; `cause` is an id that caused them."""

    user_id: int | None = None
    agent: str | None = None
    cause: str | None = None

    def owners(self) -> list[ColumnElement[bool]]:
        return [model_calls.c.user_id == self.user_id] if self.user_id is not None else []

    def conditions(self) -> list[ColumnElement[bool]]:
        conditions = self.owners()
        conditions += [model_calls.c.agent == self.agent] if self.agent is not None else []
        if self.cause is not None:
            # Ids are unique and of letters, digits and dashes, so an id in quotes occurs only as a link.
            conditions.append(cast(model_calls.c.links, String).contains(f'"{self.cause}"', autoescape=True))
        return conditions


def listing(connection: Connection, calls: Calls, *, before: str | None = None, limit: int = 100) -> list[Row[Any]]:
    """Calls, newest first, without prompt and reply; `before` is a call's id, exclusive."""
    columns = [column for column in model_calls.c if column.name not in {"prompt", "reply"}]
    query = select(*columns).where(*calls.conditions())
    if before is not None:
        number = select(model_calls.c.n).where(model_calls.c.id == before, *calls.owners())
        query = query.where(model_calls.c.n < number.scalar_subquery())
    return list(connection.execute(query.order_by(model_calls.c.n.desc()).limit(limit)))


def count(connection: Connection, calls: Calls) -> int:
    query = select(func.count()).select_from(model_calls).where(*calls.conditions())
    return int(connection.execute(query).scalar_one())


def get_call(connection: Connection, calls: Calls, call_id: str) -> Row[Any] | None:
    """A call with its exact prompt and reply, which are None once something in them was forgotten."""
    return connection.execute(select(model_calls).where(model_calls.c.id == call_id, *calls.conditions())).one_or_none()


def drop_before(connection: Connection, moment: datetime) -> int:
    return connection.execute(delete(model_calls).where(model_calls.c.at < moment)).rowcount


_MOST_CAUSES = 100
"""Most turns, runs and notifications whose calls are looked up."""


def made_for(connection: Connection, user_id: int, causes: Collection[str], *, limit: int) -> list[Row[Any]]:
    """The owner's calls for one of these turns, runs or notifications, oldest first, without prompt and reply.

    They are found in an index that holds the links: a lookup in the table would read the prompts too.
    """
    links = cast(model_calls.c.links, String)
    named = [links.contains(f'"{cause}"', autoescape=True) for cause in sorted(causes)[:_MOST_CAUSES]]
    if not named:
        return []
    found = select(model_calls.c.n).where(model_calls.c.user_id == user_id, or_(*named))
    columns = [column for column in model_calls.c if column.name not in {"prompt", "reply"}]
    ours = (model_calls.c.user_id == user_id) & model_calls.c.n.in_(found.scalar_subquery())
    query = select(*columns).where(ours).order_by(model_calls.c.n)
    return list(connection.execute(query.limit(limit)))
