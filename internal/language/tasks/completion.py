"""Recognises by rules that the author did a task, or that it need not be done any more.

"я вже подзвонив Марії" is about "Подзвонити Марії": the same verb, in any form and aspect, and a thing in common.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final, Literal

from internal.language.dates.units import blank_out, fold
from internal.language.facts.statements import ENDS, Judge, stated
from internal.language.search.terms import english_stem
from internal.language.tasks.times import TimeFound, find_time
from internal.language.tasks.titles import nominative_person
from internal.language.tasks.vocabulary import all_of, any_of
from internal.language.text.english import IRREGULAR_VERBS
from internal.language.text.morphology import dictionary_languages, parses
from internal.language.text.spelling import Language, name_key, sentence_spans
from internal.text_caches import cached

Outcome = Literal["done", "cancelled"]

_WORD: Final = re.compile(r"[^\W\d_]+(?:['-][^\W\d_]+)*")
_OVER: Final = re.compile(rf"\b(?:{any_of('over')})\b|✅|✔")
_AT_LAST: Final = re.compile(rf"\b(?:{any_of('at_last')})\b")
"""Words that state it together with a verb: "already unimportant" does not."""
_CALLED_OFF: Final = re.compile(rf"\b(?:{any_of('called_off')})\b")
_CANCELLED_THEIRS: Final = re.compile(
    r"(?<!is )(?<!was )(?<!been )\b(?:cancel(?:led|ed) (?:his|her|their|its|the|an?)"
    r"|(?:отменил|скасува)[ваи]?(?:ла|ли)?) (?P<what>\w+)"
)
"""A cancellation of somebody's own thing: "the dentist cancelled his party" does not affect the appointment."""
_NOT: Final = re.compile(rf"\b(?:{any_of('not')})\b")
_CONDITIONAL: Final = re.compile(r"\b(?:если|якщо|якби|if|when|когда|коли|бы|б)\b")
DOUBT: Final = re.compile(rf"\b(?:{any_of('doubt')})\b")
_WHO: Final = re.compile(r"\b(?:who|what|how|кто|кем|что|как|хто|ким|що|як)\b")
_INSTEAD: Final = re.compile(r"\b(?:instead|rather|лучше|краще|давай)\b")
_PASSIVE: Final = re.compile(
    r"(?:'s|\b(?:is|are|was|were|got|been|all))\s+(?:all\s+|now\s+|already\s+)?[a-z]+(?:ed|en|t)\b"
)
"""A statement that something was done, by whichever person: "the car got washed"."""
_AUTHOR: Final = re.compile(r"\b(?:i|we|i've|we've|я|мы|ми)\b")
_STOP: Final = all_of("stop")
_MAX_CHARACTERS: Final = 600
_MIN_VERB: Final = 5
_SHORT: Final = 2
_MOST_BESIDE: Final = 2
"""The most words beside those of a task in a line that is about nothing else; no more than those of the task."""
_PLAIN: Final = 7
"""The most words of a sentence that its words alone may end a task with; a longer one must mean it, too."""
_UNLIKELY: Final = 0.02
"""The chance below which a sentence ends nothing, whatever its words."""
_MOST_UNNAMED: Final = 4
"""A sentence in unknown words ends a task only if it names at least one in so many of the task's things."""


@dataclass(frozen=True, slots=True)
class Completion:
    """A sentence that completes or cancels a task: `index` is that of the title."""

    index: int
    outcome: Outcome


@dataclass(frozen=True, slots=True)
class _Statement:
    verbs: frozenset[str]
    things: frozenset[str]
    past: bool


def find_completions(text: str, titles: Sequence[str], judge: Judge | None = None) -> list[Completion]:
    """The tasks that a text by their owner completes or cancels, each once. Loads pymorphy3.

    A judge tells so of sentences in unknown words, if they name one of the tasks, and that long ones end none.
    """
    outcomes: dict[int, Outcome] = {}
    for start, end in sentence_spans(text):
        sentence = text[start:end]
        completion = _completion_of_sentence(sentence, titles) if len(sentence) <= _MAX_CHARACTERS else None
        if completion is None:
            completion = _judged(sentence, titles, judge)
        elif judge is not None and len(sentence.split()) > _PLAIN and not stated(sentence, judge, ENDS, _UNLIKELY):
            continue
        if completion is not None:
            outcomes.setdefault(completion.index, completion.outcome)
    return [Completion(index, outcome) for index, outcome in outcomes.items()]


