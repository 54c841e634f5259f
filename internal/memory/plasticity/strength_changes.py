"""The five plasticity operations of the memory-graph specification, each exactly its statement.

They act on the stored strengths when they are called; a changed strength counts from that moment. Decay by time is done
by the nightly maintenance.
"""

from collections.abc import Collection
from datetime import datetime

from sqlalchemy import Connection

from internal.errors import NotFound, Refused, expect_found
from internal.graph import store
from internal.memory.model import Association
from internal.memory.plasticity import repository as plasticity_repository
from internal.memory.plasticity.decay import Plasticity, settled, strengthened


def strengthen(
    connection: Connection, user_id: int, source_id: str, target_id: str, amount: float, *, now: datetime
) -> float:
    """Hebbian learning: adds an amount in [0, 1] to RELATES_TO from one memory to the other; at most 1.

    Returns the new strength. Raises NotFound for memories that are not linked in this direction, Refused("amount").
    """
    return _changed(connection, user_id, source_id, target_id, _share("amount", amount), now)


def weaken(
    connection: Connection, user_id: int, source_id: str, target_id: str, amount: float, *, now: datetime
) -> float:
    """Synaptic depression: subtracts an amount in [0, 1], not below 0. Otherwise like `strengthen`."""
    return _changed(connection, user_id, source_id, target_id, -_share("amount", amount), now)


def decay(connection: Connection, user_id: int, threshold: float, amount: float, *, now: datetime) -> int:
    """Weakens every link below the threshold and above 0 by an amount. Returns their number. Raises Refused."""
    return plasticity_repository.weaken_below(
        connection, user_id, _share("threshold", threshold), _share("decay", amount), now
    )


def prune(connection: Connection, user_id: int, min_strength: float) -> int:
    """Deletes every link weaker than this. Returns their number. Raises Refused("min_strength")."""
    return plasticity_repository.delete_below(connection, user_id, _share("min_strength", min_strength))


def associations(
    connection: Connection, user_id: int, memory_id: str, min_strength: float = 0.0, *, limit: int | None = None
) -> list[Association]:
    """The memories that RELATES_TO leads to from this one at least so strongly, strongest first.

    Raises NotFound for an unknown node, Refused("wrong_label") for one that is no memory, Refused("min_strength").
    """
    memory = expect_found(store.resolve_node(connection, user_id, memory_id), f"there is no node {memory_id}")
    if memory.label != "Memory":
        raise Refused("wrong_label", f"id: RELATES_TO leads from a Memory, not from a {memory.label}")
    found = plasticity_repository.strongest(connection, user_id, memory.id, _share("min_strength", min_strength), limit)
    return [Association(*link) for link in found]


def touch_used(
    connection: Connection, user_id: int, node_ids: Collection[str], now: datetime, plasticity: Plasticity
) -> int:
    """Counts one access of each memory used for an answer and strengthens every link among them.

    A link first decays to now, so that it does not matter when maintenance ran last. Returns the number of these links.
    """
    if not node_ids:
        return 0
    plasticity_repository.touch(connection, user_id, node_ids, now)
    if not plasticity.strengthen:
        return 0
    found = plasticity_repository.links_among(connection, user_id, node_ids)
    fresh = [(link, settled(link.strength, link.since, now, plasticity.half_life)) for link in found]
    return plasticity_repository.settle(
        connection, user_id, [(one, strengthened(left, plasticity.strengthen)) for one, left in fresh], now
    )


def _changed(
    connection: Connection, user_id: int, source_id: str, target_id: str, amount: float, now: datetime
) -> float:
    strength = plasticity_repository.change_strength(connection, user_id, source_id, target_id, amount, now)
    if strength is None:
        raise NotFound(f"target_id: no RELATES_TO leads from {source_id} to {target_id}")
    return strength


def _share(name: str, value: float) -> float:
    if not 0.0 <= value <= 1.0:
        raise Refused(name, f"{name}: a number from 0 to 1 is expected")
    return value
