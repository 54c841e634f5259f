"""A closed session is judged: one call of the analyst, an Analysis for each response, a summary, a topic (C8-C10)."""

from __future__ import annotations

import asyncio
import logging
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final, Protocol

from sqlalchemy import Connection

from internal.access import repository as users
from internal.access.model import User
from internal.agents.analyst.offline_verdicts import judge, sum_up
from internal.agents.analyst.output import AnalystReply, parse
from internal.agents.analyst.verdict import Judgement
from internal.agents.model import AgentReply, Analyst, AnalystRequest, OwnerProfile
from internal.agents.responder.rules import rules
from internal.chronicle import repository as line
from internal.chronicle import service as chronicle
from internal.chronicle.model import Event, EventLabel
from internal.errors import ModelReplyTruncated
from internal.flows.analyst.transcript import SessionLine, fitted, most_telling, read_session, shown_revs
from internal.flows.archivist.write_mentions import KnownNames, Mentioning, Named, mention_analyses, names_known
from internal.flows.runs.handler import Prepared, StaleDigest, StaleInput
from internal.flows.runs.results import tell_result
from internal.flows.runs.slices import current_revs
from internal.flows.sessions.lifecycle import ANALYST
from internal.people.operations import RefusedOperation
from internal.scheduling.model import Run
from internal.storage.database import Database

log = logging.getLogger(__name__)

REPLY_TOKENS: Final = 70
"""What a judgement takes of a reply on the average: a bare verdict 15, one with errors and lessons 150."""


class AnalysisObserver(Protocol):
    def analysis_verdict(self, verdict: str, count: int = 1) -> None:
        """Responses were judged so: correct, partially_correct or incorrect."""
        ...

    def operation_refused(self, agent: str, reason: str) -> None: ...


@dataclass(frozen=True, slots=True)
class AnalysisInput:
    """A session as the analyst is asked about it, and every message of it, shown or not."""

    request: AnalystRequest
    lines: tuple[SessionLine, ...]


@dataclass(frozen=True, slots=True)
class AnalysisDigest:
    """A ruling on every response, by its number, and one on the session; what the texts of each name.

    The names of the session's ruling stand under 0. `known` are the names that were looked for.
    """

    topic: str
    responses: Mapping[int, Judgement]
    session: Judgement
    named: Mapping[int, Named]
    refused: Sequence[RefusedOperation]
    known: KnownNames


@dataclass(frozen=True, slots=True)
class AnalysisEffects:
    verdicts: Mapping[str, int]
    refused: Sequence[RefusedOperation]
    observer: AnalysisObserver
    wake: Callable[[], None]

    def after_commit(self) -> None:
        for verdict, count in self.verdicts.items():
            self.observer.analysis_verdict(verdict, count)
        for refusal in self.refused:
            self.observer.operation_refused(ANALYST, refusal.reason)
        self.wake()


