"""Learns `internal/language/discretion/weights.json` from the sentences of `examples/`; needs no profile of the set.

    python benchmarks/discretion_set/train.py

Logistic regressions on the vectors of the built-in embedder with those of its inner layers: one of messages (do they
ask for words that others read?) and one for each topic of what people tell of themselves. The same once more on the
vectors alone, for where another engine computes them.
"""

from __future__ import annotations

import itertools
import json
import random
import re
import runpy
from pathlib import Path

import numpy as np

from internal.language.discretion.meaning import WEIGHTS, script_of
from internal.language.discretion.recipients import forms_of, may_be_for_others
from internal.language.discretion.sensitivity import TOPICS, private_topics
from internal.language.worker.embedding import DIMENSIONS, passage_states, query_states

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
REGULAR = {"order": 200.0, "topics": 300.0}
FORMS = ("verb", "genre", "ordered", "to_owner", "role", "asks", "say")
WORD_WEIGHT, FORM_WEIGHT = 3.0, 5.0
"""How much words that name a topic, or tell a reader, count beside a vector."""
VECTORS = 0.2
"""The components of unit vectors spread less, and are made to spread alike; words keep their weight."""
TYPED = 3.0
"""How much a message counts that an author wrote as people type; one of everyday life counts once."""


def lines_of(name):
    """The label and the text of each example."""
    rows = (FOLDER / name).read_text(encoding="utf-8").splitlines()
    return [row.split(" ", 1) for row in rows if row and not row.startswith("#")]


def typed(kind):
    """The label and the text of each example of the files of other authors."""
    return [line for path in sorted(FOLDER.glob(f"{kind}_*.txt")) for line in lines_of(path.name)]


def filled():
    """The messages with their labels, the number of the line that each was made of, and what it counts."""
    rows = (row.split(": ", 1) for row in (FOLDER / "names.txt").read_text(encoding="utf-8").splitlines())
    names, turn = {name: words.split(" | ") for name, words in rows}, itertools.count(7, 7)

    def fill(found):
        words = names[found[1]]
        return words[next(turn) % len(words)]

    for group, (label, text) in enumerate(lines_of("orders.txt")):
        copies = COPIES if "{" in text else 2
        for copy in range(copies):
            yield label, _as_typed(re.sub(r"\{(.*?)\}", fill, text), copy), group, copies**-0.5


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
    mean, spread = rows.mean(0), rows.std(0)
    scale = np.where(spread < VECTORS, 1 / spread, 1)
    z = np.hstack([(rows - mean) * scale, np.ones((len(rows), 1))])
    ridge = np.array([regular] * rows.shape[1] + [1e-6])
    beta = np.zeros(z.shape[1])
    for _ in range(30):
        p = 1 / (1 + np.exp(-z @ beta))
        hessian = (z * (weights * p * (1 - p))[:, None]).T @ z + np.diag(ridge)
        step = np.linalg.solve(hessian, z.T @ (weights * (p - labels)) + ridge * beta)
        beta -= step
        if np.abs(step).max() < 1e-4:
            break
    found = beta[:-1] * scale
    return found, float(beta[-1] - mean @ found)


def stored(weights, bias):
    return {"vector": [round(float(one), 2) for one in weights], "bias": round(bias, 3)}


def usual_of(texts, embed):
    """What the vectors of texts have in common, for each script."""
    of = {script: [text for text in texts if script_of(text) == script] for script in ("latin", "other")}
    return {
        script: [round(float(one), 4) for one in np.vstack([embed([text]) for text in part]).mean(0)[:DIMENSIONS]]
        for script, part in of.items()
    }


def some_orders():
    """Up to ORDERS orders of each script, each of a frame of its own."""
    frames = {group: text for label, text, group, _ in reversed([*filled()]) if label == "o"}
    orders = list(reversed(frames.values()))
    random.Random(5).shuffle(orders)
    of = ([text for text in orders if script_of(text) == script] for script in ("latin", "other"))
    return [text for part in of for text in part[:ORDERS]]


def main():
    messages = [(label == "o", text, weight) for label, text, _, weight in filled()]
    messages += [(label == "o", text, TYPED) for label, text in typed("orders")]
    messages += [(False, text, 1.0) for text in everyday()]
    labels, texts = zip(*lines_of("private.txt"), *typed("private"), strict=True)
    messages += [(False, text, 1.0) for text in texts]  # what people tell orders nothing
    ordered, asked, weights = zip(*messages, strict=True)
    asked_rows = np.vstack([query_states([text]) for text in asked])
    forms = FORM_WEIGHT * np.array([[form in forms_of(text) for form in FORMS] for text in asked])
    rows, same = np.vstack([passage_states([text]) for text in texts]), np.ones(len(texts))
    learnt = {}
    for width in (DIMENSIONS, rows.shape[1]):
        beside = np.hstack([asked_rows[:, :width], forms])
        found, bias = fit(beside, np.array(ordered, float), np.array(weights), REGULAR["order"])
        of_forms = {form: round(float(one) * FORM_WEIGHT, 2) for form, one in zip(FORMS, found[width:], strict=True)}
        heads, topics = {"order": stored(found[:width], bias) | {"forms": of_forms}}, {}
        for topic in (*TOPICS, "any"):
            named = [bool(private_topics(text) if topic == "any" else topic in private_topics(text)) for text in texts]
            right = np.array([label != "-" and (topic == "any" or topic[0] in label) for label in labels], float)
            beside = np.column_stack([rows[:, :width], WORD_WEIGHT * np.array(named)])
            found, bias = fit(beside, right, same, REGULAR["topics"])
            topics[topic] = stored(found[:-1], bias) | {"words": round(float(found[-1]) * WORD_WEIGHT, 2)}
        learnt[str(width)] = heads | {"topics": topics}
    learnt |= {"usual": usual_of(texts, passage_states), "asked": usual_of(some_orders(), query_states)}
    WEIGHTS.write_text(json.dumps(learnt, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    main()
