"""Keyed hashes of forgotten names."""

from internal.people import tombstones


def test_marks_recognise_a_name_in_any_spelling_and_show_nothing_of_it() -> None:
    """The same name in other case gives the same mark; another owner, another key or another kind does not."""
    mark = tombstones.marks(b"k", 1, ["Фёдор"])
    assert mark == tombstones.marks(b"k", 1, [" федор "])
    assert not mark & tombstones.marks(b"k", 2, ["Фёдор"])
    assert not mark & tombstones.marks(b"other", 1, ["Фёдор"])
    assert not tombstones.marks(b"k", 1, ["petrov"]) & tombstones.marks(b"k", 1, [], username="petrov")
    assert len(tombstones.marks(b"k", 1, ["A", "B"], "user", 42)) == 4
