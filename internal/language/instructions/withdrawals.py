"""Withdrawals of instructions: orders to drop a rule, permissions to do it again, things not wanted any more."""

import re
from functools import partial
from typing import Final

from internal.language.text.tables import any_of, table

_any: Final = partial(any_of, "internal.language.instructions")

LIFTED: Final = re.compile(rf"(?:{_any('lifted')})(?![\w'-])")
AGAIN: Final = re.compile(rf"(?<!\w)(?:{_any('again')})(?!\w)")
_VERBS: Final = table("internal.language.commands", "verbs")["verbs"]
_REMOVED: Final = "|".join(
    verb for kind in ("forget", "remove", "cancel") for verb in _VERBS[kind].split() if verb.isascii()
)
_RULE: Final = _any("rule")
TAKEN_BACK: Final = re.compile(
    rf"(?:{_REMOVED}|never ?mind|ignore|disregard|(?:i )?take back|undo|lift|end|забудь(?:те)?|отмени(?:те)?"
    r"|убери(?:те)?|удали(?:те)?|сними|снимаю|отменяю|игнорируй|скасуй(?:те)?|прибери(?:ть)?|видали|зніми|знімаю"
    rf"|скасовую|ігноруй)\b.*\b(?:{_RULE})(?![\w'-])"
)
OVER: Final = re.compile(_any("over"))
"""Words which say that a rule does not hold any more, without an order."""
UNWANTED: Final = re.compile(rf"(?:{_any('unwanted')})(?![\w'-])[\s,]*")
"""Words which reject something: a rule about it is meant if it is a manner of answering and not for once only."""
DISMISSED: Final = re.compile(_any("dismissed"))
"""Words that drop a manner of answering; `over`: the rule about it, not the manner itself."""
SWITCHED: Final = re.compile(rf"(?:(?P<on>{_any('switched_on')})|(?:{_any('switched_off')}))(?![\w'-])")
SETTING: Final = re.compile(r"\b(?:keeping|being|thing|mode|setting|режим\w*|настройк\w+|налаштуван\w+)\b")
"""A manner that is switched on and off; it is lifted when the plain manner returns, or a length ends."""
NO_LONGER: Final = re.compile(r"\b(?:no longer|any ?more|больше|більше|done with|tired of|sick of|надоели|набридли)\b")
_ANSWERS: Final = re.compile(rf"\b(?:{_any('answers')})|твои")
PLAINLY: Final = frozenset({"emoji", "list", "heading", "markup", "sorry", "praise", "joke"})


def is_about_answers(folded: str, topics: frozenset[str]) -> bool:
    """Whether the bot's own answers are long or short, not a haircut or a skirt."""
    return bool(topics & PLAINLY) or _ANSWERS.search(folded) is not None
