"""A question as messages are searched for: its words without names of senders, and its kind, dates and senders."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field

from internal.language.search.question_kinds import NamedDates, QuestionKind
from internal.language.search.terms import Word
from internal.storage.vectors import Vector


@dataclass(frozen=True, slots=True)
class Question:
    """The input of the features. `senders` are the numbers of the senders it names, `names` the vectors of their names.

    All vectors are normalised.
    """

    words: Sequence[Word]
    vector: Vector | None = None
    names: Sequence[Vector] = ()
    senders: frozenset[int] = frozenset()
    kind: QuestionKind = field(default_factory=QuestionKind)
    dates: NamedDates = field(default_factory=NamedDates)


def without_names(words: Sequence[Word], names: Collection[str]) -> list[Word]:
    """The words without those that have an alternative among the terms of the named senders."""
    return [word for word in words if not any(term in names for term, _ in word)]
