"""Messages that a pending request takes along are rows of hidings"""

from typing import Any

import sqlalchemy as sa
from alembic import op

revision = "0009"
down_revision = "0008"


def upgrade() -> None:
    """Each pending request gets a row for each message that it takes along.

    Messages that were to go with a fact, and answers with the message they quote, were requests of their own and were
    due at the same moment: now they belong to the first of these.
    """
    connection = op.get_bind()
    waiting = sa.select(_forgettings).where(_forgettings.c.state == "pending")
    first: dict[tuple[int, int], str] = {}
    for row in connection.execute(waiting.order_by(_forgettings.c.created_at, _forgettings.c.id)).all():
        if row.kind == "episode":
            theirs = (_messages.c.user_id == row.user_id) & (_messages.c.episode_id == row.ref_id)
            _hide(row.user_id, row.id, list(connection.execute(sa.select(_messages.c.id).where(theirs)).scalars()))
        if row.kind in ("fact", "message"):
            request = first.setdefault((row.user_id, row.due_at), row.id)
            _hide(row.user_id, request, [row.ref_id] if row.kind == "message" else [])
            if request != row.id:
                _join(row.user_id, row.id, request)


def _hide(user_id: int, request: str, message_ids: list[str], kind: str = "message") -> None:
    put = sa.text(
        "INSERT INTO hidings (user_id, forgetting_id, kind, target) VALUES (:owner, :request, :kind, :target) "
        "ON CONFLICT DO NOTHING"
    )
    for target in message_ids:
        op.get_bind().execute(put, {"owner": user_id, "request": request, "kind": kind, "target": target})


def _join(user_id: int, joined: str, request: str) -> None:
    """Gives a request what another one hides, which ends."""
    connection = op.get_bind()
    hidden = (_hidings.c.user_id == user_id) & (_hidings.c.forgetting_id == joined)
    for row in connection.execute(sa.select(_hidings).where(hidden)).all():
        _hide(user_id, request, [row.target], row.kind)
    connection.execute(sa.delete(_hidings).where(hidden))
    connection.execute(sa.delete(_forgettings).where(_forgettings.c.user_id == user_id, _forgettings.c.id == joined))


def _table(name: str, *columns: str) -> Any:
    return sa.table(name, *map(sa.column, columns))


_forgettings = _table("forgettings", "user_id", "id", "kind", "ref_id", "state", "due_at", "created_at")
_hidings = _table("hidings", "user_id", "forgetting_id", "kind", "target")
_messages = _table("messages", "user_id", "id", "episode_id")
