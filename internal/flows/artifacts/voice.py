"""Reads speech: voice messages, video messages and other sound."""

import asyncio
from collections.abc import Awaitable, Callable
from datetime import timedelta
from pathlib import Path
from typing import Final, Protocol

from internal.artifacts.media import ogg
from internal.artifacts.model import FileText, Part, Received, UnreadableFile
from internal.errors import ModelContextExceeded, ModelRefused
from internal.llm import whisper
from internal.llm.model import AudioRequest, ChatMessage

PART_S: Final = 300
"""Seconds of sound in one request: longer recordings are read in parts, so that a failed part costs little."""

AGENT: Final = "transcriber"

_ENDINGS: Final = {
    "audio/ogg": "ogg",
    "audio/webm": "webm",
    "audio/mpeg": "mp3",
    "audio/mp4": "m4a",
    "video/mp4": "mp4",
}
_MIMES: Final = {"voice": "audio/ogg", "video_note": "video/mp4", "audio": "audio/mpeg"}

Transcriber = Callable[[Received, bytes], Awaitable[str]]
"""Returns the words in a sound, which may be a part of the received one."""


class TranscriptServer(Protocol):
    async def transcribe(self, request: AudioRequest, sound: bytes, name: str, mime: str) -> str:
        """The words in a sound, or "" if there are none. Raises ModelError."""


class VoiceReader:
    """Reads recordings in parts with a file's timeout each; the next attempt does not repeat parts that were read."""

    kinds = frozenset(_MIMES)
    patience = timedelta(hours=1)

    def __init__(self, transcribe: Transcriber, of_part: timedelta) -> None:
        self._transcribe, self._of_part = transcribe, of_part
        self._read: dict[str, list[str]] = {}

    async def read(self, received: Received) -> FileText:
        """The transcript. Raises what `Reader.read` raises."""
        parts = ogg.parts(received.content, PART_S)
        texts = self._read.setdefault(received.artifact.id, [])
        try:
            for part in parts[len(texts) :]:
                if len(parts) > 1:
                    await received.progress(len(texts) + 1, len(parts))
                async with asyncio.timeout(self._of_part.total_seconds()):
                    texts.append(await self._transcribe(received, part))
        except ModelContextExceeded:
            raise UnreadableFile("large") from None
        except ModelRefused:
            raise UnreadableFile("refused") from None
        del self._read[received.artifact.id]
        text = " ".join(filter(None, texts))
        if not text:
            raise UnreadableFile("empty")
        return FileText([Part(text)], in_message=True)


def by_server(audio: TranscriptServer, model: str, limit: timedelta) -> Transcriber:
    """Transcribes with a model on a server."""

    async def transcribe(received: Received, sound: bytes) -> str:
        artifact = received.artifact
        mime = artifact.mime or _MIMES[artifact.kind]
        name = f"{artifact.kind}.{_ENDINGS.get(mime) or Path(artifact.name).suffix.lstrip('.') or 'ogg'}"
        # A receipt contains no sound, only its length.
        said = [ChatMessage("user", f"[{artifact.kind}] {mime}, {len(sound)} bytes")]
        request = AudioRequest(AGENT, model, limit.total_seconds() + 1, artifact.user_id, said)
        return await audio.transcribe(request, sound, name, mime)

    return transcribe


def by_local_model(folder: Path) -> Transcriber:
    """Transcribes with a model on this machine, one recording after another."""
    one = asyncio.Semaphore(1)

    async def transcribe(received: Received, sound: bytes) -> str:
        async with one:
            return await whisper.transcribe(folder, sound, received.lang)

    return transcribe
