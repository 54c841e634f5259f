"""What the people of a torture run write, and what the scripted model answers them."""

from __future__ import annotations

import json
import random
import re
from dataclasses import dataclass

from support.faults.ledger import Asked, Ledger, numbers_in
from support.product.running_product import JUDGED, JUDGING, KEEPING, KEPT_IN_MIND, MINDING, NO_TASKS

from internal.testing import Fault, Reply, ScriptedModel
from internal.testing.script import Asked as Request

ARCHIVIST, RESPONDER, RERANKER, ENRICHER = "test/archivist", "test/responder", "test/reranker", "test/enricher"

LONGEST_REPLY_S = 0.25
"""A model answers after up to this long, so that a kill often finds the bot waiting for one."""

LANGUAGES = ("ru", "uk", "en")
FRIEND = {"ru": "Кузнецов", "uk": "Кузьменко", "en": "Harrington"}
"""Each person's one friend who is spoken of again and again: his mentions are counted."""

WITH_FRIEND = {
    "ru": ("Вчера видел Кузнецова на рынке", "Кузнецов заходил утром", "Говорил с Кузнецовым про ремонт"),
    "uk": ("Вчора бачила Кузьменка на ринку", "Кузьменко заходив вранці", "Розмовляла з Кузьменком про ремонт"),
    "en": ("Saw Harrington at the market", "Harrington came by in the morning", "Talked to Harrington about the roof"),
}
WITHOUT = {
    "ru": ("Опять льёт дождь", "Надо купить хлеба и молока", "Поезд опоздал на час", "Какой сегодня длинный день"),
    "uk": ("Знову дощить", "Треба купити хліба і молока", "Потяг запізнився на годину", "Який сьогодні довгий день"),
    "en": ("It is raining again", "Need to buy bread and milk", "The train was an hour late", "What a long day"),
}
_WRITTEN = re.compile(r"^(\d+)\. .*q\d+q", re.MULTILINE)

COMMANDS = ("/help", "/privacy", "/status", "/people", "/archive")
"""Each is answered by one message."""


@dataclass(frozen=True, slots=True)
class Sentence:
    text: str
    names_friend: bool


def sentence(rng: random.Random, language: str, number: int) -> Sentence:
    """Something a person says, unlike anything said before or after."""
    names_friend = rng.random() < 0.4
    words = rng.choice((WITH_FRIEND if names_friend else WITHOUT)[language])
    return Sentence(f"{words} (q{number}q)", names_friend)


class ScriptedAgents:
    """The model's side: every reply is unlike all others, and noted in the ledger with what its prompt held."""

    def __init__(self, ledger: Ledger, seed: str) -> None:
        self._ledger, self._rng = ledger, random.Random(f"agents:{seed}")

    def configure(self, model: ScriptedModel) -> None:
        model.always(RESPONDER, self._answer)
        model.always(ARCHIVIST, self._archive)
        model.always(ENRICHER, {"query": "friends"})
        model.always(RERANKER, {"people": []})
        model.always("*", JUDGED, match=JUDGING)
        model.always("*", KEPT_IN_MIND, match=KEEPING)
        model.always("*", NO_TASKS, match=MINDING)

    def _answer(self, request: Request) -> Reply:
        text = f"Answer z{len(self._ledger.answers) + 1}z."
        self._ledger.answers[text] = Asked(text, numbers_in(request.text))
        return self._later(text)

    def _archive(self, request: Request) -> Reply:
        """A person of this very reply with one fact, and the friend if the fragment names him.

        A fragment may be asked about again after a crash; two persons of one fragment would be a reply applied twice.
        """
        transcript = request.text.rsplit("<transcript>", 1)[1]
        name = made_up_name(len(self._ledger.people) + 1)
        self._ledger.people[name] = Asked(name, numbers_in(transcript))
        told = [{"display_name": name, "circle": "Other", "bio": _words(transcript)}]
        told += [
            {"display_name": friend, "circle": "Friends", "bio": "A friend."}
            for friend in FRIEND.values()
            if re.search(friend.removesuffix("о"), transcript)
        ]
        operations = [{"type": "Added", "person": person} for person in told]
        return self._later({"people_operations": operations, "facts": [_fact(name, transcript)]})

    def _later(self, reply: str | dict[str, object]) -> Reply:
        text = reply if isinstance(reply, str) else json.dumps(reply, ensure_ascii=False)
        return Fault("slow", text=text, seconds=self._rng.uniform(0, LONGEST_REPLY_S))


def _fact(name: str, transcript: str) -> dict[str, object]:
    """A fact of this very reply, told by the first line that a person wrote."""
    first = _WRITTEN.search(transcript)
    line = int(first[1]) if first else 1
    place, types = f"{name}burg", {f"{name}burg": "Location"}
    fact = f"{_words(transcript)} {name} {place}"
    return {"source": name, "relation": "BORN_IN", "target": place, "fact": fact, "evidence": [line],
            "entity_types": types}  # fmt: skip


def made_up_name(number: int) -> str:
    """A name that no dictionary knows, another for every number below 10,000,000."""
    consonants, vowels = "bdgklmnprz", "aeiou"
    pairs = [a + b for a in consonants for b in vowels]
    letters = ""
    for _ in range(4):
        number, place = divmod(number, len(pairs))
        letters = pairs[place] + letters
    return f"Xo{letters}".capitalize()


def _words(transcript: str) -> str:
    """Words that were said: of what nobody said the product stores nothing."""
    first = _WRITTEN.search(transcript)
    return (first[0] if first else transcript).rpartition(": ")[2][:200]
