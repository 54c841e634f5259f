"""Answers a turn: freezes what was asked (C3), recalls, lets the responder write, stores the answer (C4)."""

import asyncio
import contextlib
import logging
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from functools import partial
from typing import Any, Protocol

from sqlalchemy import Connection

from internal.agents.citations import with_numbers, without_citations
from internal.agents.model import Responder, ResponderRequest
from internal.dialogue import reply_source_repository as sources, repository as dialogue, turn_repository as turns
from internal.dialogue.buffers import DialogueBuffers
from internal.dialogue.mailbox.model import Rendered
from internal.dialogue.model import CARDS_MARK, Message, Turn, TurnState
from internal.errors import (
    ModelAccessDenied,
    ModelContextExceeded,
    ModelError,
    ModelRefused,
    ModelReplyInvalid,
    ModelReplyTruncated,
    ModelSilent,
    ModelUnavailable,
)
from internal.events import bus, repository as events
from internal.events.bus import Topic
from internal.events.trigger import caused_by
from internal.flows.sessions.lifecycle import UNJUDGED, SessionLifecycle
from internal.flows.turn.attempts import MAX_STARTS, Attempts, Last, Outcome
from internal.flows.turn.cancellation import or_stop
from internal.flows.turn.commands.apply import CommandFlow
from internal.flows.turn.commands.honest_reply import Claims
from internal.flows.turn.commands.model import NO_COMMANDS, Card, Commands
from internal.flows.turn.commands.reminder_requests import GrantedReminder, ReminderRequest, ReminderRequests
from internal.flows.turn.enqueue import OutgoingPart, card_parts, enqueue
from internal.flows.turn.failure_reply import sorry_key
from internal.flows.turn.files import Files, Keyboard, of_files_alone, unread_files, unread_lines, with_files
from internal.flows.turn.intake import Phrases
from internal.flows.turn.prepared_requests import Requests
from internal.flows.turn.prompt import Prompts, Question, freeze
from internal.flows.turn.reply_sources import page_links, sources_of, used_memories
from internal.flows.turn.tools.web_pages import Web
from internal.llm.model import ChatReply, Usage
from internal.memory.plasticity.decay import PRESETS, Plasticity
from internal.memory.plasticity.operations import touch_used
from internal.scheduling.clock import Clock
from internal.scheduling.run import retry_delay
from internal.storage.change_log import changes_together
from internal.storage.database import Database

log = logging.getLogger(__name__)

RESPONDER = "agent:Responder"
"""Its name in events."""

RETRY_BASE, RETRY_MAX = timedelta(seconds=1), timedelta(seconds=8)

STOPPED = "⏹"
"""Replaces a placeholder whose answer was stopped before its first word."""

CUT = " …"
"""Ends an answer that its length limit cut: it was paid for, and most of it is there."""

Renderer = Callable[[str], Sequence[Rendered]]


class Drafts(Protocol):
    """Where an answer is shown while it is written. Cosmetic: may be dropped, never fails."""

    async def begin(self, turn: Turn) -> None:
        """Shows that an answer is being prepared; a later call, that it is prepared again."""

    async def show(self, turn: Turn, text: str) -> None:
        """Shows the Markdown written so far."""

    async def end(self, turn: Turn) -> str | None:
        """Stops showing. Returns the outbox key of the placeholder that the answer replaces, or None."""


class TurnObserver(Protocol):
    def turn_ended(self, outcome: str, seconds: float) -> None:
        """`outcome` is answered, cancelled or failed; `seconds` since the turn was opened."""


