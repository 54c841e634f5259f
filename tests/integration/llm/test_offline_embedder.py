"""The offline embedder over its process."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Callable
from typing import Any

import numpy as np
import pytest

from internal.language.worker.process_pool import LanguageWorker
from internal.llm.model import Embedder
from internal.llm.offline.embedder import PASSAGE, OfflineEmbedder


@pytest.fixture
async def worker() -> AsyncIterator[LanguageWorker]:
    language = LanguageWorker()
    yield language
    await language.close()


@pytest.fixture
def embedder(worker: LanguageWorker) -> Embedder:
    return OfflineEmbedder(worker)


async def test_rows_are_unit_vectors_in_order(embedder: Embedder) -> None:
    """float32, one row a text, length 1, whatever the text holds; no text gives no rows."""
    texts = ["Пётр", "", "a\0b", "\ud800", "слово " * 300, "emoji 🙂", "Пётр"]
    rows = await embedder.embed_documents(texts)
    assert rows.shape == (len(texts), embedder.dimensions)
    assert rows.dtype == np.float32
    np.testing.assert_allclose(np.linalg.norm(rows, axis=1), 1, atol=1e-5)
    np.testing.assert_allclose(rows[0], rows[-1], atol=1e-6)
    assert (await embedder.embed_documents([])).shape == (0, embedder.dimensions)
    assert (await embedder.embed_queries([])).shape == (0, embedder.dimensions)


async def test_a_query_finds_its_document_across_languages(embedder: Embedder) -> None:
    """Meaning, not letters: a question in one language is nearest to its answer in another."""
    documents = await embedder.embed_documents(
        ["Мой стоматолог принимает по средам", "Колега любить каву", "My sister is a nurse"]
    )
    queries = await embedder.embed_queries(["my dentist", "коллега и кофе", "сестра-медсестра"])
    assert (queries @ documents.T).argmax(axis=1).tolist() == [0, 1, 2]


async def test_queries_and_documents_are_told_apart(embedder: Embedder) -> None:
    """The model's prefixes make two vectors of one text."""
    query, document = await embedder.embed_queries(["Пётр"]), await embedder.embed_documents(["Пётр"])
    assert not np.allclose(query, document, atol=1e-3)


class Recorded(LanguageWorker):
    """Notes the texts of each call."""

    def __init__(self) -> None:
        super().__init__()
        self.queries: list[list[str]] = []
        self.bulk: list[list[str]] = []

    async def run(self, function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        self.queries.append(args[0])
        return await super().run(function, *args, **kwargs)

    async def run_bulk(self, function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        self.bulk.append(args[0])
        return await super().run_bulk(function, *args, **kwargs)


async def test_a_long_text_goes_to_the_process_passage_by_passage() -> None:
    """A call has one passage: other owners' texts come between. Of a long query its beginning and its end count."""
    worker = Recorded()
    try:
        embedder = OfflineEmbedder(worker)
        story = " ".join(f"На {number}-й день мы поехали дальше." for number in range(58))
        [whole] = await embedder.embed_documents([story])
        [asked] = await embedder.embed_queries([f"{story} Куда мы поехали?"])
    finally:
        await worker.close()
    assert " ".join(text for texts in worker.bulk for text in texts) == story
    for texts in (*worker.bulk, *worker.queries):
        assert [len(text) <= PASSAGE for text in texts] == [True]
    assert len(worker.queries) == 3
    assert worker.queries[-1][0].endswith("Куда мы поехали?")
    assert whole @ asked > 0.8


async def test_a_letter_that_becomes_eighteen_does_not_kill_the_process(worker: LanguageWorker) -> None:
    """The library that embeds made no room for U+FDFA: a message of it ended the process, twice."""
    before = await worker.run(os.getpid)
    assert (await OfflineEmbedder(worker).embed_documents(["\ufdfa" * 20])).any()
    assert await worker.run(os.getpid) == before
