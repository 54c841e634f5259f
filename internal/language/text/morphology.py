"""Russian and Ukrainian morphology of names over pymorphy3, loaded on first use (60 MB, 0.25 s).

The Ukrainian dictionary is an extra (`laplaced[ukrainian]`). Without it the Russian one reads Ukrainian words too.
"""

import re
import threading
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from typing import Any, Literal

from internal.language.text.spelling import Language, name_key, word_languages, words
from internal.language.text.ukrainian import ukrainian_name_forms
from internal.text_caches import cached

NameKind = Literal["first", "patronymic", "surname"]
Gender = Literal["masc", "femn"]

_KINDS: dict[str, NameKind] = {"Name": "first", "Patr": "patronymic", "Surn": "surname"}
_GENDERS: dict[str, Gender] = {"masc": "masc", "femn": "femn"}

# A Russian reading less likely than this does not make a word ordinary ("маш" in "Маша" has 0.09).
_ORDINARY_SCORE = 0.15

# Everyday diminutives that dictionaries also hold as rare ordinary words (gerunds, chemistry, rivers).
_NEVER_ORDINARY = words(
    "катя юля ира лена дима гена толя валя вика макс женя жора паша петя костя коля яна миша лиза вова леша маша"
    " саша настя ваня ліза міша діма віка толік іра"
)


_WORD = re.compile("[\u0400-\u04ff'’ʼ`-]+")


INSTALL_UKRAINIAN = "pip install '.[ukrainian]' in the folder of Laplaced"


@dataclass(frozen=True, slots=True)
class NameReading:
    """One reading of a written word as a singular name: its nominative and grammar."""

    lemma: str
    kind: NameKind
    gender: Gender | None
    case: str
    language: Language
    known: bool


@cache
def has_ukrainian_dictionary() -> bool:
    """Whether the extra `ukrainian` is installed. Imports nothing."""
    return find_spec("pymorphy3_dicts_uk") is not None


def dictionary_languages(word: str) -> tuple[Language, ...]:
    """The languages whose dictionaries may know a word, in the order in which they are asked."""
    languages = word_languages(word)
    return ("ru",) if "uk" in languages and not has_ukrainian_dictionary() else languages


_LOADING = threading.Lock()


def analyzer(language: Language) -> Any:
    with _LOADING:
        return _analyzer(language)


@cache
def _analyzer(language: Language) -> Any:
    import pymorphy3

    return pymorphy3.MorphAnalyzer(lang="ru" if language == "uk" and not has_ukrainian_dictionary() else language)


def parses(word: str, language: Language) -> tuple[Any, ...]:
    """The analyses of one Cyrillic word in any case, likeliest first (Ukrainian ones carry no likelihood)."""
    return _parses(word.lower(), language)


@cached(50_000)
def _parses(word: str, language: Language) -> tuple[Any, ...]:
    if not _WORD.fullmatch(word):  # pymorphy3 fails on letters for which Unicode has no names
        return ()
    return tuple(analyzer(language).parse(word))


@cached(50_000)
def name_readings(word: str) -> tuple[NameReading, ...]:
    """The ways to read a Cyrillic word as a first name, patronymic or surname in the singular."""
    found = dict.fromkeys(
        reading
        for language in dictionary_languages(word)
        if language != "en"
        for parse in parses(word, language)
        if (reading := _reading(parse, language))
    )
    known = any(reading.known for reading in found)
    return (() if known else readings_by_rules(word)) or tuple(found)


def readings_by_rules(word: str) -> tuple[NameReading, ...]:
    """The readings of a Ukrainian name by its ending alone, if the Ukrainian dictionary is missing; else none."""
    if has_ukrainian_dictionary() or "uk" not in word_languages(word):
        return ()
    return tuple(NameReading(*form, language="uk", known=True) for form in ukrainian_name_forms(name_key(word)))


def _reading(parse: Any, language: Language) -> NameReading | None:
    marks = parse.tag.grammemes & _KINDS.keys()
    if not marks or parse.tag.number == "plur":
        return None
    return NameReading(
        lemma=dictionary_nominative(parse),
        kind=_KINDS[next(iter(marks))],
        # Plain strings: a grammeme of pymorphy3 raises an error when it is compared with another word.
        gender=_GENDERS.get(str(parse.tag.gender)),
        case=str(parse.tag.case or "nomn"),
        language=language,
        known=parse.is_known,
    )


