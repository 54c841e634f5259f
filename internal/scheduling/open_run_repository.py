"""Queries for open runs: the next one of each agent, and those of several agents over one slice."""

from collections.abc import Collection, Iterable
from datetime import datetime

from sqlalchemy import Connection, select

from internal.scheduling.run import Run, RunState
from internal.storage.rows import reader
from internal.storage.tables import runs

OPEN = (RunState.DUE, RunState.CLAIMED, RunState.REPLIED)

# A run over a whole session has no fragment.
read_run = reader(Run, episode_id=lambda known: known or "", state=RunState)


def ready_of(connection: Connection, user_id: int, agents: Iterable[str], now: datetime) -> list[Run]:
    """The next open run of one owner for each of these agents, if it may be worked on now."""
    heads = (run for agent in agents for run in _open_of(connection, user_id, agent, most=1))
    return [run for run in heads if run.due_at <= now]


def _open_of(connection: Connection, user_id: int, agent: str, *, most: int) -> list[Run]:
    """The first open runs of an agent for one owner in working order."""
    its = (runs.c.user_id == user_id) & (runs.c.agent == agent) & runs.c.state.in_(OPEN)
    query = select(runs).where(its).order_by(runs.c.rev, runs.c.first_n, runs.c.n).limit(most)
    return [read_run(row) for row in connection.execute(query)]


def next_alongside(connection: Connection, run: Run, agents: Collection[str]) -> list[Run]:
    """The next open run of each of these agents, if it is over the same slice and has no reply yet."""
    found = (one for agent in agents for one in _open_of(connection, run.user_id, agent, most=1))
    return [one for one in found if one.state != RunState.REPLIED and _slice(one) == _slice(run)]


def _slice(run: Run) -> tuple[str, int, int, bool]:
    return run.episode_id, run.first_n, run.last_n, run.replaces is None


def any_alongside(connection: Connection, run: Run, agent: str) -> bool:
    """Whether this agent has an open run over the same slice without a reply. Reads none of other slices."""
    same_slice = (
        runs.c.user_id == run.user_id,
        runs.c.agent == agent,
        runs.c.state.in_(OPEN),
        runs.c.state != RunState.REPLIED,
        runs.c.episode_id == run.episode_id if run.episode_id else runs.c.episode_id.is_(None),
        runs.c.first_n == run.first_n,
        runs.c.last_n == run.last_n,
        runs.c.replaces.is_(None) if run.replaces is None else runs.c.replaces.is_not(None),
    )
    return connection.execute(select(runs.c.id).where(*same_slice).limit(1)).first() is not None


def any_next_replied(connection: Connection, user_id: int, agents: Collection[str]) -> bool:
    """Whether a reply to one of these agents is applied next.

    A repetition whose reply is stored may stand behind newer runs, which are made first: nothing waits for it.
    """
    heads = (run for agent in agents for run in _open_of(connection, user_id, agent, most=1))
    return any(run.state == RunState.REPLIED for run in heads)
