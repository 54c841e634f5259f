"""People of the time before the graph get their entities when the database is brought up to date."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from alembic import command
from sqlalchemy import Connection
from support.knowledge.graph_stage import NOON, OWNER

from internal.graph import registry, store
from internal.people import service
from internal.storage.database import Database
from internal.storage.engine.driver import to_json
from internal.storage.migration import alembic_config, migrate
from internal.storage.types import to_micros


def begin(connection: Connection) -> None:
    """The database of the first release, with a person, one merged into her and one being forgotten."""
    config = alembic_config()
    config.attributes["connection"] = connection
    connection.exec_driver_sql("BEGIN")
    command.upgrade(config, "0001")
    user = (
        "INSERT INTO users (user_id, role, state, name, lang, tz, settings, created_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?)"
    )
    connection.exec_driver_sql(user, (OWNER, "member", "active", "", "uk", "UTC", "{}", to_micros(NOON)))
    _person(connection, 1, "Марія", ["Маша"], "Подруга.")
    _person(connection, 2, "Maria", [], "", merged_into=1)
    _person(connection, 3, "Іван", [], "", hidden_until=to_micros(NOON))
    connection.exec_driver_sql("COMMIT")


def _person(connection: Connection, number: int, name: str, aliases: list[str], bio: str, **more: Any) -> None:
    row = {
        "id": number,
        "user_id": OWNER,
        "entity_id": f"entity-{number}",
        "display_name": name,
        "aliases": to_json(aliases),
        "circle": "Friends",
        "bio": bio,
        "first_seen": to_micros(NOON),
        "last_seen": to_micros(NOON),
        "rev": number,
        "field_meta": "{}",
        **more,
    }
    names, marks = ", ".join(row), ", ".join("?" * len(row))
    connection.exec_driver_sql(f"INSERT INTO people ({names}) VALUES ({marks})", tuple(row.values()))


async def test_everybody_known_becomes_an_entity(tmp_path: Path) -> None:
    """As if made today: merged and hidden ones too, and the next edit of the profile reaches the node."""
    async with Database.open(tmp_path / "old.db") as database:
        await database.exclusive(begin)
        await database.exclusive(migrate)
        nodes = await database.read(lambda connection: store.nodes(connection, OWNER))
        assert [(node.id, node.subtype, node.name, node.summary) for node in nodes] == [
            ("entity-1", "person", "Марія", "Подруга.")
        ]
        assert registry.check_node("Entity", nodes[0].properties) == nodes[0].properties
        merged = await database.read(lambda connection: store.resolve_node(connection, OWNER, "entity-2"))
        assert merged == nodes[0]
        hidden = await database.read(lambda connection: store.get_node(connection, OWNER, "entity-3", hidden=True))
        assert hidden is not None
        changes = {"display_name": "Марія Петрівна"}
        await database.write(lambda connection: service.edit(connection, OWNER, 1, changes, now=NOON))
        node = await database.read(lambda connection: store.get_node(connection, OWNER, "entity-1"))
        assert node is not None
        assert node.name == "Марія Петрівна"
