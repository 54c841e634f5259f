"""Finds standing instructions: what a text tells the assistant to do always, or how to answer.

An instruction is addressed to the assistant (an imperative, "you should", "I want you to", "no emojis") and lasts:
it says so ("always", "never", "from now on"), or it is about the manner of answering in a form that implies a habit.
Questions, tasks, statements about people, and wishes for one answer are not instructions.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import Final, Literal

from internal.language.dates.units import fold
from internal.language.instructions.topics import condition_of, topics_of
from internal.language.instructions.withdrawals import (
    AGAIN,
    DISMISSED,
    LIFTED,
    NO_LONGER,
    OVER,
    PLAINLY,
    SETTING,
    SWITCHED,
    TAKEN_BACK,
    UNWANTED,
    is_about_answers,
)
from internal.language.text.openings import OPENING, POLITE
from internal.language.text.patterns import pattern
from internal.language.text.slang import spell_out
from internal.language.text.spelling import sentence_spans, unquoted, words
from internal.language.text.tables import any_of

_any: Final = partial(any_of, "internal.language.instructions")

LONGEST: Final = 200
"""The most characters of an instruction; a longer sentence is a story."""

LONGEST_TEXT: Final = 600
"""The most characters of a message that is read; a longer one is pasted."""


@dataclass(frozen=True, slots=True)
class FoundInstruction:
    """An instruction in its author's words. `lifts`: it only withdraws an earlier one."""

    text: str
    topics: frozenset[str]
    condition: frozenset[str]
    lifts: bool = False

    def ends(self, other: "FoundInstruction") -> bool:
        """Whether it replaces an earlier one: about the same manner, and not only under another condition."""
        if self.condition and not self.lifts and self.condition != other.condition:
            return False
        if self.topics or other.topics:
            return bool(other.topics) and other.topics <= self.topics
        mine, earlier = _stems(self.text), _stems(other.text)
        return 3 * len(mine & earlier) >= 2 * min(len(mine), len(earlier)) > 2


_OPENING: Final = f"{OPENING}|{_any('opening')}"
_LASTING: Final = _any("lasting")
_NOW: Final = r"now|теперь|тепер|уже|вже|already|again|снова|опять|знову"
_TIMES: Final = rf"(?:on |in |at |по |в |у |на )?(?:the )?(?:{_any('times')})"
_CASE: Final = _any("case")
_EVERY: Final = _any("every")
_SKIPPED: Final = pattern(
    rf"(?:[\s,:—–-]*(?:{_CASE}|(?:{_EVERY}|{_OPENING}|{_LASTING}|{_NOW}"
    rf"|{_TIMES})(?![\w'-])))*[\s,:—–-]*"
)
_LASTS: Final = pattern(
    rf"(?<![\w-])(?:{_LASTING}|{_EVERY})(?![\w'-])"
    r"|^(?:please )?(?:remember|note|запомни|учти|имей в виду|запам'ятай|врахуй|май на увазі)(?![\w'-])"
)
_UNDER_CASE: Final = pattern(rf"(?:[\s,—–-]*(?:{_OPENING})(?![\w'-]))*[\s,]*(?:{_CASE})")
_RECURS: Final = pattern(rf"(?<![\w-])(?:{_any('recurs')})(?![\w-])")
"""Recurring times: "don't write to me at night" is meant for every night."""
_LATELY: Final = pattern(rf"(?<![\w-])(?:{_NOW})(?![\w'-])")

_WISH: Final = pattern(rf"(?:{_any('wish')})(?![\w'-])[\s,]*")
_STOP: Final = pattern(rf"(?:{_any('stop')})(?![\w'-])")
_BARE: Final = pattern(rf"(?:{_any('bare')})(?![\w'-])")
_LETS: Final = pattern(r"(?:let's|давай(?:те)?)(?![\w'-])[\s,]*")
_RULE: Final = pattern(_any("rule_without_verb"))
"""The beginning of a rule without a verb: "prices always in euros"."""
_NOT: Final = pattern(r"(?:(?:please )?(?:don't|do not|never|dont)|не)(?![\w'-])\s*(?:ever\s+)?")

