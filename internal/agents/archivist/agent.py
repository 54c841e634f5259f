"""The archivist: reads a slice of a conversation or text, proposes people, things, facts and memories to keep."""

from dataclasses import replace
from datetime import timedelta
from typing import Final
from zoneinfo import ZoneInfo

from internal.agents.archivist.output import DEFAULT, KEYS, NOTHING, read_reply, reply_schema
from internal.agents.ask_model import LINE_TOKENS, Limits, ReplyForm, TranscriptPrompt, ask
from internal.agents.model import AgentReply, ArchivistRequest, KnownEntity, SamePersonHint
from internal.agents.prompts import block, facts_block, instructions, joined
from internal.config.agents import ArchivistConfig
from internal.knowledge.entities.types import EntityType, EntityTypes
from internal.language.text.block_tags import escape
from internal.llm.model import ChatMessage, ChatModel
from internal.memory.model import KnownMemory
from internal.people.model import Person, candidate_line

LIMITS: Final = Limits(max_tokens=4096, timeout=timedelta(seconds=120))
"""The limits: 60 lines may hold some dozens of people, facts and memories, and a model may think."""


class ModelArchivist:
    """The Archivist that asks a chat model."""

    def __init__(self, chat: ChatModel, config: ArchivistConfig, types: EntityTypes = DEFAULT) -> None:
        self._chat = chat
        self._config = config
        self._schema = reply_schema(types)
        custom = "".join(f"\n- {_custom_type(one)}" for one in types.custom)
        own = f"\nThe owner's own types, each before 2 to 9 where it fits:\n{custom}\n" if custom else ""
        self._instructions = instructions(__package__, short=config.short_prompt, custom_types=own)

    async def ask(self, request: ArchivistRequest) -> AgentReply:
        return await ask(self._chat, self.asking(request))

    def asking(self, request: ArchivistRequest) -> TranscriptPrompt:
        """The archivist's part of a prompt about a slice."""
        known = {person.id: person for person in request.people}
        return TranscriptPrompt(
            agent="archivist",
            config=self._config,
            limits=replace(LIMITS, max_tokens=max(LIMITS.max_tokens, LINE_TOKENS * len(request.transcript))),
            instructions=self._instructions,
            owner=request.owner,
            blocks=joined(
                facts_block([*request.owner.facts, *request.facts]),
                block("known_entities", [_known_entity(entity) for entity in request.entities]),
                block("known_memory", [_known_memory(one, request.owner.timezone) for one in request.memories]),
                block("people", [_known_person(person) for person in request.people]),
                block(
                    "may_be_the_same_as",
                    [_hint(hint, known[hint.person_id]) for hint in request.hints if hint.person_id in known],
                ),
            ),
            transcript=request.transcript,
            schema=self._schema,
            form=ReplyForm(read_reply, KEYS),
            nothing=NOTHING,
        )

    def messages(self, request: ArchivistRequest) -> list[ChatMessage]:
        """The prompt as it is sent."""
        return self.asking(request).messages


def _custom_type(one: EntityType) -> str:
    """The line of a configured type with its description escaped, which may have several lines and lists."""
    return f"`{escape(one.name)}`: {escape(one.description) or 'as its name says'}"


def _known_entity(entity: KnownEntity) -> str:
    """A line like `ACME | Organization | where the owner works | also: Акме`."""
    also = f"also: {', '.join(entity.aliases)}" if entity.aliases else ""
    return " | ".join(escape(part) for part in (entity.name, entity.type, entity.summary, also) if part)


def _known_memory(known: KnownMemory, timezone: str) -> str:
    """A line like `[G1] Goal | active | 2026-02-07 | выучить испанский`."""
    day = f"{known.at.astimezone(ZoneInfo(timezone)):%Y-%m-%d}" if known.at else ""
    described = " | ".join(part for part in (known.label, escape(known.status or ""), day, escape(known.text)) if part)
    return f"[{known.handle}] {described}"


def _known_person(person: Person) -> str:
    """A candidate line with the username, which a new mention may use."""
    return f"{candidate_line(person)} | @{escape(person.username)}" if person.username else candidate_line(person)


def _hint(hint: SamePersonHint, person: Person) -> str:
    return f'"{escape(hint.mention)}" may be [Person:{person.id}] {escape(person.display_name)} ({hint.reason})'
