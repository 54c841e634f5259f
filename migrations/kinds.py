"""What columns of a migration are made of, where SQLite and PostgreSQL say it differently. History: never changed."""

from typing import Final

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import JSONB

TEXT: Final = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")
"""In the order of its characters' numbers."""

COMPARED_JSON: Final = sa.JSON().with_variant(JSONB(), "postgresql")
"""JSON that is looked for as a whole."""
