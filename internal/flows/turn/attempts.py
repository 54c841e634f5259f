"""How often an answer is tried: failures, silences and edits of the question are counted apart."""

from collections import Counter
from dataclasses import dataclass
from enum import Enum, auto

MAX_FAILURES = 3
"""Failures of one answer in one process, before its user is sent an apology."""

MAX_SILENCES = 2
"""Most attempts at which the model does not even begin: each costs the user the whole limit."""

MAX_EDITS = 2
"""Answers that an edit of the question may make useless. The next one is sent all the same."""

MAX_STARTS = 10
"""Attempts altogether, kept in the database: a question that kills the program must not do so for ever. More than the
above, for mostly it is something else that kills it, and the question deserves its answer.
"""


class AttemptOutcome(Enum):
    DONE = auto()
    FAILED = auto()
    SILENT = auto()
    EDITED = auto()


@dataclass(frozen=True, slots=True)
class AttemptLimits:
    """Whether a failure, a silence or an edit would not lead to another attempt."""

    failure: bool
    silence: bool
    edit: bool


class Attempts:
    """The attempts of one process at one answer."""

    def __init__(self) -> None:
        self._outcomes = Counter[AttemptOutcome]()

    def last(self, starts: int) -> AttemptLimits:
        """What would end the attempt that begins now, the `starts`-th of all processes."""
        failures = 1 + self._outcomes[AttemptOutcome.FAILED] + self._outcomes[AttemptOutcome.SILENT]
        return AttemptLimits(
            failure=failures >= MAX_FAILURES or starts >= MAX_STARTS,
            silence=1 + self._outcomes[AttemptOutcome.SILENT] >= MAX_SILENCES,
            edit=self._outcomes[AttemptOutcome.EDITED] >= MAX_EDITS,
        )

    def ended(self, outcome: AttemptOutcome) -> bool:
        """Counts an attempt. Returns whether it was the last."""
        self._outcomes[outcome] += 1
        return outcome is AttemptOutcome.DONE
