"""For whom the owner wants words: a text to write, or what to tell somebody."""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import dropwhile, takewhile
from typing import Final, Literal

from internal.language.discretion.sensitivity import Topic, fold, pattern, private_topics
from internal.language.text.openings import LEADING
from internal.language.text.patterns import ANOTHER
from internal.language.text.spelling import words as listed
from internal.language.text.tables import table
from internal.language.text.unmarked_questions import may_ask_unmarked

_TABLE: Final = table(__package__, "recipients")
_SHAPES: Final[dict[str, str]] = _TABLE["shapes"]
_TOKEN: Final = re.compile(r"[^\W\d_][\w'-]*|[.,;:!?()\"«»—–\n]+")
_REACH: Final = 6
"""Words after an order or a kind of text within which its addressee stands."""

_STEM: Final = 5
CLEAR, _CLEAR_UNWRITTEN, _IN_DOUBT, _IN_DOUBT_WRITTEN = 0.0, 1.0, -3.5, -4.5
"""Log-odds of `for_others` from which a message is an order for somebody else, and from which it may be one.

Sooner with a word of writing.
"""
Readers = Literal["owner", "others", "unclear"]
_OF_MEMORY: Final = re.compile(r"\b(?:you|ты|ти) (?:know|remember|знаешь|помнишь|знаєш|пам'ятаєш)\b")
"""The owner asks for what is known, for himself."""
_TO_ME: Final = re.compile(r"(?:please )?\S+ (?:me|мне|мені)\b")
_YES_OR_NO: Final = re.compile(_SHAPES["yes_or_no"])
_ASKED_BY_OTHERS: Final = re.compile(_SHAPES["asked_by_others"])
"""Somebody asks the owner, who may want the answer for that one: "the landlord asks when"."""
_FOR_ADVICE: Final = re.compile(_SHAPES["for_advice"])
"""What to do or say, which others may read; of words in -ти most are infinitives."""
_INFINITIVE: Final = re.compile(_SHAPES["infinitive"])
"""What to do or say in Russian; in Ukrainian -ть is what somebody does ("їздить")."""
_UKRAINIAN: Final = re.compile(r"[іїєґ]|\b(?:що|хто|коли|де|куди|чому|чим|ким|як\w*|котр\w*|чи\w?)\b")
_AS_TEXT: Final = re.compile(_SHAPES["as_text"])
"""How long a text is to be: what asks for that is no mere question."""
_TO_THE_OWNER: Final = re.compile(_SHAPES["to_the_owner"])
"""Orders to tell the owner himself; only clear odds make them words for others."""
_REMINDED: Final = re.compile(r"\b(?i:remind|напомни(?:ть)?|нагада(?:й|ти))\s+([^\W\d_][\w'-]*)")
_REMINDED_ONES: Final = listed("the my our his her their all everyone everybody him them")
_NOUNS: Final = listed(
    "email e-mail text message post reply answer request word phrase draft pitch outline forward notice thank praise"
)
_POLITE: Final = re.compile(r",? ?\b(?:please|пожалуйста|будь ласка)\b,?", re.IGNORECASE)
_HOW: Final = re.compile(_SHAPES["how"], re.IGNORECASE | re.DOTALL)
_TO_SOMEBODY: Final = re.compile(r"\b(?:to(?! me\b)|him|her|them|us|ему|ей|им|нам|йому|їй|їм)\b", re.IGNORECASE)
_ORDERED: Final = re.compile(_SHAPES["ordered"])
_WHAT_TO_SAY: Final = re.compile(_SHAPES["what_to_say"])
_BEGINS: Final = re.compile(_SHAPES["begins"].replace("LEADING", LEADING))
"""The first word of a sentence behind polite words and "can you"."""
_IMPERATIVE, _NOUN, _FOR_ONESELF, _STATES_BESIDE = (
    re.compile(_SHAPES[name]) for name in ("imperative", "noun", "for_oneself", "states_beside")
)
"""A Cyrillic verb that orders; what shows an English verb to be a noun ("email from HR"); what is written for the owner
("write that Tom moved"); a clause with a statement of its own behind an order."""
_OF_LIFE, _COMPLETE = re.compile(_SHAPES["of_life"]), re.compile(_SHAPES["complete"])
"""An order for a text about the owner or how somebody is; and one that says itself what the text is to say."""
_READS: Final = re.compile(r"(?:read|open|show|прочти|прочитай|открой|покажи|відкрий)(?!\w)", re.IGNORECASE)
_FILE_NAME: Final = re.compile(r"[\w-]+\.(?:[a-z]{3,4}|docx|xlsx|pptx|html|md|py)\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Recipient:
    """Who will read or hear it: `role` as in recipients.json, `knows` the topics that are that role's business.

    `named` are those of which the owner speaks in the order himself.
    """

    role: str
    knows: frozenset[Topic]
    named: frozenset[Topic] = frozenset()


_OTHERS: Final = Recipient("others", frozenset())


@dataclass(frozen=True, slots=True)
class _Known:
    """The words of recipients.json. Words after `stops` are the message, not the recipient; `plain` words mean
    nothing; verbs of `makes` order words only with a kind of text."""

    asks: frozenset[str]
    before_asks: frozenset[str]
    orders: frozenset[str]
    makes: frozenset[str]
    genres: frozenset[str]
    stops: frozenset[str]
    plain: frozenset[str]
    reminders: frozenset[str]
    same: dict[str, str]
    roles: tuple[tuple[Recipient, re.Pattern[str]], ...]


@cache
def _known() -> _Known:
    stored = _TABLE
    words = {name: frozenset(map(fold, stored[name])) for name in _Known.__slots__ if name not in ("roles", "same")}
    same = {stem: group[0] for group in stored["same"] for stem in group}
    roles = stored["roles"].items()
    return _Known(
        **words, same=same, roles=tuple((Recipient(n, frozenset(r["knows"])), pattern(r["words"])) for n, r in roles)
    )


def may_be_for_others(text: str) -> bool:
    """Whether a text holds a word of writing or saying something, or a kind of text."""
    known = _known()
    return not (known.orders | known.genres).isdisjoint(_TOKEN.findall(fold(text)))


def asks_for_himself(text: str) -> bool:
    """Whether a message asks what is or was, and neither for words nor what to do: its answer is for the owner."""
    known, words = _known(), [one for one in _TOKEN.findall(fold(text)) if one[0].isalpha()]
    asked = " ".join(dropwhile(lambda one: one in known.before_asks, words))
    if (asked.split(" ")[0] not in known.asks and not _YES_OR_NO.match(asked)) or _AS_TEXT.search(asked):
        return False
    of_past = not {"did", "does"}.isdisjoint(words)
    advice = _FOR_ADVICE.search(asked) or (_INFINITIVE.search(asked) and not _UKRAINIAN.search(asked))
    return (of_past or known.orders.isdisjoint(words)) and not advice


def only_says_how(text: str, manners_of: Callable[[str], frozenset[str]]) -> bool:
    """Whether the owner says how to answer ("answer aloud"), nothing more or a question of his beside it.

    `manners_of` finds the manners in a folded text.
    """
    match, known = _HOW.match(_POLITE.sub("", text).strip()), _known()
    manners = manners_of(fold(match["how"])) if match is not None else frozenset()
    if match is None or not manners:
        return False
    tokens, rest = _TOKEN.findall(match["how"]), match["rest"]
    addressed = _role(known, [fold(one) for one in tokens]) or any(one[0].isupper() for one in tokens)
    if addressed or _TO_SOMEBODY.search(match["how"]) or not known.stops.isdisjoint(map(fold, tokens)):
        return False
    asks = rest is None or "voice" in manners or rest.endswith("?") or fold(rest.split()[0]) not in known.stops
    return asks and (rest is None or asks_for_himself(rest))


def _only_reads(text: str) -> bool:
    """Whether a message is about what a file holds, and orders no words."""
    known, besides = _known(), _FILE_NAME.sub("", text)
    tokens = _TOKEN.findall(fold(besides))
    read = known.genres.isdisjoint(tokens) or _READS.match(besides)
    return besides != text and known.orders.isdisjoint(tokens) and bool(read)


def readers_of(text: str, odds: float | None) -> Readers:
    """Who will read the answer; `odds` are those of `for_others`, None if nobody can tell them."""
    if _is_for_the_owner(text):
        return "owner"
    written, to_owner = may_be_for_others(text), for_the_asker(text)
    if odds is None:
        return "others" if written else "unclear"
    ordered = orders_words(text)
    if (odds >= (CLEAR if written else _CLEAR_UNWRITTEN) and not to_owner) or (ordered and names_role(text)):
        return "others"
    if odds < CLEAR and to_owner and _TO_ME.match(fold(text)):
        return "owner"
    least = _IN_DOUBT_WRITTEN if written else _IN_DOUBT
    return "unclear" if odds >= least or is_reminder(text) or ordered else "owner"


def _is_for_the_owner(text: str) -> bool:
    """Whether a message is for the owner by its form, whatever a model says."""
    if is_reminder(text) and not _reminds_others(text) and not _reminds_last(text):
        return True
    if asks_for_himself(text) or _only_reads(_POLITE.sub("", text).strip()) or _OF_MEMORY.search(fold(text)):
        return True
    if may_be_for_others(text) or _ASKED_BY_OTHERS.search(fold(text)):
        return False
    return bool(may_ask_unmarked(text))


def orders_words(text: str) -> bool:
    """Whether a clause orders words from the assistant ("напиши ...", "..., text him"), or asks what to say.

    In English a word of writing is an order where it begins a clause; in Russian and Ukrainian its form tells it.
    """
    words, known = fold(text), _known()
    ordered = any(not known.orders.isdisjoint(one.groups()) for one in _ORDERED.finditer(words))
    return (ordered or _WHAT_TO_SAY.search(words) is not None) and not for_the_asker(text)


def only_orders_words(sentence: str) -> bool:
    """Whether a sentence begins with an order for words and states nothing: "draft a card for Ann", "набросай пост"."""
    said, known = fold(sentence), _known()
    begun = _BEGINS.match(said)
    if begun is None or _STATES_BESIDE.search(said) or for_the_asker(sentence):
        return False
    verb, after = begun["verb"], said[begun.end() :]
    if verb in known.makes:
        ordered = not known.genres.isdisjoint(_TOKEN.findall(after)[:_REACH])
    elif verb.isascii():
        ordered = verb in known.orders and bool(after.strip(" .!")) and not (verb in _NOUNS and _NOUN.match(after))
    else:
        ordered = verb in known.orders and bool(begun["asked"] or _IMPERATIVE.fullmatch(verb))
    return ordered and not _FOR_ONESELF.match(after)


def forms_of(text: str) -> frozenset[str]:
    """What the words of a message tell of its reader; `for_others` weighs them beside its vector."""
    known, words = _known(), fold(text)
    tokens = _TOKEN.findall(words)
    forms = {
        "verb": not known.orders.isdisjoint(tokens),
        "genre": not known.genres.isdisjoint(tokens),
        "ordered": orders_words(text),
        "to_owner": for_the_asker(text),
        "role": _role(known, tokens) is not None,
        "asks": asks_for_himself(text),
        "say": _WHAT_TO_SAY.search(words) is not None,
    }
    return frozenset(form for form, found in forms.items() if found)


def for_the_asker(text: str) -> bool:
    """Whether a message begins as one that orders something to be told to its author: "explain", "tell me"."""
    return _TO_THE_OWNER.match(fold(text)) is not None


def names_role(text: str) -> bool:
    return _role(_known(), _TOKEN.findall(fold(text))) is not None


def _reach(known: _Known, tokens: Sequence[str], index: int) -> list[str]:
    """The words behind a word of writing among which its addressee stands."""
    ahead = tokens[index + 1 : index + 1 + _REACH]
    return list(takewhile(lambda one: one[0].isalpha() and one not in known.stops, ahead))


def recipient_of(text: str, names: Iterable[str] = ()) -> Recipient:
    """Whom the words that an order asks for are meant for: a person with one of these names, a role, or others.

    Of several roles it is the one that may know least. What the owner says of himself in the order is his to tell.
    """
    known, tokens = _known(), _TOKEN.findall(fold(text))
    named, said = {fold(name) for name in names}, private_topics(text) - {"secret"}
    for index, token in enumerate(tokens):
        if token in known.orders or token in known.genres:
            reach = _reach(known, tokens, index)
            if not named.isdisjoint(reach):
                return Recipient("person", frozenset(), said)
            if role := _role(known, reach):
                return replace(role, named=said)
    return replace(_role(known, tokens) or _OTHERS, named=said)


def _role(known: _Known, tokens: Sequence[str]) -> Recipient | None:
    words = ANOTHER.sub("", " ".join(tokens))
    return min((one for one, stems in known.roles if stems.search(words)), key=lambda one: len(one.knows), default=None)


def is_reminder(text: str) -> bool:
    """Whether the owner wants to be reminded of something: of writing to somebody, say."""
    return not _known().reminders.isdisjoint(_TOKEN.findall(fold(text)))


def _reminds_last(text: str) -> bool:
    """Whether a kind of text or a word of writing stands before the word of reminding: "заявление ..., и напомни"."""
    known, tokens = _known(), _TOKEN.findall(fold(text))
    before = list(takewhile(lambda one: one not in known.reminders, tokens))
    return not (known.orders | known.genres).isdisjoint(before)


def _reminds_others(text: str) -> bool:
    """Whether somebody else is to be reminded: his name or role stands right behind the word."""
    found = _REMINDED.search(text)
    if found is None:
        return False
    named = found[1][0].isupper() or fold(found[1]) in _REMINDED_ONES
    return named or _role(_known(), [fold(found[1])]) is not None


def asks_about_life(text: str) -> bool:
    """Whether an order wants a text about the owner, or about how he or somebody is: "what's new with me"."""
    return _OF_LIFE.search(fold(text)) is not None and not is_complete(text)


def is_complete(text: str) -> bool:
    """Whether an order says its whole content itself, and so needs nothing that is known: "that I'll be late"."""
    return _COMPLETE.search(fold(text)) is not None


def matter_of(text: str) -> frozenset[str]:
    """The words of what an order is about, without those for whom it is; as `words_of` has them."""
    known, tokens = _known(), _TOKEN.findall(fold(text))
    ordered = next((n for n, one in enumerate(tokens) if one in known.orders or one in known.genres), -1)
    return words_of(" ".join(dropwhile(lambda one: one not in known.stops, tokens[ordered + 1 :])))


def words_of(text: str) -> frozenset[str]:
    """The words of a text by which it may be about the same as another: their first letters, whatever their endings."""
    known = _known()
    skipped = known.orders | known.genres | known.stops | known.plain
    tokens = [token.removesuffix("'s") for token in _TOKEN.findall(fold(text))]
    words = [word for word in tokens if word[0].isalpha() and word not in skipped]
    stems = {word[: max(3, min(_STEM, len(word) - 1))] for word in words if len(word) > 2}
    return frozenset(known.same.get(stem, stem) for stem in stems)
