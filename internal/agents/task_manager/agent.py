"""The task manager: finds reminders, promises and tasks of the owner, and those that are done."""

from typing import Final

from internal.agents.ask_model import Limits, ReplyForm, TranscriptPrompt, ask
from internal.agents.known_task import KnownTask
from internal.agents.model import AgentReply, TaskManagerRequest
from internal.agents.prompts import block, instructions
from internal.agents.task_manager.output import KEYS, NOTHING, REPLY_SCHEMA, read_reply
from internal.config.agents import AgentConfig
from internal.language.text.block_tags import escape
from internal.llm.model import ChatMessage, ChatModel

LIMITS: Final = Limits()
"""The limits, enough for the few tasks of 60 lines."""


class ModelTaskManager:
    """The TaskManager that asks a chat model."""

    def __init__(self, chat: ChatModel, config: AgentConfig) -> None:
        self._chat = chat
        self._config = config
        self._instructions = instructions(__package__, short=config.short_prompt)

    async def ask(self, request: TaskManagerRequest) -> AgentReply:
        return await ask(self._chat, self.asking(request))

    def asking(self, request: TaskManagerRequest) -> TranscriptPrompt:
        """The task manager's part of a prompt about a slice."""
        return TranscriptPrompt(
            agent="task_manager",
            config=self._config,
            limits=LIMITS,
            instructions=self._instructions,
            owner=request.owner,
            blocks=block("open_tasks", [_known(task) for task in request.tasks]),
            transcript=request.transcript,
            schema=REPLY_SCHEMA,
            form=ReplyForm(read_reply, KEYS),
            nothing=NOTHING,
        )

    def messages(self, request: TaskManagerRequest) -> list[ChatMessage]:
        """The prompt as it is sent."""
        return self.asking(request).messages


def _known(task: KnownTask) -> str:
    due = "no date" if task.due is None else f"{task.due:%Y-%m-%d}" if task.whole_day else f"{task.due:%Y-%m-%dT%H:%M}"
    return f"[{task.handle}] {task.state} | {due} | {escape(task.recurrence or 'once')} | {escape(task.title)}"
