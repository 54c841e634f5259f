"""The words of a name, and the reasons why two words may be the same."""

import re
from dataclasses import dataclass, field
from functools import cache
from typing import Literal

from rapidfuzz.distance import Prefix

from internal.language.kinship.words import is_title
from internal.language.names.given_names import GivenName, english_relatives, given_names, is_english_given_name
from internal.language.text.morphology import name_readings
from internal.language.text.romanisation import skeletons
from internal.language.text.spelling import Language, name_key, word_languages
from internal.text_caches import cached

WordKind = Literal["first", "patronymic", "surname", "initial", "title"]
WordReason = Literal["", "prefix", "declension", "diminutive", "transliteration"]

_WORD = re.compile(r"[^\W\d_]+(?:['’ʼ`-][^\W\d_]+)*|\d+")
_PATRONYMIC = re.compile(
    r"(?:ович|евич|йович|ильич|лукич|кузьмич|фомич|никитич|овн|евн|ичн|инічн|івн|ївн)(?:|а|у|ем|ом|е|ы|и|і|ой|ою|еві|ові)$"
)
_SURNAME_SHAPE = re.compile(r"(?:ов|ев|ин|ын|їн|ск|цк|ськ|цьк)(?:а|у|ым|им|е|ой|ою|ого|ому|ої|ій|ий|ая|ую)$")
"""Endings of surnames that morphology may guess, though no dictionary has them."""
_LATIN_PATRONYMIC = re.compile(r"(?:ovich|evich|ovych|evych|yovych|ovna|evna|ivna|yivna|ichna)$")


_PET_ENDING = re.compile(
    r"(?:[её]?н?ь?к|[оеяаё]чк|инк|[чщ]?[иії]к|[чн]?[оеё]к|[уюаоеёяиі]?[хшс]|[уюя]с[яьи]к?|ча?н|[аяуюоі]н|[ую]л|ц)"
    r"(?:|ь|[аяоуюеиіь]|[оеє][юйм])|(?P<latin>y|ie|ey|i|o|s|sy|z|za|zer|ster)"
)
_SAME_LETTERS = 3


def may_be_pet_name(key: str, name: str) -> bool:
    """Whether a written word may be a pet form of a name, by its beginning and ending: ларка of Лариса, olly of Oliver.

    A rule for forms that no table has; it only selects among people whom an answer already looks for.
    """
    groups, known = {one.group for one in given_names(key)}, name_key(name)
    if groups and groups.isdisjoint(one.group for one in given_names(name)):
        return False  # Маринка is not Мария
    same = Prefix.similarity(key, known)
    doubled = key.isascii() and 1 < same < len(key) and key[same] == key[same - 1]
    ending = _PET_ENDING.fullmatch(key[same + doubled :])
    return ending is not None and same + doubled >= _SAME_LETTERS and bool(ending["latin"]) == key.isascii()


def is_fond_form(one: str, other: str) -> bool:
    """Whether one of two first names only adds -ка to the other: Светка and Света, Зойка and Зоя."""
    short, fond = sorted((name_key(one), name_key(other)), key=len)
    return len(short) > _SAME_LETTERS - 1 and re.fullmatch(rf"{re.escape(short[:-1])}[йь]?к[ао]", fond) is not None


@dataclass(frozen=True, slots=True)
class NameWord:
    """One word of a name. `bases` are keys of its possible nominatives, `given` its readings as a first name.

    Both follow from key and kind, which alone make it equal (and hashing it cheap).
    """

    key: str
    kind: WordKind
    bases: frozenset[str] = field(compare=False)
    given: tuple[GivenName, ...] = field(compare=False)

    @property
    def groups(self) -> frozenset[int]:
        return frozenset(name.group for name in self.given)


@cached(50_000)
def name_words(name: str) -> tuple[NameWord, ...]:
    """The words of a name in order, each with its likeliest kind, without digits and marks."""
    written = [word for word in _WORD.findall(name) if not word.isdigit()]
    has_first = False
    words = []
    for position, word in enumerate(written):
        kind = _kind(word, alone=len(written) == 1, after_first=has_first)
        has_first = has_first or kind == "first"
        words.append(_word(word, kind, last=position == len(written) - 1))
    return tuple(words)


