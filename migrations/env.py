"""Alembic's entry: runs the migrations on the connection that the program hands over."""

from typing import Any, Literal

from alembic import context

from internal.storage.row_ids import stands_on
from internal.storage.tables import metadata
from internal.storage.types import OrderedText, Timestamp


def render_item(kind: str, item: Any, asked: Any) -> str | Literal[False]:
    """A migration is history: it names plain types, so that a later change of ours cannot alter it."""
    if kind == "type" and isinstance(item, OrderedText):
        asked.imports.add("from migrations.kinds import TEXT")
        return "TEXT"
    return "sa.BigInteger()" if kind == "type" and isinstance(item, Timestamp) else False


def is_of_this_engine(item: Any, name: str | None, kind: str, reflected: bool, compared_to: Any) -> bool:
    """Leaves out the indexes that another engine alone has."""
    return reflected or kind != "index" or stands_on(item, context.get_context().dialect.name)


def run() -> None:
    connection = context.config.attributes.get("connection")
    if connection is None:
        raise SystemExit("migrations run when Laplaced starts; there is no separate command")
    context.configure(
        connection=connection,
        target_metadata=metadata,
        render_as_batch=True,
        render_item=render_item,
        include_object=is_of_this_engine,
    )
    with context.begin_transaction():
        context.run_migrations()


run()