class AnalysisHandler:
    """The analyst's part of a run over a session. `most_judged` answers at most are judged by it, the rest by rules."""

    agent = ANALYST
    source = "agent:Analyst"

    def __init__(
        self,
        database: Database,
        analyst: Analyst,
        mentioning: Mentioning,
        observer: AnalysisObserver,
        *,
        persona_name: str,
        most_judged: int,
        wake: Callable[[], None],
    ) -> None:
        self._database, self._analyst, self._mentioning = database, analyst, mentioning
        self._observer, self._persona, self._wake = observer, persona_name, wake
        self._most_judged = most_judged

    async def read(self, run: Run) -> Prepared[AnalysisInput]:
        user, topic, lines = await self._database.read(lambda c: self._read(c, run))
        shown = fitted([one.shown for one in lines])
        request = AnalystRequest(
            owner=OwnerProfile(user.user_id, user.name, user.username, user.lang, user.tz),
            topic=topic,
            transcript=shown,
            rules=rules(),
            judged=most_telling(shown, self._most_judged),
        )
        return Prepared(AnalysisInput(request, lines), {"messages": shown_revs(lines)})

    def _read(self, connection: Connection, run: Run) -> tuple[User, str, tuple[SessionLine, ...]]:
        user = users.get(connection, run.user_id)
        session = line.session(connection, run.user_id, _session_of(run))
        if session is None:
            return user, "", ()
        return user, session.topic, read_session(connection, user, session.id, self._persona)

    async def ask(self, prepared: Prepared[AnalysisInput]) -> AgentReply:
        """One call; where the reply was cut by its limit, another for the half of the answers that matter most."""
        request = prepared.input.request
        if not request.transcript:
            return AgentReply('{"responses": []}', "none")  # all of it was deleted meanwhile
        while True:
            try:
                return await self._analyst.ask(request)
            except ModelReplyTruncated:
                if len(request.to_judge) < 2:
                    raise
                request = replace(request, judged=request.to_judge[: len(request.to_judge) // 2])
                log.info("analysis_halved", extra={"judged": len(request.to_judge)})

    async def digest(self, run: Run, prepared: Prepared[AnalysisInput], reply: str) -> AnalysisDigest:
        """The reply with rulings by rules where it has none, without lessons that tell of people."""
        request, lines = prepared.input.request, prepared.input.lines
        told = parse(reply, request.transcript, request.rules)
        # The rules read 200 answers in a tenth of a second, in which nothing else would move.
        responses, session = await asyncio.to_thread(completed, told, request, lines)
        topic = told.topic
        rulings = {**responses, 0: session}
        known = await self._database.read(lambda c: names_known(c, run.user_id))
        read = await self._named(run.user_id, rulings, topic)
        rulings, refused = without_people(rulings, read.lessons)
        session = rulings.pop(0)
        return AnalysisDigest(topic, rulings, session, read.rulings, [*told.refused, *refused], known)

    async def _named(self, user_id: int, rulings: Mapping[int, Judgement], topic: str) -> _Read:
        """What each ruling names, and which lessons name somebody."""
        texts = {number: "\n".join(ruling.texts) for number, ruling in rulings.items()}
        texts[0] = f"{topic}\n{texts[0]}"
        lessons = list(dict.fromkeys(lesson for ruling in rulings.values() for lesson in ruling.lessons))
        named = await self._mentioning.read(user_id, [*texts.values(), *lessons])
        of_lessons = zip(lessons, named[len(texts) :], strict=True)
        return _Read(
            dict(zip(texts, named, strict=False)), frozenset(lesson for lesson, one in of_lessons if one.people)
        )

    def apply(
        self,
        connection: Connection,
        run: Run,
        prepared: Prepared[AnalysisInput],
        digested: AnalysisDigest,
        now: datetime,
    ) -> AnalysisEffects:
        user_id, session_id = run.user_id, _session_of(run)
        if line.session(connection, user_id, session_id) is None:
            return AnalysisEffects({}, (), self._observer, self._wake)  # erased meanwhile
        shown = (run.snapshot or prepared.snapshot)["messages"]
        if current_revs(connection, user_id, list(shown)) != dict(shown):
            raise StaleInput("messages of this session changed while the analyst read them")
        if names_known(connection, user_id) != digested.known:
            raise StaleDigest("somebody or something became known while the names of this analysis were read")
        chronicle.drop_analyses(connection, user_id, session_id)
        written = self._write(connection, run, prepared.input.lines, digested, now)
        if digested.topic:
            chronicle.name_topic(connection, user_id, session_id, digested.topic)
        mention_analyses(
            connection,
            run,
            {event.id: (event, digested.named.get(number, Named())) for number, event in written.items()},
        )
        verdicts = Counter[str](digested.responses[number].verdict for number in written if number)
        self._tell(connection, run, now, verdicts, digested)
        return AnalysisEffects(verdicts, digested.refused, self._observer, self._wake)

    @staticmethod
    def _write(
        connection: Connection, run: Run, lines: Sequence[SessionLine], digested: AnalysisDigest, now: datetime
    ) -> dict[int, Event]:
        """An Analysis of each response that is still there, and the summary behind them, by number; that is 0."""
        session_id = _session_of(run)
        there = {one.id: one for one in line.events_of_session(connection, run.user_id, session_id)}
        written: dict[int, Event] = {}
        for one in lines:
            ruling, event = digested.responses.get(one.shown.number), there.get(one.event_id)
            if ruling is None or event is None or event.label is not EventLabel.RESPONSE:
                continue
            written[one.shown.number] = chronicle.analyse(
                connection,
                run.user_id,
                session_id,
                "response_analysis",
                ruling.attributes(),
                answers_n=event.n,
                now=now,
                run_id=run.id,
            )
            _sum_up_response(connection, event, ruling.summary)
        written[0] = chronicle.analyse(
            connection,
            run.user_id,
            session_id,
            "session_summary",
            digested.session.attributes() | {"summary": digested.session.summary},
            answers_n=None,
            now=now,
            run_id=run.id,
        )
        return written

    def _tell(
        self, connection: Connection, run: Run, now: datetime, verdicts: Mapping[str, int], digested: AnalysisDigest
    ) -> None:
        links = {"run": run.id, "session": _session_of(run)}
        by_rules = sum(ruling.by_rules for ruling in digested.responses.values())
        told = {"verdicts": dict(verdicts), "by_rules": by_rules, "refused": len(digested.refused)}
        tell_result(connection, run, told, digested.refused, source=self.source, now=now, links=links)


@dataclass(frozen=True, slots=True)
class _Read:
    """What rulings name, by number, and the lessons that name somebody."""

    rulings: Mapping[int, Named]
    lessons: frozenset[str]


def completed(
    told: AnalystReply, request: AnalystRequest, lines: Sequence[SessionLine]
) -> tuple[dict[int, Judgement], Judgement]:
    """A ruling on every response of a session, by the rules where the reply has none, and one on the session. Pure."""
    whole, language = [one.shown for one in lines], request.owner.language
    by_rules = judge(whole, request.rules, language)
    responses = {number: told.responses.get(number, ruling) for number, ruling in by_rules.items()}
    return responses, told.session or sum_up(responses, told.topic or request.topic, language)


def without_people(
    rulings: Mapping[int, Judgement], about_people: frozenset[str]
) -> tuple[dict[int, Judgement], list[RefusedOperation]]:
    """The rulings without lessons that name somebody: those are facts, and they would be told at any moment. Pure."""
    kept = {
        number: replace(ruling, lessons=tuple(one for one in ruling.lessons if one not in about_people))
        for number, ruling in rulings.items()
    }
    lost = sum(len(rulings[number].lessons) - len(ruling.lessons) for number, ruling in kept.items())
    return kept, [RefusedOperation("names_somebody", "a lesson tells of a person")] * lost


def _sum_up_response(connection: Connection, event: Event, summary: str) -> None:
    """A response keeps the summary that was told last; without one its first words stand for it."""
    attrs = {name: value for name, value in event.attrs.items() if name != "summary"}
    if summary:
        attrs["summary"] = summary
    if attrs != dict(event.attrs):
        line.change_event(connection, event, attrs=attrs)


def _session_of(run: Run) -> str:
    return run.session_id or ""
