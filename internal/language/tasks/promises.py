"""Promises, announcements and debts of others to the owner, by classes of verbs and grammar, in three languages."""

import re
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from internal.language.dates.units import blank_out, fold
from internal.language.facts.statements import Judge
from internal.language.kinship.words import relations
from internal.language.names.mentions import find_people
from internal.language.names.name_words import is_given_name
from internal.language.tasks.judged import by_meaning
from internal.language.tasks.requests import find_tasks
from internal.language.tasks.times import TimeFound, find_time
from internal.language.tasks.titles import dative, debt, infinitive, nominative_person, title_of
from internal.language.tasks.vocabulary import all_of, any_of
from internal.language.text.morphology import parses
from internal.language.text.patterns import pattern
from internal.language.text.spelling import Language, sentence_spans, tokens

_DEEDS: Final = pattern(rf"\b(?:{any_of('deeds')})\b|\b(?:{any_of('deeds_inflected')})")
"""Deeds for somebody, without words that call them a promise."""
_VISITS: Final = pattern(any_of("visits"))
_ROLE: Final = pattern(
    r"(?:(?:the|my|our|a|an)\s+)?(?:(?!is\b)[a-z]+\s+)?([a-z]+(?:[eo]r|ist|ian|man|men|lord|lady|tant|dent)"
    r"|guys?|nurse|vet|crew|team|people|company|office|shop|bank|school|clinic|council)\b(?:\s+from\s+(?:the\s+)?\w+)?"
)
"""A person named by a job, at the beginning of an English sentence: "the plumber"."""
_ACTS_FOR_OWNER: Final = re.compile(r"([A-Z][a-z]{2,})\b(?=(?:'ll|'s| will| is)\s.*\b(?:me|us|my|our)\b)")
"""An unknown name at the beginning of an English sentence: "Petra is bringing my book back"."""
_LENT: Final = pattern(any_of("lent"))
_BORROWER: Final = re.compile(r"\s+(?:(?:my|своей|своему|своїй|своєму)\s+)?([^\W\d_][\w'-]*)")
"""The first word of whom something was lent to, right after the verb."""
_VOWED: Final = pattern(rf"\b(?:{any_of('vowed')})\b(?:\s+(?:me|us|мне|нам|мені)\b)?")
_SAID: Final = pattern(rf"\b(?:{any_of('said')})\b(?:\s+(?:мне|нам|мені)\b)?")
_OWES: Final = pattern(rf"\b(?:owes?|owed)\s+(?:me|us)\b|\b(?:{any_of('owes')})\b(?:\s+(?:мне|нам|мені)\b)?")
_BORROWED: Final = pattern(any_of("borrowed"))
_FOR_OWNER: Final = pattern(r"\b(?:me|us|мне|нам|мені)\b")
_CONCERNS_OWNER: Final = pattern(r"\b(?:me|us|меня|мне|нас|нам|мене|мені)\b")
_STATE: Final = pattern(r"(?:be|have|stay|live|буд|жит|остан|залиш)")
_DEADLINE: Final = pattern(r"(?:до|к|by)\b")
_UNTIL: Final = pattern(r"\b(?:до|к|by)(?: {3,}|\W*$)")
"""What stands before a deadline that is blanked out."""
_BY_OWNER: Final = pattern(r"\b(?:i|we|you|я|мы|ми|ты|ти|вы|ви)\b(?!')")
_WILL: Final = (
    r"\s*(?:that\s+)?(?:he|she|they|it)(?:'?d|'?ll|'?(?:s|re) going to|\s+(?:would|will|(?:is|are) going to))\s+"
)
_PROMISED: Final = pattern(rf"(?:\s+to\s+|{_WILL})(?=\w)")
_WOULD: Final = pattern(rf"(?:{_WILL}|\s*,?\s*(?:что|що)\s+(?:(?:он|она|они|він|вона|вони)\s+)?)(?=\w)")
_THAT: Final = pattern(r"\s*,?\s*(?:что|що)\s+(?:(?:он|она|они|він|вона|вони)\s+)?")
_FUTURE: Final = pattern(any_of("future"))
_NOTHING: Final = pattern(r"\s*(?:nothing|anything|everything|ничего|ничто|нічого|всё|все|усе|a lot|много|багато)\b")
_DOUBTED: Final = pattern(any_of("doubted"))
_STARTS: Final = pattern(r"[,;:(—–]\s*|\b(?:and|but|so|и|а|но|та|але|що|что|that|because|бо|кстати|btw)\s+")
_BESIDES: Final = all_of("besides")
_NOBODY: Final = all_of("nobody")
_ROLES: Final = all_of("roles")
"""Words for a person beside his name: "my mate Jake"."""
_LONGEST_SUBJECT: Final = 3
_NEAR: Final = 4
"""The number of words after a promise within which its infinitive must be."""


