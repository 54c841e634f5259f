"""Splits long texts into passages, to which evidence refers and which are embedded."""

import re
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from typing import Final, TypeVar

T = TypeVar("T")

MAX_CHARACTERS: Final = 1_000
"""The most characters of a passage: as much as a person will read to check a source."""

_LEAST_FILL: Final = 2 / 5
"""The share of its greatest length from which a passage ends at the next paragraph."""

_PARAGRAPH = re.compile(r"\n[ \t]*\n\s*")
_SENTENCE = re.compile(r"(?<=[.!?…])[\"»”’)]*\s+(?=[\"«„“‘(—–-]*[A-ZА-ЯЁІЇЄҐ0-9])|\n\s*")


def passages(text: str, most: int = MAX_CHARACTERS) -> list[str]:
    """Splits a text into passages of at most `most` characters at paragraphs, else sentences, else words.

    No word is lost or moved; no passage is empty. Linear in the length of the text.
    """
    least = int(most * _LEAST_FILL)
    finished: list[str] = []
    current = ""
    for paragraph in _split_after(text, _PARAGRAPH):
        for piece in _split_paragraph(paragraph, least, most):
            if current and len(current) + len(piece) > most:
                finished.append(current.strip())
                current = ""
            current += piece
        if len(current) >= least:
            finished.append(current.strip())
            current = ""
    if current.strip():
        finished.append(current.strip())
    return [passage for passage in finished if passage]


def batches(items: Sequence[T], most: int, size: Callable[[T], int] = len) -> Iterator[list[T]]:  # type: ignore[assignment]
    """Splits items, in order, into lists of at most `most` characters; a longer one is alone."""
    batch: list[T] = []
    left = most
    for item in items:
        if batch and size(item) > left:
            yield batch
            batch, left = [], most
        batch.append(item)
        left -= size(item)
    if batch:
        yield batch


def _split_paragraph(paragraph: str, least: int, most: int) -> Iterator[str]:
    """The paragraph; if it is too long its sentences, and too long sentences cut between words."""
    if len(paragraph) <= most:
        yield paragraph
        return
    for sentence in _split_after(paragraph, _SENTENCE):
        start = 0  # never the rest as a text of its own: copying that for each passage took minutes for a long text
        while len(sentence) - start > most:
            cut = sentence.rfind(" ", start + least, start + most) + 1 or start + most
            yield sentence[start:cut]
            start = cut
        yield sentence[start:]


def _split_after(text: str, border: re.Pattern[str]) -> Iterator[str]:
    """Splits the text after each border, which stays with the text before it."""
    positions = [0, *(match.end() for match in border.finditer(text)), len(text)]
    yield from (text[begin:end] for begin, end in pairwise(positions) if begin < end)
