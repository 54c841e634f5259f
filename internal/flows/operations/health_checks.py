"""Checks of the stored state: each result is fine, a note, or a finding with its fix."""

import sqlite3
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from pathlib import Path

from sqlalchemy import Connection

from internal.access import repository as users
from internal.dialogue.mailbox import repository as mailbox
from internal.dialogue.mailbox.model import Unsent
from internal.language.search.translations import SOURCES
from internal.language.text.morphology import INSTALL_UKRAINIAN, has_ukrainian_dictionary
from internal.recall.index.dictionaries import INSTALL, installed
from internal.scheduling import run_repository as runs
from internal.storage import vectors
from internal.storage.backup.backup import Backup
from internal.storage.engine.postgres_server import ServerState
from internal.storage.forgetting import hidings
from internal.storage.migration import current_revision, head_revision
from internal.storage.vectors import VectorProgress

STUCK_AFTER = timedelta(minutes=10)
"""The delay after which a due message is not waiting for Telegram's limits any more."""

STALE_BACKUP = timedelta(days=7)
CLOCK_SLACK = timedelta(minutes=2)
CLOCKS_APART = timedelta(seconds=5)
WAL_FIXED = (3, 51, 3)
"""The first SQLite that cannot corrupt a database when one of two writing connections resets the log (sqlite.org)."""

OLDEST_SERVER = 14_00_00
"""The oldest supported PostgreSQL, version 14.0, in PostgreSQL's own notation."""

CONNECTIONS = 6
"""Connections of a worker: one to write, one for leases, two to read, one to notify others, one to listen."""

BUILT = datetime(2026, 11, 1, tzinfo=UTC)
"""The earliest time that a right clock can show."""


Value = str | int | float


class Level(StrEnum):
    OK = "ok"
    NOTE = "note"
    FINDING = "finding"


@dataclass(frozen=True, slots=True)
class Check:
    """One line of `laplaced doctor`. A finding has a `fix`: what to do, with the exact command if there is one.

    `message` and `fix` are English. Other languages have phrases by `key` with `values`: a value ending in `_at` is
    an ISO time, one ending in `_seconds` a span.
    """

    name: str
    level: Level
    message: str
    fix: str = ""
    key: str = ""
    values: Mapping[str, Value] = field(default_factory=dict)


def fine(name: str, message: str, key: str, /, **values: Value) -> Check:
    return Check(name, Level.OK, message, key=key, values=values)


def note(name: str, message: str, key: str, /, **values: Value) -> Check:
    return Check(name, Level.NOTE, message, key=key, values=values)


def finding(name: str, message: str, fix: str, key: str, /, **values: Value) -> Check:
    return Check(name, Level.FINDING, message, fix, key, values)


@dataclass(frozen=True, slots=True)
class StoreFigures:
    """The figures of one snapshot that the checks judge."""

    quarantined: int
    dead: int
    unsent: Unsent
    newest: datetime | None
    oldest_user: datetime | None
    vectors: VectorProgress
    foreign_vectors: int
    hidden: Mapping[tuple[int, str], int] = field(default_factory=dict)


def read_stored(connection: Connection, model: str, dimensions: int) -> StoreFigures:
    """Reads the figures; `model` and `dimensions` are those of the embedder in use."""
    everybody = users.everybody(connection)
    return StoreFigures(
        quarantined=mailbox.quarantined(connection),
        dead=len(runs.dead(connection)),
        unsent=mailbox.unsent(connection),
        newest=mailbox.newest(connection),
        oldest_user=everybody[0].created_at if everybody else None,
        vectors=vectors.progress(connection, model, dimensions),
        foreign_vectors=vectors.of_other_models(connection, model, dimensions),
        hidden=hidings.orphaned_hidings(connection),
    )


def judge(stored: StoreFigures, *, model: str, now: datetime, running: bool) -> list[Check]:
    """Checks the figures. Without a running bot nothing can be stuck, as it waits for the next start."""
    return [
        _quarantine(stored.quarantined),
        _dead_runs(stored.dead),
        _outbox(stored.unsent, now, running=running),
        *_other_bots(stored.unsent),
        *_hidden(stored.hidden),
        _vectors(stored, model),
        check_clock(now, stored.newest),
    ]