@dataclass(frozen=True, slots=True)
class Promised:
    """A task of somebody else: `who` as written, empty without a name, what, and by when.

    `plain`: an explicit promise or debt.
    """

    who: str
    what: str
    time: TimeFound | None
    plain: bool = False

    @property
    def title(self) -> str:
        """A short text as the title of a task."""
        return f"{self.who}: {self.what}" if self.who else f"{self.what[:1].upper()}{self.what[1:]}"


def may_promise(text: str) -> bool:
    """Whether a text may contain a promise or debt: false for nearly all that do not, without using a dictionary."""
    return any(shape.search(fold(text)) for shape in (_VOWED, _OWES, _BORROWED, _LENT))


def find_promised(text: str, at: datetime, language: Language, judge: Judge | None = None) -> list[Promised]:
    """Tasks of others for the owner in a text written at `at` (aware, in the owner's zone).

    A judge finds promises with a day in words that no rule knows.
    """
    found = []
    for start, end in sentence_spans(text):
        sentence = text[start:end].rstrip()
        if not _DOUBTED.search(fold(sentence)):
            promised = _lent(sentence, at, language) or _plainly(sentence, at, language)
            promised = promised or _by_future(sentence, at, language) or _judged(sentence, at, language, judge)
            found += [promised] if promised is not None else []
    return found


def _judged(sentence: str, at: datetime, language: Language, judge: Judge | None) -> Promised | None:
    """What a sentence promises for a day by its meaning, in its own words."""
    kind, time = by_meaning(sentence, at, language, judge) or (None, None)
    if time is None or kind != "promise" or find_tasks(sentence, at, language):
        return None
    for end, name in (_subjects(sentence, language) or _by_job(sentence, fold(sentence), language))[:1]:
        if name.casefold() in sentence[:end].casefold() and len(sentence[:end].split()) <= _LONGEST_SUBJECT:
            return Promised(name, _without_time(sentence[end:], sentence, 0, time), time, plain=time.sure)
    return Promised("", title_of(sentence, time.spans), time, plain=time.sure)


def _lent(sentence: str, at: datetime, language: Language) -> Promised | None:
    """What the owner lent somebody: "lent Alun my drill"."""
    match = _LENT.search(fold(sentence))
    after = _BORROWER.match(sentence, match.end()) if match is not None else None
    if match is None or after is None or not (after[1][:1].isupper() or dative(after[1])):
        return None
    time = find_time(sentence, at, language)
    what = re.split(r"[,;]|\s(?:and|и|і|та)\s", _without_time(sentence[match.start() :], sentence, 0, time))[0]
    who = next((one.name for one in find_people(sentence, language) if one.start == after.start(1)), "")
    who = who or (after[1] if after[1].isascii() else parses(fold(after[1]), language)[0].normal_form)
    return Promised(who[:1].upper() + who[1:], what.strip(" .!"), time, plain=True)


