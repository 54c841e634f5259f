"""Learns `internal/language/discretion/weights.json` from the sentences of `examples/`; needs no profile of the set.

    python benchmarks/discretion_set/train.py

Logistic regressions on the vectors of the built-in embedder: one of messages (do they ask for words that others read?),
with the beginnings of words beside the vector, and one for each topic of what people tell of themselves.
"""

from __future__ import annotations

import itertools
import json
import random
import re
import runpy
from collections import defaultdict
from pathlib import Path

import numpy as np

from internal.language.discretion.meaning import STEM_WEIGHT, WEIGHTS, WORD_WEIGHT, script_of, stems_of
from internal.language.discretion.recipients import may_be_for_others
from internal.language.discretion.sensitivity import TOPICS, private_topics
from internal.language.worker.embedding import embed_passages, embed_queries

FOLDER = Path(__file__).with_name("examples")
TALKS = Path(__file__).parents[1] / "memory_set/conversations"
EVERYDAY = 1_500
"""Messages and questions of the memory set that are taken as such of everyday life."""
HELD_BACK = runpy.run_path(str(TALKS.parent / "score.py"))["HELD_BACK"]
LONGEST = 400
ORDERS = 120
"""Orders of each script that tell what all of them have in common."""
COPIES = 6
"""Fillings of each frame."""
REGULAR = {"order": 2.0, "topics": 3.0}
LEAST = 3
"""Frames and messages that hold a beginning of a word, or it is not learned."""


def lines_of(name):
    """The label and the text of each example."""
    rows = (FOLDER / name).read_text(encoding="utf-8").splitlines()
    return [row.split(" ", 1) for row in rows if row and not row.startswith("#")]


def filled():
    """The messages with their labels and the number of the line that each was made of."""
    rows = (row.split(": ", 1) for row in (FOLDER / "names.txt").read_text(encoding="utf-8").splitlines())
    names, turn = {name: words.split(" | ") for name, words in rows}, itertools.count(7, 7)

    def fill(found):
        words = names[found[1]]
        return words[next(turn) % len(words)]

    for group, (label, text) in enumerate(lines_of("orders.txt")):
        for copy in range(COPIES if "{" in text else 2):
            yield label, _as_typed(re.sub(r"\{(.*?)\}", fill, text), copy), group


def _as_typed(text, copy):
    """As people type in a hurry: every second without the mark at its end, every third in lower case."""
    text = text.rstrip(".!?") if copy % 2 else text
    return text.lower() if copy % 3 == 1 else text


def everyday():
    """What people write and ask in the open memory set, but for its part that is held back: for themselves."""
    found = []
    for path in sorted(TALKS.glob("*.json")):
        if path.name in HELD_BACK:
            continue
        talk = json.loads(path.read_text(encoding="utf-8"))
        found += [one["question"] for one in talk["qa"]]
        lines = [line for part in talk.values() if isinstance(part, list) for line in part]
        found += [line["text"][:LONGEST] for line in lines if line.get("text") and line.get("role") != "assistant"]
    # Among them are some orders for a text: those that the examples alone are sure of stay out.
    return [text for text in random.Random(7).sample(found, EVERYDAY) if not may_be_for_others(text) or "?" in text]


def fit(rows, labels, weights, regular):
    """The weights and the bias of a logistic regression, by Newton's method."""
    mean, scale = rows.mean(0), 10.0
    z = np.hstack([(rows - mean) * scale, np.ones((len(rows), 1))])
    ridge = np.diag([regular] * rows.shape[1] + [1e-6])
    beta = np.zeros(z.shape[1])
    for _ in range(30):
        p = 1 / (1 + np.exp(-z @ beta))
        hessian = (z * (weights * p * (1 - p))[:, None]).T @ z + ridge
        step = np.linalg.solve(hessian, z.T @ (weights * (p - labels)) + ridge @ beta)
        beta -= step
        if np.abs(step).max() < 1e-6:
            break
    found = beta[:-1] * scale
    return found, float(beta[-1] - mean @ found)


def stored(weights, bias):
    return {"vector": [round(float(one), 2) for one in weights], "bias": round(bias, 3)}


def usual_of(texts, embed):
    """What the vectors of texts have in common, for each script."""
    of = {script: [text for text in texts if script_of(text) == script] for script in ("latin", "other")}
    return {
        script: [round(float(one), 4) for one in np.vstack([embed([text]) for text in part]).mean(0)]
        for script, part in of.items()
    }


def some_orders():
    """Up to ORDERS orders of each script, each of a frame of its own."""
    frames = {group: text for label, text, group in reversed([*filled()]) if label == "o"}
    orders = list(reversed(frames.values()))
    random.Random(5).shuffle(orders)
    of = ([text for text in orders if script_of(text) == script] for script in ("latin", "other"))
    return [text for part in of for text in part[:ORDERS]]


def main():
    labels, texts, groups = map(list, zip(*filled(), strict=True))
    for number, text in enumerate(everyday()):
        labels.append("-")
        texts.append(text)
        groups.append(f"everyday {number}")
    of = defaultdict(set)
    for text, group in zip(texts, groups, strict=True):
        for stem in stems_of(text):
            of[stem].add(group)
    known = sorted(stem for stem, where in of.items() if len(where) >= LEAST)
    stems = np.array([[STEM_WEIGHT * (stem in stems_of(text)) for stem in known] for text in texts])
    rows = np.hstack([np.vstack([embed_queries([text]) for text in texts]), stems])
    weights = np.array([groups.count(group) ** -0.5 for group in groups])
    found, bias = fit(rows, np.array([label == "o" for label in labels], float), weights, REGULAR["order"])
    size = len(found) - len(known)
    order = stored(found[:size], bias) | {
        "stems": {stem: round(float(one), 2) for stem, one in zip(known, found[size:], strict=True)}
    }
    labels, texts = zip(*lines_of("private.txt"), strict=True)
    rows, same = np.vstack([embed_passages([text]) for text in texts]), np.ones(len(texts))
    topics = {}
    for topic in (*TOPICS, "any"):
        named = [
            WORD_WEIGHT * bool(private_topics(text) if topic == "any" else topic in private_topics(text))
            for text in texts
        ]
        right = np.array([label != "-" and (topic == "any" or topic[0] in label) for label in labels], float)
        found, bias = fit(np.column_stack([rows, named]), right, same, REGULAR["topics"])
        topics[topic] = stored(found[:-1], bias) | {"words": round(float(found[-1]) * WORD_WEIGHT, 2)}
    learnt = {"order": order, "topics": topics, "usual": usual_of(texts, embed_passages)}
    learnt["asked"] = usual_of(some_orders(), embed_queries)
    WEIGHTS.write_text(json.dumps(learnt, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    main()
