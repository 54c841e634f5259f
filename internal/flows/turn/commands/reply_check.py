"""Keeps a reply honest: what it claims was done in this turn, or is taken out and said not to have been done."""

import logging
from dataclasses import replace
from zoneinfo import ZoneInfo

from internal.errors import ModelUnavailable
from internal.flows.turn.commands.apply import CommandFlow
from internal.flows.turn.commands.model import Commands, Undone
from internal.flows.turn.commands.recognise import judge
from internal.flows.turn.commands.reminder_requests import ReminderRequest, with_tasks
from internal.flows.turn.prepared_requests import Requests
from internal.flows.turn.prompt import PromptInputs
from internal.language.text.spelling import text_language, unquoted
from internal.language.worker.process_pool import LanguageCallFailed
from internal.llm.model import ChatReply

log = logging.getLogger(__name__)


class Claims:
    """Judges replies by what the plain words and the model's tools asked for in their turns."""

    def __init__(self, requests: Requests, commands: CommandFlow | None, *, opens_tasks: bool) -> None:
        self._requests, self._commands, self._opens_tasks = requests, commands, opens_tasks

    async def judged(
        self, question: PromptInputs, reply: ChatReply, requested: ReminderRequest | None, commands: Commands
    ) -> tuple[ChatReply, ReminderRequest | None, Commands]:
        """The reply without claims of what nobody did, and what else to do with it.

        A reminder that it promises is set where the owner's own words name it. Nothing is, once a page was read.
        """
        requested = with_tasks(requested, self._requests.tasks_of(question))
        commands = commands.with_more(self._requests.actions_of(question))
        if self._commands is None:
            return reply, requested, commands
        did = [kind for kind, there in (("remind", requested), ("change", commands.actions)) if there]
        user, asked = question.user, None
        own = [one for one in question.asked if one.content and one.forward is None and not one.hidden]
        if own and self._opens_tasks and not self._requests.has_read(question):
            said = unquoted(own[-1].content)
            asked = (own[-1].id, said, own[-1].timestamp.astimezone(ZoneInfo(user.tz)))
        known, language = self._known(question), text_language(reply.text, user.lang)
        try:
            found = await self._commands.worker.run(judge, reply.text, known, did, asked, language)
        except (ModelUnavailable, LanguageCallFailed) as error:
            log.warning("reply_not_judged", extra={"turn": question.turn.id, "reason": type(error).__name__})
            return reply, requested, commands
        promised = [found.reminder] if found.reminder is not None else []
        more = [Undone()] if found.untrue else []
        return replace(reply, text=found.text), with_tasks(requested, promised), commands.with_more(more)

    def _known(self, question: PromptInputs) -> list[str]:
        """The open tasks and the people whom the model was shown, by name."""
        request = self._requests.last(question.turn)
        shown = (*request.relevant_people, *request.inner_circle) if request is not None else ()
        return [one.title for one in question.tasks] + [name for one in shown for name in one.names]
