"""The facts and memories that answer a question: those about its subject, or with the same words."""

import re
from collections.abc import Mapping, Sequence
from typing import Final

from internal.agents.model import RecalledFact, RecalledMemory
from internal.language.kinship.kinds import kin_of_word
from internal.language.names.person_names import NAMED, name_boosts
from internal.language.search.memory_kinds import RequestedKinds, requested_kinds
from internal.language.search.terms import Word, names_oneself, terms_in, topic_terms
from internal.language.text.tables import table

_ASKED: Final[Mapping[str, re.Pattern[str]]] = {
    relation: re.compile("|".join(asked), re.IGNORECASE)
    for relation, asked in table(__package__, "asked_relations").items()
}
_MAX_ANSWERS: Final = 3


def answering(said: str, facts: Sequence[RecalledFact]) -> list[RecalledFact]:
    """The facts that answer a question, most fitting first, at most three; empty if it only names somebody."""
    if not facts:
        return []
    relation = _relation_asked(said)
    own = names_oneself(said)
    about = _facts_about_named(said, facts, own=own)
    among = about or ([] if own or _names_somebody(said, facts) else list(facts))
    if relation is not None and (exact := [fact for fact in among if fact.relation == relation]):
        return exact[:_MAX_ANSWERS]
    return _sharing_words(said, among)[:_MAX_ANSWERS] if relation is None or not about else []


def facts_about(said: str, facts: Sequence[RecalledFact]) -> list[RecalledFact]:
    """The first facts about the people or things a question names, whatever it asks."""
    return _facts_about_named(said, facts, own=False)[:_MAX_ANSWERS]


def _relation_asked(said: str) -> str | None:
    return next((relation for relation, pattern in _ASKED.items() if pattern.search(said)), None)


def _facts_about_named(said: str, facts: Sequence[RecalledFact], *, own: bool) -> list[RecalledFact]:
    """The facts with a named end, those that begin there first."""
    named = _named_ends(said, facts)
    sources = [fact for fact in facts if fact.source in named or (own and fact.about_owner)]
    return [*sources, *(fact for fact in facts if fact.target in named and fact not in sources)]


def _named_ends(said: str, facts: Sequence[RecalledFact]) -> set[str]:
    names = sorted({name for fact in facts for name in (fact.source, fact.target) if name})
    boosts = name_boosts(said, {number: (name,) for number, name in enumerate(names)})
    return {names[number] for number, boost in boosts.items() if boost >= NAMED}


def _names_somebody(said: str, facts: Sequence[RecalledFact]) -> bool:
    """Whether a question is about somebody else than the facts are: a capital within it shows that."""
    return bool(re.search(r"(?<=[\w,»\"'] )[A-ZА-ЯЁІЇЄҐ]\w+", said)) and not _named_ends(said, facts)


def _sharing_words(said: str, facts: Sequence[RecalledFact]) -> list[RecalledFact]:
    """The facts that share most of the question's words, ends' names apart; those that share none are left out."""
    meant = topic_terms(said)
    asked = [word for word in meant if not any(kin_of_word(term) for term, _ in word)] or meant
    shares = {fact.n: _share(asked, fact) for fact in facts}
    best = max(shares.values(), default=0)
    return [fact for fact in facts if best and shares[fact.n] == best]


def _share(asked: Sequence[Word], fact: RecalledFact) -> int:
    words, ends = (terms_in(text) for text in (fact.text, f"{fact.source} {fact.target}"))
    found = ({term for term, _ in word} for word in asked)
    return sum(bool(terms & words) and not terms & ends for terms in found)


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
    asked, there = topic_terms(said), terms_in(text)
    return sum(not there.isdisjoint(term for term, _ in word) for word in asked) / max(len(asked), 1)


def _saying_most(said: str, memories: Sequence[RecalledMemory]) -> list[RecalledMemory]:
    asked = [{term for term, _ in word} for word in topic_terms(said)]
    shares = {one.n: sum(bool(terms & _words(one)) for terms in asked) for one in memories}
    best = max(shares.values(), default=0)
    return [one for one in memories if best and shares[one.n] == best]


def _words(memory: RecalledMemory) -> frozenset[str]:
    return terms_in(memory.text)


def unsaid_date(text: str, date: str) -> str:
    """A date like 2026-11-07, or nothing where the text has its day, or the year where no day is known."""
    year, _, rest = date.partition("-")
    number = str(int(rest[-2:])) if "-" in rest else year
    return "" if number in re.findall(r"\d+", text) else date
