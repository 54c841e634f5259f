"""Vectors in a folder: made once, told apart by kind and model, and whole after a cut."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from bot.evaluation.vector_cache import VectorCache
from internal.llm.model import Vectors
from internal.testing.vectors import TrigramEmbedder


class Counting(TrigramEmbedder):
    """Remembers what it was asked."""

    asked: list[str]

    async def embed_documents(self, texts: Sequence[str], *, user_id: int | None = None) -> Vectors:
        self.asked = [*getattr(self, "asked", []), *texts]
        return await super().embed_documents(texts, user_id=user_id)


async def test_a_text_is_embedded_once(tmp_path: Path) -> None:
    """By whoever opens the folder, in whatever order and however often it is asked."""
    plain, first, second = TrigramEmbedder(8), Counting(8), Counting(8)
    await VectorCache(first, tmp_path / "new").embed_documents(["one", "two", "one"])
    again = await VectorCache(second, tmp_path / "new").embed_documents(["two", "three", "one"])
    assert (first.asked, second.asked) == (["one", "two"], ["three"])
    assert np.array_equal(again, await plain.embed_documents(["two", "three", "one"]))


async def test_queries_and_other_models_have_their_own(tmp_path: Path) -> None:
    """A document's vector answers no query, and no other model's question."""
    await VectorCache(Counting(8), tmp_path).embed_queries(["one"])
    for other in (Counting(8), Counting(16), Counting(8, "other/model")):
        found = await VectorCache(other, tmp_path).embed_documents(["one"])
        assert (other.asked, found.shape) == (["one"], (1, other.dimensions))


async def test_a_record_that_was_cut_off_is_dropped(tmp_path: Path) -> None:
    """What a killed process left half written is made again, and what follows it stays readable."""
    await VectorCache(Counting(8), tmp_path).embed_documents(["one", "two"])
    file = tmp_path / "trigram-8.vectors"
    file.write_bytes(file.read_bytes()[:-5])
    after, last = Counting(8), Counting(8)
    await VectorCache(after, tmp_path).embed_documents(["one", "two", "three"])
    await VectorCache(last, tmp_path).embed_documents(["one", "two", "three", "four"])
    assert (after.asked, last.asked) == (["two", "three"], ["four"])


async def test_nothing_asked_is_nothing_told(tmp_path: Path) -> None:
    """No texts give a matrix of no rows."""
    assert (await VectorCache(Counting(8), tmp_path).embed_queries([])).shape == (0, 8)
