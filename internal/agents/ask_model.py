"""Asks an agent's model within the agent's limits for a reply of its schema.

It asks again if a reply cannot be read, and continues one that was cut.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any, Final

from internal.agents.json_reply import complete_items, merge_objects, read_object
from internal.agents.model import AgentReply, OwnerProfile, TranscriptLine
from internal.agents.prompts import joined as joined_blocks, owner_block, transcript_block
from internal.config.agents import AgentConfig
from internal.errors import ModelReplyInvalid, ModelReplyTruncated
from internal.llm.model import ChatMessage, ChatModel, ChatReply, ChatRequest, ReplySchema, Usage

MOST_PARTS: Final = 3
"""Most calls that continue a cut reply. A reply cut so often repeats itself, and its parts until then are used."""

MOST_SHOWN: Final = 4_000
"""Most characters of an unreadable reply that are shown in the prompt of its repair."""

_REPAIR: Final = (
    "This answer could not be read: {error}. Answer again, with one JSON object of the form asked for and nothing else."
)
_GO_ON: Final = (
    "Your answer was cut by its length limit. These items of it are kept. Answer with one JSON object of the same form "
    "that holds only what is still missing, and empty lists if nothing is."
)


@dataclass(frozen=True, slots=True)
class ReplyForm:
    """The form of a whole reply: `read` parses it or raises ModelReplyInvalid, `keys` are those of its object.

    `read_repaired` is a less strict parser for the reply of a repair.
    """

    read: Callable[[str], object]
    keys: Collection[str]
    read_repaired: Callable[[str], object] | None = None


async def readable(chat: ChatModel, request: ChatRequest, form: ReplyForm) -> ChatReply:
    """A readable reply, after a second call if the first could not be read. Raises ModelReplyInvalid."""
    reply = await chat.complete(request)
    try:
        form.read(reply.text)
        return reply
    except ModelReplyTruncated:
        raise
    except ModelReplyInvalid as error:
        log.info("reply_unreadable", extra={"agent": request.agent, "error": str(error)})
        shown = ChatMessage("assistant", reply.text[:MOST_SHOWN])
        repair = ChatMessage("user", _REPAIR.format(error=error))
    again = await chat.complete(replace(request, messages=[*request.messages, shown, repair]))
    try:
        (form.read_repaired or form.read)(again.text)
    except ModelReplyTruncated:
        raise
    except ModelReplyInvalid as error:
        raise ModelReplyInvalid(f"twice: {error}") from error
    return replace(again, usage=reply.usage + again.usage)


async def continue_reply(
    chat: ChatModel, request: ChatRequest, keys: Collection[str], items: dict[str, Any]
) -> ChatReply:
    """A cut reply, of which `items` are complete, joined with its continuation by the model."""
    model, usage, cut = request.model, Usage(), True
    for _ in range(MOST_PARTS):
        kept = ChatMessage("assistant", json.dumps(items, ensure_ascii=False))
        messages = [*request.messages, kept, ChatMessage("user", _GO_ON)]
        try:
            part = await chat.complete(replace(request, messages=messages))
            text, model, usage, cut = part.text, part.model, usage + part.usage, False
        except ModelReplyTruncated as again:
            text = again.text
        more = complete_items(text, keys)
        log.info("reply_went_on", extra={"agent": request.agent, "cut": cut})
        if not (cut and more):
            break
        items = merge_objects(items, more)
    return ChatReply(json.dumps(merge_objects(items, more), ensure_ascii=False), model, usage)


log = logging.getLogger(__name__)

LINE_TOKENS: Final = 100
"""Tokens of a reply for one line of dense talk, on average."""

PART_TOKENS: Final = 800
"""Tokens of another agent's part of a reply: some tasks, or a snapshot."""

_TOGETHER: Final = (
    "You do {count} jobs in one answer, each described under a heading of its own, for the same transcript. Answer "
    "with one JSON object and nothing else, with the keys of all jobs side by side: {keys}. Leave out the keys of a "
    "job that has nothing to tell."
)


@dataclass(frozen=True, slots=True)
class Limits:
    """The limits of an agent's model calls, defined beside its prompt; `agents.<name>` may override each.

    `temperature` 0 gives the same reply to the same prompt; `max_tokens` limits a reply, `timeout` the wait for it.
    """

    temperature: float = 0.0
    max_tokens: int = 2048
    timeout: timedelta = timedelta(seconds=60)

    def overridden_by(self, config: AgentConfig) -> Limits:
        return Limits(
            self.temperature if config.temperature is None else config.temperature,
            config.max_tokens or self.max_tokens,
            config.timeout or self.timeout,
        )


def chat_request(
    agent: str,
    config: AgentConfig,
    limits: Limits,
    messages: list[ChatMessage],
    user_id: int,
    schema: ReplySchema | None = None,
) -> ChatRequest:
    limits = limits.overridden_by(config)
    return ChatRequest(
        agent=agent,
        model=config.model,
        messages=messages,
        temperature=limits.temperature,
        max_tokens=limits.max_tokens,
        timeout=limits.timeout.total_seconds(),
        reply_schema=schema,
        user_id=user_id,
        reasoning_effort=config.reasoning_effort,
    )


