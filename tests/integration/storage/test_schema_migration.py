"""Migrations lead to exactly the tables of the program, from nothing and from every earlier schema."""

from __future__ import annotations

import json
import re
import time
from pathlib import Path
from typing import Any

import pytest
from alembic import command
from alembic.autogenerate import compare_metadata
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import JSON, Connection, String, cast, func, insert, select
from support.stores.stores import store, where

from internal.chronicle import audit, repository
from internal.errors import SchemaTooNew
from internal.events import repository as events
from internal.people import suggestion_repository
from internal.people.support import ProfilePart
from internal.storage.database import Database
from internal.storage.engine.commit_order import keep_order
from internal.storage.engine.row_policies import create_policies
from internal.storage.migration import alembic_config, current_revision, head_revision, migrate
from internal.storage.owner_counters import next_rev
from internal.storage.row_ids import stands_on
from internal.storage.tables import events as events_table, hidings, metadata, settings
from internal.storage.types import from_micros
from internal.testing import FIRST_MOMENT

REVISIONS = [script.revision for script in ScriptDirectory.from_config(alembic_config()).walk_revisions()]


def upgrade_to(revision: str, connection: Connection) -> None:
    """What a program of that time did on start."""
    config = alembic_config()
    config.attributes["connection"] = connection
    connection.exec_driver_sql("BEGIN")
    command.upgrade(config, revision)
    connection.exec_driver_sql("COMMIT")


def schema(connection: Connection) -> dict[str, list[str]]:
    """Every table and index by name, as the database keeps its text, without Alembic's own table."""
    if connection.dialect.name == "postgresql":
        return {name: sorted(told.split("\n")) for name, told in connection.exec_driver_sql(POSTGRESQL_SCHEMA)}
    rows = connection.exec_driver_sql("SELECT name, sql FROM sqlite_master WHERE sql IS NOT NULL")
    return {name: parts(sql) for name, sql in rows if name not in {"alembic_version", "sqlite_sequence"}}


POSTGRESQL_SCHEMA = """
WITH told(name, words) AS (
    SELECT t.relname, concat_ws(' ', a.attname, format_type(a.atttypid, a.atttypmod), c.collname, a.attnotnull,
                                pg_get_expr(d.adbin, d.adrelid))
    FROM pg_class t JOIN pg_attribute a ON a.attrelid = t.oid AND a.attnum > 0 AND NOT a.attisdropped
    LEFT JOIN pg_collation c ON c.oid = a.attcollation
    LEFT JOIN pg_attrdef d ON d.adrelid = t.oid AND d.adnum = a.attnum
    WHERE t.relkind = 'r' AND t.relnamespace = 'public'::regnamespace
    UNION ALL
    SELECT conrelid::regclass::text, conname || ' ' || pg_get_constraintdef(oid) FROM pg_constraint
    WHERE connamespace = 'public'::regnamespace AND contype <> 'n'
    UNION ALL
    SELECT indexname, indexdef FROM pg_indexes WHERE schemaname = 'public'
    UNION ALL
    SELECT tablename, concat_ws(' ', policyname, cmd, qual, with_check) FROM pg_policies
    UNION ALL
    SELECT relname, 'behind its wall, ' || relforcerowsecurity FROM pg_class WHERE relrowsecurity
    UNION ALL
    SELECT tgrelid::regclass::text, pg_get_triggerdef(oid) FROM pg_trigger WHERE NOT tgisinternal
)
SELECT name, string_agg(words, E'\\n') FROM told WHERE name NOT LIKE '%%alembic_version%%' GROUP BY name
"""


def parts(sql: str) -> list[str]:
    """The statement cut at its top-level commas; a table's parts in any order, since only their order may differ."""
    text = re.sub(r"\s+", " ", sql.replace('"', "")).strip()
    if not text.startswith("CREATE TABLE"):
        return [text]
    head, body = text.split("(", 1)
    found = re.findall(r"(?:[^,()]|\([^()]*\))+", body.rsplit(")", 1)[0])
    return [head.strip(), *sorted(part.strip() for part in found)]


def differences(connection: Connection) -> list[object]:
    """What Alembic would change to get from the database to the tables of the program."""
    engine = connection.dialect.name

    def is_of_this_engine(item: Any, name: str | None, kind: str, reflected: bool, compared_to: Any) -> bool:
        return reflected or kind != "index" or stands_on(item, engine)

    options = {"compare_type": True, "include_object": is_of_this_engine}
    return list(compare_metadata(MigrationContext.configure(connection, opts=options), metadata))


