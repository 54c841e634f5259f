"""Runs in the database."""

from collections.abc import Collection, Iterable
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, Connection, Integer, bindparam, case, delete, func, insert, or_, select, update

from internal.errors import ModelAccessDenied, ModelUnknown
from internal.scheduling import lease_repository
from internal.scheduling.open_run_repository import OPEN, read_run
from internal.scheduling.run import NAME_LENGTH, WORKER, Run, RunState
from internal.storage.rows import read_one
from internal.storage.tables import episodes, runs, segments
from internal.storage.types import Timestamp, new_id

# Built once: every tick asks this for every agent.
_IN_LANE = func.row_number().over(partition_by=runs.c.user_id, order_by=(runs.c.rev, runs.c.first_n, runs.c.n))
_HEADS = (
    select(runs, _IN_LANE.label("in_lane")).where(runs.c.agent == bindparam("agent"), runs.c.state.in_(OPEN)).subquery()
)
_READY = (
    select(_HEADS)
    .where(_HEADS.c.in_lane == 1, _HEADS.c.due_at <= bindparam("now", type_=Timestamp))
    .order_by(_HEADS.c.due_at, _HEADS.c.n)
    .limit(bindparam("most", type_=Integer))
)


def create(
    connection: Connection,
    user_id: int,
    agent: str,
    episode_id: str,
    slices: Iterable[tuple[int, int]],
    *,
    rev: int,
    now: datetime,
    replaces: str | None = None,
) -> None:
    """Creates the runs of a published fragment, one for each slice (first_n, last_n)."""
    of_episode = {"agent": agent, "episode_id": episode_id, "replaces": replaces, "rev": rev}
    for first_n, last_n in slices:
        _create(connection, user_id, now, **of_episode, first_n=first_n, last_n=last_n)


def create_for_session(
    connection: Connection,
    user_id: int,
    agent: str,
    session_id: str,
    *,
    rev: int,
    now: datetime,
    due_at: datetime | None = None,
    replaces: str | None = None,
) -> None:
    """Creates the run of a closed session, one for the whole of it, due at once or at `due_at`."""
    of_session = {"agent": agent, "session_id": session_id, "replaces": replaces, "rev": rev}
    _create(connection, user_id, now, **of_session, first_n=1, last_n=1, due_at=due_at or now)


def ready_runs(
    connection: Connection, agent: str, now: datetime, *, limit: int, worker: str | None = None
) -> list[Run]:
    """Each owner's earliest open run of this agent, if it may be worked on now: N+1 waits for N.

    Claimed runs are included: the caller knows its own, and the claim of a dead process is void. If there may be other
    processes, `worker` is the caller's name: owners for whom a live process is working are left out.
    """
    asked = {"agent": agent, "now": now, "most": limit}
    query = _READY
    if worker is not None:
        busy = select(runs.c.user_id).where(runs.c.agent == agent, _claimed_by_others(connection, worker))
        query = query.where(_HEADS.c.user_id.not_in(busy))
    return [_run(row) for row in connection.execute(query, asked)]


def claim(
    connection: Connection, run: Run, token: str, *, worker: str | None = None, again_at: datetime | None = None
) -> Run | None:
    """C8: claims the run and counts an attempt, unless it continues an interrupted one. Returns None if it is taken.

    A stored reply is applied without asking again. If this process ends, the run waits until `again_at`. With
    `worker`, with which the token begins, also returns None while another live process works for this owner's agent or
    takes this run.
    """
    if worker is not None and not _is_free(connection, run, worker):
        return None
    attempts = runs.c.attempts + int(run.claim is None)
    state = RunState.REPLIED if run.state == RunState.REPLIED else RunState.CLAIMED
    unchanged = _claimed_for(run) & (runs.c.state == run.state)
    due_at = again_at or run.due_at
    return _change(connection, run, unchanged, claim=token, attempts=attempts, state=state, due_at=due_at)


def store_reply(
    connection: Connection,
    run: Run,
    *,
    reply: str,
    snapshot: dict[str, Any],
    model: str,
    prompt_hash: str,
    tokens: int,
    cost_usd: float,
) -> Run | None:
    """C9: stores the model's reply, so that a crash does not pay for it twice. Returns None if the claim is lost."""
    return _change(
        connection,
        run,
        _claimed_for(run) & (runs.c.state == run.state),
        state=RunState.REPLIED,
        reply=reply,
        snapshot=snapshot,
        model=model,
        prompt_hash=prompt_hash,
        tokens=runs.c.tokens + tokens,
        cost_usd=runs.c.cost_usd + cost_usd,
    )


def finish(connection: Connection, run: Run, now: datetime) -> bool:
    """C10: marks the run applied. Returns False if the claim is lost; then nothing may be written."""
    done = {"state": RunState.APPLIED, "claim": None, "finished_at": now, "error": None}
    return _change(connection, run, _claimed_for(run), **done) is not None


