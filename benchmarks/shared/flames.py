"""Flame graphs of several runs in one SVG at one scale, so that what costs more is wider.

    python -m benchmarks.shared.flames docs/plots/message.svg "before, cc45b3cd=OLD.txt" "now=.profile/message.txt"

The files are collapsed stacks as `flame_graphs.py` writes them. Frames of the event loop and of threads are left out,
and so are those narrower than a few pixels. The product's own code, the database and other libraries have one colour
each; hovering shows a frame's whole name and share.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from html import escape
from pathlib import Path
from typing import Final

WIDTH, ROW, TOP, GAP = 1100, 15, 22, 14
LEAST: Final = 0.004
"""Share of the widest run from which a frame is drawn."""
DEEPEST: Final = 16
OUTSIDE: Final = re.compile(
    r"asyncio/|threading\.py|runpy|<module>|contextlib\.py|importlib|^thread |^process |futures/thread"
)
DATABASE: Final = re.compile(r"sqlalchemy|aiosqlite|internal/storage|psycopg")
COLOURS: Final = {"own": "#e69f00", "database": "#56b4e9", "library": "#b8b8b8"}


@dataclass(slots=True)
class Frame:
    """A function and what it called, with the number of samples in which it ran."""

    samples: int = 0
    callees: dict[str, Frame] = field(default_factory=dict)


def read(stacks: Path) -> Frame:
    """The tree of a file of collapsed stacks."""
    root = Frame()
    for line in stacks.read_text(encoding="utf-8").splitlines():
        stack, _, count = line.rpartition(" ")
        names = (re.sub(r":\d+\)$", ")", name) for name in stack.split(";"))
        at, samples = root, int(count)
        root.samples += samples
        for name in [name for name in names if not OUTSIDE.search(name)][:DEEPEST]:
            at = at.callees.setdefault(name, Frame())
            at.samples += samples
    return root


def draw(runs: dict[str, Frame]) -> str:
    """The runs one below the other; the one with most samples fills the width."""
    most = max(run.samples for run in runs.values())
    parts, top = [], 0
    for title, run in runs.items():
        rows = list(_rows(run, 0, 0, most, run.samples))
        deepest = max((depth for depth, _ in rows), default=0)
        parts.append(f'<text x="2" y="{top + 15}" font-size="13" fill="#777777">{escape(title)}</text>')
        parts.append(f'<g transform="translate(0 {top + TOP})">{"".join(row for _, row in rows)}</g>')
        top += TOP + (deepest + 1) * ROW + GAP
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {top}" width="{WIDTH}" height="{top}" '
        'font-family="sans-serif" font-size="10">'
    )
    return "\n".join([head, *parts, "</svg>", ""])


def _rows(frame: Frame, start: int, depth: int, most: int, whole: int) -> Iterator[tuple[int, str]]:
    for name, called in sorted(frame.callees.items()):
        if called.samples >= LEAST * most:
            left, width = start / most * WIDTH, called.samples / most * WIDTH
            yield depth, _box(name, left, depth * ROW, width, called.samples / whole)
            yield from _rows(called, start, depth + 1, most, whole)
        start += called.samples


def _box(name: str, left: float, top: int, width: float, share: float) -> str:
    kind = "database" if DATABASE.search(name) else "own" if re.search(r"\((?:internal|bot)/", name) else "library"
    words = name.partition(" (")[0]
    shown = words if len(words) * 5.6 < width else words[: max(0, int(width / 5.6) - 1)] + "…" if width > 25 else ""
    place = f'x="{left:.1f}" y="{top}" width="{max(width - 0.5, 0.5):.1f}" height="{ROW - 1}"'
    box = f'<rect {place} fill="{COLOURS[kind]}"/>'
    text = f'<text x="{left + 2:.1f}" y="{top + 10}">{escape(shown)}</text>' if shown else ""
    return f"<g><title>{escape(name)}: {share:.1%}</title>{box}{text}</g>"


def main() -> None:
    out, *named = sys.argv[1:]
    given = [one.rpartition("=") for one in named]
    Path(out).write_text(draw({title: read(Path(file)) for title, _, file in given}), encoding="utf-8")


if __name__ == "__main__":
    main()
