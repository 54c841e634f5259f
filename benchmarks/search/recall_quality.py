"""Quality of recall: writes docs/recall.md and its plot (`make recall`).

    python -m benchmarks.search.recall_quality [--development FOLDER] [--with-bot FOLDER] [--vectors FOLDER]
        [--timings FILE] [--out docs/recall.md]

FOLDER of --development and of --with-bot holds conversations in the form of LoCoMo, one or several a file; without
them, and without `../shared/data/locomo` and `beam`, only our own conversations are measured. Vectors are kept between
runs, outside the repository: the first run makes some twenty thousand, a tenth of a second each. --timings is a JSON
list of objects, a row each.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import runpy
import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

from benchmarks.shared.plots import Panel, svg
from benchmarks.shared.recall_ablation import DENSE, LEFT_OUT, WORDS, by_one, failures, spread, without
from benchmarks.shared.recall_page import PLOT, Measured, page
from bot.evaluation import locomo, training
from bot.evaluation.locomo import Conversation
from bot.evaluation.scores import DEPTH, RankedQuestion, recall
from bot.evaluation.training import Sample, ScoredSample, cross_validate
from bot.runtime.evaluation import NO_EMBEDDER, ProgressLine, open_stage, vectors_folder
from internal.config.settings import Config, load
from internal.language.instructions.find import FoundInstruction, find_instructions
from internal.llm.offline.embedder import OfflineEmbedder
from internal.recall.messages.ranking import shipped_rankings

ROOT = Path(__file__).parents[2]
OWN = ROOT / "benchmarks" / "memory_set"
SHARED = ROOT.parent / "shared" / "data"
PARTS, HALVES = 5, 2
"""In so many parts our own conversations are left out, and where much is compared: a learning takes 20 seconds."""
FAILURES = 12

ALONE = {"only vectors": DENSE, "only words": WORDS}
"""Learned from these features alone."""

SINGLE = {
    "BM25 of the turn": "p",
    "BM25 of the turn and the one before": "ctx",
    "vector of the turn and the one before": "dense",
}
"""In the order of a single feature, without any learning."""

ALL_BY_SCORE = "as shipped, sessions not taking turns"
"""So are all rankings that are relearned."""

INSTRUCTED = "as shipped, behind the standing instructions that every prompt holds"
"""They take the first places, so that what was searched for has fewer."""

OF_BOT = {
    "the owner's words first": "assistant",
    "what the bot answered": "answer",
    "standing wishes": "wish",
    "what opened each talk": "opening",
    "numbers, where an order is asked for": "order*number",
}


@dataclass(frozen=True, slots=True)
class Found:
    """The questions of a set as the bot ranks them with vectors and without, and what they can be ranked by."""

    with_vectors: Sequence[RankedQuestion]
    by_words: Sequence[RankedQuestion]
    samples: Sequence[Sample]


async def found(config: Config, files: Sequence[Path], vectors: Path) -> Found:
    """What the bot's own search makes of these conversations."""
    conversations, progress = locomo.read(files), ProgressLine()
    async with open_stage(config, OfflineEmbedder.name, vectors) as stage:
        kept = await stage.write(conversations, progress)
        ranked, samples = await stage.rank(kept, progress), await stage.samples(kept, progress)
    async with open_stage(config, NO_EMBEDDER) as stage:
        by_words = await stage.rank(await stage.write(conversations, progress), progress)
    return Found(ranked, by_words, samples)


def shipped(there: Found) -> Measured:
    """Conversations that nothing which ships was learned from."""
    several = len({one.owner for one in there.samples}) > 1
    return Measured(
        shipped=there.with_vectors,
        ways=_single(there)
        | {
            "without an embedder": there.by_words,
            ALL_BY_SCORE: _ranked(training.score_samples(there.samples, shipped_rankings().dense)),
        },
        learned_there=_ranked(cross_validate(there.samples)) if several else (),
    )


def of_bot(there: Found) -> Measured:
    """The same for conversations with a bot, and what the weights give that only count there."""
    whole, ranking = shipped(there), shipped_rankings().dense
    ways: dict[str, Sequence[RankedQuestion]] = dict(whole.ways)
    for name, feature in OF_BOT.items():
        rest = replace(ranking, weights=dict(ranking.weights) | {feature: 0.0})
        ways[f"the same without {name}"] = _ranked(training.score_samples(there.samples, rest))
    ways[INSTRUCTED] = [
        replace(one, ranking=tuple(dict.fromkeys([*instructions_of(one.conversation), *one.ranking])), chances=())
        for one in whole.shipped
    ]
    return replace(whole, ways=ways)


