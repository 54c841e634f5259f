"""Kinds of relations between two people, their words with gender in three languages, and how relations compose.

The table `kinds.json` has for each kind its inverse and the words of each language, the first of a gender being the
one that is shown; and the rules, such as "child of sibling = niece-or-nephew".
"""

import re
from dataclasses import dataclass
from functools import cache
from typing import Final, Literal

from internal.language.kinship.words import relations
from internal.language.text.morphology import Gender
from internal.language.text.spelling import Language, name_key
from internal.language.text.tables import table

_LANGUAGES: Final[tuple[Language, ...]] = ("en", "ru", "uk")
_SEXES: Final[dict[str, Gender | None]] = {"m": "masc", "f": "femn", "x": None}
_SEPARATORS = re.compile(r"[\s_]+")
_RELATIONS: Final = {"spouse": "MARRIED_TO", "sibling-spouse": "SIBLING_SPOUSE_OF"}
"""Relations that are not named by the English word; that for a sister's husband is that for a wife's brother too."""

Direction = Literal["source", "target"]


@dataclass(frozen=True, slots=True)
class Kin:
    """What one person is to another. `gender` is that of the former, None if the word does not tell."""

    kind: str
    gender: Gender | None = None

    @property
    def relation(self) -> str:
        """The name of the relation of a fact that states it: SISTER_OF, MARRIED_TO."""
        by_gender = _kinds()[self.kind][1]["en"]
        word = next(iter(by_gender.get(self.gender) or by_gender.get(None) or (self.kind,)))
        return _RELATIONS.get(self.kind) or f"{word.upper().replace('-', '_')}_OF"

    @property
    def inverse(self) -> str:
        return _kinds()[self.kind][0]


@cache
def _kinds() -> dict[str, tuple[str, dict[Language, dict[Gender | None, tuple[str, ...]]]]]:
    found = {}
    for kind, inverse, *languages in table(__package__, "kinds")["kinds"]:
        words: dict[Language, dict[Gender | None, tuple[str, ...]]] = {}
        for language, line in zip(_LANGUAGES, languages, strict=True):
            entries = (entry.split(":") for entry in line.split())
            words[language] = {_SEXES[sex]: tuple(several.split("/")) for sex, several in entries}
        found[kind] = (inverse, words)
    return found


@cache
def _by_word() -> dict[str, Kin]:
    found: dict[str, Kin] = {}
    for kind, (_, languages) in _kinds().items():
        for by_gender in languages.values():
            for gender, several in by_gender.items():
                for word in (word for words in several for word in words.split("|")):
                    found.setdefault(name_key(word), Kin(kind, gender))
        found.setdefault(kind, Kin(kind))
    return found


@cache
def _rules() -> dict[tuple[str, str], str]:
    parsed = (re.fullmatch(r"(\S+) of (\S+) = (\S+)", rule) for rule in table(__package__, "kinds")["rules"])
    return {(found[1], found[2]): found[3] for found in parsed if found}


def kin_of_word(word: str) -> Kin | None:
    """The meaning of a word in any case form and language: сестрой, sister; None for other words."""
    key = name_key(word.strip())
    known = _by_word().get(key)
    if known is not None:
        return known
    meanings = (_by_word().get(name_key(one.word)) for one in relations().get(key, ()) if not one.plural)
    return next((one for one in meanings if one is not None), None)


def kin_of_label(label: str) -> Kin | None:
    """The meaning of a label in an address book: "_$!<Sister>!$_", "Domestic Partner", "мама"."""
    bare = label.strip().removeprefix("_$!<").removesuffix(">!$_")
    hyphened = _SEPARATORS.sub("-", bare.strip())
    return kin_of_word(hyphened) or kin_of_word(hyphened.replace("-", ""))


def kin_of_relation(name: str) -> tuple[Kin, Direction] | None:
    """The meaning of a fact's relation, and the end that has it: SISTER_OF the source, HAS_SISTER the target."""
    bare = name.removeprefix("IS_").removesuffix("_TO").removesuffix("_WITH")
    has = bare.startswith("HAS_")
    kin = kin_of_label(bare.removeprefix("HAS_").removesuffix("_OF").lower())
    return None if kin is None else (kin, "target" if has else "source")


def composed(first: str, second: str) -> str | None:
    """The kind of the `first` relative of somebody's `second` relative; None if no rule says."""
    return _rules().get((first, second))


def kin_word(kin: Kin, language: Language, spouse: Gender | None = None) -> str:
    """The word for a relation in a language: сестра; for an unknown gender the common word, else both.

    `spouse` is the gender of the spouse through whom they are related: a husband's mother is свекровь, a wife's тёща.
    """
    words = _kinds()[kin.kind][1][language]
    fitting = words.get(kin.gender) or words.get(None)
    shown = [fitting[0]] if fitting else [several[0] for several in words.values()]
    sides = {"femn": 0, "masc": -1}
    if spouse is not None:
        shown = [word.split("|")[sides[spouse]] for word in shown]
    return "/".join(shown).replace("|", "/")
