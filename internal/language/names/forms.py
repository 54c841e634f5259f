"""The forms of a name's words that a text may contain, by rules and tables alone, for erasing and hiding.

They include all forms that the search finds with its dictionaries, which a database thread must not load. A form is
written as a key of a text's word (`word_keys`): `саши` in any case, `^коли` only with a capital since it is
an ordinary word or, like `^ян`, short, `^^коли` not at the start of a sentence; `~` and `~^` precede a sound of the
other alphabet.
"""

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence, Set as AbstractSet
from functools import cache
from itertools import chain
from typing import Final, NamedTuple

from internal.language.names.given_names import english_relatives, given_names, spellings_of
from internal.language.names.name_words import translations
from internal.language.text.declension import written_forms
from internal.language.text.english import ORDINARY_NAMES
from internal.language.text.romanisation import cyrillic_spelling, skeletons
from internal.language.text.spelling import name_key
from internal.language.text.tables import table
from internal.text_caches import cached

CASE: Final = 0
"""How closely a form belongs to a word: as a case, another spelling or alphabet, a short or long form."""
SPELLING: Final = 1
SHORT: Final = 2

_SHORTEST: Final = 3
_WORD: Final = re.compile(r"[^\W_][\w'’ʼ-]*")
_INSIDE: Final = re.compile(r"[\w,;)»”\"'’]\s+[\"«“(—–-]*$")
_POSSESSIVE: Final = re.compile(r"['’ʼ]s?$")
_SLAVIC: Final = re.compile(r"(?:[оеєи]в|[иі]н|енко|чук|юк|ь?ск(?:ий|а|ая)|ць?к(?:ий|а|ая)|ович|евич)$")
_CYRILLIC_ENDINGS: Final = ("a", "u", "om", "em", "e", "i", "oi", "oiu", "ei", "eiu", "im", "ovi")


@cached(50_000)
def word_keys(word: str, inside: bool) -> tuple[str, ...]:
    """The keys by which a word of a text is compared with forms. `inside`: it does not open a sentence."""
    key, capital = name_key(word), word[:1].isupper()
    if len(key) < _SHORTEST:
        short = len(key) == _SHORTEST - 1 and capital
        return (f"^{key}", f"^^{key}")[: 1 + inside] if short else ()
    bare = _POSSESSIVE.sub("", key) if key.isascii() else key
    sounds = [f"{'l' if key.isascii() else 'c'}:{sound}" for sound in skeletons(bare)]
    found = [key]
    if key.isascii() and bare not in ORDINARY_NAMES:
        found += [f"~{sound}" for sound in sounds]
    if capital:
        found += [f"^{key}", *(f"~^{sound}" for sound in sounds)]
    if capital and inside:
        found += [f"^^{key}", *(f"~^^{sound}" for sound in sounds)]
    return tuple(found)


class TextWord(NamedTuple):
    """A word of a text with its keys; `follows`: only a space separates it from the word before."""

    keys: tuple[str, ...]
    capital: bool
    follows: bool


def words_in(text: str) -> Iterator[TextWord]:
    """The words of a text that are long enough to belong to a name."""
    end = 0
    for match in _WORD.finditer(text):
        start, word = match.start(), match[0]
        capital = word[0].isupper()
        if keys := word_keys(word, capital and _stands_inside(text, start)):
            yield TextWord(keys, capital, start == end + 1 and text[end] == " ")
        end = match.end()


def _stands_inside(text: str, start: int) -> bool:
    """Whether the word at this position of a text does not open a sentence."""
    return _INSIDE.search(text, max(0, start - 6), start) is not None


def keys_in(text: str) -> set[str]:
    """The keys of a text's words, and of each pair of neighbours, as in names."""
    found, before = set[str](), ""
    for match in _WORD.finditer(text):
        word = match[0]
        if keys := word_keys(word, word[0].isupper() and _stands_inside(text, match.start())):
            found.update(keys)
            if before:
                found.add(f"{before} {name_key(word)}")
            before = name_key(word)
    return found


def holds_any(text: str, forms: AbstractSet[str]) -> bool:
    """Whether a text contains a word in one of these forms."""
    if all(forms.isdisjoint(word_keys(word, True)) for word in {*_WORD.findall(text)}):
        return False
    return any(not forms.isdisjoint(word.keys) for word in words_in(text))


def naming(names: Iterable[str], others: Collection[str]) -> Callable[[str], bool]:
    """A test for texts that mean one of these names in any form, and no other known name as closely.

    A first name in another form, followed by another surname, belongs to another person.
    """
    split = [words for name in names if (words := words_of_name(name))]
    alone = [words[0] for words in split if len(words) == 1]
    single, cases = sentence_forms(alone, others), case_forms(alone)
    whole = [[sentence_forms([word]) for word in words] for words in split if len(words) > 1]
    own = sentence_forms(chain(*split))

    def somebody_else(word: TextWord, following: Sequence[TextWord]) -> bool:
        surname = following[0] if following and following[0].follows and following[0].capital else None
        return surname is not None and own.isdisjoint(surname.keys) and cases.isdisjoint(word.keys)

    def holds(text: str) -> bool:
        if not holds_any(text, own):
            return False
        said = [*words_in(text)]
        if any(
            not single.isdisjoint(one.keys) and not somebody_else(one, said[n : n + 1]) for n, one in enumerate(said, 1)
        ):
            return True
        return any(_stands_at(said, position, forms) for forms in whole for position in range(len(said)))

    return holds


