"""Questions that a card answers: what the bot knows of the owner, what it is itself, and what is on at a time."""

import re
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from functools import partial
from typing import Final, get_args

from internal.language.commands.vocabulary import (
    ALL,
    ASK,
    DATA,
    FRAMING,
    KNOW,
    LIGHT,
    LISTS,
    NEGATED,
    OWN,
    PLAN,
    QUOTED,
    VERBS,
    WORD,
    Command,
    Kind,
    Page,
    forms,
    readings,
)
from internal.language.dates.units import blank_out, fold
from internal.language.discretion.recipients import may_be_for_others
from internal.language.tasks.requests import find_tasks
from internal.language.tasks.times import TimeFound, find_time
from internal.language.text.patterns import pattern
from internal.language.text.spelling import Language, name_key, words
from internal.language.text.tables import all_of, any_of

_any: Final = partial(any_of, "internal.language.commands")
_all: Final = partial(all_of, "internal.language.commands")

OF_ME: Final = pattern(rf"\b(?:{_any('of_me')})\b")
_YOURSELF: Final = pattern(rf"\b(?:{_any('yourself')})\b")
_BRIEF: Final = pattern(rf"\b(?:{_any('brief')})\b")
"""What to know before meeting somebody."""
_LONGEST_BRIEF: Final = 16
_LONGEST_QUESTION: Final = 14
_SHORT: Final = 8
PAGES: Final[Mapping[Kind, re.Pattern[str]]] = {
    page: pattern(_any(f"page_{page}")) for page in (*get_args(Page), "waiting", "promised", "contacts")
}
"""What asks for a whole page: of words of several classes it holds one each, in any order."""
_NAMED: Final = pattern(r"(?<=[\w,] )(?!I\b)[A-ZА-ЯЁІЇЄҐ]\w+")
_TO_YOU: Final = pattern(r"\b(?:ты|ти|вы|ви|тебе|тобі|тебя|you|u|ya|whaddya|whatcha|известно|відомо)\b")
_WHO_AM_I: Final = pattern(_any("who_am_i"))
WEEK: Final = pattern(_any("week"))


def find_question(sentence: str, folded: str, at: datetime, language: Language) -> Command | None:
    """What the bot knows of the owner, what it is, or what is on at a time."""
    said = WORD.findall(folded)
    brief = _brief(sentence, folded, said)
    if brief is not None or len(said) > _LONGEST_QUESTION or NEGATED.search(folded):
        return brief
    groups = [forms(word) for word in said]
    asks = folded.rstrip().endswith("?") or any(group & ASK for group in groups[:4])
    if asks_about_bot(folded):
        return Command("about_you", sure=True)
    pages = [page for page, words in PAGES.items() if words.search(folded) and not _NAMED.search(sentence)]
    if pages or _WHO_AM_I.fullmatch(folded):
        return Command(pages[0] if pages else "about_me", sure=True)
    if OF_ME.search(folded):
        tells = any(VERBS.get(form) == "tell" for group in groups for form in group)
        knows = any(group & KNOW for group in groups)
        rest = [
            g
            for g in groups
            if not g & (FRAMING | LIGHT | ALL | KNOW | ASK | OWN | DATA)
            and not any(VERBS.get(form) == "tell" for form in g)
        ]
        if not rest and (tells or (knows and _TO_YOU.search(folded))):
            return Command("about_me", sure=True)
        return None
    agenda = _agenda(sentence, folded, at, language) if asks else None
    first = frozenset[str]().union(*groups[:2])
    orders = first & _ASKED or any(VERBS.get(form) == "tell" for form in first)
    found = _open_end(said, groups) if orders or folded.rstrip().endswith("?") else None
    return agenda if found is None or (found.about and agenda) else found


def may_open(folded: str) -> bool:
    """Whether a clause of a text asks or orders by its form, so it states nothing with a subject or a finite verb."""
    return folded.rstrip().endswith("?") or any(map(_asks_or_orders, _CLAUSES.split(folded)))


def _asks_or_orders(clause: str) -> bool:
    said = WORD.findall(clause)
    if not said or said[0] in _SUBJECTS:
        return False
    if said[0].isascii() or set(said[:3]) & _INTERROGATIVE:
        return True
    found = [marks for word in said for _, marks in readings(word)[:1]]
    return any("impr" in marks for marks in found) or not any(marks & {"VERB", "PRED", "PRTS"} for marks in found)


def page_command(page: str, sentence: str, at: datetime, language: Language) -> Command | None:
    """The question for a page that a message means by its vector; None where grammar speaks against it."""
    folded = fold(sentence)
    written = page == "brief" and may_be_for_others(sentence)
    if written or any(one.asked for one in find_tasks(sentence, at, language)):
        return None
    if not may_open(folded) or QUOTED.search(sentence):
        return None
    if page != "agenda":
        return Command(page, sentence, sure=True)  # type: ignore[arg-type]
    week = WEEK.search(folded)
    time, days = (find_time(sentence, at, language), 1) if week is None else days_of(week, at)
    if (time is not None and time.recurrence) or _CALENDAR.search(folded) or any(map(_past, WORD.findall(folded))):
        return None
    return Command("agenda", folded, time, sure=True, days=days)


