"""Being in touch: wished for ("call grandma every week") or reported ("saw Tom yesterday").

Works by classes of verbs, in three languages.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Final

from internal.language.dates.units import fold
from internal.language.names.person_names import mentions
from internal.language.tasks.vocabulary import any_of
from internal.language.text.patterns import pattern
from internal.language.text.spelling import sentence_spans

_WANTED: Final = pattern(rf"\s*(?:to\s+)?(?:{any_of('wanted')})\b")
_ORDERED: Final = pattern(
    r"\W*(?:(?:(?:i|we)(?:'d|\s+would)?\s+)?(?:need|have|want|like|ought|should|must|gotta|try|let's|remember)\s+)?"
)
"""Words before an English verb that make it an order or a wish."""
_OFTEN: Final = pattern(any_of("how_often"))
_IN_TOUCH: Final = pattern(any_of("in_touch"))
_CONTACT: Final = pattern(rf"\b(?:{any_of('contact')})\b")
_NO_CONTACT: Final = pattern(rf"\b(?:{any_of('no_contact')})\b")


def wants_contact(title: str) -> bool:
    """Whether a task's title is about being in touch with somebody; loads no dictionary."""
    return _WANTED.match(fold(title)) is not None


def contact_verb(text: str) -> re.Match[str] | None:
    """The first word by which a text reports having been in touch."""
    return _CONTACT.search(fold(text))


def asks_of_contact(text: str) -> bool:
    """Whether a question asks how often, or when last, its author was in touch with somebody."""
    return _OFTEN.search(fold(text)) is not None and tells_of_contact(text)


def tells_of_contact(text: str) -> bool:
    """Whether a text mentions being in touch at all: once, often, or in the future."""
    folded = fold(text)
    return (_CONTACT.search(folded) or _IN_TOUCH.search(folded)) is not None


def contact_wanted(sentence: str) -> int:
    """The position of an English order to be in touch; -1 for other sentences and for habits ("I call her")."""
    folded = fold(sentence)
    match = _ORDERED.match(folded)
    return match.end() if match is not None and _WANTED.match(folded, match.end()) else -1


def contacts_in(lines: Sequence[str], names: Mapping[int, Sequence[str]]) -> list[set[int]]:
    """The people with whom the author of each line says that he was in touch; a mere mention does not count."""
    return [_contacted_people(line, names) for line in lines]


def named_in(titles: Sequence[str], names: Mapping[int, Sequence[str]]) -> list[set[int]]:
    """The people whom each title names."""
    return [set(mentions(title, names)) for title in titles]


def _contacted_people(line: str, names: Mapping[int, Sequence[str]]) -> set[int]:
    found: set[int] = set()
    for start, end in sentence_spans(line):
        folded = fold(line[start:end])
        if _CONTACT.search(folded) and not _NO_CONTACT.search(folded) and not folded.rstrip().endswith("?"):
            found |= set(mentions(line[start:end], names))
    return found