def _stands_at(said: Sequence[TextWord], position: int, forms: Sequence[AbstractSet[str]]) -> bool:
    """Whether a name of several words is at this position of a text."""
    there = said[position : position + len(forms)]
    return len(there) == len(forms) and all(
        not one.isdisjoint(word.keys) for word, one in zip(there, forms, strict=True)
    )


def case_forms(names: Iterable[str]) -> set[str]:
    """The words of names, folded, in the cases in which a sentence may contain them."""
    return {form for name in names for word in words_of_name(name) for form in written_forms(name_key(word))}


def sentence_forms(names: Iterable[str], others: Iterable[str] = ()) -> set[str]:
    """The forms by which a text may mean one of these names, without those that mean one of the others as closely."""
    words = {word for name in names for word in words_of_name(name)}
    theirs = {word for name in others for word in words_of_name(name)}
    nearest = {form for word in theirs for form in written_forms(name_key(word))}
    found: dict[str, int] = {}
    for word in words:
        for form, closeness in word_forms(word).items():
            if form.lstrip("^") not in nearest:
                found[form] = min(closeness, found.get(form, closeness))
    related = set[str]().union(*map(_relatives, words))
    for word in theirs:
        if not related.isdisjoint(_relatives(word)):
            for form, closeness in word_forms(word).items():
                if found.get(form, CASE) >= max(closeness, SPELLING):
                    del found[form]
    return set(found)


def words_of_name(name: str) -> list[str]:
    """The words of a name, in lower case, without initials."""
    return [word for word in _WORD.findall(name.casefold()) if len(name_key(word)) > 1]


@cached(500)
def word_forms(word: str) -> Mapping[str, int]:
    """All forms of a word of a name, with their closeness."""
    found: dict[str, int] = {}
    nominatives = {word: CASE} | {one: closeness for one, closeness in _nominatives(word).items() if one != word}
    for nominative, closeness in sorted(nominatives.items(), key=lambda one: one[1]):
        key = name_key(nominative)
        for form in (*written_forms(key), *_called(key)):
            found.setdefault(_marked(form, key, closeness), closeness)
    for nominative, closeness in nominatives.items():
        for sound in _sounds(nominative):
            found.setdefault(sound, max(closeness, SPELLING))
    return found


def _called(key: str) -> Iterable[str]:
    """The vocative short forms of a name: Саш, Тань, Зой."""
    if not key.isascii() and key[-1:] in "ая":
        yield key[:-1] + ("" if key.endswith("а") else "й" if key[-2:-1] in "аеиіоуюя" else "ь")


def _marked(form: str, nominative: str, closeness: int) -> str:
    """The form with marks that make it one of the name, not an ordinary word."""
    if form not in _homographs() or (closeness == CASE and form == nominative):
        return form if len(form) >= _SHORTEST else f"^{form}"
    return f"^{form}" if closeness == CASE or form == nominative else f"^^{form}"


def _nominatives(word: str) -> dict[str, int]:
    """Other names for a word of a name: spellings of a first name, short and long forms."""
    key = name_key(word)
    found = dict.fromkeys(english_relatives(key), SHORT) | dict.fromkeys(translations(key), SPELLING)
    if key.isascii() and _SLAVIC.search(guess := cyrillic_spelling(key)):
        found[guess] = SPELLING
    for name in given_names(key):
        for spelling in () if name.declined else spellings_of(name.group):
            spelled = spelling.spelling.casefold()
            closeness = SHORT if name.short or spelling.short else SPELLING
            found[spelled] = min(closeness, found.get(spelled, closeness))
    return found


def _sounds(nominative: str) -> Iterable[str]:
    """The sounds of a word in the other alphabet; a Latin name is declined too."""
    for base in skeletons(nominative):
        if not nominative.isascii():
            yield f"~l:{base}" if len(base) >= _SHORTEST else f"~^l:{base}"
            continue
        yield f"~^c:{base}"
        stem = base[:-1] if base[-1:] in "ai" else base
        yield from (f"~^^c:{stem}{ending}" for ending in _CYRILLIC_ENDINGS)


@cached(20_000)
def _relatives(word: str) -> frozenset[str]:
    return frozenset({name_key(word), *map(name_key, _nominatives(word)), *skeletons(word)})


@cache
def _homographs() -> frozenset[str]:
    """Forms of first names that are also ordinary words, according to the dictionaries."""
    return frozenset(table(__package__, "homographs"))