@dataclass(frozen=True, slots=True)
class TranscriptPrompt:
    """One agent's prompt about a transcript. `blocks` are its own, `nothing` is its reply without proposals."""

    agent: str
    config: AgentConfig
    limits: Limits
    instructions: str
    owner: OwnerProfile
    blocks: str
    transcript: Sequence[TranscriptLine]
    schema: ReplySchema
    form: ReplyForm
    nothing: str

    @property
    def messages(self) -> list[ChatMessage]:
        """The prompt as it is sent. The instructions never change, so that a provider can cache them."""
        context = joined_blocks(owner_block(self.owner), self.blocks, transcript_block("transcript", self.transcript))
        return [ChatMessage("system", self.instructions), ChatMessage("user", context)]

    def own_part(self, text: str, keys: Collection[str]) -> str:
        """The agent's part, with these keys, of a reply for several agents. Raises ModelReplyInvalid."""
        answer = read_object(text, keys, bare="people_operations")
        own = {key: answer[key] for key in self.form.keys if answer.get(key) not in (None, {})}
        return json.dumps(own, ensure_ascii=False) if own else self.nothing


async def ask(chat: ChatModel, asked: TranscriptPrompt) -> AgentReply:
    """One agent's reply. Raises the errors of `ChatModel.complete`."""
    user_id, schema = asked.owner.user_id, asked.schema
    return await ask_model(chat, asked.agent, asked.config, asked.limits, asked.messages, schema, user_id, asked.form)


async def ask_together(chat: ChatModel, parts: Sequence[TranscriptPrompt]) -> list[AgentReply]:
    """The replies of agents that read the same transcript with the same model in one request, in their order.

    The first agent's settings are used and the cost is billed to it. An agent whose keys are absent proposes nothing. A
    part that stays unreadable after the repair is left to its own run; only if all are, ModelReplyInvalid is raised.
    """
    first, keys = parts[0], [key for part in parts for key in part.form.keys]

    def unreadable(text: str) -> Iterator[ModelReplyInvalid]:
        for part in parts:
            try:
                if (own := part.own_part(text, keys)) != part.nothing:
                    part.form.read(own)
            except ModelReplyTruncated:
                raise
            except ModelReplyInvalid as error:
                yield error

    def read(text: str) -> None:
        for error in unreadable(text):
            raise error

    def read_some(text: str) -> None:
        if len(errors := list(unreadable(text))) == len(parts):
            raise errors[0]

    jobs = "\n\n".join(f"# Job: {part.agent}\n\n{part.instructions}" for part in parts)
    properties = {
        key: value for part in parts for key, value in part.schema.schema["properties"].items() if key in keys
    }
    limits = replace(
        first.limits,
        max_tokens=max(first.limits.max_tokens, LINE_TOKENS * len(first.transcript) + PART_TOKENS * (len(parts) - 1)),
        timeout=max(part.limits.timeout for part in parts),
    )
    joint = replace(
        first,
        limits=limits,
        instructions=f"{_TOGETHER.format(count=len(parts), keys=', '.join(dict.fromkeys(properties)))}\n\n{jobs}",
        blocks=joined_blocks(*(part.blocks for part in parts)),
        schema=ReplySchema("reply", {"type": "object", "properties": properties}),
        form=ReplyForm(read, keys, read_some),
    )
    request = joint.messages
    reply = await ask_model(
        chat,
        joint.agent,
        joint.config,
        joint.limits,
        request,
        joint.schema,
        joint.owner.user_id,
        joint.form,
        tuple(part.agent for part in parts[1:]),
    )
    return [
        AgentReply(part.own_part(reply.text, keys), reply.model, reply.usage if part is first else Usage(), request)
        for part in parts
    ]


async def ask_model(
    chat: ChatModel,
    agent: str,
    config: AgentConfig,
    limits: Limits,
    messages: list[ChatMessage],
    schema: ReplySchema,
    user_id: int,
    form: ReplyForm | None = None,
    along: tuple[str, ...] = (),
) -> AgentReply:
    """The reply with its prompt. Raises the errors of `ChatModel.complete`.

    With a `form`, an unreadable reply is requested again with a description of its error; a cut one keeps its complete
    items and is continued, in at most `MOST_PARTS` calls.
    """
    request = replace(chat_request(agent, config, limits, messages, user_id, schema), along=along)
    if form is None:
        reply = await chat.complete(request)
        return AgentReply(reply.text, reply.model, reply.usage, messages)
    try:
        reply = await readable(chat, request, form)
    except ModelReplyTruncated as cut:
        if not (items := complete_items(cut.text, form.keys)):
            raise
        reply = await continue_reply(chat, request, form.keys, items)
    return AgentReply(reply.text, reply.model, reply.usage, messages)
