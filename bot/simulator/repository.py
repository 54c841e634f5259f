"""The local Telegram's memory: one SQLite file with everything that survives a restart.

JSON columns hold objects exactly as the Bot API shows them. The module contains no rules; a caller groups
statements with `transaction()`, and a commit is on disk (`synchronous=FULL`) when it returns.
"""

import json
import sqlite3
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from internal.storage.files.permissions import PRIVATE_FOLDER, private_database

Json = dict[str, Any]

_SCHEMA = """
CREATE TABLE IF NOT EXISTS counters(name TEXT PRIMARY KEY, value INTEGER NOT NULL);
CREATE TABLE IF NOT EXISTS settings(name TEXT PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS users(id INTEGER PRIMARY KEY, profile TEXT NOT NULL, phone TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS chats(id INTEGER PRIMARY KEY, body TEXT NOT NULL, standing TEXT NOT NULL,
  privacy INTEGER NOT NULL DEFAULT 1, migrated_to INTEGER, read_up_to INTEGER NOT NULL DEFAULT 0);
CREATE TABLE IF NOT EXISTS members(chat_id INTEGER NOT NULL, user_id INTEGER NOT NULL, PRIMARY KEY(chat_id, user_id));
CREATE TABLE IF NOT EXISTS messages(chat_id INTEGER NOT NULL, message_id INTEGER NOT NULL, body TEXT NOT NULL,
  update_id INTEGER, by_bot INTEGER NOT NULL, deleted INTEGER NOT NULL DEFAULT 0, PRIMARY KEY(chat_id, message_id));
CREATE TABLE IF NOT EXISTS updates(seq INTEGER PRIMARY KEY AUTOINCREMENT, update_id INTEGER NOT NULL,
  kind TEXT NOT NULL, body TEXT NOT NULL);
CREATE INDEX IF NOT EXISTS updates_by_id ON updates(update_id);
CREATE TABLE IF NOT EXISTS ledger(seq INTEGER PRIMARY KEY AUTOINCREMENT, at REAL NOT NULL, method TEXT NOT NULL,
  chat_id INTEGER, message_id INTEGER, request TEXT NOT NULL, status INTEGER NOT NULL, description TEXT, fault TEXT);
CREATE INDEX IF NOT EXISTS ledger_by_chat ON ledger(chat_id, seq);
CREATE TABLE IF NOT EXISTS callbacks(id TEXT PRIMARY KEY, chat_id INTEGER NOT NULL, message_id INTEGER NOT NULL,
  user_id INTEGER NOT NULL, button TEXT NOT NULL, at REAL NOT NULL, answer TEXT);
CREATE TABLE IF NOT EXISTS commands(scope TEXT NOT NULL, language TEXT NOT NULL, body TEXT NOT NULL,
  PRIMARY KEY(scope, language));
CREATE TABLE IF NOT EXISTS files(file_id TEXT PRIMARY KEY, name TEXT NOT NULL, mime TEXT NOT NULL,
  content BLOB NOT NULL);
CREATE TABLE IF NOT EXISTS media(file_id TEXT PRIMARY KEY, kind TEXT NOT NULL, body TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS reactions(chat_id INTEGER NOT NULL, message_id INTEGER NOT NULL, user_id INTEGER NOT NULL,
  body TEXT NOT NULL, PRIMARY KEY(chat_id, message_id, user_id));
CREATE TABLE IF NOT EXISTS inline_queries(id TEXT PRIMARY KEY, user_id INTEGER NOT NULL, chat_id INTEGER NOT NULL,
  query TEXT NOT NULL, at REAL NOT NULL, answer TEXT);
"""

# Old calls of the bot are dropped at start: these are enough for tests and small enough for a disk.
_LEDGER_KEPT = 100_000


