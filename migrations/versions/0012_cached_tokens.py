"""Model calls say how many tokens of their prompt the provider had read before"""

import sqlalchemy as sa
from alembic import op

revision = "0012"
down_revision = "0011"


def upgrade() -> None:
    op.add_column("model_calls", sa.Column("cached_tokens", sa.Integer(), nullable=False, server_default="0"))
