"""An event records one step of one flow, with links back to its causes."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any


@dataclass(frozen=True, slots=True)
class Event:
    """An event. `source` is `user:<id>`, `agent:<Name>` or `system:<part>`; `links` are ids of events or rows."""

    id: str
    timestamp: datetime
    event_type: str
    source: str
    payload: dict[str, Any]
    links: dict[str, Any] | None = None
    user_id: int | None = None