def _word(word: str, kind: WordKind, last: bool) -> NameWord:
    given = given_names(word) if kind == "first" else ()
    trusted = (reading for reading in name_readings(word) if reading.known or _SURNAME_SHAPE.search(name_key(word)))
    bases = frozenset({name_key(word)} | {name_key(reading.lemma) for reading in trusted})
    if given:
        bases |= {name_key(name.spelling) for name in given if name.declined}
    return NameWord(name_key(word), kind, bases, given)


def _kind(word: str, alone: bool, after_first: bool) -> WordKind:
    key = name_key(word)
    if len(key) == 1:
        return "initial"
    if not alone and is_title(key):
        return "title"
    if is_patronymic(word) and not (alone and _may_be_surname(word)):
        return "patronymic"
    return "first" if not after_first and is_given_name(word) else "surname"


def _may_be_surname(word: str) -> bool:
    """Whether a single word may be a surname: Абрамович may, Ивановна may not."""
    kinds = {reading.kind for reading in name_readings(word)}
    return "surname" in kinds or "patronymic" not in kinds


def is_given_name(word: str) -> bool:
    """Whether a word may be a first name in any case form: by our table, the English one or the dictionaries."""
    if given_names(word) or is_english_given_name(word):
        return True
    return any(reading.kind == "first" and reading.known for reading in name_readings(word))


def is_patronymic(word: str) -> bool:
    """Whether a word has the form of a patronymic, in any case and either alphabet."""
    key = name_key(word)
    if key.isascii():
        return len(key) > 6 and bool(_LATIN_PATRONYMIC.search(key))
    return len(key) > 5 and bool(_PATRONYMIC.search(key)) and not given_names(word)


def word_reason(one: NameWord, other: NameWord) -> WordReason | None:
    """The reason why two words of names may be the same: "" if they are equal, None if there is none. Symmetric."""
    if one.key == other.key:
        return ""
    if "initial" in (one.kind, other.kind):
        return "prefix" if _initial_of(one, other) else None
    if "title" in (one.kind, other.kind) or not _kinds_agree(one, other):
        return None
    return _match_reason(one, other)


def _match_reason(one: NameWord, other: NameWord) -> WordReason | None:
    if one.bases & other.bases:
        return "declension"
    if one.groups & other.groups:
        return _given_reason(one, other)
    if other.key in english_relatives(one.key):
        return "diminutive"
    return "transliteration" if _have_same_sound(one, other) or _translated(one, other) else None


def _kinds_agree(one: NameWord, other: NameWord) -> bool:
    """Whether the kinds may belong to one word: a patronymic is never another kind."""
    return one.kind == other.kind or "patronymic" not in (one.kind, other.kind)


def _initial_of(one: NameWord, other: NameWord) -> bool:
    if one.kind == other.kind:
        return False
    initial, full = (one, other) if one.kind == "initial" else (other, one)
    return any(
        full_sound.startswith(initial_sound)
        for initial_sound in skeletons(initial.key)
        for full_sound in skeletons(full.key)
    ) or full.key.startswith(initial.key)


def _given_reason(one: NameWord, other: NameWord) -> WordReason:
    shared = one.groups & other.groups
    short = any(name.short for word in (one, other) for name in word.given if name.group in shared)
    if not short:
        return "transliteration"
    if any(skeletons(a) & skeletons(b) for a in one.bases for b in other.bases):
        return "transliteration"
    return "diminutive"


def _have_same_sound(one: NameWord, other: NameWord) -> bool:
    return any(skeletons(a) & skeletons(b) for a in one.bases for b in other.bases)


def _translated(one: NameWord, other: NameWord) -> bool:
    return bool(
        other.bases & frozenset().union(*map(translations, one.bases))
        or one.bases & frozenset().union(*map(translations, other.bases))
    )


@cache
def _name_dictionaries() -> object:
    from names_translator.dicts import default_dicts

    return default_dicts()


@cached(20_000)
def translations(key: str) -> frozenset[str]:
    """Keys of the Russian spellings of a Ukrainian surname or patronymic (names-translator): Кравець gives кравец."""
    languages: tuple[Language, ...] = word_languages(key)
    if "uk" not in languages or len(key) < 4:
        return frozenset()
    lookup = _name_dictionaries().lookup  # type: ignore[attr-defined]  # the package ships no types
    keys = {name_key(name) for category in ("last", "patronymic") for name in lookup(key, category, limit=2)}
    return frozenset(keys - {key})