def _plainly(sentence: str, at: datetime, language: Language) -> Promised | None:
    """A promise, debt or announcement with a verb that says so."""
    folded = fold(sentence)
    time = find_time(sentence, at, language)
    spans = time.spans if time is not None else ()
    kept = [one.end() if (one := _DEADLINE.match(folded, start)) else start for start, _ in spans]
    bare = blank_out(folded, [(start, end) for start, (_, end) in zip(kept, spans, strict=True)])
    shapes = ((_VOWED, _vow_start), (_OWES, _debt_start), (_BORROWED, _loan_start), (_SAID, _would))
    matches = [(match, shape, reads) for shape, reads in shapes if (match := shape.search(folded))]
    for match, shape, reads in sorted(matches, key=lambda one: one[0].start()):
        if _BY_OWNER.search(_clause(folded[: match.start()])):
            continue
        who, behind = _subject(sentence, bare, match)
        somebody = time is not None and match[0].rstrip().endswith("ли")  # "обещали привезти": whoever they are
        if who is None and not somebody and not _FOR_OWNER.search(folded):
            continue
        offset = reads(bare, match, behind)
        what = " ".join(blank_out(sentence, time.spans if time else ())[offset:].split()) if offset is not None else ""
        what = _FOR_OWNER.sub("", what, count=1) if shape is _OWES else what
        what = (debt(what) if shape in (_OWES, _BORROWED) else what).strip(" ,.!")
        if what and not _NOTHING.match(fold(what)):
            return Promised(who or "", what, time, plain=shape is not _SAID)
    return None


def _clause(before: str) -> str:
    return before[max((match.end() for match in _STARTS.finditer(before)), default=0) :]


def _subject(sentence: str, bare: str, match: re.Match[str]) -> tuple[str | None, int]:
    """The person who acts, without introductory words, and the position after verb and subject; None if no
    person is named."""
    start = match.start() - len(_clause(bare[: match.start()]))
    before = [one for one in re.finditer(r"[^\W\d_][\w'-]*", bare[start : match.start()]) if one[0] not in _BESIDES]
    before = [one for one in before if one[0] not in _ROLES] or before
    if before and len(before) <= _LONGEST_SUBJECT and before[0][0] not in _NOBODY:
        who = sentence[start + before[0].start() : start + before[-1].end()]
        if who.isascii() or any(nominative_person(word) or word[:1].isupper() for word in who.split()):
            return who[:1].upper() + who[1:], match.end()
    after = re.match(r"\s+([^\W\d_][\w'-]*)(?:\s+(?:мне|нам|мені)\b)?", bare[match.end() :])
    if after is not None and not before and nominative_person(after[1]):
        who = sentence[match.end() + after.start(1) : match.end() + after.end(1)]
        return who[:1].upper() + who[1:], match.end() + after.end()
    named = () if before else re.finditer(r"[^\W\d_][\w'-]+", sentence[:start])
    earlier = next(
        (one[0] for one in named if nominative_person(one[0]) or (one[0].isascii() and one[0][0].isupper())), None
    )
    return earlier, match.end()


def _vow_start(bare: str, match: re.Match[str], behind: int) -> int | None:
    """The position where the promise's content begins: an infinitive, a future, or a thing for the owner."""
    if found := _PROMISED.match(bare, behind):
        return found.end()
    if (found := _THAT.match(bare, behind)) and match[0][0] > "z":
        return found.end()
    rest = list(re.finditer(r"[^\W\d_][\w'-]*", bare[behind:]))
    for index, word in enumerate(rest[:_NEAR]):
        if infinitive(word[0]):
            others = [one[0] for one in rest[:index] if dative(one[0]) and one[0] not in _BESIDES]
            return None if others else behind + word.start()
    return behind if rest and _FOR_OWNER.search(bare[: behind + rest[0].end()]) and rest[0][0] != "that" else None


def _debt_start(bare: str, match: re.Match[str], behind: int) -> int | None:
    return behind if _FOR_OWNER.search(bare) else None


