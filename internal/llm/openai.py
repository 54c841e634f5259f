"""Chat in the OpenAI wire format: OpenRouter, Ollama, vLLM and other servers that speak it."""

import asyncio
import time
from collections.abc import AsyncGenerator, Iterator, Sequence
from contextlib import aclosing, contextmanager
from dataclasses import dataclass, replace

import aiohttp

from internal.errors import ModelContextExceeded, ModelError, ModelRefused, ModelSilent, ModelUnavailable
from internal.llm.failures import RequestRejected
from internal.llm.model import CallObserver, ChatDelta, ChatReply, ChatRequest, Reply, Request
from internal.llm.sse import events_in
from internal.llm.transport import Endpoint
from internal.llm.wire import FORMATS, Dialect, ReplyDraft, chat_body, read_json, read_reply, tells_cost

CHAT_PATH = "chat/completions"

REFUSED_S = 3600.0
"""Seconds for which a model gets no tools or pictures after it refused them."""

_DONE = "[DONE]"
_OPTIONAL = ("tools", "pictures")
"""Features that a model is offered again after a while, because servers are updated."""


@dataclass(slots=True)
class Call:
    """The reply or the error of a call that ended."""

    reply: Reply | None = None
    error: ModelError | None = None


@contextmanager
def observed(request: Request, observers: Sequence[CallObserver]) -> Iterator[Call]:
    """Reports the end of the call in the block to the observers, whatever its outcome."""
    call, started = Call(), time.monotonic()
    try:
        yield call
    except ModelError as error:
        call.error = error
        raise
    finally:
        for observer in observers:
            observer.finished(request, call.reply, call.error, time.monotonic() - started)