_ACTS_EN: Final = pattern(rf"(?:{_any('acts_en')})(?:e|es|ing|ning|ting|ping|d)?(?![\w'-])")
_ACTS: Final = pattern(rf"(?:{_any('acts')})[а-яіїєґ']*")
_HABIT: Final = pattern(
    r"[а-яіїєґ']*(?:[аяуюоеі]й|[аяуюе]йте|хвали|(?<![аеиоуыяюіїє]л)и|ите|іть|(?<![тч])ьт?е?|став|клич)(?:ся|сь)?(?![\w'-])"
)
_IMPERATIVE: Final = pattern(r"[а-яіїєґ']{2,}(?:[аяую]й|[аяую]йте)(?:ся|сь)?(?![\w'-])")
_NO_VERB: Final = frozenset(["чай", "май", "край", "случай", "урожай", "врожай", "трамвай", "людей", "детей"])

_NEVER_AGAIN: Final = pattern(rf"(?:{_any('never_again')})(?![\w-])")
_REMINDS: Final = pattern(r"(?:remind|wake|напомин|напомн|нагада|нагаду|будь на связи|розбуди|разбуди)")
_PASSED_ON: Final = pattern(_any("passed_on"))
_ONCE: Final = pattern(rf"(?<![\w-])(?:{_any('once')})(?![\w-])")
_NAMED: Final = rf"(?!(?: \w+)? (?:{_any('named')})\b) \w"
_PHONED: Final = pattern(rf"call me\b(?!{_NAMED})")
_EN_HABIT: Final = pattern(rf"(?:{_any('english_habit')})".replace("NAMED", _NAMED))
_QUOTED: Final = pattern(r"[«“„\"][^»”\"]{2,}[»”\"]")
_TAG: Final = pattern(r"[\s,]+(?:ok|okay|please|ок|окей|ладно|хорошо|добре|гаразд)\?\W*$")
_COPIED: Final = pattern(r"```|^\s*(?:[-*•]|\d+[.)])\s.*\n\s*(?:[-*•]|\d+[.)])\s", re.MULTILINE)
_BACK: Final = pattern(r"(?:go |get )?back to\b|верн(?:ись|емся) к\b|поверни(?:сь|мось) до\b")
"""An order that ends a rule by naming the earlier state: "go back to long answers"."""
_AND: Final = pattern(r"\s*[,;]?\s+(?:and|but|и|а|но|та|й|і|але)\s+(?=\w)|;\s+")


def find_instructions(text: str) -> list[FoundInstruction]:
    """The instructions in a message, and the withdrawals of earlier ones, in order."""
    own = spell_out(unquoted(text)).strip()
    if not own or len(own) > LONGEST_TEXT or own.startswith(("/", "[")) or _COPIED.search(own):
        return []
    found: list[FoundInstruction] = []
    for start, end in sentence_spans(own):
        sentence = own[start:end].strip()
        if sentence.endswith(":"):  # somebody else's words follow
            break
        found += _in_sentence(sentence)
    return found


_POLITE_END: Final = pattern(rf"(?:[\s,]+(?:{POLITE}))+$")
_KEEP_IT: Final = pattern(
    r"\bkeep (?:it|things|this|'em|them) (?=(?:short|brief|concise|simple)(?: please| from now on| always| with me)?$)"
)
_OBJECT_FIRST: Final = pattern(
    r"(?P<object>(?:[^\W\d_][\w'-]*\s+){1,4}?)(?:(?:мне|мені)\s+)?(?P<order>(?:(?:больше|більше)\s+)?(?:не\s+)?[а-яіїєґ']{3,})"
)
_NEED: Final = pattern(r"не (?:надо|нужн\w+|треба|потрібн\w+)")


def _plainly(sentence: str) -> str:
    """A sentence with its order in front: "смайлики мне не ставь" becomes "не ставь смайлики"."""
    plain = _KEEP_IT.sub("keep answers ", fold(sentence).strip(" \t\n—–-*•.!"))
    found = _OBJECT_FIRST.fullmatch(_POLITE_END.sub("", plain))
    if found is None or not topics_of(found["object"]):
        return plain
    verb = found["order"].split()[-1]
    act = _ACTS.match(verb)
    orders = (act is not None and _HABIT.fullmatch(act[0]) is not None) or _NEED.fullmatch(found["order"]) is not None
    return f"{found['order']} {found['object']}" if orders else plain


