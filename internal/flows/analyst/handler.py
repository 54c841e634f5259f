"""The analyst's part of a run over a closed session: an Analysis of each response, a summary and a topic (C8-C10)."""

import asyncio
import logging
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial
from typing import Any, Final, Protocol

from sqlalchemy import Connection

from internal.access import repository as users
from internal.access.model import User
from internal.agents.analyst.offline import judge, sum_up
from internal.agents.analyst.output import AnalystReply, parse
from internal.agents.analyst.verdict import Judgement
from internal.agents.model import AgentReply, Analyst, AnalystRequest, OwnerProfile
from internal.agents.responder.rules import rules
from internal.chronicle import repository as sessions, service as chronicle
from internal.chronicle.model import ChronicleEvent, EventLabel, Session
from internal.errors import ModelReplyTruncated, Refusal
from internal.flows.analyst.transcript import SessionLine, fitted, has_feedback, read_session, responses_to_judge
from internal.flows.archivist.write_mentions import (
    KnownNames,
    MentionedNames,
    MentionFinder,
    mention_analyses,
    names_known,
)
from internal.flows.runs.handler import Applied, Prepared, RefusalObserver, RunHandler, StaleResolution
from internal.flows.sessions.lifecycle import ANALYST, closed_by
from internal.scheduling.run import Run
from internal.storage.database import Database

log = logging.getLogger(__name__)

REPLY_TOKENS: Final = 70
"""Tokens of a verdict in a reply, on average: a bare one takes 15, one with errors and lessons 150."""

_NOTHING: Final = '{"responses": []}'
"""The reply for a session without messages, or one closed by silence in which nothing speaks against an answer."""


class AnalystObserver(RefusalObserver, Protocol):
    def analysis_verdict(self, verdict: str, count: int = 1) -> None:
        """Counts verdicts on responses: correct, partially_correct or incorrect."""


@dataclass(frozen=True, slots=True)
class AnalystInput:
    """A session as the analyst is asked about it, and every message of it, shown or not."""

    request: AnalystRequest
    lines: tuple[SessionLine, ...]


@dataclass(frozen=True, slots=True)
class ResolvedAnalysis:
    """A verdict on every response, by its number, and one on the session; `mentions` are the names in their texts.

    The mentions of the session's verdict are under 0. `known` are the names that were looked for.
    """

    topic: str
    responses: Mapping[int, Judgement]
    session: Judgement
    mentions: Mapping[int, MentionedNames]
    refused: Sequence[Refusal]
    known: KnownNames


