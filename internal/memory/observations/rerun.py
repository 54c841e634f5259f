"""A slice that is read once more: what it told the last time goes, unless it is told again."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Connection, Row

from internal.memory.model import Observation
from internal.memory.observations import repository as observations
from internal.memory.observations.changes import Removal
from internal.memory.observations.removal import Removing
from internal.storage import evidence
from internal.storage.evidence import Lines


@dataclass(frozen=True, slots=True)
class ToldBefore:
    """What a slice told of nodes and edges, with the lines that it supported them by."""

    episode_id: str
    segments: Collection[int]
    told: Sequence[Observation]
    lines: Sequence[Row[tuple[object, ...]]]


def take_back(connection: Connection, user_id: int, episode_id: str, segments: Collection[int]) -> ToldBefore:
    """Takes away the support of these segments; what then stands without any falls by `drop_untold`."""
    lines = Lines(episode_id=episode_id, segments=segments)
    told = observations.supported_by(connection, user_id, lines)
    targets = [evidence.target("observation", one.id) for one in told]
    ours = [row for row in evidence.rows_of_targets(connection, user_id, targets) if lines.includes(row)]
    evidence.remove_support(connection, user_id, targets, lines)
    return ToldBefore(episode_id, segments, told, ours)


def drop_untold(connection: Connection, user_id: int, before: ToldBefore, *, now: datetime) -> Removal:
    """Removes what was taken back and not told again. Nodes and edges that are told again keep their ids.

    A link that was made since two memories are alike stays while both are told: its strength is what was learnt of it.
    """
    _keep_likenesses(connection, user_id, before)
    supported = evidence.rows(connection, user_id, "observation", [one.id for one in before.told])
    falling = [one for one in before.told if one.id not in supported]
    return Removing(connection, user_id, now).remove(falling)


def _keep_likenesses(connection: Connection, user_id: int, before: ToldBefore) -> None:
    links = [one for one in before.told if one.kind == "edge" and one.properties["type"] == "RELATES_TO"]
    alike = [one for one in links if one.properties["attributes"].get("relType") == "similar"]
    told = observations.of_targets(connection, user_id, {one.properties["source"] for one in alike})
    supported = evidence.rows(
        connection, user_id, "observation", [one.id for listed in told.values() for one in listed]
    )
    again = {target for target, listed in told.items() if any(one.id in supported for one in listed)}
    kept = {evidence.target("observation", one.id) for one in alike if one.properties["source"] in again}
    evidence.restore(connection, [row for row in before.lines if row.target in kept])
