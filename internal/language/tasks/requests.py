"""Finds tasks in a text by rules: what its author wants to be reminded of, must do, promised or plans.

Questions, negations, conditions and the tasks of others are left out. A task that is only likely is for the author
to confirm: `asked` marks explicit requests.
"""

import itertools
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final, Literal

from internal.language.dates.units import Span, blank_out, fold
from internal.language.facts.statements import Judge
from internal.language.tasks.contacts import contact_wanted, rhythm_wished
from internal.language.tasks.judged import by_meaning, orders_text
from internal.language.tasks.times import TimeFound, find_time, unread_time
from internal.language.tasks.titles import (
    addressed,
    as_infinitive,
    dative,
    debt,
    infinitive,
    nominative_person,
    of_others,
    own_part,
    past_tense,
    shortened,
    title_of,
    with_meaning,
)
from internal.language.tasks.vocabulary import any_of
from internal.language.text.openings import OPENING, POLITE
from internal.language.text.patterns import pattern
from internal.language.text.slang import spell_out
from internal.language.text.spelling import Language, sentence_spans

Kind = Literal["reminder", "task", "promise", "contact"]

MAX_SENTENCE: Final = 600
"""The most characters of a sentence that is read; a longer one is pasted text."""


@dataclass(frozen=True, slots=True)
class TaskFound:
    """A task in a text: title, time, the person it was promised to (as written), the characters of its sentence.

    `asked`: the author asks to be reminded. `untitled`: only a time is given, for what was said before. `unread` are
    words of a request that name a time and could not be read.
    """

    kind: Kind
    title: str
    time: TimeFound | None
    span: Span
    asked: bool = False
    whom: str = ""
    unread: str = ""

    @property
    def untitled(self) -> bool:
        return not self.title


_REMINDING: Final = any_of("reminding")
_NOTICE: Final = any_of("notice")
_SETTING: Final = any_of("setting")
_ROUSING: Final = any_of("stirring")
"""Verbs of rousing, which request a reminder only together with a time."""
_FOR_ME: Final = r"(?:\s+(?:me|us|мне|нам|меня|нас|мені|мене))"
REMIND: Final = pattern(
    r"\b(?:(?:(?:can|could|would|will)\s+(?:you|u)|(?:не\s+)?(?:можешь|мог\s+бы|могла\s+бы|можеш|міг\s+би|могла\s+б)|не\s+забудь"
    r"|прошу|хочу,\s+чтобы\s+ты|хочу,\s+щоб\s+ти)\s+(?:please\s+)?)?(?:(?:мне|меня|мені|мене)\s+)?"
    rf"(?:(?P<plain>(?:{_REMINDING})|(?:{_SETTING}){_FOR_ME}?(?:\s+up)?(?:\s+(?:a|an|another|one|some))?(?:\s+\w+)??\s+"
    rf"(?:{_NOTICE})\b)|(?P<stir>{_ROUSING})){_FOR_ME}?(?:\s+for\s+(?:me|us)\b)?"
)
"""A request for a reminder in any wording."""
_UNLESS: Final = pattern(rf"(?:{_REMINDING}){_FOR_ME}?\W+(?:about it\W+)?(?:{any_of('unless')})\b")
"""A wish to be reminded of what is not done, followed by how often."""
_ME: Final = pattern(_FOR_ME)
_TO_WHOM: Final = pattern(r"напиш|черкн")
_RISING: Final = pattern(r"alarm|wake|будильник|буди")
_ALARM_AT: Final = pattern(
    r"\b(?:for|на)\s(?=\d{1,2}(?:[:.]\d\d)?(?!\d|\.\d|\s*(?:min|hour|day|мин|час|дн|хв|год)))", re.IGNORECASE
)
"""The preposition before the hour of an alarm."""
_ONLY_ASKED: Final = pattern(r"^(?:напомнил|напомнила|напомнить|нагадав|нагадала|нагадати)")
_LET_FORGET: Final = pattern(r"забыть|забути|forget")
_UNWANTED: Final = pattern(any_of("unwanted"))
_ASKING: Final = pattern(rf"^[\s,:—-]*(?:{POLITE})?[\s,]*(?:about\s+|про\s+|о\s+|об\s+)?(?:{any_of('asking')})\b")
_POLITE: Final = pattern(r"\b(?:can|could|would|will|можешь|мог бы|могла бы|можеш|міг би|могла б)\b|ишь|єш")
_THAT: Final = pattern(r"^[\s,:—-]*(?:о том,?\s+|про те,?\s+)?(?:что|що)\b")
_OF: Final = pattern(r"^\s+of\b")
_ABOUT: Final = pattern(r"^[\s,:—-]*(?:about|про|о|об|обо)\b")

