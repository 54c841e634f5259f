"""Long voice messages are cut between the pages of their file, and each part is a whole file."""

from __future__ import annotations

import pytest

from internal.artifacts.media.ogg import parts

SECOND = 48_000


def page(number: int, position: int, body: bytes, flags: int = 0) -> bytes:
    head = b"OggS" + bytes([0, flags]) + position.to_bytes(8, "little") + b"\0" * 4
    return head + number.to_bytes(4, "little") + b"\0" * 4 + bytes([1, len(body)]) + body


HEAD = page(0, 0, b"OpusHead") + page(1, 0, b"OpusTags")


def recording(seconds: int, continued: tuple[int, ...] = ()) -> bytes:
    """A file with a page for each second."""
    pages = (page(n + 1, n * SECOND, b"%d" % n, int(n in continued)) for n in range(1, seconds + 1))
    return HEAD + b"".join(pages)


def test_a_long_one_is_cut() -> None:
    """Every part begins with the head, none is longer than asked for, and nothing is lost."""
    whole = recording(25)
    cut = parts(whole, 10)
    assert len(cut) == 3
    assert all(part.startswith(HEAD) for part in cut)
    assert HEAD + b"".join(part.removeprefix(HEAD) for part in cut) == whole


def test_no_packet_is_torn() -> None:
    """A page that goes on with the packet of the one before stays with it."""
    first, second = parts(recording(12, continued=(11,)), 10)
    assert first == recording(11, continued=(11,))
    assert second.endswith(b"12")


@pytest.mark.parametrize("sound", [b"", b"ID3 an mp3", HEAD, recording(9), recording(25) + b"rubbish"])
def test_what_is_short_or_no_voice_stays_whole(sound: bytes) -> None:
    """A sound of another kind goes to the server as it is."""
    assert parts(sound, 10) == [sound]
