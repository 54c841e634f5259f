"""Limits the attempts at an answer: failures, silences and edits of the question are counted separately."""

from collections import Counter
from dataclasses import dataclass
from enum import Enum, auto

MAX_FAILURES = 3
"""Failures of one answer in one process, after which an apology is sent."""

MAX_SILENCES = 2
"""The most attempts at which the model does not even begin: each takes the whole time limit."""

MAX_EDITS = 2
"""The most answers that an edit of the question may discard; the next one is sent in any case."""

MAX_STARTS = 10
"""The most attempts altogether, counted in the database: a question that kills the program must not do so for ever.
Mostly something else kills it, hence more than the limits above.
"""


class AttemptOutcome(Enum):
    DONE = auto()
    FAILED = auto()
    SILENT = auto()
    EDITED = auto()


@dataclass(frozen=True, slots=True)
class AttemptLimits:
    """Whether a failure, a silence or an edit would end the attempts."""

    failure: bool
    silence: bool
    edit: bool


class Attempts:
    """The attempts of one process at one answer."""

    def __init__(self) -> None:
        self._outcomes = Counter[AttemptOutcome]()

    def last(self, starts: int) -> AttemptLimits:
        """The outcomes that would end the attempt that begins now, the `starts`-th of all processes."""
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
