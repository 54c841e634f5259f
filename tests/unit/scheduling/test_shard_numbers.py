"""Chats are spread over shards, and SQL counts as Python does."""

from __future__ import annotations

from hypothesis import given, strategies as st
from sqlalchemy import create_engine, literal, select

from internal.scheduling.lease_repository import in_shards
from internal.scheduling.run import SHARD_COUNT
from internal.scheduling.shards import shard_of

ENGINE = create_engine("sqlite://")


@given(st.integers(-(2**62), 2**62))
def test_sql_and_python_agree(chat_id: int) -> None:
    """For groups, whose numbers are negative, too."""
    shard = shard_of(chat_id)
    assert 0 <= shard < SHARD_COUNT
    with ENGINE.connect() as connection:
        ours = connection.execute(select(in_shards(literal(chat_id), [shard]))).scalar()
        another = connection.execute(select(in_shards(literal(chat_id), [(shard + 1) % SHARD_COUNT]))).scalar()
    assert (bool(ours), bool(another)) == (True, False)
