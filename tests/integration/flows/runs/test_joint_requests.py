"""Which run waits for which where several agents read a slice in one request."""

from datetime import UTC, datetime
from types import SimpleNamespace
from typing import Any, cast

from sqlalchemy import Connection, insert
from support.stores.stores import memory_store

from internal.flows.runs.joint_requests import Together
from internal.scheduling import run_repository
from internal.scheduling.run import Run, RunState
from internal.storage.tables import runs

OWNER = 7
NOW = datetime(2026, 3, 1, tzinfo=UTC)
LAST = 1 << 47
"""A repetition is worked on after everything that was said."""

AGENTS = ("archivist", "context_manager", "task_manager")


def together() -> Together:
    handlers: Any = [SimpleNamespace(agent=agent) for agent in AGENTS]
    return Together(cast(Any, None), cast(Any, object()), handlers, dict.fromkeys(AGENTS, cast(Any, None)))


def put(connection: Connection, agent: str, episode: str, rev: int, state: RunState, replaces: str | None) -> None:
    moments = {"due_at": NOW, "created_at": NOW}
    slice_ = {"episode_id": episode, "first_n": 1, "last_n": 3, "rev": rev, "replaces": replaces}
    row = {"id": f"{agent}-{episode}", "user_id": OWNER, "agent": agent, "state": state, **slice_, **moments}
    connection.execute(insert(runs).values(row))


def next_of(connection: Connection, agent: str) -> Run:
    [run] = run_repository.ready_runs(connection, agent, NOW, limit=5)
    return run


def test_a_stored_reply_behind_newer_runs_stops_nobody() -> None:
    """A process ended after one agent had applied a repetition; then something new was said."""
    with memory_store() as connection:
        put(connection, "archivist", "old", LAST, RunState.APPLIED, "before")
        for agent in AGENTS[1:]:
            put(connection, agent, "old", LAST, RunState.REPLIED, "before")
        for agent in AGENTS:
            put(connection, agent, "new", 5, RunState.DUE, None)
        waiting = [together().waits(connection, next_of(connection, agent)) for agent in AGENTS]
        assert waiting == [False, True, True]


def test_the_first_agent_waits_until_the_others_have_applied() -> None:
    """Its next request shows what they found."""
    with memory_store() as connection:
        put(connection, "archivist", "old", 4, RunState.APPLIED, None)
        for agent in AGENTS[1:]:
            put(connection, agent, "old", 4, RunState.REPLIED, None)
        for agent in AGENTS:
            put(connection, agent, "new", 5, RunState.DUE, None)
        waiting = [together().waits(connection, next_of(connection, agent)) for agent in AGENTS]
        assert waiting == [True, False, False]