def _in_sentence(sentence: str) -> Iterator[FoundInstruction]:
    if not 4 <= len(sentence) <= LONGEST:
        return
    parts = [part for part in _AND.split(sentence) if part.strip()]
    if len(parts) > 1 and all(_kind(part) and topics_of(fold(part)) for part in parts):
        for part in parts:
            yield from _in_sentence(part)
        return
    if (kind := _kind(sentence) or _kind(_plainly(sentence))) is not None:
        folded = fold(sentence)
        text = sentence.strip(" \t\n.!?,;—–-")
        yield FoundInstruction(text, topics_of(folded), condition_of(folded), lifts=kind == "lift")


def _kind(sentence: str) -> Literal["keep", "lift"] | None:
    folded = _QUOTED.sub(lambda match: "x" * len(match[0]), fold(sentence)).strip(" \t\n—–-*•")
    rest = _skipped(folded)
    lasts = _LASTS.search(folded) is not None or _UNDER_CASE.match(folded) is not None
    if (rest and not rest[0].isalpha()) or " " not in folded:
        return None
    begins = any(form.match(rest) for form in (*_DIRECTED, SWITCHED, _BACK)) or DISMISSED.match(folded)
    if not lasts and not begins and not OVER.match(folded):
        return None
    said = _Sentence(folded, topics_of(folded), lasts)
    asked = _TAG.sub("", folded).rstrip(' )"»”').endswith("?")
    lifted = (LIFTED.match(rest) and AGAIN.search(folded)) or TAKEN_BACK.match(rest)
    ends = is_about_answers(folded, said.topics)
    lifted = lifted or ((OVER.match(folded) or _BACK.match(rest)) if ends else None)
    dropped = DISMISSED.match(folded) if ends and said.manner else None
    switched = SWITCHED.match(rest) if ends or SETTING.search(rest) else None
    if (dropped or lifted or switched) and said.topics and not asked:
        over = (
            dropped["over"] if dropped else lifted or bool(switched and switched["on"]) == bool(said.topics & PLAINLY)
        )
        return "lift" if over else "keep"
    if ends and UNWANTED.match(rest) and said.manner and not asked and (lasts or NO_LONGER.search(folded)):
        return "keep"
    wish = _WISH.match(rest)
    polite = wish is not None and any(wish.groupdict().values())  # "could you always ...?" is not a question
    if asked if not polite else not lasts:
        return None
    wanted = said.wishes(_skipped(rest[wish.end() :])) if wish is not None else said.commands(rest)
    return "keep" if wanted else None


def _skipped(text: str) -> str:
    """The text after words that may open a sentence."""
    match = _SKIPPED.match(text)
    return text[match.end() :] if match else text


def _acts(rest: str) -> bool:
    return _ACTS.match(rest) is not None or _ACTS_EN.match(rest) is not None


