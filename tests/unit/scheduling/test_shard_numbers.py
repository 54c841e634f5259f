"""Chats are spread over districts, and SQL counts as Python does."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy import create_engine, literal, select

from internal.scheduling.lease_repository import in_districts
from internal.scheduling.model import DISTRICTS
from internal.scheduling.shards import district_of

ENGINE = create_engine("sqlite://")


@given(st.integers(-(2**62), 2**62))
def test_sql_and_python_agree(chat_id: int) -> None:
    """For groups, whose numbers are negative, too."""
    district = district_of(chat_id)
    assert 0 <= district < DISTRICTS
    with ENGINE.connect() as connection:
        ours = connection.execute(select(in_districts(literal(chat_id), [district]))).scalar()
        another = connection.execute(select(in_districts(literal(chat_id), [(district + 1) % DISTRICTS]))).scalar()
    assert (bool(ours), bool(another)) == (True, False)
