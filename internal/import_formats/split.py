"""Splits a stream of messages into episodes, each short enough for one slice of the archivist."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import timedelta

from internal.import_formats.model import split_reply
from internal.knowledge.model import Segment
from internal.language.text.passages import passages

GAP = timedelta(hours=6)
"""A longer silence ends a conversation: a night's sleep, not a working day."""

MAX_MESSAGES = 60
"""Messages of one episode; source: "Meanings, Fragment and session" in the architecture."""

MAX_CHARACTERS = 20_000
"""Characters of one episode, some 7,000 tokens: with long messages a slice has fewer of them."""

MAX_SEGMENT_CHARACTERS = 4_096
"""Characters of one segment, as many as a Telegram message has; a longer one becomes several."""


def conversations(messages: Iterable[Segment], gap: timedelta = GAP) -> Iterator[tuple[Segment, ...]]:
    """Yields the episodes of a chat: split at silences longer than `gap`, and before they grow too long.

    A conversation that is too long is split at the longest silence of its second half.
    """
    current: list[Segment] = []
    size = 0
    for message in _in_passages(messages):
        added = len(message.text or "")
        if current and abs(message.at - current[-1].at) > gap:
            yield numbered(current)
            current, size = [], 0
        while current and (len(current) == MAX_MESSAGES or size + added > MAX_CHARACTERS):
            cut = _split_point(current, message)
            yield numbered(current[:cut])
            current = current[cut:]
            size = sum(len(segment.text or "") for segment in current)
        current.append(message)
        size += added
    if current:
        yield numbered(current)


def numbered(messages: Sequence[Segment]) -> tuple[Segment, ...]:
    """The messages as segments 1, 2, 3 ... of an episode."""
    return tuple(replace(message, n=n) for n, message in enumerate(messages, start=1))


def _split_point(messages: Sequence[Segment], following: Segment) -> int:
    """How many of the messages come before the longest silence of their second half."""
    next_messages = [*messages[1:], following]
    half = len(messages) // 2
    silences = [(next_messages[i].at - messages[i].at, i) for i in range(half, len(messages))]
    return max(silences)[1] + 1


def _in_passages(messages: Iterable[Segment]) -> Iterator[Segment]:
    for message in messages:
        # The reply note is not split with the text: the same words would split differently in another export.
        reply_note, text = split_reply(message.text or "")
        if len(text) <= MAX_SEGMENT_CHARACTERS:
            yield message
            continue
        for number, passage in enumerate(passages(text), start=1):
            passage_text = f"{reply_note} {passage}" if reply_note and number == 1 else passage
            yield replace(message, text=passage_text, key=message.key if number == 1 else f"{message.key}/{number}")
