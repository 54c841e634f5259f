"""Files that were received, and which bytes are kept of them"""

import sqlalchemy as sa
from alembic import op

from migrations.kinds import TEXT

revision = "0013"
down_revision = "0012"


def upgrade() -> None:
    op.create_table(
        "artifacts",
        sa.Column("user_id", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("id", TEXT, nullable=False),
        sa.Column("kind", TEXT, nullable=False),
        sa.Column("name", TEXT, nullable=False),
        sa.Column("mime", TEXT, nullable=False),
        sa.Column("size", sa.BigInteger(), nullable=True),
        sa.Column("sha256", TEXT, nullable=True),
        sa.Column("pages", sa.Integer(), nullable=True),
        sa.Column("state", TEXT, nullable=False),
        sa.Column("reason", TEXT, nullable=True),
        sa.Column("attempts", sa.Integer(), nullable=False, server_default="0"),
        sa.Column("due_at", sa.BigInteger(), nullable=False),
        sa.Column("message_id", TEXT, nullable=False),
        sa.Column("bot_id", sa.BigInteger(), nullable=True),
        sa.Column("file_id", TEXT, nullable=False),
        sa.Column("added_at", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("user_id", "id", name=op.f("pk_artifacts")),
    )
    due = sa.text("state = 'due'")
    op.create_index("idx_artifacts_due", "artifacts", ["due_at"], sqlite_where=due, postgresql_where=due)
    op.create_index("idx_artifacts_message", "artifacts", ["user_id", "message_id"])
    op.create_index("idx_artifacts_sha256", "artifacts", ["sha256"])
    op.create_table(
        "artifact_files",
        sa.Column("sha256", TEXT, nullable=False),
        sa.Column("stored_at", sa.BigInteger(), nullable=False),
        sa.Column("leaving", sa.Boolean(), nullable=False, server_default=sa.false()),
        sa.PrimaryKeyConstraint("sha256", name=op.f("pk_artifact_files")),
    )
