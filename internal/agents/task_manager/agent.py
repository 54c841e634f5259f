"""The task manager: what the owner asked to be reminded of, promised or has to do, and what of that is done."""

from typing import Final

from internal.agents.ask_model import Limits, ReplyForm, ask_model
from internal.agents.known_task import KnownTask
from internal.agents.model import AgentReply, TaskManagerRequest
from internal.agents.prompts import block, instructions, joined, owner_block, transcript_block
from internal.agents.task_manager.output import KEYS, REPLY_SCHEMA, read_reply
from internal.config_agents import AgentConfig
from internal.language.text.block_tags import escape
from internal.llm.model import ChatMessage, ChatModel

LIMITS: Final = Limits()
"""A slice of 60 lines holds a few tasks."""


class ModelTaskManager:
    """The TaskManager that asks a chat model."""

    def __init__(self, chat: ChatModel, config: AgentConfig) -> None:
        self._chat = chat
        self._config = config
        self._instructions = instructions(__package__)

    async def ask(self, request: TaskManagerRequest) -> AgentReply:
        return await ask_model(
            self._chat,
            "task_manager",
            self._config,
            LIMITS,
            self.messages(request),
            REPLY_SCHEMA,
            request.owner.user_id,
            ReplyForm(read_reply, KEYS),
        )

    def messages(self, request: TaskManagerRequest) -> list[ChatMessage]:
        """The prompt exactly as it is sent. The instructions never change, so that a provider can cache them."""
        context = joined(
            owner_block(request.owner),
            block("open_tasks", [_known(task) for task in request.tasks]),
            transcript_block("transcript", request.transcript),
        )
        return [ChatMessage("system", self._instructions), ChatMessage("user", context)]


def _known(task: KnownTask) -> str:
    due = "no date" if task.due is None else f"{task.due:%Y-%m-%d}" if task.whole_day else f"{task.due:%Y-%m-%dT%H:%M}"
    return f"[{task.handle}] {task.state} | {due} | {escape(task.recurrence or 'once')} | {escape(task.title)}"
