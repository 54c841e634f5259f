"""Finds the new name after a correction of a sentence: "работает в ACME" — "нет, работает в Бете"."""

import re
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher

from internal.language.names.entities import basic_form, named_in, needs_noun
from internal.language.text.spelling import Language, name_key, words

_WORD = re.compile(r"[^\W_]+(?:[-'’&.][^\W_]+)*")
_MAX_WORDS = 5
"""The most words of a name; with more of them, the sentence says something different."""

_FUNCTION_WORDS = words(
    "в во на у о об обо к ко до из с со з із зі від про за по для уже ещё еще теперь сейчас вже ще тепер зараз не нет"
    " ні а но це это the a an in at on for to of from with by now already not no"
)


def renamed(old: str, new: str, names: Sequence[str], language: Language) -> str | None:
    """The name, in its basic form, that the new sentence has in place of the old one (any of `names`).

    None if the new sentence still names it, the old one did not, or the replacement is unclear. For the language
    process.
    """
    if named_in([new], [names]) or not named_in([old], [names]):
        return None
    new_names = [
        name for before, after in _replaced(old, new) if named_in([before], [names]) and (name := _name(after, names))
    ]
    return basic_form(new_names[0], language) if len(new_names) == 1 else None


def _replaced(old: str, new: str) -> Iterator[tuple[str, str]]:
    """The replaced parts, each with its old and its new words."""
    before, after = list(_WORD.finditer(old)), list(_WORD.finditer(new))
    matcher = SequenceMatcher(
        None, [name_key(match[0]) for match in before], [name_key(match[0]) for match in after], autojunk=False
    )
    for kind, a, b, c, d in matcher.get_opcodes():
        if kind == "replace":
            yield old[before[a].start() : before[b - 1].end()], new[after[c].start() : after[d - 1].end()]


def _name(part: str, names: Sequence[str]) -> str | None:
    """The name in a replaced part: its capitalised words if the replaced name has capitals, else the whole part."""
    matches = list(_WORD.finditer(part))
    while matches and name_key(matches[0][0]) in _FUNCTION_WORDS:
        matches = matches[1:]
    if any(name[:1].isupper() for name in names):
        matches = _capitalised(matches)
    if not 0 < len(matches) <= _MAX_WORDS or "," in part[matches[0].start() : matches[-1].end()]:
        return None
    return part[matches[0].start() : matches[-1].end()]


def _capitalised(matches: Sequence[re.Match[str]]) -> list[re.Match[str]]:
    """The words of the first name among these: consecutive capitals and numbers, "Новая" with the noun it needs."""
    starts_name = [match[0][0].isupper() or match[0][0].isdigit() for match in matches]
    if True not in starts_name:
        return []
    start = starts_name.index(True)
    end = starts_name.index(False, start) if False in starts_name[start:] else len(starts_name)
    return list(matches[start : end + needs_noun(matches[end - 1][0])])
