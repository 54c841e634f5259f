"""The common base of deriving facts from claims and memories from observations."""

from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass, field
from datetime import datetime
from typing import ClassVar

from sqlalchemy import Connection

from internal.events import repository as events


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


@dataclass
class Projector:
    """Derives rows for one owner within one transaction and collects the changes. `run_id` is the run that causes them.

    `forgetting` means that assertions were deleted and no derived row may keep their words.
    """

    event_types: ClassVar[Mapping[str, str]]
    """The event of each kind of change that has one."""

    connection: Connection
    user_id: int
    _: KW_ONLY
    now: datetime
    run_id: str | None = None
    forgetting: bool = False
    changes: DerivedChanges = field(init=False)

    def record(self, source: str) -> None:
        """Appends one event for each kind of change, with ids only."""
        changed = {event_type: getattr(self.changes, kind) for kind, event_type in self.event_types.items()}
        links = {"run": self.run_id} if self.run_id else None
        events.append_changes(self.connection, changed, source=source, now=self.now, user_id=self.user_id, links=links)
