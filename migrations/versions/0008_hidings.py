"""Hidings: what is hidden until it is erased, and for which request"""

from typing import Any

import sqlalchemy as sa
from alembic import op

from internal.people.support import ProfilePart
from migrations.kinds import TEXT

revision = "0008"
down_revision = "0007"


def upgrade() -> None:
    op.create_table(
        "hidings",
        sa.Column("user_id", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("forgetting_id", TEXT, nullable=False),
        sa.Column("kind", TEXT, nullable=False),
        sa.Column("target", TEXT, nullable=False),
        sa.PrimaryKeyConstraint("user_id", "forgetting_id", "kind", "target", name=op.f("pk_hidings")),
    )
    op.create_index("idx_hidings_target", "hidings", ["target"])
    for table, kind, target in (("graph_nodes", "node", "id"), ("graph_edges", "edge", "id")):
        _carry_over(table, kind, target)
    _carry_over("people", "node", "entity_id")
    _carry_over_parts()
    for table in ("people", "graph_nodes", "graph_edges"):
        op.execute(f"ALTER TABLE {table} DROP COLUMN hidden_until")


def _carry_over(table: str, kind: str, target: str) -> None:
    """What is hidden belongs to the requests that are due when it was hidden until.

    Of which request that is unknown stays hidden under an id that no request has: hidden too long is better than shown.
    """
    op.execute(f"""
        INSERT INTO hidings (user_id, forgetting_id, kind, target)
        SELECT t.user_id, coalesce(f.id, 'unknown'), '{kind}', t.{target}
        FROM {table} t
        LEFT JOIN forgettings f ON f.user_id = t.user_id AND f.state = 'pending' AND f.due_at = t.hidden_until
        WHERE t.hidden_until IS NOT NULL
        ON CONFLICT DO NOTHING
    """)


def _carry_over_parts() -> None:
    """What was set aside of profiles names its fact, or "message:<id>" or "episode:<id>"; now `hidings` says for whom.

    What was set aside with the facts of a thing belongs to every request of the owner that forgets a thing.
    """
    connection = op.get_bind()
    for row in connection.execute(sa.select(_suggestions).where(_suggestions.c.kind == "set_aside")).all():
        person = connection.execute(sa.select(_people).where(_people.c.id == row.person_id)).one_or_none()
        waiting = sa.select(_forgettings).where(
            _forgettings.c.user_id == row.user_id, _forgettings.c.state == "pending"
        )
        asked = connection.execute(waiting).all()
        ref = row.payload["fact"].split(":")[-1]
        found = [one.id for one in asked if one.ref_id == ref] or [one.id for one in asked if one.kind == "entity"]
        one = (_suggestions.c.user_id == row.user_id) & (_suggestions.c.id == row.id)
        if person is None:
            connection.execute(sa.delete(_suggestions).where(one))
            continue
        before, after, keys = _fields_and_keys(row.payload, person)
        by = {"bio": row.payload["by"], **row.payload.get("names_by", {})}
        payload = {"before": before, "after": after, "by": by}
        connection.execute(sa.update(_suggestions).where(one).values(payload=payload))
        hidden = [
            {"user_id": row.user_id, "forgetting_id": owner, "kind": "part", "target": f"profile:{row.person_id}:{key}"}
            for owner in found or ["unknown"]
            for key in keys
        ]
        connection.execute(_hidings.insert(), hidden)


def _fields_and_keys(payload: dict[str, Any], person: Any) -> tuple[dict[str, Any], dict[str, Any], list[str]]:
    """A profile with and without what was set aside, and the keys of that."""
    called = [person.display_name, *person.aliases]
    names, left = payload.get("names_before", called), payload.get("names_after", called)
    username = payload.get("username")
    before = {"display_name": names[0], "aliases": names[1:], "username": username or person.username}
    after = {"display_name": left[0], "aliases": left[1:], "username": None if username else person.username}
    parts = [ProfilePart("bio", sentence) for sentence in payload["sentences"]]
    parts += [ProfilePart("name", name) for name in names if name not in left]
    parts += [ProfilePart("username", username)] if username else []
    keys = sorted({part.key for part in parts})
    return before | {"bio": payload["before"]}, after | {"bio": payload["after"]}, keys


_suggestions = sa.table(
    "suggestions", *map(sa.column, ("user_id", "id", "kind", "person_id")), sa.column("payload", sa.JSON)
)
_people = sa.table("people", *map(sa.column, ("id", "display_name", "username")), sa.column("aliases", sa.JSON))
_forgettings = sa.table("forgettings", *map(sa.column, ("user_id", "id", "kind", "ref_id", "state")))
_hidings = sa.table("hidings", *map(sa.column, ("user_id", "forgetting_id", "kind", "target")))