def postpone(
    connection: Connection, run: Run, due_at: datetime, error: str | None, *, charge: bool, outages: int = 0
) -> bool:
    """Returns the run for a later attempt; without `charge` this one does not count (outages, stale input).

    Returns False if the claim is lost to another process.
    """
    attempts = runs.c.attempts if charge else case((runs.c.attempts > 0, runs.c.attempts - 1), else_=0)
    due = {"state": RunState.DUE, "due_at": due_at, "error": error, "attempts": attempts, "outages": outages}
    return _change(connection, run, _claimed_for(run), **due, claim=None, reply=None, snapshot=None) is not None


def park(connection: Connection, run: Run, now: datetime, error: str, *, claim: str | None = None) -> bool:
    """Parks a run as dead: it blocks no other, is shown, and can be revived. Returns False if the claim is lost.

    `claim` is the void claim that a revived run has, so that it counts as interrupted.
    """
    parked = {"state": RunState.DEAD, "claim": claim, "finished_at": now, "error": error}
    return _change(connection, run, _claimed_for(run), **parked) is not None


def halve(connection: Connection, run: Run, now: datetime) -> None:
    """Replaces a slice whose reply was cut by two of half the length. Does nothing without the claim."""
    middle = run.first_n + run.length // 2 - 1
    half = {"state": RunState.DUE, "claim": None, "last_n": middle, "due_at": now, "attempts": 0, "reply": None}
    if _change(connection, run, _claimed_for(run), **half) is not None:
        second = [(middle + 1, run.last_n)]
        create(connection, run.user_id, run.agent, run.episode_id, second, rev=run.rev, now=now, replaces=run.replaces)


def revive(connection: Connection, user_id: int, now: datetime) -> int:
    """Gives dead runs of one owner another series of attempts."""
    return _revive(connection, runs.c.user_id == user_id, now)


def revive_interrupted(connection: Connection, now: datetime, before: datetime) -> int:
    """Gives another attempt to runs parked before a time because the process ended. Returns how many."""
    return _revive(connection, runs.c.claim.is_not(None) & (runs.c.finished_at <= before), now)


def _revive(connection: Connection, which: ColumnElement[bool], now: datetime) -> int:
    state = case((runs.c.claim.is_(None), RunState.DUE), else_=RunState.CLAIMED)
    values = {"state": state, "attempts": 0, "due_at": now, "finished_at": None, "reply": None}
    return connection.execute(update(runs).where(runs.c.state == RunState.DEAD, which).values(values)).rowcount


def dead(connection: Connection, user_id: int | None = None) -> list[Run]:
    """Dead runs, of one owner or (None) of all, oldest first."""
    query = select(runs).where(runs.c.state == RunState.DEAD).order_by(runs.c.n)
    if user_id is not None:
        query = query.where(runs.c.user_id == user_id)
    return [_run(row) for row in connection.execute(query)]


def hurry(connection: Connection, user_id: int, now: datetime) -> list[Run]:
    """Lets waiting runs of one owner start at once and returns them."""
    waiting = (runs.c.user_id == user_id) & (runs.c.state == RunState.DUE) & (runs.c.due_at > now)
    rows = connection.execute(update(runs).where(waiting).values(due_at=now).returning(runs))
    return [_run(row) for row in rows]


def hurry_denied(connection: Connection, now: datetime) -> None:
    """Lets every run that waits because a provider denied access start at once: the settings may have changed."""
    denied = or_(*(runs.c.error.startswith(kind.__name__) for kind in (ModelAccessDenied, ModelUnknown)))
    connection.execute(update(runs).where(runs.c.state == RunState.DUE, denied).values(due_at=now))


def episodes_without(connection: Connection, user_id: int, agent: str) -> list[tuple[str, int]]:
    """Fragments without a run of this agent, with their number of segments, oldest first."""
    mine = select(runs.c.episode_id).where(runs.c.user_id == user_id, runs.c.agent == agent)
    query = (
        select(segments.c.episode_id, func.count())
        .join(episodes, (episodes.c.user_id == segments.c.user_id) & (episodes.c.id == segments.c.episode_id))
        .where(segments.c.user_id == user_id, segments.c.episode_id.not_in(mine))
        .group_by(segments.c.episode_id)
        .order_by(func.min(episodes.c.created_at))
    )
    return [(episode_id, length) for episode_id, length in connection.execute(query)]


def counts(connection: Connection, user_id: int) -> dict[RunState, int]:
    """The number of one owner's runs in each state."""
    query = select(runs.c.state, func.count()).where(runs.c.user_id == user_id).group_by(runs.c.state)
    return {RunState(state): count for state, count in connection.execute(query)}


def unfinished(connection: Connection, user_id: int) -> int:
    """The number of one owner's open runs."""
    found = counts(connection, user_id)
    return sum(found.get(state, 0) for state in (RunState.DUE, RunState.CLAIMED, RunState.REPLIED))


