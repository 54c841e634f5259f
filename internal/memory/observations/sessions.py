"""The Context of a chronicle's session: one node for each, active while it is open and completed when it is closed."""

from datetime import datetime
from typing import Final
from uuid import UUID, uuid5

from sqlalchemy import Connection

from internal.graph import store
from internal.graph.model import Node
from internal.memory.model import NodeRef
from internal.memory.observations.changes import SessionPlace

_SESSIONS: Final = UUID("6c61706c-6163-5564-b0b5-736573736f6e")
"""The namespace of session contexts; if it changed, every session would get a second one."""


def session_context_id(user_id: int, session_id: str) -> str:
    """The id of a session's Context, whether it is stored yet or not."""
    return str(uuid5(_SESSIONS, f"{user_id}:{session_id}"))


def session_context(user_id: int, place: SessionPlace) -> tuple[NodeRef, str]:
    """The Context of a session as a reference, and its id. Its name holds no words of messages."""
    properties = {"name": f"session {place.opened_at:%Y-%m-%d %H:%M}", "type": "session"}
    return NodeRef("Context", properties), session_context_id(user_id, place.session_id)


def complete_session(connection: Connection, user_id: int, session_id: str, *, now: datetime) -> Node | None:
    """The session is closed; None if nothing was remembered of it."""
    node = store.get_node(connection, user_id, session_context_id(user_id, session_id), hidden=True)
    if node is None or node.owner_set("status"):
        return node
    return store.update_node(connection, user_id, node.id, {"status": "completed"}, now=now, by="session", hidden=True)