_WANTED: dict[str, dict[str, list[str]]] = {}


async def wanted_schema(folder: Path) -> dict[str, list[str]]:
    """What the program makes on the engine of the test; made once in a run."""

    def make(connection: Connection) -> None:
        metadata.create_all(connection)
        if connection.dialect.name == "postgresql":
            keep_order(connection)
            create_policies(connection)

    if store() not in _WANTED:
        async with Database.open(where(folder, empty=True)) as database:
            await database.exclusive(make)
            _WANTED[store()] = await database.read(schema)
    return _WANTED[store()]


async def test_empty_database_gets_exactly_the_tables(empty: Database, tmp_path: Path) -> None:
    """From nothing, every table, column, index and constraint of the program is made, and no other."""
    assert await empty.exclusive(migrate)
    assert await empty.exclusive(differences) == []
    assert await empty.read(schema) == await wanted_schema(tmp_path / "wanted")


@pytest.mark.parametrize("revision", REVISIONS[1:])
async def test_every_earlier_schema_is_brought_up_to_date(empty: Database, tmp_path: Path, revision: str) -> None:
    """A database of any earlier program ends at the same schema, with its rows."""
    await empty.exclusive(lambda connection: upgrade_to(revision, connection))
    row = insert(settings).values(key="kept", value="row")
    await empty.write(lambda connection: connection.execute(row))
    await empty.exclusive(migrate)
    assert await empty.exclusive(differences) == []
    assert await empty.read(schema) == await wanted_schema(tmp_path / "wanted")
    kept = select(settings.c.value).where(settings.c.key == "kept")
    assert await empty.read(lambda connection: connection.execute(kept).scalar_one()) == "row"


async def test_comparison_would_see_a_difference(database: Database, tmp_path: Path) -> None:
    """A missing index is found by both comparisons: they are not blind."""
    await database.write(lambda connection: connection.exec_driver_sql("DROP INDEX idx_messages_user_time"))
    assert len(await database.exclusive(differences)) == 1
    assert await database.read(schema) != await wanted_schema(tmp_path / "wanted")


async def test_second_start_changes_nothing(database: Database) -> None:
    """A database that is up to date is left alone."""
    assert await database.exclusive(migrate) is False
    assert await database.read(current_revision) == head_revision()


async def test_newer_schema_is_refused_untouched(database: Database) -> None:
    """What a newer program wrote is not touched by an older one, which says what to do."""
    newer = "UPDATE alembic_version SET version_num = '9999'"
    await database.write(lambda connection: connection.exec_driver_sql(newer))
    before = await database.read(schema)
    with pytest.raises(SchemaTooNew, match="newer version of Laplaced"):
        await database.exclusive(migrate)
    assert (await database.read(schema), await database.read(current_revision)) == (before, "9999")


