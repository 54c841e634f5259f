"""The scripted model: an OpenAI-compatible server on loopback."""

import asyncio
import base64
import json
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Self

import numpy as np
from aiohttp import web

from internal.llm.model import Vectors
from internal.testing.forms import form_fields
from internal.testing.prefix_cache import PrefixCache
from internal.testing.script import Answer, Asked, Fault, Reply, Step, step_from_json
from internal.testing.vectors import trigram_vectors

MEGABYTE = 1 << 20


@dataclass(slots=True)
class ScriptedModel:
    """An OpenAI-compatible server on loopback that answers by script, one script per model name.

    `async with ScriptedModel() as model:` then `model.url`. Chat for a model without a fitting step is refused with
    400, so that a forgotten script shows. Embeddings need no script; steps for their model name are faults. The model
    name `*` is every model. `refused_formats` are response_format types answered with 400, as by small
    servers; `tools` and `pictures` among them refuse those. Usage contains the cached tokens of a prompt like OpenAI's.
    `offered` are the models that it lists.
    """

    port: int = 0
    cost_usd: float = 0.0
    embeddings_as_floats: bool = False
    piece: int = 7
    refused_formats: set[str] = field(default_factory=set)
    offered: Sequence[str] = ()
    requests: list[Asked] = field(default_factory=list)
    usages: list[dict[str, Any]] = field(default_factory=list)
    _steps: dict[str, list[Step]] = field(default_factory=dict)
    _cache: PrefixCache = field(default_factory=PrefixCache)
    _arrived: asyncio.Condition = field(default_factory=asyncio.Condition)
    _closing: asyncio.Event = field(default_factory=asyncio.Event)
    _runner: web.AppRunner | None = None

    @property
    def url(self) -> str:
        """The `base_url` for clients."""
        return f"http://127.0.0.1:{self.port}/v1"

    def script(self, model: str, *answers: Answer | Step) -> None:
        """Appends answers for a model, each given once, in order; a callable is given whenever it is reached."""
        steps = [a if isinstance(a, Step) else Step(a, times=None if callable(a) else 1) for a in answers]
        self._steps.setdefault(model, []).extend(steps)

    def always(self, model: str, answer: Answer, match: str | None = None) -> None:
        """Appends an answer that is never used up."""
        self.script(model, Step(answer, match, times=None))

    def forget(self, model: str | None = None) -> None:
        """Drops the script of one model, or of all."""
        if model is None:
            self._steps.clear()
        else:
            self._steps.pop(model, None)

    def asked(self, model: str) -> list[Asked]:
        """The requests that named this model, oldest first."""
        return [request for request in self.requests if request.model == model]

    async def wait_for(self, model: str, count: int = 1, within: float = 120.0) -> list[Asked]:
        """The requests to this model once there are `count`. Raises TimeoutError after `within` seconds."""
        async with asyncio.timeout(within), self._arrived:
            await self._arrived.wait_for(lambda: len(self.asked(model)) >= count)
        return self.asked(model)

    async def __aenter__(self) -> Self:
        app = web.Application(client_max_size=64 * MEGABYTE)
        app.router.add_post("/v1/chat/completions", self._chat)
        app.router.add_post("/v1/embeddings", self._embed)
        app.router.add_post("/v1/audio/transcriptions", self._transcribe)
        app.router.add_post("/v1/audio/speech", self._speak)
        app.router.add_get("/v1/models", self._list_models)
        app.router.add_get("/requests", self._show_requests)
        app.router.add_delete("/requests", self._drop_requests)
        app.router.add_post("/script", self._take_script)
        self._runner = web.AppRunner(app, shutdown_timeout=0.1, handler_cancellation=True, access_log=None)
        await self._runner.setup()
        site = web.TCPSite(self._runner, "127.0.0.1", self.port)
        await site.start()
        self.port = self._runner.addresses[0][1]
        return self

    async def __aexit__(self, *exc: object) -> None:
        self._closing.set()
        if self._runner is not None:
            await self._runner.cleanup()

    async def _record(self, request: web.Request) -> Asked:
        body = await (form_fields(request) if request.content_type == "multipart/form-data" else request.json())
        asked = Asked(request.path, dict(request.headers), body, len(self.requests))
        async with self._arrived:
            self.requests.append(asked)
            self._arrived.notify_all()
        return asked

    def _answer(self, asked: Asked) -> Reply | None:
        steps = [*self._steps.get(asked.model, ()), *self._steps.get("*", ())]
        step = next((step for step in steps if step.fits(asked)), None)
        return None if step is None else step.take(asked)

    async def _chat(self, request: web.Request) -> web.StreamResponse:
        asked = await self._record(request)
        wanted = asked.body.get("response_format", {}).get("type")
        offered = {wanted, "tools" if asked.body.get("tools") else None, "pictures" if asked.pictures else None}
        refused = offered & self.refused_formats
        if refused:
            return _error(400, f"not supported: {refused}")
        reply = self._answer(asked)
        if reply is None:
            return _error(400, f"no step of the script fits a request to {asked.model!r}")
        if isinstance(reply, Fault):
            return await self._fail_chat(request, asked, reply)
        if isinstance(reply, dict) and set(reply) == {"tool_calls"}:
            message = {"content": "", "tool_calls": _calls(reply["tool_calls"])}
            return await self._say(request, asked, message, "tool_calls")
        return await self._say(request, asked, {"content": _text(reply)}, "stop")

    async def _say(
        self,
        request: web.Request,
        asked: Asked,
        message: dict[str, Any],
        finish: str,
        error: Any = None,
        seconds: float = 0.0,
    ) -> web.StreamResponse:
        if asked.body.get("stream"):
            return await self._stream(request, asked, message, finish, error, seconds)
        choice = {"index": 0, "finish_reason": finish, "message": {"role": "assistant", **message}}
        if error is not None:
            choice["error"] = error
        return web.json_response(
            {
                "id": f"scripted-{asked.number}",
                "object": "chat.completion",
                "model": asked.model,
                "choices": [choice],
                "usage": self._usage(asked, message.get("content") or ""),
            }
        )

    async def _stream(
        self, request: web.Request, asked: Asked, message: dict[str, Any], finish: str, error: Any, seconds: float
    ) -> web.StreamResponse:
        response = await _open_stream(request)
        await response.write(b": SCRIPTED PROCESSING\n\n")
        deltas = _pieces(message, self.piece)
        for delta in deltas:
            if seconds:
                await self._pause(seconds / len(deltas))
            await _event(response, asked, [{"index": 0, "delta": delta, "finish_reason": None}])
        last: dict[str, Any] = {"index": 0, "delta": {}, "finish_reason": finish}
        await _event(response, asked, [last if error is None else {**last, "error": error}])
        if asked.body.get("stream_options", {}).get("include_usage"):
            await _event(response, asked, [], usage=self._usage(asked, message.get("content") or ""))
        await response.write(b"data: [DONE]\n\n")
        return response

    def _usage(self, asked: Asked, content: str) -> dict[str, Any]:
        usage: dict[str, Any]
        (prompt, cached), completion = self._cache.count(asked), len(content.split())
        usage = {"prompt_tokens": prompt, "completion_tokens": completion, "total_tokens": prompt + completion}
        usage["prompt_tokens_details"] = {"cached_tokens": cached}
        self.usages.append(usage)
        return {**usage, "cost": self.cost_usd} if asked.body.get("usage", {}).get("include") else usage

    async def _fail_chat(self, request: web.Request, asked: Asked, fault: Fault) -> web.StreamResponse:
        if fault.kind == "slow":
            await self._pause(fault.seconds)
        if fault.kind in _SPOILED_MESSAGES:
            message, finish = _SPOILED_MESSAGES[fault.kind](fault.text)
            error = _fault_error(fault) if finish == "error" else None
            pace = fault.seconds if fault.kind == "trickle" else 0.0
            return await self._say(request, asked, message, finish, error, pace)
        if asked.body.get("stream") and fault.kind in ("error_body", "cut", "stall"):
            return await self._break_stream(request, asked, fault)
        return await self._fail(request, fault)

    async def _break_stream(self, request: web.Request, asked: Asked, fault: Fault) -> web.StreamResponse:
        response = await _open_stream(request)
        await _event(response, asked, [{"index": 0, "delta": {"content": fault.text}}])
        if fault.kind == "stall":
            await self._pause(fault.seconds)
        if fault.kind != "error_body":
            return _abort(request, response)
        await response.write(f"data: {json.dumps({'error': _fault_error(fault)})}\n\n".encode())
        return response

    async def _fail(self, request: web.Request, fault: Fault) -> web.StreamResponse:
        if fault.kind == "hang":
            await self._pause(fault.seconds)
            return _error(504, "hung too long")
        if fault.kind == "reset":
            return _abort(request, web.StreamResponse())
        if fault.kind in ("cut", "stall"):
            response = web.StreamResponse(headers={"Content-Length": "100000"})
            await response.prepare(request)
            await response.write(b'{"choices": [{"message": {"content": "half')
            await self._pause(fault.seconds if fault.kind == "stall" else 0)
            return _abort(request, response)
        return _whole_failure(fault)

    async def _pause(self, seconds: float) -> None:
        try:
            async with asyncio.timeout(seconds):
                await self._closing.wait()
        except TimeoutError:
            return

    async def _embed(self, request: web.Request) -> web.StreamResponse:
        asked = await self._record(request)
        texts = [asked.body["input"]] if isinstance(asked.body["input"], str) else asked.body["input"]
        vectors = trigram_vectors(texts, int(asked.body.get("dimensions", 64)))
        fault = self._answer(asked)
        if isinstance(fault, Fault) and fault.kind == "slow":
            await self._pause(fault.seconds)
        elif isinstance(fault, Fault) and fault.kind in _SPOILED_VECTORS:
            vectors = _SPOILED_VECTORS[fault.kind](vectors)
        elif isinstance(fault, Fault):
            return await self._fail(request, fault)
        as_base64 = asked.body.get("encoding_format") == "base64" and not self.embeddings_as_floats
        rows = [
            {"object": "embedding", "index": index, "embedding": _wire_vector(vector, as_base64)}
            for index, vector in enumerate(vectors)
        ]
        # The last row comes first, so that a client that trusts the order instead of `index` fails.
        return web.json_response(
            {"object": "list", "data": rows[::-1], "model": asked.model, "usage": self._usage(asked, "")}
        )

    async def _transcribe(self, request: web.Request) -> web.StreamResponse:
        """Answers any sound with the scripted text."""
        asked = await self._record(request)
        reply = self._answer(asked)
        if reply is None:
            return _error(400, f"no step of the script fits a request to {asked.model!r}")
        if isinstance(reply, Fault):
            if reply.kind != "slow":
                return await self._fail(request, reply)
            await self._pause(reply.seconds)
        text = reply.text if isinstance(reply, Fault) else _text(reply)
        return web.json_response({"text": text, "usage": {"type": "duration", "seconds": 1}})

    async def _speak(self, request: web.Request) -> web.StreamResponse:
        """Answers with the head of an Ogg file and the words, unless the script has a fault."""
        asked = await self._record(request)
        reply = self._answer(asked)
        if isinstance(reply, Fault):
            return await self._fail(request, reply)
        return web.Response(body=b"OggS" + str(asked.body["input"]).encode(), content_type="audio/ogg")

    async def _list_models(self, _: web.Request) -> web.Response:
        return web.json_response({"object": "list", "data": [{"id": name, "object": "model"} for name in self.offered]})

    async def _show_requests(self, request: web.Request) -> web.Response:
        model = request.query.get("model")
        chosen = self.requests if model is None else self.asked(model)
        return web.json_response([asdict(asked) for asked in chosen])

    async def _drop_requests(self, request: web.Request) -> web.Response:
        self.requests.clear()
        return web.Response(status=204)

    async def _take_script(self, request: web.Request) -> web.Response:
        """Replaces the scripts of the named models: `{"models": {NAME: [step, ...]}, "refused_formats": [...]}`."""
        try:
            self.load(await request.json())
        except (ValueError, TypeError, KeyError, AttributeError) as error:
            return web.json_response({"detail": str(error)}, status=422)
        return web.Response(status=204)

    def load(self, script: dict[str, Any]) -> None:
        """Loads a whole script read from JSON. Raises ValueError, TypeError or KeyError for an invalid one."""
        steps = {model: [step_from_json(raw) for raw in raws] for model, raws in script.get("models", {}).items()}
        self._steps.update(steps)
        if "refused_formats" in script:
            self.refused_formats = set(script["refused_formats"])
        self.cost_usd = float(script.get("cost_usd", self.cost_usd))


