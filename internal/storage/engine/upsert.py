"""`INSERT ... ON CONFLICT`, which SQLite and PostgreSQL write alike."""

# SQLAlchemy has one such class for each dialect. This one's clauses are compiled by both: every suite that runs
# on both engines holds that.
from sqlalchemy.dialects.postgresql import insert as upsert

__all__ = ["upsert"]