def _loan_start(bare: str, match: re.Match[str], behind: int) -> int | None:
    return match.start()


def _would(bare: str, match: re.Match[str], behind: int) -> int | None:
    found = _WOULD.match(bare, behind)
    deed = found is not None and (_DEEDS.match(bare[found.end() :].lstrip()) or _UNTIL.search(bare))
    return found.end() if found is not None and deed else None


def _by_future(sentence: str, at: datetime, language: Language) -> Promised | None:
    """What a named person will do for somebody, or at a time for the owner, or by a day: "Оля пришлёт договор".

    Also what a person named by a job will do, or will come for, at a time: "the plumber will come on Monday".
    """
    folded = fold(sentence)
    if not any(shape.search(folded) for shape in (_DEEDS, _CONCERNS_OWNER, _DEADLINE, _VISITS)):
        return None
    named, job = _subjects(sentence, language), _by_job(sentence, folded, language)
    for offset, name in (named or job)[:1]:
        match = _FUTURE.match(folded, offset)
        if match is None:
            continue
        what = sentence[match.end() :]
        time = find_time(sentence[offset:], at, language)
        deed, spans = fold(what).lstrip(), time.spans if time is not None else ()
        until = any(_DEADLINE.match(folded, offset + start) for start, _ in spans)
        does_now = match["will"] and match["will"].strip() in ("is", "are", "'s", "'re")  # a future only with its time
        timely = spans and (until or _CONCERNS_OWNER.search(deed)) and not _STATE.match(deed)
        does = (_DEEDS.match(deed) and ((named and not does_now) or spans)) or (job and spans and _VISITS.match(deed))
        if (timely or does) and (match["will"] or _will(what, language)):
            return Promised(name, _without_time(what, sentence, offset, time), time)
    return None


def _subjects(sentence: str, language: Language) -> list[tuple[int, str]]:
    """The people named as subjects, with the position after each."""
    named = [(one.end, one.name) for one in find_people(sentence, language) if one.written == one.name]
    for token in tokens(sentence):
        kin = next((one for one in relations().get(token.key, ()) if not one.plural), None)
        if kin is not None and token.key == fold(kin.word) and not any(end >= token.end for end, _ in named):
            named.append((token.end, token.text.capitalize()))
    first = next(iter(tokens(sentence)), None)
    if not named and first is not None and is_given_name(first.text) and nominative_person(first.text):
        named.append((first.end, first.text))
    return sorted(named)


def _by_job(sentence: str, folded: str, language: Language) -> list[tuple[int, str]]:
    """A person named by a job, not by name or kinship, at the beginning of a sentence, with the position after it."""
    if language == "en":
        match = _ROLE.match(folded) or _ACTS_FOR_OWNER.match(sentence)
        return [] if match is None or fold(match[1] or "") in _NOBODY else [(match.end(), match[1].capitalize())]
    first = next(iter(tokens(sentence)), None)
    if first is None or first.key in _NOBODY or not nominative_person(first.text):
        return []
    near = any(one.circle in ("Family", "Friends") for one in relations().get(first.key, ()))
    readings = [set(one.tag.grammemes) for one in parses(first.key, language)]
    named = not any("anim" in one and not one & {"Name", "Surn", "Patr"} for one in readings)
    return [] if near or named else [(first.end, first.text.capitalize())]


def _will(what: str, language: Language) -> bool:
    """Whether a verb is a future of the third person, as in promises: "пришлёт"."""
    word = next((token.key for token in tokens(what)), "")
    return language != "en" and any({"3per", "futr"} <= set(one.tag.grammemes) for one in parses(word, language))


def _without_time(what: str, sentence: str, offset: int, time: TimeFound | None) -> str:
    """The words of a promise without its time."""
    kept = what
    for start, end in time.spans if time is not None else ():
        kept = kept.replace(sentence[offset + start : offset + end], " ")
    return " ".join(kept.split()).strip(" ,.!")
