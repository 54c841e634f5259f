"""The context manager's snapshot of one owner: who the owner is, what is going on, what is open. Pure."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Final, Literal

Part = Literal["who", "now", "threads"]

PARTS: Final[tuple[Part, ...]] = ("who", "now", "threads")

MAX_TEXT: Final = 240
"""Most characters of one item."""

MAX_SIZE: Final = 2400
"""Most characters of all items together: about 600 tokens of Russian in every prompt."""

MOST: Final[Mapping[Part, int]] = {"who": 12, "now": 8, "threads": 16}
"""Most items of each part."""

MOST_SOURCES: Final = 500
"""Most source messages of an item; the latest are kept."""


@dataclass(frozen=True, slots=True)
class SnapshotItem:
    """One line. `at` (aware) is when it was said last; `sources` are the ids of its source messages.

    An item is erased with any of these messages, whatever its words are.
    """

    text: str
    at: datetime
    sources: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Snapshot:
    """`who`: the owner; `now`: what is going on; `threads`: what is open, each oldest first.

    `by_rules`: made without a model, by quoting.
    """

    who: tuple[SnapshotItem, ...] = ()
    now: tuple[SnapshotItem, ...] = ()
    threads: tuple[SnapshotItem, ...] = ()
    by_rules: bool = False

    def part(self, name: Part) -> tuple[SnapshotItem, ...]:
        found: tuple[SnapshotItem, ...] = getattr(self, name)
        return found

    @property
    def items(self) -> list[SnapshotItem]:
        """All lines, in the order in which they are shown."""
        return [item for part in PARTS for item in self.part(part)]

    @property
    def size(self) -> int:
        """The number of characters."""
        return sum(len(item.text) for item in self.items)

    @property
    def empty(self) -> bool:
        return not self.items

    def without(self, sources: Collection[str], holds: Callable[[str], bool] | None = None) -> Snapshot:
        """The snapshot without items that come from one of these messages or hold a trace."""
        gone = set(sources)
        return self.only(
            lambda item: not gone.intersection(item.sources) and not (holds is not None and holds(item.text))
        )

    def only(self, stays: Callable[[SnapshotItem], bool]) -> Snapshot:
        """The snapshot with the items for which `stays` is true."""
        who, now, threads = (tuple(filter(stays, self.part(part))) for part in PARTS)
        return Snapshot(who, now, threads, self.by_rules)

    def content(self) -> dict[str, Any]:
        """JSON: `{"who": [{"text", "at", "messages"}], "now": [...], "threads": [...], "by": "model" | "rules"}`."""
        parts: dict[str, Any] = {part: [_item_content(item) for item in self.part(part)] for part in PARTS}
        return parts | {"by": "rules" if self.by_rules else "model"}


EMPTY: Final = Snapshot()
"""The snapshot before anything was said."""


@dataclass(frozen=True, slots=True)
class SnapshotVersion:
    """One stored snapshot. `restored_from` is the version that it repeats, `run_id` the run that wrote it."""

    user_id: int
    version: int
    snapshot: Snapshot
    created_at: datetime
    run_id: str | None = None
    restored_from: int | None = None


def of_content(content: Mapping[str, Any]) -> Snapshot:
    """The inverse of `Snapshot.content`; a forgotten snapshot is empty."""
    parts = {part: tuple(_item(raw) for raw in content.get(part) or ()) for part in PARTS}
    return Snapshot(**parts, by_rules=content.get("by") == "rules")


def bounded(snapshot: Snapshot) -> Snapshot:
    """The snapshot within the limits above: each text once, the oldest dropped first, threads before the rest."""
    parts: dict[Part, list[SnapshotItem]] = {}
    seen: set[str] = set()
    for part in PARTS:
        kept = {item.text.casefold(): item for item in map(_within, snapshot.part(part)) if item.text}
        parts[part] = _latest([item for text, item in kept.items() if text not in seen], MOST[part])
        seen |= kept.keys()
    for part in ("threads", "now", "who"):
        while parts[part] and sum(len(item.text) for one in parts.values() for item in one) > MAX_SIZE:
            parts[part].remove(min(parts[part], key=lambda item: item.at))
    return Snapshot(tuple(parts["who"]), tuple(parts["now"]), tuple(parts["threads"]), snapshot.by_rules)


def rests_on(*sources: Iterable[str]) -> tuple[str, ...]:
    """The source messages of several items, each once."""
    return tuple(dict.fromkeys(one for several in sources for one in several))[-MOST_SOURCES:]


def _within(item: SnapshotItem) -> SnapshotItem:
    text = " ".join(item.text.split())
    if len(text) > MAX_TEXT:
        text = text[: MAX_TEXT - 1].rsplit(" ", 1)[0] + "…"
    return replace(item, text=text, sources=item.sources[-MOST_SOURCES:])


def _latest(items: list[SnapshotItem], most: int) -> list[SnapshotItem]:
    """The `most` latest of them, in their order."""
    kept = set(sorted(range(len(items)), key=lambda index: (items[index].at, index))[-most:])
    return [item for index, item in enumerate(items) if index in kept]


def _item_content(item: SnapshotItem) -> dict[str, Any]:
    return {"text": item.text, "at": item.at.isoformat(), "messages": list(item.sources)}


def _item(raw: Mapping[str, Any]) -> SnapshotItem:
    return SnapshotItem(raw["text"], datetime.fromisoformat(raw["at"]), tuple(raw["messages"]))
