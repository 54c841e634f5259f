"""Recognises what plain words ask the program to do: forget, cancel, move, tick off, a name, and three questions.

Three things make a command: a verb of a class in a form that orders or requests, no word that takes the order back
(a negation, a condition, a report of what somebody said), and an object, which is compared with what memory holds.
Loads pymorphy3: for the language process.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import datetime
from functools import partial
from typing import Final

from internal.language.commands.questions import OF_ME, PAGES, find_question
from internal.language.commands.vocabulary import (
    ALL,
    DATA,
    KNOW,
    LIGHT,
    MODAL,
    NEGATED,
    NEVER_MIND,
    PERSONAL,
    PHRASES,
    PRONOUNS,
    QUOTED,
    STOP_NAME,
    TAKEN_BACK,
    TASK_WORDS,
    VERBS,
    WORD,
    Command,
    content_words,
    corrected_spelling,
    forms,
    readings,
)
from internal.language.dates.spoken_hours import SPOKEN
from internal.language.dates.units import Span, blank_out, fold
from internal.language.discretion.recipients import only_orders_words
from internal.language.instructions.find import find_instructions
from internal.language.tasks.completion import DOUBT
from internal.language.tasks.requests import REMIND, find_tasks
from internal.language.tasks.times import find_time
from internal.language.text.openings import LEADING, POLITE
from internal.language.text.patterns import pattern
from internal.language.text.slang import spell_out
from internal.language.text.spelling import Language, sentence_spans, words
from internal.language.text.tables import all_of, any_of
from internal.text_caches import cached

_any: Final = partial(any_of, "internal.language.commands")
_all: Final = partial(all_of, "internal.language.commands")

_CALLING: Final = pattern(
    r"\b(?:call|address|зови(?:те)?|называй\w*|обращай\w*|клич\w*|називай\w*|звертай\w*|величай\w*)\b"
)
_THAT_OR_NAME: Final = pattern(r"(?:,\s*)?(?:that|что|що)\b|(?:про |about )?[A-ZА-ЯЁІЇЄҐ]\w+\W*$")
"""What is to be forgotten, whether it is found or not: a statement, or somebody by name."""
_THAT: Final = pattern(r"(?:,\s*)?(?:that|что|що)\b")
WHAT_WAS_SAID: Final = pattern(rf"\W*(?:{_any('what_was_said')})", re.IGNORECASE)
_PARTICLE: Final = pattern(r"(?<=[а-яіїєґ])-ка\b")
_OWN_CLAUSE: Final = pattern(rf"(?<=\w),\s+(?=I\b|(?!(?:{_any('own_clause')})\b)[^A-ZА-ЯЁІЇЄҐ])")
"""Where something else begins than more of the object: no relative clause, no further name."""
_LONGEST_QUOTED_NAME: Final = 30
_UNKNOW: Final = pattern(_any("unknow"))
"""Wishes that something be known no more."""
_UNABLE: Final = pattern(r"\bне (?:могу|можу|смогу|зможу|получается|виходить)\b")
_VANISH: Final = pattern(_any("vanish"))
"""Where something is to go, without a verb: "из памяти вон"."""
_UNREMIND: Final = pattern(_any("unremind"))
_UNDO: Final = pattern(rf"\W*(?:(?:no|{_any('wait')}|{LEADING})\W+)*(?:{_any('undo')})(?:\W+(?:{POLITE}))*\W*")
"""Orders to take back what the last card shows."""
_ONTO: Final = pattern(
    rf"\b(?<!пів )(?<!ть )(?:to|на)\s+(?=(?:\d|half\b|пів\b|чверть|{SPOKEN})(?!\s*(?:min|hour|day|week|month"
    r"|час(?:а|ов)?\b(?! дня| ночи)|годин|дн|день|тиж|нед)))",
    re.IGNORECASE,
)
"""What an hour follows to which something is moved."""
_OF_ME: Final = pattern(rf"{OF_ME.pattern}|\b(?:себя|себе)\b")
_AT_LAST: Final = pattern(
    r"(?<!\bat)(?<!\bby)(?<![а-яіїєґ])( \d{1,2}(?:[:.]\d\d)?(?: ?[ap]m)?(?: instead| please| then)*\W*)$"
)
"""An hour that ends an English order: "make the bank one 11 instead"."""
_CHANGED: Final = pattern(r"[a-z]|\b(?:о|на|до|к)\b", re.IGNORECASE)
_MOVED: Final = pattern(r"\b(?:moved|rescheduled|postponed|pushed|shifted|delayed|rebooked)\b")
_RATHER: Final = pattern(r"\b(?:давай(?:те)?|лучше|краще|(?:do|let's|have)\b.+\binstead)\b")
"""What proposes another time without a verb: "посылку лучше послезавтра"."""
_CALLED: Final = pattern(r"\b(?:like|love|want|prefer|wish) to be (?:called|addressed as)\b", re.IGNORECASE)
_TO_YOU: Final = pattern(
    _any("to_you").replace("NAME", r"(?-i:[A-ZА-ЯЁІЇЄҐ])[\w'-]+(?: (?-i:[A-ZА-ЯЁІЇЄҐ])[\w'-]+)?"), re.IGNORECASE
)
"""What the owner is for the bot: "from now on I'm Captain to you"."""
_FROM_MEMORY: Final = pattern(r"\b(?:out of|from|off) (?:your|ur|my|the) (?:memory|mind|head|brain|list)\b")
_TAKING: Final = words("take throw kick get put push")
_REPORTED: Final = pattern(r"\w+\s+\w+[^:,;.]*:\s*$|\w\s*:\s*[-—]\s*$")
_LEAD: Final = pattern(rf"(?:(?:{LEADING})\W+|{_any('lead')})*")
_WANTS: Final = pattern(r"\b(?:i|we)(?:'d| would)? ?(?:want|need|like|have|wanna|gotta)(?: to)?\W+$")
_WOULD: Final = words("мог могла можно міг можна хотел хотела хотів")
_OWN_NEED: Final = words("хотеть хотіти нужно надо треба потрібно пора прийтись хотеться")
_BOUNDARY: Final = pattern(r"[,;—–(!]\s*|\s-\s|\b(?:and|but|so|then|also|plus)\s+")


def find_commands(text: str, at: datetime, language: Language = "en") -> list[Command]:
    """The commands in an owner's own text, written at `at` (aware, in his zone), in their order."""
    found: list[Command] = []
    for start, end in sentence_spans(text):
        sentence = QUOTED.sub(_kept_quote, text[start:end])
        for one in _of_sentence(sentence, at, language):
            found.append(Command(one.kind, one.about, one.time, one.sure, (start, min(end, len(text))), one.days))
    return found


