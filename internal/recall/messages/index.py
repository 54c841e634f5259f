"""One owner's messages in memory: who said what when, beside what, by words and by meaning."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from internal.recall.index.bm25 import LexicalIndex
from internal.recall.index.quantise import quantise
from internal.recall.index.vector_rows import FIRST_ROWS
from internal.recall.messages.rows import GAP, NOBODY, MessageRows, Numbers, by_session, lengths_of
from internal.storage.vectors import Vector

OWNER: Final = 0
BOT: Final = 1
"""The senders that are always there; forwarded people follow."""

_GAP: Final = GAP // (GAP.resolution)
_GROWTH: Final = 1.5
_BATCH: Final = 4_096
"""Messages whose vectors wait as numbers while many are loaded."""

_MESSAGE_BYTES: Final = 250
"""About what one message takes besides its numbers: its id and the places where it is looked up."""

_COLUMNS: Final[dict[str, Any]] = {
    "seq": np.int64,
    "moment": np.int64,
    "sender": np.int32,
    "assistant": np.bool_,
    "traits": np.int32,
    "lane": np.int32,
    "previous": np.int32,
    "following": np.int32,
    "session": np.int32,
    "rarity": np.float32,
    "scales": np.float32,
}


@dataclass(frozen=True, slots=True)
class MessageRow:
    """A message that may be found. `terms` are those of its current text; until it has them, `text` is that text.

    `moment` is in microseconds; `name` is whose words a forwarded message holds.
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


