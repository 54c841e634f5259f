"""Finds promises and rhythms in words that no rule knows, where grammar does not speak against the judge's word."""

from datetime import datetime
from typing import Final, Literal

from internal.language.dates.units import blank_out, fold
from internal.language.discretion.recipients import names_role, orders_words
from internal.language.facts.statements import TASKS, Judge, stated
from internal.language.tasks.contacts import names_somebody
from internal.language.tasks.times import TimeFound, find_time
from internal.language.tasks.titles import dative, nominative_person, of_others
from internal.language.text.patterns import pattern
from internal.language.text.spelling import Language

Statement = Literal["promise", "mine", "rhythm"]
_SURE: Final = 0.65
"""The chance from which it counts: at 0.55 a seventh of what is found in lines of a new author is no promise."""
_THEY: Final = pattern(r"\b(?:he|she|they|он|она|они|він|вона|вони|обещали|сказали|обіцяли|казали|promised)\b")
_CONTENT: Final = pattern(r"\b(?:saying|telling|asking|explaining|that|to say|to tell)\b|:")
"""What the content of a message to write follows."""
_ME: Final = pattern(r"\b(?:мне|мені|нам)\b")
_TO_THEM: Final = pattern(r"\b(?:him|her|them|you|ему|ей|им|нему|ней|йому|їй|їм|него|нее|нього|неї|тебе|тобі|вам)\b")


def by_meaning(
    sentence: str, at: datetime, language: Language, judge: Judge | None
) -> tuple[Statement, TimeFound] | None:
    """What a sentence states by its vector, and for when: a promise of another or the author's own, or a rhythm.

    Not where the bot is asked for words, where today only tells when it was said, or where nobody else takes part.
    """
    time = find_time(sentence, at, language) if judge is not None else None
    if time is None or orders_words(sentence):
        return None
    if time.recurrence:
        known = names_somebody(sentence, language) and stated(sentence, judge, ("rhythm",))
        return ("rhythm", time) if known else None
    if time.whole_day and time.moment.date() <= at.date() and not time.until:
        return None
    kind, rest = stated(sentence, judge, TASKS, _SURE), blank_out(sentence, time.spans)
    if kind == "promise" and _somebody_acts(rest, language):
        return "promise", time
    return ("mine", time) if kind == "mine" and _owed_to_somebody(rest, language) else None


def orders_text(sentence: str, time: TimeFound) -> bool:
    """Whether a sentence orders words in which this time stands: "write my boss that I'm off tomorrow"."""
    return orders_words(sentence) and _CONTENT.search(fold(sentence[: time.spans[0][0]])) is not None


def _somebody_acts(sentence: str, language: Language) -> bool:
    words = sentence.split()
    acts = _THEY.search(fold(sentence)) or any(nominative_person(word) or of_others(word) for word in words)
    return bool(acts) or _names_another(sentence, language)


def _owed_to_somebody(sentence: str, language: Language) -> bool:
    return _TO_THEM.search(fold(sentence)) is not None or _names_another(sentence, language)


def _names_another(sentence: str, language: Language) -> bool:
    """Whether anybody is named: by name, kinship or role."""
    given = map(dative, _ME.sub("", fold(sentence)).split())
    return names_somebody(sentence, language) or names_role(sentence) or any(given)
