"""Names of relations, which of them are functional, and whether two statements agree.

A name is SCREAMING_SNAKE in the alphabet in which it was written, since a transliterated one could not be read. The
usual names of a functional relation, in three languages, are folded into one.
"""

import re
import unicodedata
from collections import Counter
from collections.abc import Mapping
from typing import Final

from rapidfuzz import fuzz

from internal.errors import Refused
from internal.knowledge.model import Claim, Fact
from internal.language.text.spelling import words
from internal.language.text.tables import table
from internal.text_caches import cached

MAX_RELATION: Final = 60
"""Characters of a relation's name."""

FUNCTIONAL: Final = words(
    "LIVES_IN WORKS_FOR MARRIED_TO BORN_ON BORN_IN DIED_ON DIED_IN HEADQUARTERED_IN NAME_DAY_ON WEDDING_ON"
    " ANNIVERSARY_ON GRADUATION_ON CHRISTENING_ON HOUSEWARMING_ON MEMORIAL_ON EVENT_ON"
)
"""Relations that hold with one target at a time: a later target ends the one before."""

_SPELLINGS: Final = {name: words(said) for name, said in table(__package__, "relations").items()}
_SYNONYMS: Final[Mapping[str, str]] = {other: name for name, others in _SPELLINGS.items() for other in others}

_CAMEL = re.compile(r"(?<=[a-zа-яёіїєґ])(?=[A-ZА-ЯЁІЇЄҐ])")
_NOT_A_WORD = re.compile(r"[\W_]+")
_TOKEN = re.compile(r"\d+(?:[.,:/-]\d+)*|[^\W\d_]+(?:['’ʼ][^\W\d_]+)*")

_NEGATIONS: Final = words(
    "не нет ни никогда больше ні немає нема ніколи більше not no never longer anymore cannot без without"
)
"""Words that negate a statement."""

_SHORT: Final = 3
"""Letters up to which words must be equal: "он" and "она", "из" and "изо" differ."""

_ALIKE: Final = 80.0
"""Similarity (0-100) from which two longer words are forms of one: "Киеве" and "Киева", not "молоком" and "сахаром"."""


def relation_name(text: str) -> str:
    """A relation as it is stored: "works at", "worksAt" and "EMPLOYED_BY" are WORKS_FOR, "играет в" is ИГРАЕТ_В.

    Raises Refused("relation_name") for a text without a letter or longer than MAX_RELATION.
    """
    folded = _CAMEL.sub("_", unicodedata.normalize("NFKC", text))
    for _ in range(2):  # capitals may undo the normal form: twice reaches the fixed point
        folded = unicodedata.normalize("NFKC", folded.upper()).replace("Ё", "Е")
    name = _NOT_A_WORD.sub("_", folded).strip("_")
    if not any(map(str.isalpha, name)) or len(name) > MAX_RELATION:
        raise Refused("relation_name", f"relation: a name of at most {MAX_RELATION} characters is expected")
    return _SYNONYMS.get(name, name)


def is_functional(name: str) -> bool:
    """Whether a relation (in its stored form) holds with one target at a time."""
    return name in FUNCTIONAL


@cached(20_000)
def statement_key(text: str) -> str:
    """The folded text by which two wordings are the same: words and numbers in order, without case or punctuation."""
    folded = unicodedata.normalize("NFKC", text).casefold().replace("ё", "е").replace("’", "'").replace("ʼ", "'")
    return " ".join(_TOKEN.findall(folded))


@cached(20_000)
def materially_different(one: str, other: str) -> bool:
    """Whether two texts say different things: another number, a negation, or a word without a match in the other.

    Case, punctuation, the order of words, endings and slips of the pen make no difference. Symmetric.
    """
    here, there = sorted((statement_key(one), statement_key(other)))
    if here == there:
        return False
    return _differ(Counter(here.split()), Counter(there.split()))


@cached(20_000)
def denies(one: str, other: str) -> bool:
    """Whether one text says the other with a negation: "does not like coffee" and "likes coffee"? Symmetric."""
    here, there = (Counter(statement_key(text).split()) for text in sorted((one, other)))
    if _negations(here) == _negations(there):
        return False
    return not _differ(_plain(here), _plain(there))


def resemblance(one: str, other: str) -> float:
    """The similarity of two texts regardless of order and length: 0 none, 100 if one has all words of the other."""
    return float(fuzz.token_set_ratio(statement_key(one), statement_key(other)))


def _differ(here: Counter[str], there: Counter[str]) -> bool:
    left = sorted((there - here).elements())
    for word in sorted((here - there).elements()):
        likeness = [_likeness(word, other) for other in left]
        best = max(likeness, default=0.0)
        if best < _ALIKE:
            return True
        del left[likeness.index(best)]
    return bool(left)


def _likeness(one: str, other: str) -> float:
    """0-100; 0 for words that cannot be forms of one: short ones, numbers, other beginnings ("женат", "неженат")."""
    exact = min(len(one), len(other)) <= _SHORT or not (one.isalpha() and other.isalpha())
    if exact or one[0] != other[0] or _NEGATIONS & {one, other}:
        return 0.0
    return float(fuzz.ratio(one, other))


def _negations(counted: Counter[str]) -> int:
    return sum(count for word, count in counted.items() if word in _NEGATIONS or word.endswith("n't"))


_AUXILIARIES: Final = words("do does did is are was were")


def _plain(counted: Counter[str]) -> Counter[str]:
    """The name without negations and the auxiliary words that come with them."""
    gone = _NEGATIONS | _AUXILIARIES
    return Counter({word: n for word, n in counted.items() if word not in gone and not word.endswith("n't")})


Group = tuple[str, str, str | None]
"""(source, relation, target) of claims that are projected together; a functional relation has no target here."""


def group_of(claim: Claim | Fact) -> Group:
    return claim.source, claim.name, None if is_functional(claim.name) else claim.target
