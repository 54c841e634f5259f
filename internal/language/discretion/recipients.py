"""For whom the owner wants words: a text to write, or what to tell somebody."""

import json
import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Final

from internal.language.discretion.sensitivity import Topic, folded, pattern, topics_of

_FILE: Final = Path(__file__).with_name("recipients.json")
_TOKEN: Final = re.compile(r"[^\W\d_][\w'-]*|[.,;:!?()\"«»—–\n]+")
_REACH: Final = 6
"""Words after an order within which its addressee or genre stands."""


@dataclass(frozen=True, slots=True)
class Recipient:
    """Who will read or hear it: `role` as in recipients.json, `knows` the topics that are that role's business."""

    role: str
    knows: frozenset[Topic]


@dataclass(frozen=True, slots=True)
class _Known:
    """The words of recipients.json. `teller`: before an order they make it a statement, unless a question asks for it;
    `stops`: what follows them is what is told, not whom, and so after an order of `speech` are words for `oneself`;
    `own`: the text is for the owner.
    """

    orders: frozenset[str]
    genres: frozenset[str]
    stops: frozenset[str]
    teller: frozenset[str]
    questions: frozenset[str]
    reminders: frozenset[str]
    oneself: frozenset[str]
    speech: frozenset[str]
    own: frozenset[str]
    roles: tuple[tuple[Recipient, re.Pattern[str]], ...]


@cache
def _known() -> _Known:
    stored = json.loads(_FILE.read_text(encoding="utf-8"))
    words = {name: frozenset(map(folded, stored[name])) for name in _Known.__slots__ if name != "roles"}
    roles = stored["roles"].items()
    return _Known(**words, roles=tuple((Recipient(n, frozenset(r["knows"])), pattern(r["words"])) for n, r in roles))


def may_be_for_others(text: str) -> bool:
    """Whether a text holds an order to write or say something: what most messages lack."""
    return not _known().orders.isdisjoint(_TOKEN.findall(folded(text)))


def recipient_of(text: str, names: Iterable[str] = ()) -> Recipient | None:
    """Whom the words that are asked for are meant for; None: for the owner alone.

    `names` are forms of the names of known people. What the owner says of himself in the order is his to tell: those
    topics count as known to the recipient.
    """
    known, tokens = _known(), _TOKEN.findall(folded(text))
    named = {folded(name) for name in names}
    if known.reminders.intersection(tokens):
        return None
    for place, token in enumerate(tokens):
        if token in known.orders and not _stated(known, tokens[:place]):
            stops = known.stops | known.oneself if token in known.speech else known.stops
            found = _addressee(known, tokens[place + 1 :], named, stops)
            if found is not None:
                return Recipient(found.role, found.knows | (topics_of(text) - {"secret"}))
    return None


def _stated(known: _Known, before: list[str]) -> bool:
    """Whether somebody is said to write or tell, instead of the bot being asked to."""
    return bool(before) and before[-1] in known.teller and not known.questions.intersection(before[-2:-1])


def _addressee(known: _Known, after: list[str], named: set[str], stops: frozenset[str]) -> Recipient | None:
    reach = []
    for token in after[:_REACH]:
        if not token[0].isalpha() or token in stops:
            break
        reach.append(token)
    words = " ".join(reach)
    if any(token in named for token in reach):
        return Recipient("person", frozenset())
    role = next((one for one, stems in known.roles if stems.search(words)), None)
    genre = any(token in known.genres for token in reach)
    if known.own.intersection(reach) and not genre:
        return None
    if role is None and genre:
        rest = " ".join(after)
        role = next((one for one, stems in known.roles if stems.search(rest)), Recipient("others", frozenset()))
    return role