async def test_failing_migration_changes_nothing(empty: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    """A migration that breaks half-way leaves the database as it found it, and the next start can try again."""
    await empty.exclusive(lambda connection: upgrade_to(REVISIONS[-1], connection))
    before = await empty.read(schema)
    upgrade = command.upgrade

    def break_after(config: object, revision: str) -> None:
        upgrade(config, revision)  # type: ignore[arg-type]  # passed through
        raise RuntimeError("the lights went out")

    with monkeypatch.context() as broken:
        broken.setattr(command, "upgrade", break_after)
        with pytest.raises(RuntimeError, match="lights"):
            await empty.exclusive(migrate)
    assert await empty.read(schema) == before
    assert await empty.exclusive(migrate)
    assert await empty.exclusive(differences) == []


OWNER = 7


def older_talk(
    connection: Connection, user_id: int, active: bool, said: list[tuple[int, str, str | None, str]]
) -> None:
    """What a program of revision 0002 had kept: (minutes, role, turn, words) of each message."""
    row = (
        "INSERT INTO users (user_id, role, state, name, lang, tz, settings, created_at, next_seq, next_rev)"
        " VALUES (?, 'owner', 'active', 'O', 'uk', 'Europe/Kyiv', '{}', 0, 99, 500)"
    )
    connection.exec_driver_sql(row, (user_id,))
    state = "INSERT INTO dialogue_state (user_id, last_activity, is_active) VALUES (?, 0, ?)"
    connection.exec_driver_sql(state, (user_id, active))
    put = (
        "INSERT INTO messages (user_id, seq, id, role, content, user_metadata, timestamp, rev, turn_id)"
        " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)"
    )
    hidden = '{"hidden_instruction": true}'
    for seq, (minutes, role, turn, words) in enumerate(said, start=1):
        metadata_ = hidden if words.startswith("[hidden") else '{"current_date": "2026-01-01"}'
        values = (user_id, seq, f"m{user_id}-{seq}", role, words, metadata_, minutes * 60_000_000, seq, turn)
        connection.exec_driver_sql(put, values)


async def test_what_was_said_before_has_its_chronicle(empty: Database) -> None:
    """Silences of half an hour divide the log into sessions; an answer stands in the session of its question.

    Hidden instructions are no events. The last session goes on where its dialogue does; nothing was judged.
    """
    said = [
        (0, "user", "t1", "Привіт,\n як   справи?"),
        (1, "user", "t1", "І що нового?"),
        (2, "assistant", "t1", "Добре."),
        (31, "user", "t2", "x" * 300),
        (62, "user", "t3", ""),
        (63, "assistant", "t2", "Пізня відповідь."),
        (64, "system", None, "Системне"),
        (65, "user", None, "[hidden instruction] Спитай"),
        (66, "assistant", "t3", "Бачу."),
    ]
    await empty.exclusive(lambda connection: upgrade_to("0002", connection))
    await empty.write(lambda c: [older_talk(c, OWNER, True, said), older_talk(c, 8, False, said[:3])])
    await empty.exclusive(migrate)
    events = await empty.read(lambda c: repository.events(c, OWNER))
    assert [(one.label.value, one.text[:8]) for one in events] == [
        ("Request", "Привіт,\n"),
        ("Feedback", "І що нов"),
        ("Response", "Добре."),
        ("Feedback", "x" * 8),
        ("Request", ""),
        ("Response", "Пізня ві"),
        ("Response", "Бачу."),
    ]
    first, second = await empty.read(lambda c: repository.listing(c, OWNER))
    assert [one.session_id for one in events] == [first.id] * 4 + [second.id, first.id, second.id]
    places = {one.n: place for place, one in enumerate(events)}
    assert [places.get(one.answers_n or 0) for one in events] == [None, None, 1, None, None, 3, 4]
    assert (first.topic, first.tz, first.status, second.topic, second.status) == (
        "Привіт, як справи?",
        "Europe/Kyiv",
        "closed",
        "",
        "active",
    )
    assert first.closed_at == from_micros(93 * 60_000_000)
    assert [one.status for one in await empty.read(lambda c: repository.listing(c, 8))] == ["closed"]
    for user_id in (OWNER, 8):
        found = await empty.read(lambda c, u=user_id: audit.examine(c, u))  # type: ignore[misc]
        assert (found.next_integrity, found.full_text, found.orphans, found.mislabelled) == (1.0, 1.0, 0, ())
    after = await empty.write(lambda c: next_rev(c, OWNER))
    assert after > max(one.n for one in events) > 500


@pytest.mark.long
async def test_a_hundred_thousand_messages_are_migrated_in_seconds(empty: Database) -> None:
    """A start after an upgrade does not look like a hang, also after years."""
    await empty.exclusive(lambda connection: upgrade_to("0002", connection))
    await empty.write(lambda c: older_talk(c, OWNER, False, []))
    fill = (
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 100000)"
        " INSERT INTO messages (user_id, seq, id, role, content, timestamp, rev, turn_id)"
        f" SELECT {OWNER}, i, 'm' || i, CASE i % 2 WHEN 1 THEN 'user' ELSE 'assistant' END, 'Words of message ' || i,"
        " i * 60000000 + ((i - 1) / 20) * 3600000000, i, 't' || ((i + 1) / 2) FROM n"
    )
    await empty.write(lambda connection: connection.exec_driver_sql(fill))
    began = time.monotonic()
    await empty.exclusive(migrate)
    assert time.monotonic() - began < 30
    count = "SELECT (SELECT count(*) FROM chronicle), (SELECT count(*) FROM sessions)"
    assert await empty.read(lambda c: tuple(c.exec_driver_sql(count).one())) == (100_000, 5_000)


