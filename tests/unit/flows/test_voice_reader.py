"""A long voice message is heard part by part, and what was heard is not heard again."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from internal.artifacts.model import Artifact, ArtifactState, Received, UnreadableFile
from internal.errors import ModelContextExceeded, ModelRefused, ModelUnavailable
from internal.flows.artifacts.voice import PART_S, VoiceReader

AT = datetime(2026, 11, 23, tzinfo=UTC)


def page(position: int, body: bytes) -> bytes:
    return b"OggS\0\0" + position.to_bytes(8, "little") + b"\0" * 12 + bytes([1, len(body)]) + body


LONG = (
    page(0, b"OpusHead")
    + page(0, b"OpusTags")
    + b"".join(page(n * (PART_S + 1) * 48_000, b"%d" % n) for n in (1, 2, 3))
)


def received(content: bytes, seen: list[tuple[int, int]]) -> Received:
    async def progress(part: int, whole: int) -> None:
        seen.append((part, whole))

    values: dict[str, Any] = dict.fromkeys(("sha256", "pages", "reason", "bot_id", "size"))
    place = {"user_id": 7, "id": "a", "kind": "voice", "name": "voice", "mime": "audio/ogg", "message_id": "m"}
    artifact = Artifact(**values, **place, state=ArtifactState.DUE, attempts=1, file_id="f", added_at=AT)
    return Received(artifact, content, "uk", "", progress)


class Ear:
    """A transcriber with a script: a text, or an error to raise."""

    def __init__(self, *script: str | Exception) -> None:
        self.script = list(script)

    async def __call__(self, received: Received, sound: bytes) -> str:
        said = self.script.pop(0)
        if isinstance(said, Exception):
            raise said
        return said


async def test_parts_are_heard_in_order_and_once() -> None:
    """Progress is shown for each; after a failure the next attempt goes on with the part that failed."""
    ear, seen = Ear("Перше.", ModelUnavailable(), "Друге.", "Третє."), list[tuple[int, int]]()
    reader = VoiceReader(ear, timedelta(seconds=5))
    with pytest.raises(ModelUnavailable):
        await reader.read(received(LONG, seen))
    assert (await reader.read(received(LONG, seen))).text == "Перше. Друге. Третє."
    assert seen == [(1, 3), (2, 3), (2, 3), (3, 3)]
    assert ear.script == []


@pytest.mark.parametrize(
    ("answer", "reason"), [("", "empty"), (ModelContextExceeded(), "large"), (ModelRefused(), "refused")]
)
async def test_what_cannot_be_heard_has_its_reason(answer: str | Exception, reason: str) -> None:
    """Silence, a sound that is too large and one that the server does not take are told apart; a short one is whole."""
    seen: list[tuple[int, int]] = []
    with pytest.raises(UnreadableFile) as refused:
        await VoiceReader(Ear(answer), timedelta(seconds=5)).read(received(b"OggS", seen))
    assert (refused.value.reason, seen) == (reason, [])