_SURE_NEED: Final = rf"(?:{any_of('sure_need')})"
_LIKELY_NEED: Final = rf"(?:{any_of('likely_need')})"
_SURE: Final = pattern(rf"\b{_SURE_NEED}\s+(?!(?:have|been|be|not|never|было|було|ли)\b)")
_LIKELY: Final = pattern(rf"\b{_LIKELY_NEED}\s+(?!(?:have|been|be|not|never|не|было|було)\b)")
_HYPOTHETIC: Final = pattern(rf"\b(?:{any_of('hypothetic')})\b|(?:{any_of('denied_or_quoted')})$")
_OTHERS: Final = pattern(any_of("others"))

_TO_YOU: Final = pattern(r"\b(?:you|тебе|тобі|тебя|вам|вас)\b")

_I_WILL: Final = r"(?:i|we)(?:'?(?:ll|d)|\s+(?:would|will|can|could))?"
_PROMISED_EN: Final = pattern(
    r"(?:\b(?:i|we)(?:'ve|\s+have)?\s+|^\W*)(?:also\s+|just\s+|already\s+)?(?:(?:promised|promise|swore|agreed|volunteered"
    r"|pledged|signed up)|(?P<owe>owe)|(?P<told>told|said))"
    rf"(?:\s+(?P<whom>(?!(?:to|that|{_I_WILL})\b)[^\W\d_][\w'-]*(?:\s+(?!(?:to|that|{_I_WILL}|an?|the|some)\b)[^\W\d_][\w'-]*){{0,2}}))?"
    rf"\s+(?P<link>to|(?:that\s+)?(?:{_I_WILL})|(?=[\d$€£]|(?:an?|the|some|my|our|his|her|another|one|two|three|four|five|six|ten|half)\s))\s*(?=\S)"
)
_PROMISED: Final = pattern(any_of("promised"))
_SAID: Final = rf"(?:(?:по)?обещал[аи]?|(?:по)?обіця(?:в|ла|ли)|{any_of('said')})\b"
_SAYING: Final = pattern(_SAID)
_REPORTED_PROMISE: Final = pattern(rf"\b{_SAID}(?P<whom>[^,.;]{{0,40}}?),?\s+(?:что|що)\s+(?:(?:я|мы|ми)\s+)?")
_READY: Final = pattern(rf"\b(?:{any_of('ready')})(?!\w)")
"""The promise that a thing will be ready: "told Ann the cake would be ready by Friday"."""
_BEING: Final = ("быть", "бути", "мочь", "смочь", "змогти", "думать", "думати")
_OWING: Final = pattern("долж|вин")
_VERB_WITHIN: Final = 4
"""The number of words after "that" of which one must be the verb of the promise."""
_TO_ME: Final = pattern(r"^\s*,?\s*(?:мне|нам|мені|me|us|тебе|тобі)\b")
_MINE: Final = pattern(r"\b(?:я|мы|ми|i|we)\b")
_DENIED: Final = pattern(r"(?:\bне|n't|\bnot|\bnever|\bникогда не|\bніколи не)\s+$")

_APPOINTMENT: Final = pattern(rf"\b(?:{any_of('appointment')})\b")
_HAVING: Final = pattern(rf"\b(?:{any_of('having')})\b")
_HAVING_CUT: Final = pattern(rf"\b(?:{any_of('having_cut')})\b(?:\s+(?:a|an|the)\b)?")
_NO: Final = pattern(r"\b(?:не|not|no)\b|n't\b")
_CHORE: Final = pattern(rf"(?:(?:{OPENING}|to|todo|to-do)[\s,:—-]+)*(?:{any_of('chores')})\b(?!')")
"""The beginning of a note to oneself: a verb, like in an order."""
_ACTED: Final = pattern(rf"(?:{any_of('acted')})\b")
"""Words that show a sentence to be about the past, about others, or about a habit."""
_BEFORE_VERB: Final = ("я", "и", "та", "й", "потом", "потім")
_MAX_LEAD: Final = 6
"""The most words before a need, as more are a story; an appointment without a verb has no more either."""

_CYRILLIC: Final = pattern(r"[\u0400-\u04ff'-]+")


