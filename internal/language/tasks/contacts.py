"""Being in touch: wished for ("call grandma every week") or reported ("saw Tom yesterday").

Works by classes of verbs, in three languages.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Final

from internal.language.dates.units import Span, blank_out, fold
from internal.language.facts.statements import Judge, stated
from internal.language.kinship.words import relations
from internal.language.names.mentions import find_people
from internal.language.names.person_names import mentions
from internal.language.tasks.titles import infinitive, nominative_person, of_the_author
from internal.language.tasks.vocabulary import any_of
from internal.language.text.english import IRREGULAR_VERBS
from internal.language.text.patterns import pattern
from internal.language.text.spelling import Language, sentence_spans, tokens

_WANTED: Final = pattern(rf"\s*(?:to\s+)?(?:{any_of('wanted')})\b")
_ORDERED: Final = pattern(
    r"\W*(?:(?:(?:i|we)(?:'d|\s+would)?\s+)?(?:need|have|want|like|ought|should|must|gotta|try|let's|remember)\s+)?"
)
"""Words before an English verb that make it an order or a wish."""
_OFTEN: Final = pattern(any_of("how_often"))
_IN_TOUCH: Final = pattern(any_of("in_touch"))
_CONTACT: Final = pattern(rf"\b(?:{any_of('contact')})\b")
_TOGETHER: Final = pattern(
    r"\b(?:с|со|з|із|зі)\s+(?:\S+\s+){1,4}?\w+(?:ли|лись|лися)\b|\b\w+(?:ли|лись|лися)\s+(?:\S+\s+){0,3}?(?:с|со|з|із|зі)\s"
    rf"|^\W*(?:(?:i|we|yesterday|today|then|finally|just)\s+)*(?:\w+ed|{'|'.join(sorted(IRREGULAR_VERBS))})\b.*\bwith\s"
)
_WISHED: Final = pattern(rf"\b(?:{any_of('wishes')})(?!\w)")
_SPARING: Final = pattern(rf"\b(?:{any_of('sparing')})\b")
_IF: Final = pattern(r"\b(?:если|якщо|якби|if|when|когда|коли|he|she|they|he's|he'd|ему|ей|йому|їй|им|їм)\b")
_CLAUSES: Final = pattern(r"[,;:(—–]\s*|\s(?:so|because|but|бо|но|але|чтобы|щоб)\s")
_WITH: Final = pattern(r"\b(?:with|с|со|з|із|зі)\s")
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


def rhythm_wished(sentence: str, time_spans: Sequence[Span], language: Language) -> str:
    """The title of a wish to be in touch regularly, verb first, from the clause that has the verb; else empty."""
    folded = fold(sentence)
    wish = _WISHED.search(folded)
    if wish is None or _IF.search(folded[: wish.start()]):
        return ""
    cut = blank_out(sentence, [wish.span(), *time_spans])
    cut = blank_out(cut, [match.span() for match in _SPARING.finditer(fold(cut))])
    for clause in _CLAUSES.split(cut):
        title = _verb_first(clause.strip(" .!?"))
        wanted = wants_contact(title) or (_WITH.search(fold(title)) and infinitive(title.split()[0]))
        if wanted and names_somebody(clause, language):
            return title
    return ""


def names_somebody(clause: str, language: Language) -> bool:
    """Whether words name a person, by name or kinship."""
    named = (one.key in relations() or (one.capital and one.opens is False) for one in tokens(clause))
    return any(named) or bool(find_people(clause, language))


def _verb_first(clause: str) -> str:
    """The words of a clause from its verb of contact on; a Cyrillic one's infinitive, before the other words."""
    said = clause.split()
    for index, word in enumerate(said):
        verb = word if infinitive(word) else of_the_author(word)
        if verb is not None:
            return " ".join((verb.capitalize(), *said[:index], *said[index + 1 :]))
    begun = next((index for index in range(len(said)) if wants_contact(" ".join(said[index:]))), len(said))
    return " ".join(said[begun:])[:1].upper() + " ".join(said[begun:])[1:]


def contacts_in(lines: Sequence[str], names: Mapping[int, Sequence[str]], judge: Judge | None = None) -> list[set[int]]:
    """The people with whom the author of each line says that he was in touch; a mere mention does not count."""
    return [_contacted_people(line, names, judge) for line in lines]


def named_in(titles: Sequence[str], names: Mapping[int, Sequence[str]]) -> list[set[int]]:
    """The people whom each title names."""
    return [set(mentions(title, names)) for title in titles]


def _together(sentence: str) -> bool:
    """Whether the author did something with somebody: no other person is the subject."""
    if _TOGETHER.search(fold(sentence)) is None:
        return False
    people = (one for one in tokens(sentence) if one.capital or one.key in relations())
    return not any(nominative_person(one.text) for one in people)


def _contacted_people(line: str, names: Mapping[int, Sequence[str]], judge: Judge | None) -> set[int]:
    found: set[int] = set()
    for start, end in sentence_spans(line):
        sentence = line[start:end]
        folded = fold(sentence)
        if _NO_CONTACT.search(folded) or folded.rstrip().endswith("?"):
            continue
        named = set(mentions(sentence, names))
        if named and (_CONTACT.search(folded) or _together(sentence) or stated(sentence, judge, ("contact",))):
            found |= named
    return found