class Repository:
    """All reads and writes of the local Telegram, synchronous: a statement costs microseconds, a commit one fsync."""

    def __init__(self, path: Path) -> None:
        path.parent.mkdir(mode=PRIVATE_FOLDER, parents=True, exist_ok=True)
        private_database(path)
        self._db = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
        self._db.execute("PRAGMA journal_mode=WAL")
        self._db.execute("PRAGMA synchronous=FULL")
        for statement in _SCHEMA.split(";\n"):
            self._db.execute(statement)
        self._db.execute("DELETE FROM ledger WHERE seq <= (SELECT max(seq) FROM ledger) - ?", (_LEDGER_KEPT,))
        self._depth = 0

    def close(self) -> None:
        self._db.close()

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Everything inside is committed together, or not at all; nested ones join the outer one."""
        if self._depth:
            yield
            return
        self._db.execute("BEGIN IMMEDIATE")
        self._depth = 1
        try:
            yield
        except BaseException:
            self._db.execute("ROLLBACK")
            raise
        else:
            self._db.execute("COMMIT")
        finally:
            self._depth = 0

    def _one(self, sql: str, *values: object) -> tuple[Any, ...] | None:
        row: tuple[Any, ...] | None = self._db.execute(sql, values).fetchone()
        return row

    def _all(self, sql: str, *values: object) -> list[tuple[Any, ...]]:
        return self._db.execute(sql, values).fetchall()

    # Counters and settings

    def count_up(self, name: str, first: int) -> int:
        """The next value of a counter that starts at `first`."""
        row = self._one(
            "INSERT INTO counters VALUES(?, ?) ON CONFLICT(name) DO UPDATE SET value = value + 1 RETURNING value",
            name,
            first,
        )
        assert row is not None
        return int(row[0])

    def set_counter(self, name: str, next_value: int) -> None:
        self._db.execute("INSERT OR REPLACE INTO counters VALUES(?, ?)", (name, next_value - 1))

    def setting(self, name: str, default: Any = None) -> Any:
        row = self._one("SELECT value FROM settings WHERE name = ?", name)
        return default if row is None else json.loads(row[0])

    def set_setting(self, name: str, value: Any) -> None:
        self._db.execute("INSERT OR REPLACE INTO settings VALUES(?, ?)", (name, json.dumps(value)))

    # Users and chats

    def save_user(self, profile: Json, phone: str) -> None:
        self._db.execute(
            "INSERT INTO users VALUES(?, ?, ?) ON CONFLICT(id) DO UPDATE SET profile = excluded.profile",
            (profile["id"], _dump(profile), phone),
        )

    def user(self, user_id: int) -> Json | None:
        row = self._one("SELECT profile FROM users WHERE id = ?", user_id)
        return None if row is None else json.loads(row[0])

    def phone(self, user_id: int) -> str:
        row = self._one("SELECT phone FROM users WHERE id = ?", user_id)
        return "" if row is None else str(row[0])

    def users(self) -> list[Json]:
        return [json.loads(row[0]) for row in self._all("SELECT profile FROM users ORDER BY rowid")]

    def save_chat(self, body: Json, standing: str) -> None:
        """Adds or renames a chat; `standing` (of a new chat) is `unknown`, `member`, `blocked` or `kicked`."""
        self._db.execute(
            "INSERT INTO chats(id, body, standing) VALUES(?, ?, ?) ON CONFLICT(id) DO UPDATE SET body = excluded.body",
            (body["id"], _dump(body), standing),
        )

    def chat(self, chat_id: int) -> Json | None:
        row = self._one("SELECT body FROM chats WHERE id = ?", chat_id)
        return None if row is None else json.loads(row[0])

    def groups(self) -> list[Json]:
        return [json.loads(row[0]) for row in self._all("SELECT body FROM chats WHERE id < 0 ORDER BY rowid")]

    def chat_id_of(self, username: str) -> int | None:
        row = self._one("SELECT id FROM chats WHERE lower(json_extract(body, '$.username')) = ?", username.lower())
        return None if row is None else int(row[0])

    def standing(self, chat_id: int) -> str:
        row = self._one("SELECT standing FROM chats WHERE id = ?", chat_id)
        return "unknown" if row is None else str(row[0])

    def set_standing(self, chat_id: int, standing: str) -> None:
        self._db.execute("UPDATE chats SET standing = ? WHERE id = ?", (standing, chat_id))

    def privacy(self, chat_id: int) -> bool:
        row = self._one("SELECT privacy FROM chats WHERE id = ?", chat_id)
        return row is None or bool(row[0])

    def set_privacy(self, chat_id: int, privacy: bool) -> None:
        self._db.execute("UPDATE chats SET privacy = ? WHERE id = ?", (privacy, chat_id))

    def migrated_to(self, chat_id: int) -> int | None:
        row = self._one("SELECT migrated_to FROM chats WHERE id = ?", chat_id)
        return None if row is None else row[0]

    def set_migrated_to(self, chat_id: int, successor: int) -> None:
        self._db.execute("UPDATE chats SET migrated_to = ? WHERE id = ?", (successor, chat_id))

    def add_member(self, chat_id: int, user_id: int) -> None:
        self._db.execute("INSERT OR IGNORE INTO members VALUES(?, ?)", (chat_id, user_id))

    def remove_member(self, chat_id: int, user_id: int) -> None:
        self._db.execute("DELETE FROM members WHERE chat_id = ? AND user_id = ?", (chat_id, user_id))

    def members(self, chat_id: int) -> list[int]:
        return [row[0] for row in self._all("SELECT user_id FROM members WHERE chat_id = ?", chat_id)]

    def groups_of(self, user_id: int) -> list[Json]:
        rows = self._all(
            "SELECT body FROM chats JOIN members ON chat_id = chats.id WHERE user_id = ? ORDER BY chats.rowid", user_id
        )
        return [json.loads(row[0]) for row in rows]

    def mark_read(self, chat_id: int, message_id: int) -> bool:
        """Records that the user has seen the chat up to `message_id`. Returns whether that is new."""
        cursor = self._db.execute(
            "UPDATE chats SET read_up_to = ? WHERE id = ? AND read_up_to < ?", (message_id, chat_id, message_id)
        )
        return cursor.rowcount > 0

    def unread(self, chat_id: int) -> int:
        row = self._one(
            "SELECT count(*) FROM messages m JOIN chats c ON c.id = m.chat_id "
            "WHERE m.chat_id = ? AND by_bot AND NOT deleted AND message_id > read_up_to",
            chat_id,
        )
        return 0 if row is None else int(row[0])

    # Messages

    def save_message(self, message: Json, *, by_bot: bool, update_id: int | None = None) -> None:
        """Adds a message or its new version; a version keeps the update that brought the message to the bot."""
        self._db.execute(
            "INSERT INTO messages(chat_id, message_id, body, update_id, by_bot) VALUES(?, ?, ?, ?, ?) "
            "ON CONFLICT(chat_id, message_id) DO UPDATE SET body = excluded.body, "
            "update_id = coalesce(excluded.update_id, update_id)",
            (message["chat"]["id"], message["message_id"], _dump(message), update_id, by_bot),
        )

    def message(self, chat_id: int, message_id: int) -> Json | None:
        row = self._one(
            "SELECT body FROM messages WHERE chat_id = ? AND message_id = ? AND NOT deleted", chat_id, message_id
        )
        return None if row is None else json.loads(row[0])

    def delete_message(self, chat_id: int, message_id: int) -> bool:
        cursor = self._db.execute(
            "UPDATE messages SET deleted = 1 WHERE chat_id = ? AND message_id = ? AND NOT deleted",
            (chat_id, message_id),
        )
        return cursor.rowcount > 0

    def thread_exists(self, chat_id: int, thread_id: int) -> bool:
        """Whether a message of the chat began this thread or belongs to it."""
        row = self._one(
            "SELECT 1 FROM messages WHERE chat_id = ? AND (message_id = ? OR "
            "json_extract(body, '$.message_thread_id') = ?) LIMIT 1",
            chat_id,
            thread_id,
            thread_id,
        )
        return row is not None

    def history(self, chat_id: int, limit: int, before: int | None = None) -> list[Json]:
        """The last `limit` messages of a chat that are older than `before`, oldest first."""
        rows = self._all(
            "SELECT body FROM messages WHERE chat_id = ? AND NOT deleted AND message_id < ? "
            "ORDER BY message_id DESC LIMIT ?",
            chat_id,
            before if before is not None else 2**62,
            limit,
        )
        return [json.loads(row[0]) for row in reversed(rows)]

    def message_is_pending(self, chat_id: int, message_id: int) -> bool:
        """True while the bot has not confirmed the update that carries this message."""
        row = self._one(
            "SELECT 1 FROM messages m JOIN updates u ON u.update_id = m.update_id WHERE chat_id = ? AND message_id = ?",
            chat_id,
            message_id,
        )
        return row is not None

    def save_reaction(self, chat_id: int, message_id: int, user_id: int, reaction: list[Json]) -> None:
        self._db.execute(
            "INSERT OR REPLACE INTO reactions VALUES(?, ?, ?, ?)", (chat_id, message_id, user_id, json.dumps(reaction))
        )

    def reactions(self, chat_id: int, message_id: int) -> dict[int, list[Json]]:
        """Everybody's reactions to a message, by user id."""
        rows = self._all(
            "SELECT user_id, body FROM reactions WHERE chat_id = ? AND message_id = ?", chat_id, message_id
        )
        return {row[0]: json.loads(row[1]) for row in rows}

    # Updates

    def add_update(self, update_id: int, kind: str, body: Json) -> None:
        self._db.execute("INSERT INTO updates(update_id, kind, body) VALUES(?, ?, ?)", (update_id, kind, _dump(body)))

    def pending_updates(self, from_id: int, limit: int) -> list[Json]:
        """Unconfirmed updates with ids from `from_id` on, in the order they happened."""
        rows = self._all("SELECT body FROM updates WHERE update_id >= ? ORDER BY seq LIMIT ?", from_id, limit)
        return [json.loads(row[0]) for row in rows]

    def nth_last_update_id(self, n: int) -> int | None:
        """The id of the `n`th update from the end of the queue, or of the first one if there are fewer."""
        rows = self._all("SELECT update_id FROM updates ORDER BY seq DESC LIMIT ?", n)
        return int(rows[-1][0]) if rows else None

    def forget_updates_below(self, update_id: int) -> int:
        return self._db.execute("DELETE FROM updates WHERE update_id < ?", (update_id,)).rowcount

    def forget_update(self, update_id: int) -> None:
        self._db.execute("DELETE FROM updates WHERE update_id = ?", (update_id,))

    def forget_all_updates(self) -> None:
        self._db.execute("DELETE FROM updates")

    def update_count(self) -> int:
        row = self._one("SELECT count(*) FROM updates")
        return int(row[0]) if row else 0

    # Acts of the bot

    def add_ledger(
        self, method: str, request: Json, *, status: int, chat_id: int | None, message_id: int | None,
        description: str | None, fault: str | None,
    ) -> None:  # fmt: skip
        self._db.execute(
            "INSERT INTO ledger(at, method, chat_id, message_id, request, status, description, fault) "
            "VALUES(?, ?, ?, ?, ?, ?, ?, ?)",
            (time.time(), method, chat_id, message_id, _dump(request), status, description, fault),
        )

    def ledger(self, chat_id: int | None = None, after: int = 0, method: str | None = None) -> list[Json]:
        """Calls of the bot (all but getUpdates) with a `seq` above `after`, oldest first."""
        rows = self._all(
            "SELECT seq, at, method, chat_id, message_id, request, status, description, fault FROM ledger "
            "WHERE seq > ? AND (? IS NULL OR chat_id = ?) AND (? IS NULL OR method = ?) ORDER BY seq",
            after,
            chat_id,
            chat_id,
            method,
            method,
        )
        names = ("seq", "at", "method", "chat_id", "message_id", "request", "status", "description", "fault")
        return [{**dict(zip(names, row, strict=True)), "request": json.loads(row[5])} for row in rows]

    # Buttons, commands, files

    def add_callback(self, callback_id: str, message: Json, user_id: int, button: str) -> None:
        self._db.execute(
            "INSERT INTO callbacks VALUES(?, ?, ?, ?, ?, ?, NULL)",
            (callback_id, message["chat"]["id"], message["message_id"], user_id, button, time.time()),
        )

    def callback(self, callback_id: str) -> Json | None:
        """A pressed button as `{chat_id, message_id, user_id, button, at, answer}`."""
        row = self._one(
            "SELECT chat_id, message_id, user_id, button, at, answer FROM callbacks WHERE id = ?", callback_id
        )
        if row is None:
            return None
        answer = None if row[5] is None else json.loads(row[5])
        return dict(zip(("chat_id", "message_id", "user_id", "button", "at"), row, strict=False), answer=answer)

    def answer_callback(self, callback_id: str, answer: Json) -> None:
        self._db.execute("UPDATE callbacks SET answer = ? WHERE id = ?", (_dump(answer), callback_id))

    def add_inline_query(self, query_id: str, user_id: int, chat_id: int, query: str) -> None:
        self._db.execute(
            "INSERT INTO inline_queries VALUES(?, ?, ?, ?, ?, NULL)", (query_id, user_id, chat_id, query, time.time())
        )

    def inline_query(self, query_id: str) -> Json | None:
        """An inline query as `{user_id, chat_id, query, at, answer}`."""
        row = self._one("SELECT user_id, chat_id, query, at, answer FROM inline_queries WHERE id = ?", query_id)
        if row is None:
            return None
        answer = None if row[4] is None else json.loads(row[4])
        return dict(zip(("user_id", "chat_id", "query", "at"), row, strict=False), answer=answer)

    def answer_inline_query(self, query_id: str, answer: Json) -> None:
        self._db.execute("UPDATE inline_queries SET answer = ? WHERE id = ?", (_dump(answer), query_id))

    def save_commands(self, scope: str, language: str, commands: list[Json]) -> None:
        self._db.execute("INSERT OR REPLACE INTO commands VALUES(?, ?, ?)", (scope, language, json.dumps(commands)))

    def delete_commands(self, scope: str, language: str) -> None:
        self._db.execute("DELETE FROM commands WHERE scope = ? AND language = ?", (scope, language))

    def commands(self, scope: str, language: str) -> list[Json] | None:
        row = self._one("SELECT body FROM commands WHERE scope = ? AND language = ?", scope, language)
        return None if row is None else json.loads(row[0])

    def save_file(self, file_id: str, name: str, mime: str, content: bytes) -> None:
        self._db.execute("INSERT OR REPLACE INTO files VALUES(?, ?, ?, ?)", (file_id, name, mime, content))

    def save_media(self, kind: str, body: Json) -> None:
        """Stores the object of a file, so that the file can be sent again by its id."""
        self._db.execute("INSERT OR REPLACE INTO media VALUES(?, ?, ?)", (body["file_id"], kind, _dump(body)))

    def media(self, file_id: str) -> tuple[str, Json] | None:
        """The kind (`photo`, `voice`, ...) and the object of a file."""
        row = self._one("SELECT kind, body FROM media WHERE file_id = ?", file_id)
        return None if row is None else (row[0], json.loads(row[1]))

    def file(self, file_id: str) -> tuple[str, str, bytes] | None:
        """Name, media type and content of a file."""
        row = self._one("SELECT name, mime, content FROM files WHERE file_id = ?", file_id)
        return None if row is None else (row[0], row[1], row[2])


def _dump(value: Json) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
