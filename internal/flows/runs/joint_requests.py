"""Agents that read a slice in one request: the first asks, and its reply is stored for the runs of the others too.

The others' runs wait until the first has its reply; then each is applied like a reply stored before a crash. They
are halved and given up together; a run whose input changed meanwhile asks by itself.
"""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection

from internal.agents.ask_model import TranscriptPrompt, ask_together
from internal.agents.model import AgentReply
from internal.events.trigger import caused_by
from internal.flows.runs.handler import Prepared, RunHandler, run_links
from internal.llm.model import ChatModel
from internal.scheduling import open_run_repository as open_runs
from internal.scheduling.run import Run, RunState
from internal.storage.database import Database


@dataclass(frozen=True, slots=True)
class Companion:
    """Another agent's run over the same slice, with its input."""

    run: Run
    prepared: Prepared[Any]
    asked: TranscriptPrompt


Replies = list[tuple[Companion, AgentReply]]


class Together:
    """Joint requests; `asking` makes each agent's prompt, the first asks for all. Fewer than two ask separately."""

    def __init__(
        self,
        database: Database,
        chat: ChatModel | None,
        handlers: Sequence[RunHandler[Any, Any]],
        asking: Mapping[str, Callable[[Any], TranscriptPrompt]],
    ) -> None:
        self._database, self._chat, self._asking = database, chat, asking
        self._handlers = [handler for handler in handlers if handler.agent in asking]
        names = [agent for agent in asking if any(agent == handler.agent for handler in self._handlers)]
        self._first, self._others = (names[0], names[1:]) if chat is not None and len(names) > 1 else ("", [])

    def waits(self, connection: Connection, run: Run) -> bool:
        """Whether a run must wait: the first agent until the others have applied, the others for its reply."""
        if run.agent == self._first and run.state == RunState.DUE:
            return open_runs.any_next_replied(connection, run.user_id, self._others)
        return (
            run.agent in self._others
            and run.state == RunState.DUE
            and open_runs.any_alongside(connection, run, self._first)
        )

    def companions_of(self, connection: Connection, run: Run) -> list[Run]:
        """The runs that share the reply of this one: those of the other agents over the same slice, not yet begun."""
        if run.agent != self._first:
            return []
        found = open_runs.next_alongside(connection, run, self._others)
        return [one for one in found if one.state == RunState.DUE]

    def handler_of(self, run: Run) -> RunHandler[Any, Any]:
        """The handler of the run's agent, which reads together with others."""
        return next(handler for handler in self._handlers if handler.agent == run.agent)

    async def ask(self, handler: RunHandler[Any, Any], run: Run, prepared: Prepared[Any]) -> tuple[AgentReply, Replies]:
        """The run's reply, and those of the runs that share its request. Raises the errors of `ChatModel.complete`."""
        companions = await self._companions(run, prepared)
        also = {f"run_{one.run.agent}": one.run.id for one in companions}
        with caused_by(**run_links(run), **also):
            if not companions or self._chat is None:
                return await handler.ask(prepared), []
            parts = [self._asking[handler.agent](prepared.input.request), *(one.asked for one in companions)]
            started = time.perf_counter()
            try:
                first, *others = await ask_together(self._chat, parts)
            finally:
                handler.took(prepared.input, time.perf_counter() - started)
        return first, list(zip(companions, others, strict=True))

    async def _companions(self, run: Run, prepared: Prepared[Any]) -> list[Companion]:
        if prepared.reply is not None or run.agent != self._first:
            return []
        shown = self._asking[run.agent](prepared.input.request).transcript
        found = []
        for other in await self._database.read(lambda c: self.companions_of(c, run)):
            its = await self.handler_of(other).prepare(other)
            if its.reply is None and (asked := self._asking[other.agent](its.input.request)).transcript == shown:
                found.append(Companion(other, its, asked))
        return found
