"""Observations of nodes and edges of the memory graph."""

from sqlalchemy import Connection

from internal.graph.model import Node
from internal.memory.model import Observation
from internal.memory.observations import repository as observation_repository
from internal.memory.observations.fold import UNSEARCHED, in_order


def observations_of(connection: Connection, user_id: int, target_id: str) -> list[Observation]:
    """The observations of a node or edge, from the earliest to the latest."""
    return in_order(observation_repository.of_target(connection, user_id, target_id))


def is_found_by_words(node: Node) -> bool:
    """Whether a search finds a node itself, not only through what belongs to it."""
    return node.label not in UNSEARCHED and node.subtype != "session"
