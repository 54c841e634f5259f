"""Finds where a reply claims that something was set, changed or forgotten. For the language process."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from typing import Final, Literal

from internal.language.commands.vocabulary import (
    ALL,
    DATA,
    NEGATED,
    QUOTED,
    TAKEN_BACK,
    TASK_WORDS,
    VERBS,
    WORD,
    forms,
    readings,
)
from internal.language.dates.units import Span, fold
from internal.language.tasks.times import TimeFound, find_time
from internal.language.tasks.titles import nominative_person, title_of
from internal.language.text.patterns import pattern
from internal.language.text.spelling import Language, sentence_spans, words
from internal.language.text.tables import all_of, any_of

_any: Final = partial(any_of, "internal.language.commands")
_all: Final = partial(all_of, "internal.language.commands")

ClaimKind = Literal["remind", "change"]

_REMINDING: Final = pattern(_any("reminding"))
_STIRRING: Final = pattern(_any("stirring"))
"""What promises or confirms a reminder where it names a time."""
_NO_MORE: Final = pattern(_any("no_more"))
"""What says that a reminder came to its end."""
_NEW_STATE: Final = pattern(r"\b(?:now|instead|теперь|тепер|вместо|замість)\b")
_OFF: Final = pattern(_any("off"))
"""What says that something is no more where the program keeps things."""
_DID_OUTSIDE: Final = pattern(_any("did_outside"))
_IN_CALENDAR: Final = pattern(r"\b(?:calendar|календар\w*|schedule|расписани\w|розклад\w?)\b")
_PUT: Final = pattern(
    r"(?:\bi(?:'ve| have)?|\b(?:is|are) now|^\W*)\s*(?:just |already )*(?:added|put|saved|noted|in|on)\b"
)
_SEEN: Final = pattern(r"^\W*(?:i (?:can )?see|вижу|бачу)\b")
"""What begins a sentence about what somebody else did."""
_OUTSIDE: Final = _all("outside")
"""What only somebody with hands and a phone can do."""
_WRITING: Final = words("написать написати")
_NOTING: Final = words("внести занести вписать добавить записать додати вписати записати поставить поставити")
_SOME_TIME: Final = datetime(2026, 1, 1, tzinfo=UTC)
_LEADING: Final = pattern(_any("leading_claim"))
_DONE: Final = pattern(r"\W*(?:all )?(?:done|готово|сделано|зроблено|ok(?:ay)?|sure(?: thing)?|as you wish)\W*")
_SETTING: Final = _all("setting")
_PAST_EN: Final = pattern(_any("past_en"))
_IRREGULAR: Final = {
    "forgotten": "forget",
    "cancelled": "cancel",
    "canceled": "cancel",
    "dropped": "drop",
    "scrapped": "scrap",
}
_ABOUT: Final = pattern(r"\b(?:about|про|о|об|обо|щодо)\b")
_OF_OTHERS: Final = words("ты вы он она они ти ви він вона вони you he she they")
_CLASSES: Final = frozenset({"forget", "remove", "cancel", "move", "mark"})


@dataclass(frozen=True, slots=True)
class ActionClaim:
    """A sentence that claims an action: the characters to take out, and its words."""

    kind: ClaimKind
    span: Span
    text: str


def find_claims(text: str, known: Sequence[str]) -> list[ActionClaim]:
    """The claims of a reply; `known` are words of tasks and people, since "I moved the comma" claims nothing here."""
    names = {form for one in known for word in WORD.findall(fold(one)) if len(word) > 2 for form in forms(word)}
    found = []
    bare = QUOTED.sub(lambda quote: " " * len(quote[0]), text)  # a quoted verb claims nothing
    begin: int | None = None  # of a "Done!" before the claim
    for start, end in sentence_spans(text):
        sentence = text[start:end]
        if _DONE.fullmatch(fold(sentence)):
            begin = start
            continue
        if kind := _claim(sentence, fold(bare[start:end]), names):
            found.append(ActionClaim(kind, (start if begin is None else begin, min(end, len(text))), sentence.strip()))
        begin = None
    return found


def task_of(claim: ActionClaim, said: str, at: datetime, language: Language) -> tuple[str, TimeFound | None]:
    """The task that a claim of a reminder names, at the time that it or the owner's words (`said`) name."""
    time = find_time(claim.text, at, language) or find_time(said, at, language)
    folded = fold(claim.text)
    spans = list(time.spans) if time is not None and find_time(claim.text, at, language) is not None else []
    spans += [match.span() for match in _LEADING.finditer(folded)]
    return title_of(claim.text, spans), time


