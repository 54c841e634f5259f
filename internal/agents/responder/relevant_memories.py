"""The memories that answer a question: of the kind it asks for, or sharing its words."""

from collections.abc import Sequence
from typing import Final

from internal.agents.model import RecalledMemory
from internal.language.search.memory_kinds import RequestedKinds, requested_kinds
from internal.language.search.terms import document_terms, topic_terms, words_of

MOST_LISTED: Final = 10
_MOST_SHARING: Final = 3
_SETTLED: Final = frozenset({"achieved", "abandoned", "answered"})


def of_kind(said: str, memories: Sequence[RecalledMemory]) -> list[RecalledMemory]:
    """The memories of the kind that a question asks for, open ones first; empty if it asks for no kind.

    "What did I decide about the car?" is answered by the decisions that share most of its other words.
    """
    asked = requested_kinds(said)
    found = [one for one in memories if one.label in asked.labels and not one.associated]
    if not asked.alone:
        found = _saying_most(said, found)
    return sorted(found, key=lambda one: one.status in _SETTLED)[:MOST_LISTED]


def sharing_words(said: str, memories: Sequence[RecalledMemory]) -> list[RecalledMemory]:
    """The memories that share most of a question's words, at most three; empty if it asks for a kind."""
    if requested_kinds(said) != RequestedKinds():
        return []
    return _saying_most(said, [one for one in memories if not one.associated])[:_MOST_SHARING]


def shared(said: str, text: str) -> float:
    """The share of a question's words that a text has."""
    asked, there = topic_terms(said), _terms(text)
    return sum(not there.isdisjoint(term for term, _ in word) for word in asked) / max(len(asked), 1)


def _saying_most(said: str, memories: Sequence[RecalledMemory]) -> list[RecalledMemory]:
    asked = [{term for term, _ in word} for word in topic_terms(said)]
    shares = {one.n: sum(bool(terms & _words(one)) for terms in asked) for one in memories}
    best = max(shares.values(), default=0)
    return [one for one in memories if best and shares[one.n] == best]


def _words(memory: RecalledMemory) -> set[str]:
    return _terms(memory.text)


def _terms(text: str) -> set[str]:
    return {term for word in words_of(document_terms([text])[0]) for term in word}
