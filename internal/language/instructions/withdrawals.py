"""How an owner takes an instruction back: an order to drop a rule, leave to do it again, or what he wants no more."""

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
"""What says that a rule holds no more, without an order."""
UNWANTED: Final = re.compile(rf"(?:{_any('unwanted')})(?![\w'-])[\s,]*")
"""What the owner wants no more: a rule about it where it is a manner of answering, and for longer than once."""
DISMISSED: Final = re.compile(_any("dismissed"))
"""What drops a manner of answering; `over`: the rule about it, not the manner itself."""
SWITCHED: Final = re.compile(rf"(?:(?P<on>{_any('switched_on')})|(?:{_any('switched_off')}))(?![\w'-])")
SETTING: Final = re.compile(r"\b(?:keeping|being|thing|mode|setting|режим\w*|настройк\w+|налаштуван\w+)\b")
"""A manner of answering that is switched on and off; lifted where a plain thing comes back, or a length ends."""
NO_LONGER: Final = re.compile(r"\b(?:no longer|any ?more|больше|більше|done with|tired of|sick of|надоели|набридли)\b")
_ANSWERS: Final = re.compile(rf"\b(?:{_any('answers')})|твои")
PLAINLY: Final = frozenset({"emoji", "list", "heading", "markup", "sorry", "praise", "joke"})


def of_answers(folded: str, topics: frozenset[str]) -> bool:
    """Whether it is the bot's own answers that are long or short: no haircut, no skirt."""
    return bool(topics & PLAINLY) or _ANSWERS.search(folded) is not None
