"""Puts a name from a sentence into the nominative: с Анной Петровой becomes Анна Петрова."""

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
class NameContext:
    """The cases and the gender that the words around a name imply; empty if they imply none."""

    cases: frozenset[str] = frozenset()
    gender: Gender | None = None
    language: Language = "ru"
    subject: Gender | None = None
    """Gender of the verb before: a name of the other gender cannot be its subject ("видел Александра")."""


def name_context(before: str | None, after: str | None, language: Language, gender: Gender | None) -> NameContext:
    """Reads the word before a name (preposition or verb) and the one after it (a verb in the past tense)."""
    subject = _past_gender(after, language) if after else None
    if before is None:
        return NameContext(frozenset({"nomn"}) if subject else frozenset(), gender or subject, language)
    cases = _governed(name_key(before))
    if cases:
        return NameContext(cases, gender, language)
    verb = _past_gender(before, language)
    if verb and subject is None:
        return NameContext(_after_verb(name_key(before)), gender, language, verb)
    return NameContext(frozenset({"nomn"}) if subject else frozenset(), gender or subject, language)


def _governed(word: str) -> frozenset[str]:
    governed: set[str] = set()
    for prepositions, cases in (
        (_DATIVE, {"datv"}),
        (_INSTRUMENTAL, {"ablt"}),
        (_GENITIVE, {"gent"}),
        (_LOCATIVE, {"loct", "accs"}),
    ):
        if word in prepositions:
            governed |= cases
    return frozenset(governed)


def _after_verb(verb: str) -> frozenset[str]:
    """The cases after a verb; the name may also be its subject, so the nominative stays possible."""
    return frozenset({"datv", "nomn"} if _DATIVE_VERB.match(verb) else {"accs", "nomn"})


def _past_gender(word: str, language: Language) -> Gender | None:
    for parse in parses(word, language)[:2]:
        if parse.tag.POS == "VERB" and str(parse.tag.tense) == "past" and str(parse.tag.gender) in ("masc", "femn"):
            return "masc" if str(parse.tag.gender) == "masc" else "femn"
    return None


def nominative(written: Sequence[str], kinds: Sequence[str], context: NameContext) -> tuple[str, Gender | None]:
    """The nominative of the words of one Cyrillic name, and the person's gender or None."""
    cases = context.cases & _shared_cases(written) or _shared_cases(written)
    written_gender = _written_gender(written, kinds)
    if written_gender and context.subject and written_gender != context.subject:
        cases = cases - {"nomn"} or cases
    if cases == {"nomn"} or (not context.cases and written_gender):
        cases = cases & {"nomn"} or cases
    gender = context.gender or (written_gender if "nomn" in cases else None) or _gender(written, kinds)
    restored = [
        _first_name(word, gender, cases, context.language)
        if kind == "first"
        else _last_name(word, gender, cases, context.language)
        for word, kind in zip(written, kinds, strict=True)
    ]
    if gender is None:
        gender = _gender(restored, kinds)
    return " ".join(restored), gender


def _written_gender(written: Sequence[str], kinds: Sequence[str]) -> Gender | None:
    """The gender if the written name is a nominative of one gender only; a first name decides."""
    genders: set[Gender] = set()
    if "first" in kinds:
        genders = {name.gender for name in given_names(written[kinds.index("first")]) if not name.declined}
    elif len(written) == 1:
        readings = [
            reading
            for reading in name_readings(written[0])
            if reading.known and reading.case == "nomn" and reading.gender
        ]
        genders = {reading.gender for reading in readings if reading.kind == "surname" and reading.gender}
    return genders.pop() if len(genders) == 1 else None


def _gender(written: Sequence[str], kinds: Sequence[str]) -> Gender | None:
    """The gender on which patronymic and first name agree."""
    for kind in ("patronymic", "first", "surname"):
        genders = {
            gender for word, own in zip(written, kinds, strict=True) if own == kind for gender in _genders(word, kind)
        }
        if len(genders) == 1:
            return genders.pop()
    return None


def _genders(word: str, kind: str) -> set[Gender]:
    readings = [reading for reading in name_readings(word) if reading.known and reading.kind == kind]
    genders: set[Gender] = {reading.gender for reading in readings if reading.gender}
    if kind == "first":
        genders |= {name.gender for name in given_names(word)}
    return genders


def _shared_cases(written: Sequence[str]) -> frozenset[str]:
    """The cases that all words with known readings share."""
    shared: frozenset[str] | None = None
    for word in written:
        cases = frozenset(reading.case for reading in name_readings(word) if reading.known)
        if cases:
            shared = cases if shared is None else shared & cases or shared
    return shared or frozenset()


def _first_name(word: str, gender: Gender | None, cases: frozenset[str], language: Language) -> str:
    names = [name for name in given_names(word) if gender in (None, name.gender)] or list(given_names(word))
    readings = sorted(_matching_readings(word, "first", gender, cases), key=lambda one: one.language != language)
    lemmas = {name_key(reading.lemma): rank for rank, reading in reversed(list(enumerate(readings)))}
    if "nomn" in cases or not cases:
        nominatives = [name for name in names if not name.declined]
        if nominatives and not (cases and readings and name_key(word) not in lemmas):
            return _cased(word)
    if names:
        return min(names, key=lambda name: _distance(name, word, lemmas, language)).spelling
    return _cased(readings[0].lemma) if readings else _cased(word)


def _distance(name: GivenName, word: str, lemmas: dict[str, int], language: Language) -> tuple[object, ...]:
    """A sort key: dictionary readings, formal before short, nearest length, the letters of the language."""
    key = name_key(name.spelling)
    foreign = any(letter in "іїєґ" for letter in key) != (language == "uk" and any(c in "іїєґ" for c in name_key(word)))
    return (lemmas.get(key, 99), not name.declined, foreign, abs(len(key) - len(word)), name.short, key)


def _last_name(word: str, gender: Gender | None, cases: frozenset[str], language: Language) -> str:
    """The nominative of a surname or patronymic; an unknown one keeps its form unless morphology can guess it."""
    for kind in ("surname", "patronymic"):
        readings = [
            r for r in _matching_readings(word, kind, gender, cases) if r.language == language
        ] or _matching_readings(word, kind, gender, cases)
        if readings:
            best = min(readings, key=lambda reading: (reading.case != "nomn" and name_key(word) == reading.lemma,))
            return _cased(best.lemma)
    return _cased(_guess_nominative(word, gender, cases, language))


def _matching_readings(word: str, kind: str, gender: Gender | None, cases: frozenset[str]) -> list[NameReading]:
    known = [reading for reading in name_readings(word) if reading.kind == kind and reading.known]
    by_gender = [reading for reading in known if gender is None or reading.gender in (None, gender)]
    by_case = [reading for reading in by_gender if not cases or reading.case in cases]
    return by_case or by_gender or known


def _guess_nominative(word: str, gender: Gender | None, cases: frozenset[str], language: Language) -> str:
    """A guess at the nominative of an unknown surname: Штольцем becomes Штольц, Белого becomes Белый."""
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
    """The word with the capitals of a name; capitals inside the written word stay."""
    if word != word.lower() and not word.isupper():
        return word[:1].upper() + word[1:]
    return "-".join(part[:1].upper() + part[1:].lower() for part in word.split("-"))
