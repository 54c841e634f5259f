"""What is said in other words on PostgreSQL means the same there."""

from __future__ import annotations

from sqlalchemy import insert, literal, select
from support.stores.stores import memory_store

from internal.storage.engine.expressions import holds_words
from internal.storage.tables import settings

KEYS = ("b", "fact:1", "fact;", "B", "fact:é", "fact:Я", "a-b", "a_b", "ab")


def test_words_are_found_as_they_are_written() -> None:
    """Case tells, and what LIKE would read as a pattern is read as it stands."""
    with memory_store() as connection:
        for text, words, found in (("Ends at 50%_", "50%_", True), ("Ends", "ends", False), ("'a'", "", True)):
            assert connection.execute(select(holds_words(literal(text), words))).scalar_one() is found


def test_text_is_in_the_order_of_its_characters_numbers() -> None:
    """Whatever the server's language, as Python sorts it; ranges of keys hold what begins alike."""
    with memory_store() as connection:
        connection.execute(insert(settings), [{"key": key, "value": 1} for key in KEYS])
        key = settings.c.key
        assert list(connection.execute(select(key).order_by(key)).scalars()) == sorted(KEYS)
        facts = connection.execute(select(key).where(key.between("fact:", "fact;")).order_by(key)).scalars()
        assert list(facts) == ["fact:1", "fact:é", "fact:Я", "fact;"]
