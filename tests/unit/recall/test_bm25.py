"""BM25 against the formula written out, while documents come and go."""

from __future__ import annotations

import math

import pytest
from hypothesis import given, strategies as st

from internal.language.search.terms import Word
from internal.recall.index.bm25 import K1, B, LexicalIndex

_TERMS = "abcdef"
_WORDS = st.lists(st.sampled_from(_TERMS), min_size=1, max_size=3, unique=True).map("|".join)
_DOCUMENTS = st.lists(_WORDS, max_size=6).map(" ".join)
_QUERIES = st.lists(
    st.lists(
        st.tuples(st.sampled_from([*_TERMS, "unheard"]), st.sampled_from([1.0, 0.8, 0.6])),
        min_size=1,
        max_size=3,
        unique_by=lambda pair: pair[0],
    ).map(tuple),
    min_size=1,
    max_size=4,
)
_STEPS = st.lists(
    st.tuples(st.sampled_from(["put", "put", "drop", "compact"]), _DOCUMENTS, st.integers(0, 50)), max_size=40
)


def expected(documents: dict[int, str], query: list[Word]) -> dict[int, float]:
    """The formula, document by document."""
    texts = {doc: [word.split("|") for word in stored.split()] for doc, stored in documents.items()}
    mean = max(sum(map(len, texts.values())) / len(texts), 1e-9)
    scores, whole = dict.fromkeys(texts, 0.0), 0.0
    for word in query:
        best = {doc: max(_worth(term, weight, text, mean) for term, weight in word) for doc, text in texts.items()}
        having = sum(value > 0 for value in best.values())
        idf = math.log(1 + (len(texts) - having + 0.5) / (having + 0.5))
        whole += idf
        scores = {doc: scores[doc] + idf * best[doc] for doc in scores}
    return {doc: score / whole for doc, score in scores.items()}


def _worth(term: str, weight: float, text: list[list[str]], mean: float) -> float:
    count = sum(term in word for word in text)
    return weight * count * (K1 + 1) / (count + K1 * (1 - B + B * len(text) / mean))


@given(st.lists(_DOCUMENTS, max_size=8), _STEPS, _QUERIES)
def test_scores_are_those_of_the_formula(
    first: list[str], steps: list[tuple[str, str, int]], query: list[Word]
) -> None:
    """Built at once, added to, dropped from and compacted: always the scores of what is there."""
    index = LexicalIndex.of(first)
    documents = dict(enumerate(first))
    for step, stored, number in steps:
        if step == "put":
            documents[index.put(stored)] = stored
        elif step == "drop" and documents:
            doc = sorted(documents)[number % len(documents)]
            index.drop(doc)
            del documents[doc]
        elif step == "compact":
            renumbered = index.compact()
            documents = {int(renumbered[doc]): stored for doc, stored in documents.items()}
    scores = index.scores(query)
    assert len(index) == len(documents)
    wanted = expected(documents, query) if documents else {}
    assert all(score == pytest.approx(wanted.get(doc, 0.0), abs=1e-5) for doc, score in enumerate(scores.tolist()))


def test_a_whole_match_scores_about_one() -> None:
    """So that a share of a question means the same in every collection."""
    index = LexicalIndex.of(["кот рыжий", "собака белый", "кот белый"])
    cat: Word = (("кот", 1.0),)
    red: Word = (("рыжий", 1.0),)
    assert index.scores([cat, red]).tolist()[0] == pytest.approx(1.0, abs=0.05)
    assert index.scores([cat, (("слон", 1.0),)]).tolist()[0] < 0.5


def test_a_rare_form_is_worth_no_more_than_the_word() -> None:
    """Alternatives are one term: being the only one to have a form says nothing about the word's rarity."""
    index = LexicalIndex.of(["петровым|петров", *["петров"] * 9])
    scores = index.scores([(("петровым", 1.0), ("петров", 1.0))]).tolist()
    assert scores[0] == pytest.approx(scores[1])


def test_what_is_dropped_leaves_the_vocabulary() -> None:
    """Once it is rebuilt, no word of what was forgotten is left in memory."""
    index = LexicalIndex.of(["тайна", *["слово"] * 20])
    index.drop(0)
    index.compact()
    assert list(index._vocabulary) == ["слово"]


def test_waste_is_told() -> None:
    """Neither dead documents nor fresh lists pile up unseen."""
    index = LexicalIndex.of(["слово"] * 100)
    assert not index.needs_compaction
    for doc in range(30):
        index.drop(doc)
    assert index.needs_compaction
    index.compact()
    assert not index.needs_compaction
    assert len(index) == index.size == 70
    assert index.nbytes > 0
