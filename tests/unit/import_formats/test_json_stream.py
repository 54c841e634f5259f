"""JSON is read piece by piece, whatever the pieces, and what is broken is told."""

from __future__ import annotations

import io
import json
import re
from typing import Any

import pytest
from hypothesis import given, settings, strategies as st

from internal.import_formats import json_stream
from internal.import_formats.json_stream import JsonStream
from internal.import_formats.model import Unreadable

scalars = st.none() | st.booleans() | st.integers(-(10**20), 10**20) | st.floats(allow_nan=False) | st.text()
values = st.recursive(scalars, lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner), max_leaves=10)


def stream(raw: bytes, piece: int | None = None) -> JsonStream:
    """A stream that gets its bytes in pieces of that size, however many it asks for."""
    source = io.BytesIO(raw)
    return JsonStream(lambda size: source.read(piece or size), "export.json")


def walked(source: JsonStream) -> Any:
    """The value, built by going into every object and array."""
    opening = source.peek()
    if opening == "{":
        return {key: walked(source) for key in source.members()}
    if opening == "[":
        return [walked(source) for _ in source.elements()]
    return source.value()


@settings(deadline=None)
@given(values, st.integers(1, 30), st.sampled_from([None, 2]))
def test_any_value_is_read_in_any_pieces(value: Any, piece: int, indent: int | None) -> None:
    """Walking an object member by member, or reading it at once, gives what json itself gives."""
    raw = json.dumps(value, ensure_ascii=False, indent=indent).encode("utf-8", "surrogatepass")
    try:
        raw.decode()
    except UnicodeDecodeError:
        raw = json.dumps(value, indent=indent).encode()
    expected = json.loads(raw)
    assert walked(stream(raw, piece)) == expected
    assert stream(raw, piece).value() == expected


@settings(deadline=None)
@given(st.lists(st.dictionaries(st.text(), values, max_size=3), min_size=1, max_size=4), st.integers(1, 30), st.data())
def test_what_is_cut_off_is_told(items: list[Any], piece: int, data: st.DataObject) -> None:
    """A file that ends too early gives what stood whole before, and then says so."""
    raw = json.dumps({"messages": items}).encode()
    end = data.draw(st.integers(1, len(raw) - 1))
    source, found = stream(raw[:end], piece), []

    def read() -> None:
        for _ in source.members():
            for _ in source.elements():
                found.append(source.value())

    with pytest.raises(Unreadable, match=r"export\.json is cut off"):
        read()
    assert found == items[: len(found)]


@settings(deadline=None)
@given(st.lists(values, max_size=4), values, st.integers(1, 20))
def test_what_is_left_alone_is_skipped(items: list[Any], other: Any, piece: int) -> None:
    """A member nobody asks for, of any shape, does not disturb what follows it."""
    raw = json.dumps({"other": other, "wanted": items, "last": other}).encode()
    source = stream(raw, piece)
    assert [source.value() for key in source.members() if key == "wanted"] == [items]
    source.end()


@pytest.mark.parametrize(
    "raw",
    [
        '{"a" 1}',
        '{"a": 1 "b": 2}',
        "{a: 1}",
        "[1 2]",
        '["a", ]',
        '{"a": tru }',
        '["\\x"]',
        "[1, 2}",
        "\ufeff{]",
        '"a\nb"',
    ],
)
def test_what_is_no_json_is_told_with_its_place(raw: str) -> None:
    """The character is named, and it is not taken for a file that was cut off."""
    padded = raw + " " * 40 + "[]"
    with pytest.raises(Unreadable, match=r"export\.json is not the JSON it should be, at character \d+"):
        walked(stream(padded.encode()))


@pytest.mark.parametrize("raw", [b"[" * 100_000, b'{"a":' * 100_000, b"[" + b"9" * 5_000 + b"]"])
def test_hostile_values_are_refused(raw: bytes) -> None:
    """Endless nesting and endless numbers end in a refusal, not in a crash."""
    with pytest.raises(Unreadable):
        stream(raw + b" " * 100).value()
    source = stream(b'{"skipped":' + raw)
    with pytest.raises(Unreadable):
        list(source.members())


def test_a_value_without_end_is_not_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    """No more of one value is held than the largest may have."""
    monkeypatch.setattr(json_stream, "MAX_VALUE", 1 << 20)
    first, given = iter([b'["']), 0

    def read(size: int) -> bytes:
        nonlocal given
        piece = next(first, b"a" * size)
        given += len(piece)
        return piece

    with pytest.raises(Unreadable, match="longer than 1 million"):
        list(JsonStream(read, "export.json").elements())
    assert given <= (1 << 20) + 2


def test_other_encodings_are_told() -> None:
    """A byte order mark is passed over; what is not UTF-8 is refused."""
    assert stream(b'\xef\xbb\xbf{"a": 1}').value() == {"a": 1}
    with pytest.raises(Unreadable, match=re.escape("it is not UTF-8")):
        stream('["Привіт"]'.encode("cp1251")).value()


def test_what_follows_is_refused() -> None:
    """Two documents in one file are not one."""
    source = stream(b"{} {}")
    assert source.value() == {}
    with pytest.raises(Unreadable, match="the end"):
        source.end()