def _kept_quote(match: re.Match[str]) -> str:
    """A quoted name without its marks; what is longer is somebody's words, and is blanked."""
    inner = match[0][1:-1]
    return f" {inner} " if len(inner) <= _LONGEST_QUOTED_NAME and len(inner.split()) <= 3 else " " * len(match[0])


@cached(4_000)
def is_order(sentence: str, at: datetime, *, changes: bool = False) -> bool:
    """Whether a sentence only orders the bot to do something, and so tells of nobody: "forget Tom", "draft a card".

    With `changes` also what orders something about tasks: "cancel the dentist", "remind me to call Tom".
    """
    return only_orders_words(sentence) or is_command(sentence, at, changes=changes)


def is_command(sentence: str, at: datetime, *, changes: bool = False) -> bool:
    """Whether a sentence orders something else than words."""
    said = spell_out(sentence)
    found = find_commands(said, at)
    if {one.kind for one in found} - {"cancel", "move", "mark"} or find_instructions(said):
        return True
    orders = any(one.sure or not said.isascii() for one in found)  # "Mark is my brother" ticks nothing off
    return changes and ((orders and any(_heads(fold(said)))) or any(one.asked for one in find_tasks(said, at)))


def names_owner(text: str) -> bool:
    """Whether a text only says how its author wants to be called. Loads no dictionary."""
    return _CALLING.search(fold(text)) is not None and _name(text) is not None