def find_move(text: str, titles: Sequence[str], at: datetime, language: Language) -> tuple[int, TimeFound, bool] | None:
    """The one task that a short text postpones without a verb of moving: its index, the time, and whether it is sure.

    Besides the task and the time it only has words of proposing: "car can wait till saturday".
    """
    time, folded = find_time(text, at, language), fold(text)
    unsure = _CONDITIONAL.search(folded) or DOUBT.search(folded)
    if time is None or time.recurrence or folded.rstrip().endswith("?") or unsure:
        return None
    written = _WORD.findall(blank_out(folded, time.spans))
    kept = [word for word in written if _PUTTING_OFF.isdisjoint(_forms_of(word))]
    said = _read(" ".join(kept), title=False)
    known = [_read(title, title=True) for title in titles]
    named = [n for n, one in enumerate(known) if said.things & one.things]
    if len(named) != 1 or said.past or _NOT.search(folded):
        return None
    task = known[named[0]]
    beside = said.things - task.things - task.verbs
    if kept[:1] and kept[0].isascii() and _INSTEAD.search(folded):
        beside -= _forms_of(kept[0])  # an English order: "see Nora on Friday instead"
    alike = not said.verbs or _verbs_alike(said.verbs, task.verbs) or _INSTEAD.search(folded)
    sure = bool(said.verbs) or len(kept) < len(written)
    return (named[0], time, sure) if alike and not beside else None


def only_about(text: str, titles: Sequence[str]) -> int | None:
    """The place of the one task that a short statement is about with hardly a word more: "gas bill sorted"."""
    folded = fold(text)
    asks = folded.rstrip().endswith("?") or _WHO.search(folded)
    if asks or _CONDITIONAL.search(folded) or DOUBT.search(folded) or _NOT.search(folded):
        return None
    written = [_forms_of(word) for word in _WORD.findall(folded) if word not in _STOP and len(word) > _SHORT]
    things = [_read(title, title=True).things for title in titles]
    shared = [sum(bool(word & one) for word in written) for one in things]
    found = [n for n, count in enumerate(shared) if count and len(written) - count <= min(count, _MOST_BESIDE)]
    names = [_forms_of(fold(word)) for word in _WORD.findall(text)[1:] if word.istitle() and len(word) > 1]
    new = len(found) == 1 and any(not name & things[found[0]] for name in names)  # "my boss is called Harriet"
    return found[0] if len(found) == 1 and not new else None


def tells_past(text: str) -> bool:
    """Whether a text has a verb in the past tense."""
    return _read(text, title=False).past


def same_task(one: str, other: str) -> bool:
    """Whether two titles mean the same task."""
    mine, theirs = _read(one, title=True), _read(other, title=True)
    if not mine.things and not theirs.things:
        return _verbs_alike(mine.verbs, theirs.verbs) and bool(mine.verbs)
    shared = mine.things & theirs.things
    fewer = min(len(mine.things), len(theirs.things))
    verbs = not mine.verbs or not theirs.verbs or _verbs_alike(mine.verbs, theirs.verbs)
    return bool(fewer) and 3 * len(shared) >= 2 * fewer and verbs


def _judged(sentence: str, titles: Sequence[str], judge: Judge | None) -> Completion | None:
    """The one task that most words of a sentence are about, if it surely ends one by its meaning."""
    said = _read(sentence, title=False)
    scores = [_match_score(said, _read(title, title=True), outcome_stated=True) for title in titles] if judge else []
    best = max(scores, default=0)
    if best <= 0 or scores.count(best) > 1 or sentence.rstrip().endswith("?"):
        return None
    things = _read(titles[scores.index(best)], title=True).things
    if _MOST_UNNAMED * len(said.things & things) < len(things):
        return None
    outcome = stated(sentence, judge, ENDS)
    if outcome is None or (outcome == "done" and _NOT.search(fold(sentence))):
        return None
    return Completion(scores.index(best), "done" if outcome == "done" else "cancelled")


def _completion_of_sentence(sentence: str, titles: Sequence[str]) -> Completion | None:
    folded = fold(sentence)
    if folded.rstrip().endswith("?") or _CONDITIONAL.search(folded) or DOUBT.search(folded):
        return None
    cancelled = _CALLED_OFF.search(folded) is not None
    if not cancelled and _NOT.search(folded):
        clauses = [one for one in re.split(r"[,;]\s+", sentence) if one != sentence and not _NOT.search(fold(one))]
        return next(filter(None, (_completion_of_sentence(one, titles) for one in clauses)), None)
    statement = _read(sentence, title=False)
    past = statement.past and _by_the_author(sentence, folded)
    at_last = bool(statement.verbs) and _AT_LAST.search(folded) is not None
    done = at_last or _OVER.search(folded) is not None or (past and bool(statement.verbs & _DOING))
    stated = done or cancelled
    best = sorted(
        (
            (
                max(
                    _waited_score(statement, title) if _OF_OTHER.match(title) else 0,
                    _match_score(statement, _read(title, title=True), outcome_stated=stated)
                    if stated or (past and not _OF_OTHER.match(title))
                    else 0,
                ),
                n,
            )
            for n, title in enumerate(titles)
        ),
        key=lambda fit: -fit[0],
    )
    if not best or best[0][0] <= 0 or (len(best) > 1 and best[0][0] == best[1][0]):
        return None  # none, or several possible ones
    meant = _read(titles[best[0][1]], title=True)
    theirs = _CANCELLED_THEIRS.search(folded)
    if theirs is not None and not _read(theirs["what"], title=False).things & meant.things:
        return None
    beside = len(statement.things - meant.things) > len(statement.things & meant.things)
    if beside and not cancelled and _PASSIVE.search(folded) and not _verbs_alike(statement.verbs, meant.verbs):
        return None  # "the fish market was packed today" is not about feeding the fish
    return Completion(best[0][1], "cancelled" if cancelled else "done")


