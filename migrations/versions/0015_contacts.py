"""Cards of address books, one of each book for a person"""

import sqlalchemy as sa
from alembic import op

from migrations.kinds import TEXT

revision = "0015"
down_revision = "0014"


def upgrade() -> None:
    op.create_table(
        "contacts",
        sa.Column("user_id", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("book", TEXT, nullable=False),
        sa.Column("person_id", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("uid", TEXT, nullable=False),
        sa.Column("card", TEXT, nullable=False),
        sa.Column("updated_at", sa.BigInteger(), nullable=False),
        sa.Column("href", TEXT, nullable=True),
        sa.Column("etag", TEXT, nullable=True),
        sa.PrimaryKeyConstraint("user_id", "book", "person_id", name=op.f("pk_contacts")),
    )
