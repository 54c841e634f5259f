"""One ranking for the prompt: messages, imports, facts, memories and people compete for one token budget."""

import heapq
import re
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final, Literal

Kind = Literal["fact", "memory", "passage", "person"]

UNDISCOUNTED_HITS: Final = 2
"""Hits of one session that are not discounted; each further one counts for half of the one before it."""

SESSION_DISCOUNT: Final = 0.5

MORE_WORDS_FACTOR: Final = 2.0
MORE_WORDS: Final = 6
"""A message is kept beside the facts drawn from it if it has more words than twice theirs plus six."""

_WORD: Final = re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
class PromptCandidate:
    """Something that was found and may stand in the prompt.

    `chance` (0 to 1) is that it is what was asked for; `tokens` is its cost, `with_context` its cost with the lines
    beside it. `session` is its conversation, or None. `message_ids` are the messages that a passage shows as found, or
    that anything else was drawn from. `replaced_by` are the keys of what replaced it: for a message, what replaced
    everything it stated, and the messages that state that.
    """

    kind: Kind
    key: str
    chance: float
    tokens: int
    text: str
    with_context: int | None = None
    session: str | None = None
    message_ids: frozenset[str] = frozenset()
    replaced_by: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Selection:
    """A candidate that stands in the prompt, with or without the lines beside it."""

    candidate: PromptCandidate
    with_context: bool


def select_candidates(candidates: Sequence[PromptCandidate], budget: int, most: Mapping[Kind, int]) -> list[Selection]:
    """Selects what stands in the prompt, likeliest first, within `budget` tokens and `most` of each kind.

    Equal texts, or a message and the facts drawn from it, count once: the fact stays. From the third hit on, those of
    one session are discounted. A successor always comes before what it replaced. A candidate that does not fit is
    skipped for shorter ones.
    """
    queue = _CandidateQueue(_deduplicated(_successors_first(_without_repeated_sources(candidates))))
    selected: list[Selection] = []
    kinds: Counter[Kind] = Counter()
    left = budget
    while (best := queue.pop()) is not None:
        full_cost = best.tokens if best.with_context is None else best.with_context
        cost = full_cost if full_cost <= left else best.tokens
        if cost > left or kinds[best.kind] >= most.get(best.kind, len(candidates)):
            continue
        selected.append(Selection(best, cost == full_cost))
        left -= cost
        kinds[best.kind] += 1
        if best.session is not None:
            queue.sessions[best.session] += 1
    return selected


class _CandidateQueue:
    """Candidates that were not considered yet. `sessions` counts the selected ones of each session."""

    def __init__(self, candidates: Sequence[PromptCandidate]) -> None:
        self.sessions: Counter[str] = Counter()
        self._candidates = candidates
        self._left = {candidate.key for candidate in candidates}
        self._heap = [(-candidate.chance, index) for index, candidate in enumerate(candidates)]
        self._held_back: list[int] = []
        heapq.heapify(self._heap)

    def pop(self) -> PromptCandidate | None:
        """Removes and returns the likeliest, the first of equal ones; those with a waiting successor come last.

        Selecting from a session only lowers chances, so an outdated heap entry is put back with its present
        chance.
        """
        while self._heap:
            score, index = heapq.heappop(self._heap)
            candidate = self._candidates[index]
            current_score = -_discounted_chance(candidate, self.sessions)
            if current_score != score:
                heapq.heappush(self._heap, (current_score, index))
            elif not candidate.replaced_by.isdisjoint(self._left):
                self._held_back.append(index)
            else:
                return self._remove(index)
        if not self._held_back:
            return None
        crowded = ((-_discounted_chance(self._candidates[index], self.sessions), index) for index in self._held_back)
        return self._remove(min(crowded)[1])

    def _remove(self, index: int) -> PromptCandidate:
        taken = self._candidates[index]
        self._left.discard(taken.key)
        waiting = [held for held in self._held_back if held != index]
        self._held_back = [held for held in waiting if not self._candidates[held].replaced_by.isdisjoint(self._left)]
        for held in set(waiting).difference(self._held_back):
            heapq.heappush(self._heap, (-_discounted_chance(self._candidates[held], self.sessions), held))
        return taken


def _discounted_chance(candidate: PromptCandidate, sessions: Mapping[str, int]) -> float:
    """The chance, discounted by what was already selected of the same session."""
    already_selected = sessions[candidate.session] if candidate.session is not None else 0
    return candidate.chance * SESSION_DISCOUNT ** max(0, already_selected - UNDISCOUNTED_HITS + 1)


def _without_repeated_sources(candidates: Sequence[PromptCandidate]) -> list[PromptCandidate]:
    """Removes messages that say no more than the facts and memories drawn from them.

    The likeliest of these takes over the chance of such a message: it answers what the message would have
    answered.
    """
    derived = [candidate for candidate in candidates if candidate.kind != "passage" and candidate.message_ids]
    raised_chances: dict[str, float] = {}
    dropped: set[str] = set()
    for passage in candidates:
        if passage.kind != "passage" or not passage.message_ids:
            continue
        drawn_from_it = [candidate for candidate in derived if passage.message_ids <= candidate.message_ids]
        if drawn_from_it and not says_more(passage.text, [candidate.text for candidate in drawn_from_it]):
            dropped.add(passage.key)
            best = max(drawn_from_it, key=lambda candidate: candidate.chance)
            raised_chances[best.key] = max(raised_chances.get(best.key, best.chance), passage.chance)
    remaining = (candidate for candidate in candidates if candidate.key not in dropped)
    return [
        replace(candidate, chance=raised_chances[candidate.key]) if candidate.key in raised_chances else candidate
        for candidate in remaining
    ]


def says_more(text: str, drawn_texts: Collection[str]) -> bool:
    """Whether a message says so much more than the facts derived from it that it deserves a place beside them."""
    drawn_words = sum(len(_WORD.findall(drawn_text)) for drawn_text in drawn_texts)
    return len(_WORD.findall(text)) > MORE_WORDS_FACTOR * drawn_words + MORE_WORDS


def _successors_first(candidates: Sequence[PromptCandidate]) -> list[PromptCandidate]:
    """Lowers the chance of each candidate below that of its successor, over several versions too."""
    by_key = {candidate.key: candidate for candidate in candidates}

    def chance(candidate: PromptCandidate, seen: frozenset[str]) -> float:
        successors = [by_key[key] for key in candidate.replaced_by - seen if key in by_key]
        return min(
            [candidate.chance, *(chance(successor, seen | {successor.key}) * (1 - 1e-6) for successor in successors)]
        )

    return [
        replace(candidate, chance=chance(candidate, frozenset({candidate.key}))) if candidate.replaced_by else candidate
        for candidate in candidates
    ]


def _deduplicated(candidates: Sequence[PromptCandidate]) -> list[PromptCandidate]:
    """Keeps one of candidates with equal text, preferably not a passage, else the likeliest, with the best chance."""
    by_text: dict[str, PromptCandidate] = {}
    for candidate in candidates:
        words = " ".join(_WORD.findall(candidate.text.casefold())) or candidate.key
        known = by_text.get(words)
        if known is None:
            by_text[words] = candidate
            continue
        if candidate.key in known.replaced_by or known.key in candidate.replaced_by:
            by_text[f"{words} {candidate.key}"] = candidate
            continue
        kept = max(known, candidate, key=lambda either: (either.kind != "passage", either.chance))
        by_text[words] = replace(kept, chance=max(known.chance, candidate.chance))
    return list(by_text.values())
