"""What of a memory was shown to whom"""

import sqlalchemy as sa
from alembic import op

from migrations.kinds import TEXT

revision = "0014"
down_revision = "0013"


def upgrade() -> None:
    words = ("kind", "ref_id", "text_hash", "audience", "reason")
    op.create_table(
        "disclosures",
        sa.Column("user_id", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("id", TEXT, nullable=False),
        *(sa.Column(name, TEXT, nullable=False) for name in words),
        sa.Column("at", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("user_id", "id", name=op.f("pk_disclosures")),
    )
