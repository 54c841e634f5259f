"""Stores the answer of a turn (C4): the message, the outgoing parts, the requested actions, and the events."""

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import Connection

from internal.agents.citations import without_citations
from internal.agents.model import ResponderRequest
from internal.dialogue import reply_source_repository as sources, repository as dialogue, turn_repository as turns
from internal.dialogue.buffers import DialogueBuffers
from internal.dialogue.mailbox.model import Rendered
from internal.dialogue.model import CARDS_MARK, Message, Turn, TurnState
from internal.events import bus, repository as events
from internal.events.bus import EventTopic
from internal.flows.sessions.lifecycle import SessionLifecycle
from internal.flows.turn.attempts import AttemptOutcome
from internal.flows.turn.commands.apply import CommandFlow
from internal.flows.turn.commands.model import NO_COMMANDS, ActionCard, Commands
from internal.flows.turn.commands.reminder_requests import OpenedReminder, ReminderRequest, ReminderRequests
from internal.flows.turn.enqueue import OutgoingPart, answer_parts, card_parts, enqueue
from internal.flows.turn.files import Keyboard
from internal.flows.turn.prompt import PromptInputs
from internal.flows.turn.reply_sources import sources_of, used_memories
from internal.llm.model import ChatReply
from internal.memory.plasticity.decay import Plasticity
from internal.memory.plasticity.strength_changes import touch_used
from internal.scheduling.clock import Clock
from internal.storage.change_log import changes_together
from internal.storage.database import Database

log = logging.getLogger(__name__)

RESPONDER = "agent:Responder"
"""The name of the action in events."""

STOPPED = "⏹"
"""Replaces a placeholder whose answer was stopped before its first word."""

Renderer = Callable[[str], Sequence[Rendered]]

TurnEnded = Callable[[Turn, str], None]
"""Called with the turn and its outcome: answered, cancelled or failed."""


@dataclass(frozen=True, slots=True)
class Answer:
    """The model's reply, the messages that show it, and the actions that its user requested.

    `request` is the model's input, or None. Buttons stand `below` the last of `parts`. The user may
    have `stopped` it; if `spoken`, it is sent as a voice message too. `for_owner` says what was kept out of words for
    others.
    """

    reply: ChatReply
    parts: Sequence[Rendered] = ()
    requested: ReminderRequest | None = None
    commands: Commands = NO_COMMANDS
    request: ResponderRequest | None = None
    below: Keyboard = None
    stopped: bool = False
    spoken: bool = False
    for_owner: Sequence[Rendered] = ()


