"""Telegram's ids outgrew 32 bits: what compares them with JSON holds on both engines."""

from __future__ import annotations

import pytest
from sqlalchemy import Connection

from internal.dialogue import removal_repository
from internal.tasks.teams import repository as teams


@pytest.mark.parametrize("number", [7_000_000_001, -1_002_000_000_001])
def test_ids_beyond_32_bits_are_compared(connection: Connection, number: int) -> None:
    """Forgetting asks both for every owner: new people and groups have such ids."""
    assert teams.erase_unsent(connection, number) == 0
    assert not removal_repository.known_from_messages(connection, number, abs(number))
