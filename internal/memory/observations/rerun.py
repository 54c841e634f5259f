"""Reruns of a slice: removes what only the earlier reading supports."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Connection, Row

from internal.memory.model import Observation
from internal.memory.observations import repository as observation_repository
from internal.memory.observations.changes import Removal
from internal.memory.observations.removal import ObservationRemover
from internal.storage import evidence
from internal.storage.evidence import Lines


@dataclass(frozen=True, slots=True)
class SliceObservations:
    """The observations of a slice and the evidence rows of its lines."""

    episode_id: str
    segments: Collection[int]
    observations: Sequence[Observation]
    lines: Sequence[Row[tuple[object, ...]]]


def remove_slice_observations(
    connection: Connection, user_id: int, episode_id: str, segments: Collection[int]
) -> SliceObservations:
    """Removes the support of these segments; `remove_unsupported` then removes what has none left.

    Observations made when a message arrived, before an agent read it, are not touched.
    """
    lines = Lines(episode_id=episode_id, segments=segments)
    found = observation_repository.supported_by(connection, user_id, lines)
    observations = [observation for observation in found if observation.run_id is not None]
    targets = [evidence.target("observation", observation.id) for observation in observations]
    ours = [row for row in evidence.rows_of_targets(connection, user_id, targets) if lines.includes(row)]
    observation_repository.stored.withdraw(connection, user_id, observations, lines)
    return SliceObservations(episode_id, segments, observations, ours)


def remove_unsupported(connection: Connection, user_id: int, before: SliceObservations, *, now: datetime) -> Removal:
    """Removes withdrawn observations that were not repeated. Nodes and edges that were observed again keep their ids.

    A link between similar memories stays while both are observed: its strength is learnt from their use.
    """
    _keep_likenesses(connection, user_id, before)
    unsupported = observation_repository.stored.unsupported(connection, user_id, before.observations)
    return ObservationRemover(connection, user_id, now=now).remove(unsupported)


def _keep_likenesses(connection: Connection, user_id: int, before: SliceObservations) -> None:
    links = [
        observation
        for observation in before.observations
        if observation.kind == "edge" and observation.properties["type"] == "RELATES_TO"
    ]
    alike = [link for link in links if link.properties["attributes"].get("relType") == "similar"]
    observations = observation_repository.of_targets(
        connection, user_id, {observation.properties["source"] for observation in alike}
    )
    stored = observation_repository.stored
    again = {
        target
        for target, listed in observations.items()
        if len(stored.unsupported(connection, user_id, listed)) < len(listed)
    }
    kept = {
        evidence.target("observation", observation.id)
        for observation in alike
        if observation.properties["source"] in again
    }
    evidence.restore(connection, [row for row in before.lines if row.target in kept])