class TurnFlow:
    """Answers turns, each once. Call `answer` again for a turn that a crash interrupted."""

    def __init__(
        self,
        database: Database,
        clock: Clock,
        buffers: DialogueBuffers,
        prompts: Prompts,
        responder: Responder,
        *,
        render: Renderer,
        phrases: Phrases,
        drafts: Drafts,
        observer: TurnObserver,
        wake_outbox: Callable[[], None],
        retry_base: timedelta = RETRY_BASE,
        chronicling: SessionLifecycle = UNJUDGED,
        plasticity: Plasticity = PRESETS["default"],
        grants: ReminderRequests | None = None,
        commands: CommandFlow | None = None,
        web: Web | None = None,
        files: Files | None = None,
    ) -> None:
        self._grants, self._commands, self._files = grants, commands, files
        self._retry_base, self._chronicling, self._plasticity = retry_base, chronicling, plasticity
        self._database, self._clock, self._buffers = database, clock, buffers
        self._responder, self._render, self._phrases = responder, render, phrases
        self._drafts, self._observer, self._wake_outbox = drafts, observer, wake_outbox
        self._stops: dict[str, asyncio.Event] = {}
        self._requests = Requests(database, prompts, clock, opens_tasks=grants is not None, commands=commands, web=web)
        self._claims = Claims(self._requests, commands, opens_tasks=grants is not None)

    def preparing(self, turn: Turn) -> contextlib.AbstractContextManager[None]:
        """Begins the recall for a turn that still collects messages, so that its answer waits for less."""
        return self._requests.preparing(turn)

    async def answer(self, turn: Turn) -> None:
        """Ends a turn whose window has closed.

        Raises what is no fault of the model's; the turn is open then, and `answer` is to be called again.
        """
        stop = self._stops[turn.id] = asyncio.Event()
        try:
            with caused_by(turn=turn.id):
                await self._until_done(turn, stop)
        except asyncio.CancelledError:
            await self._interrupted(turn)
            raise
        except Exception:
            await self._drafts.end(turn)
            raise
        finally:
            del self._stops[turn.id]
            self._requests.drop(turn)
        self._wake_outbox()

    async def _until_done(self, turn: Turn, stop: asyncio.Event) -> None:
        attempts = Attempts()
        while True:
            question = await self._start(turn)
            if question is None:
                return
            if self._files is not None and unread_files(question):
                await self._drafts.begin(turn)
                reading = with_files(question, self._files, self._database, partial(self._drafts.show, turn))
                question = await or_stop(reading, stop) or question
            if attempts.ended(await self._attempt(question, stop, attempts.last(question.turn.attempts))):
                return

    def stop(self, turn_id: str) -> bool:
        """Ends the writing of an answer and keeps what is written so far. False if none is being written."""
        event = self._stops.get(turn_id)
        if event is not None:
            event.set()
        return event is not None

    async def _interrupted(self, turn: Turn) -> None:
        """Takes back an attempt that an orderly shutdown interrupted: it did not fail."""
        await self._drafts.end(turn)
        await self._database.write(lambda connection: turns.discount(connection, turn))

    async def _start(self, turn: Turn) -> Question | None:
        now, prepared = self._clock.now(), self._requests.prepared(turn)

        def work(connection: Connection) -> Question | None:
            question = freeze(connection, turn, prepared)
            if question is None:
                return None
            payload = {"attempt": question.turn.attempts, "messages": len(question.asked)}
            return replace(question, begun=_append_event(connection, "agent_activity_start", turn, now, payload))

        return await self._database.write(work, point="C3")

    async def _attempt(self, question: Question, stop: asyncio.Event, last: Last) -> Outcome:
        if (line := of_files_alone(question.asked, self._phrases, question.user)) is not None:
            below = self._files.below(question.user, question.asked) if self._files is not None else None
            return await self._say(question, line, TurnState.ANSWERED, below=below)
        if question.turn.attempts > MAX_STARTS:
            return await self._say(question, self._phrases(question.user.lang, "answer-failed"), TurnState.FAILED)
        await self._drafts.begin(question.turn)
        requested = None if self._grants is None else await self._grants.read(question)
        commands = NO_COMMANDS if self._commands is None else await self._commands.read(question)
        asked = [one for one in (requested, commands if commands.actions else None) if one is not None]
        if asked and all(one.only for one in asked):
            return await self._keep(question, _GRANTED_REPLY, [], requested, commands, stopped=False, last=last.edit)
        try:
            reply = await self._write(question, [one.note for one in asked], stop)
            if not stop.is_set():
                reply, requested, commands = await self._claims.judged(question, reply, requested, commands)
            request = self._requests.last(question.turn)
            links = page_links(request, reply.text) if request is not None else ""
            shown = (unread_lines(question.asked, self._phrases, question.user), with_numbers(reply.text), links)
            parts = list(self._render("\n\n".join(filter(None, shown))))
            if not parts and not stop.is_set() and requested is None and not commands.actions:
                raise ModelReplyInvalid("nothing in the answer can be seen")
        except ModelError as error:
            return await self._failed(question, error, stop, last)
        return await self._keep(question, reply, parts, requested, commands, stopped=stop.is_set(), last=last.edit)

    async def _write(self, question: Question, notes: Sequence[str], stop: asyncio.Event) -> ChatReply:
        request = await or_stop(self._requests.of(question), stop)
        if request is None:
            return _STOPPED_REPLY
        request = replace(request, system_lines=[*request.system_lines, *notes])
        written: list[str] = []
        try:
            final = await self._stream(question, request, written, stop)
        except ModelContextExceeded:
            self._requests.shorten(question)
            return await self._write(question, notes, stop)
        except ModelReplyTruncated:
            if not "".join(written).strip():
                raise
            log.info("answer_cut", extra={"turn": question.turn.id})
            return replace(_STOPPED_REPLY, text="".join(written).rstrip() + CUT)
        return final or replace(_STOPPED_REPLY, text="".join(written))

    async def _stream(
        self, question: Question, request: ResponderRequest, written: list[str], stop: asyncio.Event
    ) -> ChatReply | None:
        """Shows the reply while it is written, into `written` too. None if it was stopped."""
        async with contextlib.aclosing(self._responder.reply(request)) as deltas:  # type: ignore[type-var]
            while (delta := await or_stop(anext(deltas, None), stop)) is not None:
                if delta.final is not None:
                    return delta.final
                written.append(delta.text)
                await self._drafts.show(question.turn, with_numbers("".join(written)))
        return None

    async def _keep(
        self,
        question: Question,
        reply: ChatReply,
        parts: Sequence[Rendered],
        requested: ReminderRequest | None = None,
        commands: Commands = NO_COMMANDS,
        *,
        stopped: bool,
        last: bool,
    ) -> Outcome:
        """C4: stores the answer with its outbox rows, events, used memories and reminders; again, if it was edited."""
        turn, now = question.turn, self._clock.now()
        placeholder = await self._drafts.end(turn)
        state = TurnState.CANCELLED if stopped else TurnState.ANSWERED
        request, rev = self._requests.last(turn), None if stopped or last else question.rev

        def work(connection: Connection) -> tuple[Message | None, Sequence[GrantedReminder]]:
            # A question that is edited again and again is answered all the same.
            if not turns.finish(connection, turn, state, rev=rev):
                if rev is not None and turns.revision(connection, turn) != rev:
                    raise _Edited
                return None, ()
            granted: Sequence[GrantedReminder] = ()
            if self._grants is not None and requested is not None:
                granted = self._grants.grant(connection, question, requested, now)
            cards = [Card([one.part], one.keyboard) for one in granted]
            if self._commands is not None:
                cards += self._commands.carry_out(connection, question, commands.actions, now)
            messages = [*map(OutgoingPart, parts), *(part for one in cards for part in card_parts(one))]
            said = without_citations(reply.text) if parts else ""
            text = "\n\n".join([*[said] * bool(said), *(part.text for one in cards for part in one.parts)])
            mark = {CARDS_MARK: len(said)} if cards else None
            message = self._add_answer(connection, question, text, mark, now) if messages else None
            if message is not None and request is not None:
                sources.add(connection, turn.user_id, message.id, sources_of(request, reply.text))
                touch_used(connection, turn.user_id, used_memories(request, reply.text), now, self._plasticity)
            messages = messages or ([OutgoingPart(Rendered(STOPPED))] if placeholder else [])
            answer = message.id if message else None
            spoken, to = self._requests.by_voice(turn), question.asked
            payload = {"message": answer, "model": reply.model, "stopped": stopped}
            result = _publish(connection, question, now, payload, message=answer)
            enqueue(connection, turn, messages, now, answer, placeholder, to, spoken=spoken, result=result)
            return message, granted

        try:
            message, granted = await self._database.write(changes_together(work), point="C4")
        except _Edited:
            log.info("turn_edited", extra={"turn": turn.id})
            return Outcome.EDITED
        if message is not None:
            self._buffers.add(message, now)
        if self._grants is not None and granted:
            self._grants.count(granted)
        self._ended(turn, "cancelled" if stopped else "answered")
        return Outcome.DONE

    def _add_answer(
        self, connection: Connection, question: Question, text: str, mark: dict[str, Any] | None, now: datetime
    ) -> Message:
        turn = question.turn
        address: dict[str, Any] = {"bot_id": turn.bot_id, "chat_id": turn.chat_id, "thread_id": turn.thread_id}
        address |= {"turn_id": turn.id, "delivery": "pending", "user_metadata": mark}
        message = dialogue.add(connection, turn.user_id, "assistant", text, now=now, **address)
        dialogue.record_activity(connection, turn.user_id, now)
        self._chronicling.answered(connection, message, question.asked, tz=question.user.tz, now=now)
        return message

    async def _failed(self, question: Question, error: ModelError, stop: asyncio.Event, last: Last) -> Outcome:
        """Tries again after a pause; where that cannot help, or was done often enough, sends an apology."""
        turn = question.turn
        if stop.is_set():
            return await self._keep(question, _STOPPED_REPLY, [], stopped=True, last=last.edit)
        log.warning("answer_failed", extra={"turn": turn.id, "attempt": turn.attempts, "error": str(error)})
        silent = isinstance(error, ModelSilent)
        if isinstance(error, ModelRefused | ModelAccessDenied) or last.failure or (silent and last.silence):
            sorry = self._phrases(question.user.lang, sorry_key(error, question.user))
            return await self._say(question, sorry, TurnState.FAILED, str(error))
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(self._pause(turn, error).total_seconds()):
                await stop.wait()
        return Outcome.SILENT if silent else Outcome.FAILED

    def _pause(self, turn: Turn, error: ModelError) -> timedelta:
        wait = retry_delay(turn.attempts, self._retry_base, RETRY_MAX)
        asked = error.retry_after if isinstance(error, ModelUnavailable) else None
        return wait if asked is None else min(max(wait, timedelta(seconds=asked)), RETRY_MAX)

    async def _say(
        self, question: Question, text: str, state: TurnState, error: str | None = None, below: Keyboard = None
    ) -> Outcome:
        """Ends a turn with a sentence of the program's own, which never becomes part of the dialogue."""
        turn, now = question.turn, self._clock.now()
        placeholder = await self._drafts.end(turn)
        parts = card_parts(Card(list(self._render(text)), below))

        def work(connection: Connection) -> None:
            if turns.finish(connection, turn, state, error):
                enqueue(connection, turn, parts, now, None, placeholder, question.asked)
                payload = {"error": error} if error else {}
                if state is TurnState.FAILED:
                    _append_event(connection, "agent_run_failed", turn, now, payload)
                else:
                    _publish(connection, question, now, payload)

        await self._database.write(work, point="C4")
        self._ended(turn, state.value)
        return Outcome.DONE

    def _ended(self, turn: Turn, outcome: str) -> None:
        self._observer.turn_ended(outcome, (self._clock.now() - turn.opened_at).total_seconds())


def _append_event(connection: Connection, kind: str, turn: Turn, now: datetime, payload: dict[str, Any]) -> str:
    user_id, links = turn.user_id, {"turn": turn.id}
    return events.append(connection, kind, source=RESPONDER, now=now, user_id=user_id, payload=payload, links=links)


def _publish(
    connection: Connection, question: Question, now: datetime, payload: dict[str, Any], message: str | None = None
) -> str:
    about = {"turn": question.turn.id, "message": message, "caused_by": question.begun}
    fields: dict[str, Any] = {"payload": payload, "links": {name: ref for name, ref in about.items() if ref}}
    return bus.publish(connection, Topic.PROCESSED, source=RESPONDER, now=now, user_id=question.turn.user_id, **fields)


class _Edited(Exception):
    """The question changed while it was being answered."""


_STOPPED_REPLY = ChatReply("", "stopped", Usage())
"""Of a model that was interrupted: the text so far. Its cost is kept by the call recorder."""
_GRANTED_REPLY = ChatReply("", "rules", Usage())
"""To a question that is nothing but requests: the tasks that are opened are the answer."""
