"""The chat client against a real server that misbehaves on demand."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import AsyncIterator
from contextlib import aclosing
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import Any

import pytest
from support.agents.model_servers import SCHEMA, Ledger, ask

from internal.errors import (
    ConfigurationError,
    ModelAccessDenied,
    ModelError,
    ModelRefused,
    ModelReplyInvalid,
    ModelReplyTruncated,
    ModelSilent,
    ModelUnavailable,
)
from internal.llm import transport
from internal.llm.model import ChatReply, ChatRequest, Usage
from internal.llm.openai import OpenAIChat
from internal.llm.tokens import count_tokens
from internal.testing import Fault, ScriptedModel

KEY = "sk-or-very-secret-key"


@pytest.fixture
async def server() -> AsyncIterator[ScriptedModel]:
    async with ScriptedModel() as model:
        yield model


@pytest.fixture
def ledger() -> Ledger:
    return Ledger()


@pytest.fixture
async def chat(server: ScriptedModel, ledger: Ledger) -> AsyncIterator[OpenAIChat]:
    chat = OpenAIChat(server.url, KEY, observers=[ledger])
    yield chat
    await chat.aclose()


async def collect(chat: OpenAIChat, request: ChatRequest) -> tuple[list[str], ChatReply | None]:
    pieces, final = [], None
    async for delta in chat.stream(request):
        pieces.append(delta.text)
        final = delta.final
    return pieces, final


def raw_answer(message: dict[str, Any], finish: str = "stop", **more: Any) -> Fault:
    """A complete answer with exactly this message."""
    return Fault("status", status=200, body={"choices": [{"message": message, "finish_reason": finish}], **more})


async def test_a_call_sends_the_agents_own_model_and_reads_text_and_usage(
    server: ScriptedModel, chat: OpenAIChat, ledger: Ledger
) -> None:
    """What goes out is what the contract names; what comes back is counted once."""
    server.script("m", "  Здравствуй, мир  ")
    request = ask()
    reply = await chat.complete(request)
    assert reply == ChatReply("Здравствуй, мир", "m", Usage(prompt_tokens=9, completion_tokens=2))
    (asked,) = server.requests
    assert asked.body == {
        "model": "m",
        "messages": [{"role": "system", "content": "Be kind."}, {"role": "user", "content": "Привет!"}],
        "temperature": 0.5,
        "max_tokens": 77,
    }
    assert asked.headers["Authorization"] == f"Bearer {KEY}"
    ((observed, told, error, seconds),) = ledger.calls
    assert (observed, told, error) == (request, reply, None)
    assert 0 < seconds < 5


async def test_a_stream_gives_the_same_reply_in_pieces(server: ScriptedModel, chat: OpenAIChat, ledger: Ledger) -> None:
    """Keep-alive comments are passed over and the usage at the end is asked for."""
    server.script("m", "Раз, два, три, четыре, пять")
    pieces, final = await collect(chat, ask())
    assert "".join(pieces) == "Раз, два, три, четыре, пять"
    assert len(pieces) > 3
    assert final == ChatReply("Раз, два, три, четыре, пять", "m", Usage(9, 5))
    assert server.requests[0].body["stream_options"] == {"include_usage": True}
    assert ledger.calls[0][1] == final


@pytest.mark.parametrize("streaming", [False, True])
async def test_thoughts_never_reach_the_words(server: ScriptedModel, chat: OpenAIChat, streaming: bool) -> None:
    """Neither from tags in the text nor from the fields that carry reasoning, whole or in pieces."""
    server.script("m", "<think>\nHe is <b>angry</b>.\n</think>\n\nПривет, <b>мир</b>!<thought>hm</thought>")
    if streaming:
        pieces, final = await collect(chat, ask())
        assert "".join(pieces) == "Привет, <b>мир</b>!"
        assert final is not None
        assert final.text == "Привет, <b>мир</b>!"
    else:
        assert (await chat.complete(ask())).text == "Привет, <b>мир</b>!"


async def test_reasoning_fields_and_parts_are_left_out(server: ScriptedModel, chat: OpenAIChat) -> None:
    """Content in parts is joined from its text parts only."""
    parts = [{"type": "thinking", "text": "secret"}, {"type": "text", "text": "При"}, {"type": "text", "text": "вет"}]
    server.script("m", raw_answer({"content": parts, "reasoning": "secret", "reasoning_content": "secret"}))
    assert (await chat.complete(ask())).text == "Привет"


async def test_halves_of_emoji_and_nul_do_not_reach_the_database(server: ScriptedModel, chat: OpenAIChat) -> None:
    """A pair is joined, a lone half is marked, NUL is dropped."""
    server.script(
        "m", Fault("status", status=200, body=json.loads('{"choices":[{"message":{"content":"\\ud83d a\\u0000b"}}]}'))
    )
    assert (await chat.complete(ask("\ud83d"))).text == "\ufffd ab"


FAILURES: list[tuple[Fault, type[ModelError]]] = [
    (Fault("status", status=401), ModelAccessDenied),
    (Fault("status", status=402), ModelAccessDenied),
    (Fault("status", status=403), ModelAccessDenied),
    (Fault("status", status=404), ModelAccessDenied),
    (Fault("status", status=400), ModelRefused),
    (Fault("redirect"), ModelAccessDenied),
    (Fault("status", status=408), ModelUnavailable),
    (Fault("status", status=429), ModelUnavailable),
    (Fault("status", status=500), ModelUnavailable),
    (Fault("status", status=502, body="<html>Bad Gateway</html>"), ModelUnavailable),
    (Fault("status", status=529), ModelUnavailable),
    (Fault("error_body", status=502), ModelUnavailable),
    (Fault("error_body", status=429), ModelUnavailable),
    (Fault("error_body", status=403), ModelAccessDenied),
    (Fault("choice_error", status=502), ModelUnavailable),
    (Fault("cut"), ModelUnavailable),
    (Fault("reset"), ModelUnavailable),
    (Fault("hang"), ModelUnavailable),
    (Fault("refusal", text="I can't help with that."), ModelRefused),
    (Fault("content_filter"), ModelRefused),
    (Fault("truncated"), ModelReplyTruncated),
    (Fault("empty"), ModelReplyInvalid),
    (Fault("malformed"), ModelReplyInvalid),
    (Fault("oversized", megabytes=9), ModelReplyInvalid),
    (Fault("status", status=200, body={"error": "model is loading"}), ModelReplyInvalid),
    (Fault("status", status=200, body={"error": {"type": "overloaded_error"}}), ModelUnavailable),
    (Fault("status", status=200, body={"error": {"code": "content_filter"}}), ModelRefused),
    (Fault("status", status=200, body=["not an object"]), ModelReplyInvalid),
    (Fault("status", status=200, body={"choices": []}), ModelReplyInvalid),
    (Fault("status", status=200, body={"choices": [{"message": {"content": None}}]}), ModelReplyInvalid),
    (Fault("status", status=200, body={"choices": [None, {"message": "text"}]}), ModelReplyInvalid),
    (Fault("status", status=200, body={"choices": [{"finish_reason": "error"}]}), ModelUnavailable),
]


@pytest.mark.parametrize("streaming", [False, True])
@pytest.mark.parametrize(("fault", "expected"), FAILURES, ids=lambda value: getattr(value, "kind", ""))
async def test_every_failure_is_told_apart(
    server: ScriptedModel, chat: OpenAIChat, ledger: Ledger, fault: Fault, expected: type[ModelError], streaming: bool
) -> None:
    """Outages, refusals for good and failed attempts, asked whole or streamed; the observer hears of each once."""
    server.always("m", fault)
    request = ask(timeout=1.5)
    with pytest.raises(ModelError) as caught:
        await (collect(chat, request) if streaming else chat.complete(request))
    assert isinstance(caught.value, expected)
    assert [call[2] for call in ledger.calls] == [caught.value]
    if expected is ModelReplyInvalid:
        assert not isinstance(caught.value, ModelReplyTruncated)


async def test_a_stream_that_breaks_is_on_the_bill_for_what_came(
    server: ScriptedModel, chat: OpenAIChat, ledger: Ledger
) -> None:
    """Estimated, unless the provider told it; a page of nonsense and a call that was stopped in line cost nothing."""
    server.script("m", Fault("cut", text="Половина ответа"), Fault("malformed"), Fault("hang"))
    for _ in range(2):
        with pytest.raises(ModelError):
            await collect(chat, ask())
    waiting = asyncio.create_task(collect(chat, ask()))
    await server.wait_for("m", 3)
    waiting.cancel()
    await asyncio.wait([waiting])
    replies = [reply for _, reply, _, _ in ledger.calls]
    assert isinstance(replies[0], ChatReply)
    assert (replies[0].text, replies[0].usage.estimated) == ("Половина ответа", True)
    assert replies[0].usage.completion_tokens == count_tokens("Половина ответа")
    assert replies[1:] == [None, None]


async def test_a_stream_shows_what_came_before_it_broke(server: ScriptedModel, chat: OpenAIChat) -> None:
    """The words are passed on at once; the error follows them, and no `final` does."""
    server.script("m", Fault("cut", text="Половина"), Fault("error_body", text="Половина", status=502))
    for _ in range(2):
        shown: list[str] = []

        async def show(shown: list[str] = shown) -> None:
            async for delta in chat.stream(ask()):
                assert delta.final is None
                shown.append(delta.text)

        with pytest.raises(ModelUnavailable):
            await show()
        assert shown == ["Половина"]


async def test_an_error_in_the_middle_of_a_stream_does_not_start_it_again(
    server: ScriptedModel, chat: OpenAIChat
) -> None:
    """Words already shown would be doubled."""
    server.always("m", Fault("error_body", text="Половина", status=400))
    with pytest.raises(ModelRefused):
        await collect(chat, ask())
    assert len(server.requests) == 1


async def test_a_streamed_answer_in_one_piece_is_read(server: ScriptedModel, chat: OpenAIChat) -> None:
    """Servers that ignore `stream` answer as JSON."""
    server.script("m", raw_answer({"content": "Целиком"}))
    pieces, final = await collect(chat, ask())
    assert pieces == ["Целиком", ""]
    assert final is not None
    assert final.text == "Целиком"


@pytest.mark.parametrize("end", ["data: [DONE]\n\n", ""])
async def test_a_stream_that_is_called_plain_text_is_read(server: ScriptedModel, chat: OpenAIChat, end: str) -> None:
    """Some proxies drop the type of a stream. One without its end was cut off."""
    events = [{"choices": [{"delta": {"content": words}}]} for words in ("По", "ток")]
    stream = "".join(f"data: {json.dumps(event)}\n\n" for event in events)
    server.always("m", Fault("status", status=200, body=f": hello\n\n{stream}{end}"))
    if not end:
        with pytest.raises(ModelUnavailable, match="cut off"):
            await collect(chat, ask())
        return
    pieces, final = await collect(chat, ask())
    assert "".join(pieces) == "Поток"
    assert final is not None
    assert final.text == "Поток"


@pytest.mark.parametrize(
    ("header", "least", "most"),
    [
        ("7", 7, 7),
        ("0.5", 0.5, 0.5),
        (format_datetime(datetime.now(UTC) + timedelta(hours=1)), 1_800, 3_600),  # read when tests are collected
        (format_datetime(datetime.now(UTC) - timedelta(seconds=90)), 0, 0),
        ("-3", 0, 0),
        ("nan", 0, 0),
        ("1e99", 86400, 86400),
    ],
    ids=["seconds", "fraction", "date", "past", "negative", "nan", "endless"],
)
async def test_the_wish_to_wait_is_kept(
    server: ScriptedModel, chat: OpenAIChat, header: str, least: float, most: float
) -> None:
    """Retry-After in seconds and as an HTTP date, never negative, never endless."""
    server.script("m", Fault("status", status=429, retry_after=header))
    with pytest.raises(ModelUnavailable) as caught:
        await chat.complete(ask())
    assert caught.value.retry_after is not None
    assert least <= caught.value.retry_after <= most


async def test_without_a_readable_wish_there_is_none(server: ScriptedModel, chat: OpenAIChat) -> None:
    """Absent and unreadable headers."""
    server.script("m", Fault("status", status=429), Fault("status", status=503, retry_after="soon"))
    for _ in range(2):
        with pytest.raises(ModelUnavailable) as caught:
            await chat.complete(ask())
        assert caught.value.retry_after is None


async def test_a_connection_that_breaks_before_the_answer_is_tried_again_at_once(
    server: ScriptedModel, chat: OpenAIChat, ledger: Ledger
) -> None:
    """A stale kept-alive connection is no outage, and one call stays one call."""
    server.script("m", Fault("reset"), Fault("reset"), "Здесь")
    assert (await chat.complete(ask())).text == "Здесь"
    assert len(server.requests) == 3
    assert len(ledger.calls) == 1


async def test_no_server_is_an_outage() -> None:
    """A refused connection, after the immediate retries."""
    async with ScriptedModel() as gone:
        pass
    chat = OpenAIChat(gone.url)
    with pytest.raises(ModelUnavailable, match="cannot be reached"):
        await chat.complete(ask())
    await chat.aclose()


@pytest.mark.parametrize("streaming", [False, True])
async def test_the_timeout_holds_for_the_whole_reply(server: ScriptedModel, chat: OpenAIChat, streaming: bool) -> None:
    """Also while retrying, and however slowly the server drips."""
    server.always("m", Fault("slow", seconds=30))
    started = asyncio.get_running_loop().time()
    with pytest.raises(ModelUnavailable, match="in time"):
        await (collect(chat, ask(timeout=0.3)) if streaming else chat.complete(ask(timeout=0.3)))
    assert asyncio.get_running_loop().time() - started < 30


async def test_a_stream_must_begin_in_time(server: ScriptedModel, chat: OpenAIChat) -> None:
    """A model that says nothing is given up long before a whole reply would be."""
    server.always("m", Fault("hang", seconds=30))
    started = asyncio.get_running_loop().time()
    with pytest.raises(ModelSilent):
        await collect(chat, ask(timeout=20, first_token=0.3))
    assert asyncio.get_running_loop().time() - started < 20


async def test_an_empty_first_event_begins_no_answer(server: ScriptedModel, chat: OpenAIChat) -> None:
    """Many servers open a stream with the role alone, before they have computed anything."""
    server.script("m", Fault("stall", text="", seconds=20))
    with pytest.raises(ModelSilent):
        await collect(chat, ask(timeout=20, first_token=0.3))


async def test_a_stream_that_has_begun_may_take_its_time(server: ScriptedModel, chat: OpenAIChat) -> None:
    """The limit is for the first piece only."""
    server.script("m", Fault("trickle", text="one two three four five six", seconds=1.2))
    pieces, final = await collect(chat, ask(timeout=20, first_token=0.6))
    assert final is not None
    assert "".join(pieces) == final.text == "one two three four five six"


async def test_closing_a_stream_ends_the_request(server: ScriptedModel, chat: OpenAIChat, ledger: Ledger) -> None:
    """The stop button: nothing more is read, and what was written until then is on the bill, by our own count."""
    server.script("m", "слово " * 1000)
    async with aclosing(chat.stream(ask())) as deltas:
        first = await anext(deltas)
    assert first.text
    ((_, reply, error, _),) = ledger.calls
    assert isinstance(reply, ChatReply)
    assert (reply.text, error) == (first.text.strip(), None)
    asked_tokens = sum(count_tokens(message.content) for message in ask().messages)
    assert reply.usage == Usage(asked_tokens, count_tokens(first.text), estimated=True)
    assert asked_tokens > 0
    server.script("m", "Дальше")
    assert (await chat.complete(ask())).text == "Дальше"


@pytest.mark.parametrize(
    ("refused", "accepted"),
    [(set(), "json_schema"), ({"json_schema"}, "json_object"), ({"json_schema", "json_object"}, None)],
)
async def test_structured_output_falls_back_and_remembers(
    server: ScriptedModel, chat: OpenAIChat, ledger: Ledger, refused: set[str], accepted: str | None
) -> None:
    """json_schema, then json_object, then plain text; the second call goes straight to what worked."""
    server.refused_formats = refused
    server.always("m", {"people": []})
    for _ in range(2):
        assert (await chat.complete(ask(schema=SCHEMA))).text == '{"people": []}'
    assert len(server.requests) == len(refused) + 2
    assert server.requests[-1].body.get("response_format", {}).get("type") == accepted
    assert len(ledger.calls) == 2
    first = server.requests[0].body["response_format"]
    assert first["json_schema"] == {"name": "picks", "schema": SCHEMA.schema, "strict": False}


async def test_what_one_model_refuses_is_still_offered_to_another(server: ScriptedModel, chat: OpenAIChat) -> None:
    """The memory is per model."""
    server.script("small", Fault("status", status=400), *["{}"] * 2)
    server.always("large", "{}")
    await chat.complete(ask(schema=SCHEMA, model="small"))
    await chat.complete(ask(schema=SCHEMA, model="large"))
    formats = [asked.body["response_format"]["type"] for asked in server.requests]
    assert formats == ["json_schema", "json_object", "json_schema"]


async def test_a_refusal_in_an_error_body_leads_to_the_plainer_format_too(
    server: ScriptedModel, chat: OpenAIChat
) -> None:
    """Routers pass a provider's 400 on inside their own 200."""
    server.script("m", Fault("error_body", status=400), '{"people": []}')
    assert (await chat.complete(ask(schema=SCHEMA))).text == '{"people": []}'
    assert [asked.body["response_format"]["type"] for asked in server.requests] == ["json_schema", "json_object"]