def _claim(sentence: str, folded: str, names: set[str]) -> ClaimKind | None:
    said = WORD.findall(fold(sentence))
    if folded.rstrip(" \"'»)*_").endswith("?") or TAKEN_BACK.search(folded) or folded.lstrip().startswith(">"):
        return None
    if (match := _REMINDING.search(folded)) and not NEGATED.search(folded[: match.start()]):
        return "remind"
    timed = find_time(sentence, _SOME_TIME) is not None
    if timed and (match := _STIRRING.search(folded)) and not NEGATED.search(folded[: match.start()]):
        return "remind"
    return _claimed_change(sentence, folded, [forms(word) for word in said], names, timed=timed)


def _claimed_change(
    sentence: str, folded: str, groups: Sequence[frozenset[str]], names: set[str], *, timed: bool
) -> ClaimKind | None:
    tasks = any(group & TASK_WORDS for group in groups)
    named = any(group & names for group in groups)
    touched = tasks or named or any(group & DATA for group in groups)
    whole = any(group & ALL for group in groups) and _ABOUT.search(folded) is not None
    stated = (touched and _OFF.search(folded)) or (named and timed and _NEW_STATE.search(folded))
    outside = _DID_OUTSIDE.search(folded) or (_IN_CALENDAR.search(folded) and _PUT.search(folded))
    if stated or outside or _NO_MORE.search(folded):
        return "change"
    for kind in _verbs(sentence, folded, names):
        if kind == "set" and tasks:
            return "remind"
        changes = kind in _CLASSES and (touched or whole)
        by_hand = kind == "outside" and not _SEEN.search(folded)
        if by_hand or (changes and (kind != "forget" or whole or named or _ABOUT.search(folded))):
            return "change"
    return None


def _verbs(sentence: str, folded: str, names: set[str]) -> list[str]:
    """The classes of the verbs by which the speaker says that he did something; "set" for what he put up."""
    found = []
    for match in _PAST_EN.finditer(folded):
        verb = match["verb"] or match["first"] or match["last"]
        bases = (_IRREGULAR.get(verb, verb), verb.removesuffix("ed"), verb.removesuffix("d"), f"{verb[:-3]}")
        kind = "set" if verb in _SETTING else next((VERBS[base] for base in bases if base in VERBS), "")
        found += [kind] * (not NEGATED.search(folded[: match.start(match.lastgroup or 0)]))
    if found:
        return found
    someone = bool(set(WORD.findall(folded)) & _OF_OTHERS)
    someone = someone or any(nominative_person(word) for word in WORD.findall(sentence) if word.lower() != "я")
    written = _IN_CALENDAR.search(folded) is not None
    addressed = any(forms(word) & names for word in WORD.findall(folded))
    for match in WORD.finditer(folded):
        for lemma, marks in () if match[0].isascii() else readings(match[0]):
            done = bool(marks & {"PRTS", "impers"}) or match[0].endswith(("но", "то"))
            acted = "past" in marks and "plur" not in marks and not someone
            first = "past" in marks and _OF_ME.search(folded[: match.start()]) is not None
            if not (done and (not someone or addressed)) and not acted and not first:
                continue
            if NEGATED.search(folded[: match.start()]):
                continue
            outside = lemma in _OUTSIDE or (lemma in _WRITING and addressed) or (lemma in _NOTING and written)
            found.append("outside" if outside else "set" if lemma in _SETTING else VERBS.get(lemma, ""))
    return found


_OF_ME: Final = pattern(r"^\W*я\s+(?:\w+\s+)?$")
