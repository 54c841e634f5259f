"""The responder: answers the owner with the knowledge of his memory."""

from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from contextlib import aclosing
from dataclasses import replace
from datetime import timedelta
from typing import Final

from internal.agents.ask_model import Limits, chat_request
from internal.agents.citations import CitationFilter, cited_only
from internal.agents.model import RecalledFact, RecalledMemory, RecalledPassage, ResponderRequest, StandingInstruction
from internal.agents.prompts import (
    LANGUAGES,
    block,
    clock_metadata,
    facts_block,
    instructions,
    joined,
    newest_lines,
    owner_block,
    with_metadata,
)
from internal.agents.responder.blocks import (
    instructions_block,
    lessons_block,
    memories_block,
    passages_block,
    recalled_block,
    snapshot_block,
    tasks_block,
)
from internal.agents.responder.inner_circle import InnerCircleBlock
from internal.agents.responder.offline.obey_instructions import instructed_language
from internal.agents.responder.output import Speech, spoken
from internal.agents.responder.written_calls import written_calls
from internal.config.agents import ResponderConfig
from internal.language.text.block_tags import escape, neutralised
from internal.language.text.spelling import text_language
from internal.llm.model import ChatDelta, ChatMessage, ChatModel, ChatReply, ChatRequest, Role
from internal.people.model import people_block
from internal.text_caches import cached

ROUNDS: Final = 5
"""Most rounds of tool calls before the model has to answer."""

OMITTED = "…"
"""Replaces the owner's messages before the first of the assistant's messages that fits into the prompt."""

LIMITS: Final = Limits(temperature=0.7, timeout=timedelta(seconds=120))
"""The limits for a freely worded answer, with two minutes because a thinking model is silent at first."""


class ModelResponder:
    """The Responder that asks a chat model."""

    def __init__(self, chat: ChatModel, config: ResponderConfig) -> None:
        self._chat = chat
        self._config = config
        self._inner_circle = InnerCircleBlock()

    async def reply(self, request: ResponderRequest) -> AsyncIterator[ChatDelta]:
        """Yields a reply without the prompt's blocks and without citations of sources that were not given.

        Raises ModelReplyInvalid if nothing else is left of a reply, or only raw JSON.
        """
        messages, toolbox = self.messages(request), request.toolbox if self._config.tools else None
        for turn in range(ROUNDS + 1):
            known = request if toolbox is None else toolbox.extended(request)
            tools = () if toolbox is None or turn == ROUNDS else toolbox.tools
            said = [line.text for line in request.dialogue]
            given = (known.facts, said, known.memories, known.passages, known.instructions)
            reply: ChatReply | None = None
            async with aclosing(self._spoken(replace(self._request(request, messages), tools=tools), *given)) as deltas:
                async for delta in deltas:
                    reply = delta.final
                    if reply is None or not reply.calls:
                        yield delta
            if toolbox is None or reply is None or not reply.calls:
                return
            messages = [*messages, ChatMessage("assistant", "", reply.calls, echo=reply.echo)]
            for call in reply.calls:
                messages.append(ChatMessage("tool", await toolbox.use(request, call), call_id=call.id))

    async def _spoken(
        self,
        asked: ChatRequest,
        facts: Sequence[RecalledFact],
        ordinary: Sequence[str],
        memories: Sequence[RecalledMemory],
        passages: Sequence[RecalledPassage],
        instructions: Sequence[StandingInstruction],
    ) -> AsyncGenerator[ChatDelta, None]:
        """The model's words that may be shown; a reply with calls of tools stays unchanged."""
        given = (facts, ordinary, memories, passages, instructions)
        speech, citations = Speech(), CitationFilter(*given)
        async with aclosing(self._chat.stream(asked)) as deltas:  # type: ignore[type-var] # it is closed
            async for delta in deltas:
                if delta.final is None:
                    if words := citations.feed(speech.feed(delta.text)):
                        yield ChatDelta(words)
                elif delta.final.calls and asked.tools:
                    yield delta
                elif calls := written_calls(delta.final.text, asked.tools):
                    yield ChatDelta("", replace(delta.final, calls=calls))
                else:
                    said = cited_only(spoken(delta.final.text), *given)
                    if rest := citations.feed(speech.finish()) + citations.finish():
                        yield ChatDelta(rest)
                    yield ChatDelta("", replace(delta.final, text=said, calls=()))

    def _request(self, request: ResponderRequest, messages: list[ChatMessage]) -> ChatRequest:
        chat = chat_request("responder", self._config, LIMITS, messages, request.owner.user_id)
        return replace(chat, first_token=self._config.first_token_timeout.total_seconds())

    def messages(self, request: ResponderRequest) -> list[ChatMessage]:
        """The system part, the earlier dialogue, the context, the newest messages.

        Stable parts come first and the system part has no clock, so that a provider can cache everything up to the
        context, which differs with each question. The context has the role of a user: recalled text must not have the
        system's authority.
        """
        context = joined(
            snapshot_block(request.snapshot, request.owner.timezone),
            tasks_block(request.tasks),
            people_block("relevant_people", request.relevant_people),
            block("relations", [escape(line) for line in request.relations]),
            recalled_block(request.facts, request.owner.timezone),
            memories_block(request.memories, request.owner.timezone),
            passages_block(request.passages, request.owner.timezone),
            lessons_block(request.lessons),
            block("notes", [escape(line) for line in request.system_lines]),
        )
        dialogue = _dialogue(request, self._language_hint(request))
        newest = len(newest_lines(request.dialogue))
        earlier, asked = dialogue[: len(dialogue) - newest], dialogue[len(dialogue) - newest :]
        recalled = [ChatMessage("user", context)] if context else []
        return [ChatMessage("system", self._system(request)), *_by_turns([*earlier, *recalled, *asked])]

    def _language_hint(self, request: ResponderRequest) -> dict[str, str]:
        """The reminder of the answer's language for a small model, right before the newest message."""
        if not self._config.short_prompt or not request.dialogue:
            return {}
        owner = request.owner.language
        language = instructed_language(request) or text_language(request.dialogue[-1].text, owner)
        return {"answer in": LANGUAGES[language]}

    def _system(self, request: ResponderRequest) -> str:
        return joined(
            instructions(
                __package__,
                short=self._config.short_prompt,
                persona_name=request.persona_name,
                persona_tone=request.persona_tone,
            ),
            owner_block(request.owner),
            instructions_block(request.instructions, request.owner.timezone),
            facts_block(request.owner.facts),
            self._inner_circle.of(request.owner.user_id, request.inner_circle),
        )