async def test_a_blocked_request_is_not_asked_again_in_a_plainer_form(server: ScriptedModel, chat: OpenAIChat) -> None:
    """A safety block will not pass in another format, and each try counts against the owner."""
    server.always("m", Fault("status", status=400, body={"error": {"code": "content_filter", "message": "blocked"}}))
    with pytest.raises(ModelRefused):
        await chat.complete(ask(schema=SCHEMA))
    assert len(server.requests) == 1


async def test_newer_parameter_names_are_learned(server: ScriptedModel, chat: OpenAIChat) -> None:
    """Some models take max_completion_tokens only, no temperature and no effort."""
    complaints = [
        "Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens'.",
        "'temperature' must be 1",
        "reasoning_effort is not supported",
    ]
    server.script("m", *[Fault("status", status=400, body={"error": {"message": text}}) for text in complaints], "Да")
    assert (await chat.complete(replace(ask(), reasoning_effort="low"))).text == "Да"
    assert "reasoning_effort" not in server.requests[-1].body
    assert server.requests[0].body["reasoning_effort"] == "low"
    assert server.requests[-1].body["max_completion_tokens"] == 77
    assert "temperature" not in server.requests[-1].body
    assert "max_tokens" not in server.requests[-1].body


async def test_a_failed_reply_still_tells_what_it_cost(server: ScriptedModel, chat: OpenAIChat, ledger: Ledger) -> None:
    """A reply cut by its length was paid for."""
    server.script("m", Fault("truncated", text="раз два три"))
    with pytest.raises(ModelReplyTruncated):
        await chat.complete(ask())
    ((_, reply, error, _),) = ledger.calls
    assert reply is not None
    assert reply.usage.completion_tokens == 3
    assert isinstance(error, ModelReplyTruncated)


