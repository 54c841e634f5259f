"""The forms under which the name of a thing is looked up: cleaned, in the nominative, and by its sound.

A similar name of a person is only a hint, but a company or a city has one name: "в Акме", "Акме" and "ACME" are the
same. Forms that different things could share (prefixes, short forms) are left out.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import islice, product
from typing import Any, Literal

from internal.language.names.places import place_ids
from internal.language.text.morphology import dictionary_languages, dictionary_nominative, parses, readings_by_rules
from internal.language.text.romanisation import skeletons
from internal.language.text.spelling import Language, name_key, word_languages
from internal.text_caches import cached

_QUOTES = re.compile(r"[«»“”„\"]")
_PREPOSITION = re.compile(r"(?:в|во|у|на|из|с|со|к|з|із|зі|до|від|от|in|at|from|for|to|with)\s+(?=[A-ZА-ЯЁІЇЄҐ«\"“])")
_LEGAL = re.compile(
    r"^(?:ооо|зао|пао|оао|тов|тзов|прат|компания|компанія|фирма|фірма|корпорация|корпорація)\s+(?=\S)"
    r"|[\s,]+(?:inc|ltd|llc|gmbh|corp|corporation|company|limited|plc|s\.?r\.?o|s\.?a|ag|ооо|тов)\.?$"
)
_WORD = re.compile(r"[^\W_]+(?:['’ʼ`.&+#-][^\W_]+)*[+#]*")
_MAX_BASES = 8
_MAX_FORMS = 3
_MIN_SOUND = 3
"""The least letters of a sound; shorter ones match by chance."""

_SLAVIC: Sequence[Language] = ("ru", "uk")
_NOMINAL = ("NOUN", "ADJF", "NPRO", "PRTF")


MatchReason = Literal["declension", "place", "transliteration", "vector"]
"""The reasons why two names mean one thing, closest first; `vector` is found elsewhere."""


@dataclass(frozen=True, slots=True)
class NameForms:
    """The forms by which a name is looked up.

    `keys` are the folded name, with and without quotation marks; `bases` those of its nominative, without legal form
    and preposition; `places` the ids of a well-known place; `sounds` its pronunciation, with the alphabet.
    """

    keys: frozenset[str]
    bases: frozenset[str] = frozenset()
    places: frozenset[str] = frozenset()
    sounds: frozenset[str] = frozenset()


def plain_forms(name: str) -> NameForms:
    """The forms that need no dictionary."""
    return NameForms(frozenset(filter(None, (name_key(name), name_key(_QUOTES.sub("", name))))))


def name_forms(names: Sequence[str]) -> list[NameForms]:
    """All forms of each name; 1-3 ms for each new word, so call it in the language process."""
    return [_forms(name) for name in names]


def match_reason(one: NameForms, other: NameForms) -> MatchReason | None:
    """The reason why two names mean one thing, if their types allow it, or None. Equal keys give None too.

    Names of one alphabet are never compared by their sound: Akme and Acme may be two companies.
    """
    if one.keys & other.keys:
        return None
    if one.bases & other.bases:
        return "declension"
    if one.places & other.places:
        return "place"
    return "transliteration" if one.sounds & {_other_alphabet(sound) for sound in other.sounds} else None


def match_names(names: Sequence[str], known: Sequence[Sequence[str]]) -> list[list[tuple[int, str, MatchReason]]]:
    """The indexes in `known` (names of one thing each) that match each name, with the matching name and the reason.

    Some 5 microseconds for each known name seen before, 0.5 ms for a new one: call it with parts of what is known, in
    the language process.
    """
    forms_of_names = [_forms(name) for name in names]
    matches: list[list[tuple[int, str, MatchReason]]] = [[] for _ in names]
    for index, others in enumerate(known):
        for other in others:
            forms = _forms(other)
            for number, name_forms_ in enumerate(forms_of_names):
                if reason := match_reason(name_forms_, forms):
                    matches[number].append((index, other, reason))
    return matches


def basic_form(name: str, language: Language | None = None) -> str:
    """The basic form of a name in its usual spelling: "Туле" gives Тула, "рыбу" gives рыба.

    `language` is that of the sentence, for names that two languages could have written ("в Броварах").
    """
    written = _QUOTES.sub("", name).strip()
    key = name_key(written)
    if not written.isupper() and (town := _town_nominative(key, language)):
        return _cased(town, written)
    bases = list(_bases(_LEGAL.sub("", key).strip()))
    if not bases or key in bases or written.isupper() or written.isascii():
        return written
    possible = [one for one in _SLAVIC if all(one in word_languages(word) for word in _WORD.findall(written))]
    languages = [one for one in possible if language in (None, one)] or possible
    no_ukrainian_letters = not any(letter in "іїєґ" for letter in key)

    def unlikely(base: str) -> tuple[bool, bool, bool]:
        return (
            base not in place_ids(),
            not _in_dictionary(base, languages),
            no_ukrainian_letters == any(c in "іїєґ" for c in base),
        )

    likeliest = min(bases, key=unlikely)
    return " ".join(_cased(word, original) for word, original in _paired_words(likeliest.split(), written.split()))


def _town_nominative(key: str, language: Language | None) -> str | None:
    """The nominative of a place that has another case in its sentence's own language.

    "Во Львове" is Львов, though a village of Ukraine is called Львове.
    """
    if language is None or language not in _SLAVIC or " " in key:
        return None
    places_ = [parse for parse in parses(key, language) if parse.is_known and "Geox" in parse.tag.grammemes]
    if not places_ or any(parse.tag.case == "nomn" for parse in places_):
        return None
    return str(places_[0].normal_form)


def place_form(name: str, language: Language) -> str:
    """The basic form of a name after "in" or "to", which is never a nominative: "у Миколаєві" gives Миколаїв.

    Only for places in a dictionary or CLDR; for other names like `basic_form`.
    """
    written = _QUOTES.sub("", name).strip()
    key = name_key(written)
    readings = parses(key, language) if language in _SLAVIC and " " not in key else ()
    towns = (
        str(parse.normal_form)
        for parse in readings
        if parse.is_known and parse.tag.POS == "NOUN" and "inan" in parse.tag.grammemes and parse.tag.case != "nomn"
        if "Geox" in parse.tag.grammemes or name_key(str(parse.normal_form)) in place_ids()
    )
    town = next(towns, None)
    return _cased(town, written) if town else basic_form(name, language)


def needs_noun(name: str) -> bool:
    """Whether a name is an adjective that needs its noun: "в Новой" is not an employer, "Новая почта" is."""
    word = name_key(name)
    readings = [
        parse for language in dictionary_languages(word) if language != "en" for parse in parses(word, language)
    ]
    return bool(readings) and all(parse.tag.POS in ("ADJF", "PRTF", "NPRO") for parse in readings if parse.is_known)


def is_place(name: str) -> bool:
    """Whether a name, in any case form, is that of a known place of CLDR or the dictionaries."""
    forms = _forms(name)
    return bool(forms.places) or any(map(_is_geographic, _WORD.findall(name_key(name))))


@cached(20_000)
def _is_geographic(word: str) -> bool:
    """Whether a word is known as a place and not as an organization (МГУ is also a form of a river's name)."""
    languages = [language for language in dictionary_languages(word) if language != "en"]
    marks = {
        mark
        for language in languages
        for parse in parses(word, language)
        if parse.is_known
        for mark in {"Geox", "Orgn"} & parse.tag.grammemes
    }
    return marks == {"Geox"}


def _in_dictionary(base: str, languages: Sequence[Language]) -> bool:
    """Whether the words are nominatives in one of the languages in which the name can be written."""
    return any(
        all(
            any(parse.is_known and parse.tag.case == "nomn" for parse in parses(word, language))
            for word in _WORD.findall(base)
        )
        for language in languages
    )


def _paired_words(words: Sequence[str], written: Sequence[str]) -> Iterable[tuple[str, str]]:
    return zip(words, written if len(words) == len(written) else ["x"] * len(words), strict=True)


def _cased(word: str, original: str) -> str:
    """The word with capitals where the written word has them, also inside: Нью-Йорке gives Нью-Йорк."""
    if "-" in word and word.count("-") == original.count("-"):
        return "-".join(_cased(part, other) for part, other in zip(word.split("-"), original.split("-"), strict=True))
    return word[:1].upper() + word[1:] if original[:1].isupper() else word


def named_in(texts: Sequence[str], known: Sequence[Sequence[str]]) -> list[int]:
    """The indexes in `known` of the things a text may mean: all words of a name occur in it, in any form."""
    return sorted(set().union(*named_in_each(texts, known)))


def named_in_each(texts: Sequence[str], known: Sequence[Sequence[str]]) -> list[set[int]]:
    """Like `named_in`, separately for each text."""
    forms_of_texts = [
        frozenset(form for word in _WORD.findall(name_key(text)) for form in _word_forms(word)) for text in texts
    ]
    words_of_names = [
        [words for name in names if (words := frozenset(_WORD.findall(name_key(name))))] for names in known
    ]
    return [
        {index for index, names in enumerate(words_of_names) if any(words <= text for words in names)}
        for text in forms_of_texts
    ]


def _word_forms(word: str) -> tuple[str, ...]:
    return (word, *_nominatives(word).forms)


def _other_alphabet(sound: str) -> str:
    return ("c" if sound[0] == "l" else "l") + sound[1:]


@cached(50_000)
def _forms(name: str) -> NameForms:
    plain = plain_forms(name)
    written = _QUOTES.sub("", _PREPOSITION.sub("", name.strip()))
    bare = _LEGAL.sub("", name_key(written)).strip()
    bases = {bare} if written.isupper() else set(_bases(bare))
    places = frozenset(place for key in (*plain.keys, bare, *bases) if (place := place_ids().get(key)))
    return NameForms(
        plain.keys,
        frozenset(filter(None, bases)),
        places,
        frozenset(sound for base in bases for sound in _sounds(base)),
    )


def _bases(bare: str) -> Iterable[str]:
    """The name itself if it can be a subject, else all ways to put its words into the nominative."""
    words = [_nominatives(word) for word in _WORD.findall(bare)]
    if all(word.is_nominative for word in words):
        return (bare,)
    return (" ".join(chosen) for chosen in islice(product(*(word.forms for word in words)), _MAX_BASES))


@dataclass(frozen=True, slots=True)
class _Nominatives:
    """The nominatives of which a word may be a form, in its own number; `is_nominative`: it is one of them."""

    is_nominative: bool
    forms: tuple[str, ...]


@cached(50_000)
def _nominatives(word: str) -> _Nominatives:
    if not word.isascii():
        languages = [language for language in dictionary_languages(word) if language != "en"]
        readings = [parse for language in languages for parse in parses(word, language) if parse.tag.POS in _NOMINAL]
        known = [parse for parse in readings if parse.is_known]
        if not known and (by_rules := readings_by_rules(word)):
            return _Nominatives(False, tuple(reading.lemma for reading in by_rules))
        # An unknown word is guessed only in its first language.
        usable = (
            known or [parse for parse in parses(word, languages[0]) if parse.tag.POS in _NOMINAL] if languages else []
        )
        if usable:
            forms = dict.fromkeys(name_key(dictionary_nominative(parse)) for parse in usable)
            stands = any(_can_be_subject(parse, usable) for parse in usable)
            return _Nominatives(stands, (word,) if stands and len(usable) == 1 else tuple(forms)[:_MAX_FORMS])
    return _Nominatives(True, (word,))


def _can_be_subject(reading: Any, all_readings: Sequence[Any]) -> bool:
    """Whether a reading can be a subject: Москвы may be a plural nominative by form, but there is only one Moscow."""
    if reading.tag.case != "nomn":
        return False
    return reading.tag.number != "plur" or not any({"Geox", "Orgn"} & other.tag.grammemes for other in all_readings)


def _sounds(base: str) -> Iterable[str]:
    words = base.split()
    sounds = [sorted(skeletons(word)) for word in words]
    if not all(sounds) or any(not word.replace("-", "").isalpha() for word in words):
        return ()
    alphabet = "l" if base.isascii() else "c"
    joined = {" ".join(chosen) for chosen in islice(product(*sounds), _MAX_BASES * 2)}
    return (f"{alphabet}:{sound}" for sound in joined if len(sound) >= _MIN_SOUND)
