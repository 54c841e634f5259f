"""An agent's part of a run: prepare, ask, resolve, apply, and its outcome: refusals, and a result on the bus."""

import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, ClassVar, Generic, Protocol, TypeVar

from sqlalchemy import Connection

from internal.agents.model import AgentReply
from internal.errors import Conflict, Refusal
from internal.events import agent_state_repository as agent_state, bus, repository as events
from internal.events.bus import EventTopic
from internal.flows.runs.slices import current_revs
from internal.scheduling.run import Run
from internal.storage.database import Database


def run_links(run: Run) -> dict[str, str]:
    """The links of a run's events."""
    subject = {"fragment": run.episode_id} if run.session_id is None else {"session": run.session_id}
    return {"run": run.id} | subject


def publish_result(
    connection: Connection,
    run: Run,
    payload: Mapping[str, Any],
    refused: Sequence[Refusal],
    *,
    source: str,
    now: datetime,
) -> None:
    """Publishes a result and moves the agent's cursor behind the run. `refused` are the refusals not reported yet."""
    links = run_links(run)
    about: dict[str, Any] = {"user_id": run.user_id, "source": source, "now": now, "links": links}
    for refusal in refused:
        events.append(
            connection, "operation_refused", payload={"reason": refusal.reason, "detail": refusal.detail}, **about
        )
    bus.publish(connection, EventTopic.PROCESSED, payload=dict(payload), **about)
    mine, cursor = agent_state.agent_id(run.agent, run.user_id), {**links, "rev": run.rev}
    agent_state.save_state(connection, mine, bus.CURSOR, cursor, user_id=run.user_id, now=now)


MetricCounts = tuple[Callable[[str, int], None], Mapping[str, int]]
"""A metric with a label for the outcome, and how much to add for each outcome."""

Input = TypeVar("Input")
Resolved = TypeVar("Resolved")


class StaleInput(Conflict):
    """The agent's input has changed meanwhile: it is asked again, without charging an attempt."""


class StaleResolution(Conflict):
    """The data against which the reply was resolved have changed: it is resolved again, without asking the model."""


@dataclass(frozen=True, slots=True)
class Prepared(Generic[Input]):
    """An agent's input, and the revs of everything it contains (JSON).

    The snapshot is stored with the reply (C9); `apply` compares the run's, which a restart may have brought back.
    `reply` replaces the model's if there is nothing to ask about.
    """

    input: Input
    snapshot: dict[str, Any]
    reply: str | None = None


@dataclass(frozen=True, slots=True)
class Applied:
    """The changes by a reply. `payload` is published as the agent's result, `refused` is reported with it.

    `reported` are further refusals, whose events are written already.
    """

    payload: Mapping[str, Any]
    refused: Sequence[Refusal] = ()
    counts: Sequence[MetricCounts] = ()
    reported: Sequence[Refusal] = ()


class RefusalObserver(Protocol):
    def operation_refused(self, agent: str, reason: str) -> None: ...


@dataclass(frozen=True, slots=True)
class Effects:
    """The effects after the commit. `applied` is None if the input of the run is gone."""

    agent: str
    applied: Applied | None
    observer: RefusalObserver
    wake: Callable[[], None]

    def after_commit(self) -> None:
        """Updates the metrics and wakes whatever waits for the change; called once, after C10."""
        if self.applied is not None:
            for count, outcomes in self.applied.counts:
                for outcome, number in outcomes.items():
                    count(outcome, number)
            for refusal in (*self.applied.refused, *self.applied.reported):
                self.observer.operation_refused(self.agent, refusal.reason)
        self.wake()


class RunHandler(ABC, Generic[Input, Resolved]):
    """One agent's part of a run, in separate steps. `wake` is called after each commit.

    `agent` is its name in the runs table, `source` that in events, such as `agent:Archivist`.

    `prepare` and `apply` never wait for a network; `ask` never touches the database. `resolve` does what takes time and
    writes nothing, between the stored reply and the transaction that applies it.
    """

    agent: ClassVar[str]
    source: ClassVar[str]

    def __init__(
        self, database: Database, observer: RefusalObserver, *, persona_name: str, wake: Callable[[], None]
    ) -> None:
        self._database, self._persona = database, persona_name
        self._refusals, self._wake = observer, wake

    @abstractmethod
    async def prepare(self, run: Run) -> Prepared[Input]: ...

    async def ask(self, prepared: Prepared[Input]) -> AgentReply:
        """Makes one call of the model, or none if there is a reply. Raises the errors of `ChatModel.complete`."""
        if prepared.reply is not None:
            return AgentReply(prepared.reply, "none")
        started = time.perf_counter()
        try:
            return await self._ask(prepared.input)
        finally:
            self.took(prepared.input, time.perf_counter() - started)

    def took(self, asked: Input, seconds: float) -> None:
        """Records how long the model took, in its own or a shared call."""

    @abstractmethod
    async def _ask(self, asked: Input) -> AgentReply: ...

    @abstractmethod
    async def resolve(self, run: Run, prepared: Prepared[Input], reply: str) -> Resolved:
        """The reply as typed proposals, with its names and dates resolved. Raises ModelReplyInvalid."""

    def apply(
        self, connection: Connection, run: Run, prepared: Prepared[Input], resolved: Resolved, now: datetime
    ) -> Effects:
        """Writes all effects in the caller's transaction and publishes the result.

        Raises StaleInput if the input has changed, StaleResolution if the data behind the resolved reply have.
        """
        snapshot = run.snapshot or prepared.snapshot
        self.refuse_if_changed(connection, run, snapshot)
        applied = self._write(connection, run, prepared, resolved, now)
        if applied is not None:
            publish_result(connection, run, applied.payload, applied.refused, source=self.source, now=now)
        return Effects(self.agent, applied, self._refusals, self._wake)

    def refuse_if_changed(self, connection: Connection, run: Run, snapshot: Mapping[str, Any]) -> None:
        """Raises StaleInput if a message was edited or deleted since it was shown: it proves nothing any more."""
        shown = snapshot["messages"]
        if current_revs(connection, run.user_id, list(shown)) != dict(shown):
            raise StaleInput(f"messages changed while the {self.agent} read them")

    @abstractmethod
    def _write(
        self, connection: Connection, run: Run, prepared: Prepared[Input], resolved: Resolved, now: datetime
    ) -> Applied | None:
        """Writes the effects. Returns None if the input of the run is gone."""
