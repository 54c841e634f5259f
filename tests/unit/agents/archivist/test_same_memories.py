"""How well memories told in other words are known again: by form without a model, by vectors with the offline one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

import numpy as np
import pytest
import yaml
from numpy.typing import NDArray
from support.paths import DATA

from internal.agents.archivist.reply.memory_matcher import MemoryMatcher, NearNode
from internal.errors import ModelUnavailable
from internal.language.search import word_match
from internal.language.worker.embedding import embed_passages
from internal.language.worker.process_pool import LanguageWorker
from internal.llm.model import Vectors
from internal.memory.model import Likeness, RefKey

SET = DATA / "same_memories.yaml"
LABELS = {"sentence": "Goal", "name": "Concept"}


@cache
def pairs() -> tuple[dict[str, Any], ...]:
    return tuple(yaml.safe_load(SET.read_text(encoding="utf-8")))


class Here(LanguageWorker):
    """The language process without a process."""

    async def run_bulk(self, function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        return function(*args, **kwargs)


class Away(LanguageWorker):
    """A language process that has died."""

    async def run_bulk(self, function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        raise ModelUnavailable("away")


class E5:
    """The offline model in this very process; a text is embedded once."""

    name, dimensions, people_threshold = "e5", 384, 0.8

    def __init__(self) -> None:
        self._vectors: dict[str, NDArray[np.float32]] = {}

    async def embed_queries(self, texts: Sequence[str], *, user_id: int | None = None) -> Vectors:
        return await self.embed_documents(texts)

    async def embed_documents(self, texts: Sequence[str], *, user_id: int | None = None) -> Vectors:
        missing = [text for text in dict.fromkeys(texts) if text not in self._vectors]
        self._vectors |= dict(zip(missing, embed_passages(missing), strict=True)) if missing else {}
        return np.stack([self._vectors[text] for text in texts])


OFFLINE = E5()


@cache
def here() -> MemoryMatcher:
    return MemoryMatcher(Here(), OFFLINE)


def key(row: dict[str, Any]) -> RefKey:
    return RefKey(LABELS[row["kind"]], row["one"])


def ids(rows: Sequence[dict[str, Any]]) -> list[str]:
    return [f"{row['one']} | {row['other']}"[:60] for row in rows]


IN_FORM = [row for row in pairs() if row.get("form")]
DIFFERENT = [row for row in pairs() if not row["same"]]


@pytest.mark.parametrize("row", IN_FORM, ids=ids(IN_FORM))
async def test_what_differs_in_form_alone_is_one(row: dict[str, Any]) -> None:
    """Case, number, person, order of words, alphabet, and what a goal or decision is put in."""
    resolver = here()
    found = await resolver.same_in_form([key(row)], {key(row).label: [("node", row["other"])]})
    assert [one.node_id for one in found[key(row)]] == ["node"]


async def test_different_things_are_never_one() -> None:
    """Neither by form nor by vectors: two goals made one are worse than one goal told twice."""
    resolver = here()
    for row in DIFFERENT:
        assert await resolver.same_in_form([key(row)], {key(row).label: [("node", row["other"])]}) == {}, row
    near = {key(row): [NearNode("node", row["other"], 0.9)] for row in DIFFERENT}
    assert await resolver.same_in_meaning(near, None) == {}


async def test_some_of_what_is_told_in_other_words_is_known_again() -> None:
    """The small offline model stands behind a third of it; it is asked for precision, not for more."""
    resolver = here()
    rows = [row for row in pairs() if row["same"] and not row.get("form")]
    found = set(await resolver.same_in_meaning({key(row): [NearNode("node", row["other"], 0.9)] for row in rows}, None))
    for row in rows:
        found |= set(await resolver.same_in_form([key(row)], {key(row).label: [("node", row["other"])]}))
    assert len(found) >= len(rows) / 3


async def test_keys_of_one_reply_are_compared_with_one_another() -> None:
    """The later form means the earlier one; other labels have words of their own."""
    resolver = here()
    first, second, other = RefKey("Goal", "Выучить испанский"), RefKey("Goal", "хочу выучить испанский"), "испанский"
    keys = [first, RefKey("Question", "Выучить испанский"), second, RefKey("Concept", other)]
    assert await resolver.forms(keys) == {second: first}


async def test_related_memories_are_told_with_how_near_they_are() -> None:
    """From 0, where different memories begin, to 1 for the same words; only of memories."""
    resolver = here()
    memory, goal = RefKey("Memory", "x"), RefKey("Goal", "x")
    near = [NearNode("same", "x", 1.0), NearNode("close", "y", 0.95), NearNode("far", "z", 0.7)]
    found = await resolver.related({memory: near, goal: near}, None)
    assert [one.node_id for one in found[memory]] == ["same", "close"]
    assert found[memory][0] == Likeness("same", "vector", 1.0)
    assert 0 < (found[memory][1].cosine or 0) < 1
    assert goal not in found


async def test_without_the_language_process_nothing_is_called_the_same() -> None:
    """And nothing fails: what is not known again is kept twice, which a person can mend."""
    resolver = MemoryMatcher(Away(), OFFLINE)
    one = RefKey("Goal", "Выучить испанский")
    assert await resolver.same_in_form([one], {"Goal": [("node", one.words)]}) == {}
    assert await resolver.same_in_meaning({one: [NearNode("node", one.words, 1.0)]}, None) == {}


@pytest.mark.parametrize(
    ("one", "other"),
    [("кава з молоком", "кава без молока"), ("HTTP/1", "HTTP/2"), ("C", "C#"), ("", "")],
)
def test_telling_words_keep_apart(one: str, other: str) -> None:
    """And nothing is the same as nothing."""
    assert word_match.match_reason(one, other, names=True) is None
    assert word_match.match_reason(one, other, names=False) is None
