"""Whether two short texts say the same in other forms: another case, number, person, alphabet or order of words.

"микросервисы" and "микросервис" are the same, "выучить испанский" and "Хочу выучить испанский язык" are not. Words that
would reverse the meaning (a negation, "without", "from", a question's word, a number) must be the same in both.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from internal.language.names import entities
from internal.language.search.terms import SOUND, document_terms, topic_terms, words_of
from internal.language.text.morphology import dictionary_languages, parses
from internal.language.text.spelling import name_key, words
from internal.language.text.tables import table
from internal.text_caches import cached

WORDS = "words"
"""The same words in any forms; other reasons are those of `entities`."""

LIGHT = words(
    "хотеть хотеться мечтать планировать собираться намереваться цель мечта план решить решать принять решение"
    " хотіти хотітися мріяти планувати збиратися мета мрія вирішити вирішувати прийняти рішення"
    " want plan aim goal dream intend hope decid decis go would like finally наконец нарешті"
)
"""Words in which a goal or a decision is expressed and that do not change it."""

_MEANING_CHANGING = {
    word: meaning for meaning, said in table(__package__, "meaning_changing").items() for word in said.split()
}
"""Words that are no index terms and yet change the meaning."""

_AUTHOR = re.compile(r"(?<![\w'])(?:я|i|i'm|i've|i'd|i'll)(?!\w)")
_WORD = re.compile(r"[^\W\d_]+(?:['’ʼ`][^\W\d_]+)*")
_SIGNS = re.compile(r"[^\w\s.,;:!?'\"«»“”„’ʼ`()…–—-]")


@dataclass(frozen=True, slots=True)
class WordForms:
    """The words of a text, each with its possible dictionary forms, and what must be equal besides."""

    words: tuple[frozenset[str], ...]
    meaning_changing: frozenset[str]
    latin: bool


def match_texts(texts: Sequence[str], known: Sequence[str], *, names: bool) -> list[list[tuple[int, str]]]:
    """The places in `known` that say the same as each text, and why; equal texts are included.

    `names`: they are names of things, which may sound the same in two alphabets. Some 3 microseconds for each known
    text seen before, up to 1 ms for each new word: call it with parts of what is known.
    """
    return [
        [(index, reason) for index, other in enumerate(known) if (reason := match_reason(text, other, names=names))]
        for text in texts
    ]


def match_reason(one: str, other: str, *, names: bool) -> str | None:
    """Why two texts say the same, or None."""
    if same_words(word_forms(one, light=not names), word_forms(other, light=not names)):
        return WORDS
    if names and _SIGNS.findall(one) == _SIGNS.findall(other):
        (forms, forms_of_other) = entities.name_forms([one, other])
        return entities.match_reason(forms, forms_of_other)
    return None


def same_words(one: WordForms, other: WordForms) -> bool:
    """Whether every word of one text has its match in the other, in any order."""
    if not one.words or len(one.words) != len(other.words) or one.meaning_changing != other.meaning_changing:
        return False
    across = one.latin != other.latin
    return _have_partners(one.words, other.words, across)


def _have_partners(mine: Sequence[frozenset[str]], theirs: Sequence[frozenset[str]], across: bool) -> bool:
    left = list(theirs)
    for forms in mine:
        for index, candidate in enumerate(left):
            # Names of one alphabet are not compared by their sound: Akme and Acme may be two.
            if any(across or not form.startswith(SOUND) for form in forms & candidate):
                del left[index]
                break
        else:
            return False
    return True


@cached(50_000)
def word_forms(text: str, *, light: bool) -> WordForms:
    """The word forms of a text; with `light` without the words in which a goal or a decision is expressed."""
    (terms,) = document_terms([text])
    forms_of_words = [frozenset((*forms, *_guessed(forms))) for forms in words_of(terms)]
    if light:
        forms_of_words = [forms for forms in forms_of_words if not forms & LIGHT] or forms_of_words
    telling = {_MEANING_CHANGING[key] for word in _WORD.findall(text) if (key := name_key(word)) in _MEANING_CHANGING}
    if _with_somebody(text):
        telling.discard("from")
    signs = frozenset(_SIGNS.findall(text))
    return WordForms(tuple(sorted(forms_of_words, key=sorted)), frozenset(telling) | signs, text.isascii())


def _guessed(forms: Sequence[str]) -> Iterator[str]:
    """The basic forms of words that no dictionary holds: микросервисы."""
    for form in forms:
        if form[:1].isalpha() and not form.isascii():
            for language in dictionary_languages(form):
                if language != "en" and (readings := parses(form, language)) and not readings[0].is_known:
                    yield name_key(readings[0].normal_form)


def _with_somebody(text: str) -> bool:
    """Whether every "з" of a Ukrainian text is followed by an instrumental: "кава з молоком"."""
    behind = re.findall(r"(?<!\w)(?:з|із)\s+(\w+)", text.casefold())
    return bool(behind) and all(re.search(r"(?:ом|ем|єм|ою|ею|єю|ами|ями|им|ими|ім)$", word) for word in behind)


def may_be_same(pairs: Sequence[tuple[str, str]]) -> list[bool]:
    """Whether nothing in the words keeps two texts of similar meaning apart, for each pair.

    They are kept apart if their meaning-changing words or numbers differ, if one says the same and more, or if they
    share more than half of their words: so do two goals ("learn Spanish", "learn French") or what was bought and sold
    again, and their vectors are as similar as those of one thing said twice.
    """
    return [_may_be_same(word_forms(one, light=False), word_forms(other, light=False)) for one, other in pairs]


def _may_be_same(one: WordForms, other: WordForms) -> bool:
    if one.meaning_changing != other.meaning_changing or _numbers(one) != _numbers(other):
        return False
    mine, theirs = _unmatched(one.words, other.words)
    shared = len(one.words) - len(mine)
    if not shared or not (mine or theirs):
        return True
    return (
        bool(mine) and bool(theirs) and 2 * shared <= min(len(one.words), len(other.words)) and len(mine + theirs) > 2
    )


def _unmatched(
    mine: Sequence[frozenset[str]], theirs: Sequence[frozenset[str]]
) -> tuple[list[frozenset[str]], list[frozenset[str]]]:
    """The words of each that have no match in the other."""
    left, right = [], list(theirs)
    for forms in mine:
        partner = next((other for other in right if forms & other), None)
        if partner is None:
            left.append(forms)
        else:
            right.remove(partner)
    return left, right


def _numbers(forms: WordForms) -> set[str]:
    return {form for alternatives in forms.words for form in alternatives if any(map(str.isdecimal, form))}


def shared_words(known: Sequence[str], new: str) -> list[int]:
    """How many content words of each known sentence the new one has, in any form.

    Numbers and words for oneself do not count. For the language process.
    """
    asked = {term for word in _content(new) for term in word}
    return [sum(not asked.isdisjoint(word) for word in _content(sentence)) for sentence in known]


def restates(known: Sequence[tuple[str, Sequence[str] | None]], new: str) -> list[int]:
    """How many content words each known sentence shares with one about the same subject; 0 where it may be another.

    A known sentence comes with the names of its subject, None for the author of both. A shared word besides the name is
    needed: what is said of the subject. For the language process.
    """
    asked = {term for word in _content(new) for term in word}
    named = _AUTHOR.search(name_key(new)) is not None

    def shared(sentence: str, names: Sequence[str] | None) -> int:
        words = [word for word in _content(sentence) if not asked.isdisjoint(word)]
        subject = {term for name in names or () for word in _content(name) for term in word}
        others = sum(subject.isdisjoint(word) for word in words)
        same = (named or others > 1) if names is None else not asked.isdisjoint(subject)
        return len(words) if same and others else 0

    return [shared(sentence, names) for sentence, names in known]


def _content(sentence: str) -> list[set[str]]:
    found = [{term for term, _ in word} for word in topic_terms(sentence)]
    return [word for word in found if not any(term[:1].isdigit() for term in word)]
