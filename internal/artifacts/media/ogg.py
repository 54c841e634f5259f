"""Cuts a voice message into shorter ones between the pages of its Ogg file (RFC 3533, RFC 7845), without decoding."""

from collections.abc import Iterator
from typing import Final, NamedTuple

_HEAD: Final = 27
_RATE: Final = 48_000
"""Samples in a second: positions in Opus always count 48,000, also for other recordings."""
_CONTINUED: Final = 1


class _Page(NamedTuple):
    data: bytes
    position: int
    continued: bool


def parts(sound: bytes, seconds: int) -> list[bytes]:
    """Cuts the sound into parts of about `seconds`; one part if it is shorter, or no Ogg file with Opus."""
    pages = list(_pages(sound))
    if len(pages) < 3 or b"OpusHead" not in pages[0].data or sum(len(page.data) for page in pages) != len(sound):
        return [sound]
    head = b"".join(page.data for page in pages[:2])
    found, until = [bytearray(head)], seconds * _RATE
    for page in pages[2:]:
        if page.position > until and not page.continued and len(found[-1]) > len(head):
            found.append(bytearray(head))
            until = page.position + seconds * _RATE
        found[-1] += page.data
    return [bytes(one) for one in found]


def _pages(sound: bytes) -> Iterator[_Page]:
    offset = 0
    while sound[offset : offset + 4] == b"OggS" and offset + _HEAD <= len(sound):
        lengths = sound[offset + _HEAD : offset + _HEAD + sound[offset + _HEAD - 1]]
        end = offset + _HEAD + len(lengths) + sum(lengths)
        position = int.from_bytes(sound[offset + 6 : offset + 14], "little", signed=True)
        yield _Page(sound[offset:end], position, bool(sound[offset + 5] & _CONTINUED))
        offset = end
