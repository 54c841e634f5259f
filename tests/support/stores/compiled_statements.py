"""Compiles SQL once for all stores of a test process. A new engine would compile every statement of its test again.

Dialects of one class are set up alike in the product, so a statement that was compiled for one is right for the others.
"""

from __future__ import annotations

from typing import Any

from sqlalchemy.engine import Engine
from sqlalchemy.engine.interfaces import Compiled, Dialect
from sqlalchemy.util import LRUCache

_LARGEST = 5_000

_Key = tuple[Dialect, Any]


class _SharedCache:
    """The compiled statements of every engine whose dialect has the same class."""

    def __init__(self) -> None:
        self._compiled: LRUCache[Any, Compiled] = LRUCache(_LARGEST)

    def get(self, key: _Key) -> Compiled | None:
        return self._compiled.get(self._by_class(key))

    def __setitem__(self, key: _Key, compiled: Compiled) -> None:
        self._compiled[self._by_class(key)] = compiled

    def clear(self) -> None:
        self._compiled.clear()

    @staticmethod
    def _by_class(key: _Key) -> tuple[Any, ...]:
        return (type(key[0]), *key[1:])


def share() -> None:
    """From here on all engines share their compiled statements."""
    cache, init = _SharedCache(), Engine.__init__

    def sharing(engine: Engine, *arguments: Any, **more: Any) -> None:
        init(engine, *arguments, **more)
        engine._compiled_cache = cache  # type: ignore[assignment]

    Engine.__init__ = sharing  # type: ignore[method-assign]
