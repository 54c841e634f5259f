"""Keyed hashes of forgotten names."""

import pytest

from internal.people import tombstones


def test_marks_recognise_a_name_in_any_spelling_and_show_nothing_of_it() -> None:
    """The same name in other case gives the same mark; another owner, another key or another kind does not."""
    mark = tombstones.marks(b"k", 1, ["Фёдор"])
    assert mark == tombstones.marks(b"k", 1, [" федор "])
    assert not mark & tombstones.marks(b"k", 2, ["Фёдор"])
    assert not mark & tombstones.marks(b"other", 1, ["Фёдор"])
    assert not tombstones.marks(b"k", 1, ["petrov"]) & tombstones.marks(b"k", 1, [], username="petrov")
    assert len(tombstones.marks(b"k", 1, ["A", "B"], "user", 42)) == 4


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("Lives in Berlin.", "She is living in Berlin", True),
        ("Живёт в Берлине", "Сейчас в Берлине живёт.", True),
        ("Мешкає в Києві", "Вона мешкала у Києві", True),
        ("Работает в Zalando", "Работает в Заландо", True),
        ("Lives in Berlin", "Does not live in Berlin", False),
        ("Больше не живёт в Берлине", "Живёт в Берлине", False),
        ("Lives in Berlin", "Lives in Bergen with Bob", False),
        ("Has 2 cats", "Has 3 cats", False),
        ("Doctor.", "Doctors", False),
    ],
)
def test_a_sentence_is_known_in_other_forms_and_not_turned_round(one: str, other: str, same: bool) -> None:
    """Order, endings, alphabet and pronouns make no difference; a negation, a number or another word does."""
    shared = tombstones.sentence_marks(b"k", 1, one) & tombstones.sentence_marks(b"k", 1, other)
    assert bool(shared) == same
