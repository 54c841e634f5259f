"""What one recipient may be shown: the rules of discretion, applied sentence by sentence."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from typing import Final

import numpy as np

from internal.agents.model import DialogueLine, PassageLine, RecalledFact, RecalledMemory, RecalledPassage
from internal.dialogue.snapshots.model import SnapshotItem
from internal.language.discretion.meaning import WIDTH, for_others, meant_by, nearness, topic_odds, touched
from internal.language.discretion.recipients import (
    CLEAR,
    Recipient,
    asks_about_life,
    is_complete,
    matter_of,
    words_of,
)
from internal.language.discretion.sensitivity import TOPICS, Topic, private_topics
from internal.language.text.linear_model import Vector
from internal.language.text.spelling import words as listed
from internal.people.model import Person

_SENTENCE: Final = re.compile(r"(?<=[.!?…])\s+|\n+")
_WORDS_NAMING: Final = 2
"""Rare words of the order in something private, by which the owner names it himself."""
_RARE: Final = 3
"""Sentences at most that hold a word by which two are about the same."""
_NEAREST: Final = 2
"""How many of the nearest sentences an order may be about."""
_OWNER: Final = listed("i i'm i've my me я мне меня мой моя мої мені мене мій")
_SECRET: Final[frozenset[Topic]] = frozenset({"secret"})

# What counts for a sentence in an order for somebody else. Calibrated on the parts development to fourth of
# benchmarks/discretion_set and half of fifth; see docs/discretion.md.
_PER_RANK: Final = -0.37
"""Of the logarithm of its rank by nearness."""
_PER_DISTANCE: Final = -0.68
"""Of how far it is behind the nearest one."""
_PER_RARE_WORD: Final = 1.26
_PER_MEANING: Final = 1.26
"""Of how it stands out by what it means."""
_PER_ODDS: Final = -1.09
"""Of its log-odds of being private."""
_OF_TRUSTED_ROLE: Final = -1.0
_SHOWN: Final = 1.2
"""What that comes to, from which a sentence is shown to others."""
_SHOWN_IN_DOUBT: Final = 0.6
_PLAINEST: Final = -4.0
"""Log-odds of being private below which a sentence is no plainer."""
_PLAIN: Final = -2.5
"""Log-odds up to which it is shown where the order need not be about it."""
_ALIKE: Final = 0.92
_NEAR_NAMED: Final = 1.2
"""How near the one or two nearest must be if the owner names their topic."""
_SURELY_NEAR: Final = 2.0
"""How near they must be if the order is surely about them: then the owner is told that they stayed out."""
_PER_WORD: Final = 0.64
_TRUSTED_ROLES: Final = frozenset({"doctor", "therapist", "bank", "lawyer"})


@dataclass(frozen=True, slots=True)
class Sources:
    """What memory knows about things in a prompt, by id: explicit audiences, and the messages they come from.

    `members`: of each audience that is a team or a group, the ids of the people who belong to it.
    """

    audiences: Mapping[str, str]
    sources: Mapping[str, Sequence[str]]
    members: Mapping[str, frozenset[int]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Order:
    """An order for somebody else, and the id of that one if he is a known person.

    `certain`: it is one; else it may be one, and only what is private is kept back. `named`: it names a writing, a text
    or somebody; else the latest lines of the dialogue stay whole.
    """

    recipient: Recipient
    person_id: int | None
    said: str
    text: str
    certain: bool
    named: bool = True
    strangers: Set[str] = frozenset()
    """The forms of the names of people of whom it does not speak."""


class RecipientFilter:
    """What one recipient may be shown.

    `left_out` are the topics of each thing that was kept back, `missed` of those that the order asks for.
    """

    def __init__(self, order: Order, stored: Sources, vectors: Mapping[str, Vector]) -> None:
        self._order, self._stored, self._vectors = order, stored, vectors
        self._rare_words: dict[str, int] = {}
        """How many rare words of the owner's order each sentence has."""
        self._of_matter: set[str] = set()
        """The sentences with a rare word of what the order is about."""
        self._nearness: dict[str, float] = {}
        self._rank: dict[str, int] = {}
        """The place of each sentence by nearness, from 0."""
        self._score: dict[str, float] = {}
        self._topics_found: dict[str, frozenset[Topic]] = {}
        self.left_out: list[frozenset[Topic]] = []
        self.missed: set[Topic] = set()

    def look(self, texts: Sequence[str], order: Vector) -> None:
        """Ranks all sentences that might be shown by how near the order they are.

        By their vectors and by words of the order. What is about something else is nobody's need, whatever it touches.
        Before this nothing is near.
        """
        found = list(dict.fromkeys(one for text in texts for one in sentence_texts(text)))
        if not found:
            return
        in_order, said, matter = (words_of(self._order.text), words_of(self._order.said), matter_of(self._order.said))
        words, rows = [words_of(one) for one in found], np.array([self._vectors[one] for one in found])
        often = Counter(word for one in words for word in one)
        near = nearness(self._order.text, order, found, rows).tolist()
        for n, one in enumerate(words):
            near[n] += min(2.0, sum(max(0.5, 1 / often[word]) for word in one & in_order)) * _PER_WORD
        shown, meant = list[int](), meant_by(order, rows)
        for n in sorted(range(len(found)), key=lambda n: -near[n]):
            again = any(float(rows[n, :WIDTH] @ rows[one, :WIDTH]) > _ALIKE for one in shown)
            shown += [] if again or for_others(found[n], rows[n]) >= CLEAR else [n]
            self._rank[found[n]], self._nearness[found[n]] = max(0, len(shown) - 1), near[n]
            rare = {word for word in words[n] if often[word] <= _RARE}
            self._rare_words[found[n]] = len(rare & said)
            self._of_matter |= {found[n]} if rare & matter else set()
            behind = max(0.0, near[shown[0]] - near[n]) if shown else 0.0
            score = _PER_RANK * math.log(max(1, len(shown))) + _PER_DISTANCE * behind
            score += _PER_RARE_WORD * min(len(rare & said), 3)
            self._score[found[n]] = score + _PER_MEANING * float(meant[n])

    def _topics(self, sentence: str) -> frozenset[Topic]:
        if (known := self._topics_found.get(sentence)) is None:
            vector = self._vectors.get(sentence)
            unknown = frozenset(TOPICS) if self._order.certain else private_topics(sentence)
            known = self._topics_found[sentence] = unknown if vector is None else touched(sentence, vector)
        return known

    def _odds(self, sentence: str) -> float:
        """The log-odds that a sentence touches what is not the recipient's business."""
        if (vector := self._vectors.get(sentence)) is None:
            return math.inf if self._order.certain or private_topics(sentence) else -math.inf
        odds, knows = topic_odds(sentence, vector), self._order.recipient.knows
        surest = max(odds[topic] for topic in TOPICS if topic not in knows)
        return max(_PLAINEST, surest if knows else (surest + max(surest, odds["any"])) / 2)

    def _is_secret(self, texts: Iterable[str], by_vector: bool = True) -> bool:
        """Whether a sentence of the texts says so, by its words or by its vector."""
        said = (one for text in texts for one in sentence_texts(text))
        return any("secret" in private_topics(one) or (by_vector and "secret" in self._topics(one)) for one in said)

    def _is_of_another(self, sentence: str) -> bool:
        """Whether a sentence speaks of somebody with whom the order has nothing to do, and not of the owner."""
        words = set(re.findall(r"[\w'-]+", sentence.casefold()))
        return not words.isdisjoint(self._order.strangers) and words.isdisjoint(_OWNER)

    def _shows(self, sentence: str, about: bool, secret: bool) -> bool:
        """Whether a sentence may be shown. `about`: only if the order is about it."""
        touches = self._topics(sentence) | (_SECRET if secret else frozenset())
        fits = self._is_needed(sentence, touches) if about and self._order.certain else self._is_harmless(sentence)
        if (fits and not touches & _SECRET) or self._is_named(sentence, touches):
            return True
        self.left_out.append(touches - self._order.recipient.knows)
        self._miss(sentence, touches)
        return False

    def _is_needed(self, sentence: str, touches: Set[Topic]) -> bool:
        """Whether a certain order is so much about a sentence that this outweighs how private it is."""
        another = touches and self._is_trusted() and self._is_of_another(sentence)
        return self._weighed(sentence) >= _SHOWN and not another

    def _is_harmless(self, sentence: str) -> bool:
        """Whether a sentence is plain enough for anybody, or near enough to a message that may be no order."""
        asked = not self._order.named and self._is_near(sentence, _SURELY_NEAR)
        needed = not self._order.certain and self._weighed(sentence) >= _SHOWN_IN_DOUBT
        return asked or self._odds(sentence) <= _PLAIN or needed

    def _is_named(self, sentence: str, touches: Set[Topic]) -> bool:
        """Whether the owner names what a sentence tells, in the order itself; a secret is named by nobody."""
        recipient = self._order.recipient
        least = 1 if touches <= recipient.knows | recipient.named else _WORDS_NAMING
        named = self._rare_words.get(sentence, 0) >= least and "secret" not in touches
        return named and self._is_near(sentence, _NEAR_NAMED)

    def _miss(self, sentence: str, touches: Set[Topic]) -> None:
        """Notes the topics of a sentence that stays out though the order asks for it, for the owner to be told."""
        said, recipient = self._order.said, self._order.recipient
        if self._is_near(sentence, _SURELY_NEAR):
            topics = touches - recipient.knows - (_SECRET - private_topics(sentence))
            asked = asks_about_life(said) or (sentence in self._of_matter and not is_complete(said))
            self.missed |= topics if asked else topics & recipient.named

    def _is_near(self, sentence: str, least: float) -> bool:
        return self._nearness.get(sentence, 0.0) >= least and self._rank.get(sentence, 0) < _NEAREST

    def _is_trusted(self) -> bool:
        return self._order.recipient.role in _TRUSTED_ROLES

    def _weighed(self, sentence: str) -> float:
        """How much an order is about a sentence, less how private it is."""
        score = self._score.get(sentence, -math.inf) + _PER_ODDS * self._odds(sentence)
        return score + _OF_TRUSTED_ROLE * self._is_trusted()

    def shown(self, text: str, *, about: bool = True, sources: Sequence[str] = ()) -> str:
        """The sentences of a text that may be shown; none where one of them, or of its `sources`, is a secret."""
        secret = self._is_secret([text, *sources])
        return " ".join(one for one in sentence_texts(text) if self._shows(one, about, secret))

    def may(self, text: str, *, about: bool = True, sources: Sequence[str] = ()) -> bool:
        return self.shown(text, about=about, sources=sources) == " ".join(sentence_texts(text))

    def line(self, one: DialogueLine, about: bool = True) -> DialogueLine:
        return replace(one, text=self.shown(one.text, about=about))

    def fact(self, one: RecalledFact) -> bool:
        audience = self._stored.audiences.get(one.fact_id)
        if audience is None:
            return self.may(one.text, sources=self._stored.sources.get(one.fact_id, ()))
        recipient = self._order.person_id
        allowed = audience == f"person:{recipient}" or recipient in self._stored.members.get(audience, ())
        self.left_out += [frozenset()] * (not allowed)
        return allowed

    def items(self, part: Sequence[SnapshotItem]) -> tuple[SnapshotItem, ...]:
        return tuple(one for one in part if self.may(one.text))

    def memory(self, one: RecalledMemory) -> bool:
        return self.may(one.text, sources=self._stored.sources.get(one.node_id, ()))

    def passages(self, found: Sequence[RecalledPassage]) -> list[RecalledPassage]:
        """Line by line; words of a secret take the lines beside their own along: they may say whose it is."""
        cut = [replace(one, lines=self._lines(one.lines)) for one in found]
        return [one for one in cut if one.lines]

    def _lines(self, lines: Sequence[PassageLine]) -> list[PassageLine]:
        secret = [self._is_secret([one.text], by_vector=False) for one in lines]
        self.left_out += [_SECRET] * any(secret)
        beside = [any(secret[max(0, n - 1) : n + 2]) for n in range(len(lines))]
        shown = [
            replace(one, text="" if hidden else self.shown(one.text)) for one, hidden in zip(lines, beside, strict=True)
        ]
        return [one for one in shown if one.text]

    def person(self, one: Person) -> Person:
        return replace(
            one, bio=" ".join(part for part in sentence_texts(one.bio) if self.may(with_name_before(one, part)))
        )


def with_name_before(person: Person, sentence: str) -> str:
    return f"{person.display_name}: {sentence}"


def sentence_texts(text: str) -> list[str]:
    """Without the quotation marks in which the snapshot quotes: they are no part of what is said."""
    return [one for one in (part.strip(" \t“”") for part in _SENTENCE.split(text)) if one]