async def test_the_providers_own_price_is_read(server: ScriptedModel, chat: OpenAIChat) -> None:
    """Nonsense amounts count as nothing."""
    cached = {"prompt_tokens_details": {"cached_tokens": 8}}
    usages = [
        {"prompt_tokens": 10, "completion_tokens": 5, "cost": 0.0123, **cached},
        {"prompt_tokens": "x", "cost": -1, "prompt_tokens_details": {"cached_tokens": "all"}},
    ]
    server.script("m", *[raw_answer({"content": "да"}, usage=usage) for usage in usages])
    assert (await chat.complete(ask())).usage == Usage(10, 5, 0.0123, cached_tokens=8)
    assert (await chat.complete(ask())).usage == Usage()


@pytest.mark.parametrize("streaming", [False, True])
async def test_no_key_is_ever_told(server: ScriptedModel, caplog: pytest.LogCaptureFixture, streaming: bool) -> None:
    """Not in errors, their causes or contexts, reprs or logs, even when the provider quotes it."""
    caplog.set_level(logging.DEBUG)
    quoting = Fault("status", status=401, body={"error": {"message": f"Incorrect API key provided: {KEY}"}})
    server.script("m", quoting, Fault("reset"), Fault("reset"), Fault("reset"), Fault("hang"))
    chat = OpenAIChat(server.url, KEY)
    told = [repr(chat), repr(vars(chat))]
    for _ in range(3):
        with pytest.raises(ModelError) as caught:
            await (collect(chat, ask(timeout=0.9)) if streaming else chat.complete(ask(timeout=0.9)))
        error: BaseException | None = caught.value
        while error is not None:
            told += [str(error), repr(error), repr(vars(error))]
            error = error.__cause__ or error.__context__
    await chat.aclose()
    assert KEY not in "\n".join(told)
    assert KEY not in caplog.text


