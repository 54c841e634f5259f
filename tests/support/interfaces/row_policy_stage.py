"""The application's own filters are taken out of what it sends: what still keeps owners apart is the wall alone."""

from __future__ import annotations

import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Final

import psycopg
from sqlalchemy import BindParameter, Column, Connection, SelectBase, Table, UpdateBase, event, true
from sqlalchemy.engine import Engine
from sqlalchemy.sql import operators, visitors
from sqlalchemy.sql.elements import BinaryExpression

from internal.storage.engine.owner_scope import EVERYONE
from internal.storage.engine.row_policies import SETTING

_FILTER: Final = re.compile(r"user_id (=|IN) \(?%\(")
"""How a comparison with a value is written; an assignment has no spaces."""


@dataclass
class Forgetting:
    """`forgotten` conditions were taken out, `kept` are statements in which one was left all the same.

    `across` are the tables that were asked for all owners, which the wall does not hold.
    """

    forgotten: int = 0
    kept: list[str] = field(default_factory=list)
    across: set[str] = field(default_factory=set)


@contextmanager
def forgotten_filters(*, everywhere: bool = False) -> Iterator[Forgetting]:
    """Every `user_id = x` of a unit of work that acts for one owner is TRUE; with `everywhere`, of any other too."""
    seen, narrow = Forgetting(), threading.local()

    def forget(connection: Connection, sent: Any, many: Any, one: Any, options: Any) -> tuple[Any, Any, Any]:
        raw = connection.connection.dbapi_connection
        narrow.now = False
        if not isinstance(raw, psycopg.Connection) or not isinstance(sent, SelectBase | UpdateBase):
            return sent, many, one
        if not everywhere and scope_of(raw) == EVERYONE:
            seen.across |= {one.name for one in visitors.iterate(sent) if isinstance(one, Table) and "user_id" in one.c}
            return sent, many, one
        narrow.now = True
        return visitors.replacement_traverse(sent, {}, without), many, one

    def without(element: Any, **_: Any) -> Any:
        if not _is_filter(element):
            return None
        seen.forgotten += 1
        return true()

    def look(connection: Connection, cursor: Any, statement: str, *_: Any) -> None:
        if getattr(narrow, "now", False) and _FILTER.search(statement):
            seen.kept.append(statement)

    event.listen(Engine, "before_execute", forget, retval=True)
    event.listen(Engine, "before_cursor_execute", look)
    try:
        yield seen
    finally:
        event.remove(Engine, "before_execute", forget)
        event.remove(Engine, "before_cursor_execute", look)
        Engine._has_events = False  # SQLAlchemy leaves it set, and statements of later tests would miss the driver


def scope_of(raw: psycopg.Connection[Any]) -> str:
    """For whom the server takes a connection to act."""
    told = raw.execute(f"SELECT current_setting('{SETTING}', true)").fetchone()
    return told[0] or "" if told else ""


def _is_filter(element: Any) -> bool:
    if not isinstance(element, BinaryExpression) or element.operator not in (operators.eq, operators.in_op):
        return False
    sides = (element.left, element.right)
    return any(isinstance(side, Column) and side.name == "user_id" for side in sides) and any(
        isinstance(side, BindParameter) for side in sides
    )
