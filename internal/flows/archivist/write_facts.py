"""Writes the entities and facts of one reply, with the lines that support them."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from sqlalchemy import Connection

from internal.agents.archivist.output import ArchivistReply
from internal.errors import Refusal
from internal.flows.forgetting.fact_tombstones import without_forgotten
from internal.flows.runs.slices import SliceLine
from internal.knowledge import service
from internal.knowledge.entities import resolve
from internal.knowledge.entities.resolve import ResolveContext
from internal.knowledge.entities.resolved_names import FactLookup, Resolution
from internal.knowledge.entities.types import EntityTypes
from internal.knowledge.model import CitationOperation
from internal.scheduling.run import Run


@dataclass(frozen=True, slots=True)
class WrittenFacts:
    """`counts` has the numbers of facts by outcome (created, closed, updated ...) and of new entities.

    `asked`: there is a contradiction that only the owner can settle. `nodes` are the ids of what the reply names, its
    memories included, by the names as written there.
    """

    counts: Mapping[str, int]
    refused: Sequence[Refusal]
    asked: bool
    nodes: Mapping[str, str]


def write_facts(
    connection: Connection,
    run: Run,
    lines: Sequence[SliceLine],
    proposal: ArchivistReply,
    lookup: FactLookup,
    circumstances: ResolveContext,
    types: EntityTypes,
    *,
    tombstone_key: bytes,
) -> WrittenFacts:
    """Finds or creates the nodes that the reply names and records its facts; call it after its people were applied.

    A run that replaces another one replaces its claims. Forgotten facts are not brought back.
    """
    resolved = resolve.resolve(connection, run.user_id, proposal.entities, proposal.facts, lookup, circumstances, types)
    undated = replace(lookup, dates=())
    mentioned = resolve.resolve(connection, run.user_id, proposal.mentioned, [], undated, circumstances, types)
    resolved = _together(resolved, mentioned)
    numbered = {line.shown.number: line for line in lines}
    said_at = {number: line.said_at for number, line in numbered.items()}
    resolved = without_forgotten(connection, run.user_id, resolved, said_at, tombstone_key)
    claims = resolve.new_claims(
        resolved.facts, {number: line.claimed for number, line in numbered.items()}, run.episode_id
    )
    claims, denied = service.without_denied(connection, run.user_id, claims)
    if run.replaces is None:
        _cite_nodes(connection, run, resolved, numbered)
    else:
        before = service.remove_slice_claims(
            connection, run.user_id, run.episode_id, range(run.first_n, run.last_n + 1)
        )
        _cite_nodes(connection, run, resolved, numbered)
        claims = service.without_corrected(connection, run.user_id, run.episode_id, claims)
        service.remove_unsupported(connection, run.user_id, before, claims, now=circumstances.now)
    recorded = service.record_claims(connection, run.user_id, claims, now=circumstances.now, run_id=run.id)
    counts = recorded.changes.counts()
    if resolved.created:
        counts["entities"] = len(resolved.created)
    refused = [*resolved.refused, *recorded.refused]
    refused += [Refusal("denied", "the owner denied this after it was said") for _ in denied]
    return WrittenFacts(counts, refused, bool(recorded.changes.contradictions), resolved.nodes)


def _together(resolved: Resolution, mentioned: Resolution) -> Resolution:
    """The names of entities and facts, and those of memories too; a mention that fails loses only its link."""
    return replace(
        resolved,
        nodes={**mentioned.nodes, **resolved.nodes},
        entities=[*resolved.entities, *mentioned.entities],
        created=[*resolved.created, *mentioned.created],
        changed=list(dict.fromkeys((*resolved.changed, *mentioned.changed))),
    )


def _cite_nodes(connection: Connection, run: Run, resolved: Resolution, numbered: Mapping[int, SliceLine]) -> None:
    """Cites the lines that name a node, for every node: without citations it would outlive its episode."""
    cited: dict[str, set[int]] = {}
    for entity in resolved.entities:
        cited.setdefault(entity.node_id, set()).update(entity.proposed.evidence or numbered)
    for fact in resolved.facts:
        for node_id in (fact.source, fact.target):
            cited.setdefault(node_id, set()).update(fact.proposed.evidence)
    for node_id, numbers in cited.items():
        segments = _segments(numbers, numbered)
        operation = _operation(node_id, resolved)
        service.cite_node(
            connection, run.user_id, node_id, run.episode_id, segments, operation=operation, run_id=run.id
        )
    names = {key: _segments(numbers, numbered) for key, numbers in _name_lines(resolved, numbered).items()}
    service.note_names(connection, run.user_id, names, episode_id=run.episode_id, run_id=run.id)


def _name_lines(resolved: Resolution, numbered: Collection[int]) -> dict[tuple[str, str], set[int]]:
    """The numbers of the lines in which a node has a name, by (node id, name)."""
    lines: dict[tuple[str, str], set[int]] = defaultdict(set)
    for entity in resolved.entities:
        for name in (entity.proposed.name, *entity.proposed.aliases):
            lines[entity.node_id, name].update(entity.proposed.evidence or numbered)
    for fact in resolved.facts:
        for node_id, name in ((fact.source, fact.proposed.source), (fact.target, fact.proposed.target)):
            lines[node_id, name].update(fact.proposed.evidence)
    return lines


def _segments(numbers: Iterable[int], numbered: Mapping[int, SliceLine]) -> dict[int, str | None]:
    return {numbered[number].segment: numbered[number].message_id for number in sorted(numbers)}


def _operation(node_id: str, resolved: Resolution) -> CitationOperation:
    if node_id in resolved.created:
        return "created"
    return "updated" if node_id in resolved.changed else "referenced"
