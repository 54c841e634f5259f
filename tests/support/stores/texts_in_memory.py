"""Finds texts that a process still holds."""

from __future__ import annotations

import gc
from typing import Any


def holders_of(word: str) -> list[str]:
    """What holds a text with this word, the word itself apart: the kind of each holder, and a part of the text."""
    gc.collect()
    found: list[str] = []
    seen: set[int] = set()
    todo: list[Any] = gc.get_objects()
    for holder in todo:  # grows by containers of the collector's that it does not track, such as tuples of words
        for held in gc.get_referents(holder):
            if isinstance(held, str):
                if word in held and held is not word:
                    found.append(f"{type(holder).__qualname__} {held[:200]!r}")
            elif type(held) in (dict, tuple, list, frozenset) and not gc.is_tracked(held) and id(held) not in seen:
                seen.add(id(held))
                todo.append(held)
    return found
