"""What a run leaves in the transaction of its effects: its refusals, its result on the bus, its agent's cursor."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import Connection

from internal.events import agent_state_repository as agent_state
from internal.events import bus
from internal.events import repository as events
from internal.events.bus import Topic
from internal.people.operations import RefusedOperation
from internal.scheduling.run import Run


def run_links(run: Run) -> dict[str, str]:
    """What the events of a run are linked with."""
    place = {"fragment": run.episode_id} if run.session_id is None else {"session": run.session_id}
    return {"run": run.id} | place


def publish_result(
    connection: Connection,
    run: Run,
    payload: Mapping[str, Any],
    refused: Sequence[RefusedOperation],
    *,
    source: str,
    now: datetime,
) -> None:
    """Publishes a result and moves the agent's cursor behind the run. `refused` are those not reported yet."""
    links = run_links(run)
    about: dict[str, Any] = {"user_id": run.user_id, "source": source, "now": now, "links": links}
    for refusal in refused:
        events.append(
            connection, "operation_refused", payload={"reason": refusal.reason, "detail": refusal.detail}, **about
        )
    bus.publish(connection, Topic.PROCESSED, payload=dict(payload), **about)
    mine, cursor = agent_state.agent_id(run.agent, run.user_id), {**links, "rev": run.rev}
    agent_state.put(connection, mine, bus.CURSOR, cursor, user_id=run.user_id, now=now)