@pytest.mark.parametrize("streaming", [False, True])
async def test_a_key_quoted_in_a_good_answer_is_hidden_as_well(server: ScriptedModel, streaming: bool) -> None:
    """An error inside HTTP 200, the words of a refusal, the reply itself: all of it ends up in rows and logs."""
    error = {"error": {"message": f"{KEY} has no credit", "type": "insufficient_quota"}}
    server.script(
        "m", Fault("status", status=200, body=error), Fault("refusal", text=f"not for {KEY}"), f"It is {KEY}!"
    )
    chat = OpenAIChat(server.url, KEY)
    for _ in range(2):
        with pytest.raises(ModelError, match=r"\[key\]") as caught:
            await (collect(chat, ask()) if streaming else chat.complete(ask()))
        assert KEY not in str(caught.value)
    if not streaming:
        assert (await chat.complete(ask())).text == "It is [key]!"
    await chat.aclose()


async def test_a_made_up_key_stays_a_word_of_the_reply(server: ScriptedModel) -> None:
    """Servers without keys are given any word, and their replies may hold it."""
    server.always("m", "An example: ollama runs at x.")
    for key in ("x", "ollama"):
        chat = OpenAIChat(server.url, key)
        assert (await chat.complete(ask())).text == "An example: ollama runs at x."
        await chat.aclose()


