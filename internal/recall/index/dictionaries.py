"""The bilingual dictionaries installed on this machine, as a file of translations in the data folder."""

import logging
from hashlib import sha256
from pathlib import Path
from typing import Final

from internal.errors import ModelUnavailable
from internal.language.search import translations
from internal.language.worker.process_pool import LanguageCallFailed, LanguageWorker
from internal.storage.files.permissions import PRIVATE_FOLDER

log = logging.getLogger(__name__)

INSTALL: Final = "apt install mueller7-dict apertium-rus-ukr"

_FILE: Final = "translations-{}.words"
_MAKING_TIMEOUT: Final = 600.0
"""Seconds; making the file takes 17 s of one processor."""


class Dictionaries:
    """Keeps the file as the dictionaries are. `path` is where it is, empty while there is none."""

    def __init__(self, folder: str, data_dir: Path) -> None:
        """`folder` is where the dictionaries are installed; empty: none is used."""
        self._folder, self._data_dir, self._damaged = folder, data_dir, ""
        self.path = ""

    async def make_due(self) -> None:
        """Makes the file if it is missing or the dictionaries changed, in a process of its own that ends with it."""
        found = [source.stat() for source in installed(self._folder)]
        state = repr((translations.VERSION, [(source.st_size, source.st_mtime_ns) for source in found]))
        if not found or state == self._damaged:
            self.path = ""
            return
        target = self._data_dir / _FILE.format(sha256(state.encode()).hexdigest()[:16])
        if not target.exists():
            target.parent.mkdir(mode=PRIVATE_FOLDER, parents=True, exist_ok=True)
            process = LanguageWorker(call_timeout=_MAKING_TIMEOUT)
            try:
                words = await process.run(translations.make, Path(self._folder), target)
                log.info("translations_made", extra={"words": words})
            except (ModelUnavailable, LanguageCallFailed) as error:
                log.warning("dictionaries_unreadable", extra={"folder": self._folder, "reason": str(error)})
                self._damaged, self.path = state, ""
                return
            finally:
                await process.close()
        for old in set(self._data_dir.glob(_FILE.format("*"))) - {target}:
            old.unlink(missing_ok=True)
        self.path = str(target.resolve())


def installed(folder: str) -> list[Path]:
    """The files of the dictionaries that are there."""
    return [path for source in translations.SOURCES if folder and (path := Path(folder) / source).exists()]
