"""Several workers"""

import sqlalchemy as sa
from alembic import op
from alembic.operations.base import BatchOperations

from migrations.kinds import TEXT

revision = "0007"
down_revision = "0006"


def upgrade() -> None:
    op.create_table(
        "leases",
        sa.Column("name", TEXT, nullable=False),
        sa.Column("holder", TEXT, nullable=False),
        sa.Column("until", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("name", name=op.f("pk_leases")),
    )
    op.add_column("inbox", sa.Column("chat_id", sa.BigInteger(), nullable=True))
    _keys_lead_with_the_owner()


def _keys_lead_with_the_owner() -> None:
    for table in ("events", "model_calls"):  # no key has room for NULL
        op.execute(f"UPDATE {table} SET user_id = 0 WHERE user_id IS NULL")
    for table, number in _NUMBERED.items():
        _lead(table, number)
    with op.batch_alter_table("messages") as messages:
        _widen(messages, "messages", "id")
    op.drop_index("idx_turns_collecting", "turns")
    collecting = sa.text("state = 'collecting'")
    op.create_index(
        "idx_turns_collecting",
        "turns",
        ["user_id", "bot_id", "lane"],
        unique=True,
        sqlite_where=collecting,
        postgresql_where=collecting,
    )
    op.drop_index("idx_chronicle_id", "chronicle")
    op.create_index("idx_chronicle_id", "chronicle", ["user_id", "id"], unique=True)
    for table in ("episodes", "graph_edges", "graph_nodes", "sessions"):
        op.drop_index(f"idx_{table}_id", table)
        op.create_index(f"idx_{table}_id", table, ["id"])
    for table in ("events", "model_calls"):
        op.create_index(f"idx_{table}_id", table, ["id"])


_NUMBERED = {"changes": "seq", "events": "seq", "model_calls": "n", "outbox": "n", "people": "id", "runs": "n"}
_UNIQUE = {
    "changes": (),
    "events": ("id",),
    "model_calls": ("id",),
    "outbox": ("dedupe", "id"),
    "people": ("entity_id",),
    "runs": ("id",),
}
_READ_ACROSS = ("changes", "events", "model_calls", "people")


def _lead(table: str, number: str) -> None:
    """SQLite makes the table anew and would begin to number behind the rows that are left."""
    sqlite = op.get_bind().dialect.name == "sqlite"
    if sqlite and not _UNIQUE[table]:
        return
    given = _highest_given(table) if sqlite else 0
    with op.batch_alter_table(table, table_kwargs={"sqlite_autoincrement": True}) as altered:
        for column in _UNIQUE[table]:
            _widen(altered, table, column)
        if table in ("events", "model_calls"):
            altered.alter_column("user_id", existing_type=sa.BigInteger(), nullable=False)
    if sqlite:
        _number_behind(table, given)
        return
    op.drop_constraint(f"pk_{table}", table, type_="primary")
    op.create_primary_key(f"pk_{table}", table, ["user_id", number])
    if table != "people":
        op.drop_index(f"idx_{table}_user", table)
    if table in _READ_ACROSS:
        op.create_index(f"idx_{table}_{number}", table, [number])


def _widen(altered: BatchOperations, table: str, column: str) -> None:
    altered.drop_constraint(f"uq_{table}_{column}", type_="unique")
    altered.create_unique_constraint(f"uq_{table}_user_id_{column}", ["user_id", column])


def _highest_given(table: str) -> int:
    found = op.get_bind().execute(sa.text("SELECT seq FROM sqlite_sequence WHERE name = :name"), {"name": table})
    return int(found.scalar_one_or_none() or 0)


def _number_behind(table: str, given: int) -> None:
    if given:
        op.get_bind().execute(sa.text("DELETE FROM sqlite_sequence WHERE name = :name"), {"name": table})
        row = sa.text("INSERT INTO sqlite_sequence (name, seq) VALUES (:name, :given)")
        op.get_bind().execute(row, {"name": table, "given": given})
