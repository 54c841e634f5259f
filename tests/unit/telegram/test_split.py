"""Cutting text with entities into messages."""

from __future__ import annotations

import regex
from hypothesis import given, settings, strategies as st
from support.long import examples

from bot.telegram.split import EntitySpan, split

ALPHABET = st.sampled_from([*"аб я. !\n\n  zx", "👍", "👨\u200d👩\u200d👧", "e\u0301", "🇺🇦", "\t", "ї"])
TEXTS = st.lists(ALPHABET, max_size=120).map("".join)


def units(text: str) -> int:
    return len(text.encode("utf-16-le")) // 2


@st.composite
def texts_with_spans(draw: st.DrawFn) -> tuple[str, list[EntitySpan]]:
    text = draw(TEXTS)
    places = st.integers(min_value=0, max_value=len(text))
    pairs = draw(st.lists(st.tuples(places, places), max_size=6))
    spans: list[EntitySpan] = []
    for one, other in pairs:
        begin, stop = sorted((one, other))
        spans.append(EntitySpan("bold", units(text[:begin]), units(text[begin:stop]), {"n": len(spans)}))
    return text, spans


LIMITS = st.integers(min_value=1, max_value=40)


@given(texts_with_spans(), LIMITS)
def test_the_parts_are_the_whole(given_text: tuple[str, list[EntitySpan]], limit: int) -> None:
    """Nothing but blanks is ever lost, and nothing at all unless blanks leave no room for a letter."""
    text, spans = given_text
    joined = "".join(part for part, _ in split(text, spans, limit))
    assert "".join(joined.split()) == "".join(text.split())
    if not any(units(run) + 2 > limit for run in regex.findall(r"\s+", text.strip())):
        assert joined == text.strip()


@given(texts_with_spans(), st.integers(min_value=2, max_value=40))
def test_every_part_can_be_sent(given_text: tuple[str, list[EntitySpan]], limit: int) -> None:
    """Parts hold something to see, keep to the limit, and their entities lie within them on character borders."""
    for part, spans in split(*given_text, limit):
        assert part.strip()
        assert units(part) <= limit
        borders = {units(part[:at]) for at in range(len(part) + 1)}
        for span in spans:
            assert span.length > 0
            assert {span.offset, span.offset + span.length} <= borders


@given(texts_with_spans(), LIMITS)
def test_entities_cover_what_they_covered(given_text: tuple[str, list[EntitySpan]], limit: int) -> None:
    """A character is bold in its part exactly if it was bold in the whole, blanks aside."""
    text, spans = given_text
    wanted: list[set[int]] = []
    for at, char in enumerate(text):
        place = units(text[:at])
        if not char.isspace():
            wanted.append({s.extra["n"] for s in spans if s.offset <= place < s.offset + s.length})
    found: list[set[int]] = []
    for part, inner in split(text, spans, limit):
        for at, char in enumerate(part):
            place = units(part[:at])
            if not char.isspace():
                found.append({s.extra["n"] for s in inner if s.offset <= place < s.offset + s.length})
    assert found == wanted


@given(TEXTS, st.integers(min_value=16, max_value=40))
def test_no_grapheme_is_torn(text: str, limit: int) -> None:
    """A family emoji or an accented letter stays in one message."""
    whole = regex.findall(r"\X", text.strip())
    parts = [grapheme for part, _ in split(text, [], limit) for grapheme in regex.findall(r"\X", part)]
    assert [one for one in parts if one.strip()] == [one for one in whole if one.strip()]


@given(st.lists(st.integers(min_value=1, max_value=20), min_size=1, max_size=12))
@settings(max_examples=examples(50))
def test_an_entity_that_fits_is_not_cut(lengths: list[int]) -> None:
    """Neighbouring entities of at most the limit each go whole into one message or the next."""
    text = ""
    spans: list[EntitySpan] = []
    for length in lengths:
        spans.append(EntitySpan("code", len(text), length))
        text += "x" * length
    found = [span.length for _, inner in split(text, spans, 20) for span in inner]
    assert found == lengths


def test_a_long_entity_goes_on_in_the_next_message() -> None:
    """Code longer than a message is code in every message, cut at a line."""
    text = "\n".join(f"line {number}" for number in range(20))
    parts = split(text, [EntitySpan("pre", 0, units(text), {"language": "py"})], 40)
    assert "".join(part for part, _ in parts) == text
    assert all(part.endswith("\n") for part, _ in parts[:-1])
    for part, spans in parts:
        assert spans == [EntitySpan("pre", 0, units(part), {"language": "py"})]


def test_borders_are_where_a_reader_would_cut() -> None:
    """Paragraphs first, then lines, sentences and words, as long as a message is at least half full."""
    cases = {
        "Первый абзац тут.\n\nВторой абзац.": "Первый абзац тут.\n\n",
        "Одна строка здесь\nи другая строка": "Одна строка здесь\n",
        "Кончилось «вот так». А это дальше": "Кончилось «вот так». ",
        "просто слова одно за другим подряд": "просто слова одно за ",
        "Ъ\n\nпросто слова одно за другим": "Ъ\n\nпросто слова одно ",
        "нетнигденичегочтобыразрезать": "нетнигденичегочтобыраз",
    }
    for text, first in cases.items():
        assert split(text, [], 22)[0][0] == first


def test_one_giant_grapheme_is_cut_after_all() -> None:
    """A letter under more accents than a message holds cannot stay whole, and must not stop the reply."""
    parts = split("a" + "\u0301" * 50, [], 20)
    assert [units(part) for part, _ in parts] == [20, 20, 11]
