"""What the vectors of texts tell beside their words: for whom an order is, what a sentence touches, what is near.

The weights belong to multilingual-e5-small; `benchmarks/discretion_set/train.py` learns them from sentences, for
vectors alone and with those of inner layers behind them.
"""

import json
import re
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any, Final, Literal

import numpy as np

from internal.language.discretion.recipients import forms_of
from internal.language.discretion.sensitivity import TOPICS, Topic, private_topics
from internal.language.text.linear_model import Vector

Matter = Topic | Literal["any"]
_MATTERS: Final[tuple[Matter, ...]] = (*TOPICS, "any")

WIDTH: Final = 384
"""Components of the vector itself, behind which those of inner layers may stand."""
WEIGHTS: Final = Path(__file__).with_name("weights.json")
_TOUCHED: Final = -0.3
"""Log-odds from which a sentence touches a topic: the safe side of even."""
_SPREAD: Final = 0.125
"""The standard deviation of the cosines of an order with texts that have nothing to do with it, both centred."""


@cache
def _weights() -> dict[str, Any]:
    return dict(json.loads(WEIGHTS.read_text(encoding="utf-8")))


@cache
def _row(*path: str) -> Vector:
    found = _weights()
    for one in path:
        found = found[one]
    return np.array(found, np.float32)


def for_others(text: str, vector: Vector) -> float:
    """The log-odds that a message asks for words that somebody else will read; its vector is that of a query."""
    forms = _head(vector, "order")["forms"]
    return _odds(vector, "order") + float(sum(forms[one] for one in forms_of(text)))


def topic_odds(text: str, vector: Vector) -> dict[Matter, float]:
    """The log-odds that a sentence touches each topic, and any; its vector is that of a document."""
    words, found = private_topics(text), dict[Matter, float]()
    for topic in _MATTERS:
        named = bool(words) if topic == "any" else topic in words
        found[topic] = _odds(vector, "topics", topic) + _head(vector, "topics", topic)["words"] * named
    return found


def _odds(vector: Vector, *path: str) -> float:
    return float(vector @ _row(str(len(vector)), *path, "vector")) + float(_head(vector, *path)["bias"])


def _head(vector: Vector, *path: str) -> dict[str, Any]:
    found = _weights()[str(len(vector))]
    for one in path:
        found = found[one]
    return dict(found)


def touched(text: str, vector: Vector) -> frozenset[Topic]:
    """The topics that a sentence touches, by its words and by its vector, which is that of a document."""
    odds = topic_odds(text, vector)
    found = {topic for topic in TOPICS if odds[topic] > _TOUCHED} | (private_topics(text) & {"secret"})
    return frozenset(found or ({max(TOPICS, key=lambda one: odds[one])} if odds["any"] > _TOUCHED else found))


def nearness(order: str, vector: Vector, texts: Sequence[str], rows: Vector) -> Vector:
    """How near texts are to an order, in standard deviations of texts that have nothing to do with it.

    What all orders of a script have in common, and all texts, is taken away before: it says nothing of their matter.
    """
    asked = vector[:WIDTH] - _row("asked", script_of(order))
    besides = rows[:, :WIDTH] - np.array([_row("usual", script_of(one)) for one in texts])
    cosines = besides @ asked / (np.linalg.norm(besides, axis=1) * np.linalg.norm(asked))
    return np.asarray(cosines / _SPREAD, np.float32)


def meant_by(vector: Vector, rows: Vector) -> Vector:
    """How much more texts stand out beside an order by its last layer than by inner ones, which tell its wording.

    In standard deviations of these texts, less for few of them; nothing where there are no inner layers.
    """
    layers = rows.reshape(len(rows), -1, WIDTH)
    cosines = np.einsum("tlw,lw->tl", layers, vector.reshape(-1, WIDTH))
    stands_out = (cosines - cosines.mean(0)) / (cosines.std(0) + 1e-3)
    inner = stands_out[:, 1:3] if stands_out.shape[1] > 1 else stands_out
    return np.asarray((stands_out[:, 0] - inner.mean(1)) * (len(rows) - 1) / (len(rows) + 6), np.float32)


@cache
def usual() -> Vector:
    """What vectors of everyday talk have in common, whatever the script."""
    return np.asarray((_row("usual", "latin") + _row("usual", "other")) / np.float32(2), np.float32)


def script_of(text: str) -> str:
    return "other" if re.search("[а-яіїєґ]", text.casefold()) else "latin"
