"""The disk of the database on the page of metrics."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from internal.config.settings import MetricsConfig
from internal.telemetry.disk import Disk
from internal.telemetry.metrics import Metrics
from internal.telemetry.repository import StoredGauges


def figures(database: Path) -> dict[str, float]:
    return {family.name: family.samples[0].value for family in Disk(database).collect()}


def test_database_and_its_log_of_writes_are_added_up(tmp_path: Path) -> None:
    """What a copy of the database would need is the file and the log beside it; other files do not count."""
    for name, size in (("laplaced.db", 1000), ("laplaced.db-wal", 234), ("laplaced.db-shm", 50), ("other.db", 7)):
        (tmp_path / name).write_bytes(bytes(size))
    assert figures(tmp_path / "laplaced.db")["laplaced_database_bytes"] == 1234


def test_room_is_that_of_the_disk_under_the_database(tmp_path: Path) -> None:
    """Free room and size are the operating system's own figures, give or take what others write meanwhile."""
    found, known = figures(tmp_path / "laplaced.db"), shutil.disk_usage(tmp_path)
    assert found["laplaced_disk_size_bytes"] == known.total
    assert found["laplaced_disk_free_bytes"] == pytest.approx(known.free, abs=2**28)


def test_a_folder_that_is_gone_does_not_take_the_page_with_it(tmp_path: Path) -> None:
    """An unmounted disk leaves out its two figures; everything else can still be scraped."""
    database = tmp_path / "unmounted" / "laplaced.db"
    assert figures(database) == {"laplaced_database_bytes": 0}
    page = Metrics(MetricsConfig(), "key", database).exposition(StoredGauges([], [], 0, 0, 0, 0, None)).decode()
    assert "laplaced_inbox_depth 0.0" in page
    assert "laplaced_disk" not in page
