"""Relations between people: stated ones, and those inferred from two or three of them."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from internal.language.kinship.kinds import Kin, composed, kin_word
from internal.language.text.morphology import Gender
from internal.language.text.spelling import Language

REACH: Final = 3
"""The most stated relations in a chain: people do not ask for a great-aunt's husband."""


@dataclass(frozen=True, slots=True)
class StatedTie:
    """A stated relation: `who` is `kin` to `whom`; ids of nodes. `fact` is the id of the fact that states it."""

    who: str
    kin: Kin
    whom: str
    fact: str | None = None


@dataclass(frozen=True, slots=True)
class Tie:
    """What a person is to the one in the middle: the steps that lead there, and their sum if a rule gives one.

    Each step is a person's relation to the one before. `spouse` is the gender of the middle one's spouse.
    """

    steps: tuple[StatedTie, ...]
    kin: Kin | None
    spouse: Gender | None = None

    @property
    def inferred(self) -> bool:
        return len(self.steps) > 1


@dataclass(slots=True)
class KinMap:
    """The stated relations of one owner's people, usable in both directions."""

    stated: Sequence[StatedTie]
    genders: Mapping[str, Gender | None] = field(default_factory=dict)
    _beside: dict[str, list[StatedTie]] = field(init=False, default_factory=lambda: defaultdict(list))

    def __post_init__(self) -> None:
        genders = dict(self.genders) | {one.who: one.kin.gender for one in self.stated if one.kin.gender}
        self.genders = genders
        said = {(one.who, one.whom) for one in self.stated}
        for one in self.stated:
            forth = replace(one, kin=Kin(one.kin.kind, genders.get(one.who)))
            back = StatedTie(one.whom, Kin(one.kin.inverse, genders.get(one.whom)), one.who, one.fact)
            self._beside[one.whom].append(forth)
            if (one.whom, one.who) not in said:
                self._beside[one.who].append(back)

    def ties(self, middle: str) -> dict[str, Tie]:
        """The people within reach of the middle one, by the shortest chain with a known sum."""
        found: dict[str, Tie] = {}
        spouse = next((one.kin.gender for one in self._beside[middle] if one.kin.kind == "spouse"), None)
        border: dict[str, Tie | None] = {middle: None}
        for _ in range(REACH):
            reached: dict[str, Tie] = {}
            for node, before in border.items():
                for step in self._beside[node]:
                    if step.who == middle or step.who in found:
                        continue
                    steps = (*(before.steps if before else ()), step)
                    tie = Tie(steps, _sum(steps), spouse)
                    if step.who not in reached or (reached[step.who].kin is None and tie.kin is not None):
                        reached[step.who] = tie
            found |= reached
            border = dict(reached)
        return found

    def who(self, middle: str, chain: Sequence[Kin]) -> dict[str, Tie]:
        """The people to whom a chain of relations leads, whose first relation is that to the one in the middle."""
        found: dict[str, Tie | None] = {middle: None}
        for asked in chain:
            following: dict[str, Tie | None] = {}
            for node, before in found.items():
                for other, tie in self.ties(node).items():
                    if tie.kin is not None and _fits(tie.kin, asked) and other != middle:
                        steps = (*(before.steps if before else ()), *tie.steps)
                        following.setdefault(other, Tie(steps, _sum(steps)))
            found = following
        return {node: tie for node, tie in found.items() if tie is not None}


def chain_words(tie: Tie, names: Mapping[str, str], language: Language) -> str:
    """The chain of a tie in words: "сестра Маша → сын"."""
    *first, last = tie.steps
    words = [f"{kin_word(step.kin, language)} {names.get(step.who, '')}".strip() for step in first]
    return " → ".join([*words, kin_word(last.kin, language, None if first else tie.spouse)])


def tie_words(tie: Tie, names: Mapping[str, str], language: Language) -> str:
    """The relation of a tie, with the chain from which it follows: "племянник (сестра Маша → сын)"."""
    chain = chain_words(tie, names, language)
    if not tie.inferred:
        return chain
    return f"{kin_word(tie.kin, language, tie.spouse)} ({chain})" if tie.kin is not None else chain


def _sum(steps: Iterable[StatedTie]) -> Kin | None:
    """The relation that follows from a chain, or None if no rule applies."""
    first, *rest = steps
    kind: str | None = first.kin.kind
    last = first
    for last in rest:
        kind = composed(last.kin.kind, kind) if kind is not None else None
    return None if kind is None else Kin(kind, last.kin.gender)


def _fits(kin: Kin, asked: Kin) -> bool:
    """Whether a relation is the one asked for; a sister's husband is a "brother-in-law" as well."""
    same = kin.kind == asked.kind or (kin.kind, asked.kind) == ("sibling-spouse", "sibling-in-law")
    return same and (asked.gender is None or kin.gender in (None, asked.gender))