def check_schema(connection: Connection) -> Check:
    current, head = current_revision(connection), head_revision()
    if current == head:
        return fine("schema", f"revision {current}, the newest", "schema-newest", revision=current or "")
    if current is None:
        return note("schema", "an empty database; the next start fills it", "schema-empty")
    if current < head:
        message = f"revision {current}; the next start makes a backup and brings it to {head}"
        return note("schema", message, "schema-older", revision=current, head=head)
    newer = f"revision {current} is of a newer version of Laplaced than this one ({head})"
    fix = "run the newer version, or: laplaced restore --force OLDER_BACKUP"
    return finding("schema", newer, fix, "schema-newer", revision=current, head=head)


def check_half() -> Check:
    """The check of a half-moved store, which no start opens."""
    message, fix = "a move into this store was interrupted", "run the same laplaced migrate-store again"
    return finding("database", message, fix, "database-half")


def check_moved(moved: str | None) -> list[Check]:
    """Checks whether a store was moved elsewhere; no start opens such a store."""
    if moved is None:
        return []
    fix = "set storage.url to that; or, to go on with this one: laplaced reopen"
    return [finding("database", f"it {moved}", fix, "database-moved", moved=moved)]


def check_sqlite(version: str = sqlite3.sqlite_version) -> Check:
    if tuple(int(part) for part in version.split(".")) >= WAL_FIXED:
        return fine("sqlite", f"version {version}", "sqlite-version", version=version)
    fixed = ".".join(str(part) for part in WAL_FIXED)
    message = (
        f"version {version} has the WAL-reset bug that {fixed} fixed; Laplaced avoids it by one writing connection"
    )
    message += " (let no other program write into the database)"
    return note("sqlite", message, "sqlite-wal", version=version, fixed=fixed)


