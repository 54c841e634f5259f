"""One owner's messages in memory: sender, time and neighbours, searchable by words and by meaning."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from internal.recall.index.bm25 import LexicalIndex, from_bytes, to_bytes
from internal.recall.index.vector_rows import FIRST_ROWS, quantise
from internal.recall.messages.message_rows import (
    BOT,
    COLUMNS,
    GAP,
    NOBODY,
    OWNER,
    MessageRow,
    MessageRows,
    by_session,
    grown,
    lane_ends,
    lengths_of,
    mean_vector,
    padded_links,
    passages_of,
)

_GAP: Final = GAP // (GAP.resolution)
_LOAD_BATCH: Final = 4_096
"""Messages quantised at once while an index is loaded."""

_MESSAGE_BYTES: Final = 250
"""Approximate memory of one message besides its numbers: its id and lookup tables."""


class MessageIndex:
    """All messages of an owner. A row is a passage of one: most messages have one, long ones several behind each other.

    A changed text gets new rows. Not thread-safe.
    """

    def __init__(self, dimensions: int, seq: int = 0) -> None:
        """`seq` is the change log position up to which the index is current; `cache_version` as in ItemIndex."""
        self.seq = seq
        self.cache_version = -1
        self.unsaved = 0
        """Messages that changed since the index was saved."""
        self.unanalysed: dict[str, str] = {}
        self.senders: list[str] = ["", ""]
        """Names by number; the bot has none, the owner that of the account."""
        self.sender_terms: dict[int, frozenset[str]] = {}
        self.name_vectors: dict[int, NDArray[np.float32]] = {}
        """The terms and vectors of the senders' names, as far as they were requested."""
        self._sender_numbers: dict[str, int] = {}
        self._words = LexicalIndex()
        self._columns: dict[str, NDArray[Any]] = {name: np.zeros(FIRST_ROWS, kind) for name, kind in COLUMNS.items()}
        self._vectors: NDArray[np.int8] = np.zeros((FIRST_ROWS, dimensions), dtype=np.int8)
        self._scales: NDArray[np.float32] = np.zeros(FIRST_ROWS, dtype=np.float32)
        self._slots = 0
        self._rows_of: dict[str, range] = {}
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
        all_terms: list[str] = []
        unread = iter(messages)
        while batch := list(itertools.islice(unread, _LOAD_BATCH)):
            passages = [passages_of(message.terms or "") for message in batch]
            index._append(batch, passages, len(all_terms))
            all_terms += itertools.chain.from_iterable(passages)
        index._words = LexicalIndex.of(all_terms)
        index._columns["mean_idf"][: len(all_terms)] = index._words.mean_idfs()
        index._linked, index.unsaved = False, len(index)
        return index

    def packed(self) -> dict[str, NDArray[Any]]:
        """The index as arrays, but for the links between messages; it has no texts that wait for their terms."""
        size, slots = self._words.size, self._slots
        lanes = sorted(self._lanes, key=self._lanes.__getitem__)
        return {
            "seq": np.array(self.seq),
            "named": to_bytes([json.dumps([self.senders, lanes])]),
            "ids": to_bytes(self._rows_of),
            "starts": np.array([rows.start for rows in self._rows_of.values()], dtype=np.int32),
            "stops": np.array([rows.stop for rows in self._rows_of.values()], dtype=np.int32),
            "hashes": np.array([self._terms[ref_id] for ref_id in self._rows_of], dtype=np.int64),
            "vectors": self._vectors[:slots],
            "scales": self._scales[:slots],
            **{f"column_{name}": column[:size] for name, column in self._columns.items()},
            **{f"words_{name}": values for name, values in self._words.packed().items()},
        }

    @classmethod
    def unpacked(cls, arrays: Mapping[str, NDArray[Any]]) -> MessageIndex:
        """The index that was packed; its links are made when they are needed."""
        index = cls(arrays["vectors"].shape[1], int(arrays["seq"]))
        index.senders, lanes = json.loads(from_bytes(arrays["named"])[0])
        index._sender_numbers = {name: number for number, name in enumerate(index.senders) if number > BOT}
        index._lanes = {tuple(lane): number for number, lane in enumerate(lanes)}
        ids = from_bytes(arrays["ids"])
        index._rows_of = dict(zip(ids, map(range, arrays["starts"].tolist(), arrays["stops"].tolist()), strict=True))
        index._terms = dict(zip(ids, arrays["hashes"].tolist(), strict=True))
        index._vectors, index._scales = arrays["vectors"], arrays["scales"]
        index._slots, index._linked = len(index._scales), False
        index._columns = {name: arrays[f"column_{name}"] for name in COLUMNS}
        index._words = LexicalIndex.unpacked(arrays, "words_")
        return index

    def __len__(self) -> int:
        return len(self._rows_of)

    @property
    def nbytes(self) -> int:
        arrays = sum(column.nbytes for column in self._columns.values()) + self._vectors.nbytes
        derived = 0 if self._rows is None else 7 * 4 * self._words.size
        return arrays + derived + self._words.nbytes + len(self._rows_of) * _MESSAGE_BYTES

    def rows_of(self, ref_id: str) -> range:
        """The rows of a message, none if it is not in the index."""
        return self._rows_of.get(ref_id, range(0))

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
            self.name_vectors.pop(sender, None)

    def apply_changes(self, touched: Iterable[str], current: Sequence[MessageRow]) -> None:
        """Applies changes: `touched` ids that are not among `current` are removed, the others replaced."""
        visible = {message.ref_id for message in current}
        touched = list(touched)
        self.unsaved += len(touched)
        for ref_id in touched:
            if ref_id not in visible:
                self._drop(ref_id)
        for message in current:
            self._put(message)

    def set_terms(self, terms: dict[str, str]) -> None:
        """Sets the terms of texts whose terms were not stored yet."""
        for ref_id, message_terms in terms.items():
            if self.unanalysed.pop(ref_id, None) is not None and ref_id in self._rows_of:
                self._replace(ref_id, message_terms)

    def _put(self, message: MessageRow) -> None:
        self._rows = None
        if message.terms is None:
            self.unanalysed[message.ref_id] = message.text or ""
        else:
            self.unanalysed.pop(message.ref_id, None)
        rows = self._rows_of.get(message.ref_id)
        terms = message.terms or ""
        if rows is None:
            rows = self._new_rows(message.ref_id, terms)
            self._columns["slot"][rows[0] : rows[-1] + 1] = self._new_slots(1)
            self._fill(rows, message)
            self._link(rows)
            return
        if message.terms is not None and crc32(terms.encode()) != self._terms[message.ref_id]:
            rows = self._replace(message.ref_id, terms)
        position_before = self._position(rows[0])
        self._fill(rows, message)
        if position_before != self._position(rows[0]):
            self._linked = False

    def _position(self, row: int) -> tuple[int, int, int]:
        seq, moment, lane = (int(self._columns[name][row]) for name in ("seq", "moment", "lane"))
        return seq, moment, lane

    def _drop(self, ref_id: str) -> None:
        rows = self._rows_of.pop(ref_id, None)
        if rows is None:
            return
        self._rows, self._linked = None, False
        self._drop_rows(rows)
        self._vectors[self._columns["slot"][rows[0]]] = 0
        self._scales[self._columns["slot"][rows[0]]] = 0
        del self._terms[ref_id]
        self.unanalysed.pop(ref_id, None)

    def _drop_rows(self, rows: range) -> None:
        for row in rows:
            self._words.drop(row)

    def _replace(self, ref_id: str, terms: str) -> range:
        """Gives a message new words in new rows that take the place of the old ones, and returns those rows."""
        self._rows = None
        old = self._rows_of[ref_id]
        columns = self._columns
        before, after = int(columns["previous"][old[0]]), int(columns["following"][old[-1]])
        lane = int(columns["lane"][old[0]])
        is_last = self._last.get(lane) == old[-1]
        self._drop_rows(old)
        rows = self._new_rows(ref_id, terms)
        columns = self._columns  # they may have grown
        for name, column in columns.items():
            if name != "mean_idf":
                column[rows[0] : rows[-1] + 1] = column[old[0]]
        self._chain(rows, before, after)
        if is_last:
            self._last[lane] = rows[-1]
        elif len(old) > 1 or len(rows) > 1:
            self._linked = False
        return rows

    def _chain(self, rows: range, before: int, after: int) -> None:
        """Links the rows of a message with each other and with the rows before and after it, which may be NOBODY."""
        previous, following = self._columns["previous"], self._columns["following"]
        links = [before, *rows, after]
        previous[rows[0] : rows[-1] + 1], following[rows[0] : rows[-1] + 1] = links[:-2], links[2:]
        if before != NOBODY:
            following[before] = rows[0]
        if after != NOBODY:
            previous[after] = rows[-1]

    def _new_rows(self, ref_id: str, terms: str) -> range:
        passages = passages_of(terms)
        first = self._words.size
        rows = self._rows_of[ref_id] = range(first, first + len(passages))
        self._reserve(rows.stop)
        for row, passage in zip(rows, passages, strict=True):
            self._words.put(passage)
            self._columns["mean_idf"][row] = self._words.mean_idf(passage)
        self._terms[ref_id] = crc32(terms.encode())
        return rows

    def _fill(self, rows: range, message: MessageRow) -> None:
        part = slice(rows.start, rows.stop)
        for name, value in self._values(message, len(rows)).items():
            self._columns[name][part] = value
        slot = self._columns["slot"][rows[0]]
        self._vectors[slot], self._scales[slot] = 0, 0
        if message.vector is not None:
            codes, scales = quantise(message.vector[np.newaxis])
            self._vectors[slot], self._scales[slot] = codes[0], scales[0]

    def _append(self, batch: Sequence[MessageRow], passages: Sequence[Sequence[str]], first: int) -> None:
        """Adds many messages at once from row `first` on, without words and unlinked."""
        counts = [len(of_one) for of_one in passages]
        self._reserve(first + sum(counts))
        for message, start, count in zip(batch, itertools.accumulate(counts, initial=first), counts, strict=False):
            self._rows_of[message.ref_id] = range(start, start + count)
            self._terms[message.ref_id] = crc32((message.terms or "").encode())
            if message.terms is None:
                self.unanalysed[message.ref_id] = message.text or ""
        values = [self._values(message, count) for message, count in zip(batch, counts, strict=True)]
        for name in values[0]:
            column = np.array([values_of_one[name] for values_of_one in values])
            self._columns[name][first : first + sum(counts)] = np.repeat(column, counts)
        slots = np.arange(self._new_slots(len(batch)), self._slots)
        self._columns["slot"][first : first + sum(counts)] = np.repeat(slots, counts)
        embedded = slots[[message.vector is not None for message in batch]]
        if len(embedded):
            codes, scales = quantise(np.stack([vector for message in batch if (vector := message.vector) is not None]))
            self._vectors[embedded], self._scales[embedded] = codes, scales

    def _values(self, message: MessageRow, passages: int) -> dict[str, int]:
        return {
            "seq": message.seq,
            "moment": message.moment,
            "sender": self._sender(message),
            "assistant": message.assistant,
            "traits": message.traits if passages == 1 else 0,  # somewhere a long text asks and names a number
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
        if rows > len(self._columns["seq"]):
            self._columns = {name: grown(column, rows) for name, column in self._columns.items()}

    def _new_slots(self, count: int) -> int:
        """Makes room for the vectors of `count` messages. Returns the first of their places."""
        first, self._slots = self._slots, self._slots + count
        if self._slots > len(self._scales):
            self._vectors, self._scales = grown(self._vectors, self._slots), grown(self._scales, self._slots)
        return first

    def _link(self, rows: range) -> None:
        """Links a new message to the last one of its lane; one that is older has all messages linked again."""
        columns = self._columns
        seq, moment, lane = self._position(rows[0])
        self._chain(rows, NOBODY, NOBODY)
        if not self._linked or seq < self._newest:
            self._linked = False
            return
        self._newest = seq
        last = self._last.get(lane)
        self._last[lane] = rows[-1]
        if last is not None and abs(moment - int(columns["moment"][last])) <= _GAP:
            self._chain(rows, NOBODY if self._is_long(last) else last, NOBODY)
            columns["session"][rows[0] : rows[-1] + 1] = columns["session"][last]
        else:
            columns["session"][rows[0] : rows[-1] + 1] = self._sessions
            self._sessions += 1

    def _is_long(self, last: int) -> bool:
        """Whether this last row of a message is not its only one: what follows stands by itself."""
        before = int(self._columns["previous"][last])
        return before != NOBODY and bool(self._columns["seq"][before] == self._columns["seq"][last])

    def _relink(self) -> None:
        columns, size = self._columns, self._words.size
        alive = np.flatnonzero(self._words.alive)
        order = alive[np.lexsort((columns["seq"][alive], columns["lane"][alive]))].astype(np.int32)
        lane, moment = columns["lane"][order], columns["moment"][order]
        near = (lane[1:] == lane[:-1]) & (np.abs(np.diff(moment)) <= _GAP)
        same = np.diff(columns["seq"][order]) == 0
        linked = near & (same | ~np.concatenate(([False], same[:-1])))
        columns["previous"][:size] = columns["following"][:size] = NOBODY
        columns["previous"][order[1:][linked]] = order[:-1][linked]
        columns["following"][order[:-1][linked]] = order[1:][linked]
        columns["session"][:size] = 0
        columns["session"][order[1:]] = np.cumsum(~near)
        self._sessions = int(np.count_nonzero(~near)) + 1 if len(order) else 0
        self._newest = int(columns["seq"][order].max(initial=-1))
        self._last = {int(columns["lane"][row]): int(row) for row in order[lane_ends(lane)]}
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
            vectors=self._vectors[: self._slots],
            scales=self._scales[: self._slots],
            common=mean_vector(self._vectors[: self._slots], self._scales[: self._slots]),
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
        slots, self._columns["slot"][: len(old_rows)] = np.unique(
            self._columns["slot"][: len(old_rows)], return_inverse=True
        )
        self._slots = len(slots)
        for stored in (self._vectors, self._scales):
            stored[: len(slots)] = stored[slots]
            stored[len(slots) :] = 0
        self._columns["mean_idf"][: len(old_rows)] = self._words.mean_idfs()
        starts = {ref_id: int(renumbered[rows[0]]) for ref_id, rows in self._rows_of.items()}
        self._rows_of = {ref_id: range(start, start + len(self._rows_of[ref_id])) for ref_id, start in starts.items()}
        self._linked = False