def _open_end(said: Sequence[str], groups: Sequence[frozenset[str]]) -> Command | None:
    """What others owe or promised the owner, or what he owes or promised them; `about` are the words for whom or what.

    Grammar tells which: "who owes me", "what do I owe"; where the owner is not named, somebody else is.
    """
    all_forms = frozenset[str]().union(*groups)
    waits, owes = all_forms & _WAITING, all_forms & _OWED
    if not (waits or owes) or all_forms & _BOT:
        return None
    known = _WAITING | _OWED | _ASKED | _ANYBODY | _MINE | OWN | ASK | LIGHT | FRAMING | ALL
    about = " ".join(word for word, group in zip(said, groups, strict=True) if not group & known)
    owner, others = bool(all_forms & _SUBJECT), bool(all_forms & _OBJECT)
    if waits:
        return Command("waiting", about, sure=True) if owner else None
    return (
        Command("promised" if owner and not others else "waiting", about, sure=True)
        if owner or others or about
        else None
    )


def _brief(sentence: str, folded: str, said: Sequence[str]) -> Command | None:
    match = _BRIEF.search(folded)
    if match is None or len(said) > _LONGEST_BRIEF or NEGATED.search(folded):
        return None
    tells = any(VERBS.get(form) == "tell" for word in said for form in forms(word))
    asks = folded.rstrip().endswith("?") or any(forms(word) & ASK for word in said[:4])
    about = blank_out(sentence, [match.span()])
    alone = folded.startswith("before ") and match.start() == 0 and 0 < len(about.split()) <= _BARE
    return Command("brief", about, sure=True) if tells or asks or alone or match["order"] else None


def asks_about_bot(text: str) -> bool:
    """Whether a short text asks who or what the bot is."""
    folded = name_key(text)
    said = WORD.findall(folded)
    return bool(len(said) <= _SHORT and _YOURSELF.search(folded)) and not any(forms(word) & KNOW for word in said)


def _agenda(sentence: str, folded: str, at: datetime, language: Language) -> Command | None:
    week = WEEK.search(folded)
    time, days = (find_time(sentence, at, language), 1) if week is None else days_of(week, at)
    if (time is not None and time.recurrence) or _CALENDAR.search(folded) or any(map(_past, WORD.findall(folded))):
        return None
    rest = blank_out(folded, time.spans) if time else folded
    to_do = _TO_DO.search(rest)
    rest = rest if to_do is None else blank_out(rest, [to_do.span()])
    left = [forms(word) for word in WORD.findall(rest)]
    unknown = [group for group in left if not group & (PLAN | OWN | ASK | LIGHT | FRAMING | ALL)]
    plans = to_do is not None or any(forms(word) & PLAN for word in WORD.findall(folded))
    shows = any(VERBS.get(form) == "tell" for group in left[:2] for form in group)
    bare = len(left) <= _BARE and time is not None and not time.hour_only and any(group & _WHAT for group in left)
    mine = shows or bare or to_do is not None or any(group & _MINE for group in left)
    if unknown or not (plans or mine) or (time is None and not (plans and mine)):
        return None
    return Command("agenda", folded, time, sure=True, days=days)


def days_of(week: re.Match[str], at: datetime) -> tuple[TimeFound, int]:
    """The rest of this week, the seven days ahead, the next week, or the weekend."""
    midnight, weekday = at.replace(hour=0, minute=0, second=0, microsecond=0), at.weekday()
    end = max(5 - weekday, 0) + 7 * bool(week["later"])
    ahead, days = (7 - weekday, 7) if week["next"] else (end, 2) if week["end"] else (0, 7 - weekday)
    days = 7 if week["ahead"] else days
    return TimeFound(midnight + timedelta(days=ahead), True, None, (week.span(),)), days


_CLAUSES: Final = re.compile(r"[,;:.!]\s+|\s[-—–]\s")
_SUBJECTS: Final = words(
    "i i'm i've i'd i'll we we're he he's she she's it it's they that that's this these today there my our your you're"
    " я мы он она оно они это мой моя ми він вона воно вони це мій"
)
_INTERROGATIVE: Final = words(
    "кто кого кому кем ком что чё чо чего чему чем чья чей чьё чье чьи чьих какой какая какие какое каких какими как"
    " где куда сколько насколько ли есть когда можно хто ким що шо чого чому чим чия чий чиє чиї який яка які яке яких"
    " якими як де скільки наскільки чи є коли можна"
)
_CALENDAR: Final = pattern(
    r"\b(?:what|which) (?:day|date)|как(?:ой|ое) (?:\w+ )?(?:день|число)|як(?:ий|е) (?:\w+ )?(?:день|число)"
)


def _past(word: str) -> bool:
    return word in _DID or (not word.isascii() and any({"VERB", "past"} <= marks for _, marks in readings(word)))


_DID: Final = words("did was were had")
_BARE: Final = 3
"""Most words beside the day of a question that only asks what is on: "а післязавтра що?"."""
_WHAT: Final = words("что що чо шо чем чим what what's whats")
_TO_DO: Final = pattern(rf"\b(?:{_any('to_do')})\b")
_MINE: Final = _all("mine")
_ASKED, _OWED, _WAITING, _SUBJECT, _OBJECT, _BOT, _ANYBODY = (
    LISTS[f"ledger_{name}"] for name in ("asked", "owed", "waiting", "subject", "object", "bot", "anybody")
)