def find_tasks(text: str, at: datetime, language: Language = "en", judge: Judge | None = None) -> list[TaskFound]:
    """The tasks in a text by its author, written at `at` (aware, in the author's zone), in order.

    A judge finds promises with a day, and rhythms, in words that no rule knows. Loads pymorphy3; 1 ms a sentence.
    """
    tasks: list[TaskFound] = []
    for start, end in sentence_spans(text):
        for begin, part in _clauses(text[start:end]):
            read = len(part) <= MAX_SENTENCE
            if read and (task := _of_sentence(spell_out(part), at, language, judge)) is not None:
                placed = replace(task, span=(start + begin, start + begin + len(part)))
                tasks.append(_with_titles_before(placed, tasks, text, language))
    return _without_titled_twice(tasks)


def _clauses(sentence: str) -> Iterator[tuple[int, str]]:
    """The parts of a sentence, split at semicolons and before a second request for a reminder."""
    start = 0
    for match in re.finditer(
        r";\s*|,?\s+(?:и|а также|та|і|and)\s+(?=(?:ещё |еще |also )?(?:напомни|нагадай|remind me)\b)", fold(sentence)
    ):
        yield start, sentence[start : match.start()]
        start = match.end()
    yield start, sentence[start:]


def _with_titles_before(task: TaskFound, tasks: list[TaskFound], text: str, language: Language) -> TaskFound:
    """Takes a title, or what its pronoun means, from before: "I have to call Maria. Remind me on Friday." is one."""
    if not task.asked:
        return replace(task, title=with_meaning(task.title, text[: task.span[0]], text[: task.span[1]], language))
    if task.title:
        return task
    if tasks and not tasks[-1].asked:
        both = (tasks[-1].span[0], task.span[1])
        return replace(task, title=tasks[-1].title, whom=tasks[-1].whom, span=both)
    before = text[: task.span[0]].strip()
    last = sentence_spans(before)[-1] if before else (0, 0)
    title = title_of(before[last[0] : last[1]], ())
    return replace(task, title=shortened(title))


def _without_titled_twice(tasks: list[TaskFound]) -> list[TaskFound]:
    titles = {task.title for task in tasks if task.asked}
    return [task for task in tasks if task.asked or task.title not in titles]


def _of_sentence(sentence: str, at: datetime, language: Language, judge: Judge | None) -> TaskFound | None:
    if unless := _UNLESS.search(fold(sentence)):
        sentence = blank_out(sentence, [unless.span()])
    folded = fold(sentence)
    question = folded.rstrip(" \"'»)”").endswith("?")
    reminder = _reminder(sentence, folded, at, language, question=question)
    if reminder is not None or REMIND.search(folded):
        return reminder
    if question:
        return None
    return (
        _part_or_rhythm(sentence, at, language)
        or _promise(sentence, folded, at, language)
        or _need(sentence, folded, at, language)
        or _plan(sentence, folded, at, language)
        or _judged(sentence, at, language, judge)
    )


def _judged(sentence: str, at: datetime, language: Language, judge: Judge | None) -> TaskFound | None:
    """The author's promise for a day, or his wish to be in touch regularly, by what a sentence means."""
    kind, time = by_meaning(sentence, at, language, judge) or (None, None)
    if time is None or kind == "promise":
        return None
    return _titled("contact" if kind == "rhythm" else "promise", title_of(sentence, time.spans), time)


def _reminder(sentence: str, folded: str, at: datetime, language: Language, *, question: bool) -> TaskFound | None:
    match = REMIND.search(folded)
    if match is None or not _is_request(folded, match, question=question):
        return None
    rising = _RISING.search(match[0])
    sentence = _ALARM_AT.sub(lambda one: "at  " if one[0].isascii() else "о  ", sentence) if rising else sentence
    after, time = folded[match.end() :], find_time(sentence, at, language)
    if match["stir"] and (time is None or (_TO_WHOM.search(match[0]) and not _ME.search(match[0]))):
        return None
    asks_question = bool(_ASKING.match(after)) and not (time and time.recurrence)
    about_past = _THAT.match(after) and (time is None or any(past_tense(word) for word in _CYRILLIC.findall(after)))
    if asks_question or about_past or (time is None and not _tells_what_to_do(after)):
        return None
    title = title_of(sentence, [match.span(), *(time.spans if time else ())])
    if not title and rising:
        title = "Alarm" if match[0].isascii() else "Будильник"
    unread = unread_time(sentence, time, at, language)
    return TaskFound("reminder", title, time, (0, 0), asked=True, unread=unread)


