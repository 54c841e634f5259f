"""Asks once more for what could not be read of a reply, and goes on with one that was cut."""

import json
import logging
from collections.abc import Callable, Collection
from dataclasses import dataclass, replace
from typing import Any, Final

from internal.agents.json_reply import complete_items, joined
from internal.errors import ModelReplyInvalid, ModelReplyTruncated, ModelReplyUnreadable
from internal.llm.model import ChatMessage, ChatModel, ChatReply, ChatRequest, Usage

log = logging.getLogger(__name__)

MOST_PARTS: Final = 3
"""Calls with which a cut reply goes on. One that is cut as often repeats itself: what it said until then is taken."""

MOST_SHOWN: Final = 4_000
"""Characters of a reply that could not be read, as its repair shows them."""

_REPAIR: Final = (
    "This answer could not be read: {error}. Answer again, with one JSON object of the form asked for and nothing else."
)
_GO_ON: Final = (
    "Your answer was cut by its length limit. These items of it are kept. Answer with one JSON object of the same form "
    "that holds only what is still missing, and empty lists if nothing is."
)


@dataclass(frozen=True, slots=True)
class ReplyForm:
    """How a reply is read as a whole: `read` raises ModelReplyInvalid, `keys` are those of its object.

    `read_repaired`, if it is less strict, reads what was asked for instead of a reply that could not be read.
    """

    read: Callable[[str], object]
    keys: Collection[str]
    read_repaired: Callable[[str], object] | None = None


async def readable(chat: ChatModel, request: ChatRequest, form: ReplyForm) -> ChatReply:
    """A reply that can be read, after one more call where the first could not be. Raises ModelReplyUnreadable."""
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
        raise ModelReplyUnreadable(f"twice: {error}") from error
    return replace(again, usage=reply.usage + again.usage)


async def gone_on(chat: ChatModel, request: ChatRequest, keys: Collection[str], items: dict[str, Any]) -> ChatReply:
    """A cut reply, of which `items` are complete, joined with what the model goes on with."""
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
        items = joined(items, more)
    return ChatReply(json.dumps(joined(items, more), ensure_ascii=False), model, usage)
