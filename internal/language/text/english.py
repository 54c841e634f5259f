"""English words that are names too, and words that have a capital without being names, from `english.json`."""

from collections.abc import Mapping

from internal.language.text.spelling import words
from internal.language.text.tables import table

_LISTS = table(__package__, "english")


def _listed(name: str) -> frozenset[str]:
    return words(" ".join(_LISTS[name]))


ORDINARY_NAMES = _listed("ordinary_names")
"""Names that are ordinary words in lower case or at the start of a sentence: they need a capital and a second check."""

IDEAS = _listed("ideas")
"""Ordinary names that are rarely names at the start of a sentence: other words must show that they are a person's."""

FOREIGN_NAMES = _listed("foreign_names")
"""First names of other languages in English spelling, without accents, which are not English words."""

PERSONAL_VERBS = _listed("personal_verbs")
"""Verbs that follow a name only if it is a person's."""

SENTENCE_OPENERS = _listed("sentence_openers")
"""Words before which a capitalised ordinary word at the start of a sentence is not a name: "Will you", "May I"."""


def opens_sentence(key: str) -> bool:
    """Whether a word, or the word it contracts ("you're"), makes the word before it an ordinary one."""
    return key.partition("'")[0] in SENTENCE_OPENERS


NOT_NAMES = _listed("not_names")
"""Capitalised words that never begin an English name."""

GIVEN_NAMES = _listed("given_names")
"""First names that the `nicknames` package does not list as names of their own."""


_IRREGULAR = table(__package__, "irregular")
"""Irregular past forms and participles of verbs and plurals of nouns, by their dictionary forms."""


def _by_form(forms: Mapping[str, list[str]]) -> dict[str, str]:
    return {form: base for base, others in forms.items() for form in others}


IRREGULAR_VERBS = _by_form(_IRREGULAR["verbs"])
"""The verbs of irregular forms: "bought" is "buy"."""

_FAMILIES = {base: (base, *others) for kind in _IRREGULAR.values() for base, others in kind.items()}
_BASES = IRREGULAR_VERBS | _by_form(_IRREGULAR["nouns"])


def irregular_relatives(word: str) -> tuple[str, ...]:
    """All forms of a word with irregular ones, its dictionary form first; empty for other words."""
    return _FAMILIES.get(_BASES.get(word, word), ())