def _is_request(folded: str, match: re.Match[str], *, question: bool) -> bool:
    """Whether the words request a reminder: not "don't", "she reminded me", "you remind me of"."""
    unwanted = _UNWANTED.search(folded[: match.start()]) and not _LET_FORGET.search(match[0])
    reported = _ONLY_ASKED.match(match[0].strip()) or _OF.match(folded[match.end() :])
    return not unwanted and not reported and (not question or _POLITE.search(match[0]) is not None)


def _tells_what_to_do(after: str) -> bool:
    if _ABOUT.match(after):
        return False  # "remind me about the project": a wish for information
    words = after.split()
    return bool(re.match(r"^[\s,:—-]*to\s+\w", after)) or any(infinitive(word) for word in words[:4])


def _need(sentence: str, folded: str, at: datetime, language: Language) -> TaskFound | None:
    sure = _SURE.search(folded)
    match = sure or _LIKELY.search(folded)
    if match is None or not _needed_by_the_author(folded[: match.start()]):
        return None
    time = find_time(sentence, at, language)
    spans = time.spans if time else ()
    if time is None and (sure is None or len(folded[: match.start()].split()) > _MAX_LEAD):
        return None  # a story, or a wish
    after = blank_out(folded, spans)[match.end() :]
    to_the_bot = sure is None and _TO_YOU.search(after)
    if to_the_bot or (_CYRILLIC.match(match[0]) and not any(infinitive(word) for word in after.split()[:5])):
        return None
    title, whom = addressed(title_of(sentence, [(0, match.end()), *spans]))
    return TaskFound("task", title, time, (0, 0), whom=whom) if title else None


def _part_or_rhythm(sentence: str, at: datetime, language: Language) -> TaskFound | None:
    """A wish to be in touch regularly, or the author's part in something: "с меня салат к пятнице"."""
    time = find_time(sentence, at, language)
    spans = time.spans if time else ()
    if time and time.recurrence and (title := rhythm_wished(sentence, spans, language)):
        return TaskFound("contact", shortened(title), time, (0, 0))
    title, whom = own_part(sentence, spans)
    return TaskFound("promise", title, time, (0, 0), whom=whom) if title else None


def _needed_by_the_author(before: str) -> bool:
    """Whether the author must do it: no condition, no negation, no other person ("тебе надо", "Марии надо")."""
    if _HYPOTHETIC.search(before) or _OTHERS.search(before):
        return False
    words = before.split()
    return not words or words[-1] in ("мне", "нам", "мені") or not dative(words[-1])


def _promise(sentence: str, folded: str, at: datetime, language: Language) -> TaskFound | None:
    time = find_time(sentence, at, language)
    spans = time.spans if time else ()
    if english := _PROMISED_EN.search(folded):
        return _promised_en(sentence, folded, english, time)
    promise = _REPORTED_PROMISE.search(folded)
    if promise and (infinite := _with_infinitive(sentence, promise)):
        sentence, folded, time = infinite, fold(infinite), find_time(infinite, at, language)
        spans = time.spans if time else ()
    elif not (promise and time and _READY.search(folded[promise.end() :]) and dative(promise["whom"].strip(" ,"))):
        promise = None
    match = _SAYING.match(folded, promise.start()) if promise else _PROMISED.search(folded)
    if match is None or not _promised_by_the_author(sentence, folded, match):
        return None
    promised = blank_out(folded, spans)[match.end() :]
    if not any(infinitive(word) for word in promised.split()[:6]) and not _THAT.match(promised):
        words = debt(blank_out(sentence, spans)[match.end() :]).split()
        whom = list(itertools.takewhile(dative, words))
        return _promised(title_of(" ".join(words[len(whom) :]), ()), " ".join(whom).strip(","), time) if whom else None
    if infinitive(promised.split()[0]) and _OWING.search(match[0]):
        return None  # "я должен позвонить": a need
    title, named = addressed(title_of(sentence, [(0, match.end()), *spans]))
    if named:
        return TaskFound("promise", title, time, (0, 0), whom=named)
    before = _CYRILLIC.findall(sentence[: match.start()])
    return _promised(title, next((word for word in before if word[:1].isupper() and dative(word)), ""), time)


def _with_infinitive(sentence: str, promise: re.Match[str]) -> str:
    """Rewrites "I told Tom that I'll call" as "I told Tom, call", with an infinitive as in promises; else empty."""
    for word in list(_CYRILLIC.finditer(sentence, promise.end()))[:_VERB_WITHIN]:
        verb = as_infinitive(word[0])
        if verb is not None and not _NO.search(fold(sentence[promise.end() : word.start()])) and verb not in _BEING:
            rest = f"{sentence[promise.end() : word.start()]} {sentence[word.end() :]}"
            return f"{sentence[: promise.end('whom')]}, {verb} {rest}"
    return ""


