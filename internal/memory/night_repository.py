"""When the nightly maintenance of an owner's memory was done last."""

from __future__ import annotations

from datetime import datetime
from typing import Final

from sqlalchemy import Connection, select
from sqlalchemy.dialects.sqlite import insert as upsert

from internal.storage.tables import agent_state

_KEY: Final = "last_night"
_AGENT: Final = "memory_maintenance:user_"


def last_nights(connection: Connection) -> dict[int, datetime]:
    """By owner; those of whom nothing was ever done are left out."""
    query = select(agent_state.c.user_id, agent_state.c.value).where(
        agent_state.c.key == _KEY, agent_state.c.agent_id.startswith(_AGENT)
    )
    return {row.user_id: datetime.fromisoformat(row.value.decode()) for row in connection.execute(query)}


def note_night(connection: Connection, user_id: int, now: datetime) -> None:
    row = upsert(agent_state).values(
        agent_id=f"{_AGENT}{user_id}", key=_KEY, user_id=user_id, value=now.isoformat().encode(), updated_at=now
    )
    written = {name: row.excluded[name] for name in ("value", "updated_at")}
    connection.execute(row.on_conflict_do_update(index_elements=["agent_id", "key"], set_=written))
