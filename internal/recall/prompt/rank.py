"""One ranking for the prompt: messages, fragments, facts, memories and people compete for one budget of tokens."""

from __future__ import annotations

import heapq
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
    waiting = _Waiting(_once(_successors_first(_receipts_folded(candidates))))
    chosen: list[Chosen] = []
    kinds: Counter[Kind] = Counter()
    left = budget
    while (best := waiting.best()) is not None:
        whole = best.tokens if best.with_context is None else best.with_context
        cost = whole if whole <= left else best.tokens
        if cost > left or kinds[best.kind] >= most.get(best.kind, len(candidates)):
            continue
        chosen.append(Chosen(best, cost == whole))
        left -= cost
        kinds[best.kind] += 1
        if best.session is not None:
            waiting.sessions[best.session] += 1
    return chosen


class _Waiting:
    """Candidates that were not looked at yet. `sessions` counts what was chosen of each."""

    def __init__(self, candidates: Sequence[Candidate]) -> None:
        self.sessions: Counter[str] = Counter()
        self._candidates = candidates
        self._left = {one.key for one in candidates}
        self._heap = [(-one.chance, place) for place, one in enumerate(candidates)]
        self._held_back: list[int] = []
        heapq.heapify(self._heap)

    def best(self) -> Candidate | None:
        """Takes out the likeliest, of equal ones the first: no one of whose successors waits, as long as there is one.

        A session that fills only lowers what was in the heap: what is not at its place there is put at the right one.
        """
        while self._heap:
            score, place = heapq.heappop(self._heap)
            one = self._candidates[place]
            now = -_crowded(one, self.sessions)
            if now != score:
                heapq.heappush(self._heap, (now, place))
            elif not one.replaced_by.isdisjoint(self._left):
                self._held_back.append(place)
            else:
                return self._taken(place)
        if not self._held_back:
            return None
        crowded = ((-_crowded(self._candidates[place], self.sessions), place) for place in self._held_back)
        return self._taken(min(crowded)[1])

    def _taken(self, place: int) -> Candidate:
        taken = self._candidates[place]
        self._left.discard(taken.key)
        waiting = [other for other in self._held_back if other != place]
        self._held_back = [other for other in waiting if not self._candidates[other].replaced_by.isdisjoint(self._left)]
        for other in set(waiting).difference(self._held_back):
            heapq.heappush(self._heap, (-_crowded(self._candidates[other], self.sessions), other))
        return taken


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
    return [replace(one, chance=raised[one.key]) if one.key in raised else one for one in kept]


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
