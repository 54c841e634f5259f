"""Stored rows that only tests look at."""

from __future__ import annotations

import json
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, select

from internal.events import agent_state_repository as agent_state
from internal.storage.tables import task_firings


def agent_value(connection: Connection, agent_id: str, key: str) -> Any | None:
    """A value of an agent that was kept as JSON; None if there is none."""
    stored = agent_state.get(connection, agent_id, key)
    return None if stored is None else json.loads(stored)


def firings(connection: Connection, user_id: int, task_id: str) -> list[tuple[datetime, datetime, str]]:
    """When a task was due and fired, with its notification, oldest first."""
    row = task_firings.c
    query = select(row.due_at, row.fired_at, row.notification_id).where(row.user_id == user_id, row.task_id == task_id)
    return [tuple(one) for one in connection.execute(query.order_by(row.due_at))]