def older_numbers(connection: Connection) -> None:
    """What a program of revision 0006 had kept in tables that the store numbers, the newest rows gone again."""
    told = "INSERT INTO events (seq, id, user_id, timestamp, event_type, source, payload) VALUES"
    connection.exec_driver_sql(f"{told} (3, 'e3', NULL, 5, 't', 's', '{{}}'), (4, 'e4', 7, 6, 't', 's', '{{}}')")
    connection.exec_driver_sql(f"{told} (9, 'e9', 7, 7, 't', 's', '{{}}')")
    connection.exec_driver_sql("DELETE FROM events WHERE seq = 9")
    call = (
        "INSERT INTO model_calls (n, id, user_id, agent, model, at, duration_s, prompt_tokens, completion_tokens,"
        " cost_usd, prompt, links) VALUES (2, 'c2', NULL, 'A', 'm', 5, 0.5, 1, 2, 0.25, '[1]', '{\"turn\":\"t\"}')"
    )
    connection.exec_driver_sql(call)
    person = (
        "INSERT INTO people (id, user_id, entity_id, display_name, aliases, circle, bio, first_seen, last_seen, rev,"
        " field_meta) VALUES (5, 7, 'x', 'Ольга', '[\"Оля\"]', 'friends', '', 1, 2, 3, '{}')"
    )
    connection.exec_driver_sql(person)
    owed = (
        "INSERT INTO outbox (n, id, user_id, bot_id, chat_id, part, payload, state, due_at, dedupe, created_at)"
        " VALUES (6, 'o6', 7, 1, 7, 0, '{}', 'pending', 1, 'key', 1)"
    )
    connection.exec_driver_sql(owed)
    run = (
        "INSERT INTO runs (n, id, user_id, agent, rev, first_n, last_n, state, due_at, created_at)"
        " VALUES (8, 'r8', 7, 'Archivist', 1, 1, 1, 'due', 1, 1)"
    )
    connection.exec_driver_sql(run)


NUMBERED = ("events", "model_calls", "people", "outbox", "runs")


def stored(connection: Connection) -> dict[str, list[dict[str, Any]]]:
    """Every row of these tables as it is stored."""
    return {
        name: [dict(row) for row in connection.exec_driver_sql(f"SELECT * FROM {name} ORDER BY 1").mappings()]
        for name in NUMBERED
    }


async def test_rows_keep_their_numbers_when_keys_are_led_by_the_owner(empty: Database) -> None:
    """Nothing is lost or numbered again, what was nobody's is the house's, and no number is given a second time."""
    await empty.exclusive(lambda connection: upgrade_to("0006", connection))
    await empty.write(lambda c: [older_talk(c, OWNER, True, [(0, "user", "t1", "Привіт")]), older_numbers(c)])
    before = await empty.read(stored)
    await empty.exclusive(migrate)
    after = await empty.read(stored)
    for rows in (before["events"], before["model_calls"]):
        rows[0]["user_id"] = 0
    for row in before["people"]:
        assert row.pop("hidden_until") is None
    assert [row.pop("cached_tokens") for row in after["model_calls"]] == [0]
    assert after == before
    told = {"timestamp": FIRST_MOMENT, "event_type": "t", "source": "s", "payload": {}}
    for user_id, number in ((OWNER, 10), (8, 11)):
        row = insert(events_table).values(id="same", user_id=user_id, **told).returning(events_table.c.seq)
        assert await empty.write(lambda c, row=row: c.execute(row).scalar_one()) == number  # type: ignore[misc]
    said = await empty.read(lambda c: c.exec_driver_sql("SELECT user_id, seq, id, content FROM messages").one())
    assert tuple(said) == (OWNER, 1, "m7-1", "Привіт")


