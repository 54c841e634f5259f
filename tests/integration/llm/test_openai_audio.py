"""Transcripts and speech over the OpenAI wire format, against a real server that misbehaves on demand."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
from support.agents.model_servers import Ledger

from internal.errors import ModelContextExceeded, ModelError, ModelRefused, ModelReplyInvalid, ModelUnavailable
from internal.llm.audio import OpenAIAudio
from internal.llm.model import AudioReply, AudioRequest
from internal.testing import Fault, ScriptedModel

ASKED = AudioRequest("transcriber", "whisper", 5.0, 7)


@pytest.fixture
async def server() -> AsyncIterator[ScriptedModel]:
    async with ScriptedModel() as model:
        yield model


@pytest.fixture
def ledger() -> Ledger:
    return Ledger()


@pytest.fixture
async def audio(server: ScriptedModel, ledger: Ledger) -> AsyncIterator[OpenAIAudio]:
    audio = OpenAIAudio(server.url, "key", observers=[ledger])
    yield audio
    await audio.aclose()


async def test_a_sound_becomes_text(audio: OpenAIAudio, server: ScriptedModel, ledger: Ledger) -> None:
    """The file goes as a form with the model's name; the words come back, and observers hear of the call."""
    server.script("whisper", " Завтра о десятій. ")
    assert await audio.transcribe(ASKED, b"sound", "voice.ogg", "audio/ogg") == "Завтра о десятій."
    (asked,) = server.asked("whisper")
    assert asked.path == "/v1/audio/transcriptions"
    assert asked.body["file"] == {"name": "voice.ogg", "mime": "audio/ogg", "size": 5}
    assert asked.headers["Authorization"] == "Bearer key"
    ((request, reply, error, _),) = ledger.calls
    assert (request, error) == (ASKED, None)
    assert isinstance(reply, AudioReply)
    assert reply.text == "Завтра о десятій."


@pytest.mark.parametrize(
    ("fault", "kind"),
    [
        (Fault("status", 500), ModelUnavailable),
        (Fault("status", 413), ModelContextExceeded),
        (Fault("status", 415), ModelRefused),
        (Fault("malformed"), ModelReplyInvalid),
        (Fault("error_body", 503), ModelUnavailable),
        (Fault("hang"), ModelUnavailable),
    ],
)
async def test_failures_have_their_kind(
    audio: OpenAIAudio, server: ScriptedModel, ledger: Ledger, fault: Fault, kind: type[ModelError]
) -> None:
    """An outage is told from what will never succeed."""
    server.script("whisper", fault)
    with pytest.raises(kind):
        await audio.transcribe(AudioRequest("transcriber", "whisper", 0.3), b"sound", "voice.ogg", "audio/ogg")
    assert isinstance(ledger.calls[0][2], kind)


async def test_text_becomes_speech(audio: OpenAIAudio, server: ScriptedModel) -> None:
    """The words go with model and voice, and what Telegram plays as a voice comes back; anything else is no speech."""
    assert (await audio.speak(ASKED, "Добрий день", "alloy")).startswith(b"OggS")
    (asked,) = server.asked("whisper")
    assert asked.body == {"model": "whisper", "input": "Добрий день", "voice": "alloy", "response_format": "opus"}
    server.script("whisper", Fault("status", status=200, body="ID3 sound"))
    assert await audio.speak(ASKED, "Добрий день", "alloy") == b"ID3 sound"
    for wrong in ("RIFF....WAVE", "{}", ""):
        server.script("whisper", Fault("status", status=200, body=wrong))
        with pytest.raises(ModelReplyInvalid):
            await audio.speak(ASKED, "Добрий день", "alloy")
