"""Entities and facts of one reply, written in the transaction that applies it, with the lines that support them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from sqlalchemy import Connection

from internal.agents.archivist.output import ArchivistReply
from internal.flows.buried import without_buried
from internal.flows.slices import SliceLine
from internal.knowledge import resolution, service
from internal.knowledge.digest import Digest, Resolution
from internal.knowledge.entity_types import EntityTypes
from internal.knowledge.model import CitationOperation
from internal.knowledge.resolution import Circumstances
from internal.people.operations import RefusedOperation
from internal.scheduling.model import Run


@dataclass(frozen=True, slots=True)
class Written:
    """`counts` says how many facts became what (created, closed, updated ...) and how many entities were made.

    `asked` = there is a contradiction that only the owner can settle.
    """

    counts: Mapping[str, int]
    refused: Sequence[RefusedOperation]
    asked: bool


def write_facts(
    connection: Connection,
    run: Run,
    lines: Sequence[SliceLine],
    proposal: ArchivistReply,
    digest: Digest,
    circumstances: Circumstances,
    types: EntityTypes,
    *,
    tombstone_key: bytes,
) -> Written:
    """Finds or makes what the reply names and records its facts; call it after its people were applied.

    A run that replaces another one takes the place of what that told. What was forgotten since is not brought back.
    """
    resolved = resolution.resolve(
        connection, run.user_id, proposal.entities, proposal.facts, digest, circumstances, types
    )
    numbered = {line.shown.number: line for line in lines}
    said_at = {number: line.said_at for number, line in numbered.items()}
    resolved = without_buried(connection, run.user_id, resolved, said_at, tombstone_key)
    claims = resolution.new_claims(
        resolved.facts, {number: line.claimed for number, line in numbered.items()}, run.episode_id
    )
    if run.replaces is None:
        _cite_nodes(connection, run, resolved, numbered)
    else:
        before = service.take_back(connection, run.user_id, run.episode_id, range(run.first_n, run.last_n + 1))
        _cite_nodes(connection, run, resolved, numbered)
        claims = service.without_corrected(connection, run.user_id, run.episode_id, claims)
        service.drop_untold(connection, run.user_id, before, claims, now=circumstances.now)
    recorded = service.record_claims(connection, run.user_id, claims, now=circumstances.now, run_id=run.id)
    counts = recorded.changes.counts()
    if resolved.created:
        counts["entities"] = len(resolved.created)
    refused = [RefusedOperation(one.reason, one.detail) for one in resolved.refused]
    refused += [RefusedOperation(one.reason, one.detail) for one in recorded.refused]
    return Written(counts, refused, asked=bool(recorded.changes.contradictions))


def _cite_nodes(connection: Connection, run: Run, resolved: Resolution, numbered: Mapping[int, SliceLine]) -> None:
    """Everything named is supported by the lines that name it; without them it would outlive its episode."""
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


def _segments(numbers: Iterable[int], numbered: Mapping[int, SliceLine]) -> dict[int, str | None]:
    return {numbered[number].segment: numbered[number].message_id for number in sorted(numbers)}


def _operation(node_id: str, resolved: Resolution) -> CitationOperation:
    if node_id in resolved.created:
        return "created"
    return "updated" if node_id in resolved.changed else "referenced"
