"""Dialogues whose statements are known, and a scripted model that answers every prompt from that knowledge.

Both sides of a comparison get the same truth: a prompt is answered with what its sentences say, in the form that it
asks for, and a repeated prompt with the same. So no count depends on how well a model reads.
"""

from __future__ import annotations

import ast
import json
import random
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from internal.llm.tokens import count_tokens
from internal.testing import Asked

OWNER = "Olena"
AGENTS = ("archivist", "responder", "reranker", "enricher")
EMBEDDER = "known/embedder"
FUNCTIONAL = {"LIVES_IN", "WORKS_FOR"}
"""Who starts to live or work elsewhere has stopped to do so where he did."""

_PEOPLE = "Тарас Гнатюк, Роман Сидоренко, Юлія Бондар, Артём Лисицын, Полина Жукова, Graham Whitfield, Nora Pemberton"
_TOWNS = "Полтава, Чернігів, Суздаль, Вологда, Portsmouth, Wexford"
_FIRMS = "Маяк, Світанок, Ладога, Northgate, Blue Heron"
_THINGS = "рояль, велосипед, каяк, гончарне коло, telescope, sailing boat"
PEOPLE, TOWNS, FIRMS, THINGS = (
    tuple(name.strip() for name in names.split(",")) for names in (_PEOPLE, _TOWNS, _FIRMS, _THINGS)
)
SENTENCES: dict[str, dict[str, tuple[str, Sequence[str], str]]] = {
    "ru": {
        "LIVES_IN": ("{} теперь живёт в городе {}.", TOWNS, "Location"),
        "WORKS_FOR": ("{} теперь работает в компании {}.", FIRMS, "Organization"),
        "LIKES": ("{} очень любит {}.", THINGS, "Object"),
        "FRIEND_OF": ("{} дружит с человеком по имени {}.", PEOPLE, ""),
    },
    "uk": {
        "LIVES_IN": ("{} тепер живе в місті {}.", TOWNS, "Location"),
        "WORKS_FOR": ("{} тепер працює в компанії {}.", FIRMS, "Organization"),
        "LIKES": ("{} дуже любить {}.", THINGS, "Object"),
        "FRIEND_OF": ("{} дружить з людиною на ім'я {}.", PEOPLE, ""),
    },
    "en": {
        "LIVES_IN": ("{} lives in {} now.", TOWNS, "Location"),
        "WORKS_FOR": ("{} works for {} now.", FIRMS, "Organization"),
        "LIKES": ("{} is very fond of the {}.", THINGS, "Object"),
        "FRIEND_OF": ("{} is a friend of {}.", PEOPLE, ""),
    },
}
SMALL_TALK = {
    "ru": ("Доброе утро!", "Сегодня опять дождь.", "Спасибо, понятно.", "Что приготовить на ужин?", "Я устала."),
    "uk": ("Добрий ранок!", "Сьогодні знову дощ.", "Дякую, зрозуміло.", "Що приготувати на вечерю?", "Я втомилася."),
    "en": ("Good morning!", "It is raining again.", "Thanks, I see.", "What shall I cook tonight?", "I am tired."),
}


@dataclass(frozen=True, slots=True)
class Statement:
    """What one sentence says."""

    sentence: str
    source: str
    relation: str
    target: str
    label: str

    @property
    def ends(self) -> tuple[str, str]:
        return self.source, self.target


@dataclass(slots=True)
class Dialogues:
    """`fragments` of messages of the owner. The same seed makes the same."""

    seed: int
    fragments: list[list[str]] = field(default_factory=list)
    truth: dict[str, Statement] = field(default_factory=dict)

    @classmethod
    def made(cls, seed: int, fragments: int, messages: int) -> Dialogues:
        """Two messages of five say one thing, one says two, two say nothing to be kept."""
        chance, made = random.Random(seed), cls(seed)
        for number in range(fragments):
            language = list(SENTENCES)[number % len(SENTENCES)]
            made.fragments.append([made._message(chance, language) for _ in range(messages)])
        return made

    def _message(self, chance: random.Random, language: str) -> str:
        count = chance.choice((0, 0, 1, 1, 2))
        if not count:
            return chance.choice(SMALL_TALK[language])
        return " ".join(self._sentence(chance, language) for _ in range(count))

    def _sentence(self, chance: random.Random, language: str) -> str:
        relation = chance.choice(list(SENTENCES[language]))
        words, targets, label = SENTENCES[language][relation]
        source = chance.choice(PEOPLE)
        target = chance.choice([one for one in targets if one != source])
        sentence = words.format(source, target)
        self.truth[sentence] = Statement(sentence, source, relation, target, label)
        return sentence

    def said_in(self, text: str) -> list[Statement]:
        """What a text says, in its order."""
        found = [(text.find(sentence), statement) for sentence, statement in self.truth.items() if sentence in text]
        return [statement for _, statement in sorted(found, key=lambda one: one[0])]