class OpenAIChat:
    """A ChatModel on one server. Close it with `aclose`."""

    def __init__(self, base_url: str, api_key: str = "", *, observers: Sequence[CallObserver] = ()) -> None:
        """Raises ConfigurationError if the address or the key cannot be used."""
        self._endpoint = Endpoint(base_url, api_key)
        self._observers = tuple(observers)
        self._ask_cost = tells_cost(self._endpoint.host)
        self._dialects: dict[str, Dialect] = {}
        self._again: dict[tuple[str, str], float] = {}

    async def aclose(self) -> None:
        await self._endpoint.aclose()

    def refused(self, model: str) -> list[str]:
        """The features that the server refused for a model (tools, JSON schemas ...), by their wire names."""
        dialect = self._dialects.get(model, Dialect())
        left_out = [one for one in _OPTIONAL if not getattr(dialect, one)]
        return [*left_out, *FORMATS[: FORMATS.index(dialect.reply_format)]]

    async def complete(self, request: ChatRequest) -> ChatReply:
        """Returns the whole reply at once. Raises like `ChatModel`."""
        deadline = asyncio.get_running_loop().time() + request.timeout
        with observed(request, self._observers) as call:
            dialect = self._dialect(request)
            while True:
                if request.needs_pictures and not dialect.pictures:
                    self._accepted(request, dialect)
                    raise ModelRefused(f"the model {request.model} takes no pictures")
                try:
                    reply = await self._ask(request, dialect, deadline, call)
                except (RequestRejected, ModelContextExceeded) as rejection:
                    dialect = _plainer(dialect, rejection, request, streaming=False)
                else:
                    self._accepted(request, dialect)
                    return reply

    async def stream(self, request: ChatRequest) -> AsyncGenerator[ChatDelta, None]:
        """Yields the reply piece by piece. Raises like `ChatModel`; errors of the end come after the last piece."""
        deadline = asyncio.get_running_loop().time() + request.timeout
        with observed(request, self._observers) as call:
            dialect, begun = self._dialect(request), False
            while True:
                try:
                    async with aclosing(self._deltas(request, dialect, deadline, call)) as deltas:
                        async for delta in deltas:
                            if not begun:  # not at the end, because the reader may leave after the last piece
                                self._accepted(request, dialect)
                            begun = True
                            yield delta
                except (RequestRejected, ModelContextExceeded) as rejection:
                    if begun:
                        raise
                    dialect = _plainer(dialect, rejection, request, streaming=True)
                else:
                    return

    async def _ask(self, request: ChatRequest, dialect: Dialect, deadline: float, call: Call) -> ChatReply:
        body = chat_body(request, dialect, stream=False, ask_cost=self._ask_cost)
        outcome = read_reply(read_json(await self._endpoint.post(CHAT_PATH, body, deadline)), request.model)
        call.reply = outcome.reply
        if outcome.fault is not None:
            raise self._endpoint.without_secrets(outcome.fault)
        return outcome.reply

    async def _deltas(
        self, request: ChatRequest, dialect: Dialect, deadline: float, call: Call
    ) -> AsyncGenerator[ChatDelta, None]:
        body = chat_body(request, dialect, stream=True, ask_cost=self._ask_cost)
        draft, now = ReplyDraft(request.model), asyncio.get_running_loop().time()
        first = min(deadline, now + (request.first_token or request.timeout))
        opened = False
        try:
            async with (
                self._endpoint.open(CHAT_PATH, body, first) as response,
                aclosing(self._pieces(response, draft, first, deadline)) as pieces,
            ):
                opened = True
                async for words in pieces:
                    if words:
                        yield ChatDelta(words)
        except BaseException as error:  # stopped or cut off: the provider bills the text until then
            if draft.begun or (opened and not isinstance(error, ModelError)):
                call.reply = draft.broken_off(request)
            if not draft.heard and isinstance(error, ModelUnavailable) and first <= asyncio.get_running_loop().time():
                raise ModelSilent(f"the model {request.model} did not begin to answer in time") from error
            raise
        outcome = draft.outcome()
        call.reply = outcome.reply
        if outcome.fault is not None:
            raise self._endpoint.without_secrets(outcome.fault)
        yield ChatDelta("", final=outcome.reply)

    async def _pieces(
        self, response: aiohttp.ClientResponse, draft: ReplyDraft, first: float, deadline: float
    ) -> AsyncGenerator[str, None]:
        """Yields the words as they arrive, up to the end, the provider's error or a broken connection."""
        if "text/event-stream" not in response.headers.get("Content-Type", ""):
            # Some servers answer (or fail) in one piece instead of a stream, or declare a stream as plain text.
            whole = await self._endpoint.read(response, deadline)
            known = events_in(whole)
            if not known:
                yield draft.take(read_json(whole), part="message")
            for event in known:
                if event != _DONE:
                    yield draft.take(read_json(event))
            yield draft.end(complete=not known or known[-1] == _DONE)
            return
        done = False
        until = lambda: deadline if draft.heard else first  # noqa: E731 - asked again for each event
        async with aclosing(self._endpoint.events(response, until)) as events:
            async for event in events:
                done = event == _DONE
                if not done:
                    yield draft.take(read_json(event))
                if done or draft.failed:
                    break
        yield draft.end(complete=done)

    def _dialect(self, request: ChatRequest) -> Dialect:
        known, now = self._dialects.get(request.model, Dialect()), time.monotonic()

        def offered(one: str, wanted: bool) -> bool:
            return getattr(known, one) or (wanted and now >= self._again.get((request.model, one), 0.0))

        pictures = offered("pictures", request.shows_pictures)
        return replace(known, tools=offered("tools", bool(request.tools)), pictures=pictures)

    def _accepted(self, request: ChatRequest, dialect: Dialect) -> None:
        """Remembers the features that the model accepts; a refusal of tools or pictures only for an hour."""
        tried = self._dialect(request)
        for one in _OPTIONAL:
            if getattr(tried, one) and not getattr(dialect, one):
                self._again[request.model, one] = time.monotonic() + REFUSED_S
        self._dialects[request.model] = dialect


def _plainer(dialect: Dialect, rejection: ModelRefused, request: ChatRequest, *, streaming: bool) -> Dialect:
    """The next dialect to try; raises the rejection if there is none. A too long request is tried without pictures."""
    if isinstance(rejection, ModelContextExceeded):
        if dialect.pictures and request.shows_pictures:
            return replace(dialect, pictures=False)
        raise rejection
    plainer = dialect.plainer(str(rejection), request, streaming=streaming)
    if plainer is None:
        raise rejection
    return plainer