@cache
def instructions_of(conversation: Conversation) -> list[str]:
    """The owner's turns with standing instructions that hold at its end, as the bot keeps them."""
    held: list[tuple[str, FoundInstruction]] = []
    for turn in conversation.turns:
        for found in find_instructions(turn.text) if turn.role == "user" else ():
            held = [(turn_id, earlier) for turn_id, earlier in held if not found.ends(earlier)]
            held += [] if found.lifts else [(turn.dia_id, found)]
    return [turn_id for turn_id, _ in held]


def of_development(there: Found, own: Found) -> Measured:
    """The same, and what is left of the ranking without parts of it."""

    def learned(names: Sequence[str]) -> list[RankedQuestion]:
        return _ranked(training.score_samples(there.samples, training.fit(own.samples, names)))

    whole = training.score_samples(there.samples, training.fit(own.samples))
    return replace(
        shipped(there),
        whole=_ranked(whole),
        dropped={name: learned(names) for name, names in _variants().items()} | _only(there),
        failures=failures(whole),
    )


def of_own(own: Found) -> Measured:
    """Our own conversations, each under weights that were learned without it."""
    whole = cross_validate(own.samples, parts=PARTS)
    return Measured(
        shipped=_ranked(whole),
        ways=_single(own),
        whole=_ranked(cross_validate(own.samples, parts=HALVES)),
        dropped={name: _ranked(cross_validate(own.samples, names, parts=HALVES)) for name, names in _variants().items()}
        | _only(own),
        failures=failures(whole),
    )


def of_held_back(held: Found) -> Measured:
    """Those of our own conversations that nothing was learned from."""
    return Measured(shipped=held.with_vectors, ways=_single(held) | {"without an embedder": held.by_words})


def _variants() -> dict[str, Sequence[str]]:
    return {f"without {name}": without(group) for name, group in LEFT_OUT.items()} | ALONE


def _only(of: Found) -> dict[str, Sequence[RankedQuestion]]:
    return {f"only {name}": ranked for name, ranked in _single(of).items()}


def _single(of: Found) -> dict[str, Sequence[RankedQuestion]]:
    return {name: by_one(of.samples, feature) for name, feature in SINGLE.items()}


def _ranked(tried: Sequence[ScoredSample]) -> list[RankedQuestion]:
    return [one.ranked for one in tried]


def plot(sets: dict[str, Measured]) -> str:
    """Recall over the number of turns looked at, a panel a set."""
    short = dict(zip(SINGLE, ("BM25", "BM25, with before", "vector"), strict=True))
    panels = []
    for title, measured in sets.items():
        ways = {"all together": measured.shipped} | dict(measured.ways)
        lines = {
            short.get(name, name): [(k, _recall(ranked, k)) for k in range(1, DEPTH + 1)]
            for name, ranked in ways.items()
        }
        panels.append(Panel(title, "turns", "recall", lines, (0, 1)))
    return svg(panels)


def _recall(ranked: Sequence[RankedQuestion], depth: int) -> float:
    each = [recall(one.ranking, one.question.evidence, depth) for one in ranked if one.question.evidence]
    return sum(each) / len(each)


async def _main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--development", type=Path, default=SHARED / "locomo")
    parser.add_argument("--with-bot", type=Path, default=SHARED / "beam")
    parser.add_argument("--vectors", type=Path, default=vectors_folder())
    parser.add_argument("--timings", type=Path)
    parser.add_argument("--out", type=Path, default=ROOT / "docs" / "recall.md")
    asked = parser.parse_args()
    config = load(None)
    held_back = runpy.run_path(str(OWN / "score.py"))["HELD_BACK"]
    files = sorted((OWN / "conversations").glob("*.json"))
    own = await found(config, [file for file in files if file.name not in held_back], asked.vectors)
    held = await found(config, [file for file in files if file.name in held_back], asked.vectors)
    there, with_bot = [
        await found(config, files, asked.vectors) if (files := sorted(folder.glob("*.json"))) else None
        for folder in (asked.development, asked.with_bot)
    ]
    print("learning, without one group of features after the other", file=sys.stderr)
    here = of_own(own)
    development = of_development(there, own) if there is not None else None
    sets = ({"Development": development} if development is not None else {}) | {"Our own": here}
    timings = json.loads(asked.timings.read_text(encoding="utf-8")) if asked.timings else []
    asked.out.write_text(
        page(
            development,
            of_bot(with_bot) if with_bot else None,
            here,
            of_held_back(held),
            spread(here.failures, FAILURES),
            timings,
        ),
        encoding="utf-8",
    )
    drawing = asked.out.parent / PLOT
    drawing.parent.mkdir(exist_ok=True)
    drawing.write_text(plot(sets), encoding="utf-8")
    print(f"{asked.out}, {drawing}")


if __name__ == "__main__":
    asyncio.run(_main())