class MessageIndex:
    """Everything that was said. A row is a document of the words: a changed text gets a new one. Not thread-safe."""

    def __init__(self, dimensions: int, seq: int = 0) -> None:
        """`seq` is the place in the change log up to which this is right; `commits` as in ItemIndex."""
        self.seq = seq
        self.commits = -1
        self.unread: dict[str, str] = {}
        self.senders: list[str] = ["", ""]
        """Names by number; the bot has none, the owner that of his account."""
        self.sender_terms: dict[int, frozenset[str]] = {}
        """What the senders' names are found by, as far as it was asked for."""
        self._sender_numbers: dict[str, int] = {}
        self._words = LexicalIndex()
        self._columns: dict[str, NDArray[Any]] = {name: np.zeros(FIRST_ROWS, kind) for name, kind in _COLUMNS.items()}
        self._vectors: NDArray[np.int8] = np.zeros((FIRST_ROWS, dimensions), dtype=np.int8)
        self._row_of: dict[str, int] = {}
        self._terms: dict[str, int] = {}
        self._lanes: dict[tuple[int | None, int | None], int] = {}
        self._last: dict[int, int] = {}
        self._newest = -1
        self._sessions = 0
        self._in_line = True
        self._rows: MessageRows | None = None

    @classmethod
    def load(cls, dimensions: int, seq: int, found: Iterable[MessageRow]) -> MessageIndex:
        """An index of all these."""
        index = cls(dimensions, seq)
        batch: list[MessageRow] = []
        stored: list[str] = []
        for message in found:
            batch.append(message)
            stored.append(message.terms or "")
            if len(batch) == _BATCH:
                index._append(batch)
                batch = []
        index._append(batch)
        index._words = LexicalIndex.of(stored)
        index._columns["rarity"][: len(stored)] = index._words.mean_idfs()
        index._in_line = False
        return index

    def __len__(self) -> int:
        return len(self._row_of)

    @property
    def nbytes(self) -> int:
        arrays = sum(column.nbytes for column in self._columns.values()) + self._vectors.nbytes
        derived = 0 if self._rows is None else 7 * 4 * self._words.size
        return arrays + derived + self._words.nbytes + len(self._row_of) * _MESSAGE_BYTES

    def row_of(self, ref_id: str) -> int | None:
        """The row of a message; None if it may not be found."""
        return self._row_of.get(ref_id)

    @property
    def ready(self) -> bool:
        """Whether `rows` costs nothing."""
        return self._rows is not None

    def rows(self) -> MessageRows:
        """The arrays as they are now, valid until the next change; the first call after one costs some milliseconds."""
        if self._rows is None:
            self._tidy()
            if not self._in_line:
                self._relink()
            self._rows = self._view()
        return self._rows

    def rename(self, sender: int, name: str) -> None:
        """Takes over what a sender is called."""
        if self.senders[sender] != name:
            self.senders[sender] = name
            self.sender_terms.pop(sender, None)

    def follow(self, touched: Iterable[str], current: Sequence[MessageRow]) -> None:
        """Takes over what became of those that were touched; those not among `current` are found no more."""
        there = {message.ref_id for message in current}
        for ref_id in touched:
            if ref_id not in there:
                self._drop(ref_id)
        for message in current:
            self._put(message)

    def read(self, terms: dict[str, str]) -> None:
        """Takes over the terms of texts that had none stored yet."""
        for ref_id, found in terms.items():
            if self.unread.pop(ref_id, None) is not None and ref_id in self._row_of:
                self._replace(ref_id, found)

    def _put(self, message: MessageRow) -> None:
        self._rows = None
        if message.terms is None:
            self.unread[message.ref_id] = message.text or ""
        else:
            self.unread.pop(message.ref_id, None)
        row = self._row_of.get(message.ref_id)
        terms = message.terms or ""
        if row is None:
            row = self._new_row(message.ref_id, terms)
            self._fill(row, message)
            self._link(row)
            return
        if message.terms is not None and hash(terms) != self._terms[message.ref_id]:
            row = self._replace(message.ref_id, terms)
        moved = (self._columns["seq"][row], self._columns["moment"][row], self._columns["lane"][row])
        self._fill(row, message)
        if moved != (self._columns["seq"][row], self._columns["moment"][row], self._columns["lane"][row]):
            self._in_line = False

    def _drop(self, ref_id: str) -> None:
        row = self._row_of.pop(ref_id, None)
        if row is None:
            return
        self._rows, self._in_line = None, False
        self._words.drop(row)
        self._vectors[row] = 0
        del self._terms[ref_id]
        self.unread.pop(ref_id, None)

    def _replace(self, ref_id: str, terms: str) -> int:
        """Gives a message other words, in a row of its own that takes the place of the old one; that row."""
        self._rows = None
        old = self._row_of[ref_id]
        self._words.drop(old)
        row = self._new_row(ref_id, terms)
        for name, column in self._columns.items():
            if name != "rarity":
                column[row] = column[old]
        self._vectors[row] = self._vectors[old]
        self._vectors[old] = 0
        previous, following = self._columns["previous"], self._columns["following"]
        if previous[row] != NOBODY:
            following[previous[row]] = row
        if following[row] != NOBODY:
            previous[following[row]] = row
        lane = int(self._columns["lane"][row])
        if self._last.get(lane) == old:
            self._last[lane] = row
        return row

    def _new_row(self, ref_id: str, terms: str) -> int:
        row = self._words.put(terms)
        self._reserve(row + 1)
        self._columns["rarity"][row] = self._words.mean_idf(terms)
        self._row_of[ref_id] = row
        self._terms[ref_id] = hash(terms)
        return row

    def _fill(self, row: int, message: MessageRow) -> None:
        for name, value in self._values(message).items():
            self._columns[name][row] = value
        if message.vector is None:
            self._vectors[row], self._columns["scales"][row] = 0, 0
        else:
            codes, scales = quantise(message.vector[np.newaxis])
            self._vectors[row], self._columns["scales"][row] = codes[0], scales[0]

    def _append(self, batch: Sequence[MessageRow]) -> None:
        """Adds many at once, without words and unlinked."""
        if not batch:
            return
        first = len(self._row_of)
        self._reserve(first + len(batch))
        for row, message in enumerate(batch, first):
            self._row_of[message.ref_id] = row
            self._terms[message.ref_id] = hash(message.terms or "")
            if message.terms is None:
                self.unread[message.ref_id] = message.text or ""
        values = [self._values(message) for message in batch]
        for name in values[0]:
            self._columns[name][first : first + len(batch)] = [one[name] for one in values]
        embedded = [place for place, message in enumerate(batch) if message.vector is not None]
        if embedded:
            codes, scales = quantise(np.stack([vector for message in batch if (vector := message.vector) is not None]))
            rows = first + np.array(embedded)
            self._vectors[rows], self._columns["scales"][rows] = codes, scales

    def _values(self, message: MessageRow) -> dict[str, int]:
        return {
            "seq": message.seq,
            "moment": message.moment,
            "sender": self._sender(message),
            "assistant": message.assistant,
            "traits": message.traits,
            "lane": self._lanes.setdefault(message.lane, len(self._lanes)),
        }

    def _sender(self, message: MessageRow) -> int:
        if message.assistant:
            return BOT
        if not message.name:
            return OWNER
        number = self._sender_numbers.get(message.name)
        if number is None:
            number = self._sender_numbers[message.name] = len(self.senders)
            self.senders.append(message.name)
        return number

    def _reserve(self, rows: int) -> None:
        held = len(self._vectors)
        if rows <= held:
            return
        spare = max(rows, int(held * _GROWTH)) - held
        for name, column in self._columns.items():
            self._columns[name] = np.concatenate((column, np.zeros(spare, dtype=column.dtype)))
        width = self._vectors.shape[1]
        self._vectors = np.concatenate((self._vectors, np.zeros((spare, width), dtype=np.int8)))

    def _link(self, row: int) -> None:
        """Puts a new message behind the last one of its lane; one that belongs further back has all linked anew."""
        columns = self._columns
        seq, lane = int(columns["seq"][row]), int(columns["lane"][row])
        columns["previous"][row] = columns["following"][row] = NOBODY
        if not self._in_line or seq < self._newest:
            self._in_line = False
            return
        self._newest = seq
        before = self._last.get(lane)
        self._last[lane] = row
        if before is not None and abs(int(columns["moment"][row]) - int(columns["moment"][before])) <= _GAP:
            columns["previous"][row], columns["following"][before] = before, row
            columns["session"][row] = columns["session"][before]
        else:
            columns["session"][row] = self._sessions
            self._sessions += 1

    def _relink(self) -> None:
        columns, size = self._columns, self._words.size
        alive = np.flatnonzero(self._words.alive)
        order = alive[np.lexsort((columns["seq"][alive], columns["lane"][alive]))].astype(np.int32)
        lane, moment = columns["lane"][order], columns["moment"][order]
        near = (lane[1:] == lane[:-1]) & (np.abs(np.diff(moment)) <= _GAP)
        columns["previous"][:size] = columns["following"][:size] = NOBODY
        columns["previous"][order[1:][near]] = order[:-1][near]
        columns["following"][order[:-1][near]] = order[1:][near]
        columns["session"][:size] = 0
        columns["session"][order[1:]] = np.cumsum(~near)
        self._sessions = int(np.count_nonzero(~near)) + 1 if len(order) else 0
        self._newest = int(columns["seq"][order].max(initial=-1))
        self._last = {int(columns["lane"][row]): int(row) for row in order[_ends(lane)]}
        self._in_line = True

    def _view(self) -> MessageRows:
        size = self._words.size
        shown: dict[str, NDArray[Any]] = {name: column[:size] for name, column in self._columns.items()}
        del shown["lane"]
        previous, following, session = shown["previous"], shown["following"], shown["session"]
        sessions = max(1, self._sessions)
        order, starts, begun = by_session(self._words.alive, session)
        return MessageRows(
            words=self._words,
            sessions=sessions,
            vectors=self._vectors[:size],
            lengths=lengths_of(self._words, previous, following, session, sessions),
            order=order,
            starts=starts,
            begun=begun,
            **shown,
        )

    def _tidy(self) -> None:
        if not self._words.needs_compaction:
            return
        size = self._words.size
        renumbered = padded_links(self._words.compact())
        kept = np.flatnonzero(renumbered[:size] != NOBODY)
        for name, column in self._columns.items():
            column[: len(kept)] = column[kept]
            if name in ("previous", "following"):
                column[: len(kept)] = renumbered[column[: len(kept)]]
        self._vectors[: len(kept)] = self._vectors[kept]
        self._vectors[len(kept) : size] = 0
        self._columns["rarity"][: len(kept)] = self._words.mean_idfs()
        self._row_of = {ref_id: int(renumbered[row]) for ref_id, row in self._row_of.items()}
        self._in_line = False


def padded_links(renumbered: Numbers) -> Numbers:
    """New numbers by old ones, with one more place so that NOBODY stays NOBODY."""
    return np.concatenate((renumbered, np.array([NOBODY], dtype=np.int32)))


def _ends(lane: Numbers) -> NDArray[np.intp]:
    """Where the last message of each lane stands, in rows that are ordered by lane."""
    last = np.ones(len(lane), dtype=np.bool_)
    last[:-1] = lane[1:] != lane[:-1]
    return np.flatnonzero(last)
