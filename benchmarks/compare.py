"""Runs the benchmarks and compares their figures with the committed ones.

    python -m benchmarks.compare [--only messages.message_cost messages.start_up] [--save] [--show]

Each benchmark is run in a short form that fits into five minutes together on a quiet machine. What is compared are
ratios to something bare in the same run and counts, never times. A figure that got worse by more than 15 % is marked,
and measured once more before it is called worse. `--save` writes `benchmarks/figures.json`, `--show` prints also what
the benchmarks themselves say. Ends with 0 also where something got worse: a busy machine is no fault of a commit.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from benchmarks.shared.bot_process import ROOT, circumstances
from benchmarks.shared.figures import FILE

COMMITTED = ROOT / "benchmarks/figures.json"
WORSE = 0.15
"""Share by which a figure may get worse before it is marked."""
SHORT: Mapping[str, Sequence[str]] = {
    "messages.start_up": ("--rounds", "3", "--messages", "2000"),
    "messages.inbox": ("--users", "100", "--each", "50"),
    "messages.buffer_recovery": ("--users", "2000", "--rounds", "2"),
    "messages.throughput": ("--messages", "200", "--without-pause"),
    "messages.message_cost": ("--messages", "200"),
    "messages.first_words": ("--asked", "3"),
    "messages.owners_wait": ("--seconds", "3"),
    "search.embedding": (),
    "search.people_search": ("--people", "10000", "--dimensions", "384"),
    "storage.facts": ("--facts", "1000"),
    "storage.mirror": ("--nodes", "5000"),
    "storage.plasticity": ("--memories", "10000", "--links", "30000"),
    "storage.chronicle": ("--turns", "200", "--rounds", "3"),
}


@dataclass(frozen=True, slots=True)
class Figure:
    """A figure of a benchmark; `better` is lower or higher."""

    name: str
    value: float
    better: str
    unit: str

    def worse_than(self, other: Figure) -> float:
        """The share by which it is worse than another, negative where it is better."""
        if not other.value or not self.value:
            return 0.0
        return (self.value / other.value if self.better == "lower" else other.value / self.value) - 1


def run(benchmark: str, show: bool) -> dict[str, Figure]:
    """The figures of one benchmark, by their names."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "figures.jsonl"
        began = time.perf_counter()
        done = subprocess.run(
            [sys.executable, "-m", f"benchmarks.{benchmark}", *SHORT[benchmark]],
            env=os.environ | {FILE: str(file), "PYTHONPATH": str(ROOT)},
            check=False,
            stdout=None if show else subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        print(f"# {benchmark}: {time.perf_counter() - began:.0f} s", file=sys.stderr, flush=True)
        if done.returncode:
            raise SystemExit(f"{benchmark} ended with {done.returncode}:\n{done.stdout or ''}")
        lines = file.read_text(encoding="utf-8").splitlines() if file.exists() else []
    figures = [Figure(**json.loads(line)) for line in lines]
    return {f"{benchmark}: {figure.name}": figure for figure in figures}


def row(name: str, figure: Figure, before: Figure | None) -> str:
    """A line of the table."""
    if before is None:
        return f"| {name} | {figure.value:.2f} {figure.unit} | new | |"
    share = figure.worse_than(before)
    mark = "**worse**" if share > WORSE else "better" if share < -WORSE else ""
    return f"| {name} | {figure.value:.2f} {figure.unit} | {before.value:.2f} | {share:+.0%} {mark} |"


def committed() -> dict[str, Figure]:
    """The figures of the last release, by their names; none before the first."""
    if not COMMITTED.exists():
        return {}
    kept: dict[str, Any] = json.loads(COMMITTED.read_bytes())["figures"]
    return {name: Figure(**figure) for name, figure in kept.items()}


def main() -> None:
    parser = argparse.ArgumentParser(description="Runs the benchmarks and compares them with the committed figures.")
    parser.add_argument("--only", nargs="+", choices=SHORT, default=list(SHORT), metavar="NAME")
    parser.add_argument("--save", action="store_true", help="write the figures to benchmarks/figures.json")
    parser.add_argument("--show", action="store_true", help="print what each benchmark says")
    options = parser.parse_args()
    before, found, began = committed(), {}, time.perf_counter()
    print(f"{circumstances()}\n\n| figure | now | committed | worse by |\n|---|---:|---:|---|", flush=True)
    for benchmark in options.only:
        figures = run(benchmark, options.show)
        if any(name in before and figure.worse_than(before[name]) > WORSE for name, figure in figures.items()):
            again = run(benchmark, options.show)
            figures = {name: _better(figure, again.get(name, figure)) for name, figure in figures.items()}
        found |= figures
        for name, figure in figures.items():
            print(row(name, figure, before.get(name)), flush=True)
    worse = [name for name, figure in found.items() if name in before and figure.worse_than(before[name]) > WORSE]
    print(f"\n{len(found)} figures in {time.perf_counter() - began:.0f} s; {len(worse)} worse by more than {WORSE:.0%}")
    for name in worse:
        print(f"warning: {name} got worse")
    if options.save:
        everything = {name: asdict(figure) for name, figure in (before | found).items()}
        text = json.dumps({"measured": circumstances(), "figures": everything}, indent=1, ensure_ascii=False)
        COMMITTED.write_text(text + "\n", encoding="utf-8")


def _better(one: Figure, other: Figure) -> Figure:
    return min(one, other, key=lambda figure: figure.value if figure.better == "lower" else -figure.value)


if __name__ == "__main__":
    main()
