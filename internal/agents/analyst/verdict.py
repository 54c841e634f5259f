"""The judgement of one response, or of a session as a whole."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from internal.chronicle.model import Verdict


@dataclass(frozen=True, slots=True)
class Judgement:
    """A verdict with its reasons. `summary` sums up the response or the session; it may be empty.

    `by_rules`: it was judged by the program's rules, not by a model.
    """

    verdict: Verdict
    rules_used: tuple[str, ...] = ()
    rules_ignored: tuple[str, ...] = ()
    errors: tuple[str, ...] = ()
    lessons: tuple[str, ...] = ()
    summary: str = ""
    by_rules: bool = False

    @property
    def texts(self) -> tuple[str, ...]:
        """All its free texts."""
        return tuple(text for text in (self.summary, *self.errors, *self.lessons) if text)

    def attributes(self) -> dict[str, Any]:
        """The attributes of an Analysis."""
        return {
            "verdict": self.verdict,
            "rules_used": list(self.rules_used),
            "rules_ignored": list(self.rules_ignored),
            "errors": list(self.errors),
            "lessons": list(self.lessons),
        } | ({"by": "rules"} if self.by_rules else {})


def joint_verdict(rulings: Iterable[Judgement]) -> Verdict:
    """The joint verdict on all of them: partially correct if they differ, correct if there are none."""
    verdicts = {ruling.verdict for ruling in rulings} or {"correct"}
    return verdicts.pop() if len(verdicts) == 1 else "partially_correct"
