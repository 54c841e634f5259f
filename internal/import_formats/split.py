"""A stream of messages is cut into episodes, each short enough for one slice of the archivist."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import timedelta

from internal.import_formats.model import answering
from internal.import_formats.passages import passages
from internal.knowledge.model import Segment

GAP = timedelta(hours=6)
"""A conversation that rests longer than this has ended: a night's sleep, not a working day."""

MOST = 60
"""Messages of one episode; source: "Meanings, Fragment and session" in the architecture."""

MOST_CHARACTERS = 20_000
"""Characters of one episode, some 7,000 tokens: long messages make a slice of fewer."""

LONGEST = 4_096
"""Characters of one segment, as many as a Telegram message has; a longer one becomes several."""


def conversations(messages: Iterable[Segment], gap: timedelta = GAP) -> Iterator[tuple[Segment, ...]]:
    """Episodes of a chat: cut where nobody wrote for longer than `gap`, and before they grow too long.

    A conversation that is too long is cut at the longest silence of its second half.
    """
    open_: list[Segment] = []
    size = 0
    for message in _in_passages(messages):
        added = len(message.text or "")
        if open_ and abs(message.at - open_[-1].at) > gap:
            yield numbered(open_)
            open_, size = [], 0
        while open_ and (len(open_) == MOST or size + added > MOST_CHARACTERS):
            cut = _quietest(open_, message)
            yield numbered(open_[:cut])
            open_ = open_[cut:]
            size = sum(len(left.text or "") for left in open_)
        open_.append(message)
        size += added
    if open_:
        yield numbered(open_)


def numbered(messages: Sequence[Segment]) -> tuple[Segment, ...]:
    """The messages as segments 1, 2, 3 ... of an episode."""
    return tuple(replace(message, n=n) for n, message in enumerate(messages, start=1))


def _quietest(messages: Sequence[Segment], following: Segment) -> int:
    """How many of the messages come before the longest silence of their second half."""
    after = [*messages[1:], following]
    half = len(messages) // 2
    silences = [(after[place].at - messages[place].at, place) for place in range(half, len(messages))]
    return max(silences)[1] + 1


def _in_passages(messages: Iterable[Segment]) -> Iterator[Segment]:
    for message in messages:
        # What it answers is no part of what is cut: or the same words would be other passages in another export.
        answered, text = answering(message.text or "")
        if len(text) <= LONGEST:
            yield message
            continue
        for number, passage in enumerate(passages(text), start=1):
            shown = f"{answered} {passage}" if answered and number == 1 else passage
            yield replace(message, text=shown, key=message.key if number == 1 else f"{message.key}/{number}")
