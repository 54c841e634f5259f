"""Selects, of everything that was found for a question, what stands in the prompt: one ranking, one token budget."""

import itertools
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from sqlalchemy import Connection

from internal.agents.model import RecalledFact, RecalledPassage
from internal.llm.tokens import count_tokens
from internal.people.model import Person, candidate_line
from internal.recall.index import version_repository
from internal.recall.index.hits import FactHit, MemoryHit
from internal.recall.prompt.facts import LINE_TOKENS as AROUND_FACT, MAX_FACTS, numbered
from internal.recall.prompt.memories import LINE_TOKENS as AROUND_MEMORY, MAX_MEMORIES, memory_text
from internal.recall.prompt.passages import MAX_PASSAGES, PassageCandidate, PassageReader, SourceMessage, merge_passages
from internal.recall.prompt.rank import Kind, PromptCandidate, Selection, select_candidates
from internal.recall.search import calibration, passage_repository

MAX_OF_KIND: Final[Mapping[Kind, int]] = {"fact": MAX_FACTS, "memory": MAX_MEMORIES * 2, "passage": MAX_PASSAGES}
"""Most of each kind, whatever the budget; memories bring associations and contradictions."""


SOURCE_MESSAGE_SHARE: Final = 0.5
"""The chance of a message that was not found itself, as a share of the chance of what was drawn from it."""

MAX_SOURCE_MESSAGES: Final = 6
"""Most such messages that are read, each half a millisecond."""


@dataclass(frozen=True, slots=True)
class RecallCandidates:
    """Everything that may stand in the prompt, people with their chances; `passages` None: there are to be none."""

    people: Sequence[tuple[Person, float]] = ()
    facts: Sequence[FactHit] = ()
    memories: Sequence[MemoryHit] = ()
    passages: PassageReader | None = None


@dataclass(frozen=True, slots=True)
class PromptContents:
    """The contents of the prompt, likeliest first; people in the order in which they were picked."""

    people: Sequence[Person]
    facts: Sequence[RecalledFact]
    memories: Sequence[MemoryHit]
    passages: Sequence[RecalledPassage]


def select_contents(connection: Connection, user_id: int, results: RecallCandidates, tokens: int) -> PromptContents:
    """Selects the best of all kinds together, within `tokens`.

    The messages from which facts and memories were drawn compete too, even if they were not found themselves: this
    reaches messages about somebody whom the question only leads to.
    """
    candidates = [*_known_candidates(connection, user_id, results)]
    passages = _passages(connection, candidates, results.passages) if results.passages is not None else []
    selected = select_candidates([*candidates, *(passage.candidate for passage in passages)], tokens, MAX_OF_KIND)
    facts = {_fact_key(hit): hit for hit in results.facts}
    memories = {_memory_key(hit): hit for hit in results.memories}
    keys = {selection.candidate.key for selection in selected}
    return PromptContents(
        people=[person for person, _ in results.people if _person_key(person) in keys],
        facts=numbered(connection, user_id, [facts[key] for key in _keys(selected, "fact")]),
        memories=[memories[key] for key in _keys(selected, "memory")],
        passages=merge_passages(
            (selection for selection in selected if selection.candidate.kind == "passage"), passages
        ),
    )


def _keys(selected: Iterable[Selection], kind: Kind) -> list[str]:
    return [selection.candidate.key for selection in selected if selection.candidate.kind == kind]


def _passages(
    connection: Connection, candidates: Sequence[PromptCandidate], reader: PassageReader
) -> list[PassageCandidate]:
    """The passages that were found, and the source messages of what is known."""
    messages = reader.found(connection)
    sources = _source_messages(candidates, {message.message.id for message in messages})
    return reader.passages(connection, messages, reader.source_messages(connection, sources) if sources else [])


def _known_candidates(connection: Connection, user_id: int, results: RecallCandidates) -> Iterable[PromptCandidate]:
    """People, facts and memories, with the messages from which they were drawn if messages are to be shown."""
    fact_ids = [hit.fact.id for hit in results.facts]
    node_ids = [hit.node.id for hit in results.memories]
    message_ids = (
        passage_repository.source_message_ids(connection, user_id, fact_ids, node_ids)
        if results.passages is not None
        else {}
    )
    successors = version_repository.next_versions(connection, user_id, fact_ids)
    for person, chance in results.people:
        line = candidate_line(person)
        yield PromptCandidate("person", _person_key(person), chance, count_tokens(line), line)
    for hit in results.facts:
        yield _fact_candidate(hit, message_ids.get(hit.fact.id, frozenset()), successors.get(hit.fact.id))
    for memory in results.memories:
        yield _memory_candidate(memory, message_ids.get(memory.node.id, frozenset()))


def _source_messages(candidates: Sequence[PromptCandidate], already_found: Collection[str]) -> list[SourceMessage]:
    """The source messages of the likeliest facts and memories that are not among `already_found`, likeliest first."""
    chances: dict[str, float] = {}
    texts: dict[str, list[str]] = {}
    for candidate in sorted(candidates, key=lambda candidate: -candidate.chance):
        for message_id in candidate.message_ids.difference(already_found):
            chances.setdefault(message_id, candidate.chance * SOURCE_MESSAGE_SHARE)
            texts.setdefault(message_id, []).append(candidate.text)
    return [
        SourceMessage(message_id, chance, tuple(texts[message_id]))
        for message_id, chance in itertools.islice(chances.items(), MAX_SOURCE_MESSAGES)
    ]


def _fact_candidate(hit: FactHit, message_ids: frozenset[str], successor: str | None) -> PromptCandidate:
    return PromptCandidate(
        kind="fact",
        key=_fact_key(hit),
        chance=calibration.fact_chance(hit.score),
        tokens=count_tokens(hit.fact.fact) + AROUND_FACT,
        text=hit.fact.fact,
        message_ids=message_ids,
        replaced_by=frozenset({f"fact:{successor}"} if successor is not None else ()),
    )


def _memory_candidate(hit: MemoryHit, message_ids: frozenset[str]) -> PromptCandidate:
    """A memory that was added over a link is as likely as the one it is linked to, times the link's strength."""
    text = memory_text(hit.node)
    return PromptCandidate(
        kind="memory",
        key=_memory_key(hit),
        chance=calibration.fact_chance(hit.score),
        tokens=count_tokens(text) + AROUND_MEMORY,
        text=text,
        message_ids=message_ids,
    )


def _fact_key(hit: FactHit) -> str:
    return f"fact:{hit.fact.id}"


def _memory_key(hit: MemoryHit) -> str:
    return f"memory:{hit.node.id}"


def _person_key(person: Person) -> str:
    return f"person:{person.id}"
