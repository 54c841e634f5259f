"""What the owner's correction of a fact says of its time: since when, until when, that it is over, or never was so.

"Anna works for Zalando since May 2024", "больше не работает", "Анна не мешкає в Берліні". For the language process.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final, Literal

from internal.language.dates.parse import Dated, end_of, resolve
from internal.language.facts.overlap import alike
from internal.language.text.romanisation import skeletons
from internal.language.text.spelling import Language, name_key, words

Standing = Literal["holds", "over", "denied"]

MAX_READ: Final = 300
"""Characters of a correction that is read; a longer one is words only."""

_SINCE: Final = words("since from starting с со начиная з із зі від починаючи")
_UNTIL: Final = words("until till up до")
_THROUGH: Final = words("through по")
_IN: Final = words("in on в во у на о об")
_DATE_WORDS: Final = 6

_WORD = re.compile(r"[^\s,;!?()«»\"“”]+")
_OPENING = re.compile(
    r"^\s*(?:нет|неа|ні|no|nope|actually|да|так|на самом деле|насправді|вообще-то|взагалі-то)\s*[,.!:—–-]+\s*",
    re.IGNORECASE,
)
_OVER = re.compile(
    r"(?<!\w)(?:no longer|(?:not|\w+n['’]t)\b.{1,60}\b(?:any ?more|any longer)|stopped|quit|resigned|has left|have left"
    r"|left|used to|больше не|уже не|перестал[аи]?|уволил(?:ся|ась|ись)|уш[её]л из|ушла из|съехал[аи]?|бросил[аи]?"
    r"|більше не|вже не|перестав|перестала|звільнив(?:ся|сь)|звільнила(?:ся|сь)|пішов (?:з|із|зі)|пішла (?:з|із|зі)"
    r"|кинув|кинула|з['’]їха(?:в|ла))(?!\w)",
    re.IGNORECASE,
)
_DENIED = re.compile(
    r"(?<!\w)(?:(?:does|do|did|is|are|was|were|has|have|had|can|will)(?: not|n['’]t)|not|never|untrue|false|wrong"
    r"|не|никогда|ніколи|нема|немає|неправда|ошибка|помилка)(?!\w)",
    re.IGNORECASE,
)
_NO_DENIAL = re.compile(
    r"(?<!\w)(?:not only|не только|не лише|не тільки|не просто|not just|не раньше|не раніше|no wonder)(?!\w)",
    re.IGNORECASE,
)
_CONTRAST = re.compile(r"[;:—–]|,\s*\w|\s(?:but|instead|а|но|але|зато|натомість|rather)\s", re.IGNORECASE)
"""Behind a denial the sentence goes on: then it tells what is so instead."""


@dataclass(frozen=True, slots=True)
class Correction:
    """`standing` is over or denied only of a sentence that says nothing else. Moments are aware; None = not said."""

    standing: Standing
    begins: datetime | None = None
    ends: datetime | None = None


@dataclass(frozen=True, slots=True)
class _Date:
    """A date with the word before it that tells what it is of."""

    start: int
    end: int
    kind: Literal["since", "until", "in"]
    moment: datetime


def read_correction(old: str, said: str, names: Sequence[str], at: datetime, language: Language) -> Correction:
    """What a correction of the fact `old`, about things called `names`, says of its time; `at` (aware) is when.

    A denial that names something new tells another fact, not the end of this one.
    """
    if len(said) > MAX_READ:
        return Correction("holds")
    found = list(_dates(said, at, language))
    plain = _without(_OPENING.sub("", said), said, found)
    standing = _standing(old, plain, names)
    begins = next((one.moment for one in found if one.kind == "since"), None)
    ends = next((one.moment for one in found if one.kind == "until"), None)
    inside = next((one.moment for one in found if one.kind == "in"), None)
    if standing == "holds":
        return Correction("holds", begins or inside, ends)
    said_of_end = begins or ends or inside
    if standing == "denied" and said_of_end is None:
        return Correction("denied")
    return Correction("over", None, said_of_end or at)


def _standing(old: str, said: str, names: Sequence[str]) -> Standing:
    if _NO_DENIAL.search(said) or _tells_more(old, said, names):
        return "holds"
    if _OVER.search(said) and not _OVER.search(old):
        return "over"
    denial = _DENIED.search(said)
    if denial is None or _DENIED.search(old) or _CONTRAST.search(said, denial.end()):
        return "holds"
    return "denied"


def _tells_more(old: str, said: str, names: Sequence[str]) -> bool:
    """Whether a correction names something, with a capital or a digit, that the fact does not name."""
    known = _sounds(" ".join((old, *names)))
    fresh = [word for word in _WORD.findall(said)[1:] if word[0].isupper() or word[0].isdigit()]
    return any(not _known(word, known) for word in fresh if len(word) > 1)


def _known(word: str, known: set[str]) -> bool:
    return any(sound == other or alike(sound, other) for sound in _sounds(word) for other in known)


def _sounds(text: str) -> set[str]:
    found = (name_key(word).strip(".'’") for word in _WORD.findall(text))
    return {sound for word in found for sound in (skeletons(word) or {word})}


def _without(said: str, whole: str, found: Sequence[_Date]) -> str:
    """A sentence without its dates and the commas before them."""
    for one in found:
        said = said.replace(whole[one.start : one.end], " ")
    return re.sub(r"\s+([,.])|[,\s]+$", r"\1", said).rstrip(" ,.")


def _dates(said: str, at: datetime, language: Language) -> Iterator[_Date]:
    """The dates of a sentence, the longest at each place, with what stands before them."""
    found = list(_WORD.finditer(said))
    place = 0
    while place < len(found):
        size, dated = _date_at(said, found, place, at, language)
        if dated is None:
            place += 1
            continue
        yield _placed(said, found, place, size, dated)
        place += size


def _date_at(
    said: str, found: Sequence[re.Match[str]], place: int, at: datetime, language: Language
) -> tuple[int, Dated | None]:
    for size in range(min(_DATE_WORDS, len(found) - place), 0, -1):
        phrase = said[found[place].start() : found[place + size - 1].end()].rstrip(".,")
        if name_key(found[place][0]) in _SINCE | _UNTIL | _THROUGH | _IN or not _may_be_date(phrase):
            continue
        dated = resolve(phrase, at, language)
        if dated is not None and (dated.precision != "time" or any(map(str.isdigit, phrase))):
            return size, dated
    return 0, None


def _may_be_date(phrase: str) -> bool:
    """One or two digits alone are a number, and so is what is measured or counted."""
    return not re.fullmatch(r"\d{1,3}", phrase)


def _placed(said: str, found: Sequence[re.Match[str]], place: int, size: int, dated: Dated) -> _Date:
    before = name_key(found[place - 1][0]) if place else ""
    end = found[place + size - 1].end()
    start = found[place - 1].start() if before in _SINCE | _UNTIL | _THROUGH | _IN else found[place].start()
    if before in _SINCE:
        return _Date(start, end, "since", dated.moment)
    if before in _UNTIL:
        return _Date(start, end, "until", dated.moment)
    if before in _THROUGH:
        return _Date(start, end, "until", end_of(dated))
    return _Date(start, end, "in", dated.moment)
