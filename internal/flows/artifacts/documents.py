"""Reads documents, each in a process of its own, so that a hostile file can only break that process."""

from typing import Final, cast

from internal.artifacts.extract import extract
from internal.artifacts.model import FileText, Reason, Received, UnreadableFile
from internal.config.media import MediaConfig
from internal.errors import ModelUnavailable
from internal.flows.artifacts.exports import SUFFIXES, export_format
from internal.language.worker.process_pool import LanguageCallFailed, LanguageWorker

KINDS: Final = frozenset({"document"})


class DocumentReader:
    """PDF, Office, e-books, web pages, text, code, contact cards and calendars."""

    kinds = KINDS

    def __init__(self, limits: MediaConfig) -> None:
        self._limits = limits

    async def read(self, received: Received) -> FileText:
        """The text of a document with its pages. Raises UnreadableFile."""
        process = LanguageWorker(call_timeout=self._limits.timeout.total_seconds())
        content, name = received.content, received.artifact.name
        try:
            if name.rpartition(".")[2].casefold() in SUFFIXES:
                format_ = await process.run(export_format, content, name)
                if format_ is not None:
                    return FileText([], export=format_)
            found = await process.run(extract, content, name, self._limits.max_pages)
        except (ModelUnavailable, LanguageCallFailed):  # it ended the process, or the library failed
            raise UnreadableFile("damaged") from None
        finally:
            await process.close()
        if found.reason is not None:
            raise UnreadableFile(cast(Reason, found.reason))
        cut = (found.pages or 0) > self._limits.max_pages
        return FileText(found.parts, found.pages, failed="long" if cut else None)
