"""Values in parts that one statement takes."""

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Final, TypeVar

CHUNK: Final = 500
"""Most values of one IN list."""

V = TypeVar("V")


def chunks(values: Iterable[V], size: int = CHUNK) -> Iterator[list[V]]:
    """The values in their order, in lists of at most `size`."""
    left = iter(values)
    while chunk := list(islice(left, size)):
        yield chunk
