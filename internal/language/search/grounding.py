"""Whether what a model proposes stands in the lines it cites: by names in any form and alphabet, or by content words.

All functions are pure and load dictionaries: call them in the language process.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from internal.language.kinship.words import relations
from internal.language.names.introductions import is_own_name
from internal.language.names.mentions import find_people
from internal.language.names.person_names import mentions
from internal.language.names.same_person import same_person_reason
from internal.language.search.terms import document_terms, names_oneself, query_terms, topic_terms, words_of
from internal.language.text.spelling import Language, name_key, text_language, tokens


@dataclass(frozen=True, slots=True)
class Proposed:
    """What one item names and says, and the lines it cites with those before them. `text` may be empty."""

    names: tuple[str, ...]
    text: str
    evidence: tuple[str, ...]


def ungrounded(items: Sequence[Proposed], language: Language) -> list[int]:
    """The places of the items of which nothing stands in their evidence; `language` is the owner's.

    A text in another language than its evidence is judged by names alone.
    """
    return [index for index, item in enumerate(items) if not _grounded(item, language)]


def _grounded(item: Proposed, language: Language) -> bool:
    there = {term for stored in document_terms(item.evidence) for word in words_of(stored) for term in word}
    asked = [word for name in item.names for word in query_terms(name)]
    if any(term in there for word in asked for term, _ in word):
        return True
    if item.text and text_language(item.text, language) not in {text_language(one, language) for one in item.evidence}:
        return not asked
    said = topic_terms(item.text)
    return not (asked or said) or any(term in there for word in said for term, _ in word)


def stated(item: Proposed) -> bool:
    """Whether all that an item says stands in its evidence, not only a word of it."""
    there = {term for stored in document_terms(item.evidence) for word in words_of(stored) for term in word}
    return all(any(term in there for term, _ in word) for word in topic_terms(item.text))


def owner_as_person(names: Sequence[str], owner: Sequence[str], evidence: Sequence[str], language: Language) -> bool:
    """Whether a new person of these names (the first is the main one) is the owner, who has names of his own.

    A namesake is somebody whom the evidence calls by a relation, "my friend Anna", or names without saying "I".
    """
    meant = [name for name in names if is_owner(name, owner)]
    if not meant or (meant[0] != names[0] and not all(token.key in relations() for token in tokens(names[0]))):
        return False
    return not any(_names_another(text, meant[0], language) for text in evidence)


def is_owner(name: str, owner: Sequence[str]) -> bool:
    """Whether a name is the owner's, or a part of it, in any form and alphabet; a longer one is somebody else's."""
    if name_key(name).removeprefix("@") in {name_key(own).removeprefix("@") for own in owner}:
        return True
    return len(tokens(name)) <= max(len(tokens(own)) for own in owner) and bool(mentions(name, {0: tuple(owner)}))


def is_variant_of_owner(names: Sequence[str], owner: Sequence[str], lines: Sequence[str]) -> bool:
    """Whether a name that no line holds is another form of the owner's: "Thomas" of Tom, who alone was shown."""
    alike = any(same_person_reason(names[0], own) for own in owner)
    return alike and not any(mentions(line, {0: [name for name in names if name]}) for line in lines)


def _names_another(text: str, name: str, language: Language) -> bool:
    found = [one for one in find_people(text, text_language(text, language)) if mentions(one.name, {0: (name,)})]
    return any((one.role and not is_own_name(one, text)) or not names_oneself(text) for one in found)