def test_an_unusable_key_or_address_is_a_configuration_error_that_does_not_quote_it() -> None:
    """A key with a line break, an address without a scheme, a key in the address."""
    for url, key in [
        ("http://localhost/v1", "sk-secret\nx"),
        ("http://localhost/v1", "ключ-secret"),
        ("localhost-secret:11434", ""),
        ("ftp://secret/v1", ""),
        ("http://localhost/v1?key=secret", ""),
    ]:
        with pytest.raises(ConfigurationError) as caught:
            OpenAIChat(url, key)
        assert "secret" not in str(caught.value)


async def test_a_password_in_the_address_is_used_and_not_shown(
    server: ScriptedModel, caplog: pytest.LogCaptureFixture
) -> None:
    """Servers behind basic authentication."""
    caplog.set_level(logging.INFO)
    chat = OpenAIChat(server.url.replace("127.0.0.1", "anna:hidden-word@127.0.0.1"))
    server.script("m", "Да", Fault("status", status=403, body={"error": "hidden-word is wrong"}))
    await chat.complete(ask())
    assert server.requests[0].headers["Authorization"].startswith("Basic ")
    with pytest.raises(ModelAccessDenied, match=r"\[key\] is wrong"):
        await chat.complete(ask())
    await chat.aclose()
    assert "hidden-word" not in caplog.text