def _of_sentence(sentence: str, at: datetime, language: Language) -> Iterator[Command]:
    folded = _PARTICLE.sub("   ", fold(sentence))
    asked = [request.span() for request in REMIND.finditer(folded)]
    heads = [one for one in _heads(folded) if not any(start <= one[1][0] < end for start, end in asked)]
    orders = any(kind not in ("tell", "name", "change") for kind, _, _ in heads) and not PAGES["changes"].search(folded)
    if not orders and (question := find_question(sentence, folded, at, language)) is not None:
        yield question
        return
    if DOUBT.search(folded):
        return
    stated = False
    if called := _CALLED.search(sentence):
        yield from filter(None, [_name(f"me {sentence[called.end() :]}")])
        return
    if to_you := _TO_YOU.search(sentence):
        yield from filter(None, [_name(f"me {to_you[to_you.lastgroup or 0]}")])
        return
    if undone := _UNDO.fullmatch(folded):
        heads = [("cancel", undone.span(), True)]
    elif unremind := _UNREMIND.search(folded):
        heads = [("cancel", unremind.span(), True)]
    elif unknow := _UNKNOW.search(folded):
        heads = [("forget", unknow.span(), bool(content_words(folded[unknow.end() :])))]
    elif not heads and (vanish := _VANISH.search(folded)):
        heads = [("remove", (vanish.start(), vanish.end()), False)]
    elif not heads and (moved := _moving_verb(folded)) is not None:
        heads, stated = [("move", moved, False)], True
    for index, (kind, (start, end), fresh) in enumerate(heads):
        following = heads[index + 1][1][0] if index + 1 < len(heads) else len(sentence)
        before = "" if fresh else sentence[heads[index - 1][1][1] if index else 0 : start]
        command = _command(kind, sentence[:start], before, sentence[end:following], at, language)
        if command is not None and (command.kind != "move" or command.time is not None or not stated):
            yield replace(command, sure=(command.sure and not stated) or undone is not None)


def _command(kind: str, whole: str, before: str, after: str, at: datetime, language: Language) -> Command | None:
    """The command of a verb. Where its object is a pronoun, that is what stands before in the sentence (`whole`)."""
    if kind in ("tell", "name"):
        return _name(f"{before} {after}") if kind == "name" else None
    changed = kind == "change"  # "make it 11": a time makes it a move
    kind = "move" if changed else kind
    about = f"{before} {_own_clause(after)}"
    if not content_words(about) and set(WORD.findall(fold(after))) & (PERSONAL if kind == "forget" else PRONOUNS):
        about = f"{whole} {_own_clause(after)}"
    if kind == "move":
        about = _AT_LAST.sub(r" at\1", _ONTO.sub(lambda match: "at " if match[0].isascii() else "о ", about))
    time = find_time(about, at, language) if kind in ("move", "cancel", "remove") else None
    if changed and (time is None or not _CHANGED.search(about)):
        return None
    if kind == "move" and time is not None:
        about = blank_out(about, time.spans)
    folded = fold(about)
    if set(WORD.findall(folded)) & NEVER_MIND:
        return None
    content = content_words(about)
    all_words = [word for word in WORD.findall(folded) if forms(word) & ALL]
    if all_words and _OF_ME.search(folded):  # in "all that you gathered about me" the verb is no object
        content = [word for word in content if not any(marks & {"VERB", "past"} for _, marks in readings(word))]
    if kind in ("forget", "remove") and not content:
        everything = bool(all_words) or any(forms(word) & DATA for word in WORD.findall(folded))
        demonstrative = any(word in PRONOUNS for word in WORD.findall(folded))
        idle = demonstrative and (kind == "forget" or not all_words)  # "forget it all" is a shrug
        return Command("forget_all", sure=True) if everything and not idle else None
    pointing = any(forms(word) & (PRONOUNS | TASK_WORDS) for word in WORD.findall(folded))
    bare = not WORD.findall(folded) and kind in ("cancel", "move")  # what the last card is about, if there is one
    if not content and not bare and not (pointing and kind in ("cancel", "move", "mark")):
        return None
    about = " ".join(about.split())
    if kind == "remove" and WHAT_WAS_SAID.match(after):
        kind = "forget"  # words are kept in memory, tasks are none
    that = kind == "forget" and _THAT_OR_NAME.match(after.lstrip()) is not None
    framed = (
        that or bool(all_words) or bool({form for word in WORD.findall(folded) for form in forms(word)} & (KNOW | DATA))
    )
    states = kind == "forget" and _THAT.match(after.lstrip()) is not None
    sure = framed if kind in ("forget", "remove") else kind in ("cancel", "move") and not changed and not bare
    return Command(kind, about, time, sure, states=states)  # type: ignore[arg-type]