def _by_the_author(sentence: str, folded: str) -> bool:
    """Whether the author did it: "Мама звонила" does not mean that the author called her."""
    if _AUTHOR.search(folded) or _PASSIVE.search(folded):
        return True
    words_ = _WORD.findall(sentence)
    if words_ and words_[0].isascii():
        return words_[0].lower() in IRREGULAR_VERBS or words_[0].lower().endswith("ed")
    return not any(nominative_person(word) for word in words_ if not word.isascii())


def _match_score(statement: _Statement, title: _Statement, *, outcome_stated: bool) -> int:
    """How much of a title a sentence states: a point for each common thing, and two for the verb."""
    shared = len(statement.things & title.things)
    verb = _verbs_alike(statement.verbs, title.verbs)
    if verb and (shared or not title.things):
        return shared + 2
    if outcome_stated and shared and (not title.verbs or not statement.verbs - _SAYING or shared == len(title.things)):
        return shared
    return 0


def _forms_of(word: str) -> frozenset[str]:
    return frozenset((_stem(word),)) if word.isascii() else _forms(word)[0]


def _stem(word: str) -> str:
    return english_stem(word) if word.isascii() else word


def _waited_score(statement: _Statement, title: str) -> int:
    """The score for what somebody else is to do ("Tom: send the contract"), if the sentence says that he did it."""
    who, _, what = title.partition(": ")
    named, waited = _read(who, title=False).things, _read(what, title=True)
    if not statement.past or not statement.things & named:
        return 0
    rest = _Statement(statement.verbs, statement.things - named, past=True)
    returned = _verbs_alike(rest.verbs, _ALIKE["handing"] | _ALIKE["paying"]) and rest.things <= _MONEY
    money = rest.things or _verbs_alike(rest.verbs, _ALIKE["paying"])
    owed = bool((waited.things | waited.verbs) & (_MONEY | _ALIKE["paying"]) or re.search(r"\d", what))
    paid = returned and (not waited.verbs - _MONEY or (money and owed))
    if not waited.things and owed and not returned:
        return 0  # "Tom paid the rent" is not about "Tom: pay me back"
    return _match_score(rest, waited, outcome_stated=False) or int(paid)


_OF_OTHER: Final = re.compile(r"[^:]{1,40}: ")
_DOING: Final = all_of("doing")
"""General verbs that state of any task that it was done."""
_ALIKE: Final = {
    name: frozenset(map(_stem, all_of(name)))
    for name in ("handing", "sending", "calling", "mending", "paying", "getting")
}
"""Verbs that mean the same to the person who waits."""
_MONEY: Final = frozenset(map(_stem, all_of("money")))
_SAYING: Final = all_of("saying")
_PUTTING_OFF: Final = frozenset(map(_stem, all_of("putting_off")))


def _verbs_alike(mine: frozenset[str], theirs: frozenset[str]) -> bool:
    """Whether verbs are equal, or one is the other with a prefix that changes its aspect: звонить, позвонить."""
    if mine & theirs or any(mine & alike and theirs & alike for alike in _ALIKE.values()):
        return True
    return any(
        len(min(one, other, key=len)) >= _MIN_VERB and (one.endswith(other) or other.endswith(one))
        for one in mine
        for other in theirs
        if not one.isascii()
    )


@cached(4_000)
def _read(text: str, *, title: bool) -> _Statement:
    verbs: set[str] = set()
    things: set[str] = set()
    past = False
    for index, match in enumerate(_WORD.finditer(fold(text))):
        word = match[0].removesuffix("'s")
        if word in _STOP:
            continue
        if word.isascii():
            base = IRREGULAR_VERBS.get(word)
            stem = english_stem(base or word)
            past = past or base is not None or (word.endswith("ed") and len(word) > 4)
            # English verbs and nouns look alike: the first word of a title is the verb, and so is a past tense.
            if base is not None or (index == 0 and title and " " in text.strip()) or word.endswith("ed"):
                verbs.add(stem)
            else:
                things.add(stem)
            continue
        forms, is_verb, is_past = _forms(word)
        past = past or is_past
        verbs.update(forms if is_verb or (is_past and not title) else ())
        things.update(() if is_verb else forms)
    return _Statement(frozenset(verbs), frozenset(things), past)


@cached(20_000)
def _forms(word: str) -> tuple[frozenset[str], bool, bool]:
    """The dictionary forms of a Cyrillic word, whether it is a verb, and whether in the past tense."""
    key = name_key(word)
    all_parses = [
        parse for language in dictionary_languages(key) if language != "en" for parse in parses(key, language)
    ]
    known = [parse for parse in all_parses if parse.is_known] or all_parses[:1]
    marks = [parse.tag.grammemes for parse in known]
    verbs = [mark for mark in marks if mark & {"VERB", "INFN", "GRND", "PRTS"}]
    is_verb = bool(verbs) and (verbs[0] is marks[0] or len(verbs) * 2 > len(marks))
    return frozenset(str(parse.normal_form) for parse in known), is_verb, any("past" in mark for mark in verbs)
