"""What became of a name when somebody put a sentence right: "работает в ACME" — "нет, работает в Бете"."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher

from internal.language.names.entities import basic_form, goes_on, named_in
from internal.language.text.spelling import Language, name_key, words

_WORD = re.compile(r"[^\W_]+(?:[-'’&.][^\W_]+)*")
_LONGEST = 5
"""Words of a name; more of them say something else than the sentence did."""

_BESIDE = words(
    "в во на у о об обо к ко до из с со з із зі від про за по для уже ещё еще теперь сейчас вже ще тепер зараз не нет"
    " ні а но це это the a an in at on for to of from with by now already not no"
)


def renamed(old: str, new: str, names: Sequence[str], language: Language) -> str | None:
    """The name that stands in the new sentence where the old one named a thing (by any of `names`), in its basic form.

    None if the new sentence still names it, the old one did not, or it cannot be told what took its place. For the
    language process.
    """
    if named_in([new], [names]) or not named_in([old], [names]):
        return None
    found = [
        name for before, after in _replaced(old, new) if named_in([before], [names]) and (name := _name(after, names))
    ]
    return basic_form(found[0], language) if len(found) == 1 else None


def _replaced(old: str, new: str) -> Iterator[tuple[str, str]]:
    """The parts that were replaced, as they were and as they are now."""
    before, after = list(_WORD.finditer(old)), list(_WORD.finditer(new))
    matcher = SequenceMatcher(
        None, [name_key(one[0]) for one in before], [name_key(one[0]) for one in after], autojunk=False
    )
    for kind, a, b, c, d in matcher.get_opcodes():
        if kind == "replace":
            yield old[before[a].start() : before[b - 1].end()], new[after[c].start() : after[d - 1].end()]


def _name(part: str, names: Sequence[str]) -> str | None:
    """The name in a replaced part: written with capitals if what it replaces was, else the whole of it."""
    found = list(_WORD.finditer(part))
    while found and name_key(found[0][0]) in _BESIDE:
        found = found[1:]
    if any(name[:1].isupper() for name in names):
        found = _capitals(found)
    if not 0 < len(found) <= _LONGEST or "," in part[found[0].start() : found[-1].end()]:
        return None
    return part[found[0].start() : found[-1].end()]


def _capitals(found: Sequence[re.Match[str]]) -> list[re.Match[str]]:
    """The words of the first name among these: capitals and numbers in a row, "Новая" with the noun it asks for."""
    marks = [one[0][0].isupper() or one[0][0].isdigit() for one in found]
    if True not in marks:
        return []
    start = marks.index(True)
    end = marks.index(False, start) if False in marks[start:] else len(marks)
    return list(found[start : end + goes_on(found[end - 1][0])])