def _heads(folded: str) -> Iterator[tuple[str, Span, bool]]:
    """The class and characters of each verb that orders something; True where nothing of its object precedes it."""
    words_found = list(WORD.finditer(folded))
    taken = -1
    for index, match in enumerate(words_found):
        if match.start() < taken:
            continue
        end = match.end()
        if match[0].isascii():
            kind, end = _english(folded, match)
        else:
            kind = _cyrillic(folded, words_found, index)
        if kind is None or TAKEN_BACK.search(folded[: match.start()]) or NEGATED.search(folded[: match.start()]):
            continue
        if _REPORTED.search(folded[: match.start()]):
            continue
        taken = end
        yield kind, (match.start(), end), match[0].isascii()


def _moving_verb(folded: str) -> Span | None:
    """The verb of a statement that something takes place at another time now: "the dentist was moved to Friday"."""
    if folded.rstrip().endswith("?") or TAKEN_BACK.search(folded):
        return None
    if match := _MOVED.search(folded):
        return match.span()
    if (match := _RATHER.search(folded)) and not _says_more(folded):
        return match.span()
    for match in WORD.finditer(folded):
        for lemma, marks in () if match[0].isascii() else readings(match[0]):
            moved = marks & {"PRTS", "PRTF", "impers", "past"} or lemma.endswith("ся")
            if moved and VERBS.get(lemma.removesuffix("ся")) == "move" and not NEGATED.search(folded[: match.start()]):
                return match.span()
    return None


def _says_more(folded: str) -> bool:
    """Whether a Cyrillic text has a verb besides "давай": then it is about something else than a time."""
    said = (readings(word) for word in WORD.findall(folded) if not word.isascii() and not _RATHER.fullmatch(word))
    return any(marks & {"VERB", "INFN"} for found in said for _, marks in found[:1])


def _english(folded: str, match: re.Match[str]) -> tuple[str | None, int]:
    """The class of an English verb where an imperative or a polite request stands, and where it ends."""
    kind, end = None, match.end()
    for phrase, its_kind in PHRASES:
        if folded.startswith(phrase, match.start()):
            kind, end = its_kind, match.start() + len(phrase)
    if match[0] in _TAKING and _FROM_MEMORY.search(folded):
        kind = "remove"
    kind = kind or VERBS.get(match[0]) or VERBS.get(corrected_spelling(match[0], "en"))
    if kind is None and match[0].endswith("ing"):
        kind = next(
            (VERBS[base] for base in (match[0][:-3], f"{match[0][:-3]}e", match[0][:-4]) if base in VERBS), None
        )
        if not re.search(r"\b(?:mind|about)\W+$", folded[: match.start()]):
            return None, end
    if kind is None:
        return None, end
    before = folded[: match.start()]
    starts = [0, *(boundary.end() for boundary in _BOUNDARY.finditer(before))]
    if not any(_LEAD.fullmatch(before[start:]) for start in starts):
        return None, end
    wants = _WANTS.search(before)
    if wants and kind in ("forget", "name", "tell"):
        return None, end  # "I want to forget him" is no request
    return kind, end


