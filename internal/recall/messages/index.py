"""One owner's messages in memory: sender, time and neighbours, searchable by words and by meaning."""

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
"""The senders that always exist; senders of forwarded messages follow."""

_GAP: Final = GAP // (GAP.resolution)
_GROWTH: Final = 1.5
_LOAD_BATCH: Final = 4_096
"""Messages quantised at once while an index is loaded."""

_MESSAGE_BYTES: Final = 250
"""Approximate memory of one message besides its numbers: its id and lookup tables."""

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
    "mean_idf": np.float32,
    "scales": np.float32,
}


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


class MessageIndex:
    """All messages of an owner. A row is a document: a changed text gets a new row. Not thread-safe."""

    def __init__(self, dimensions: int, seq: int = 0) -> None:
        """`seq` is the change log position up to which the index is current; `commits` as in ItemIndex."""
        self.seq = seq
        self.commits = -1
        self.unanalysed: dict[str, str] = {}
        self.senders: list[str] = ["", ""]
        """Names by number; the bot has none, the owner that of the account."""
        self.sender_terms: dict[int, frozenset[str]] = {}
        """The terms of the senders' names, as far as they were requested."""
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
        self._linked = True
        self._rows: MessageRows | None = None

    @classmethod
    def load(cls, dimensions: int, seq: int, messages: Iterable[MessageRow]) -> MessageIndex:
        """Builds an index of all these messages."""
        index = cls(dimensions, seq)
        batch: list[MessageRow] = []
        all_terms: list[str] = []
        for message in messages:
            batch.append(message)
            all_terms.append(message.terms or "")
            if len(batch) == _LOAD_BATCH:
                index._append(batch)
                batch = []
        index._append(batch)
        index._words = LexicalIndex.of(all_terms)
        index._columns["mean_idf"][: len(all_terms)] = index._words.mean_idfs()
        index._linked = False
        return index

    def __len__(self) -> int:
        return len(self._row_of)

    @property
    def nbytes(self) -> int:
        arrays = sum(column.nbytes for column in self._columns.values()) + self._vectors.nbytes
        derived = 0 if self._rows is None else 7 * 4 * self._words.size
        return arrays + derived + self._words.nbytes + len(self._row_of) * _MESSAGE_BYTES

    def row_of(self, ref_id: str) -> int | None:
        """The row of a message, or None if it is not in the index."""
        return self._row_of.get(ref_id)

    @property
    def ready(self) -> bool:
        """Whether `rows` returns at once."""
        return self._rows is not None

    def rows(self) -> MessageRows:
        """The arrays, valid until the next change; the first call after a change costs some milliseconds."""
        if self._rows is None:
            self._compact()
            if not self._linked:
                self._relink()
            self._rows = self._make_rows()
        return self._rows

    def rename(self, sender: int, name: str) -> None:
        """Sets the name of a sender."""
        if self.senders[sender] != name:
            self.senders[sender] = name
            self.sender_terms.pop(sender, None)

    def apply_changes(self, touched: Iterable[str], current: Sequence[MessageRow]) -> None:
        """Applies changes: `touched` ids that are not among `current` are removed, the others replaced."""
        visible = {message.ref_id for message in current}
        for ref_id in touched:
            if ref_id not in visible:
                self._drop(ref_id)
        for message in current:
            self._put(message)

    def set_terms(self, terms: dict[str, str]) -> None:
        """Sets the terms of texts whose terms were not stored yet."""
        for ref_id, message_terms in terms.items():
            if self.unanalysed.pop(ref_id, None) is not None and ref_id in self._row_of:
                self._replace(ref_id, message_terms)

    def _put(self, message: MessageRow) -> None:
        self._rows = None
        if message.terms is None:
            self.unanalysed[message.ref_id] = message.text or ""
        else:
            self.unanalysed.pop(message.ref_id, None)
        row = self._row_of.get(message.ref_id)
        terms = message.terms or ""
        if row is None:
            row = self._new_row(message.ref_id, terms)
            self._fill(row, message)
            self._link(row)
            return
        if message.terms is not None and hash(terms) != self._terms[message.ref_id]:
            row = self._replace(message.ref_id, terms)
        position_before = (self._columns["seq"][row], self._columns["moment"][row], self._columns["lane"][row])
        self._fill(row, message)
        if position_before != (self._columns["seq"][row], self._columns["moment"][row], self._columns["lane"][row]):
            self._linked = False

    def _drop(self, ref_id: str) -> None:
        row = self._row_of.pop(ref_id, None)
        if row is None:
            return
        self._rows, self._linked = None, False
        self._words.drop(row)
        self._vectors[row] = 0
        del self._terms[ref_id]
        self.unanalysed.pop(ref_id, None)

    def _replace(self, ref_id: str, terms: str) -> int:
        """Gives a message new words in a new row that takes the place of the old one, and returns that row."""
        self._rows = None
        old = self._row_of[ref_id]
        self._words.drop(old)
        row = self._new_row(ref_id, terms)
        for name, column in self._columns.items():
            if name != "mean_idf":
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
        self._columns["mean_idf"][row] = self._words.mean_idf(terms)
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
        """Adds many messages at once, without words and unlinked."""
        if not batch:
            return
        first = len(self._row_of)
        self._reserve(first + len(batch))
        for row, message in enumerate(batch, first):
            self._row_of[message.ref_id] = row
            self._terms[message.ref_id] = hash(message.terms or "")
            if message.terms is None:
                self.unanalysed[message.ref_id] = message.text or ""
        values = [self._values(message) for message in batch]
        for name in values[0]:
            self._columns[name][first : first + len(batch)] = [values_of_one[name] for values_of_one in values]
        embedded = [i for i, message in enumerate(batch) if message.vector is not None]
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
        capacity = len(self._vectors)
        if rows <= capacity:
            return
        spare = max(rows, int(capacity * _GROWTH)) - capacity
        for name, column in self._columns.items():
            self._columns[name] = np.concatenate((column, np.zeros(spare, dtype=column.dtype)))
        width = self._vectors.shape[1]
        self._vectors = np.concatenate((self._vectors, np.zeros((spare, width), dtype=np.int8)))

    def _link(self, row: int) -> None:
        """Links a new message to the last one of its lane; one that is older has all messages linked again."""
        columns = self._columns
        seq, lane = int(columns["seq"][row]), int(columns["lane"][row])
        columns["previous"][row] = columns["following"][row] = NOBODY
        if not self._linked or seq < self._newest:
            self._linked = False
            return
        self._newest = seq
        last = self._last.get(lane)
        self._last[lane] = row
        if last is not None and abs(int(columns["moment"][row]) - int(columns["moment"][last])) <= _GAP:
            columns["previous"][row], columns["following"][last] = last, row
            columns["session"][row] = columns["session"][last]
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
        self._last = {int(columns["lane"][row]): int(row) for row in order[_lane_ends(lane)]}
        self._linked = True

    def _make_rows(self) -> MessageRows:
        size = self._words.size
        columns: dict[str, NDArray[Any]] = {name: column[:size] for name, column in self._columns.items()}
        del columns["lane"]
        previous, following, session = columns["previous"], columns["following"], columns["session"]
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
            **columns,
        )

    def _compact(self) -> None:
        if not self._words.needs_compaction:
            return
        size = self._words.size
        renumbered = padded_links(self._words.compact())
        old_rows = np.flatnonzero(renumbered[:size] != NOBODY)
        for name, column in self._columns.items():
            column[: len(old_rows)] = column[old_rows]
            if name in ("previous", "following"):
                column[: len(old_rows)] = renumbered[column[: len(old_rows)]]
        self._vectors[: len(old_rows)] = self._vectors[old_rows]
        self._vectors[len(old_rows) : size] = 0
        self._columns["mean_idf"][: len(old_rows)] = self._words.mean_idfs()
        self._row_of = {ref_id: int(renumbered[row]) for ref_id, row in self._row_of.items()}
        self._linked = False


def padded_links(renumbered: Numbers) -> Numbers:
    """New row numbers by old ones, with one more place so that NOBODY stays NOBODY."""
    return np.concatenate((renumbered, np.array([NOBODY], dtype=np.int32)))


def _lane_ends(lane: Numbers) -> NDArray[np.intp]:
    """The positions of the last message of each lane, for rows ordered by lane."""
    is_last = np.ones(len(lane), dtype=np.bool_)
    is_last[:-1] = lane[1:] != lane[:-1]
    return np.flatnonzero(is_last)
