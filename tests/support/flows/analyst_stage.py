"""One owner's conversations, closed and judged by an analyst under the test's control."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import Connection
from support.flows.erase_stage import ErasingStage, Interrupted
from support.flows.flow_stage import OWNER, Talk

from internal.agents.analyst.offline import analyse
from internal.agents.model import AgentReply, AnalystRequest
from internal.chronicle import repository as chronicle_repository, service as chronicle
from internal.chronicle.model import ChronicleEvent, EventLabel, Session, SessionCommand
from internal.config.settings import RunsConfig
from internal.events.trigger import current_cause
from internal.flows.analyst.handler import AnalystHandler
from internal.flows.archivist.name_reader import WorkerNameReader
from internal.flows.archivist.write_mentions import MentionFinder
from internal.flows.runs.loop import RunLoop
from internal.flows.sessions.lifecycle import ANALYST, SessionLifecycle
from internal.scheduling import run_repository as runs
from internal.scheduling.run import Run

Answer = dict[str, Any] | Exception | Callable[[], Any]


class ScriptedAnalyst:
    """An Analyst that gives one answer after the other: a reply, an error, or what happens meanwhile; then by rules."""

    def __init__(self) -> None:
        self.script: list[Answer] = []
        self.asked: list[AnalystRequest] = []
        self.causes: list[Mapping[str, str | Sequence[str]] | None] = []

    async def ask(self, request: AnalystRequest) -> AgentReply:
        self.asked.append(request)
        self.causes.append(current_cause())
        while self.script and callable(self.script[0]):
            await self.script.pop(0)()  # type: ignore[operator] # callable, as was asked
        answer = self.script.pop(0) if self.script else None
        if isinstance(answer, Exception):
            raise answer
        return AgentReply(analyse(request) if answer is None else json.dumps(answer, ensure_ascii=False), "scripted")


class Watched:
    """What the handler and the run loop count."""

    def __init__(self) -> None:
        self.verdicts: Counter[str] = Counter()
        self.refused: list[str] = []
        self.outcomes: list[str] = []

    def analysis_verdict(self, verdict: str, count: int = 1) -> None:
        self.verdicts[verdict] += count

    def operation_refused(self, agent: str, reason: str) -> None:
        self.refused.append(reason)

    def agent_run(self, agent: str, outcome: str) -> None:
        self.outcomes.append(outcome)


class AnalysisStage:
    """`archive` works off what the archivist has to do, `judge` what the analyst has."""

    def __init__(self, talk: Talk, most_judged: int = 50, daily_cost_usd: float = 0.0) -> None:
        self.talk, self.analyst, self.watched, self.names = talk, ScriptedAnalyst(), Watched(), Interrupted()
        self.archival = ErasingStage(talk)
        handler = AnalystHandler(
            talk.database,
            self.analyst,
            MentionFinder(talk.database, WorkerNameReader(self.names)),
            self.watched,
            persona_name="Laplaced",
            most_judged=most_judged,
            wake=lambda: None,
        )

        def refuse(c: Connection, user_id: int, key: str, dedupe: str, values: dict[str, str], now: datetime) -> None:
            self.watched.refused.append(key)

        self.runs = RunLoop(
            talk.database,
            talk.clock,
            [handler],
            RunsConfig(),
            self.watched,
            daily_cost_usd,
            refuse,
        )
        self.lifecycle = SessionLifecycle([ANALYST])

    async def conversation(self, *turns: tuple[str, str], tapped: str = "👎") -> Session:
        """What was said and answered, in a session that is closed behind it.

        A tap on the last answer gives the analyst something to judge; with "" there is none, and silence closes it.
        """
        for text, answer in turns:
            await self.talk.exchange(text, answer)
        last, now = (await self.talk.messages())[-1], self.talk.clock.now()
        await self.talk.write(lambda c: chronicle.react(c, OWNER, last.id, tapped, now))
        return await self.close("/ss" if tapped else None)

    async def close(self, command: SessionCommand | None = "/ss") -> Session:
        now = self.talk.clock.now()
        session = await self.talk.write(lambda c: self.lifecycle.close(c, OWNER, now, command))
        assert session is not None
        return session

    async def judge(self) -> None:
        self.talk.clock.advance(60)
        await self.runs.work_off(OWNER, 30)

    async def judge_again(self, session: Session) -> bool:
        now = self.talk.clock.now()
        return await self.talk.write(lambda c: self.lifecycle.judge_again(c, OWNER, session.id, now))

    async def session(self, session: Session) -> Session | None:
        return await self.talk.read(lambda c: chronicle_repository.session(c, OWNER, session.id))

    async def events(self, session: Session, label: EventLabel = EventLabel.ANALYSIS) -> list[ChronicleEvent]:
        events = await self.talk.read(lambda c: chronicle_repository.events_of_session(c, OWNER, session.id))
        return [event for event in events if event.label is label]

    async def verdicts(self, session: Session) -> list[str]:
        """Of each response in order, then of the session."""
        return [event.attrs["verdict"] for event in await self.events(session)]

    async def run(self, session: Session) -> Run:
        """The latest run over a session."""
        held: Sequence[Run] = await self.talk.read(lambda c: runs.of_session(c, OWNER, session.id))
        return held[-1]
