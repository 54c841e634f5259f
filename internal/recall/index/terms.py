"""Terms follow the texts as vectors do, and what recall asks of the language room about words."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping, Sequence
from typing import Final, Protocol

from sqlalchemy import Connection

from internal.errors import ModelUnavailable
from internal.language.search import terms as language
from internal.language.search.terms import ANALYZER, Word
from internal.language.worker.process_pool import LanguageCallFailed, LanguageWorker
from internal.recall.index import item_repository
from internal.recall.index.item_repository import DueText
from internal.storage import vectors
from internal.storage.database import Database

log = logging.getLogger(__name__)

BATCH: Final = 64
"""Texts of one call: 20 ms of the language process, in which no question can pass."""


_ANALYSED_AT_ONCE: Final = 200
"""Texts too new to have stored terms that a search analyses itself; more of them wait for the background."""

_ANALYSIS_TIMEOUT: Final = 3.0


class TermTools(Protocol):
    """Words over case and declension. Both calls may raise ModelUnavailable or LanguageCallFailed."""

    async def document_terms(self, texts: Sequence[str], *, urgent: bool = False) -> list[str]:
        """What each text is found by, as it is stored."""
        ...

    async def query_terms(self, text: str) -> list[Word]:
        """The words to look for."""
        ...


class WorkerTerms:
    """The term tools in the language process."""

    def __init__(self, worker: LanguageWorker) -> None:
        self._worker = worker

    async def document_terms(self, texts: Sequence[str], *, urgent: bool = False) -> list[str]:
        run = self._worker.run if urgent else self._worker.run_bulk
        return await run(language.document_terms, list(texts))

    async def query_terms(self, text: str) -> list[Word]:
        return await self._worker.run(language.query_terms, text)


async def analysed(tools: TermTools, waiting: Mapping[str, str]) -> dict[str, str]:
    """The terms of texts too new to have stored ones, by id: what was just written is found by its words.

    Of very many the newest; none if the language process cannot be asked: they wait for the background.
    """
    newest = dict(list(waiting.items())[-_ANALYSED_AT_ONCE:])
    try:
        async with asyncio.timeout(_ANALYSIS_TIMEOUT):
            found = await tools.document_terms(list(newest.values()), urgent=True)
    except (ModelUnavailable, LanguageCallFailed, TimeoutError) as error:
        log.warning("terms_missing", extra={"reason": type(error).__name__})
        return {}
    return dict(zip(newest, found, strict=True))


class TermsBackfill:
    """Analyses what is due until nothing is. What the language process cannot read now stays due."""

    def __init__(self, database: Database, tools: TermTools) -> None:
        self._database, self._tools = database, tools
        self._seen_change = ""
        self._checked = False

    async def follow_due(self) -> int:
        """Analyses every text that is due; how many. Costs one look at the change log when nothing happened since."""
        if not self._checked:
            await self._database.write(lambda connection: item_repository.foreign_terms(connection, ANALYZER))
            self._checked = True
        change = await self._database.read(vectors.last_change)
        if change == self._seen_change:
            return 0
        stored = 0
        while batch := await self._database.read(lambda c: item_repository.due_terms(c, limit=BATCH)):
            try:
                stored += await self._follow(batch)
            except (ModelUnavailable, LanguageCallFailed) as error:
                log.warning("terms_postponed", extra={"reason": type(error).__name__})
                return stored
        self._seen_change = change
        return stored

    async def _follow(self, batch: Sequence[DueText]) -> int:
        found = await self._tools.document_terms([one.text for one in batch])

        def store(connection: Connection) -> int:
            each = zip(batch, found, strict=True)
            return sum(item_repository.store_terms(connection, one, terms, ANALYZER) for one, terms in each)

        return await self._database.write(store)