class AnalystHandler(RunHandler[AnalystInput, ResolvedAnalysis]):
    """The analyst's part of a run over a session. It judges at most `most_judged` answers, rules judge the rest."""

    agent = ANALYST
    source = "agent:Analyst"

    def __init__(
        self,
        database: Database,
        analyst: Analyst,
        mentions: MentionFinder,
        observer: AnalystObserver,
        *,
        persona_name: str,
        most_judged: int,
        wake: Callable[[], None],
    ) -> None:
        super().__init__(database, observer, persona_name=persona_name, wake=wake)
        self._analyst, self._mentions, self._observer = analyst, mentions, observer
        self._most_judged = most_judged

    async def prepare(self, run: Run) -> Prepared[AnalystInput]:
        user, topic, lines, wanted = await self._database.read(lambda c: self._read(c, run))
        shown = fitted([line.shown for line in lines])
        request = AnalystRequest(
            owner=OwnerProfile.of(user),
            topic=topic,
            transcript=shown,
            rules=rules(),
            judged=responses_to_judge(shown, self._most_judged),
        )
        snapshot = {"messages": {line.message_id: line.message_rev for line in lines}}
        return Prepared(
            AnalystInput(request, lines), snapshot, None if shown and (wanted or has_feedback(shown)) else _NOTHING
        )

    def _read(self, connection: Connection, run: Run) -> tuple[User, str, tuple[SessionLine, ...], bool]:
        """The owner, the topic, every message, and whether he set a reaction or closed the session by `/ss`."""
        user = users.get(connection, run.user_id)
        session = _session(connection, run)
        if session is None:
            return user, "", (), False
        events = sessions.events_of_session(connection, run.user_id, session.id)
        wanted = closed_by(connection, session) is not None or any(event.is_reaction for event in events)
        return user, session.topic, read_session(connection, user, session.id, self._persona), wanted

    async def _ask(self, asked: AnalystInput) -> AgentReply:
        """Makes one call, and another for the more important half of the answers if the reply was cut by its limit."""
        request = asked.request
        while True:
            try:
                return await self._analyst.ask(request)
            except ModelReplyTruncated:
                if len(request.to_judge) < 2:
                    raise
                request = replace(request, judged=request.to_judge[: len(request.to_judge) // 2])
                log.info("analysis_halved", extra={"judged": len(request.to_judge)})

    async def resolve(self, run: Run, prepared: Prepared[AnalystInput], reply: str) -> ResolvedAnalysis:
        """Completes the reply with verdicts by rules where it has none, and drops lessons about people."""
        request, lines = prepared.input.request, prepared.input.lines
        parsed = parse(reply, request.transcript, request.rules)
        # The rules read 200 answers in a tenth of a second, in which the event loop would stand still.
        responses, session = await asyncio.to_thread(completed, parsed, request, lines)
        known = await self._database.read(lambda c: names_known(c, run.user_id))
        judgements = {**responses, 0: session}
        mentions, about_people = await self._find_mentions(run.user_id, judgements, parsed.topic)
        judgements, refused = without_people(judgements, about_people)
        session = judgements.pop(0)
        return ResolvedAnalysis(parsed.topic, judgements, session, mentions, [*parsed.refused, *refused], known)

    async def _find_mentions(
        self, user_id: int, judgements: Mapping[int, Judgement], topic: str
    ) -> tuple[dict[int, MentionedNames], frozenset[str]]:
        """The names in each verdict, by number, and the lessons that name somebody."""
        texts = {number: "\n".join(judgement.texts) for number, judgement in judgements.items()}
        texts[0] = f"{topic}\n{texts[0]}"
        lessons = list(dict.fromkeys(lesson for judgement in judgements.values() for lesson in judgement.lessons))
        found = await self._mentions.read(user_id, [*texts.values(), *lessons])
        of_lessons = zip(lessons, found[len(texts) :], strict=True)
        about_people = frozenset(lesson for lesson, mentions in of_lessons if mentions.people)
        return dict(zip(texts, found, strict=False)), about_people

    def refuse_if_changed(self, connection: Connection, run: Run, snapshot: Mapping[str, Any]) -> None:
        if _session(connection, run) is not None:
            super().refuse_if_changed(connection, run, snapshot)

    def _write(
        self,
        connection: Connection,
        run: Run,
        prepared: Prepared[AnalystInput],
        resolved: ResolvedAnalysis,
        now: datetime,
    ) -> Applied | None:
        session = _session(connection, run)
        if session is None:
            return None
        if names_known(connection, run.user_id) != resolved.known:
            raise StaleResolution("somebody or something became known while the names of this analysis were read")
        chronicle.drop_analyses(connection, run.user_id, session.id)
        written = _write_analyses(connection, run, session.id, prepared.input.lines, resolved, now)
        if resolved.topic:
            chronicle.name_topic(connection, run.user_id, session.id, resolved.topic)
        none = MentionedNames()
        mention_analyses(
            connection,
            run,
            {event.id: (event, resolved.mentions.get(number, none)) for number, event in written.items()},
        )
        verdicts = Counter[str](resolved.responses[number].verdict for number in written if number)
        by_rules = sum(judgement.by_rules for judgement in resolved.responses.values())
        payload = {"verdicts": dict(verdicts), "by_rules": by_rules, "refused": len(resolved.refused)}
        return Applied(payload, resolved.refused, [(self._observer.analysis_verdict, verdicts)])


def _session(connection: Connection, run: Run) -> Session | None:
    return sessions.session(connection, run.user_id, run.session_id or "")


def _write_analyses(
    connection: Connection,
    run: Run,
    session_id: str,
    lines: Sequence[SessionLine],
    resolved: ResolvedAnalysis,
    now: datetime,
) -> dict[int, ChronicleEvent]:
    """Writes an Analysis of each response that still exists and a summary of the session, under the number 0."""
    analyse = partial(chronicle.analyse, connection, run.user_id, session_id, now=now, run_id=run.id)
    events = {event.id: event for event in sessions.events_of_session(connection, run.user_id, session_id)}
    written: dict[int, ChronicleEvent] = {}
    for line in lines:
        number, event = line.shown.number, events.get(line.event_id)
        judgement = resolved.responses.get(number)
        if judgement is None or event is None or event.label is not EventLabel.RESPONSE:
            continue
        written[number] = analyse("response_analysis", judgement.attributes(), answers_n=event.n)
        _set_summary(connection, event, judgement.summary)
    summary = resolved.session.attributes() | {"summary": resolved.session.summary}
    written[0] = analyse("session_summary", summary, answers_n=None)
    return written


def completed(
    reply: AnalystReply, request: AnalystRequest, lines: Sequence[SessionLine]
) -> tuple[dict[int, Judgement], Judgement]:
    """A verdict on every response of a session, by rules where the reply has none, and one on the session. Pure."""
    whole, language = [line.shown for line in lines], request.owner.language
    by_rules = judge(whole, request.rules, language)
    responses = {number: reply.responses.get(number, judgement) for number, judgement in by_rules.items()}
    return responses, reply.session or sum_up(responses, reply.topic or request.topic, language)


def without_people(
    judgements: Mapping[int, Judgement], about_people: frozenset[str]
) -> tuple[dict[int, Judgement], list[Refusal]]:
    """The verdicts without lessons that name somebody: those are facts, and would be shown at any time. Pure."""
    kept = {
        number: replace(judgement, lessons=tuple(one for one in judgement.lessons if one not in about_people))
        for number, judgement in judgements.items()
    }
    lost = sum(len(judgements[number].lessons) - len(judgement.lessons) for number, judgement in kept.items())
    return kept, [Refusal("names_somebody", "a lesson is about a person")] * lost


def _set_summary(connection: Connection, event: ChronicleEvent, summary: str) -> None:
    """Gives a response its latest summary, or its first words if there is none."""
    attrs = {name: value for name, value in event.attrs.items() if name != "summary"}
    if summary:
        attrs["summary"] = summary
    if attrs != dict(event.attrs):
        sessions.change_event(connection, event, attrs=attrs)
