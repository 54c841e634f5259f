"""Questions made ready for every search, with models up, down and absent."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime

import numpy as np
import pytest

from internal.agents.model import EnricherRequest, OwnerProfile, TranscriptLine
from internal.errors import ModelUnavailable
from internal.language.search.terms import Word, query_terms
from internal.llm.model import Vectors
from internal.recall.search.observer import NoObserver
from internal.recall.search.query import PRECEDING_WEIGHT, QuestionReader
from internal.testing.vectors import TrigramEmbedder

OWNER = OwnerProfile(1, "Оля", None, "ru", "Europe/Kyiv")
NOON = datetime(2026, 2, 7, 12, tzinfo=UTC)


class Degraded(NoObserver):
    def __init__(self) -> None:
        self.parts: list[str] = []

    def recall_degraded(self, reason: str) -> None:
        self.parts.append(reason)


class Broken(TrigramEmbedder):
    """An embedder that cannot be reached, or answers with what is no number."""

    def __init__(self, vectors: Vectors | None) -> None:
        super().__init__()
        self.vectors = vectors

    async def embed_queries(self, texts: Sequence[str], *, user_id: int | None = None) -> Vectors:
        if self.vectors is None:
            raise ModelUnavailable
        return self.vectors


class Failing:
    """An Enricher that cannot be reached."""

    async def standalone(self, request: EnricherRequest) -> str:
        raise ModelUnavailable


def lines(*texts: str) -> list[TranscriptLine]:
    """The owner's lines and, between brackets, the assistant's."""
    return [
        TranscriptLine(n, "assistant" if text.startswith("[") else "user", "", NOON, text.strip("[]"))
        for n, text in enumerate(texts, start=1)
    ]


async def words(text: str) -> Sequence[Word]:
    return query_terms(text)


def reader(embedder: TrigramEmbedder | None = None, observer: NoObserver | None = None) -> QuestionReader:
    return QuestionReader(embedder or TrigramEmbedder(), words, None, 1.0, observer or NoObserver())


async def test_a_question_that_stands_alone_is_searched_as_it_is() -> None:
    """What was said before it is left out."""
    asked = await reader().read(OWNER, "Где работает Петров?", lines("Вчера видела кота"))
    assert (asked.text, asked.preceding, asked.text_with_preceding) == (
        "Где работает Петров?",
        "",
        "Где работает Петров?",
    )
    assert asked.vector is not None
    assert not [word for word in asked.words if "кота" in dict(word)]


async def test_a_follow_up_brings_the_turn_before_it() -> None:
    """Its words and its vector at half their weight; the assistant's answer between them is not the owner's."""
    asked = await reader().read(OWNER, "а что он сказал потом?", lines("Вчера видела Петрова", "[Какого Петрова?]"))
    assert asked.preceding == "Вчера видела Петрова"
    weights = {term: weight for word in asked.words for term, weight in word}
    assert weights["сказать"] == 1.0
    assert weights["петрова"] == PRECEDING_WEIGHT
    alone, before = await TrigramEmbedder().embed_queries(["а что он сказал потом?", "Вчера видела Петрова"])
    assert asked.vector is not None
    assert float(asked.vector @ alone) > float(asked.vector @ before) > float(alone @ before)


async def test_several_follow_ups_lead_back_to_what_they_are_about() -> None:
    """To the latest turn that stands alone, at most three turns back."""
    recent = lines("Кот болеет", "Вчера видела Петрова в банке", "[И что?]", "а он?", "[Кто?]", "он")
    asked = await reader().read(OWNER, "а потом?", recent)
    assert asked.preceding == "Вчера видела Петрова в банке\nа он?\nон"
    assert (await reader().read(OWNER, "а потом?", lines("[Привет]"))).preceding == ""


async def test_a_model_that_fails_leaves_it_to_the_rules() -> None:
    """What it would have written is then the turn before."""
    watched = Degraded()
    reading = QuestionReader(TrigramEmbedder(), words, Failing(), 1.0, watched)
    assert (await reading.read(OWNER, "а потом?", lines("Вчера видела Петрова"))).preceding == "Вчера видела Петрова"
    assert watched.parts == ["enricher"]


@pytest.mark.parametrize("vectors", [None, np.zeros((1, 256), np.float32), np.full((1, 3), 1, np.float32)])
async def test_without_vectors_the_words_must_do(vectors: Vectors | None) -> None:
    """Whether nothing came back, or nothing that is of use."""
    watched = Degraded()
    asked = await reader(Broken(vectors), watched).read(OWNER, "Где работает Петров?", ())
    assert (asked.vector, watched.parts) == (None, ["embedder"])
    assert asked.words
