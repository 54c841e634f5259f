"""Values of processing agents in the database, as bytes."""

from datetime import datetime
from typing import Any

from sqlalchemy import Connection, delete, select

from internal.storage.engine.upsert import upsert
from internal.storage.tables import agent_state


def put(connection: Connection, agent_id: str, key: str, value: bytes, *, user_id: int | None, now: datetime) -> None:
    row = upsert(agent_state).values(agent_id=agent_id, key=key, user_id=user_id, value=value, updated_at=now)
    written = {name: row.excluded[name] for name in ("user_id", "value", "updated_at")}
    connection.execute(row.on_conflict_do_update(index_elements=["agent_id", "key"], set_=written))


def get(connection: Connection, agent_id: str, key: str) -> bytes | None:
    """None if there is no value; empty if it was forgotten."""
    return connection.execute(select(agent_state.c.value).where(*_one(agent_id, key))).scalar_one_or_none()


def delete_value(connection: Connection, agent_id: str, key: str) -> bool:
    """Returns False if there was none."""
    return connection.execute(delete(agent_state).where(*_one(agent_id, key))).rowcount == 1


def of_key(connection: Connection, key: str) -> list[tuple[str, int, bytes]]:
    """(agent_id, owner, value) of every owner's value under this key."""
    query = select(agent_state.c.agent_id, agent_state.c.user_id, agent_state.c.value)
    found = connection.execute(query.where(agent_state.c.key == key, agent_state.c.user_id.is_not(None)))
    return [(row.agent_id, row.user_id, row.value) for row in found]


def _one(agent_id: str, key: str) -> tuple[Any, Any]:
    return agent_state.c.agent_id == agent_id, agent_state.c.key == key