def _promised_en(sentence: str, folded: str, match: re.Match[str], time: TimeFound | None) -> TaskFound | None:
    # "I told him to come"
    ordered = match["told"] and not re.search(r"i|we", match["link"]) and not _READY.search(folded)
    no_thing = match["link"] if match["owe"] else not match["link"] and not match["whom"]
    if ordered or no_thing or _HYPOTHETIC.search(folded[: match.start()]) or match["whom"] in ("myself", "me"):
        return None
    whom = sentence[match.start("whom") : match.end("whom")] if match["whom"] else ""
    sentence = debt(sentence) if match["owe"] else sentence
    return _promised(title_of(sentence, [(0, match.end()), *(time.spans if time else ())]), whom, time)


def _promised(title: str, whom: str, time: TimeFound | None) -> TaskFound | None:
    words = f"{title} ({whom})" if whom else title
    return TaskFound("promise", words, time, (0, 0), whom=whom) if title else None


def _promised_by_the_author(sentence: str, folded: str, match: re.Match[str]) -> bool:
    """Whether the author made the promise: not "не обещал", "обещал мне", or another person."""
    before, after = folded[: match.start()], folded[match.end() :]
    if _DENIED.search(before) or _TO_ME.match(after) or _TO_ME.match(before):
        return False
    if match[0].endswith("ли") and not _MINE.search(before):
        return False
    if _MINE.search(before) or match[0].endswith("ю"):
        return True
    named = [*_CYRILLIC.findall(sentence[: match.start()]), *_CYRILLIC.findall(sentence[match.end() :])[:1]]
    return not _OTHERS.search(before) and not any(nominative_person(word) for word in named)


def _plan(sentence: str, folded: str, at: datetime, language: Language) -> TaskFound | None:
    """Finds what will be done on a named day: "завтра позвоню Марии", "dentist tomorrow at 10"."""
    time = find_time(sentence, at, language)
    denied = any(shape.search(folded) for shape in (_SURE, _LIKELY, _HYPOTHETIC, _NO))
    if time is None or not time.sure or denied or orders_text(sentence, time):
        return None
    rest = blank_out(sentence, time.spans)
    words = _CYRILLIC.findall(rest)
    begins = contact_wanted(sentence) if time.recurrence else -1
    note = _CHORE.match(fold(rest).lstrip(" ,.:;—–-"))
    if (words and infinitive(words[0])) or begins >= 0 or (note and not _TO_YOU.search(folded)):
        return _titled("task", title_of(sentence, [(0, max(begins, 0)), *time.spans]), time)
    if (intended := _intended(sentence, rest, words, time)) is not None:
        return intended
    if _APPOINTMENT.search(folded) and (_HAVING.search(folded) or len(rest.split()) <= _MAX_LEAD):
        acts = any(past_tense(word) for word in words) or _ACTED.search(folded)
        if acts or (any(map(nominative_person, words)) and any(map(of_others, words))):
            return None
        cut = [match.span() for match in _HAVING_CUT.finditer(folded)]
        return _titled("reminder", title_of(sentence, [*time.spans, *cut]), time)
    return None


def _intended(sentence: str, rest: str, words: list[str], time: TimeFound) -> TaskFound | None:
    """The task in a sentence that begins with a verb in the first person of the future, put into the infinitive."""
    for n, word in enumerate(words[:3]):
        if (verb := as_infinitive(word)) is not None and all(
            previous.lower() in _BEFORE_VERB for previous in words[:n]
        ):
            position = rest.index(word)
            cut = position + len(word) - len(verb)
            spans = [(start - cut, end - cut) for start, end in time.spans if start > position]
            return _titled("task", title_of(f"{verb}{sentence[position + len(word) :]}", spans), time)
    return None


def _titled(kind: Kind, title: str, time: TimeFound) -> TaskFound | None:
    return TaskFound(kind, title, time, (0, 0)) if len(title) > 2 else None


def may_request(text: str) -> bool:
    """Whether a text may request a reminder: false for nearly all that do not, without using a dictionary."""
    return REMIND.search(fold(text)) is not None


def may_promise(text: str) -> bool:
    """Whether its author may promise something in a text."""
    folded = fold(text)
    return any(shape.search(folded) for shape in (_PROMISED, _PROMISED_EN, _REPORTED_PROMISE))
