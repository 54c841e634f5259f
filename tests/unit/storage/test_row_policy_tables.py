"""Every table is behind the wall, or it is written down why it has no owner."""

from __future__ import annotations

from typing import Any

from sqlalchemy import Column

from internal.storage.engine.row_policies import OF_NO_OWNER, SYSTEM_ROWS, policy_statements, tables_with_policy
from internal.storage.tables import metadata
from internal.storage.types import OwnerOrSystem


def test_every_table_has_an_owner_or_a_reason() -> None:
    """A new table that nobody has thought about here fails this test; so does a reason whose table is gone."""
    without = {table.name for table in metadata.sorted_tables if "user_id" not in table.c}
    assert without == OF_NO_OWNER.keys()


def test_it_is_written_down_whose_rows_may_have_no_owner() -> None:
    """A table in which a row may be nobody's says what such a row is."""
    nobodys = {table.name for table in tables_with_policy() if _may_be_nobodys(table.c.user_id)}
    assert nobodys == SYSTEM_ROWS.keys()


def test_the_wall_is_raised_around_every_table_with_an_owner() -> None:
    """Each of them gets a policy that its own role is held by, too."""
    statements = list(policy_statements())
    for table in tables_with_policy():
        assert f"ALTER TABLE {table.name} FORCE ROW LEVEL SECURITY" in statements
        assert any(one.startswith("CREATE POLICY") and f" ON {table.name} " in one for one in statements)


def _may_be_nobodys(owner: Column[Any]) -> bool:
    return bool(owner.nullable) or isinstance(owner.type, OwnerOrSystem)
