"""Questions without a question mark that begin with whom or what they ask about: "петро на чому зараз їздить".

Some ten microseconds, up to 1 ms where a word of a question stands within.
"""

import re
from typing import Final

from internal.language.text.morphology import dictionary_languages, parses
from internal.language.text.spelling import name_key, words
from internal.language.text.tables import table

_WORDS: Final = {name: "|".join(said) for name, said in table(__package__, "unmarked_questions").items()}
_NAME_FIRST: Final = re.compile(
    r"\W*(?:(?:{before})\W+)*(?P<head>\w[\w'’ʼ-]*(?: \w[\w'’ʼ-]*){{0,2}}?)(?: (?:{now}))?"
    r" (?:(?:(?:{beside})\s+)?(?:{asking})|(?:{beside})\s+(?:{relative}))(?![\w-])(?P<rest>[^,;:.!\n]*)\W*".format_map(
        _WORDS
    ),
    re.IGNORECASE,
)
"""Words that may also begin a relative clause ask behind a preposition only: "том, який живе в Києві" states."""
_ENGLISH: Final = re.compile(
    r"\W*(?:(?:{before_english})\W+)*(?!(?:\w+ )?(?:{no_question})\w* )\w[\w'’-]*(?: \w[\w'’-]*)?(?:"
    r" (?:where|who|what|how|when|which \w+)(?:['’]?s| is| are| does| did| do| was| has)\b[^,;.!\n]*"
    r"| (?:{verbs})(?: \w+){{0,2}}? (?:where|who|what)(?: now| again| these days| exactly| then)*)\W*".format_map(
        _WORDS
    ),
    re.IGNORECASE,
)
_LONGEST: Final = 10
"""Words of such a question."""
_SUBJECTS: Final = words("я мы он она они ты вы ми він вона вони ти ви")
_NO_SUBJECTS: Final = words("вот там тут нет есть мне тебе ему ей нам вам им мені йому їй ось отам нема немає")
_NO_HEAD: Final = frozenset({"VERB", "INFN", "PREP", "CONJ", "ADVB", "PRED", "GRND", "PRCL", "INTJ", "PRTS", "COMP"})


def may_ask_unmarked(text: str) -> re.Match[str] | None:
    """What of a short text may be a question about what it names first; without dictionaries."""
    return None if len(text.split()) > _LONGEST else _ENGLISH.fullmatch(text) or _NAME_FIRST.fullmatch(text)


def asks_unmarked(text: str) -> bool:
    """Whether a short text asks about somebody or something that it names first; for the language process."""
    found = may_ask_unmarked(text)
    if found is None or found.re is _ENGLISH:
        return found is not None
    head, rest = name_key(found["head"]).split(), name_key(found["rest"]).split()
    verbs = sum(_kinds(word) <= {"VERB"} for word in rest)
    head = head[1:] if len(head) > 1 and "PREP" in _kinds(head[0]) else head  # "у сони кто"
    headed = _NO_SUBJECTS.isdisjoint(head) and not any((of := _kinds(word)) and of <= _NO_HEAD for word in head)
    return headed and verbs <= 1 and _SUBJECTS.isdisjoint(rest)


def _kinds(word: str) -> frozenset[str]:
    """The parts of speech of which a word may be a form by the dictionaries; empty for an unknown word."""
    found = (one for language in dictionary_languages(word) for one in parses(word, language) if one.is_known)
    return frozenset(str(one.tag.POS) for one in found)
