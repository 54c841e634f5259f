"""Messages are cut into episodes: at silences, and before they grow too long."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from itertools import pairwise

from hypothesis import given, settings, strategies as st

from internal.import_formats.model import GAP, MAX_CHARACTERS, MAX_MESSAGES, MAX_SEGMENT_CHARACTERS, conversations
from internal.knowledge.model import Segment

NOON = datetime(2024, 3, 1, 12, tzinfo=UTC)


def line(number: int, at: datetime, text: str = "слово") -> Segment:
    return Segment(0, at, text, None, speaker="Олена", key=f"k:{number}")


def spaced(*minutes: int, text: str = "слово") -> list[Segment]:
    """Messages so many minutes apart."""
    at, found = NOON, []
    for number, pause in enumerate(minutes):
        at += timedelta(minutes=pause)
        found.append(line(number, at, text))
    return found


@settings(deadline=None)
@given(
    st.lists(st.tuples(st.integers(-600, 2_000), st.sampled_from([1, 50, 900, 4_096, 9_000])), max_size=200),
)
def test_every_message_is_in_one_episode_in_its_order(given_: list[tuple[int, int]]) -> None:
    """Nothing is lost or doubled, segments count from 1, and no episode is longer than a slice."""
    at, messages = NOON, []
    for number, (pause, length) in enumerate(given_):
        at += timedelta(minutes=pause)
        messages.append(line(number, at, "слово " * (length // 6) or "х"))
    episodes = list(conversations(messages))
    assert all(0 < len(episode) <= MAX_MESSAGES for episode in episodes)
    assert all(sum(len(part.text or "") for part in episode) <= MAX_CHARACTERS for episode in episodes)
    assert all([part.n for part in episode] == list(range(1, len(episode) + 1)) for episode in episodes)
    parts = [part for episode in episodes for part in episode]
    assert len({part.key for part in parts}) == len(parts)
    assert "".join("".join(part.text or "" for part in parts).split()) == "".join(
        "".join(message.text or "" for message in messages).split()
    )
    for episode in episodes:
        assert all(abs(b.at - a.at) <= GAP for a, b in pairwise(episode))


def test_silence_ends_a_conversation() -> None:
    """Six hours are one conversation still, a minute more is another."""
    assert [len(episode) for episode in conversations(spaced(0, 1, 360, 361, 1))] == [3, 2]


def test_a_long_conversation_is_cut_where_it_paused() -> None:
    """At the longest silence of the second half, so that no question is cut from its answer."""
    pauses = [1] * 100
    pauses[45], pauses[20] = 90, 200
    assert [len(episode) for episode in conversations(spaced(*pauses))] == [45, 55]


def test_a_long_message_becomes_passages_with_keys_of_their_own() -> None:
    """The first keeps the message's key; who said it and when stays with each."""
    [episode] = conversations([line(1, NOON, "Речення. " * (MAX_SEGMENT_CHARACTERS // 8))])
    assert [part.key for part in episode[:3]] == ["k:1", "k:1/2", "k:1/3"]
    assert {(part.at, part.speaker) for part in episode} == {(NOON, "Олена")}


def test_what_a_message_answers_moves_no_cut() -> None:
    """A long message has the same passages and keys, whether its reply was kept or not."""
    words = "Речення. " * (MAX_SEGMENT_CHARACTERS // 8)
    [bare] = conversations([line(1, NOON, words)])
    [told] = conversations([line(1, NOON, f"[reply to Петро, 2024-03-01 11:58] {words}")])
    assert [part.key for part in told] == [part.key for part in bare]
    assert told[0].text == f"[reply to Петро, 2024-03-01 11:58] {bare[0].text}"
    assert [part.text for part in told[1:]] == [part.text for part in bare[1:]]