@dataclass(frozen=True, slots=True)
class _Sentence:
    """A folded sentence; `lasts`: it says that it applies to more than one answer."""

    folded: str
    topics: frozenset[str]
    lasts: bool

    @property
    def manner(self) -> bool:
        """Whether it is about the manner of answering, and not of this answer only."""
        return bool(self.topics) and (self.lasts or not _ONCE.search(self.folded))

    def wishes(self, rest: str) -> bool:
        """Whether it wishes that the assistant does something: an act of its own, always or in a manner."""
        rest = _NOT.sub("", rest, count=1) if _NOT.match(rest) else rest
        if _REMINDS.match(rest) or not (_acts(rest) or self.topics):
            return False
        return self.lasts or (bool(self.topics) and not _ONCE.search(rest))

    def commands(self, rest: str) -> bool:
        """Whether it orders the assistant to do something."""
        if not rest or (self.lasts and _RULE.match(rest)):
            return self.lasts and bool(self.topics)
        if lets := _LETS.match(rest):
            return self._suggests(_skipped(rest[lets.end() :]))
        if _BARE.match(rest) or _STOP.match(rest):
            return self.manner and not _ALONE.match(rest)
        denied = _NOT.match(rest)
        never = _NEVER.search(self.folded[: len(self.folded) - len(rest)])
        verb = _skipped(rest[denied.end() :] if denied else rest)
        negative = bool(denied or never)
        if _PASSED_ON.match(verb) or (_REMINDS.match(verb) and not (negative and _FOREVER.search(self.folded))):
            return False
        lasting = self if self.lasts or not negative else replace(self, lasts=bool(_RECURS.search(self.folded)))
        if not verb or (_BROKEN_OFF.match(verb) and not self.lasts):
            return False
        return (
            lasting.in_english(verb, negative=negative)
            if verb[0].isascii()
            else lasting.in_cyrillic(verb, negative=negative)
        )

    def _suggests(self, rest: str) -> bool:
        """Whether it suggests a manner: "когда я спрашиваю про код, давай пример", not "давай встретимся"."""
        if self.lasts and not self.topics:
            return not rest[:1].isascii() and _TOGETHER.match(rest) is None
        return self.manner and bool(self.topics & _SUGGESTED) and (self.lasts or not _PERFECTIVE.match(rest))

    def in_cyrillic(self, verb: str, *, negative: bool) -> bool:
        """Whether an imperative is meant for always: an imperfective one is, any other needs a word for that."""
        act, word = _ACTS.match(verb), verb.split(maxsplit=1)[0].strip(",.!") if verb else ""
        if act is not None and _HABIT.fullmatch(act[0]):
            return self.lasts or self.manner
        commanded = _IMPERATIVE.match(word) is not None and word not in _NO_VERB
        commanded = commanded or (negative and act is not None and _INFINITIVE.fullmatch(word) is not None)
        return self.lasts and (commanded or (bool(self.topics) and _MANNER_FIRST.match(verb) is not None))

    def in_english(self, verb: str, *, negative: bool) -> bool:
        act, without_verb = _ACTS_EN.match(verb) is not None, self.topics and _MANNER_FIRST.match(verb)
        if _NEVER_AGAIN.match(verb) or _PHONED.match(verb):
            return self.lasts and bool(without_verb)
        if self.lasts and (act or negative or without_verb or _OPENS_EN.match(self.folded)):
            return True
        habit = act and (negative or _LATELY.search(self.folded) is not None)
        return self.manner and (habit or _EN_HABIT.match(verb) is not None)


_TOGETHER: Final = pattern(r"[а-яіїєґ']+(?:ем|им|ємо|имо|їмо|ть|ти)(?:ся|сь)?(?![\w'-])")

_DIRECTED: Final = (UNWANTED, _WISH, LIFTED, TAKEN_BACK, _STOP, _BARE, _LETS, _NOT, _ACTS_EN, _ACTS)
"""Beginnings of a wish that does not say that it is to last."""

_MANNER_FIRST: Final = pattern(rf"(?:{_any('manner_first')})")


_PERFECTIVE: Final = pattern(r"(?:ответ|напиш|скаж|перевед|розкаж|расскаж|відпов[іи]|сдела|зроб)\w*")
_SUGGESTED: Final = frozenset({"language", "form", "emoji", "list", "length", "joke"})
_INFINITIVE: Final = pattern(r"[а-яіїєґ']+т[иь](?:ся|сь)?")
_BROKEN_OFF: Final = pattern(r"\w+,(?! (?:please|пожалуйста|будь ласка))")
"""An imperative before a comma, as in "Пиши, отвечу подробно": the manner is not the assistant's."""
_FOREVER: Final = pattern(
    rf"(?<![\w-])(?:never|ever|from now on|in (?:the )?future|никогда|впредь|отныне|ніколи|надалі|відтепер)(?![\w-])"
    rf"|{_RECURS.pattern}"
)
"""Words for an instruction that lasts; "don't remind me of it any more" only ends a task."""
_ALONE: Final = pattern(r"(?:no|without|без)\s*$")
_NEVER: Final = pattern(r"(?<![\w-])(?:never|никогда|ніколи)(?![\w-])")
_OPENS_EN: Final = pattern(
    r"(?:[\s,]*(?:please|and|but|so|also))*[\s,]*(?:always|never|from now on|don't ever|do not ever)"
)


def _stems(text: str) -> set[str]:
    return {word[:5] for word in re.findall(r"\w{4,}", fold(text))} - _COMMON


_COMMON: Final = {
    word[:5] for word in words("always never please больше всегда никогда завжди ніколи більше again when")
}
