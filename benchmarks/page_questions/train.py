"""Learns `internal/language/commands/page_weights.json` from the sentences of `examples/`, or tests them in thirds.

    python -m benchmarks.page_questions.train           # writes the weights
    python -m benchmarks.page_questions.train --test    # leaves out each third in turn, and writes nothing

A linear model of the chances of all pages and of none, on the vector of the built-in embedder and the beginnings of
words. What people say and ask in the memory set, without its part that is held back, asks for no page; neither does
`discretion_set/ordinary.txt`, which is only tested on. Like the bot, the test leaves out messages that state something.
"""

from __future__ import annotations

import json
import random
import runpy
import sys
from collections import Counter
from functools import cache
from pathlib import Path

import numpy as np

from internal.language.commands.meaning import LONGEST, WEIGHTS, meant_pages
from internal.language.commands.questions import may_open
from internal.language.dates.units import fold
from internal.language.text import linear_model
from internal.language.text.linear_model import STEM_WEIGHT, stems_of
from internal.language.worker.embedding import embed_queries

FOLDER = Path(__file__).parent
SET = FOLDER.parent / "memory_set"
ORDINARY = FOLDER.parent / "discretion_set/ordinary.txt"
HELD_BACK = runpy.run_path(str(SET / "score.py"))["HELD_BACK"]
EVERYDAY = 4_500
"""Messages and questions of the memory set that are learned from."""
REGULAR = 1.0
SCALE = 10.0
STEPS = 400
LEAST = 3
"""Messages that hold a beginning of a word, or it is not learned."""


def examples():
    """The language, page, number in its list, and text of each example."""
    for file in sorted((FOLDER / "examples").glob("*.txt")):
        page, numbers = "none", Counter()
        for row in file.read_text(encoding="utf-8").splitlines():
            if row.startswith("["):
                page = row[1:-1]
            elif row:
                numbers[page] += 1
                yield file.stem, page, numbers[page], row


def everyday_messages(asked=False):
    """The file and the text of what people write in the open memory set, and of what is asked about it."""
    for file in sorted((SET / "conversations").glob("*.json")):
        if file.name in HELD_BACK:
            continue
        talk = json.loads(file.read_text(encoding="utf-8"))
        lines = [line for part in talk.values() if isinstance(part, list) for line in part]
        said = [line["text"] for line in lines if line.get("text") and line.get("role") != "assistant"]
        for text in [*(one["question"] for one in talk["qa"] if asked), *said]:
            yield file.name, text


def everyday():
    """Short messages and questions of the open memory set: none of them asks for a page."""
    return ((file, text) for file, text in everyday_messages(asked=True) if len(text.split()) <= LONGEST)


@cache
def vector(text):
    return embed_queries([text])[0]


def fit(rows, labels):
    """The weights and biases of a softmax regression, by accelerated gradient descent."""
    count, mean = int(labels.max()) + 1, rows.mean(0)
    z = np.hstack([(rows - mean) * SCALE, np.ones((len(rows), 1))]).astype(np.float32)
    right, ridge = np.eye(count, dtype=np.float32)[labels], np.full((z.shape[1], 1), REGULAR, np.float32)
    ridge[-1] = 0
    along = np.ones(z.shape[1], np.float32)
    for _ in range(15):  # the greatest curvature, by power iteration
        along = z.T @ (z @ (along / np.linalg.norm(along)))
    step = 1 / (0.5 * float(np.linalg.norm(along)) + REGULAR)
    beta = ahead = np.zeros((z.shape[1], count), np.float32)
    pace = 1.0
    for _ in range(STEPS):
        odds = z @ ahead
        shares = np.exp(odds - odds.max(1, keepdims=True))
        shares /= shares.sum(1, keepdims=True)
        new = ahead - step * (z.T @ (shares - right) + ridge * ahead)
        faster = (1 + (1 + 4 * pace * pace) ** 0.5) / 2
        restart = float(((ahead - new) * (new - beta)).sum()) > 0
        pace, faster = (1.0, 1.0) if restart else (pace, faster)
        beta, ahead, pace = new, new + (0 if restart else (pace - 1) / faster) * (new - beta), faster
    weights = beta[:-1] * SCALE
    return weights, beta[-1] - mean @ weights