def dictionary_nominative(parse: Any) -> str:
    """The nominative of a parse in its own gender: Петровой becomes Петрова, which the normal form would make a man."""
    wanted = {"nomn", "sing"} if "sing" in parse.tag.grammemes else {"nomn"}
    if parse.tag.gender in ("masc", "femn"):
        wanted.add(parse.tag.gender)
    same = parse.inflect(wanted)
    return str(same.word if same else parse.normal_form)


@cached(20_000)
def declined_forms(word: str) -> frozenset[str]:
    """Keys of all singular forms of a nominative Cyrillic name, including the nominative.

    A masculine surname does not take the forms of the feminine one, and vice versa.
    """
    forms = {name_key(word)}
    for language in dictionary_languages(word):
        if language != "en":
            forms.update(_lexeme(word, language))
    return frozenset(forms | set(regular_forms(name_key(word))))


def _lexeme(word: str, language: Language) -> Iterator[str]:
    lower = word.casefold()
    for parse in parses(word, language):
        if not parse.tag.grammemes & _KINDS.keys() or parse.tag.case != "nomn" or parse.tag.number == "plur":
            continue
        if name_key(parse.word) != name_key(lower):
            continue
        for form in parse.lexeme:
            if form.tag.number != "plur" and str(form.tag.gender) in (str(parse.tag.gender), "None"):
                yield name_key(form.word)


_SOFT_ENDINGS = ("ь", "й", "я", "ю", "ем", "єм", "е", "еві", "єві", "ї", "и", "і")
_ENDINGS = {
    "а": ("а", "ы", "и", "і", "е", "у", "ой", "ою", "о"),
    "я": ("я", "и", "і", "е", "ю", "ей", "ею", "єю", "ьою", "ї", "є"),
    "о": ("о", "а", "у", "ом", "ові", "е"),
    "ь": _SOFT_ENDINGS,
    "й": _SOFT_ENDINGS,
}
_ENDINGS_CONSONANT = ("", "а", "у", "ом", "е", "ові", "і")


def regular_forms(key: str) -> Iterable[str]:
    """Forms by the common declensions of both languages, for words without a dictionary entry; rather too many."""
    if len(key) < 3 or not key[-1].isalpha():
        return ()
    if key[-1] in "еёиіїуыэює":
        return (key,)
    endings = _ENDINGS.get(key[-1])
    if endings is None:
        return (key + ending for ending in _ENDINGS_CONSONANT)
    return (key[:-1] + ending for ending in endings)


@cached(50_000)
def ordinary(word: str) -> bool:
    """Whether a Cyrillic word in lower case is more likely an ordinary word than a name (вера, кости, коваль)."""
    key = name_key(word)
    if key in _NEVER_ORDINARY:
        return False
    return any(_ordinary_in(key, language) for language in dictionary_languages(key) if language != "en")


@cached(50_000)
def ordinary_namesakes(word: str) -> frozenset[str]:
    """All forms of the ordinary words with the spelling of a nominative name: мороз for Мороз."""
    return frozenset(
        name_key(form.word)
        for language in dictionary_languages(word)
        if language != "en" and _ordinary_in(word, language)
        for parse in _ordinary_parses(word, language)
        for form in parse.lexeme
    )


def _ordinary_in(word: str, language: Language) -> bool:
    readings = _ordinary_parses(word, language)
    if language == "uk":
        return bool(readings)
    return float(sum(parse.score for parse in readings)) > _ORDINARY_SCORE


def _ordinary_parses(word: str, language: Language) -> list[Any]:
    return [parse for parse in parses(word, language) if parse.is_known and _ordinary_parse(parse, language)]


def _ordinary_parse(parse: Any, language: Language) -> bool:
    tag = str(parse.tag)
    if parse.tag.grammemes & {"Name", "Surn", "Patr", "Geox", "Orgn", "Abbr", "GRND"} or "Poss" in tag:
        return False
    if language == "uk":
        return _ordinary_ukrainian(tag, str(parse.normal_form))
    return True


def _ordinary_ukrainian(tag: str, lemma: str) -> bool:
    """Whether a Ukrainian noun is ordinary: the dictionary repeats names as inanimate nouns, with the gender first."""
    if tag.startswith(("NOUN,masc", "NOUN,femn", "NOUN,neut", "NOUN,Fixd")):
        return False
    if lemma.endswith(("енко", "чук", "юк", "ський", "цький")):
        return False
    return not (tag.startswith("ADJF") and lemma.endswith(("ів", "їв", "ин", "їн")))
