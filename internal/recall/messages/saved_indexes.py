"""Message indexes in files of the data folder, so that the first question after a start need not build them.

Nothing that was forgotten stays in them: what erases has the owner's file dropped, a process that learns of it later
drops its own, and files that a killed process left are compared with the change log at the next start. A file is only a
copy: what is not as the store says is dropped, and rebuilt.
"""

from __future__ import annotations

import contextlib
import logging
import os
import threading
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final
from zipfile import BadZipFile

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import Connection

from internal.language.search.terms import ANALYZER
from internal.recall.index.bm25 import to_bytes
from internal.recall.index.item_repository import VectorKind
from internal.recall.messages import repository
from internal.recall.messages.index import MessageIndex
from internal.recall.messages.message_rows import PASSAGE
from internal.storage.files.permissions import PRIVATE_FILE, PRIVATE_FOLDER

log = logging.getLogger(__name__)

FOLDER: Final = "recall"
_FORMAT: Final = 1
"""Counts up when an index is built or packed otherwise."""


class SavedIndexes:
    """The files of one process; used from several threads."""

    def __init__(self, data_dir: Path, vectors_of: VectorKind | None) -> None:
        self._folder = data_dir / FOLDER
        self._made = to_bytes([f"{_FORMAT} {PASSAGE} {ANALYZER} {vectors_of}"])
        self._forgotten: Counter[int] = Counter()
        self._lock = threading.Lock()

    def position(self, user_id: int) -> int:
        """How often something of this owner was forgotten, to be asked before the index is read that is saved."""
        return self._forgotten[user_id]

    def load(self, connection: Connection, user_id: int) -> MessageIndex | None:
        """The saved index, which the change log leads on from its `seq`; None if there is none that still holds."""
        path = self._path(user_id)
        arrays = _arrays(path)
        if arrays is None:
            return None
        try:
            position, change = int(arrays["seq"]), arrays["change"].tobytes().decode()
            if np.array_equal(arrays["made"], self._made) and repository.log_continues(
                connection, user_id, position, change
            ):
                return MessageIndex.unpacked(arrays)
        except (ValueError, KeyError):
            pass  # another version wrote it: it is built again
        path.unlink(missing_ok=True)
        return None

    def save(self, connection: Connection, user_id: int, index: MessageIndex, position: int) -> None:
        """Writes the file unless something was forgotten since `position`. Raises OSError."""
        change = repository.change_at(connection, user_id, index.seq)
        if change is None:
            return
        self._folder.mkdir(mode=PRIVATE_FOLDER, exist_ok=True)
        path = self._path(user_id)
        draft = path.with_suffix(f".{os.getpid()}")
        try:
            descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, PRIVATE_FILE)
            with os.fdopen(descriptor, "wb") as file:
                arrays: dict[str, Any] = {"made": self._made, "change": to_bytes([change]), **index.packed()}
                np.savez(file, **arrays)
            with self._lock:
                if self._forgotten[user_id] == position:
                    draft.replace(path)
        finally:
            draft.unlink(missing_ok=True)
        index.unsaved = 0

    def forget(self, user_id: int) -> None:
        with self._lock:
            self._forgotten[user_id] += 1
            self._path(user_id).unlink(missing_ok=True)

    def sweep(self, connection: Connection) -> None:
        """Drops what another process left: drafts, and files that hold what was forgotten since."""
        with contextlib.suppress(FileNotFoundError):
            for path in list(self._folder.iterdir()):
                if not path.name.endswith(".npz") or not path.stem.removeprefix("-").isdigit():
                    path.unlink(missing_ok=True)
                elif (arrays := _arrays(path, ("seq", "change"))) is not None:
                    position, change = int(arrays["seq"]), arrays["change"].tobytes().decode()
                    if not repository.log_continues(connection, int(path.stem), position, change):
                        path.unlink(missing_ok=True)

    def _path(self, user_id: int) -> Path:
        return self._folder / f"{user_id}.npz"


def _arrays(path: Path, names: Sequence[str] = ()) -> dict[str, NDArray[Any]] | None:
    """The arrays of a file, or those of these names; None if there is no such file, or it is damaged and now gone."""
    try:
        with path.open("rb") as file, np.load(file) as stored:
            return {name: stored[name] for name in names or stored.files}
    except FileNotFoundError:
        return None
    except (OSError, ValueError, KeyError, EOFError, BadZipFile) as error:
        log.warning("saved_index_unreadable", extra={"user_id": path.stem, "reason": type(error).__name__})
        path.unlink(missing_ok=True)
        return None
