"""Reads from lines with whom their author was in touch, and which people speak of which matter."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from internal.language.commands.vocabulary import NEGATED, WORD, content_words, forms, readings
from internal.language.dates.units import fold
from internal.language.names.person_names import mentions
from internal.language.search.terms import english_stem
from internal.language.tasks.contacts import contact_verb, contacts_in
from internal.language.text.english import IRREGULAR_VERBS
from internal.language.text.patterns import pattern
from internal.language.text.spelling import name_key, sentence_spans, words
from internal.language.text.tables import table

_TABLE: Final[Mapping[str, Any]] = table(__package__, "words")
_SHAPES: Final = ("often", "led", "because", "so")
WORDS: Final = {name: words(listed) for name, listed in _TABLE.items() if name not in (*_SHAPES, "answers")}
ANSWERS: Final[Mapping[str, Mapping[str, str]]] = _TABLE["answers"]
NOTHING_KNOWN: Final = frozenset(said[key] for said in ANSWERS.values() for key in ("no often", "no led"))
SHAPES: Final = {name: pattern(_TABLE[name]) for name in _SHAPES}
Names = Mapping[int, Sequence[str]]
"""The names of people by their id."""

_SHORTEST_MATTER: Final = 3
"""Letters of the shortest word that can be a matter."""
_ROOT: Final = 4
_PREFIXES: Final = frozenset({"пере", "пред", "през", "через", "разо", "подо", "недо", "обез", "inter", "over"})


@dataclass(frozen=True, slots=True)
class LineContent:
    """The people with whom the author was in touch, and by matter, as a word to show, the people who speak of it."""

    met: frozenset[int] = frozenset()
    spoke: Mapping[str, frozenset[int]] = field(default_factory=dict)


def read_lines(lines: Sequence[tuple[str, Names]]) -> list[LineContent]:
    """The content of each line about the people who are named in it."""
    return [_read(text, names) for text, names in lines]


def are_related_words(word: str, other: str) -> bool:
    """Whether two words are forms of one word, or a verb and its noun: "переезд" and "переехали"."""
    if forms(word) & forms(other) or (word.isascii() and _base(word) == _base(other)):
        return True
    pairs = ((one, two) for one in forms(word) for two in forms(other))
    return any(_one_root(one, two) for one, two in pairs)


def _base(word: str) -> str:
    return english_stem(IRREGULAR_VERBS.get(word, word))


def names_all(wanted: Sequence[str], text: str) -> bool:
    """Whether a text contains each of these words in some form."""
    held = content_words(text)
    return bool(wanted) and all(any(are_related_words(word, other) for other in held) for word in wanted)


def _one_root(one: str, two: str) -> bool:
    shared = next((n for n, (a, b) in enumerate(zip(one, two, strict=False)) if a != b), min(len(one), len(two)))
    return shared >= _ROOT and one[:shared] not in _PREFIXES and 2 * shared > min(len(one), len(two))


def _read(text: str, names: Names) -> LineContent:
    met: set[int] = set()
    spoke: dict[str, set[int]] = {}
    for start, end in sentence_spans(text):
        sentence = text[start:end]
        [people] = contacts_in([sentence], names)
        met |= people if people and _took_part(sentence, names) else set()
        for matter, who in _matters(sentence, names):
            spoke.setdefault(matter, set()).add(who)
    return LineContent(frozenset(met), {matter: frozenset(who) for matter, who in spoke.items()})


def _took_part(sentence: str, names: Names) -> bool:
    """Whether the author took part: "Anna saw Peter" is about others only."""
    folded = fold(sentence)
    said = list(WORD.finditer(folded))
    if any(word[0] in WORDS["near"] for word in said):
        return True
    subjects = _subjects(sentence, names)
    if not subjects:
        return True
    others = set(mentions(sentence, names)) - set(subjects)
    return not others and any(forms(word[0]) & WORDS["directed"] for word in said)


def _subjects(sentence: str, names: Names) -> list[int]:
    """The people who are subjects of the sentence: named in the basic form before its verb."""
    known = {name_key(part) for listed in names.values() for name in listed for part in name.split()}
    contact = contact_verb(sentence)
    direct = WORDS["say"] | WORDS["directed"]
    said = ((word.start(), word[0]) for word in WORD.finditer(sentence))
    verbs = [at for at, word in said if (fold(word) in direct if word.isascii() else "VERB" in readings(word)[0][1])]
    named = mentions(sentence[: min([*verbs, contact.start() if contact else len(sentence)])], names)
    return [one for one, written in named.items() if {name_key(part) for part in written.split()} <= known]


def _matters(sentence: str, names: Names) -> list[tuple[str, int]]:
    """The matters of which somebody other than the author speaks, each with that person."""
    folded = fold(sentence)
    said = list(WORD.finditer(folded))
    verb = next((word for word in said if forms(word[0]) & WORDS["say"]), None)
    if verb is None or NEGATED.search(folded[: verb.start()]):
        return []
    before = sentence[: verb.start()]
    if any(word[0] in WORDS["first"] for word in said if word.end() <= verb.start()):
        return []
    who = _subjects(f"{before} ", names)
    called = {name_key(part) for written in mentions(sentence, names).values() for part in written.split()}
    after = [word for word in said if word.start() > verb.end()]
    pairs = zip(after, [verb, *after], strict=False)
    nouns = [
        _noun(word[0], before[0])
        for word, before in pairs
        if word[0] not in called and len(word[0]) >= _SHORTEST_MATTER
    ]
    return [(noun, one) for noun in dict.fromkeys(nouns) if noun for one in who]


def _noun(word: str, before: str) -> str:
    """The basic form of a word if it is a meaningful noun, else an empty text."""
    if forms(word) & WORDS["dull"] or not content_words(word):
        return ""
    if word.isascii():
        return min(forms(word), key=len) if before in WORDS["before_noun"] else ""
    lemma, marks = readings(word)[0]
    return lemma if "NOUN" in marks and not marks & {"Name", "Surn", "Patr"} else ""
