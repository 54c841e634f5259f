"""The memories and earlier messages that answer a question: of the kind it asks for, or sharing its words."""

from collections.abc import Sequence
from typing import Final

from internal.agents.model import DialogueLine, PassageLine, RecalledMemory, RecalledPassage
from internal.agents.responder.intent import intent_of
from internal.agents.responder.people_in_dialogue import author_of
from internal.language.search.memory_kinds import RequestedKinds, requested_kinds
from internal.language.search.message_traits import ENDS_AS_QUESTION, traits_of
from internal.language.search.terms import document_terms, topic_terms, words_of

MOST_LISTED: Final = 10
_MOST_SHARING: Final = 3
_LATEST: Final = 300
"""Most lines of this dialogue that are searched: more than a prompt holds, since no passage repeats them.

15 ms, 0.4 s for words not seen before.
"""

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


def said_before(said: str, passages: Sequence[RecalledPassage]) -> tuple[RecalledPassage, PassageLine] | None:
    """The line of an earlier conversation that shares most of a question's words, at least half of them.

    Not the assistant's own, nobody's, and no question: those state nothing. Of equal ones one that is not outdated.
    None if there is no such line.
    """
    asked = [{term for term, _ in word} for word in topic_terms(said)]
    lines = [(one, line) for one in passages for line in one.lines if _tells(line)]
    shares = [sum(bool(terms & _terms(line.text)) for terms in asked) for _, line in lines]
    best = max(range(len(lines)), key=lambda place: (shares[place], lines[place][1].outdated is None), default=None)
    return lines[best] if best is not None and shares[best] * 2 >= max(len(asked), 1) else None


def said_here(said: str, dialogue: Sequence[DialogueLine]) -> str:
    """The owner's latest line of this dialogue that shares most of a question's words, at least half of them, else ''.

    The dialogue's own lines stand in no passage: the prompt shows them anyway.
    """
    texts = [one.text for one in dialogue[-_LATEST:] if one.role == "user" and not author_of(one)]
    texts = [
        text for text in reversed(texts) if not traits_of(text) & ENDS_AS_QUESTION and intent_of(text).wish == "news"
    ]
    best = max(texts, key=lambda text: shared(said, text), default="")
    return best if shared(said, best) >= 0.5 else ""


def shared(said: str, text: str) -> float:
    """The share of a question's words that a text has."""
    asked, there = topic_terms(said), _terms(text)
    return sum(not there.isdisjoint(term for term, _ in word) for word in asked) / max(len(asked), 1)


def _tells(line: PassageLine) -> bool:
    known = line.kind == "own" or (line.kind == "other" and bool(line.speaker))
    return known and not traits_of(line.text) & ENDS_AS_QUESTION


def _saying_most(said: str, memories: Sequence[RecalledMemory]) -> list[RecalledMemory]:
    asked = [{term for term, _ in word} for word in topic_terms(said)]
    shares = {one.n: sum(bool(terms & _words(one)) for terms in asked) for one in memories}
    best = max(shares.values(), default=0)
    return [one for one in memories if best and shares[one.n] == best]


def _words(memory: RecalledMemory) -> set[str]:
    return _terms(memory.text)


def _terms(text: str) -> set[str]:
    return {term for word in words_of(document_terms([text])[0]) for term in word}
