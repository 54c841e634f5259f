"""Nodes are merged"""

import sqlalchemy as sa
from alembic import op

from migrations.kinds import TEXT

revision = "0006"
down_revision = "0005"


def upgrade() -> None:
    op.create_table(
        "node_merges",
        sa.Column("user_id", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("id", TEXT, nullable=False),
        sa.Column("source", TEXT, nullable=False),
        sa.Column("target", TEXT, nullable=False),
        sa.Column("before", sa.JSON(), nullable=False),
        sa.Column("set_by", TEXT, nullable=False),
        sa.Column("at", sa.BigInteger(), nullable=False),
        sa.Column("undone_at", sa.BigInteger(), nullable=True),
        sa.PrimaryKeyConstraint("user_id", "id", name=op.f("pk_node_merges")),
    )