_SPOILED_MESSAGES: dict[str, Callable[[str], tuple[dict[str, Any], str]]] = {
    "choice_error": lambda text: ({"content": ""}, "error"),
    "empty": lambda text: ({"content": "", "reasoning": text}, "stop"),
    "refusal": lambda text: ({"content": None, "refusal": text}, "stop"),
    "content_filter": lambda text: ({"content": ""}, "content_filter"),
    "truncated": lambda text: ({"content": text}, "length"),
    "slow": lambda text: ({"content": text}, "stop"),
    "trickle": lambda text: ({"content": text}, "stop"),
}

_SPOILED_VECTORS: dict[str, Callable[[Vectors], Vectors]] = {
    "wrong_count": lambda vectors: vectors[:-1],
    "wrong_size": lambda vectors: vectors[:, :-1],
    "not_a_number": lambda vectors: vectors * np.float32("nan"),
    "zero": lambda vectors: vectors * np.float32(0),
}


def _fault_error(fault: Fault) -> dict[str, Any]:
    return {"message": "scripted failure", "code": fault.status}


def _whole_failure(fault: Fault) -> web.Response:
    """A complete HTTP answer that is a failure."""
    match fault.kind:
        case "status":
            return _error(fault.status, "scripted failure", fault.retry_after, fault.body)
        case "error_body":
            return web.json_response({"error": _fault_error(fault)})
        case "malformed":
            return web.Response(text="<html>502 Bad Gateway</html>", content_type="text/html")
        case "redirect":
            return web.Response(status=307, headers={"Location": "http://127.0.0.1:9/elsewhere"})
        case "oversized":
            return web.Response(text='{"choices": "' + "x" * (fault.megabytes * MEGABYTE) + '"}')
        case _:
            raise ValueError(f"there is no fault called {fault.kind!r}")


