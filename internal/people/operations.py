"""Operations on people that an archivist proposes, checked in form only.

`evidence` holds the 1-based numbers of transcript lines; empty means the whole slice.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

from internal.errors import Refusal
from internal.people.model import Circle


@dataclass(frozen=True, slots=True)
class Added:
    """A new person. `circle` None = not stated (Other for a new person, unchanged for a known one).

    `distinct_from` are ids of known people of the same name who are somebody else.
    """

    display_name: str
    aliases: tuple[str, ...] = ()
    username: str | None = None
    telegram_id: int | None = None
    circle: Circle | None = None
    bio: str = ""
    evidence: tuple[int, ...] = ()
    distinct_from: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Updated:
    """An update of a known person. None leaves a field unchanged; aliases are only added."""

    person_id: int
    display_name: str | None = None
    aliases: tuple[str, ...] = ()
    username: str | None = None
    telegram_id: int | None = None
    circle: Circle | None = None
    bio: str | None = None
    evidence: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Merged:
    """Merges two profiles of the same person: the source into the target."""

    source_id: int
    target_id: int
    reason: str = ""
    evidence: tuple[int, ...] = ()


Operation = Added | Updated | Merged


@dataclass(frozen=True, slots=True)
class SourceLine:
    """The stored line behind an evidence number: its time, its place in the episode, its message.

    `telegram_ids` are the Telegram ids in its metadata, the only ones it may confirm. `text` are its words.
    """

    at: datetime
    segment: int
    message_id: str | None = None
    telegram_ids: tuple[int, ...] = ()
    text: str = ""


@dataclass(frozen=True, slots=True)
class ApplyContext:
    """The context of operations: the run's slice and the state when the model was called.

    `lines` maps every number of the slice (1..60) to its source. `snapshot_rev` is the owner's counter of changes when
    the people shown to the model were read (`repository.current_rev`, in the same read): a field with a later rev has
    changed since. `tombstone_key` identifies forgotten people. `agent` names the source of events.
    """

    episode_id: str
    run_id: str | None
    lines: Mapping[int, SourceLine]
    snapshot_rev: int
    tombstone_key: bytes
    now: datetime
    agent: str = "Archivist"


@dataclass(slots=True)
class ApplyOutcome:
    """The outcome of a reply's operations; counters are updated from it after the commit.

    `applied` counts operations by their effect (Added, Updated, Merged); an `Added` of a known person counts
    as Updated. `changed` are ids of people whose profile is different now; `suggested` counts proposals for the owner.
    `added` are ids of new people. `merged_entities` are the entities into which others were merged: facts about them
    must be projected again.
    """

    applied: dict[str, int] = field(default_factory=dict)
    refused: list[Refusal] = field(default_factory=list)
    changed: set[int] = field(default_factory=set)
    suggested: int = 0
    merged_entities: set[str] = field(default_factory=set)
    added: set[int] = field(default_factory=set)

    def count(self, op_type: str) -> None:
        self.applied[op_type] = self.applied.get(op_type, 0) + 1
