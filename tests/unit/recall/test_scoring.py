"""Channels made one score."""

import numpy as np
import pytest

from internal.recall.index.scoring import fuse, normalised, top

NOTHING = np.zeros(4, dtype=np.float32)
ALL = np.ones(4, dtype=np.bool_)


def array(*values: float) -> np.ndarray[tuple[int], np.dtype[np.float32]]:
    return np.array(values, dtype=np.float32)


def test_words_alone_can_win() -> None:
    """A text that holds the whole question stands above one that is only near in meaning."""
    cosines = array(0.90, 0.80, 0.79, 0.78)
    assert int(np.argmax(fuse(cosines, ALL, array(0, 0, 0, 1.0), NOTHING))) == 3


def test_meaning_alone_can_win() -> None:
    """A text that stands out by meaning is above one that shares a common word."""
    cosines = array(0.90, 0.80, 0.79, 0.78)
    assert int(np.argmax(fuse(cosines, ALL, array(0, 0, 0, 0.2), NOTHING))) == 0


def test_the_spread_of_a_model_does_not_matter() -> None:
    """Narrow cosines and wide ones of the same order give the same scores."""
    narrow = array(0.90, 0.80, 0.75, 0.70)
    wide = (narrow - 0.8) * 5 + 0.4
    words = array(0, 0.5, 0, 0)
    assert fuse(narrow, ALL, words, NOTHING) == pytest.approx(fuse(wide, ALL, words, NOTHING), abs=1e-4)


def test_what_has_no_vector_yet_is_neither_first_nor_last() -> None:
    """Until its vector comes, a row counts as an average one."""
    embedded = np.array([True, True, True, False])
    scores = fuse(array(0.9, 0.7, 0.8, 0.0), embedded, NOTHING, NOTHING)
    assert scores[1] < scores[3] < scores[0]
    assert scores[3] == 0


@pytest.mark.parametrize("cosines", [None, array(0, 0, 0, 0)])
def test_without_vectors_words_and_names_count(cosines: object) -> None:
    """No embedder, or no vector yet: the other channels rank."""
    nobody = np.zeros(4, dtype=np.bool_)
    scores = fuse(cosines, nobody, array(0, 0.9, 0, 0), array(0, 0, 1, 0))  # type: ignore[arg-type]
    assert np.argsort(-scores).tolist()[:2] == [1, 2]


def test_the_best_rows() -> None:
    """As many as asked, all if there are fewer, none for nothing."""
    assert set(top(array(1, 4, 3, 2), 2).tolist()) == {1, 2}
    assert len(top(array(1, 4), 9)) == 2
    assert len(top(array(1, 4), 0)) == 0


@pytest.mark.parametrize("bad", [array(1, 2), array(0, 0, 0), array(1, float("nan"), 0)])
def test_no_search_by_nonsense(bad: np.ndarray[tuple[int], np.dtype[np.float32]]) -> None:
    """A vector of another size, of zeros or not finite is refused."""
    with pytest.raises(ValueError):
        normalised(bad, 3)


def test_the_best_of_very_many_are_the_best_of_all() -> None:
    """Whether they stand in many blocks or all in one, or most scores are no numbers to speak of."""
    chance = np.random.default_rng(4)
    scores = chance.standard_normal(5_003).astype(np.float32)
    for _ in range(2):
        assert set(top(scores, 40)) == set(np.argsort(scores)[-40:])
        scores[640:700] += 9
    scores[:] = -np.inf
    scores[5_001] = 1
    assert 5_001 in top(scores, 40)
    assert len(top(scores, 40)) == 40
