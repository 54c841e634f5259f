"""The times of the last nightly maintenance of owners' memories."""

from datetime import datetime
from typing import Final

from sqlalchemy import Connection

from internal.events import agent_state_repository as agent_state

_KEY: Final = "last_night"
_AGENT: Final = "memory_maintenance"


def last_nights(connection: Connection) -> dict[int, datetime]:
    """The last maintenance by owner; owners without one are left out."""
    nights = agent_state.of_everybody(connection, _AGENT, _KEY)
    return {owner: datetime.fromisoformat(value.decode()) for owner, value in nights.items()}


def note_night(connection: Connection, user_id: int, now: datetime) -> None:
    night = now.isoformat().encode()
    agent_state.save_state(connection, agent_state.agent_id(_AGENT, user_id), _KEY, night, user_id=user_id, now=now)
