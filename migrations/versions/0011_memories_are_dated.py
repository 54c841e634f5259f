"""Memories are dated by when they were said, not by when they were stored"""

import sqlalchemy as sa
from alembic import op

revision = "0011"
down_revision = "0010"


def upgrade() -> None:
    op.add_column("graph_nodes", sa.Column("said_at", sa.BigInteger(), nullable=True))
    op.execute("""
        UPDATE graph_nodes SET said_at = (
            SELECT min(o.said_at) FROM observations o
            WHERE o.user_id = graph_nodes.user_id AND o.target = graph_nodes.id AND o.kind = 'node'
        )
        WHERE label != 'Entity'
    """)
