"""Several workers"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from migrations.kinds import TEXT

revision = "0007"
down_revision = "0006"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "leases",
        sa.Column("name", TEXT, nullable=False),
        sa.Column("holder", TEXT, nullable=False),
        sa.Column("until", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("name", name=op.f("pk_leases")),
    )
    op.add_column("inbox", sa.Column("chat_id", sa.BigInteger(), nullable=True))


def downgrade() -> None:
    raise NotImplementedError("going back is done by restoring a backup")
