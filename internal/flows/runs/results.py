"""What a run leaves in the transaction of its effects: what it was refused, its result on the bus, its cursor."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import Connection

from internal.events import agent_state, bus
from internal.events import repository as events
from internal.events.bus import Topic
from internal.people.operations import RefusedOperation
from internal.scheduling.model import Run


def tell_result(
    connection: Connection,
    run: Run,
    payload: dict[str, Any],
    refused: Sequence[RefusedOperation],
    *,
    source: str,
    now: datetime,
    links: Mapping[str, Any] | None = None,
) -> None:
    """Publishes a result and moves the agent's cursor behind the run.

    `refused` are those of which nobody has told yet. `links` instead of run and fragment.
    """
    linked = links or {"run": run.id, "fragment": run.episode_id}
    told: dict[str, Any] = {"user_id": run.user_id, "source": source, "now": now, "links": linked}
    for refusal in refused:
        events.append(
            connection, "operation_refused", payload={"reason": refusal.reason, "detail": refusal.detail}, **told
        )
    bus.publish(connection, Topic.PROCESSED, payload=payload, **told)
    mine, cursor = agent_state.agent_id(run.agent, run.user_id), {**linked, "rev": run.rev}
    agent_state.put(connection, mine, bus.CURSOR, cursor, user_id=run.user_id, now=now)
