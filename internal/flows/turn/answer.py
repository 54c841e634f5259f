"""Answers a turn: freezes the question (C3), recalls, lets the responder write, stores the answer (C4)."""

import asyncio
import contextlib
import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from functools import partial
from typing import Protocol

from sqlalchemy import Connection

from internal.agents.citations import with_numbers
from internal.agents.model import Responder, ResponderRequest
from internal.dialogue import turn_repository as turns
from internal.dialogue.buffers import DialogueBuffers
from internal.dialogue.mailbox.model import Rendered
from internal.dialogue.model import Turn, TurnState
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
from internal.events.trigger import caused_by
from internal.flows.sessions.lifecycle import UNJUDGED, SessionLifecycle
from internal.flows.turn.attempts import MAX_STARTS, AttemptLimits, AttemptOutcome, Attempts
from internal.flows.turn.cancellation import or_stop
from internal.flows.turn.commands.apply import CommandFlow
from internal.flows.turn.commands.model import NO_COMMANDS, ChangeTask, Commands
from internal.flows.turn.commands.reminder_requests import ReminderRequest, ReminderRequests
from internal.flows.turn.commands.reply_check import Claims
from internal.flows.turn.failure_reply import sorry_key
from internal.flows.turn.files import Files, Keyboard, of_files_alone, unread_files, unread_lines, with_files
from internal.flows.turn.intake import IntakePhrases
from internal.flows.turn.prepared_requests import Requests
from internal.flows.turn.prompt import PromptInputs, Prompts, freeze
from internal.flows.turn.reply_sources import page_links
from internal.flows.turn.store_answer import Answer, AnswerStore, Renderer, append_event
from internal.flows.turn.tools.web_pages import Web
from internal.llm.model import ChatReply, Usage
from internal.memory.plasticity.decay import PRESETS, Plasticity
from internal.scheduling.clock import Clock
from internal.scheduling.retry import retry_delay
from internal.storage.database import Database

log = logging.getLogger(__name__)

RETRY_BASE, RETRY_MAX = timedelta(seconds=1), timedelta(seconds=8)

CUT = " …"
"""The end of an answer that its length limit cut: it was paid for, and most of it is there."""


@dataclass(frozen=True, slots=True)
class _Orders:
    """The orders in a question, from its words or from a model that read them."""

    requested: ReminderRequest | None
    commands: Commands

    @property
    def notes(self) -> Sequence[str]:
        """Notes about the orders for the model."""
        return [one.note for one in self._asked]

    @property
    def sufficient(self) -> bool:
        """Whether the question consists of orders only."""
        return bool(self._asked) and all(one.only for one in self._asked)

    @property
    def _asked(self) -> Sequence[ReminderRequest | Commands]:
        commands = self.commands if self.commands.actions else None
        return [one for one in (self.requested, commands) if one is not None]


