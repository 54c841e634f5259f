"""What deriving facts from claims and memories from observations has in common: lists of changes, and lost support."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, Row

from internal.events import repository as events
from internal.language.facts.overlap import reveals
from internal.storage.evidence import Lines


class DerivedChanges:
    """Base of dataclasses with one list of ids for each kind of change, each id once, in the order of the changes."""

    __slots__: tuple[str, ...] = ()

    def note(self, kind: str, id: str) -> None:
        listed: list[str] = getattr(self, kind)
        if id not in listed:
            listed.append(id)

    def counts(self) -> dict[str, int]:
        """The number of changes of each kind that has any."""
        named = {name: len(getattr(self, name)) for name in self.__slots__}
        return {name: count for name, count in named.items() if count}

    def record(
        self,
        connection: Connection,
        user_id: int,
        types: Mapping[str, str],
        source: str,
        now: datetime,
        links: Mapping[str, Any] | None = None,
    ) -> None:
        """Appends one event for each kind of change that has a type, with ids only."""
        changed = {event_type: getattr(self, name) for name, event_type in types.items()}
        events.append_changes(connection, changed, source=source, now=now, user_id=user_id, links=links)


def loses_support(texts: Iterable[str], support: Sequence[Row[Any]], removed: Lines) -> bool:
    """Whether something with these texts loses all its lines, or holds a word that only the removed lines said."""
    left = [row.quote for row in support if not removed.includes(row)]
    gone = [row.quote for row in support if removed.includes(row)]
    return not left or any(reveals(text, gone, left) for text in texts)
