"""Keeps the stored terms of texts up to date, and calls the language process for terms."""

import asyncio
import logging
from collections.abc import Mapping, Sequence
from typing import Final, Protocol

from sqlalchemy import Connection

from internal.errors import ModelUnavailable
from internal.language.search import terms as language
from internal.language.search.terms import ANALYZER, Word
from internal.language.search.transliteration import read_latin
from internal.language.text.passages import batches
from internal.language.worker.process_pool import LanguageCallFailed, LanguageWorker
from internal.recall.index import item_repository
from internal.recall.index.dictionaries import Dictionaries
from internal.recall.index.item_repository import DueText
from internal.storage import vectors
from internal.storage.change_log import changes_together
from internal.storage.database import Database

log = logging.getLogger(__name__)

BATCH: Final = 64
"""Texts stored at once."""

_CHARACTERS: Final = 8_000
"""Characters of one call, unless a text has more; then it is another owner's turn."""

_ANALYSED_AT_ONCE: Final = 200
"""Most texts without stored terms that a search analyses itself; the others wait for the background job."""

_ANALYSIS_TIMEOUT: Final = 3.0


class TermTools(Protocol):
    """Terms of texts in dictionary form. All calls may raise ModelUnavailable or LanguageCallFailed."""

    async def document_terms(self, texts: Sequence[str], *, urgent: bool = False) -> list[str]:
        """The terms of each text, as they are stored."""

    async def query_terms(self, text: str) -> list[Word]:
        """The words to search for."""

    async def in_cyrillic(self, text: str) -> str:
        """The text in Cyrillic letters if it is Russian or Ukrainian in Latin ones; else as it is."""


class WorkerTerms:
    """The term tools of the language process."""

    def __init__(self, worker: LanguageWorker, dictionaries: Dictionaries | None = None) -> None:
        """With `dictionaries`, translations of the words of a question are searched for too."""
        self._worker, self._dictionaries = worker, dictionaries

    async def document_terms(self, texts: Sequence[str], *, urgent: bool = False) -> list[str]:
        run = self._worker.run if urgent else self._worker.run_bulk
        parts = [await run(language.document_terms, part) for part in batches(texts, _CHARACTERS)]
        return [terms for part in parts for terms in part]

    async def query_terms(self, text: str) -> list[Word]:
        translations = self._dictionaries.path if self._dictionaries is not None else ""
        return await self._worker.run(language.query_terms, text, translations)

    async def in_cyrillic(self, text: str) -> str:
        return await self._worker.run(read_latin, text)


async def analyse_new(tools: TermTools, texts: Mapping[str, str]) -> dict[str, str]:
    """The terms by id of texts that have no stored ones yet, so that new texts are found at once.

    Only the newest are analysed if there are many; returns nothing if the language process fails.
    """
    newest = dict(list(texts.items())[-_ANALYSED_AT_ONCE:])
    try:
        async with asyncio.timeout(_ANALYSIS_TIMEOUT):
            terms = await tools.document_terms(list(newest.values()), urgent=True)
    except (ModelUnavailable, LanguageCallFailed, TimeoutError) as error:
        log.warning("terms_missing", extra={"reason": type(error).__name__})
        return {}
    return dict(zip(newest, terms, strict=True))


class TermsBackfill:
    """Analyses everything that is due. Texts that the language process cannot read now stay due."""

    def __init__(self, database: Database, tools: TermTools) -> None:
        self._database, self._tools = database, tools
        self._seen_change = ""
        self._checked = False

    async def analyse_due(self) -> int:
        """Analyses all due texts and returns their number. Costs one read of the change log if nothing changed."""
        if not self._checked:
            await self._database.write(lambda connection: item_repository.mark_foreign_terms_due(connection, ANALYZER))
            self._checked = True
        change = await self._database.read(vectors.last_change)
        if change == self._seen_change:
            return 0
        stored = 0
        while batch := await self._database.read(lambda c: item_repository.due_terms(c, limit=BATCH)):
            try:
                stored += await self._analyse(batch)
            except (ModelUnavailable, LanguageCallFailed) as error:
                log.warning("terms_postponed", extra={"reason": type(error).__name__})
                return stored
        self._seen_change = change
        return stored

    async def _analyse(self, batch: Sequence[DueText]) -> int:
        all_terms = await self._tools.document_terms([due.text for due in batch])

        def store(connection: Connection) -> int:
            each = zip(batch, all_terms, strict=True)
            return sum(item_repository.store_terms(connection, due, terms, ANALYZER) for due, terms in each)

        return await self._database.write(changes_together(store))