def _cyrillic(folded: str, words_found: Sequence[re.Match[str]], index: int) -> str | None:
    """The class of a Cyrillic verb that is an imperative, or that a request leads up to."""
    word, before = words_found[index][0], [match[0] for match in words_found[:index]]
    for lemma, marks in readings(word):
        kind = VERBS.get(lemma)
        if kind is None:
            continue
        lemmas = {form for one in before for form in forms(one)}
        second = {"ты", "вы", "ти", "ви"} & set(before)
        if "impr" in marks:
            return kind
        if (
            marks & {"INFN", "infn"}
            and not _UNABLE.search(folded)
            and _asks_infinitive(kind, before, lemmas, question=folded.rstrip().endswith("?"))
        ):
            return kind
        if "2per" in marks and marks & {"futr"} and folded.rstrip().endswith("?"):
            return kind
        if {"1per", "plur"} <= marks and "futr" in marks and "бы" not in before:
            return kind
        if "past" in marks and {"чтобы", "чтоб", "щоб"} & set(before) and second:
            return kind
    return None


def _asks_infinitive(kind: str, before: Sequence[str], lemmas: set[str], *, question: bool) -> bool:
    """ "можешь удалить", "удалить всё": a request; "хочу забыть", "забыть бы" is none."""
    if {"бы", "б", "би"} & set(before) and not _WOULD & set(before):
        return False
    own = lemmas & _OWN_NEED
    if own:
        return kind in ("remove", "cancel", "move", "mark", "name")
    if lemmas & MODAL:
        return True
    return not question and all(forms(word) & LIGHT for word in before)


def _own_clause(after: str) -> str:
    """What follows a verb, without a reason behind it."""
    clause = _OWN_CLAUSE.split(after, maxsplit=1)[0]
    whole = any(forms(word) & (ALL | DATA) for word in WORD.findall(fold(clause)))
    return clause if whole or content_words(clause) else after


def _name(about: str) -> Command | None:
    """ "меня Саша", "me Alex from now on": the form of address that the owner wants."""
    match = re.search(
        r"(?:\bко мне\b|\bдо мене\b|\bменя\b|\bмене\b|\bme\b)[\s,:—-]*"
        r"((?:[^\W\d_][\w'’.-]*|[\"«“])(?:\s+[^\W\d_][\w'’.-]*){0,5})",
        about,
        re.IGNORECASE,
    )
    if match is None:
        return None
    found = match[1].split()
    while found and fold(found[0]).strip(".") in _BEFORE_NAME:
        found.pop(0)
    for index, word in enumerate(found):
        if fold(word).strip(".") in _AFTER_NAME or any(VERBS.get(form) == "name" for form in forms(fold(word))):
            found = found[:index]
            break
    said = " ".join(found).strip(' .,!?"«»')
    name = (
        next((lemma for lemma, marks in readings(said) if {"Name", "ablt"} <= marks), said) if len(found) == 1 else said
    )
    folded = [one.strip(".") for one in fold(name).split()]
    if not 1 <= len(folded) <= 4 or set(folded) & STOP_NAME:
        return None
    return Command("name", name if name != fold(name) else name.title(), sure=True)


_BEFORE_NAME: Final = words(
    "просто всі все усі друзі друзья"
    " just by as на имя именем по ім'ям the name надо нужно можно лучше треба можна краще слід теперь тепер"
    " впредь отныне відтепер now"
)
_AFTER_NAME: Final = _all("after_name")
