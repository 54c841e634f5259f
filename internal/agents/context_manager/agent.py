"""The context manager: keeps a snapshot of the owner's life, and decides about notifications."""

from collections.abc import Sequence
from typing import Final
from zoneinfo import ZoneInfo

from internal.agents.ask_model import Limits, ReplyForm, TranscriptPrompt, ask, ask_model
from internal.agents.context_manager.output import KEYS, REPLY_SCHEMA, UNCHANGED, read_decisions, read_snapshot
from internal.agents.model import AgentReply, ContextRequest, WeighingRequest
from internal.agents.prompts import block, clock_metadata, instructions, joined, owner_block, transcript_block
from internal.config.agents import AgentConfig
from internal.dialogue.notifications.model import Notification
from internal.dialogue.snapshots.model import PARTS, Snapshot
from internal.language.text.block_tags import escape
from internal.llm.model import ChatMessage, ChatModel

LIMITS: Final = Limits()
"""The limits, enough for a snapshot of a page."""


class ModelContextManager:
    """The ContextManager that asks a chat model."""

    def __init__(self, chat: ChatModel, config: AgentConfig) -> None:
        self._chat, self._config = chat, config
        self._instructions = instructions(__package__, short=config.short_prompt)

    async def update(self, request: ContextRequest) -> AgentReply:
        return await ask(self._chat, self.asking(request))

    def asking(self, request: ContextRequest) -> TranscriptPrompt:
        """The context manager's part of a prompt about a slice."""
        return TranscriptPrompt(
            agent="context_manager",
            config=self._config,
            limits=LIMITS,
            instructions=self._instructions,
            owner=request.owner,
            blocks=numbered_snapshot(request.snapshot, request.owner.timezone),
            transcript=request.transcript,
            schema=REPLY_SCHEMA,
            form=ReplyForm(read_snapshot, ("snapshot",)),
            nothing=UNCHANGED,
        )

    async def weigh(self, request: WeighingRequest) -> AgentReply:
        messages, form = self.weigh_messages(request), ReplyForm(read_decisions, KEYS)
        user_id = request.owner.user_id
        return await ask_model(
            self._chat, "context_manager", self._config, LIMITS, messages, REPLY_SCHEMA, user_id, form
        )

    def weigh_messages(self, request: WeighingRequest) -> list[ChatMessage]:
        """The prompt as it is sent."""
        zone = request.owner.timezone
        clock = clock_metadata(request.now, zone)
        context = joined(
            owner_block(request.owner),
            numbered_snapshot(request.snapshot, zone),
            transcript_block("dialogue", request.recent),
            block("metadata", [f"{key}: {value}" for key, value in clock.items()]),
            block("notifications", _waiting(request.notifications, zone)),
        )
        return [ChatMessage("system", self._instructions), ChatMessage("user", context)]


def numbered_snapshot(snapshot: Snapshot, timezone: str) -> str:
    """The snapshot with a number, a part and a date before each item; numbers are in the order of `Snapshot.items`."""
    parts = [part for part in PARTS for _ in snapshot.part(part)]
    zone = ZoneInfo(timezone)
    lines = [
        f"{number}. {part} ({item.at.astimezone(zone):%Y-%m-%d}): {escape(item.text)}"
        for number, (part, item) in enumerate(zip(parts, snapshot.items, strict=True), start=1)
    ]
    return block("context_snapshot", lines)


def _waiting(notifications: Sequence[Notification], timezone: str) -> list[str]:
    return [_line(number, one, ZoneInfo(timezone)) for number, one in enumerate(notifications, start=1)]


def _line(number: int, one: Notification, zone: ZoneInfo) -> str:
    due = one.due_at or one.created_at
    parts = [one.kind.value, "urgent" if one.urgent else "not urgent", f"due {due.astimezone(zone):%Y-%m-%d %H:%M %a}"]
    parts += ["with buttons, its words are fixed"] if one.kind.fixed else []
    return f"[{number}] {', '.join(parts)}: {escape(one.text)}"