def learn(asking, idle, embedded=vector, most=EVERYDAY):
    """The weights of the product, from messages with their pages and from messages that ask for none."""
    asking = [*asking, *(("none", text) for text in random.Random(7).sample(idle, min(most, len(idle))))]
    pages = [*dict.fromkeys(page for page, _ in asking if page != "none"), "none"]
    held = Counter(stem for _, text in asking for stem in stems_of(text))
    known = sorted(stem for stem, count in held.items() if count >= LEAST)
    place = {stem: index for index, stem in enumerate(known)}
    stems = np.zeros((len(asking), len(known)), np.float32)
    for row, (_, text) in zip(stems, asking, strict=True):
        row[[place[stem] for stem in stems_of(text) if stem in place]] = STEM_WEIGHT
    rows = np.hstack([np.vstack([embedded(text) for _, text in asking]), stems])
    weights, bias = fit(rows, np.array([pages.index(page) for page, _ in asking]))
    size = weights.shape[0] - len(known)
    return {
        "kinds": pages,
        "vector": [[round(float(one), 2) for one in row] for row in weights[:size].T],
        "bias": [round(float(one), 3) for one in bias],
        "stems": {
            stem: [round(float(one), 1) for one in row]
            for stem, row in zip(known, weights[size:], strict=True)
            if np.abs(row).max() > 0.3
        },
    }


def use(known):
    """Has the program use these weights instead of any others."""
    rows = {stem: np.array(row, np.float32) for stem, row in known["stems"].items()}
    arrays = (tuple(known["kinds"]), np.array(known["vector"], np.float32), np.array(known["bias"], np.float32), rows)
    linear_model._kinds = lambda _: arrays


def found_by(known, texts):
    """The pages that each text means by these weights."""
    use(known)
    return [meant_pages(text, vector(text)) if may_open(fold(text)) else () for text in texts]


def test():
    asking, idle = list(examples()), list(everyday())
    files = sorted({file for file, _ in idle})
    right, asked, opened, languages, wrong, harmless = Counter(), Counter(), Counter(), Counter(), 0, []
    ordinary = [one for one in ORDINARY.read_text(encoding="utf-8").splitlines() if one and one[0] != "#"]
    for third in range(3):
        out = {file for index, file in enumerate(files) if index % 3 == third}
        known = learn(
            [(page, text) for _, page, number, text in asking if number % 3 != third],
            [text for file, text in idle if file not in out],
        )
        held = [one for one in asking if one[2] % 3 == third]
        for (language, page, *_), pages in zip(held, found_by(known, [one[3] for one in held]), strict=True):
            asked[page] += 1
            right[page] += page in (pages or ("none",))
            wrong += page != "none" and bool(pages) and page not in pages
            languages[language, page != "none", page in (pages or ("none",))] += 1
            opened[page] += len(pages) > 1
        texts = [*(text for file, text in idle if file in out), *(ordinary if third == 0 else ())]
        harmless += [(pages, one) for one, pages in zip(texts, found_by(known, texts), strict=True) if pages]
    for page, count in asked.items():
        print(f"{page}: {right[page]} of {count}, {opened[page]} with a second page")
    pages = sum(count for page, count in asked.items() if page != "none")
    print(f"right: {sum(right[page] for page in asked if page != 'none')} of {pages} pages; another page {wrong}")
    for language in ("en", "ru", "uk"):
        print(language, languages[language, True, True], languages[language, True, False])
    print(f"of {len(idle) + len(ordinary)} harmless messages {len(harmless)} open a page", *harmless, sep="\n  ")


def main():
    known = learn([(page, text) for _, page, _, text in examples()], [text for _, text in everyday()])
    WEIGHTS.write_text(json.dumps(known, ensure_ascii=False, separators=(",", ":")) + "\n", encoding="utf-8")


if __name__ == "__main__":
    test() if "--test" in sys.argv else main()
