"""Which entities have a profile."""

from collections.abc import Collection

from sqlalchemy import Connection, select

from internal.storage.tables import people


def entities_with_profile(connection: Connection, user_id: int, entity_ids: Collection[str]) -> set[str]:
    """Those of these entities that are people with a profile, merged and hidden ones too."""
    one = people.c.entity_id.in_(sorted(entity_ids))
    return set(connection.execute(select(people.c.entity_id).where(people.c.user_id == user_id, one)).scalars())
