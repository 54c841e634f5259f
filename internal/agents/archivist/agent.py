"""The archivist: reads a slice of a conversation, proposes what to remember about people."""

from __future__ import annotations

from internal.agents.archivist.output import REPLY_SCHEMA
from internal.agents.model import AgentReply, ArchivistRequest, SamePersonHint
from internal.agents.prompts import block, facts_block, instructions, joined, owner_block, transcript_block
from internal.config import ArchivistConfig
from internal.llm.model import ChatMessage, ChatModel, ChatRequest
from internal.people.model import Person, candidate_line, escape


class ModelArchivist:
    """The Archivist that asks a chat model."""

    def __init__(self, chat: ChatModel, config: ArchivistConfig) -> None:
        self._chat = chat
        self._config = config
        self._instructions = instructions(__package__)

    async def ask(self, request: ArchivistRequest) -> AgentReply:
        messages = self.messages(request)
        reply = await self._chat.complete(
            ChatRequest(
                agent="archivist",
                model=self._config.model,
                messages=messages,
                temperature=self._config.temperature,
                max_tokens=self._config.max_tokens,
                timeout=self._config.timeout.total_seconds(),
                reply_schema=REPLY_SCHEMA,
                user_id=request.owner.user_id,
            )
        )
        return AgentReply(reply.text, reply.model, reply.usage, messages)

    def messages(self, request: ArchivistRequest) -> list[ChatMessage]:
        """The prompt exactly as it is sent. The instructions never change, so that a provider can cache them."""
        known = {person.id: person for person in request.people}
        context = joined(
            owner_block(request.owner),
            facts_block([*request.owner.facts, *request.facts]),
            block("people", [_known_person(person) for person in request.people]),
            block(
                "may_be_the_same_as",
                [_hint(hint, known[hint.person_id]) for hint in request.hints if hint.person_id in known],
            ),
            transcript_block("transcript", request.transcript),
        )
        return [ChatMessage("system", self._instructions), ChatMessage("user", context)]


def _known_person(person: Person) -> str:
    """A candidate line, and behind it the names a new mention may use."""
    also = f" | also: {', '.join(escape(alias) for alias in person.aliases)}" if person.aliases else ""
    username = f" | @{escape(person.username)}" if person.username else ""
    return f"{candidate_line(person)}{also}{username}"


def _hint(hint: SamePersonHint, person: Person) -> str:
    return f'"{escape(hint.mention)}" may be [Person:{person.id}] {escape(person.display_name)} ({hint.reason})'
