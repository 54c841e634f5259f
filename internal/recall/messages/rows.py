"""The messages of one owner as arrays, as the features are computed from them."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from internal.recall.index.bm25 import K1, B, LexicalIndex

Floats = NDArray[np.float32]
Numbers = NDArray[np.int32]
Mask = NDArray[np.bool_]

GAP: Final = timedelta(hours=3)
"""A longer silence in a lane begins a new session there."""

NOBODY: Final = -1
"""The row of a neighbour that is not there: at this place every array of one value more than there are rows has 0."""


@dataclass(frozen=True, slots=True)
class MessageRows:
    """Messages by row, n of them, some of which may be gone (`words.alive`). Every array has the shape (n,).

    `moment` is in microseconds, `sender` a number of the index, `traits` the bits of
    `internal.language.search.message_traits`, `previous` and `following` the rows beside it in its
    session or NOBODY, `session` counts from 0, `rarity` is the mean idf of its words.
    `vectors` (n, dimensions) times `scales` are normalised; a scale of 0 means: none.
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
    rarity: Floats
    vectors: NDArray[np.int8]
    scales: Floats
    lengths: Lengths
    order: NDArray[np.int64]
    """The rows that are there, those of one session together."""
    starts: NDArray[np.int64]
    """Where in `order` each session begins; a session without rows is left out, see `begun`."""
    begun: Numbers
    """The sessions that have rows."""


@dataclass(frozen=True, slots=True)
class Lengths:
    """How many words there are in a message (`own`), and what BM25 divides by besides the count: K1 for a text of
    average length, more for a longer one. Texts are a message, it with the one before it, its window, and a session.

    All but the last have one value more than there are rows; sessions have the shape (sessions,).
    """

    own: Floats
    of_own: Floats
    of_context: Floats
    of_window: Floats
    of_session: Floats


def padded(values: NDArray[Any]) -> NDArray[Any]:
    """The values with a zero behind them, which stands for NOBODY."""
    return np.concatenate((values, np.zeros(1, dtype=values.dtype)))


def lengths_of(words: LexicalIndex, previous: Numbers, following: Numbers, session: Numbers, sessions: int) -> Lengths:
    """All lengths from those of the messages and how they stand beside each other."""
    own: Floats = padded(words.lengths)
    before, after = padded(previous), padded(following)
    before[NOBODY] = after[NOBODY] = NOBODY
    context = own + own[before]
    window = context + own[before[before]] + own[after]
    rows = max(1, len(words))
    session_lengths = np.bincount(session, own[:-1], minlength=sessions).astype(np.float32)
    held = max(1, int(np.count_nonzero(session_lengths)))

    def weights(lengths: Floats, whole: Floats, count: int) -> Floats:
        mean = max(float(whole.sum(dtype=np.float64)) / count, 1e-9)
        found: Floats = np.float32(K1 * (1 - B)) + np.float32(K1 * B / mean) * lengths
        return found

    alive = padded(words.alive)
    return Lengths(
        own,
        weights(own, own, rows),
        weights(context, context * alive, rows),
        weights(window, window * alive, rows),
        weights(session_lengths, session_lengths, held),
    )


def by_session(alive: Mask, session: Numbers) -> tuple[NDArray[np.int64], NDArray[np.int64], Numbers]:
    """`order`, `starts` and `begun` of MessageRows."""
    there = np.flatnonzero(alive)
    order = there[np.argsort(session[there], kind="stable")]
    of_order = session[order]
    first = np.ones(len(order), dtype=np.bool_)
    first[1:] = of_order[1:] != of_order[:-1]
    starts = np.flatnonzero(first)
    return order, starts, of_order[starts]
