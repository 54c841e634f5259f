"""Which entities have a profile, and what supports those that get one."""

from __future__ import annotations

from collections.abc import Collection

from sqlalchemy import Connection, select, update

from internal.storage.tables import evidence, people


def entities_with_profile(connection: Connection, user_id: int, entity_ids: Collection[str]) -> set[str]:
    """Those of these entities that are people with a profile, merged and hidden ones too."""
    one = people.c.entity_id.in_(sorted(entity_ids))
    return set(connection.execute(select(people.c.entity_id).where(people.c.user_id == user_id, one)).scalars())


def move_entity_evidence(connection: Connection, user_id: int, from_id: str, to_id: str) -> None:
    """Gives a new entity what supports another one."""
    supports = (evidence.c.user_id == user_id) & (evidence.c.target == f"entity:{from_id}")
    connection.execute(update(evidence).where(supports).values(target=f"entity:{to_id}"))
