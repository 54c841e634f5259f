"""What a look at the stored state finds, from figures alone."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from internal.dialogue.mailbox.model import Unsent
from internal.flows.operations.health_checks import (
    STALE_BACKUP,
    STUCK_AFTER,
    Level,
    StoreFigures,
    check_backups,
    check_clock,
    check_integrity,
    check_private,
    check_room,
    check_sqlite,
    judge,
)
from internal.storage.backup.backup import Backup
from internal.storage.vectors import VectorProgress

NOW = datetime(2026, 11, 22, 12, tzinfo=UTC)
CLEAN = StoreFigures(
    0, 0, Unsent(0, None, 0), NOW - timedelta(hours=1), NOW - timedelta(days=1), VectorProgress(5, 5), 0
)
MADE = Backup(Path("backups/x.db"), NOW - timedelta(days=1), "0001", 10)


def levels(stored: StoreFigures, *, running: bool = True) -> dict[str, Level]:
    checks = judge(stored, model="m", now=NOW, running=running)
    assert all(bool(check.fix) == (check.level is Level.FINDING) for check in checks)
    return {check.name: check.level for check in checks}


def test_clean_store_has_no_finding() -> None:
    """Nothing put aside, given up, stuck or waiting: every check is fine."""
    assert set(levels(CLEAN).values()) == {Level.OK}


@pytest.mark.parametrize(
    ("stored", "name", "level"),
    [
        (replace(CLEAN, quarantined=1), "quarantine", Level.FINDING),
        (replace(CLEAN, dead=2), "runs", Level.FINDING),
        (replace(CLEAN, unsent=Unsent(3, NOW - STUCK_AFTER, 0)), "outbox", Level.FINDING),
        (replace(CLEAN, unsent=Unsent(3, NOW - timedelta(minutes=1), 0)), "outbox", Level.OK),
        (replace(CLEAN, unsent=Unsent(0, None, 4)), "outbox", Level.OK),
        (replace(CLEAN, unsent=Unsent(0, None, 0, 2)), "other bot", Level.NOTE),
        (replace(CLEAN, vectors=VectorProgress(3, 5)), "vectors", Level.NOTE),
        (replace(CLEAN, foreign_vectors=9), "vectors", Level.NOTE),
        (replace(CLEAN, hidden={(7, "unknown"): 2}), "hidden", Level.FINDING),
        (replace(CLEAN, newest=NOW + timedelta(hours=1)), "clock", Level.FINDING),
        (replace(CLEAN, newest=None), "clock", Level.OK),
    ],
)
def test_each_figure_is_judged(stored: StoreFigures, name: str, level: Level) -> None:
    """One bad figure gives one finding or note, and all others stay fine."""
    found = levels(stored)
    assert found.pop(name) is level
    assert set(found.values()) == {Level.OK}


def test_stopped_bot_has_nothing_stuck() -> None:
    """What waits while the bot is stopped is a note, however old it is."""
    stored = replace(CLEAN, unsent=Unsent(3, NOW - timedelta(days=3), 0))
    assert levels(stored, running=False)["outbox"] is Level.NOTE


@pytest.mark.parametrize(
    ("version", "level"),
    [("3.40.1", Level.NOTE), ("3.51.2", Level.NOTE), ("3.51.3", Level.OK), ("3.100.0", Level.OK), ("4.0", Level.OK)],
)
def test_the_wal_bug_is_a_note(version: str, level: Level) -> None:
    """An older SQLite is worth knowing about, and no finding: one writing connection avoids the bug."""
    assert check_sqlite(version).level is level


def test_backups_have_to_be_made() -> None:
    """None is a note for a new bot and a finding for an old one; an old one is a finding, a fresh one fine."""

    def judged(last: datetime | None, oldest_user: datetime | None) -> Level:
        return check_backups([MADE], last, oldest_user, NOW).level

    young, old = NOW - timedelta(days=1), NOW - timedelta(days=30)
    assert judged(None, None) is Level.NOTE
    assert judged(None, young) is Level.NOTE
    assert judged(None, old) is Level.FINDING
    assert judged(NOW - STALE_BACKUP, old) is Level.FINDING
    assert judged(young, old) is Level.OK


def test_damage_offers_the_newest_backup() -> None:
    """The fix of a damaged file is the exact command, or the truth that there is no backup here."""
    assert check_integrity([], MADE).level is Level.OK
    assert check_integrity(["malformed"], MADE).fix.endswith("laplaced restore --force backups/x.db")
    assert check_integrity(["malformed"], None).fix == "restore a backup of your own"


def test_small_disk_is_a_finding() -> None:
    """There must be room for the database twice over, and some."""
    assert check_room(Path("data"), 10**9, 10**8).level is Level.OK
    assert check_room(Path("data"), 10**9, 5 * 10**8).level is Level.FINDING
    assert check_room(Path("data"), 10**9, None).message == "1.0 GB free"


@pytest.mark.parametrize(("mode", "fine"), [(0o100600, True), (0o100400, True), (0o100640, False), (0o100604, False)])
def test_key_that_others_can_read_is_a_finding(mode: int, fine: bool) -> None:
    """Any right of a group or of others on a key is told, with the command that takes it away."""
    found = check_private(Path("data/hmac_key"), mode)
    wanted = f"data/hmac_key can be read by others (mode {mode & 0o777:o})"
    told = None if found is None else (found.level, found.message, found.fix)
    assert told == (None if fine else (Level.FINDING, wanted, "chmod 600 data/hmac_key"))


def test_clock_of_the_past_is_a_finding() -> None:
    """A time before the program was written cannot be right."""
    assert check_clock(datetime(1970, 1, 1, tzinfo=UTC), None).level is Level.FINDING