async def test_the_switch_keeps_tests_from_real_providers(
    server: ScriptedModel, chat: OpenAIChat, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With it off only this machine is reached."""
    monkeypatch.setattr(transport, "ALLOW_MODEL_REQUESTS", False)
    server.script("m", "Да")
    assert (await chat.complete(ask())).text == "Да"
    real = OpenAIChat("https://model.invalid/v1", KEY)
    with pytest.raises(transport.ModelRequestsForbidden):
        await real.complete(ask())
    await real.aclose()


async def test_a_proxy_of_the_environment_is_used_except_for_what_it_leaves_out(
    server: ScriptedModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    """For other machines, also where its address has no scheme."""
    monkeypatch.setattr(transport, "ALLOW_MODEL_REQUESTS", True)
    monkeypatch.setenv("all_proxy", f"127.0.0.1:{server.port}")
    monkeypatch.setenv("no_proxy", "direct.invalid")
    server.script("m", "Да")
    for host in ("model.invalid", "direct.invalid"):
        chat = OpenAIChat(f"http://{host}/v1")
        if host == "direct.invalid":
            with pytest.raises(ModelUnavailable, match="cannot be reached"):
                await chat.complete(ask())
        else:
            assert (await chat.complete(ask())).text == "Да"
        await chat.aclose()
    assert len(server.requests) == 1


async def test_calls_run_side_by_side(server: ScriptedModel, chat: OpenAIChat) -> None:
    """Ten slow calls take as long as one."""
    server.always("m", Fault("slow", text="Да", seconds=1))
    started = asyncio.get_running_loop().time()
    replies = await asyncio.gather(*[chat.complete(ask(str(number))) for number in range(10)])
    assert {reply.text for reply in replies} == {"Да"}
    assert asyncio.get_running_loop().time() - started < 10