class AnswerStore:
    """Ends turns in the database. Effects of an answer are written in the answer's transaction."""

    def __init__(
        self,
        database: Database,
        clock: Clock,
        buffers: DialogueBuffers,
        render: Renderer,
        ended: TurnEnded,
        *,
        lifecycle: SessionLifecycle,
        plasticity: Plasticity,
        reminders: ReminderRequests | None,
        commands: CommandFlow | None,
    ) -> None:
        self._database, self._clock, self._buffers = database, clock, buffers
        self._render, self._ended = render, ended
        self._lifecycle, self._plasticity, self._reminders, self._commands = lifecycle, plasticity, reminders, commands

    async def keep(
        self, question: PromptInputs, answer: Answer, placeholder: str | None, *, last: bool
    ) -> AttemptOutcome:
        """Stores an answer, or returns EDITED if its question changed meanwhile and this is not the `last` try."""
        turn, now = question.turn, self._clock.now()
        state = TurnState.CANCELLED if answer.stopped else TurnState.ANSWERED
        rev = None if answer.stopped or last else question.rev

        def work(connection: Connection) -> tuple[Message | None, Sequence[OpenedReminder]]:
            if turns.finish(connection, turn, state, rev=rev):
                return self._store(connection, question, answer, placeholder, now)
            if rev is not None and turns.revision(connection, turn) != rev:
                raise _Edited
            return None, ()

        try:
            message, opened = await self._database.write(changes_together(work), point="C4")
        except _Edited:
            log.info("turn_edited", extra={"turn": turn.id})
            return AttemptOutcome.EDITED
        if message is not None:
            self._buffers.add(message, now)
        if self._reminders is not None and opened:
            self._reminders.count(opened)
        self._ended(turn, state.value)
        return AttemptOutcome.DONE

    async def say(
        self,
        question: PromptInputs,
        text: str,
        state: TurnState,
        placeholder: str | None,
        *,
        error: str | None = None,
        below: Keyboard = None,
    ) -> AttemptOutcome:
        """Ends a turn with a sentence of the program's own, which is not part of the dialogue."""
        turn, now = question.turn, self._clock.now()
        parts = answer_parts(self._render(text), below)

        def work(connection: Connection) -> None:
            if turns.finish(connection, turn, state, error):
                enqueue(connection, turn, parts, now, None, placeholder, question.asked)
                payload = {"error": error} if error else {}
                if state is TurnState.FAILED:
                    append_event(connection, "agent_run_failed", turn, now, payload)
                else:
                    _publish(connection, question, now, payload)

        await self._database.write(work, point="C4")
        self._ended(turn, state.value)
        return AttemptOutcome.DONE

    def _store(
        self, connection: Connection, question: PromptInputs, answer: Answer, placeholder: str | None, now: datetime
    ) -> tuple[Message | None, Sequence[OpenedReminder]]:
        turn, opened = question.turn, self._opened_reminders(connection, question, answer, now)
        cards = [ActionCard([one.part], one.keyboard) for one in opened]
        if self._commands is not None:
            cards += self._commands.carry_out(connection, question, answer.commands.actions, now)
        messages = [*answer_parts(answer.parts, answer.below), *(part for one in cards for part in card_parts(one))]
        message = self._add_message(connection, question, answer, cards, now) if messages else None
        if placeholder and not messages:
            messages = [OutgoingPart(Rendered(STOPPED))]
        ref = message.id if message else None
        payload: dict[str, Any] = {"message": ref, "model": answer.reply.model, "stopped": answer.stopped}
        payload |= {"kept_back": answer.request.kept_back} if answer.for_owner and answer.request is not None else {}
        result, to = _publish(connection, question, now, payload, message=ref), question.asked
        ways: dict[str, Any] = {"spoken": answer.spoken, "for_owner": [*map(OutgoingPart, answer.for_owner)]}
        enqueue(connection, turn, messages, now, ref, placeholder, to, **ways, result=result)
        return message, opened

    def _opened_reminders(
        self, connection: Connection, question: PromptInputs, answer: Answer, now: datetime
    ) -> Sequence[OpenedReminder]:
        if self._reminders is None or answer.requested is None:
            return ()
        return self._reminders.open_tasks(connection, question, answer.requested, now)

    def _add_message(
        self, connection: Connection, question: PromptInputs, answer: Answer, cards: Sequence[ActionCard], now: datetime
    ) -> Message:
        """Adds the reply and its cards to the dialogue, with its sources; memories that it used grow stronger."""
        turn, reply = question.turn, answer.reply.text
        said = without_citations(reply) if answer.parts else ""
        text = "\n\n".join([*[said] * bool(said), *(part.text for one in cards for part in one.parts)])
        message = dialogue.add(
            connection,
            turn.user_id,
            "assistant",
            text,
            now=now,
            bot_id=turn.bot_id,
            chat_id=turn.chat_id,
            thread_id=turn.thread_id,
            turn_id=turn.id,
            delivery="pending",
            user_metadata={CARDS_MARK: len(said)} if cards else None,
        )
        dialogue.record_activity(connection, turn.user_id, now)
        self._lifecycle.answered(connection, message, question.asked, tz=question.user.tz, now=now)
        if answer.request is not None:
            sources.add(connection, turn.user_id, message.id, sources_of(answer.request, reply))
            touch_used(connection, turn.user_id, used_memories(answer.request, reply), now, self._plasticity)
        return message


def append_event(connection: Connection, kind: str, turn: Turn, now: datetime, payload: dict[str, Any]) -> str:
    """Appends an event of the responder about a turn, and returns its id."""
    user_id, links = turn.user_id, {"turn": turn.id}
    return events.append(connection, kind, source=RESPONDER, now=now, user_id=user_id, payload=payload, links=links)


def _publish(
    connection: Connection, question: PromptInputs, now: datetime, payload: dict[str, Any], message: str | None = None
) -> str:
    about = {"turn": question.turn.id, "message": message, "caused_by": question.begun}
    fields: dict[str, Any] = {"payload": payload, "links": {name: ref for name, ref in about.items() if ref}}
    return bus.publish(
        connection, EventTopic.PROCESSED, source=RESPONDER, now=now, user_id=question.turn.user_id, **fields
    )


class _Edited(Exception):
    """The question changed while it was being answered."""