def _dialogue(request: ResponderRequest, hint: dict[str, str]) -> list[ChatMessage]:
    """The messages, the owner's with their metadata. The message to answer always has its time and the hint."""
    now = clock_metadata(request.now, request.owner.timezone) | hint
    last = len(request.dialogue) - 1
    said: list[ChatMessage] = []
    for index, line in enumerate(request.dialogue):
        metadata = line.metadata or {}
        message = _dialogue_message(
            line.role, line.text, tuple((now | metadata if index == last else metadata).items())
        )
        said.append(replace(message, pictures=line.pictures) if line.pictures and line.role == "user" else message)
    return said


def _by_turns(messages: Sequence[ChatMessage]) -> list[ChatMessage]:
    """Alternates the two roles, beginning with the user's: the chat templates of some models require this.

    Consecutive messages of a role are joined, such as the context with the next message, or unanswered messages.
    """
    if messages and messages[0].role == "assistant":
        messages = [ChatMessage("user", OMITTED), *messages]
    turns: list[ChatMessage] = []
    row: list[ChatMessage] = []
    for message in messages:
        if turns and turns[-1].role == message.role:
            row.append(message)
            turns[-1] = ChatMessage(
                message.role,
                "\n\n".join(one.content for one in row),
                pictures=[picture for one in row for picture in one.pictures],
            )
        else:
            turns.append(message)
            row = [message]
    return turns


@cached(4096)
def _dialogue_message(role: Role, text: str, metadata: tuple[tuple[str, str], ...]) -> ChatMessage:
    # The assistant's own messages have none, or the model would write such lines itself.
    if role == "assistant":
        return ChatMessage("assistant", neutralised(text))
    return ChatMessage("user", with_metadata(text, dict(metadata)))
