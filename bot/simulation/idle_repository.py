"""Queries for what the model was asked, whether the bot has anything to do, and when something is due next."""

from datetime import datetime, timedelta

from sqlalchemy import ColumnElement, Connection, and_, func, select

from bot.simulator.scenarios.report import AgentCalls
from internal.dialogue.mailbox.model import InboxState, OutboxState
from internal.dialogue.model import TurnState
from internal.dialogue.notifications.model import NotificationState
from internal.scheduling.run import RunState
from internal.storage.tables import (
    dialogue_state,
    forgettings,
    inbox,
    model_calls,
    notifications,
    outbox,
    runs,
    tasks,
    turns,
)
from internal.tasks.model import TaskState

_OPEN_TURNS = turns.c.state.in_([TurnState.COLLECTING, TurnState.RUNNING])
_PENDING = outbox.c.state == OutboxState.PENDING
_WAITING = notifications.c.state.in_([NotificationState.WAITING, NotificationState.DEFERRED])
_OPEN_TASKS = tasks.c.state == TaskState.OPEN
_ASKED = forgettings.c.state == "pending"


def unanswered(connection: Connection, now: datetime) -> int:
    """The number of unfinished updates, turns without an answer, and unsent messages."""
    sending = (outbox.c.state == OutboxState.SENDING) | (_PENDING & (outbox.c.due_at <= now))
    wanted = (inbox.c.state == InboxState.RECEIVED, _OPEN_TURNS, sending)
    return sum(_count(connection, condition) for condition in wanted)


def count_working_runs(connection: Connection, now: datetime) -> int:
    """The number of agents' runs that are due or running, and of notifications that are being weighed."""
    due = and_(runs.c.state == RunState.DUE, runs.c.due_at <= now)
    working = _count(connection, due | runs.c.state.in_([RunState.CLAIMED, RunState.REPLIED]))
    forgets = select(forgettings.c.user_id).where(_ASKED)  # nothing is sent meanwhile
    weighed = and_(_WAITING, notifications.c.not_before <= now, notifications.c.user_id.not_in(forgets))
    return working + _count(connection, weighed)


def next_due(connection: Connection, now: datetime, idle: timedelta) -> datetime | None:
    """The first moment after `now` at which something becomes due: a silence of `idle`, a run, a task, a message."""
    moments = (
        (runs.c.due_at, runs.c.state == RunState.DUE),
        (outbox.c.due_at, _PENDING),
        (notifications.c.not_before, _WAITING),
        (tasks.c.next_at, _OPEN_TASKS),
        (forgettings.c.due_at, _ASKED),
    )
    found = [connection.execute(select(func.min(at)).where(at > now, of)).scalar_one() for at, of in moments]
    active = select(func.min(dialogue_state.c.last_activity)).where(
        dialogue_state.c.is_active.is_(True), dialogue_state.c.last_activity > now - idle
    )
    silent = connection.execute(active).scalar_one()
    found.append(None if silent is None else silent + idle)
    return min((moment for moment in found if moment is not None), default=None)


def _count(connection: Connection, condition: ColumnElement[bool]) -> int:
    return int(connection.execute(select(func.count()).where(condition)).scalar_one())


def calls_by_agent(connection: Connection) -> list[AgentCalls]:
    """The number of calls of each agent. A reply that came with another agent's call does not count."""
    calls = model_calls.c
    sums = (calls.prompt_tokens, calls.completion_tokens, calls.cached_tokens, calls.duration_s)
    query = select(calls.agent, func.count(), *map(func.sum, sums)).where(calls.prompt_tokens > 0)
    return [AgentCalls(*row) for row in connection.execute(query.group_by(calls.agent).order_by(calls.agent))]
