"""One ranking for the prompt: messages, fragments, facts, memories and people compete for one budget of tokens."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final, Literal

Kind = Literal["fact", "memory", "passage", "person"]

FREE_HITS: Final = 2
"""Hits of one session that cost nothing; each further one counts for half of the one before it."""

CROWDING: Final = 0.5

SAYS_MORE: Final = 2.0
SAYS_MORE_BY: Final = 6
"""A message stays beside the facts drawn from it if it has more words than twice theirs and six: then it says more."""

_WORD: Final = re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
class Candidate:
    """Something that was found and could stand in the prompt.

    `chance` (0 to 1) is how likely it is what was asked for; `tokens` what it costs, `with_context` what it costs with
    the lines beside it. `session` is the conversation it belongs to, None where it belongs to none. `said` are the
    messages that a passage shows as found, or that anything else was drawn from. `replaced_by` are the keys of what
    took its place: of a message, what took the place of all that it told, and the messages that tell that.
    """

    kind: Kind
    key: str
    chance: float
    tokens: int
    text: str
    with_context: int | None = None
    session: str | None = None
    said: frozenset[str] = frozenset()
    replaced_by: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Chosen:
    """A candidate that stands in the prompt, with the lines beside it or without."""

    candidate: Candidate
    with_context: bool


def choose(candidates: Sequence[Candidate], budget: int, most: Mapping[Kind, int]) -> list[Chosen]:
    """What stands in the prompt, likeliest first, within `budget` tokens and at most so many of each kind.

    The same text, or a message and the facts drawn from it, count once: the fact stays, the message is its receipt.
    The third hit of one session counts for half, the next for a quarter. What was replaced never stands before what
    took its place. What is too long for what is left makes room for shorter ones.
    """
    waiting = _once(_successors_first(_receipts_folded(candidates)))
    held_back = {one.key for one in waiting}
    chosen: list[Chosen] = []
    sessions: Counter[str] = Counter()
    kinds: Counter[Kind] = Counter()
    left = budget
    while waiting:
        free = [one for one in waiting if one.replaced_by.isdisjoint(held_back)] or waiting
        best = max(free, key=lambda one: _crowded(one, sessions))
        waiting.remove(best)
        held_back.discard(best.key)
        whole = best.tokens if best.with_context is None else best.with_context
        cost = whole if whole <= left else best.tokens
        if cost > left or kinds[best.kind] >= most.get(best.kind, len(candidates)):
            continue
        chosen.append(Chosen(best, cost == whole))
        left -= cost
        kinds[best.kind] += 1
        if best.session is not None:
            sessions[best.session] += 1
    return chosen


def _crowded(one: Candidate, sessions: Mapping[str, int]) -> float:
    """The chance, lowered by what already stands there of the same session."""
    there = sessions[one.session] if one.session is not None else 0
    return one.chance * CROWDING ** max(0, there - FREE_HITS + 1)


def _receipts_folded(candidates: Sequence[Candidate]) -> list[Candidate]:
    """Without the messages that say no more than the facts and memories drawn from them.

    The likeliest of these takes the chance of such a message over: it answers what the message would have answered.
    """
    derived = [one for one in candidates if one.kind != "passage" and one.said]
    raised: dict[str, float] = {}
    folded: set[str] = set()
    for passage in candidates:
        if passage.kind != "passage" or not passage.said:
            continue
        drawn = [one for one in derived if passage.said <= one.said]
        if drawn and not says_more(passage.text, [one.text for one in drawn]):
            folded.add(passage.key)
            best = max(drawn, key=lambda one: one.chance)
            raised[best.key] = max(raised.get(best.key, best.chance), passage.chance)
    kept = (one for one in candidates if one.key not in folded)
    return [replace(one, chance=raised.get(one.key, one.chance)) for one in kept]


def says_more(text: str, drawn: Collection[str]) -> bool:
    """Whether a message has so much more to say than what was drawn from it that it is worth a place beside that."""
    told = sum(len(_WORD.findall(one)) for one in drawn)
    return len(_WORD.findall(text)) > SAYS_MORE * told + SAYS_MORE_BY


def _successors_first(candidates: Sequence[Candidate]) -> list[Candidate]:
    """Each with a chance below that of what took its place, over several versions too."""
    by_key = {one.key: one for one in candidates}

    def chance(one: Candidate, seen: frozenset[str]) -> float:
        after = [by_key[key] for key in one.replaced_by - seen if key in by_key]
        return min([one.chance, *(chance(other, seen | {other.key}) * (1 - 1e-6) for other in after)])

    return [replace(one, chance=chance(one, frozenset({one.key}))) if one.replaced_by else one for one in candidates]


def _once(candidates: Sequence[Candidate]) -> list[Candidate]:
    """Of several with one text the one that was drawn from the others, else the likeliest, with the best chance."""
    by_text: dict[str, Candidate] = {}
    for one in candidates:
        words = " ".join(_WORD.findall(one.text.casefold())) or one.key
        there = by_text.get(words)
        if there is None:
            by_text[words] = one
            continue
        if one.key in there.replaced_by or there.key in one.replaced_by:
            by_text[f"{words} {one.key}"] = one
            continue
        stays = max(there, one, key=lambda each: (each.kind != "passage", each.chance))
        by_text[words] = replace(stays, chance=max(there.chance, one.chance))
    return list(by_text.values())
