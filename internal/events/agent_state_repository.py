"""The state of agents between their steps: values by (agent_id, key), JSON or bytes.

An agent's state is written in the transaction of its effects, so that both are stored or neither.
"""

import json
from datetime import datetime
from typing import Any, Final

from sqlalchemy import Connection, delete, select

from internal.storage.engine.upsert import upsert
from internal.storage.tables import agent_state

_OF_USER: Final = ":user_"


def agent_id(agent: str, user_id: int) -> str:
    """The id of an agent that works for one owner, such as `task_manager:user_42`."""
    return f"{agent}{_OF_USER}{user_id}"


def save_state(
    connection: Connection, agent_id: str, key: str, value: Any, *, user_id: int | None, now: datetime
) -> None:
    """Stores a value, replacing the previous one: bytes as they are, everything else as JSON.

    `user_id` is the owner with whom the value is forgotten and exported. Raises TypeError if JSON cannot hold it.
    """
    stored = value if isinstance(value, bytes) else json.dumps(value, ensure_ascii=False).encode()
    row = upsert(agent_state).values(agent_id=agent_id, key=key, user_id=user_id, value=stored, updated_at=now)
    written = {name: row.excluded[name] for name in ("user_id", "value", "updated_at")}
    connection.execute(row.on_conflict_do_update(index_elements=["agent_id", "key"], set_=written))


def get(connection: Connection, agent_id: str, key: str) -> bytes | None:
    """The bytes of a value; None if there is none, or if it is empty because it was forgotten."""
    return connection.execute(select(agent_state.c.value).where(*_one(agent_id, key))).scalar_one_or_none() or None


def delete_value(connection: Connection, agent_id: str, key: str) -> bool:
    """Deletes a value. Returns False if there was none."""
    return connection.execute(delete(agent_state).where(*_one(agent_id, key))).rowcount == 1


def of_everybody(connection: Connection, agent: str, key: str) -> dict[int, bytes]:
    """The values of an agent under this key, by owner; owners without a value are left out."""
    return {owner: value for name, owner, value in of_key(connection, key) if name == agent and value}


def of_key(connection: Connection, key: str) -> list[tuple[str, int, bytes]]:
    """The values of every agent under this key: the agent's name without its owner, the owner, the value."""
    query = select(agent_state.c.agent_id, agent_state.c.user_id, agent_state.c.value)
    found = connection.execute(query.where(agent_state.c.key == key, agent_state.c.user_id.is_not(None)))
    return [(row.agent_id.removesuffix(f"{_OF_USER}{row.user_id}"), row.user_id, row.value) for row in found]


def _one(agent_id: str, key: str) -> tuple[Any, Any]:
    return agent_state.c.agent_id == agent_id, agent_state.c.key == key
