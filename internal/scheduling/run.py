"""A run: one agent's work on one slice of a fragment, claimed, tried, applied once or parked as dead."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any, Final

from internal.storage.types import new_id

EDITING: Final = timedelta(seconds=10)
"""How long the work on an edited text waits: users who correct one word often correct the next."""

BEHIND: Final = 1 << 47
"""Added to the place of repeated work: new messages go first, and imports of years come last."""

DAILY_COST: Final = "daily_cost"
"""The `error` of a run that did not fail: it waits for another day's spending limit."""

WORKER: Final = "worker:"
"""The prefix of the lease by which a process is known to be alive; the process's name follows."""

MOVING: Final = "store:moving"
"""The lease of a command that replaces or copies a whole store: no process begins to work on it meanwhile."""

NAME_LENGTH: Final = 16
"""Characters of a process's name; what it claims begins with it."""


SHARD_COUNT: Final = 64
"""The number of shards into which chats are divided between workers. Changing it needs a stop of all workers: two that
count differently would serve the same chat.
"""


SUSPECT: Final = 2
"""A run in the middle of which the process ended this often in a row is tried alone: who dies with others is mostly a
bystander.
"""


def claim_of(worker: str, interruptions: int) -> str:
    """A new claim. It says how often the run was interrupted before, since a process that dies can write nothing."""
    return f"{worker}{new_id()}:{interruptions}"


class RunState(StrEnum):
    DUE = "due"
    CLAIMED = "claimed"
    REPLIED = "replied"
    APPLIED = "applied"
    DEAD = "dead"


@dataclass(frozen=True, slots=True)
class Run:
    """`first_n`..`last_n` are the fragment's segments it covers; `rev` and `first_n` order an owner's runs.

    `attempts` count towards the cap; `outages` are consecutive times the provider could not be reached. `replaces` is
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
        """How often in a row the process ended in the middle of this run, if its claim is void."""
        before = (self.claim or "").rpartition(":")[2]
        return 0 if self.claim is None else 1 + (int(before) if before.isdecimal() else 0)