def counts_by_agent(connection: Connection) -> list[tuple[str, RunState, int]]:
    """The number of all owners' runs by agent and state."""
    query = select(runs.c.agent, runs.c.state, func.count()).group_by(runs.c.agent, runs.c.state)
    rows = connection.execute(query.order_by(runs.c.agent, runs.c.state))
    return [(agent, RunState(state), count) for agent, state, count in rows]


def of_slice(connection: Connection, user_id: int, episode_id: str, segment: int) -> list[Run]:
    """Every run whose slice holds this segment, in order of creation."""
    holds = (runs.c.episode_id == episode_id) & (runs.c.first_n <= segment) & (runs.c.last_n >= segment)
    return _runs_where(connection, user_id, holds, runs.c.n)


def of_session(connection: Connection, user_id: int, session_id: str) -> list[Run]:
    """Every run over this session, in order of creation."""
    return _runs_where(connection, user_id, runs.c.session_id == session_id, runs.c.n)


def set_due(connection: Connection, run: Run, due_at: datetime) -> None:
    """Moves the time of a run that has not begun."""
    _change(connection, run, runs.c.state == RunState.DUE, due_at=due_at)


def of_agent(connection: Connection, user_id: int, agent: str) -> list[Run]:
    """Every run of an agent for one owner, in working order."""
    return _runs_where(connection, user_id, runs.c.agent == agent, runs.c.rev, runs.c.first_n, runs.c.n)


def _runs_where(connection: Connection, user_id: int, which: ColumnElement[bool], *order: Any) -> list[Run]:
    query = select(runs).where(runs.c.user_id == user_id, which).order_by(*order)
    return [_run(row) for row in connection.execute(query)]


def replace(connection: Connection, run: Run, *, rev: int, due_at: datetime, now: datetime) -> None:
    """Creates a run on the same slice; the effects of its reply replace those of the old one."""
    same = {"agent": run.agent, "episode_id": run.episode_id, "first_n": run.first_n, "last_n": run.last_n}
    _create(connection, run.user_id, now, **same, replaces=run.id, rev=rev, due_at=due_at)


def _create(connection: Connection, user_id: int, now: datetime, **values: Any) -> None:
    """Creates one run, due now unless the values say otherwise."""
    created = {"id": new_id(), "user_id": user_id, "state": RunState.DUE, "due_at": now, "created_at": now}
    connection.execute(insert(runs).values(created | values))


def drop_of_episode(connection: Connection, user_id: int, episode_id: str) -> list[str]:
    """Deletes the runs of an episode with their prompts and replies. Returns their ids; work on them then ends."""
    return _drop(connection, user_id, runs.c.episode_id == episode_id)


def drop_of_session(connection: Connection, user_id: int, session_id: str) -> list[str]:
    """Deletes the runs over a session with their prompts and replies. Returns their ids; work on them then ends."""
    return _drop(connection, user_id, runs.c.session_id == session_id)


def _drop(connection: Connection, user_id: int, which: ColumnElement[bool]) -> list[str]:
    dropped = delete(runs).where(runs.c.user_id == user_id, which).returning(runs.c.id)
    return list(connection.execute(dropped).scalars())


def forget_replies(connection: Connection, user_id: int, run_ids: Collection[str]) -> None:
    """Empties the prompts and replies of these runs; one that is still to be applied is asked again."""
    ours = (runs.c.user_id == user_id) & runs.c.id.in_(list(run_ids))
    waiting = runs.c.state == RunState.REPLIED
    connection.execute(update(runs).where(ours, waiting).values(state=RunState.DUE, claim=None))
    connection.execute(update(runs).where(ours).values(reply=None, snapshot=None))


def _is_free(connection: Connection, run: Run, worker: str) -> bool:
    """Locks the run. Returns False if another process is about to take it, or works on another of the owner's runs."""
    row = select(runs.c.id).where(_one(run)).with_for_update(skip_locked=True)
    if connection.execute(row).first() is None:
        return False
    same_lane = (runs.c.user_id == run.user_id) & (runs.c.agent == run.agent)
    busy = select(runs.c.id).where(same_lane, _claimed_by_others(connection, worker)).limit(1)
    return connection.execute(busy).first() is None


def _one(run: Run) -> ColumnElement[bool]:
    return (runs.c.user_id == run.user_id) & (runs.c.id == run.id)


def _claimed_for(run: Run) -> ColumnElement[bool]:
    """The condition that the run's claim is still the one that this process knows."""
    return runs.c.claim.is_not_distinct_from(run.claim)


def _claimed_by_others(connection: Connection, worker: str) -> ColumnElement[bool]:
    """The condition that another live process is working on the run."""
    living = set(lease_repository.active_leases(connection, WORKER).values()) - {worker}
    at_work = runs.c.state.in_([RunState.CLAIMED, RunState.REPLIED])
    return at_work & func.substr(runs.c.claim, 1, NAME_LENGTH).in_(sorted(living))


def _change(connection: Connection, run: Run, condition: Any, **values: Any) -> Run | None:
    changed = update(runs).where(_one(run), condition).values(values).returning(*runs.c)
    return read_one(connection.execute(changed), _run)


_run = read_run