def check_server(server: ServerState) -> list[Check]:
    """Checks a PostgreSQL server, our role on it, and its connections for workers."""
    checks = [fine("postgresql", f"version {server.version}", "postgresql-version", version=server.version)]
    if server.version_number < OLDEST_SERVER:
        wanted = str(OLDEST_SERVER // 10_000)
        message = f"version {server.version} is too old: Laplaced needs {wanted} or newer"
        fix = "upgrade the server, or move to a newer one: laplaced migrate-store"
        checks = [finding("postgresql", message, fix, "postgresql-old", version=server.version, wanted=wanted)]
    if server.superuser or server.bypasses_policies:
        message = f"the role {server.role} passes by the policies that keep owners apart"
        fix = f"as an administrator: ALTER ROLE {server.role} NOSUPERUSER NOBYPASSRLS"
        checks.append(finding("role", message, fix, "role-passes", role=server.role))
    else:
        checks.append(fine("role", f"{server.role} sees what the policies let it see", "role-kept", role=server.role))
    if server.encoding != "UTF8":
        message = f"the database is encoded as {server.encoding}, which cannot hold every language"
        fix = "CREATE DATABASE laplaced ENCODING 'UTF8' TEMPLATE template0, then: laplaced migrate-store"
        checks.append(finding("encoding", message, fix, "encoding-other", encoding=server.encoding))
    return [*checks, _connections(server)]


def check_clocks(ahead: timedelta) -> Check:
    """Checks how far a server's clock is ahead of this machine's. Due times go by the server's clock."""
    seconds = round(abs(ahead).total_seconds(), 1)
    if abs(ahead) <= CLOCKS_APART:
        message = f"the server's and this machine's are {seconds} s apart"
        return fine("clocks", message, "clocks-agree", seconds=seconds)
    way = "ahead of" if ahead > timedelta(0) else "behind"
    message = f"the server's is {seconds} s {way} this machine's; what is due goes by the server's"
    return finding("clocks", message, "let NTP keep both", "clocks-differ", seconds=seconds)


def check_workers(count: int) -> Check:
    """The check of the number of our processes that work on a server's database, including `laplaced run`."""
    if not count:
        return note("workers", "no process is at work; `laplaced run` begins", "workers-none")
    message = f"{count} process{'es' if count > 1 else ''} at work, this machine's and others'"
    return fine("workers", message, "workers-count", count=count)


def _connections(server: ServerState) -> Check:
    room = max(server.most_connections - server.connections, 0) // CONNECTIONS
    message = f"{server.connections} of {server.most_connections} in use; a worker takes {CONNECTIONS}"
    values = {"used": server.connections, "most": server.most_connections, "each": CONNECTIONS, "room": room}
    if room:
        return fine("connections", f"{message}, there is room for {room} more", "connections-room", **values)
    fix = "raise max_connections of the server, put pgbouncer before it, or run fewer workers"
    return finding("connections", f"{message}, there is no room for another", fix, "connections-full", **values)


def check_integrity(damage: Sequence[str], newest: Backup | None) -> Check:
    """The check of a file; `damage` is what SQLite's check reported, empty for a sound file."""
    if not damage:
        return fine("integrity", "the database file is sound", "integrity-sound")
    message = f"the database file is damaged: {damage[0]}"
    if newest is None:
        return finding("integrity", message, "restore a backup of your own", "integrity-lost", damage=damage[0])
    command = restore_command(newest)
    fix = f"stop the bot, then: {command}"
    return finding("integrity", message, fix, "integrity-damaged", damage=damage[0], command=command)


def restore_command(backup: Backup) -> str:
    return f"laplaced restore --force {backup.path}"


def check_backups(
    backups: Sequence[Backup], last: datetime | None, oldest_user: datetime | None, now: datetime
) -> Check:
    """Checks the backups; `last` may be newer than all `backups`, if it was written elsewhere."""
    make = "laplaced backup (from cron or a timer: see docs/operations.md)"
    if last is None:
        if oldest_user is None or now - oldest_user < STALE_BACKUP:
            return note("backups", f"none yet; to make one: {make}", "backups-none-yet")
        return finding("backups", "there is none", make, "backups-none")
    age = (now - last).days
    if now - last >= STALE_BACKUP:
        return finding("backups", f"the last one is {age} days old", make, "backups-old", days=age)
    message = f"{len(backups)} in the data folder, the last was made {_ago(now - last)}"
    return fine("backups", message, "backups-made", count=len(backups), age_seconds=_seconds(now - last))


def check_room(folder: Path, free: int, database: int | None) -> Check:
    """Checks the free space for the log, a backup and a restore; `free` and `database` are bytes, None if unknown."""
    if database is None:
        return fine("disk", f"{free / 1e9:.1f} GB free", "disk-free", free=round(free / 1e9, 1))
    wanted = 2 * database + 200_000_000
    message = f"{free / 1e9:.1f} GB free, the database has {database / 1e6:.1f} MB"
    values = {"free": round(free / 1e9, 1), "size": round(database / 1e6, 1)}
    if free >= wanted:
        return fine("disk", message, "disk-room", **values)
    fix = f"make room in {folder}: {wanted / 1e9:.1f} GB let backups and restores work"
    return finding("disk", message, fix, "disk-full", **values, folder=str(folder), wanted=round(wanted / 1e9, 1))


def check_dictionaries() -> Check:
    if has_ukrainian_dictionary():
        return fine("morphology", "the Russian and the Ukrainian dictionary are there", "morphology-both")
    missing = "the Ukrainian dictionary is missing, so Ukrainian words are read by rules; to install it: "
    return note("morphology", missing + INSTALL_UKRAINIAN, "morphology-no-ukrainian")


def check_translations(folder: str) -> Check:
    """Checks for bilingual dictionaries in `folder`."""
    if len(installed(folder)) == len(SOURCES):
        return fine("dictionaries", "words of questions are translated into the other languages", "dictionaries-both")
    missing = "a bilingual dictionary is missing, so other languages are searched by meaning alone; to install it: "
    return note("dictionaries", missing + INSTALL, "dictionaries-missing")


def check_private(path: Path, mode: int) -> Check | None:
    """A finding if others may read a file that holds a key; None if all is well."""
    if not mode & 0o077:
        return None
    message, rights = f"{path} can be read by others (mode {mode & 0o777:o})", f"{mode & 0o777:o}"
    return finding("keys", message, f"chmod 600 {path}", "keys-exposed", path=str(path), mode=rights)


def check_clock(now: datetime, newest: datetime | None) -> Check:
    shown = now.isoformat()
    if now < BUILT:
        message = f"it shows {now:%Y-%m-%d %H:%M} UTC, which is past"
        return finding("clock", message, "set the clock, and let NTP keep it", "clock-past", now_at=shown)
    if newest is not None and newest > now + CLOCK_SLACK:
        ahead = f"stored times reach {_span(newest - now)} into the future: the clock was wrong then, or is now"
        fix = "set the clock, and let NTP keep it; nothing is lost meanwhile"
        return finding("clock", ahead, fix, "clock-ahead", ahead_seconds=_seconds(newest - now))
    return fine("clock", f"{now:%Y-%m-%d %H:%M} UTC", "clock-shows", now_at=shown)


def _quarantine(count: int) -> Check:
    if not count:
        return fine("quarantine", "no update was put aside", "quarantine-empty")
    fix = "laplaced quarantine shows them; --replay N or all tries again, --drop N or all gives them up"
    message = f"{count} update{_s(count)} could not be handled"
    return finding("quarantine", message, fix, "quarantine-some", count=count)


def _dead_runs(count: int) -> Check:
    if not count:
        return fine("runs", "none was given up", "runs-none")
    fix = "laplaced runs shows why; --revive tries again"
    return finding("runs", f"{count} run{_s(count)} given up", fix, "runs-some", count=count)


def _other_bots(unsent: Unsent) -> list[Check]:
    if not unsent.foreign:
        return []
    waits = (
        f"{unsent.foreign} message{_s(unsent.foreign)} of another bot's wait for its token; this bot does not send them"
    )
    return [note("other bot", waits, "other-bot-waits", count=unsent.foreign)]


def _hidden(unexplained: Mapping[tuple[int, str], int]) -> list[Check]:
    """Checks for targets that an update left hidden without a pending forgetting."""
    checks = []
    for (user_id, forgetting), count in unexplained.items():
        message = f"{count} row{_s(count)} of user {user_id} would stay hidden for ever: no forgetting explains them"
        command = f"laplaced forget --user {user_id} --undo {forgetting}"
        values: dict[str, Value] = {"count": count, "user": str(user_id), "command": command}
        checks.append(finding("hidden", message, f"{command} shows them again", "hidden-unexplained", **values))
    return checks


def _outbox(unsent: Unsent, now: datetime, *, running: bool) -> Check:
    held = f"; {unsent.held} wait for people who stopped the bot" if unsent.held else ""
    values = {"count": unsent.waiting, "held": unsent.held}
    if unsent.oldest_due_at is None:
        return fine("outbox", f"nothing is owed{held}", "outbox-empty", **values)
    late = now - unsent.oldest_due_at
    if not running:
        message = f"{unsent.waiting} message{_s(unsent.waiting)} will be sent at the next start{held}"
        return note("outbox", message, "outbox-next-start", **values)
    if late < STUCK_AFTER:
        return fine("outbox", f"{unsent.waiting} on the way{held}", "outbox-on-way", **values)
    stuck = f"{unsent.waiting} message{_s(unsent.waiting)} wait, the oldest for {_span(late)}{held}"
    fix = "see the check of Telegram above and the log's lines send_failed; then restart"
    return finding("outbox", stuck, fix, "outbox-stuck", **values, late_seconds=_seconds(late))


def _vectors(stored: StoreFigures, model: str) -> Check:
    total, foreign = stored.vectors.total, stored.foreign_vectors
    waiting = total - stored.vectors.done
    if not waiting and not stored.foreign_vectors:
        return fine("vectors", f"all {stored.vectors.total} of {model}", "vectors-all", total=total, model=model)
    message = f"{waiting} of {stored.vectors.total} texts wait for a vector of {model}"
    if stored.foreign_vectors:
        message += f"; {stored.foreign_vectors} vectors of another model or size are replaced meanwhile"
    message += " (search finds those by name only)"
    return note("vectors", message, "vectors-waiting", waiting=waiting, total=total, model=model, foreign=foreign)


def _s(count: int) -> str:
    return "" if count == 1 else "s"


def _seconds(span: timedelta) -> int:
    return int(span.total_seconds())


def _ago(age: timedelta) -> str:
    return "just now" if age < timedelta(minutes=1) else f"{_span(age)} ago"


def _span(span: timedelta) -> str:
    hours, minutes = divmod(_seconds(span) // 60, 60)
    if hours >= 48:
        return f"{hours // 24} days"
    if not hours and not minutes:
        return f"{_seconds(span)} s"
    return f"{hours} h {minutes} min" if hours else f"{minutes} min"
