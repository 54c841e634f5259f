"""The words of commands: verbs by class, and what leads up to them, frames an object or takes an order back."""

import re
from dataclasses import dataclass
from functools import cache
from typing import Final, Literal

from rapidfuzz.distance import OSA

from internal.language.dates.units import Span, fold
from internal.language.tasks.times import TimeFound
from internal.language.text.morphology import analyzer, dictionary_languages, parses
from internal.language.text.openings import OPENING_WORDS
from internal.language.text.spelling import Language, name_key, words
from internal.language.text.tables import any_of, table
from internal.text_caches import cached

Page = Literal["changes", "birthdays", "shared"]
Kind = Literal[
    "forget",
    "forget_all",
    "remove",
    "cancel",
    "move",
    "mark",
    "name",
    "about_me",
    "about_you",
    "agenda",
    "brief",
    "waiting",
    "promised",
    "contacts",
    Page,
]

TABLE: Final = table(__package__, "verbs")
VERBS: Final[dict[str, str]] = {
    verb: kind for kind, verbs in reversed(TABLE["verbs"].items()) for verb in verbs.split()
}
PHRASES: Final = [(phrase, kind) for kind, phrases in TABLE["phrases"].items() for phrase in phrases]
LISTS: Final = {name: words(listed) for name, listed in TABLE.items() if isinstance(listed, str)}
MODAL, LIGHT, ALL, FRAMING = LISTS["modal"], LISTS["light"] | OPENING_WORDS, LISTS["all"], LISTS["framing"]
DATA, PRONOUNS, NEVER_MIND, KNOW = (LISTS[name] for name in ("data", "pronouns", "never_mind", "know"))
PERSONAL: Final = LISTS["personal"]
PLAN, OWN, ASK, STOP_NAME = LISTS["plan"], LISTS["own"], LISTS["ask"], LISTS["stop_name"]
EMPTY: Final = FRAMING | LIGHT | ALL | PRONOUNS | MODAL
TASK_WORDS: Final = LISTS["task"]

WORD: Final = re.compile(r"[^\W\d_]+(?:['-][^\W\d_]+)*")
TAKEN_BACK: Final = re.compile(any_of("internal.language.commands", "taken_back"))
QUOTED: Final = re.compile(r"«[^»]*»|“[^”]*”|„[^“”]*[“”]|\"[^\"]*\"|(?<!\w)'[^']{12,}'(?!\w)")
NEGATED: Final = re.compile(r"(?:\b(?:не|ні|ни|never|not|nor)|n't)\s+(?:\w+\s+)?$")


@dataclass(frozen=True, slots=True)
class Command:
    """What a sentence asks for. `about` are the words of its object; `time` the time it names,
    of an agenda the first of its `days`.

    `sure`: the words alone leave no doubt; else it is one only where its object is found in memory. `span` are the
    characters of its sentence.
    """

    kind: Kind
    about: str = ""
    time: TimeFound | None = None
    sure: bool = False
    span: Span = (0, 0)
    days: int = 1
    states: bool = False
    """Its object is a statement, not somebody: "forget that Tom is ill"."""


def content_words(text: str) -> list[str]:
    """The words of a text that name something, folded."""
    return [word for word in WORD.findall(fold(text)) if not forms(word) & EMPTY]


@cached(20_000)
def readings(word: str) -> tuple[tuple[str, frozenset[str]], ...]:
    """The dictionary forms of a Cyrillic word with their grammemes; of a misspelt verb of a class, those meant."""
    key = name_key(word)
    found = [parse for language in dictionary_languages(key) if language != "en" for parse in parses(key, language)]
    known = [parse for parse in found if parse.is_known]
    if not known:
        meant = corrected_spelling(key, "uk" if set(key) & set("іїєґ'") else "ru")
        if meant != key:
            return readings(meant)
    return tuple((name_key(parse.normal_form), parse.tag.grammemes) for parse in known or found)


@cached(20_000)
def forms(word: str) -> frozenset[str]:
    """A word as written and its dictionary forms; of an English one also without its s."""
    if word.isascii():
        return (
            frozenset((word, word[:-1])) if word.endswith("s") and len(word) > _SHORTEST_PLURAL else frozenset((word,))
        )
    lemmas = (lemma for lemma, _ in readings(word))
    return frozenset((word, *(f"{lemma[:-2]}ся" if lemma.endswith("сь") else lemma for lemma in lemmas)))


_SHORTEST_PLURAL: Final = 4
_PAST: Final = {form for forms in table("internal.language.text", "irregular")["verbs"].values() for form in forms}
"""They tell what was done, and are no slip in an order: "forgot my umbrella"."""
_SHORTEST_MENDED: Final = 5


@cached(20_000)
def corrected_spelling(word: str, language: Language) -> str:
    """The form of a class's verb that is one slip of the finger away; the word itself if there is none."""
    if len(word) < _SHORTEST_MENDED or (language == "en" and (word.endswith("ed") or word in _PAST)):
        return word
    near = (form for form in _orders(language) if abs(len(form) - len(word)) <= 1)
    return next((form for form in near if form[0] == word[0] and OSA.distance(word, form, score_cutoff=1) <= 1), word)


@cache
def _orders(language: Language) -> tuple[str, ...]:
    """The infinitives and imperatives of all verbs of classes."""
    if language == "en":
        return tuple(verb for verb in VERBS if verb.isascii())
    forms: list[str] = []
    for verb in VERBS:
        if not verb.isascii():
            for parse in analyzer(language).parse(verb)[:1]:
                if parse.is_known:
                    orders = {"impr", "INFN", "infn"}
                    forms += [name_key(form.word) for form in parse.lexeme if form.tag.grammemes & orders]
    return tuple(dict.fromkeys(forms))
