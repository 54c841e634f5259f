"""What agents store between their steps: values by (agent_id, key), JSON or bytes.

An agent's state is written in the transaction of its effects, so that both are stored or neither.
"""

import json
from datetime import datetime
from typing import Any, Final

from sqlalchemy import Connection

from internal.events import state_repository

_OF_USER: Final = ":user_"


def agent_id(agent: str, user_id: int) -> str:
    """The id of an agent that works for one owner, such as `task_manager:user_42`."""
    return f"{agent}{_OF_USER}{user_id}"


def put(connection: Connection, agent_id: str, key: str, value: Any, *, user_id: int | None, now: datetime) -> None:
    """Keeps a value instead of the one before: bytes as they are, everything else as JSON.

    `user_id` is the owner with whom the value is forgotten and exported. TypeError for what JSON does not know.
    """
    stored = value if isinstance(value, bytes) else json.dumps(value, ensure_ascii=False).encode()
    state_repository.put(connection, agent_id, key, stored, user_id=user_id, now=now)


def get(connection: Connection, agent_id: str, key: str) -> bytes | None:
    """The bytes of a value; None if there is none, or if it was forgotten."""
    return state_repository.get(connection, agent_id, key) or None


def delete_value(connection: Connection, agent_id: str, key: str) -> bool:
    """Returns False if there was none."""
    return state_repository.delete_value(connection, agent_id, key)


def of_everybody(connection: Connection, agent: str, key: str) -> dict[int, bytes]:
    """What an agent stores under this key, by owner; owners without a value are left out."""
    return {owner: value for name, owner, value in of_key(connection, key) if name == agent and value}


def of_key(connection: Connection, key: str) -> list[tuple[str, int, bytes]]:
    """What every agent stores under this key: the agent's name without its owner, the owner, the value."""
    found = state_repository.of_key(connection, key)
    return [(agent_id.removesuffix(f"{_OF_USER}{owner}"), owner, value) for agent_id, owner, value in found]
