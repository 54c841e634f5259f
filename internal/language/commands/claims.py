"""Finds where a reply claims that something was set, changed or forgotten. For the language process."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final, Literal

from internal.language.commands.vocabulary import (
    ALL,
    DATA,
    NEGATED,
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
from internal.language.text.spelling import Language, sentences, words

ClaimKind = Literal["remind", "change"]

_REMINDING: Final = re.compile(
    r"\b(?:i'll|i will|i'm going to)\s+(?:\w+\s+){0,3}?(?:remind|ping|nudge)\s+you\b"
    r"|\b(?:напомню|нагадаю)\b"
)
_LEADING: Final = re.compile(
    r"^(?:\W*(?:done|ok|okay|sure|great|alright|got it|of course|готово|хорошо|конечно|ладно|добре|звичайно|гаразд)\b)*"
    r".*?(?:remind(?:er)?(?: set| created)?(?: you)?|напомню|нагадаю|напоминани[ея]|нагадування)\b"
    r"(?:\W*(?:тебе|тобі|вам))?"
    r"(?:\W*(?:to|about|for|о|об|про|что|що|:|—|-)\b)*"
)
_DONE: Final = re.compile(r"\W*(?:all )?(?:done|готово|сделано|зроблено|ok(?:ay)?|sure(?: thing)?|as you wish)\W*")
_SETTING: Final = words(
    "set created added scheduled поставить создать добавить завести записать запланировать установить"
    " поставити створити додати завести записати запланувати встановити"
)
_PAST_EN: Final = re.compile(
    r"\b(?:i've|i have|i(?: just)?|has been|have been|is(?: now)?|are(?: now)?|was|were|all|been|successfully)"
    r"\s+(?:(?:just|now|already|also|gone ahead and|successfully)\s+)*(?P<verb>set|[a-z]+(?:ed|ten|en))\b"
    r"|^\W*(?:(?:done|ok|okay|sure|great|alright|got it)\W+)*(?P<first>set|[a-z]+(?:ed|ten|en))\b"
    r"|\breminder (?P<last>set)\b"
)
_IRREGULAR: Final = {
    "forgotten": "forget",
    "cancelled": "cancel",
    "canceled": "cancel",
    "dropped": "drop",
    "scrapped": "scrap",
}
_ABOUT: Final = re.compile(r"\b(?:about|про|о|об|обо|щодо)\b")
_OF_OTHERS: Final = words("ты вы он она они ти ви він вона вони you he she they")
_CLASSES: Final = frozenset({"forget", "remove", "cancel", "move", "mark"})


@dataclass(frozen=True, slots=True)
class Claim:
    """A sentence that claims an action: the characters to take out, and its words."""

    kind: ClaimKind
    span: Span
    text: str


def find_claims(text: str, known: Sequence[str]) -> list[Claim]:
    """The claims of a reply; `known` are words of tasks and people, since "I moved the comma" claims nothing here."""
    names = {form for one in known for word in WORD.findall(fold(one)) if len(word) > 2 for form in forms(word)}
    found = []
    begin: int | None = None  # of a "Done!" before the claim
    for start, end in sentences(text):
        sentence = text[start:end]
        if _DONE.fullmatch(fold(sentence)):
            begin = start
            continue
        if kind := _claim(sentence, fold(sentence), names):
            found.append(Claim(kind, (start if begin is None else begin, min(end, len(text))), sentence.strip()))
        begin = None
    return found


def task_of(claim: Claim, said: str, at: datetime, language: Language) -> tuple[str, TimeFound | None]:
    """The task that a claim of a reminder names, at the time that it or the owner's words (`said`) name."""
    time = find_time(claim.text, at, language) or find_time(said, at, language)
    folded = fold(claim.text)
    spans = list(time.spans) if time is not None and find_time(claim.text, at, language) is not None else []
    spans += [match.span() for match in _LEADING.finditer(folded)]
    return title_of(claim.text, spans), time


def _claim(sentence: str, folded: str, names: set[str]) -> ClaimKind | None:
    said = WORD.findall(folded)
    if folded.rstrip(" \"'»)*_").endswith("?") or TAKEN_BACK.search(folded) or folded.lstrip().startswith(">"):
        return None
    if (match := _REMINDING.search(folded)) and not NEGATED.search(folded[: match.start()]):
        return "remind"
    groups = [forms(word) for word in said]
    tasks = any(group & TASK_WORDS for group in groups)
    touched = tasks or any(group & (names | DATA) for group in groups)
    whole = any(group & ALL for group in groups) and _ABOUT.search(folded) is not None
    for kind in _verbs(sentence, folded):
        if kind == "set" and tasks:
            return "remind"
        if kind in _CLASSES and (touched or whole) and (kind != "forget" or whole or _ABOUT.search(folded)):
            return "change"
    return None


def _verbs(sentence: str, folded: str) -> list[str]:
    """The classes of the verbs by which the speaker says that he did something; "set" for what he put up."""
    found = []
    for match in _PAST_EN.finditer(folded):
        verb = match["verb"] or match["first"] or match["last"]
        bases = (_IRREGULAR.get(verb, verb), verb.removesuffix("ed"), verb.removesuffix("d"), f"{verb[:-3]}")
        kind = "set" if verb in _SETTING else next((VERBS[base] for base in bases if base in VERBS), "")
        found += [kind] * (not NEGATED.search(folded[: match.start(match.lastgroup or 0)]))
    if (
        found
        or set(WORD.findall(folded)) & _OF_OTHERS
        or any(nominative_person(word) for word in WORD.findall(sentence) if word.lower() != "я")
    ):
        return found
    for match in WORD.finditer(folded):
        for lemma, marks in () if match[0].isascii() else readings(match[0]):
            told = (
                ("past" in marks and "plur" not in marks)
                or marks & {"PRTS", "impers"}
                or match[0].endswith(("но", "то"))
            )
            if told and not NEGATED.search(folded[: match.start()]):
                found.append("set" if lemma in _SETTING else VERBS.get(lemma, ""))
    return found
