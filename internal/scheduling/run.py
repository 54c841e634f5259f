"""A run: one agent's work on one slice of a fragment or on a session, claimed, tried, applied once or dead."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any, Final

from internal.storage.types import new_id

EDITING: Final = timedelta(seconds=10)
"""The time for which work on an edited text waits: users who correct one word often correct the next."""

BEHIND: Final = 1 << 47
"""Added to the order of repeated work, so that new messages come first and imports of years last."""

DAILY_COST: Final = "daily_cost"
"""The `error` of a run that waits for the next day's spending limit; it did not fail."""

WORKER: Final = "worker:"
"""The prefix of the lease that shows that a process is alive; the process's name follows."""

MOVING: Final = "store:moving"
"""The lease of a command that replaces or copies a whole store: no process starts on the store meanwhile."""

NAME_LENGTH: Final = 16
"""Characters of a process's name, with which its claims begin."""


SHARD_COUNT: Final = 64
"""The number of shards into which chats are divided between workers. A change requires a stop of all workers: two with
different numbers would serve the same chat.
"""


SUSPECT: Final = 2
"""A run during which the process ended this many times in a row is tried alone: among several, most are not the cause
of the end.
"""


def claim_of(worker: str, interruptions: int) -> str:
    """A new claim, with the number of earlier interruptions of the run: a process that dies cannot count itself."""
    return f"{worker}{new_id()}:{interruptions}"


class RunState(StrEnum):
    DUE = "due"
    CLAIMED = "claimed"
    REPLIED = "replied"
    APPLIED = "applied"
    DEAD = "dead"


@dataclass(frozen=True, slots=True)
class Run:
    """A run. It covers the fragment's segments `first_n`..`last_n`; `rev` and `first_n` order an owner's runs.

    `attempts` count towards the cap; `outages` are consecutive failures to reach the provider. `replaces` is
    the run of the same slice whose effects it replaces. A run over a whole session has its `session_id`, and neither a
    fragment (`episode_id` is empty) nor segments.
    """

    id: str
    user_id: int
    agent: str
    episode_id: str
    rev: int
    first_n: int
    last_n: int
    state: RunState
    claim: str | None
    attempts: int
    outages: int
    due_at: datetime
    created_at: datetime
    snapshot: dict[str, Any] | None = None
    reply: str | None = None
    error: str | None = None
    replaces: str | None = None
    session_id: str | None = None

    @property
    def length(self) -> int:
        return self.last_n - self.first_n + 1

    @property
    def interruptions(self) -> int:
        """The number of times in a row that the process ended during this run, if its claim is void."""
        before = (self.claim or "").rpartition(":")[2]
        return 0 if self.claim is None else 1 + (int(before) if before.isdecimal() else 0)
