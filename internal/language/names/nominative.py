"""A name as it stands in a sentence, put back into the nominative: с Анной Петровой becomes Анна Петрова."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from internal.language.names.given_names import GivenName, given_names
from internal.language.text.morphology import Gender, NameReading, dictionary_nominative, name_readings, parses
from internal.language.text.spelling import Language, name_key, words

_DATIVE = words("к ко по благодаря завдяки")
_INSTRUMENTAL = words("с со з із зі перед над под між межу между под під перед")
_GENITIVE = words("от без для до после около у від біля після із-за крім кроме возле ради")
_LOCATIVE = words("о об обо при про на в во через")
_DATIVE_VERB = re.compile(
    r"^(?:по|на|пере|при|рас|роз|с|за|об|до|у|від|от)?(?:дзвон|звон|пис|пиш|сказ|каж|скаж|мог|маг|помо|ответ|відпов|дал|дав"
    r"|подар|дяк|спасиб|обещ|обіц|говор|довер|должен|винен)"
)


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What the words around a name say of its case and gender; empty where they say nothing."""

    cases: frozenset[str] = frozenset()
    gender: Gender | None = None
    language: Language = "ru"
    subject: Gender | None = None
    """Gender of the verb before: a name of the other gender cannot be its subject ("видел Александра")."""


def surroundings(before: str | None, after: str | None, language: Language, gender: Gender | None) -> Surroundings:
    """Reads the word before a name (preposition or verb) and the one after it (a verb in the past tense)."""
    subject = _past_gender(after, language) if after else None
    if before is None:
        return Surroundings(frozenset({"nomn"}) if subject else frozenset(), gender or subject, language)
    cases = _governed(name_key(before))
    if cases:
        return Surroundings(cases, gender, language)
    verb = _past_gender(before, language)
    if verb and subject is None:
        return Surroundings(_after_verb(name_key(before)), gender, language, verb)
    return Surroundings(frozenset({"nomn"}) if subject else frozenset(), gender or subject, language)


def _governed(word: str) -> frozenset[str]:
    found: set[str] = set()
    for prepositions, cases in (
        (_DATIVE, {"datv"}),
        (_INSTRUMENTAL, {"ablt"}),
        (_GENITIVE, {"gent"}),
        (_LOCATIVE, {"loct", "accs"}),
    ):
        if word in prepositions:
            found |= cases
    return frozenset(found)


def _after_verb(verb: str) -> frozenset[str]:
    """A verb before a name may have it as its subject too, so the nominative stays possible."""
    return frozenset({"datv", "nomn"} if _DATIVE_VERB.match(verb) else {"accs", "nomn"})


def _past_gender(word: str, language: Language) -> Gender | None:
    for parse in parses(word, language)[:2]:
        if parse.tag.POS == "VERB" and str(parse.tag.tense) == "past" and str(parse.tag.gender) in ("masc", "femn"):
            return "masc" if str(parse.tag.gender) == "masc" else "femn"
    return None


def nominative(written: Sequence[str], kinds: Sequence[str], around: Surroundings) -> tuple[str, Gender | None]:
    """The nominative of the words of one Cyrillic name, and the person's gender where it can be told."""
    cases = around.cases & _shared_cases(written) or _shared_cases(written)
    standing = _standing_gender(written, kinds)
    if standing and around.subject and standing != around.subject:
        cases = cases - {"nomn"} or cases
    if cases == {"nomn"} or (not around.cases and standing):
        cases = cases & {"nomn"} or cases
    gender = around.gender or (standing if "nomn" in cases else None) or _gender(written, kinds)
    restored = [
        _first(word, gender, cases, around.language) if kind == "first" else _last(word, gender, cases, around.language)
        for word, kind in zip(written, kinds, strict=True)
    ]
    if gender is None:
        gender = _gender(restored, kinds)
    return " ".join(restored), gender


def _standing_gender(written: Sequence[str], kinds: Sequence[str]) -> Gender | None:
    """The gender if the name, as it is written, is a nominative of one gender only; a first name decides."""
    genders: set[Gender] = set()
    if "first" in kinds:
        genders = {name.gender for name in given_names(written[kinds.index("first")]) if not name.declined}
    elif len(written) == 1:
        readings = [one for one in name_readings(written[0]) if one.known and one.case == "nomn" and one.gender]
        genders = {one.gender for one in readings if one.kind == "surname" and one.gender}
    return genders.pop() if len(genders) == 1 else None