async def test_what_is_hidden_stays_hidden_for_its_request(empty: Database) -> None:
    """Rows that were hidden until a moment belong to the request of that moment; sentences set aside to their fact's.

    What no request explains stays hidden.
    """
    await empty.exclusive(lambda connection: upgrade_to("0007", connection))
    people = "user_id, id, entity_id, display_name, aliases, circle, bio, first_seen, last_seen, rev, field_meta"
    nodes = "user_id, id, label, created_at, props, field_meta, schema_v, rev"
    asked = "INSERT INTO forgettings (user_id, id, kind, ref_id, state, due_at, created_at) VALUES"
    bios = {"before": "Сестра. Из ACME.", "after": "Сестра."}
    aside = json.dumps({"fact": "f", "sentences": ["Из ACME."], "by": "archivist", **bios})
    statements = [
        f"INSERT INTO people ({people}, hidden_until) "
        "VALUES (1, 1, 'e', 'A', '[]', 'Other', 'Сестра.', 1, 1, 1, '{}', 9)",
        f"INSERT INTO graph_nodes ({nodes}, hidden_until) VALUES (1, 'e', 'Entity', 1, '{{}}', '{{}}', 1, 1, 9)",
        f"INSERT INTO graph_nodes ({nodes}, hidden_until) VALUES (1, 'n', 'Entity', 1, '{{}}', '{{}}', 1, 1, 8)",
        f"INSERT INTO graph_nodes ({nodes}) VALUES (1, 'v', 'Entity', 1, '{{}}', '{{}}', 1, 1)",
        f"{asked} (1, 'r', 'person', NULL, 'pending', 9, 1)",
        f"{asked} (1, 's', 'fact', 'f', 'pending', 7, 1)",
        f"{asked} (1, 'd', 'fact', 'g', 'done', 8, 1)",
        "INSERT INTO suggestions (user_id, id, kind, person_id, payload, state, created_at) "
        f"VALUES (1, 'x', 'set_aside', 1, '{aside}', 'held', 1)",
    ]

    def fill(connection: Connection) -> None:
        connection.exec_driver_sql("BEGIN")
        for statement in statements:
            connection.exec_driver_sql(statement)
        connection.exec_driver_sql("COMMIT")

    await empty.exclusive(fill)
    await empty.exclusive(migrate)
    found = await empty.read(
        lambda c: c.execute(select(hidings.c.forgetting_id, hidings.c.kind, hidings.c.target)).all()
    )
    part = f"profile:1:{ProfilePart('bio', 'Из ACME.').key}"
    assert {tuple(row) for row in found} == {("r", "node", "e"), ("unknown", "node", "n"), ("s", "part", part)}
    kept = await empty.read(lambda c: suggestion_repository.hidden_profile_parts(c, 1, 1))
    assert [(one["before"]["bio"], one["after"]["bio"]) for _, one in kept] == [("Сестра. Из ACME.", "Сестра.")]


async def test_messages_that_were_requests_of_their_own_belong_to_one(empty: Database) -> None:
    """A fact's messages and a message's echoes were due at its moment; a fragment's messages follow from it."""
    await empty.exclusive(lambda connection: upgrade_to("0008", connection))
    asked = "INSERT INTO forgettings (user_id, id, kind, ref_id, state, due_at, created_at) VALUES"
    statements = [
        f"{asked} (1, 'f', 'fact', 'x', 'pending', 9, 1)",
        f"{asked} (1, 'a', 'message', 'm1', 'pending', 9, 2)",
        f"{asked} (1, 'b', 'message', 'm2', 'pending', 9, 2)",
        f"{asked} (1, 'c', 'message', 'm1', 'pending', 8, 3)",
        f"{asked} (1, 'e', 'episode', 'e1', 'pending', 7, 4)",
        f"{asked} (1, 'd', 'message', 'm9', 'done', 9, 1)",
        "INSERT INTO hidings (user_id, forgetting_id, kind, target) "
        "VALUES (1, 'a', 'edge', 'y'), (1, 'f', 'edge', 'y')",
        "INSERT INTO messages (user_id, seq, id, role, content, timestamp, rev, episode_id) "
        "VALUES (1, 1, 'm7', 'user', 'x', 1, 1, 'e1')",
    ]
    await empty.exclusive(lambda c: [c.exec_driver_sql(one) for one in ("BEGIN", *statements, "COMMIT")])
    await empty.exclusive(migrate)
    found = await empty.read(lambda c: c.exec_driver_sql("SELECT forgetting_id, kind, target FROM hidings").all())
    assert {tuple(row) for row in found} == {
        ("f", "edge", "y"), ("f", "message", "m1"), ("f", "message", "m2"), ("c", "message", "m1"),
        ("e", "message", "m7"),
    }  # fmt: skip
    left = await empty.read(lambda c: c.exec_driver_sql("SELECT id FROM forgettings WHERE state = 'pending'").all())
    assert {row.id for row in left} == {"f", "c", "e"}


