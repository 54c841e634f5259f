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

_STEM: Final = 5

_NOUN_PHRASE: Final = 2
"""So many words before a kind of text, or more, and it is told of, not asked for."""


@dataclass(frozen=True, slots=True)
class Recipient:
    """Who will read or hear it: `role` as in recipients.json, `knows` the topics that are that role's business."""

    role: str
    knows: frozenset[Topic]


_OTHERS: Final = Recipient("others", frozenset())


@dataclass(frozen=True, slots=True)
class _Known:
    """The words of recipients.json. `teller`: before an order they make it a statement, unless a question asks for it;
    `stops`: what follows them is what is told, not whom, and so after an order of `speech` are words for `oneself`;
    `own`: the text is for the owner; `wishes`: with a kind of text they ask for one without a verb of writing;
    `frames`: before a verb they ask for the owner's own words to somebody, whoever that is.
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
    wishes: frozenset[str]
    frames: frozenset[str]
    same: dict[str, str]
    roles: tuple[tuple[Recipient, re.Pattern[str]], ...]


@cache
def _known() -> _Known:
    stored = json.loads(_FILE.read_text(encoding="utf-8"))
    words = {name: frozenset(map(folded, stored[name])) for name in _Known.__slots__ if name not in ("roles", "same")}
    same = {stem: group[0] for group in stored["same"] for stem in group}
    roles = stored["roles"].items()
    return _Known(
        **words, same=same, roles=tuple((Recipient(n, frozenset(r["knows"])), pattern(r["words"])) for n, r in roles)
    )


def may_be_for_others(text: str) -> bool:
    """Whether a text holds an order to write or say something: what most messages lack."""
    tokens = _TOKEN.findall(folded(text))
    return not _known().orders.isdisjoint(tokens) or not _known().genres.isdisjoint(tokens)


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
            if found is None and _framed(known, token, tokens[:place]) and not known.own.intersection(tokens):
                found = _of_role(known, tokens) or _OTHERS
            if found is not None:
                return _knowing(found, text)
    if _wanted(known, tokens) and not known.own.intersection(tokens):
        return _knowing(_of_role(known, tokens) or _OTHERS, text)
    return None


def _knowing(found: Recipient, text: str) -> Recipient:
    return Recipient(found.role, found.knows | (topics_of(text) - {"secret"}))


def _of_role(known: _Known, tokens: list[str]) -> Recipient | None:
    words = " ".join(tokens)
    return next((one for one, stems in known.roles if stems.search(words)), None)


def _framed(known: _Known, token: str, before: list[str]) -> bool:
    """Whether a verb stands in words such as "what do I tell ...", which are for somebody, known or not."""
    if token.isascii():
        return " ".join(before[-3:]) in known.frames or " ".join(before[-2:]) in known.frames
    infinitive = token.endswith(("ть", "ти"))
    return infinitive and any(" ".join(before[-n:]) in known.frames for n in (1, 2, 3) if len(before) >= n)


def _wanted(known: _Known, tokens: list[str]) -> bool:
    """Whether a kind of text is asked for without a verb of writing: "I need a toast", "a tweet about my boat"."""
    place = next((n for n, token in enumerate(tokens) if token in known.genres - known.orders), None)
    if place is None or "?" in tokens[-1:]:
        return False
    words = [token for token in tokens[:place] if token[0].isalpha()]
    return len(words) < _NOUN_PHRASE or not known.wishes.isdisjoint(words)


def words_of(text: str) -> frozenset[str]:
    """The words of a text by which it may be about the same as another: their first letters, whatever their endings."""
    known = _known()
    skipped = known.orders | known.genres | known.stops | known.wishes | known.oneself | known.questions | known.teller
    tokens = [token.removesuffix("'s") for token in _TOKEN.findall(folded(text))]
    words = [word for word in tokens if word[0].isalpha() and word not in skipped]
    stems = {word[: max(3, min(_STEM, len(word) - 1))] for word in words if len(word) > 2}
    return frozenset(known.same.get(stem, stem) for stem in stems)


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
        role = _of_role(known, after) or _OTHERS
    return role
