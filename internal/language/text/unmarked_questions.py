"""Questions without a question mark that begin with their subject: "петро на чому зараз їздить".

Takes some ten microseconds, or up to 1 ms if the text contains a question word.
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
"""A question; words that may begin a relative clause only count after a preposition: "том, який живе" states."""
_ENGLISH: Final = re.compile(
    r"\W*(?:(?:{before_english})\W+)*(?!(?:\w+ )?(?:{no_question})\w* )\w[\w'’-]*(?: \w[\w'’-]*)?(?:"
    r" (?:where|who|what|how|when|which \w+)(?:['’]?s| is| are| does| did| do| was| has)\b[^,;.!\n]*"
    r"| (?:{verbs})(?: \w+){{0,2}}? (?:where|who|what)(?: now| again| these days| exactly| then)*)\W*".format_map(
        _WORDS
    ),
    re.IGNORECASE,
)
_LONGEST: Final = 10
"""The most words of such a question."""
_SUBJECTS: Final = words("я мы он она они ты вы ми він вона вони ти ви")
_NO_SUBJECTS: Final = words("вот там тут нет есть мне тебе ему ей нам вам им мені йому їй ось отам нема немає")
_NO_HEAD: Final = frozenset({"VERB", "INFN", "PREP", "CONJ", "ADVB", "PRED", "GRND", "PRCL", "INTJ", "PRTS", "COMP"})


def may_ask_unmarked(text: str) -> re.Match[str] | None:
    """A match if a short text may be a question about its first words; uses no dictionary."""
    return None if len(text.split()) > _LONGEST else _ENGLISH.fullmatch(text) or _NAME_FIRST.fullmatch(text)


def asks_unmarked(text: str) -> bool:
    """Whether a short text asks about the person or thing that it names first; for the language process."""
    found = may_ask_unmarked(text)
    if found is None or found.re is _ENGLISH:
        return found is not None
    head, rest = name_key(found["head"]).split(), name_key(found["rest"]).split()
    verbs = sum(_kinds(word) <= {"VERB"} for word in rest)
    head = head[1:] if len(head) > 1 and "PREP" in _kinds(head[0]) else head  # "у сони кто"
    headed = _NO_SUBJECTS.isdisjoint(head) and not any((of := _kinds(word)) and of <= _NO_HEAD for word in head)
    return headed and verbs <= 1 and _SUBJECTS.isdisjoint(rest)


def _kinds(word: str) -> frozenset[str]:
    """The parts of speech that the dictionaries give for a word; empty for an unknown word."""
    found = (one for language in dictionary_languages(word) for one in parses(word, language) if one.is_known)
    return frozenset(str(one.tag.POS) for one in found)
