"""The messages of one owner as arrays, from which the features are computed."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from internal.recall.index.bm25 import K1, B, LexicalIndex
from internal.storage.vectors import Vector

Floats = NDArray[np.float32]
Numbers = NDArray[np.int32]
Mask = NDArray[np.bool_]

GAP: Final = timedelta(hours=3)
"""A longer silence in a lane starts a new session."""

OWNER: Final = 0
BOT: Final = 1
"""The senders that always exist; senders of forwarded messages follow."""

PASSAGE: Final = 30
"""Terms of a passage, some 60 words: a message of more than half as many again is several rows."""

_GROWTH: Final = 1.5

_SOME: Final = 500
"""Messages that tell what all of them mean: of all 100,000 the mean is hardly another."""

NOBODY: Final = -1
"""The row of a missing neighbour: at this index every array of length rows + 1 has 0."""


COLUMNS: Final[dict[str, Any]] = {
    "seq": np.int64,
    "moment": np.int64,
    "sender": np.int32,
    "assistant": np.bool_,
    "traits": np.int32,
    "lane": np.int32,
    "previous": np.int32,
    "following": np.int32,
    "session": np.int32,
    "mean_idf": np.float32,
    "slot": np.int32,
}
"""The numbers of a message, as they are kept."""


@dataclass(frozen=True, slots=True)
class MessageRow:
    """A searchable message. `terms` are those of its current text; until they are stored, `text` is that text.

    `moment` is in microseconds; `name` is the author of a forwarded message.
    """

    ref_id: str
    seq: int
    moment: int
    terms: str | None
    text: str | None
    vector: Vector | None
    lane: tuple[int | None, int | None] = (None, None)
    assistant: bool = False
    name: str | None = None
    traits: int = 0


@dataclass(frozen=True, slots=True)
class MessageRows:
    """n messages by row, some of which may be dropped (`words.alive`). Every array has shape (n,) unless noted.

    `moment` is in microseconds, `sender` a sender number, `traits` the bits of
    `internal.language.search.message_traits`, `previous` and `following` the neighbouring rows in the session or
    NOBODY, `session` counts from 0, `mean_idf` is that of the message's words. `slot` is the index of
    the message among `vectors` (messages, dimensions); times `scales` they are normalised, a scale of 0 is no vector.
    """

    words: LexicalIndex
    seq: NDArray[np.int64]
    moment: NDArray[np.int64]
    sender: Numbers
    assistant: Mask
    traits: Numbers
    previous: Numbers
    following: Numbers
    session: Numbers
    sessions: int
    mean_idf: Floats
    slot: Numbers
    vectors: NDArray[np.int8]
    scales: Floats
    common: Floats
    """What all messages mean: the mean of their vectors, shape (dimensions,)."""
    lengths: Lengths
    order: NDArray[np.int64]
    """The rows that were not dropped, sorted by session."""
    starts: NDArray[np.int64]
    """Where each session begins in `order`; sessions without rows are left out, see `begun`."""
    begun: Numbers
    """The sessions that have rows."""


@dataclass(frozen=True, slots=True)
class Lengths:
    """The number of words in each message (`own`), and the length weights of BM25: K1 for a text of average length,
    more for a longer one. Texts are a message, a message with the one before it, its window, and a session.

    All but the last have shape (rows + 1,); sessions have shape (sessions,).
    """

    own: Floats
    of_own: Floats
    of_context: Floats
    of_window: Floats
    of_session: Floats


def padded(values: NDArray[Any]) -> NDArray[Any]:
    """The values with a zero at the end, which stands for NOBODY."""
    return np.concatenate((values, np.zeros(1, dtype=values.dtype)))


def lengths_of(words: LexicalIndex, previous: Numbers, following: Numbers, session: Numbers, sessions: int) -> Lengths:
    """Computes all lengths from those of the messages and their neighbours."""
    own: Floats = padded(words.lengths)
    before, after = padded(previous), padded(following)
    before[NOBODY] = after[NOBODY] = NOBODY
    context = own + own[before]
    window = context + own[before[before]] + own[after]
    rows = max(1, len(words))
    session_lengths = np.bincount(session, own[:-1], minlength=sessions).astype(np.float32)
    nonempty_sessions = max(1, int(np.count_nonzero(session_lengths)))

    def weights(lengths: Floats, counted: Floats, count: int) -> Floats:
        mean = max(float(counted.sum(dtype=np.float64)) / count, 1e-9)
        result: Floats = np.float32(K1 * (1 - B)) + np.float32(K1 * B / mean) * lengths
        return result

    alive = padded(words.alive)
    return Lengths(
        own,
        weights(own, own, rows),
        weights(context, context * alive, rows),
        weights(window, window * alive, rows),
        weights(session_lengths, session_lengths, nonempty_sessions),
    )


def mean_vector(vectors: NDArray[np.int8], scales: Floats) -> Floats:
    """The mean of these coded vectors, judged by some of them; zeros without any."""
    embedded = np.flatnonzero(scales)
    some = embedded[:: max(1, len(embedded) // _SOME)]
    mean: Floats = (scales[some] / np.float32(max(1, len(some)))) @ vectors[some].astype(np.float32)
    return mean


def by_session(alive: Mask, session: Numbers) -> tuple[NDArray[np.int64], NDArray[np.int64], Numbers]:
    """`order`, `starts` and `begun` of MessageRows."""
    alive_rows = np.flatnonzero(alive)
    order = alive_rows[np.argsort(session[alive_rows], kind="stable")]
    of_order = session[order]
    first = np.ones(len(order), dtype=np.bool_)
    first[1:] = of_order[1:] != of_order[:-1]
    starts = np.flatnonzero(first)
    return order, starts, of_order[starts]


def grown(values: NDArray[Any], rows: int) -> NDArray[Any]:
    """The values with room for at least `rows`."""
    spare = max(rows, int(len(values) * _GROWTH)) - len(values)
    return np.concatenate((values, np.zeros((spare, *values.shape[1:]), dtype=values.dtype)))


def passages_of(terms: str) -> list[str]:
    """The terms of a message in parts of equal length, as near to PASSAGE as can be."""
    if terms.count(" ") < PASSAGE * 3 // 2:
        return [terms]
    words = terms.split()
    count = -(-len(words) // PASSAGE)
    bounds = [len(words) * n // count for n in range(count + 1)]
    return [" ".join(words[start:end]) for start, end in itertools.pairwise(bounds)]


def padded_links(renumbered: Numbers) -> Numbers:
    """New row numbers by old ones, with one more element so that NOBODY stays NOBODY."""
    return np.concatenate((renumbered, np.array([NOBODY], dtype=np.int32)))


def lane_ends(lane: Numbers) -> NDArray[np.intp]:
    """The positions of the last message of each lane, for rows ordered by lane."""
    is_last = np.ones(len(lane), dtype=np.bool_)
    is_last[:-1] = lane[1:] != lane[:-1]
    return np.flatnonzero(is_last)