class Drafts(Protocol):
    """Shows an answer while it is written. Cosmetic: may be dropped, never fails."""

    async def begin(self, turn: Turn) -> None:
        """Shows that an answer is being prepared, or prepared again."""

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
        phrases: IntakePhrases,
        drafts: Drafts,
        observer: TurnObserver,
        wake_outbox: Callable[[], None],
        retry_base: timedelta = RETRY_BASE,
        lifecycle: SessionLifecycle = UNJUDGED,
        plasticity: Plasticity = PRESETS["default"],
        reminders: ReminderRequests | None = None,
        commands: CommandFlow | None = None,
        web: Web | None = None,
        files: Files | None = None,
    ) -> None:
        self._reminders, self._commands, self._files = reminders, commands, files
        self._retry_base = retry_base
        self._database, self._clock = database, clock
        self._responder, self._render, self._phrases = responder, render, phrases
        self._drafts, self._observer, self._wake_outbox = drafts, observer, wake_outbox
        self._stops: dict[str, asyncio.Event] = {}
        self._requests = Requests(
            database, prompts, clock, opens_tasks=reminders is not None, commands=commands, web=web
        )
        self._claims = Claims(self._requests, commands, opens_tasks=reminders is not None)
        self._answers = AnswerStore(
            database,
            clock,
            buffers,
            render,
            self._ended,
            lifecycle=lifecycle,
            plasticity=plasticity,
            reminders=reminders,
            commands=commands,
        )

    def preparing(self, turn: Turn) -> contextlib.AbstractContextManager[None]:
        """Begins the recall for a turn that still collects messages, so that its answer comes sooner."""
        return self._requests.preparing(turn)

    async def answer(self, turn: Turn) -> None:
        """Answers a turn whose window has closed.

        Raises errors that are not the model's; the turn stays open, and `answer` is to be called again.
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
        """Stops writing an answer and keeps the text so far. Returns False if none is being written."""
        event = self._stops.get(turn_id)
        if event is not None:
            event.set()
        return event is not None

    async def _interrupted(self, turn: Turn) -> None:
        """Takes back an attempt that an orderly shutdown interrupted, as it did not fail."""
        await self._drafts.end(turn)
        await self._database.write(lambda connection: turns.discount(connection, turn))

    async def _start(self, turn: Turn) -> PromptInputs | None:
        now, prepared = self._clock.now(), self._requests.prepared(turn)

        def work(connection: Connection) -> PromptInputs | None:
            question = freeze(connection, turn, prepared)
            if question is None:
                return None
            payload = {"attempt": question.turn.attempts, "messages": len(question.asked)}
            return replace(question, begun=append_event(connection, "agent_activity_start", turn, now, payload))

        return await self._database.write(work, point="C3")

    async def _attempt(self, question: PromptInputs, stop: asyncio.Event, last: AttemptLimits) -> AttemptOutcome:
        if (line := of_files_alone(question.asked, self._phrases, question.user)) is not None:
            return await self._say(question, line, TurnState.ANSWERED, below=self._below(question))
        if question.turn.attempts > MAX_STARTS:
            return await self._say(question, self._phrases(question.user.lang, "answer-failed"), TurnState.FAILED)
        await self._drafts.begin(question.turn)
        orders = await self._orders(question)
        if orders.sufficient:
            answer = Answer(_GRANTED_REPLY, (), orders.requested, orders.commands, self._requests.last(question.turn))
            return await self._keep(question, answer, last=last.edit)
        try:
            answer = await self._written(question, orders, stop)
        except ModelError as error:
            return await self._failed(question, error, stop, last)
        return await self._keep(question, answer, last=last.edit)

    async def _orders(self, question: PromptInputs) -> _Orders:
        requested = None if self._reminders is None else await self._reminders.read(question)
        commands = NO_COMMANDS if self._commands is None else await self._commands.read(question)
        moves = any(isinstance(one, ChangeTask) and one.how == "move" for one in commands.actions)
        new = None if requested is None or (moves and not any(one.asked for one in requested.reminders)) else requested
        return _Orders(new, commands)

    async def _written(self, question: PromptInputs, orders: _Orders, stop: asyncio.Event) -> Answer:
        """Lets the model write the answer, and removes claims of actions that did not happen. Raises ModelError."""
        turn, requested, commands = question.turn, orders.requested, orders.commands
        reply = await self._write(question, orders.notes, stop)
        if not stop.is_set():
            reply, requested, commands = await self._claims.judged(question, reply, requested, commands)
        request, stopped = self._requests.last(turn), stop.is_set()
        links = page_links(request, reply.text) if request is not None else ""
        shown = (unread_lines(question.asked, self._phrases, question.user), with_numbers(reply.text), links)
        parts = list(self._render("\n\n".join(filter(None, shown))))
        if not parts and not stopped and requested is None and not commands.actions:
            raise ModelReplyInvalid("nothing in the answer can be seen")
        spoken = self._requests.by_voice(turn)
        below = self._below(question)
        private = self._kept_back(question, request) if parts and not stopped else ()
        return Answer(reply, parts, requested, commands, request, below, stopped, spoken, private)

    def _kept_back(self, question: PromptInputs, request: ResponderRequest | None) -> Sequence[Rendered]:
        """A line for the owner alone that says which kinds of private things were kept out of words for others."""
        if request is None or not request.kept_back or question.turn.chat_id < 0:
            return ()
        lang = question.user.lang
        named = ", ".join(self._phrases(lang, "kept-back-topic", topic=topic) for topic in request.kept_back)
        return self._render(self._phrases(lang, "kept-back", topics=named))

    def _below(self, question: PromptInputs) -> Keyboard:
        return self._files.below(question.user, question.asked) if self._files is not None else None

    async def _write(self, question: PromptInputs, notes: Sequence[str], stop: asyncio.Event) -> ChatReply:
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
            log.info("answer_truncated", extra={"turn": question.turn.id})
            return replace(_STOPPED_REPLY, text="".join(written).rstrip() + CUT)
        return final or replace(_STOPPED_REPLY, text="".join(written))

    async def _stream(
        self, question: PromptInputs, request: ResponderRequest, written: list[str], stop: asyncio.Event
    ) -> ChatReply | None:
        """Shows the reply while it is written, and collects it in `written`. Returns None if it was stopped."""
        async with contextlib.aclosing(self._responder.reply(request)) as deltas:  # type: ignore[type-var]
            while (delta := await or_stop(anext(deltas, None), stop)) is not None:
                if delta.final is not None:
                    return delta.final
                written.append(delta.text)
                await self._drafts.show(question.turn, with_numbers("".join(written)))
        return None

    async def _failed(
        self, question: PromptInputs, error: ModelError, stop: asyncio.Event, last: AttemptLimits
    ) -> AttemptOutcome:
        """Tries again after a pause, or sends an apology if that cannot help or was done often enough."""
        turn = question.turn
        if stop.is_set():
            return await self._keep(question, Answer(_STOPPED_REPLY, stopped=True))
        log.warning("answer_failed", extra={"turn": turn.id, "attempt": turn.attempts, "error": str(error)})
        silent = isinstance(error, ModelSilent)
        if isinstance(error, ModelRefused | ModelAccessDenied) or last.failure or (silent and last.silence):
            sorry = self._phrases(question.user.lang, sorry_key(error, question.user))
            return await self._say(question, sorry, TurnState.FAILED, str(error))
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(self._pause(turn, error).total_seconds()):
                await stop.wait()
        return AttemptOutcome.SILENT if silent else AttemptOutcome.FAILED

    def _pause(self, turn: Turn, error: ModelError) -> timedelta:
        wait = retry_delay(turn.attempts, self._retry_base, RETRY_MAX)
        asked = error.retry_after if isinstance(error, ModelUnavailable) else None
        return wait if asked is None else min(max(wait, timedelta(seconds=asked)), RETRY_MAX)

    async def _keep(self, question: PromptInputs, answer: Answer, *, last: bool = False) -> AttemptOutcome:
        placeholder = await self._drafts.end(question.turn)
        return await self._answers.keep(question, answer, placeholder, last=last)

    async def _say(
        self, question: PromptInputs, text: str, state: TurnState, error: str | None = None, below: Keyboard = None
    ) -> AttemptOutcome:
        placeholder = await self._drafts.end(question.turn)
        return await self._answers.say(question, text, state, placeholder, error=error, below=below)

    def _ended(self, turn: Turn, outcome: str) -> None:
        self._observer.turn_ended(outcome, (self._clock.now() - turn.opened_at).total_seconds())


_STOPPED_REPLY = ChatReply("", "stopped", Usage())
"""The reply of an interrupted model, with the text so far. The call recorder has its cost."""
_GRANTED_REPLY = ChatReply("", "rules", Usage())
"""The reply to a question that consists of requests: the opened tasks are the answer."""
