"""The free space of the database's disk, read when `/metrics` is scraped."""

import os
from collections.abc import Iterable
from pathlib import Path

from prometheus_client.core import GaugeMetricFamily, Metric
from prometheus_client.registry import Collector


class Disk(Collector):
    """The disk under `database` and the database itself, in bytes. A missing file or folder is left out."""

    def __init__(self, database: Path) -> None:
        self._database = database

    def collect(self) -> Iterable[Metric]:
        written = sum(_size(self._database.with_name(self._database.name + suffix)) for suffix in ("", "-wal"))
        yield GaugeMetricFamily("laplaced_database_bytes", "Size of the database with its log of writes.", written)
        try:
            disk = os.statvfs(self._database.parent)
        except OSError:  # the page has its other figures without these two
            return
        free, size = disk.f_bavail * disk.f_frsize, disk.f_blocks * disk.f_frsize
        yield GaugeMetricFamily("laplaced_disk_free_bytes", "Room for the bot on the disk of the database.", free)
        yield GaugeMetricFamily("laplaced_disk_size_bytes", "Size of the disk of the database.", size)


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0
