"""Converts sound to text and text to sound in the OpenAI wire format."""

import asyncio
import re
from collections.abc import Sequence
from typing import Any, Final

import aiohttp

from internal.errors import ModelReplyInvalid
from internal.llm.failures import from_error_object
from internal.llm.model import AudioReply, AudioRequest, CallObserver
from internal.llm.openai import observed
from internal.llm.transport import Endpoint, FormBody
from internal.llm.wire import read_json, read_usage

TRANSCRIPTIONS_PATH: Final = "audio/transcriptions"
SPEECH_PATH: Final = "audio/speech"

_VOICE: Final = re.compile(rb"OggS|ID3|\xff[\xe2-\xff]|....ftyp", re.DOTALL)
"""Ogg, MP3 and M4A, which Telegram accepts as voice messages. Some servers always return MP3."""


class OpenAIAudio:
    """Transcription and speech on one server. Close it with `aclose`."""

    def __init__(self, base_url: str, api_key: str = "", *, observers: Sequence[CallObserver] = ()) -> None:
        """Raises ConfigurationError if the address or the key cannot be used."""
        self._endpoint = Endpoint(base_url, api_key)
        self._observers = tuple(observers)

    async def aclose(self) -> None:
        await self._endpoint.aclose()

    async def transcribe(self, request: AudioRequest, sound: bytes, name: str, mime: str) -> str:
        """The words in a sound; "" if there are none. Raises ModelError like a ChatModel."""
        fields = aiohttp.FormData()
        fields.add_field("file", sound, filename=name, content_type=mime)
        fields.add_field("model", request.model)
        payload = fields()
        form = FormBody(await payload.as_bytes(), str(payload.headers["Content-Type"]))
        with observed(request, self._observers) as call:
            answer = read_json(await self._endpoint.post(TRANSCRIPTIONS_PATH, form, _deadline(request)))
            if answer.get("error"):
                raise self._endpoint.without_secrets(from_error_object(answer["error"], request.model))
            text = answer.get("text")
            if not isinstance(text, str):
                raise ModelReplyInvalid("the transcript has no text")
            call.reply = AudioReply(request.model, read_usage(_counted(answer.get("usage"))), text.strip())
            return text.strip()

    async def speak(self, request: AudioRequest, text: str, voice: str) -> bytes:
        """Speaks a text as a sound that Telegram accepts as a voice message, at best Ogg Opus. Raises ModelError."""
        body = {"model": request.model, "input": text, "voice": voice, "response_format": "opus"}
        with observed(request, self._observers) as call:
            sound = await self._endpoint.post(SPEECH_PATH, body, _deadline(request))
            if not _VOICE.match(sound):
                raise ModelReplyInvalid("the speech is neither Ogg nor MP3 nor M4A")
            call.reply = AudioReply(request.model)
            return sound


def _deadline(request: AudioRequest) -> float:
    return asyncio.get_running_loop().time() + request.timeout


def _counted(usage: Any) -> dict[str, Any]:
    """The usage of an audio call with the keys of a chat's."""
    known = usage if isinstance(usage, dict) else {}
    return {"prompt_tokens": known.get("input_tokens"), "completion_tokens": known.get("output_tokens")} | known