def _text(reply: str | dict[str, Any] | list[Any]) -> str:
    return reply if isinstance(reply, str) else json.dumps(reply, ensure_ascii=False)


def _calls(calls: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Converts scripted calls, `{"name": ..., "arguments": {...}}`, to the form of servers."""
    return [
        {
            "id": f"call_{position}",
            "type": "function",
            "function": {"name": one["name"], "arguments": _text(one.get("arguments", {}))},
        }
        for position, one in enumerate(calls)
    ]


def _pieces(message: dict[str, Any], size: int) -> list[dict[str, Any]]:
    """The deltas of a streamed message: each of its texts cut into pieces of `size` characters."""
    deltas = [
        {key: text[start : start + size]}
        for key, text in message.items()
        if key != "tool_calls"
        for start in range(0, len(text or ""), size)
    ]
    for position, call in enumerate(message.get("tool_calls", ())):
        arguments = call["function"]["arguments"]
        deltas.append({"tool_calls": [{**call, "index": position, "function": {"name": call["function"]["name"]}}]})
        deltas += [
            {"tool_calls": [{"index": position, "function": {"arguments": arguments[start : start + size]}}]}
            for start in range(0, len(arguments), size)
        ]
    return deltas


async def _open_stream(request: web.Request) -> web.StreamResponse:
    response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
    await response.prepare(request)
    return response


async def _event(response: web.StreamResponse, asked: Asked, choices: list[Any], **more: Any) -> None:
    chunk = {"id": f"scripted-{asked.number}", "model": asked.model, "choices": choices, **more}
    await response.write(f"data: {json.dumps(chunk, ensure_ascii=False)}\n\n".encode())


def _abort(request: web.Request, response: web.StreamResponse) -> web.StreamResponse:
    if request.transport is not None:
        request.transport.abort()
    return response


def _error(status: int, message: str, retry_after: str | None = None, body: Any = None) -> web.Response:
    headers = {} if retry_after is None else {"Retry-After": retry_after}
    if isinstance(body, str):
        return web.Response(text=body, status=status, headers=headers)
    return web.json_response(body or {"error": {"message": message, "code": status}}, status=status, headers=headers)


def _wire_vector(vector: Vectors, as_base64: bool) -> str | list[float]:
    if as_base64:
        return base64.b64encode(vector.astype("<f4").tobytes()).decode()
    return [float(x) for x in vector]
