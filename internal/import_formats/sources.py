"""Opens an export: a file, a folder or a zip archive, read in place. Nothing is unpacked to disk."""

from __future__ import annotations

import contextlib
import zipfile
import zlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from types import TracebackType
from typing import IO, Protocol, Self

from internal.import_formats.json_stream import JsonStream
from internal.import_formats.model import Unreadable

MAX_FILES = 200_000
"""Most files of one archive; ten years of a company's Slack have some 100,000."""

SUSPICIOUS_RATIO = 200
"""The compression ratio from which an archive is refused: no real export compresses better."""

SUSPICIOUS_SIZE = 16 << 20
"""Bytes from which the ratio is checked: small files of blanks are harmless."""

ReportBytes = Callable[[int], None]
"""Called with the number of bytes read."""


class ExportFiles(Protocol):
    """The files of one export. `name` is its path as the user gave it, `files` the paths inside it, with `/`."""

    @property
    def name(self) -> str: ...

    @property
    def files(self) -> Sequence[str]: ...

    def size(self, file: str) -> int:
        """The uncompressed size of a file in bytes."""

    def open(self, file: str) -> contextlib.AbstractContextManager[CountingReader]:
        """Opens a file. Raises Unreadable."""


class CountingReader:
    """Reads the bytes of one file and reports their number for the progress bar. Raises Unreadable."""

    def __init__(self, raw: IO[bytes], name: str, report_bytes: ReportBytes) -> None:
        self._raw, self.name, self._report_bytes = raw, name, report_bytes

    def read(self, size: int) -> bytes:
        try:
            data = self._raw.read(size)
        except (OSError, zipfile.BadZipFile, EOFError, zlib.error) as error:
            raise Unreadable(f"{self.name} cannot be read: {_reason(error)}") from None
        self._report_bytes(len(data))
        return data

    def json(self) -> JsonStream:
        return JsonStream(self.read, self.name)


@dataclass(frozen=True, slots=True)
class SingleFile:
    path: Path
    report_bytes: ReportBytes

    @property
    def name(self) -> str:
        return str(self.path)

    @property
    def files(self) -> Sequence[str]:
        return (self.path.name,)

    def size(self, file: str) -> int:
        return self.path.stat().st_size

    @contextlib.contextmanager
    def open(self, file: str) -> Iterator[CountingReader]:
        with _open_file(self.path) as raw:
            yield CountingReader(raw, self.name, self.report_bytes)


class Folder:
    def __init__(self, path: Path, report_bytes: ReportBytes) -> None:
        self._path, self._report_bytes = path, report_bytes
        self.name = str(path)
        paths = (file.relative_to(path).as_posix() for file in path.rglob("*") if file.is_file())
        self.files: Sequence[str] = sorted(paths)

    def size(self, file: str) -> int:
        return (self._path / file).stat().st_size

    @contextlib.contextmanager
    def open(self, file: str) -> Iterator[CountingReader]:
        with _open_file(self._path / file) as raw:
            yield CountingReader(raw, f"{self.name}/{file}", self._report_bytes)


class Archive:
    """A zip archive; a top folder of all files is left out of their paths."""

    def __init__(self, path: Path, report_bytes: ReportBytes) -> None:
        self.name, self._report_bytes = str(path), report_bytes
        try:
            self._zip = zipfile.ZipFile(path)
        except (OSError, zipfile.BadZipFile, NotImplementedError) as error:
            raise Unreadable(f"{path} is no zip archive that can be read: {_reason(error)}") from None
        self._infos = {info.filename: info for info in self._zip.infolist() if not info.is_dir()}
        for info in self._infos.values():
            self._refuse_hostile(info)
        if len(self._infos) > MAX_FILES:
            raise Unreadable(f"{path} holds more than {MAX_FILES} files")
        self._top_folder = _common_folder(list(self._infos))
        self.files: Sequence[str] = sorted(file.removeprefix(self._top_folder) for file in self._infos)

    def _refuse_hostile(self, info: zipfile.ZipInfo) -> None:
        path = PurePosixPath(info.filename.replace("\\", "/"))
        if path.is_absolute() or ".." in path.parts or ":" in path.parts[0]:
            raise Unreadable(f"{self.name} holds a file that wants out of it: {info.filename!r}")
        if info.file_size > SUSPICIOUS_SIZE and info.file_size > SUSPICIOUS_RATIO * max(info.compress_size, 1):
            raise Unreadable(f"{self.name} is a bomb: {info.filename!r} would become {info.file_size >> 20} MiB")

    def size(self, file: str) -> int:
        return self._infos[self._top_folder + file].file_size

    @contextlib.contextmanager
    def open(self, file: str) -> Iterator[CountingReader]:
        name = f"{self.name}/{file}"
        try:
            raw = self._zip.open(self._infos[self._top_folder + file])
        except (OSError, zipfile.BadZipFile, NotImplementedError, RuntimeError) as error:  # RuntimeError: a password
            raise Unreadable(f"{name} cannot be read: {_reason(error)}") from None
        with raw:
            yield CountingReader(raw, name, self._report_bytes)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._zip.close()


@contextlib.contextmanager
def open_export(path: Path, report_bytes: ReportBytes = lambda count: None) -> Iterator[ExportFiles]:
    """Opens the export at that path. Raises Unreadable if there is none, it is empty, or a hostile archive."""
    if path.is_dir():
        yield Folder(path, report_bytes)
        return
    with _open_file(path) as raw:
        beginning = raw.read(4)
    if not beginning:
        raise Unreadable(f"{path} is empty")
    if beginning.startswith(b"PK"):
        with Archive(path, report_bytes) as archive:
            yield archive
        return
    yield SingleFile(path, report_bytes)


def _open_file(path: Path) -> IO[bytes]:
    try:
        return path.open("rb")
    except OSError as error:
        raise Unreadable(f"cannot read {path}: {error.strerror}") from None


def _common_folder(files: Sequence[str]) -> str:
    """`export/` if all files are in it, else ""."""
    tops = {file.split("/", 1)[0] for file in files}
    all_inside = len(tops) == 1 and all("/" in file for file in files)
    return f"{tops.pop()}/" if all_inside else ""


def _reason(error: BaseException) -> str:
    return (error.strerror if isinstance(error, OSError) else None) or str(error) or type(error).__name__
