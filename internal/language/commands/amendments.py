"""Reads a line that only corrects the one before: "sorry, Lisbon", "ой, не Марина, а Карина", "ні, в середу".

Such a line says that it corrects, or what was wrong, and has one value beside words of the earlier line. That takes the
place of what it calls wrong, else of the earlier value of its kind: a number, a name, what stands behind the same
preposition, or a word of the same part of speech and case. Loads pymorphy3: for the language process.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any, Final, TypeVar

from rapidfuzz.distance import OSA

from internal.language.commands.vocabulary import forms, readings
from internal.language.dates.units import Span, fold
from internal.language.text.morphology import dictionary_languages, ordinary, parses
from internal.language.text.patterns import pattern
from internal.language.text.tables import table
from internal.text_caches import cached

Line = TypeVar("Line", bound=Any)

_TABLE: Final = {name: "|".join(said) for name, said in table(__package__, "amendments").items()}
_LEADS, _KINDS = (
    {word: group for group in table(__package__, "amendments")[name] for word in group.split()}
    for name in ("leads", "kinds")
)
"""Prepositions and articles, each with those that mean the same; and weekdays, months, numerals."""

SOON: Final = timedelta(minutes=30)
"""Longest pause between a line and its correction."""
_LONGEST: Final = 100
_MOST_WORDS: Final = 3
"""Words of a value."""
_LIKE: Final = 0.6
"""Similarity of two names of which one was meant for the other: Anna, Hanna."""
_TOKEN: Final = re.compile(r"\d+(?:[:.,]\d+)*(?:st|nd|rd|th)?|[^\W\d_]+(?:['’ʼ-][^\W\d_]+)*")
_SLIP: Final = pattern(rf"\W*(?:{_TABLE['slip']})(?![\w'’-])[\s,.!:;—–-]*|\s*\*+", re.IGNORECASE)
_BESIDE: Final = pattern(
    rf"[\s,.!—–-]*(?<!\w)(?:(?P<slip>{_TABLE['slip']})|{_TABLE['beside']})[\s.!)*]*$|(?P<star>\*)[\s.!)*]*$|[\s.!)]+$",
    re.IGNORECASE,
)
_OPENING_WORD: Final = re.compile(r"\W*(?P<word>[^\W\d_]+)\s*[,:—–-]\s*")
"""A verb in front of the value: "вру, Матвей"."""
_BARE: Final = pattern(
    rf"\W*(?:(?:{_TABLE['whom']})\W+(?P<a>[^\W\d_]+)|(?P<b>[^\W\d_]+)\W+(?:{_TABLE['whom']}))\W*", re.IGNORECASE
)
"""A name and hardly more: "Лариса она"."""
_INSTEAD: Final = pattern(rf"\W*(?:{_TABLE['instead']})\W*", re.IGNORECASE)
_FILLING: Final = frozenset(
    fold(word) for word in re.findall(r"[^\W\d_]+", _TABLE["beside"]) if word not in ("this", "that")
)
_NO_VALUES: Final = frozenset(table(__package__, "amendments")["no_values"][0].split())
_ARTICLES: Final = frozenset(("the", "a", "an"))
_KIND: Final = frozenset({"NOUN", "ADJF"})
_CASES: Final = frozenset({"gent", "datv", "accs", "ablt", "loct"})
_GRAMMAR: Final = _KIND | _CASES | {"nomn", "sing", "plur"}


class _Word:
    """A word or number of a line, with the characters it takes."""

    def __init__(self, match: re.Match[str]) -> None:
        self.text, self.span, self.key = match[0], match.span(), fold(match[0])
        self.number, self.lead = match[0][0].isdigit(), _LEADS.get(self.key, "")
        self.key = self.key.rstrip("sthndr") if self.number else self.key
        self.kind = next((_KINDS[form] for form in self._forms if form in _KINDS), "")

    def same(self, other: "_Word") -> bool:
        return self.key == other.key or bool(self.lead and self.lead == other.lead) or bool(self._forms & other._forms)

    @property
    def _forms(self) -> frozenset[str]:
        return frozenset() if self.number else forms(self.key)

    def marks(self) -> list[frozenset[str]]:
        """The grammar of each reading, as far as another word can agree with it."""
        found = [] if self.text.isascii() else [marks for _, marks in readings(self.text)]
        return [(marks | {"loct"} if "loc2" in marks else marks) & _GRAMMAR for marks in found]


def amended(before: str, line: str) -> str | None:
    """The earlier line with the value that this one gives; None where this one corrects nothing in it."""
    if len(line) > _LONGEST:
        return None
    given, named, slips = _parts(line)
    if not (slips or named) or "?" in line or not before or before.rstrip().endswith("?"):
        return None
    known = [_Word(one) for one in _TOKEN.finditer(before)]
    wrong = _wrong(known, named)
    if not slips and wrong is None:
        return None
    found = _value(known, [_Word(one) for one in _TOKEN.finditer(given)])
    if found is None:
        return None
    lead, value = found
    old = wrong if wrong is not None and not (lead and value[0].number) else _place(known, lead, value) or wrong
    if old is None:
        return None
    (start, end), said = _span(old), given[_span(value)[0] : _span(value)[1]]
    if len(value) == 1 and len(old) == 1:
        said = _agreeing(value[0], old[0])
    if lead is not None and old[0].span[0] and (at := known.index(old[0])) and known[at - 1].lead == lead.lead:
        start, said = known[at - 1].span[0], f"{lead.text.lower()} {said}"
    if start == 0 or not before[start].isupper():
        said = said[:1].upper() + said[1:] if before[start].isupper() else said.lower() if ordinary(said) else said
    text = before[:start] + said + before[end:]
    return text if text != before else None


def amending(line: str) -> str:
    """The words that a line gives instead of earlier ones; empty where it does not say that it corrects."""
    given, wrong, slips = _parts(line)
    return given if slips or wrong else ""


@cached(8_000)
def _parts(line: str) -> tuple[str, str, bool]:
    """What a line gives, what it calls wrong, and whether it says that it corrects a slip."""
    rest, slips = line, False
    if (match := _OPENING_WORD.match(line)) and _tells_of_slip(match["word"]):
        rest, slips = line[match.end() :], True
    if match := _BARE.fullmatch(line):
        rest = match["a"] or match["b"]
        return rest, "", any("Name" in one for _, one in readings(rest))
    while (match := _SLIP.match(rest)) and match[0]:
        rest, slips = rest[match.end() :], True
    while (match := _BESIDE.search(rest)) and match[0].strip() and match.start():
        rest, slips = rest[: match.start()], slips or bool(match["slip"] or match["star"])
    instead = _INSTEAD.fullmatch(rest) or _INSTEAD.fullmatch(line)
    if instead is None:
        return rest, "", slips
    return instead["new"] or instead["new2"], instead["old"] or instead["old2"], slips


def _tells_of_slip(word: str) -> bool:
    """Whether a word is a verb of what its author does or did to himself: "вру", "описался"."""
    marks = frozenset[str]().union(*(marks for _, marks in readings(word)[:1]))
    return "VERB" in marks and ("1per" in marks or ("past" in marks and word.endswith(("ся", "сь"))))


def _wrong(known: Sequence[_Word], named: str) -> list[_Word] | None:
    """The words of the earlier line that a correction calls wrong."""
    meant = [one for one in map(_Word, _TOKEN.finditer(named)) if not one.lead]
    meant = [one for one in meant if one.number] or meant  # of "the 9th" the number
    for start in range(len(known) - len(meant) + 1):
        if meant and all(one.same(known[start + n]) for n, one in enumerate(meant)):
            return list(known[start : start + len(meant)])
    return None


def _value(known: Sequence[_Word], given: Sequence[_Word]) -> tuple[_Word | None, list[_Word]] | None:
    """The words of a correction that the earlier line has not, if they are one value, and the preposition before."""
    new = [n for n, one in enumerate(given) if not one.lead and not any(one.same(other) for other in known)]
    new = [n for n in new if given[n].key not in _FILLING] or new
    said_of_none = any(given[n].key in _NO_VALUES for n in new)
    if not new or said_of_none or len(new) > _MOST_WORDS or new[-1] - new[0] + 1 != len(new):
        return None
    if len(new) > 1 and not all(given[n].text[0].isupper() for n in new):
        return None
    lead = given[new[0] - 1] if new[0] and given[new[0] - 1].lead else None
    lead = None if lead is not None and given[new[0]].number and lead.key in _ARTICLES else lead
    return lead, [given[n] for n in new]


def _place(known: Sequence[_Word], lead: _Word | None, value: Sequence[_Word]) -> list[_Word] | None:
    """What a value takes the place of: the last of its kind."""
    first, proper, named = value[0], False, list[list[_Word]]()
    runs = [[one] for one in known if one.number == first.number and not one.lead]
    if first.kind and (of_kind := [one for one in runs if one[0].kind == first.kind]):
        return of_kind[-1]
    if lead is not None:
        behind = [[known[n + 1]] for n, one in enumerate(known[:-1]) if one.lead == lead.lead]
        runs = [one for one in behind if one[0].number == first.number]
    elif first.number:
        runs = [one for one in runs if (":" in one[0].text) == (":" in first.text)] or (runs if len(runs) == 1 else [])
    elif (proper := first.text[0].isupper() and not ordinary(first.text)) and (named := _names(known)):
        like = [one for one in named if OSA.normalized_similarity(one[-1].key, value[-1].key) >= _LIKE]
        runs = like or [one for one in named if one[0] is not known[0]] or named
    elif first.text.isascii():
        return None
    if first.number or first.text.isascii() or (lead is None and proper and named):
        return runs[-1][-len(value) :] if runs else None
    readings_of = sorted(first.marks(), key=lambda marks: "ADJF" not in marks)  # зелений is seldom a noun
    alike = ([one for one in runs if marks in one[0].marks()] for marks in readings_of if marks & _KIND)
    return next((one[-1] for one in alike if one), None)


def _names(known: Sequence[_Word]) -> list[list[_Word]]:
    """The runs of capitalised words."""
    runs: list[list[_Word]] = []
    for n, one in enumerate(known):
        if one.text[0].isupper() and not one.lead and one.key not in _NO_VALUES:
            if n and runs and runs[-1][-1] is known[n - 1]:
                runs[-1].append(one)
            else:
                runs.append([one])
    return runs


def _agreeing(new: _Word, old: _Word) -> str:
    """A word in the case of the one whose place it takes, if it was said in the nominative."""
    cases = {mark for marks in old.marks() for mark in marks & (_CASES | {"nomn"})}
    if new.text.isascii() or new.number or "nomn" in cases or any(cases & marks for marks in new.marks()):
        return new.text
    case = next((mark for marks in old.marks() for mark in marks & _CASES), "")
    for language in dictionary_languages(new.key):
        for parse in parses(new.key, language) if case and language != "en" else ():
            if {"NOUN", "nomn"} <= parse.tag.grammemes and (form := parse.inflect({case})) is not None:
                return str(form.word).title() if new.text[0].isupper() else str(form.word)
    return new.text


def _span(words: Sequence[_Word]) -> Span:
    return words[0].span[0], words[-1].span[1]


def amend_lines(
    lines: Sequence[Line],
    said: Callable[[Line], tuple[str, datetime | None] | None],
    change: Callable[[Line, str], Line] = lambda line, text: replace(line, text=text),
) -> list[Line]:
    """Lines in the order of time without those that only correct the one before: that one changes to its new text.

    `said` gives the words of a line with its moment; None for a line that neither corrects nor is corrected.
    """
    kept: list[Line] = []
    last = -1
    for line in lines:
        now = said(line)
        if now is None:
            kept.append(line)
            continue
        before = said(kept[last]) if last >= 0 else None
        soon = before is not None and (not (before[1] and now[1]) or timedelta() <= now[1] - before[1] <= SOON)
        text = amended(before[0], now[0]) if before is not None and soon else None
        if text is None:
            kept.append(line)
            last = len(kept) - 1
        else:
            kept[last] = change(kept[last], text)
    return kept