@dataclass(frozen=True, slots=True)
class Call:
    """One call of the model: what was asked for, and tokens by our tokenizer (messages and answer, no schema)."""

    kind: str
    prompt: int
    completion: int


@dataclass(slots=True)
class Knower:
    """Answers prompts of both sides out of what the dialogues say, and keeps count."""

    dialogues: Dialogues
    calls: list[Call] = field(default_factory=list)
    embedded: list[int] = field(default_factory=list)

    def answer(self, asked: Asked) -> Any:
        """What a scripted model is to say. Raises KeyError for a prompt that is none of those known."""
        if asked.path.endswith("/embeddings"):
            self.embedded.append(count_tokens(asked.text))
            return ""
        kind = self._kind(asked)
        reply = self._answers()[kind](asked.text)
        said = reply if isinstance(reply, str) else json.dumps(reply, ensure_ascii=False)
        self.calls.append(Call(kind, count_tokens(asked.text), count_tokens(said)))
        return said

    def _kind(self, asked: Asked) -> str:
        if asked.model.startswith("known/"):
            return asked.model.removeprefix("known/")
        return str(asked.body["response_format"]["json_schema"]["name"])

    def _answers(self) -> dict[str, Callable[[str], Any]]:
        return {
            "archivist": self._archive,
            "responder": lambda _: "Ok.",
            "reranker": lambda _: {"people": []},
            "enricher": lambda _: {"query": "people"},
            "ExtractedEntities": self._entities,
            "NodeResolutions": self._resolutions,
            "ExtractedEdges": self._edges,
            "EdgeDuplicate": self._duplicates,
            "EdgeTimestamps": lambda text: _holds_since(_between(text, "REFERENCE TIME")),
            "BatchEdgeTimestamps": self._timestamps,
            "SummarizedEntities": self._summaries,
            "CombinedExtraction": self._both,
        }

    # Ours

    def _archive(self, prompt: str) -> dict[str, Any]:
        """New people and things, and every fact that is not known yet in the same words, with its lines."""
        known, people = _between(prompt, "known_facts"), _known_people(_between(prompt, "people"))
        lines = re.findall(r"^(\d+)\. (.*)$", _between(prompt, "transcript"), re.MULTILINE)
        statements = [(int(number), one) for number, text in lines for one in self.dialogues.said_in(text)]
        fresh = [(number, one) for number, one in statements if one.sentence not in known]
        cited: dict[str, list[int]] = {}
        for number, one in fresh:
            for name in one.ends:
                cited.setdefault(name, []).append(number)
        labels = {one.target: one.label for _, one in fresh if one.label}
        return {
            "people_operations": [
                {"type": "Added", "person": {"display_name": name, "circle": "Friends", "bio": ""}, "evidence": numbers}
                for name, numbers in cited.items()
                if name in PEOPLE and name not in people
            ],
            "entities": [
                {"name": name, "labels": [labels[name]], "relevance": 3, "evidence": numbers}
                for name, numbers in cited.items()
                if name in labels
            ],
            "facts": [
                {
                    "source": people.get(one.source, one.source),
                    "relation": one.relation,
                    "target": people.get(one.target, one.target),
                    "fact": one.sentence,
                    "valid_at": None,
                    "evidence": [number],
                }
                for number, one in fresh
            ],
        }

    # Graphiti's

    def _entities(self, prompt: str) -> dict[str, Any]:
        """The speaker first, as its prompt wants it, then whatever the message names."""
        said = _between(prompt, "CURRENT MESSAGE", "TEXT")
        speaker = [OWNER] if f"{OWNER}:" in said else []
        names = dict.fromkeys([*speaker, *(name for one in self.dialogues.said_in(said) for name in one.ends)])
        return {"extracted_entities": [_typed(name) | {"episode_indices": [0]} for name in names]}

    def _resolutions(self, prompt: str) -> dict[str, Any]:
        """An entity is the one that has its name."""
        known = {one["name"]: one["candidate_id"] for one in json.loads(_between(prompt, "EXISTING ENTITIES"))}
        return {
            "entity_resolutions": [
                {"id": one["id"], "name": one["name"], "duplicate_candidate_id": known.get(one["name"], -1)}
                for one in json.loads(_between(prompt, "ENTITIES"))
            ]
        }

    def _edges(self, prompt: str) -> dict[str, Any]:
        names = {one["name"] for one in json.loads(_between(prompt, "ENTITIES"))}
        since = _between(prompt, "REFERENCE_TIME").split("#")[0].strip()
        statements = [
            one for one in self.dialogues.said_in(_between(prompt, "CURRENT_MESSAGE")) if set(one.ends) <= names
        ]
        return {"edges": [_edge(one) | _holds_since(since) | {"episode_indices": [0]} for one in statements]}

    def _duplicates(self, prompt: str) -> dict[str, Any]:
        """The same words are the same fact; a new home or job ends the one before."""
        existing = ast.literal_eval(_between(prompt, "EXISTING FACTS"))
        candidates = ast.literal_eval(_between(prompt, "FACT INVALIDATION CANDIDATES"))
        new = self.dialogues.truth[_between(prompt, "NEW FACT")]
        return {
            "duplicate_facts": [one["idx"] for one in existing if one["fact"] == new.sentence],
            "contradicted_facts": [one["idx"] for one in [*existing, *candidates] if self._ends(new, one["fact"])],
        }

    def _ends(self, new: Statement, fact: str) -> bool:
        old = self.dialogues.truth[fact]
        same = (old.source, old.relation) == (new.source, new.relation)
        return same and new.relation in FUNCTIONAL and old.target != new.target

    def _timestamps(self, prompt: str) -> dict[str, Any]:
        facts = json.loads(_between(prompt, "FACTS"))
        return {"timestamps": [_holds_since(one["reference_time"]) for one in facts]}

    def _summaries(self, prompt: str) -> dict[str, Any]:
        """What was known of each entity, and what the messages say of it."""
        said = self.dialogues.said_in(_between(prompt, "MESSAGES", "EPISODES"))
        summaries = []
        for one in json.loads(_between(prompt, "ENTITIES")):
            known = one.get("summary", one.get("existing_summary")) or ""
            news = [
                statement.sentence
                for statement in said
                if one["name"] in statement.ends and statement.sentence not in known
            ]
            if news:
                summaries.append({"name": one["name"], "summary": " ".join([known, *news]).strip()})
        return {"summaries": summaries}

    def _both(self, prompt: str) -> dict[str, Any]:
        parts = re.split(r"^\[Episode (\d+)\].*$", _between(prompt, "CURRENT MESSAGES"), flags=re.MULTILINE)
        numbered = [(0, parts[0])] if len(parts) == 1 else list(zip(map(int, parts[1::2]), parts[2::2], strict=True))
        statements = [(number, one) for number, text in numbered for one in self.dialogues.said_in(text)]
        names = dict.fromkeys([OWNER, *(name for _, one in statements for name in one.ends)])
        return {
            "extracted_entities": [_typed(name) for name in names],
            "edges": [_edge(one) | {"episode_indices": [number]} for number, one in statements],
        }


