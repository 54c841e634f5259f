"""Each topic of a chat has sessions of its own"""

import sqlalchemy as sa
from alembic import op

revision = "0016"
down_revision = "0015"

_OPEN = sa.text("closed_at IS NULL")


def upgrade() -> None:
    op.add_column("sessions", sa.Column("thread_id", sa.BigInteger(), nullable=False, server_default="0"))
    op.drop_index("idx_sessions_open", "sessions")
    op.create_index(
        "idx_sessions_open", "sessions", ["user_id", "thread_id"],
        unique=True, sqlite_where=_OPEN, postgresql_where=_OPEN,
    )  # fmt: skip
