"""Reads the lists of a reply item by item: items that break a rule are refused, the others are kept."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

from internal.agents.prompts import unescaped
from internal.errors import ModelReplyInvalid, Refusal, Refused

Kept = TypeVar("Kept")


class ItemReader:
    """Reads items of one reply, which must be objects if they have a `kind`. `refused` are the refused ones so far."""

    def __init__(self, kind: str = "") -> None:
        self._kind = kind
        self.refused: list[Refusal] = []

    def refuse(self, refusal: Refused) -> None:
        self.refused.append(Refusal.of(refusal))

    def keep(self, items: Sequence[Any], read: Callable[[Any], Kept], most: int | None = None) -> list[Kept]:
        """The results of `read` for these items; those that it refuses, and those beyond `most`, are refused."""
        kept: list[Kept] = []
        for item in items[:most]:
            try:
                kept.append(read(as_object(item, self._kind) if self._kind else item))
            except Refused as refusal:
                self.refuse(refusal)
        for _ in items[most:] if most is not None else ():
            self.refuse(Refused("too_many", f"at most {most} of a kind are read"))
        return kept


def array(reply: Mapping[str, Any], key: str) -> list[Any]:
    """The list under a key, [] if there is none. Raises ModelReplyInvalid."""
    raw = reply.get(key)
    if raw is None:
        return []
    if not isinstance(raw, list):
        raise ModelReplyInvalid(f"`{key}` is no array")
    return raw


def one_line(raw: object, longest: int) -> str:
    """A text on one line, cut between words; "" if it is no text."""
    return cut(" ".join(unescaped(raw).split()), longest) if isinstance(raw, str) else ""


def cut(text: str, longest: int) -> str:
    """The text up to its last whole word within `longest` characters."""
    return text if len(text) <= longest else text[:longest].rsplit(" ", 1)[0]


def as_object(item: Any, kind: str) -> dict[str, Any]:
    """An item that must be an object. Raises Refused("bad_shape")."""
    if not isinstance(item, dict):
        raise Refused("bad_shape", f"{str(item)[:80]!r} is no {kind}")
    return item
