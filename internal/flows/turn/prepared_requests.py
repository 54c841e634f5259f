"""The responder's requests of open turns, each built as soon as the message arrives and used when the turn begins."""

import asyncio
import contextlib
import logging
from collections.abc import Iterator, Sequence
from dataclasses import replace

from internal.agents.model import ResponderRequest
from internal.dialogue.model import Turn
from internal.events.trigger import caused_by
from internal.flows.tasks.find_reminders import Reminder
from internal.flows.turn.commands.apply import CommandFlow
from internal.flows.turn.commands.model import Action
from internal.flows.turn.files import has_file
from internal.flows.turn.prompt import PromptInputs, Prompts, read_question, shortened
from internal.flows.turn.tools.toolbox import Toolbox
from internal.flows.turn.tools.web_pages import Web
from internal.scheduling.clock import Clock
from internal.storage.database import Database

log = logging.getLogger(__name__)

Lane = tuple[int, str]
"""A bot and its chat (and topic), whose turns are answered one after another."""


class Requests:
    """Builds each request once for all attempts at the same question, since recall costs time and model calls.

    `preparing` begins while the turn still collects messages. Its result is used only if nothing that it read has
    changed since: the messages, the dialogue before them, the user, and the owner's memory.
    """

    def __init__(
        self,
        database: Database,
        prompts: Prompts,
        clock: Clock,
        *,
        opens_tasks: bool = False,
        commands: CommandFlow | None = None,
        web: Web | None = None,
    ) -> None:
        self._database, self._prompts, self._clock, self._opens_tasks = database, prompts, clock, opens_tasks
        self._commands, self._web = commands, web
        self._built: dict[Lane, tuple[PromptInputs, ResponderRequest]] = {}
        self._preparing: dict[Lane, asyncio.Task[None]] = {}

    @contextlib.contextmanager
    def preparing(self, turn: Turn) -> Iterator[None]:
        """Begins to build the request for the current messages, and continues after the block unless that raises.

        A failure is only logged.
        """
        self._cancel(_lane(turn))
        task = self._preparing[_lane(turn)] = asyncio.create_task(self._prepare(turn), name="prepare")
        try:
            yield
        except BaseException:
            task.cancel()
            raise

    async def of(self, question: PromptInputs) -> ResponderRequest:
        """The request for a question: prepared, or built for an earlier attempt, or built now."""
        lane = _lane(question.turn)
        if (preparing := self._preparing.get(lane)) is not None:  # stays there, so that `drop` ends one given up here
            await asyncio.wait([preparing])
        built = self._built.get(lane)
        if built is not None and question.same_as(built[0]):
            request = replace(built[1], now=self._clock.now(), toolbox=self._toolbox(question, built[1]))
        else:
            request = await self._build(question)
        self._built[lane] = (question, request)
        return request

    def prepared(self, turn: Turn) -> PromptInputs | None:
        """The question as it was when its request was built."""
        built = self._built.get(_lane(turn))
        return None if built is None else built[0]

    def shorten(self, question: PromptInputs) -> None:
        """Leaves out what exceeded the model's context. Raises ModelContextExceeded if nothing is left to leave out."""
        built, request = self._built[_lane(question.turn)]
        self._built[_lane(question.turn)] = (built, shortened(request))

    def tasks_of(self, question: PromptInputs) -> Sequence[Reminder]:
        """The tasks that the model asked for while it answered."""
        request = self._built[_lane(question.turn)][1]
        return request.toolbox.reminders if isinstance(request.toolbox, Toolbox) else ()

    def actions_of(self, question: PromptInputs) -> Sequence[Action]:
        """The other actions that the model asked for by tools while it answered."""
        request = self._built[_lane(question.turn)][1]
        return request.toolbox.actions if isinstance(request.toolbox, Toolbox) else ()

    def has_read(self, question: PromptInputs) -> bool:
        """Whether the model read a web page while it answered."""
        toolbox = self._built[_lane(question.turn)][1].toolbox
        return isinstance(toolbox, Toolbox) and toolbox.has_read

    def by_voice(self, turn: Turn) -> bool:
        """Whether the answer is to be spoken too."""
        request = self.last(turn)
        return request is not None and isinstance(request.toolbox, Toolbox) and request.toolbox.by_voice

    def last(self, turn: Turn) -> ResponderRequest | None:
        """The request of the turn's latest attempt, or None."""
        built = self._built.get(_lane(turn))
        if built is None or built[0].turn.id != turn.id:
            return None
        request = built[1]
        return request if request.toolbox is None else request.toolbox.extended(request)

    def drop(self, turn: Turn) -> None:
        """Drops the requests of a turn that ended."""
        self._cancel(_lane(turn))
        self._built.pop(_lane(turn), None)

    def _cancel(self, lane: Lane) -> None:
        if (task := self._preparing.pop(lane, None)) is not None:
            task.cancel()

    async def _build(self, question: PromptInputs) -> ResponderRequest:
        request = await self._prompts.request(question)
        return replace(request, toolbox=self._toolbox(question, request))

    def _toolbox(self, question: PromptInputs, request: ResponderRequest) -> Toolbox:
        """An empty toolbox, since requests of the model in a failed attempt are not carried out."""
        return Toolbox(
            self._database,
            self._prompts,
            self._clock,
            question,
            opens_tasks=self._opens_tasks,
            commands=self._commands,
            web=self._web,
            files=any(one.kind == "episode" for one in request.passages)
            or any(one.attachments and has_file(one) for one in question.earlier),
        )

    async def _prepare(self, turn: Turn) -> None:
        try:
            question = await self._database.read(lambda c: read_question(c, turn))
            if question.text.strip():
                with caused_by(turn=turn.id):
                    self._built[_lane(turn)] = (question, await self._build(question))
        except Exception:  # outermost handler of the preparation: the request is built again when the turn begins
            log.exception("request_not_prepared", extra={"turn": turn.id})


def _lane(turn: Turn) -> Lane:
    return turn.bot_id, turn.lane