def _gender(written: Sequence[str], kinds: Sequence[str]) -> Gender | None:
    """What patronymic and first name agree on."""
    for kind in ("patronymic", "first", "surname"):
        found = {
            gender for word, own in zip(written, kinds, strict=True) if own == kind for gender in _genders(word, kind)
        }
        if len(found) == 1:
            return found.pop()
    return None


def _genders(word: str, kind: str) -> set[Gender]:
    readings = [reading for reading in name_readings(word) if reading.known and reading.kind == kind]
    found: set[Gender] = {reading.gender for reading in readings if reading.gender}
    if kind == "first":
        found |= {name.gender for name in given_names(word)}
    return found


def _shared_cases(written: Sequence[str]) -> frozenset[str]:
    """Cases in which all words with known readings can stand."""
    shared: frozenset[str] | None = None
    for word in written:
        cases = frozenset(reading.case for reading in name_readings(word) if reading.known)
        if cases:
            shared = cases if shared is None else shared & cases or shared
    return shared or frozenset()


def _first(word: str, gender: Gender | None, cases: frozenset[str], language: Language) -> str:
    names = [name for name in given_names(word) if gender in (None, name.gender)] or list(given_names(word))
    readings = _fitting(word, "first", gender, cases)
    lemmas = {name_key(reading.lemma): rank for rank, reading in reversed(list(enumerate(readings)))}
    if "nomn" in cases or not cases:
        standing = [name for name in names if not name.declined]
        if standing and not (cases and readings and name_key(word) not in lemmas):
            return _cased(word)
    if names:
        return min(names, key=lambda name: _distance(name, word, lemmas, language)).spelling
    return _cased(readings[0].lemma) if readings else _cased(word)


def _distance(name: GivenName, word: str, lemmas: dict[str, int], language: Language) -> tuple[object, ...]:
    """Dictionary readings first, then formal before short, then the nearest length and the same language's letters."""
    key = name_key(name.spelling)
    foreign = any(letter in "іїєґ" for letter in key) != (language == "uk" and any(c in "іїєґ" for c in name_key(word)))
    return (lemmas.get(key, 99), not name.declined, foreign, abs(len(key) - len(word)), name.short, key)


def _last(word: str, gender: Gender | None, cases: frozenset[str], language: Language) -> str:
    """A surname or patronymic; one that no dictionary holds keeps its form unless morphology can guess it."""
    for kind in ("surname", "patronymic"):
        readings = [r for r in _fitting(word, kind, gender, cases) if r.language == language] or _fitting(
            word, kind, gender, cases
        )
        if readings:
            best = min(readings, key=lambda reading: (reading.case != "nomn" and name_key(word) == reading.lemma,))
            return _cased(best.lemma)
    return _cased(_guessed(word, gender, cases, language))


def _fitting(word: str, kind: str, gender: Gender | None, cases: frozenset[str]) -> list[NameReading]:
    known = [reading for reading in name_readings(word) if reading.kind == kind and reading.known]
    by_gender = [reading for reading in known if gender is None or reading.gender in (None, gender)]
    by_case = [reading for reading in by_gender if not cases or reading.case in cases]
    return by_case or by_gender or known


def _guessed(word: str, gender: Gender | None, cases: frozenset[str], language: Language) -> str:
    """Штольцем becomes Штольц, Белого becomes Белый: what can be undone without knowing the surname."""
    key = word.casefold()
    for parse in parses(key, language):
        fits = str(parse.tag.gender) in ((gender,) if gender else ("masc", "femn")) and (
            not cases or str(parse.tag.case) in cases
        )
        if parse.is_known and parse.tag.POS == "ADJF" and fits:
            return dictionary_nominative(parse)
    if key.endswith(("ом", "ем")) and len(key) > 4 and (not cases or "ablt" in cases):
        return word[:-2]
    return word


def _cased(word: str) -> str:
    """Capitals where a name has them; what the owner typed in capitals inside a word stays."""
    if word != word.lower() and not word.isupper():
        return word[:1].upper() + word[1:]
    return "-".join(part[:1].upper() + part[1:].lower() for part in word.split("-"))
