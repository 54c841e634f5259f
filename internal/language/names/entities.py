"""The forms under which the name of a thing is found again: cleaned, in the nominative, and as it sounds.

Unlike people, of whom a likeness is only ever a hint, a company or a city has one name: "в Акме", "Акме" and "ACME" are
the same. Forms by which different things could meet (prefixes, short forms) are left out.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice, product
from typing import Any, Literal

from internal.language.names.places import places
from internal.language.text.morphology import dictionary_languages, dictionary_nominative, parses, readings_by_rules
from internal.language.text.romanisation import skeletons
from internal.language.text.spelling import Language, name_key, word_languages

_QUOTES = re.compile(r"[«»“”„\"]")
_PREPOSITION = re.compile(r"(?:в|во|у|на|из|с|со|к|з|із|зі|до|від|от|in|at|from|for|to|with)\s+(?=[A-ZА-ЯЁІЇЄҐ«\"“])")
_LEGAL = re.compile(
    r"^(?:ооо|зао|пао|оао|тов|тзов|прат|компания|компанія|фирма|фірма|корпорация|корпорація)\s+(?=\S)"
    r"|[\s,]+(?:inc|ltd|llc|gmbh|corp|corporation|company|limited|plc|s\.?r\.?o|s\.?a|ag|ооо|тов)\.?$"
)
_WORD = re.compile(r"[^\W_]+(?:['’ʼ`.&+#-][^\W_]+)*[+#]*")
_MOST_BASES = 8
_MOST_FORMS = 3
_LEAST_SOUND = 3
"""Letters of a sound; fewer are met by chance."""

_SLAVIC: Sequence[Language] = ("ru", "uk")
_NOMINAL = ("NOUN", "ADJF", "NPRO", "PRTF")


Likeness = Literal["declension", "place", "transliteration", "vector"]
"""Why two names mean one thing, closest first; `vector` is found elsewhere."""


@dataclass(frozen=True, slots=True)
class NameForms:
    """What a name is looked up by.

    `keys` are the folded name, with and without quotation marks; `bases` those of its nominative, without legal
    form and preposition; `places` what stands for a well-known place; `sounds` how it is pronounced, with the alphabet.
    """

    keys: frozenset[str]
    bases: frozenset[str] = frozenset()
    places: frozenset[str] = frozenset()
    sounds: frozenset[str] = frozenset()


def plain_forms(name: str) -> NameForms:
    """The forms that need no dictionary."""
    return NameForms(frozenset(filter(None, (name_key(name), name_key(_QUOTES.sub("", name))))))


def name_forms(names: Sequence[str]) -> list[NameForms]:
    """All forms of each name; 1-3 ms for each word not seen before, so for the language process."""
    return [_forms(name) for name in names]


def likeness(one: NameForms, other: NameForms) -> Likeness | None:
    """Why two names mean one thing, if their types allow it; None if nothing says so. Equal keys are no likeness.

    Names of one alphabet are never compared by their sound: Akme and Acme may be two companies.
    """
    if one.keys & other.keys:
        return None
    if one.bases & other.bases:
        return "declension"
    if one.places & other.places:
        return "place"
    return "transliteration" if one.sounds & {_other_alphabet(sound) for sound in other.sounds} else None


def alike(names: Sequence[str], known: Sequence[Sequence[str]]) -> list[list[tuple[int, str, Likeness]]]:
    """For each name: the places in `known` (the names of one thing each) that are like it, with the name and why.

    Some 5 microseconds for each known name that was seen before, 0.5 ms for each that was not: called with parts of
    what is known, in the language process.
    """
    wanted = [_forms(name) for name in names]
    found: list[list[tuple[int, str, Likeness]]] = [[] for _ in names]
    for place, others in enumerate(known):
        for other in others:
            forms = _forms(other)
            for number, one in enumerate(wanted):
                if reason := likeness(one, forms):
                    found[number].append((place, other, reason))
    return found


def basic_form(name: str, language: Language | None = None) -> str:
    """The name of a thing in its basic form, as it would be written: "Туле" is Тула, "рыбу" is рыба.

    `language` is that of the sentence, for names that two languages could have written ("в Броварах").
    """
    written = _QUOTES.sub("", name).strip()
    key = name_key(written)
    if not written.isupper() and (place := _town(key, language)):
        return _cased(place, written)
    bases = list(_bases(_LEGAL.sub("", key).strip()))
    if not bases or key in bases or written.isupper() or written.isascii():
        return written
    possible = [one for one in _SLAVIC if all(one in word_languages(word) for word in _WORD.findall(written))]
    languages = [one for one in possible if language in (None, one)] or possible
    strange = not any(letter in "іїєґ" for letter in key)

    def unlikely(base: str) -> tuple[bool, bool, bool]:
        return base not in places(), not _dictionary(base, languages), strange == any(c in "іїєґ" for c in base)

    likeliest = min(bases, key=unlikely)
    return " ".join(_cased(word, like) for word, like in _paired(likeliest.split(), written.split()))


def _town(key: str, language: Language | None) -> str | None:
    """The nominative of a place that stands in another case in its sentence's own language.

    "Во Львове" is Львов, though a village of Ukraine is called Львове.
    """
    if language is None or language not in _SLAVIC or " " in key:
        return None
    places_ = [one for one in parses(key, language) if one.is_known and "Geox" in one.tag.grammemes]
    if not places_ or any(one.tag.case == "nomn" for one in places_):
        return None
    return str(places_[0].normal_form)


def place_form(name: str, language: Language) -> str:
    """The basic form of a name that stands behind "in" or "to", and so in no nominative: "у Миколаєві" is Миколаїв.

    Only a place that a dictionary or CLDR knows is read so; any other name as `basic_form` reads it.
    """
    written = _QUOTES.sub("", name).strip()
    key = name_key(written)
    readings = parses(key, language) if language in _SLAVIC and " " not in key else ()
    towns = (
        str(one.normal_form)
        for one in readings
        if one.is_known and one.tag.POS == "NOUN" and "inan" in one.tag.grammemes and one.tag.case != "nomn"
        if "Geox" in one.tag.grammemes or name_key(str(one.normal_form)) in places()
    )
    town = next(towns, None)
    return _cased(town, written) if town else basic_form(name, language)


def goes_on(name: str) -> bool:
    """Whether a name is an adjective that asks for its noun: "в Новой" is not where anybody works, "Новая почта" is."""
    word = name_key(name)
    readings = [one for language in dictionary_languages(word) if language != "en" for one in parses(word, language)]
    return bool(readings) and all(one.tag.POS in ("ADJF", "PRTF", "NPRO") for one in readings if one.is_known)


def is_place(name: str) -> bool:
    """Whether a name, in any case form, is that of a known place: of CLDR, or by the dictionaries."""
    forms = _forms(name)
    return bool(forms.places) or any(map(_geographic, _WORD.findall(name_key(name))))


@lru_cache(maxsize=20_000)
def _geographic(word: str) -> bool:
    """Known as a place and as nothing that employs people (МГУ is a form of a river's name too)."""
    languages = [language for language in dictionary_languages(word) if language != "en"]
    marks = {
        mark
        for language in languages
        for one in parses(word, language)
        if one.is_known
        for mark in {"Geox", "Orgn"} & one.tag.grammemes
    }
    return marks == {"Geox"}


def _dictionary(base: str, languages: Sequence[Language]) -> bool:
    """Whether the words are nominatives of one of the languages in which the name can be written."""
    return any(
        all(
            any(one.is_known and one.tag.case == "nomn" for one in parses(word, language))
            for word in _WORD.findall(base)
        )
        for language in languages
    )


def _paired(words: Sequence[str], written: Sequence[str]) -> Iterable[tuple[str, str]]:
    return zip(words, written if len(words) == len(written) else ["x"] * len(words), strict=True)


def _cased(word: str, like: str) -> str:
    """With capitals where the written word has them, also inside: Нью-Йорке is Нью-Йорк."""
    if "-" in word and word.count("-") == like.count("-"):
        return "-".join(_cased(part, other) for part, other in zip(word.split("-"), like.split("-"), strict=True))
    return word[:1].upper() + word[1:] if like[:1].isupper() else word


def named_in(texts: Sequence[str], known: Sequence[Sequence[str]]) -> list[int]:
    """The places in `known` of the things that a text may mean: all words of a name stand in it, in any form."""
    return sorted(set().union(*named_in_each(texts, known)))


def named_in_each(texts: Sequence[str], known: Sequence[Sequence[str]]) -> list[set[int]]:
    """As `named_in`, for each text by itself."""
    said = [frozenset(form for word in _WORD.findall(name_key(text)) for form in _said(word)) for text in texts]
    called = [[words for name in names if (words := frozenset(_WORD.findall(name_key(name))))] for names in known]
    return [{place for place, names in enumerate(called) if any(words <= text for words in names)} for text in said]


def _said(word: str) -> tuple[str, ...]:
    return (word, *_nominatives(word).forms)


def _other_alphabet(sound: str) -> str:
    return ("c" if sound[0] == "l" else "l") + sound[1:]


@lru_cache(maxsize=50_000)
def _forms(name: str) -> NameForms:
    plain = plain_forms(name)
    written = _QUOTES.sub("", _PREPOSITION.sub("", name.strip()))
    bare = _LEGAL.sub("", name_key(written)).strip()
    bases = {bare} if written.isupper() else set(_bases(bare))
    known = frozenset(place for key in (*plain.keys, bare, *bases) if (place := places().get(key)))
    return NameForms(
        plain.keys, frozenset(filter(None, bases)), known, frozenset(sound for base in bases for sound in _sounds(base))
    )


def _bases(bare: str) -> Iterable[str]:
    """The name as it is if it can stand as a subject, else every way to put its words into the nominative."""
    words = [_nominatives(word) for word in _WORD.findall(bare)]
    if all(word.stands for word in words):
        return (bare,)
    return (" ".join(chosen) for chosen in islice(product(*(word.forms for word in words)), _MOST_BASES))


@dataclass(frozen=True, slots=True)
class _Nominatives:
    """The nominatives of which a word may be a form, in its own number; `stands`: it is one of them."""

    stands: bool
    forms: tuple[str, ...]


@lru_cache(maxsize=50_000)
def _nominatives(word: str) -> _Nominatives:
    if not word.isascii():
        languages = [language for language in dictionary_languages(word) if language != "en"]
        readings = [one for language in languages for one in parses(word, language) if one.tag.POS in _NOMINAL]
        known = [one for one in readings if one.is_known]
        if not known and (by_rules := readings_by_rules(word)):
            return _Nominatives(False, tuple(reading.lemma for reading in by_rules))
        # A word that no dictionary holds is guessed at in its first language only.
        telling = known or [one for one in parses(word, languages[0]) if one.tag.POS in _NOMINAL] if languages else []
        if telling:
            forms = dict.fromkeys(name_key(dictionary_nominative(one)) for one in telling)
            stands = any(_subject(one, telling) for one in telling)
            return _Nominatives(stands, (word,) if stands and len(telling) == 1 else tuple(forms)[:_MOST_FORMS])
    return _Nominatives(True, (word,))


def _subject(reading: Any, all_readings: Sequence[Any]) -> bool:
    """Москвы may be a plural nominative by its form, but nobody speaks of several Moscows."""
    if reading.tag.case != "nomn":
        return False
    return reading.tag.number != "plur" or not any({"Geox", "Orgn"} & one.tag.grammemes for one in all_readings)


def _sounds(base: str) -> Iterable[str]:
    words = base.split()
    sounds = [sorted(skeletons(word)) for word in words]
    if not all(sounds) or any(not word.replace("-", "").isalpha() for word in words):
        return ()
    alphabet = "l" if base.isascii() else "c"
    joined = {" ".join(chosen) for chosen in islice(product(*sounds), _MOST_BASES * 2)}
    return (f"{alphabet}:{sound}" for sound in joined if len(sound) >= _LEAST_SOUND)
