"""Where a dialogue may be cut into fragments, and a fragment into model calls."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given, strategies as st

from internal.dialogue.model import Message
from internal.flows.archival.publication import SLICE, fragment_of, slices

NOON = datetime(2026, 2, 7, 12, tzinfo=UTC)


def dialogue(*turns: str | None) -> list[Message]:
    """Messages 1, 2, ... of these turns."""
    return [Message(1, n, f"m{n}", "user", "…", NOON, turn_id=turn) for n, turn in enumerate(turns, 1)]


@pytest.mark.parametrize(
    ("turns", "open_seq", "size", "length"),
    [
        ("aabb", None, 10, 4),
        ("aabb", None, 3, 2),
        ("aabb", 3, 10, 2),
        ("aaaa", None, 3, 3),
        ("abab", None, 3, 3),
        ("aabab", None, 3, 3),
        ("aabcbc", None, 3, 2),
        ("aba", 2, 10, 0),
        ("", None, 3, 0),
    ],
)
def test_a_fragment_ends_where_no_turn_is_torn(turns: str, open_seq: int | None, size: int, length: int) -> None:
    """Also where questions and answers are interleaved; a turn longer than a fragment is cut all the same."""
    assert len(fragment_of(dialogue(*turns), open_seq, size)) == length


def test_messages_without_a_turn_are_turns_of_their_own() -> None:
    """A message over a limit has no answer, and the fragment may end behind it."""
    assert len(fragment_of(dialogue(None, None, "a", "a"), None, 3)) == 2


@given(
    st.lists(st.sampled_from([None, "a", "b", "c", "d"]), max_size=30),
    st.integers(1, 12),
    st.none() | st.integers(1, 31),
)
def test_a_fragment_tears_no_turn_unless_one_fills_it(turns: list[str | None], size: int, open_seq: int | None) -> None:
    """A beginning of the dialogue, within the size, before the open turn, and whole."""
    messages = dialogue(*turns)
    fragment = fragment_of(messages, open_seq, size)
    assert fragment == messages[: len(fragment)]
    assert len(fragment) <= size
    assert all(open_seq is None or message.seq < open_seq for message in fragment)
    inside = {message.turn_id for message in fragment} - {None}
    beyond = {message.turn_id for message in messages[len(fragment) :]}
    assert not inside & beyond or len(fragment) == size


@given(st.integers(0, 2000))
def test_slices_are_even_and_leave_nothing_out(count: int) -> None:
    """Runs of at most SLICE lines that cover 1..count in order and differ by one line at most."""
    made = slices(count)
    assert [n for first, last in made for n in range(first, last + 1)] == list(range(1, count + 1))
    lengths = {last - first + 1 for first, last in made}
    assert not lengths or (max(lengths) <= SLICE and max(lengths) - min(lengths) <= 1)
    assert len(made) == -(-count // SLICE)