async def test_what_is_empty_is_null_and_comments_are_about_the_answers_they_reply_to(empty: Database) -> None:
    """Before as from now on: a part of an answer names its Response; what replies to anything else names none."""
    await empty.exclusive(lambda connection: upgrade_to("0009", connection))
    said = "INSERT INTO messages (user_id, seq, id, role, content, timestamp, rev, bot_id, chat_id, reply_to, forward)"
    line = "INSERT INTO chronicle (user_id, n, id, session_id, label, message_id, attrs, at) VALUES"
    owed = "INSERT INTO outbox (id, user_id, bot_id, chat_id, message_id, part, payload, state, due_at, tg_id, dedupe,"
    statements = [
        f"{said} VALUES (1, 1, 'a', 'assistant', 'x', 1, 1, 7, 1, NULL, '{{}}'),"
        " (1, 2, 'b', 'user', 'x', 1, 1, 7, 1, 50, 'null'), (1, 3, 'c', 'user', 'x', 1, 1, 7, 1, 99, 'null')",
        f"{owed} created_at) VALUES ('o', 1, 7, 1, 'a', 0, '{{}}', 'sent', 1, 50, 'o', 1)",
        f"{line} (1, 4, 'A', 's', 'Response', 'a', '{{}}', 1), (1, 5, 'B', 's', 'Feedback', 'b', '{{}}', 1),"
        " (1, 6, 'C', 's', 'Feedback', 'c', '{}', 1)",
    ]
    await empty.exclusive(lambda c: [c.exec_driver_sql(one) for one in ("BEGIN", *statements, "COMMIT")])
    await empty.exclusive(migrate)
    about = await empty.read(lambda c: c.exec_driver_sql("SELECT id, answers_n FROM chronicle").all())
    assert {tuple(row) for row in about} == {("A", None), ("B", 4), ("C", None)}
    null = "SELECT id FROM messages WHERE forward IS NULL"
    assert {row.id for row in await empty.read(lambda c: c.exec_driver_sql(null).all())} == {"b", "c"}


async def test_memories_kept_before_are_dated_by_what_was_said_first(empty: Database) -> None:
    """What the owner put in by hand and the things of the graph of facts have no such date."""
    await empty.exclusive(lambda connection: upgrade_to("0010", connection))
    node = "INSERT INTO graph_nodes (user_id, id, label, created_at, props, field_meta, schema_v, rev) VALUES"
    seen = "INSERT INTO observations (user_id, id, target, kind, props, said_at, created_at, set_by) VALUES"
    statements = [
        *(f"{node} (1, '{name}', '{label}', 9, '{{}}', '{{}}', 1, 1)" for name, label in
          (("m", "Memory"), ("g", "Goal"), ("e", "Entity"))),
        *(f"{seen} (1, '{target}{at}', '{target}', 'node', '{{}}', {at}, 9, 'archivist')" for target, at in
          (("m", 4), ("m", 3), ("e", 2))),
        f"{seen} (2, 'm1', 'm', 'node', '{{}}', 1, 9, 'archivist')",
    ]  # fmt: skip
    await empty.exclusive(lambda c: [c.exec_driver_sql(one) for one in ("BEGIN", *statements, "COMMIT")])
    await empty.exclusive(migrate)
    dated = await empty.read(lambda c: c.exec_driver_sql("SELECT id, said_at FROM graph_nodes").all())
    assert {tuple(row) for row in dated} == {("m", 3), ("g", None), ("e", None)}


async def test_nothing_is_stored_as_null_where_a_column_may_be_empty(database: Database) -> None:
    """Not as the JSON value null, which no reader takes for nothing."""
    every = metadata.tables.values()
    kept = {table: [one for one in table.c if isinstance(one.type, JSON) and one.nullable] for table in every}
    assert sum(map(len, kept.values())) >= 7
    at = FIRST_MOMENT
    await database.write(lambda c: events.append(c, "x", source="system:x", now=at))
    row = {"user_id": 1, "seq": 1, "id": "m", "role": "user", "content": "", "timestamp": at, "rev": 1, "forward": None}
    await database.write(lambda c: c.execute(insert(metadata.tables["messages"]).values(row)))
    for table, columns in kept.items():
        for column in columns:
            query = select(func.count()).where(cast(column, String) == "null").select_from(table)
            assert await database.read(lambda c, query=query: c.execute(query).scalar_one()) == 0
