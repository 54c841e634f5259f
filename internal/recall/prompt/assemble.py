"""What was found for a question, of every kind, and what of it stands in the prompt: one ranking, one budget."""

from __future__ import annotations

import itertools
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from sqlalchemy import Connection

from internal.agents.model import RecalledFact, RecalledPassage
from internal.llm.tokens import count_tokens
from internal.people.model import Person, candidate_line
from internal.recall.index.hits import FactHit, MemoryHit
from internal.recall.prompt.facts import AROUND as AROUND_FACT
from internal.recall.prompt.facts import MAX_FACTS, numbered
from internal.recall.prompt.memories import AROUND as AROUND_MEMORY
from internal.recall.prompt.memories import MAX_MEMORIES, told_words
from internal.recall.prompt.passages import MAX_PASSAGES, FoundPassage, PassageReader, Receipt, passages_of
from internal.recall.prompt.rank import Candidate, Chosen, Kind, choose
from internal.recall.search import calibration, passage_repository

MOST: Final[Mapping[Kind, int]] = {"fact": MAX_FACTS, "memory": MAX_MEMORIES * 2, "passage": MAX_PASSAGES}
"""Most of each kind, whatever the budget; memories bring associations and what disputes them. People are picked."""


RECEIPT_SHARE: Final = 0.5
"""How likely a message is that was not found, beside what was drawn from it: that answers, the rest may not."""

MOST_RECEIPTS: Final = 6
"""Such messages that are looked at, each half a millisecond."""


@dataclass(frozen=True, slots=True)
class Found:
    """Everything that may stand in the prompt, people with their chances; `passages` None: there are to be none."""

    people: Sequence[tuple[Person, float]] = ()
    facts: Sequence[FactHit] = ()
    memories: Sequence[MemoryHit] = ()
    passages: PassageReader | None = None


@dataclass(frozen=True, slots=True)
class PromptContents:
    """What stands in the prompt, likeliest first; people in the order in which they were picked."""

    people: Sequence[Person]
    facts: Sequence[RecalledFact]
    memories: Sequence[MemoryHit]
    passages: Sequence[RecalledPassage]


def chosen_of(connection: Connection, user_id: int, found: Found, tokens: int) -> PromptContents:
    """The best of all kinds together, within so many tokens.

    The messages from which the facts and memories were drawn compete too, found by themselves or not: so is reached
    what was said of somebody whom the question only leads to.
    """
    known = [*_known(connection, user_id, found)]
    passages = _passages(connection, known, found.passages) if found.passages is not None else []
    chosen = choose([*known, *(passage.candidate for passage in passages)], tokens, MOST)
    facts = {_fact_key(hit): hit for hit in found.facts}
    memories = {_memory_key(hit): hit for hit in found.memories}
    keys = {one.candidate.key for one in chosen}
    return PromptContents(
        people=[person for person, _ in found.people if _person_key(person) in keys],
        facts=numbered(connection, user_id, [facts[key] for key in _keys(chosen, "fact")]),
        memories=[memories[key] for key in _keys(chosen, "memory")],
        passages=passages_of((one for one in chosen if one.candidate.kind == "passage"), passages),
    )


def _keys(chosen: Iterable[Chosen], kind: Kind) -> list[str]:
    return [one.candidate.key for one in chosen if one.candidate.kind == kind]


def _passages(connection: Connection, known: Sequence[Candidate], reading: PassageReader) -> list[FoundPassage]:
    """The passages that were found, and the receipts of what is known."""
    found = reading.found(connection)
    wanted = _wanted(known, {one.message.id for one in found})
    return reading.passages(connection, found, reading.receipts(connection, wanted) if wanted else [])


def _known(connection: Connection, user_id: int, found: Found) -> Iterable[Candidate]:
    """People, facts and memories, with the messages from which they were drawn if messages are to be shown."""
    fact_ids = [hit.fact.id for hit in found.facts]
    node_ids = [hit.node.id for hit in found.memories]
    drawn = passage_repository.drawn_from(connection, user_id, fact_ids, node_ids) if found.passages is not None else {}
    after = passage_repository.replaced_by(connection, user_id, fact_ids)
    for person, chance in found.people:
        told = candidate_line(person)
        yield Candidate("person", _person_key(person), chance, count_tokens(told), told)
    for hit in found.facts:
        yield _fact(hit, drawn.get(hit.fact.id, frozenset()), after.get(hit.fact.id))
    for memory in found.memories:
        yield _memory(memory, drawn.get(memory.node.id, frozenset()))


def _wanted(known: Sequence[Candidate], there: Collection[str]) -> list[Receipt]:
    """The messages of the likeliest facts and memories that are not `there`, likeliest first."""
    chances_of: dict[str, float] = {}
    told: dict[str, list[str]] = {}
    for one in sorted(known, key=lambda one: -one.chance):
        for message_id in one.said.difference(there):
            chances_of.setdefault(message_id, one.chance * RECEIPT_SHARE)
            told.setdefault(message_id, []).append(one.text)
    return [
        Receipt(message_id, chance, tuple(told[message_id]))
        for message_id, chance in itertools.islice(chances_of.items(), MOST_RECEIPTS)
    ]


def _fact(hit: FactHit, said: frozenset[str], after: str | None) -> Candidate:
    return Candidate(
        kind="fact",
        key=_fact_key(hit),
        chance=calibration.of_score(hit.score),
        tokens=count_tokens(hit.fact.fact) + AROUND_FACT,
        text=hit.fact.fact,
        said=said,
        replaced_by=frozenset({f"fact:{after}"} if after is not None else ()),
    )


def _memory(hit: MemoryHit, said: frozenset[str]) -> Candidate:
    """One that came along over a link is as likely as what it came with, less where the link is weak."""
    text = told_words(hit.node)
    return Candidate(
        kind="memory",
        key=_memory_key(hit),
        chance=calibration.of_score(hit.score),
        tokens=count_tokens(text) + AROUND_MEMORY,
        text=text,
        said=said,
    )


def _fact_key(hit: FactHit) -> str:
    return f"fact:{hit.fact.id}"


def _memory_key(hit: MemoryHit) -> str:
    return f"memory:{hit.node.id}"


def _person_key(person: Person) -> str:
    return f"person:{person.id}"
