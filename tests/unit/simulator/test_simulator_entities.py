"""UTF-16 arithmetic, splitting, and what Telegram finds in a text."""

from __future__ import annotations

import pytest
from hypothesis import given, strategies as st

from bot.simulator.entities import check_entities, split_text, trimmed, utf16_length, utf16_slice, with_found
from bot.simulator.server.errors import ApiRefusal

texts = st.text(alphabet=st.sampled_from("aЖ😀 \n👨‍👩‍👧é"), max_size=60)


@given(st.text(alphabet=st.characters(exclude_categories=["Cs"])))
def test_length_is_that_of_utf16(text: str) -> None:
    """The length equals half the bytes of UTF-16."""
    assert utf16_length(text) == len(text.encode("utf-16-le")) // 2


@given(texts, st.integers(2, 20))
def test_pieces_join_to_the_text_and_fit(text: str, limit: int) -> None:
    """Splitting loses nothing and no piece is longer than the limit."""
    pieces = split_text(text, limit)
    assert "".join(pieces) == text
    assert all(utf16_length(piece) <= limit for piece in pieces)


@given(texts, st.data())
def test_trimming_keeps_what_entities_cover(text: str, data: st.DataObject) -> None:
    """After trimming, each entity covers what it covered, but for the blank space that is gone."""
    boundaries = [utf16_length(text[:index]) for index in range(len(text) + 1)]
    start, end = sorted((data.draw(st.sampled_from(boundaries)), data.draw(st.sampled_from(boundaries))))
    entities = check_entities([{"type": "bold", "offset": start, "length": end - start}], text)
    inner, moved = trimmed(text, entities)
    assert inner == text.strip()
    covered = [utf16_slice(inner, entity["offset"], entity["offset"] + entity["length"]) for entity in moved]
    assert all(part in utf16_slice(text, start, end) for part in covered)
    if utf16_slice(text, start, end).strip():
        assert covered
        assert covered[0].strip() == utf16_slice(text, start, end).strip()


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("/start", [("bot_command", "/start")]),
        ("див. https://example.org/шлях.", [("url", "https://example.org/шлях")]),
        ("пиши @petrov_i або p@example.org", [("mention", "@petrov_i"), ("email", "p@example.org")]),
        ("#дача2026 #1 1/2 и/или", [("hashtag", "#дача2026")]),
        ("@ab", []),
        ("$TSLA дзвони +38 (050) 123-45-67", [("cashtag", "$TSLA"), ("phone_number", "+38 (050) 123-45-67")]),
        ("$5 a$B +12 1+38050123456", []),
    ],
)
def test_found_entities(text: str, found: list[tuple[str, str]]) -> None:
    """Commands, links, mentions, addresses and tags are found; fractions and short names are not."""
    entities = with_found(text, [])
    assert [(e["type"], utf16_slice(text, e["offset"], e["offset"] + e["length"])) for e in entities] == found


def test_nothing_is_found_inside_given_entities() -> None:
    """A link inside code stays code."""
    given_one = {"type": "code", "offset": 0, "length": 19}
    assert with_found("https://example.org", [given_one]) == [given_one]


@pytest.mark.parametrize(
    "entity",
    [
        {"type": "bald", "offset": 0, "length": 1},
        {"type": "bold", "offset": "0", "length": 1},
        {"type": "bold", "offset": -1, "length": 1},
        {"type": "bold", "offset": 1, "length": 1},
        {"type": "text_link", "offset": 0, "length": 2},
    ],
)
def test_entities_that_do_not_fit_are_refused(entity: dict[str, object]) -> None:
    """Unknown kinds, wrong numbers, halves of a character and links without an address are 400."""
    with pytest.raises(ApiRefusal) as refused:
        check_entities([entity], "😀x")
    assert refused.value.code == 400