def _typed(name: str) -> dict[str, Any]:
    return {"name": name, "entity_type_id": 0}


def _edge(one: Statement) -> dict[str, Any]:
    return {
        "source_entity_name": one.source,
        "target_entity_name": one.target,
        "relation_type": one.relation,
        "fact": one.sentence,
    }


def _holds_since(moment: str) -> dict[str, Any]:
    return {"valid_at": moment.strip(), "invalid_at": None}


def _known_people(block: str) -> dict[str, str]:
    """Ids by name of a block of `[Person:ID] name | ...`."""
    return {name.strip(): f"Person:{number}" for number, name in re.findall(r"\[Person:(\d+)\] ([^|\n]+)", block)}


def _between(prompt: str, *tags: str) -> str:
    """What the last block of one of these tags holds; nothing if there is none."""
    for tag in tags:
        found = re.findall(rf"<{re.escape(tag)}>(.*?)</{re.escape(tag)}>", prompt, re.DOTALL)
        if found:
            return str(found[-1]).strip()
    return ""


def by_kind(calls: Iterable[Call]) -> dict[str, int]:
    """How many calls of each kind."""
    counts: dict[str, int] = {}
    for call in calls:
        counts[call.kind] = counts.get(call.kind, 0) + 1
    return dict(sorted(counts.items()))
