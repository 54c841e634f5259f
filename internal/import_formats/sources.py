"""Where an export lies: a file, a folder or a zip archive, read in place. Nothing is ever unpacked to disk."""

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

MOST_FILES = 200_000
"""Files of one archive; ten years of a company's Slack have some 100,000."""

SUSPICIOUS_RATIO = 200
"""No export packs better than this; what does is made to fill a disk or a memory."""

SUSPICIOUS_SIZE = 16 << 20
"""Bytes from which the ratio is looked at: small files of blanks are harmless."""

Tell = Callable[[int], None]
"""Is told how many bytes were read."""


class Export(Protocol):
    """The files of one export. `name` is what the user calls it, `files` their paths inside it, with `/`."""

    @property
    def name(self) -> str: ...

    @property
    def files(self) -> Sequence[str]: ...

    def size(self, file: str) -> int:
        """Bytes of a file once unpacked."""
        ...

    def open(self, file: str) -> contextlib.AbstractContextManager[Reader]:
        """Raises Unreadable."""
        ...


class Reader:
    """Bytes of one file, each told to whoever shows the progress. Raises Unreadable."""

    def __init__(self, raw: IO[bytes], name: str, tell: Tell) -> None:
        self._raw, self.name, self._tell = raw, name, tell

    def read(self, size: int) -> bytes:
        try:
            data = self._raw.read(size)
        except (OSError, zipfile.BadZipFile, EOFError, zlib.error) as error:
            raise Unreadable(f"{self.name} cannot be read: {_reason(error)}") from None
        self._tell(len(data))
        return data

    def json(self) -> JsonStream:
        return JsonStream(self.read, self.name)


@dataclass(frozen=True, slots=True)
class SingleFile:
    path: Path
    tell: Tell

    @property
    def name(self) -> str:
        return str(self.path)

    @property
    def files(self) -> Sequence[str]:
        return (self.path.name,)

    def size(self, file: str) -> int:
        return self.path.stat().st_size

    @contextlib.contextmanager
    def open(self, file: str) -> Iterator[Reader]:
        with _opened(self.path) as raw:
            yield Reader(raw, self.name, self.tell)


class Folder:
    def __init__(self, path: Path, tell: Tell) -> None:
        self._path, self._tell = path, tell
        self.name = str(path)
        found = (file.relative_to(path).as_posix() for file in path.rglob("*") if file.is_file())
        self.files: Sequence[str] = sorted(found)

    def size(self, file: str) -> int:
        return (self._path / file).stat().st_size

    @contextlib.contextmanager
    def open(self, file: str) -> Iterator[Reader]:
        with _opened(self._path / file) as raw:
            yield Reader(raw, f"{self.name}/{file}", self._tell)


class Archive:
    """A zip archive; a folder that holds all of it is looked through."""

    def __init__(self, path: Path, tell: Tell) -> None:
        self.name, self._tell = str(path), tell
        try:
            self._zip = zipfile.ZipFile(path)
        except (OSError, zipfile.BadZipFile, NotImplementedError) as error:
            raise Unreadable(f"{path} is no zip archive that can be read: {_reason(error)}") from None
        self._infos = {info.filename: info for info in self._zip.infolist() if not info.is_dir()}
        for info in self._infos.values():
            self._refuse_hostile(info)
        if len(self._infos) > MOST_FILES:
            raise Unreadable(f"{path} holds more than {MOST_FILES} files")
        self._above = _common_folder(list(self._infos))
        self.files: Sequence[str] = sorted(file.removeprefix(self._above) for file in self._infos)

    def _refuse_hostile(self, info: zipfile.ZipInfo) -> None:
        place = PurePosixPath(info.filename.replace("\\", "/"))
        if place.is_absolute() or ".." in place.parts or ":" in place.parts[0]:
            raise Unreadable(f"{self.name} holds a file that wants out of it: {info.filename!r}")
        if info.file_size > SUSPICIOUS_SIZE and info.file_size > SUSPICIOUS_RATIO * max(info.compress_size, 1):
            raise Unreadable(f"{self.name} is a bomb: {info.filename!r} would become {info.file_size >> 20} MiB")

    def size(self, file: str) -> int:
        return self._infos[self._above + file].file_size

    @contextlib.contextmanager
    def open(self, file: str) -> Iterator[Reader]:
        name = f"{self.name}/{file}"
        try:
            raw = self._zip.open(self._infos[self._above + file])
        except (OSError, zipfile.BadZipFile, NotImplementedError, RuntimeError) as error:  # RuntimeError: a password
            raise Unreadable(f"{name} cannot be read: {_reason(error)}") from None
        with raw:
            yield Reader(raw, name, self._tell)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._zip.close()


@contextlib.contextmanager
def opened(path: Path, tell: Tell = lambda count: None) -> Iterator[Export]:
    """The export at that path. Raises Unreadable when there is none, it is empty, or a hostile archive."""
    if path.is_dir():
        yield Folder(path, tell)
        return
    with _opened(path) as raw:
        beginning = raw.read(4)
    if not beginning:
        raise Unreadable(f"{path} is empty")
    if beginning.startswith(b"PK"):
        with Archive(path, tell) as archive:
            yield archive
        return
    yield SingleFile(path, tell)


def _opened(path: Path) -> IO[bytes]:
    try:
        return path.open("rb")
    except OSError as error:
        raise Unreadable(f"cannot read {path}: {error.strerror}") from None


def _common_folder(files: Sequence[str]) -> str:
    """`export/` if everything lies in it, else nothing."""
    tops = {file.split("/", 1)[0] for file in files}
    inside = len(tops) == 1 and all("/" in file for file in files)
    return f"{tops.pop()}/" if inside else ""


def _reason(error: BaseException) -> str:
    return (error.strerror if isinstance(error, OSError) else None) or str(error) or type(error).__name__
