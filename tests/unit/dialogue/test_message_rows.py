"""Rows of the log as messages."""

from datetime import UTC, datetime

from sqlalchemy import create_engine, insert, select

from internal.dialogue.message_rows import message_of, plain_forward
from internal.dialogue.model import ForwardOrigin, Message
from internal.storage.tables import messages


def test_every_column_becomes_the_field_of_its_name() -> None:
    """A row is read by place: each value is told from all others."""
    at, later = datetime(2026, 2, 7, tzinfo=UTC), datetime(2026, 2, 8, tzinfo=UTC)
    origin = ForwardOrigin("user", "Анна", 5, "anna", at)
    said = Message(
        1, 2, "m", "user", "слова", at, {"a": 1}, 3, 4, 5, 6, 7, 8, origin, [{"b": 2}], later, "t", "e", "sent", 9
    )
    row = {column.name: getattr(said, column.name) for column in messages.columns} | {"forward": plain_forward(origin)}
    engine = create_engine("sqlite://")
    with engine.begin() as connection:
        messages.create(connection)
        connection.execute(insert(messages).values(**row))
        assert message_of(connection.execute(select(messages)).one()) == said
    engine.dispose()
