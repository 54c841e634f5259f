"""Line charts as SVG, without a library.

Colours are legible on light and dark pages; each line is also told apart by its dashes and named at its end.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape

COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#8a6d00", "#56789a")
"""After Okabe and Ito, "Color universal design", 2008: told apart by people who do not see every colour."""

DASHES = ("", "7 3", "2 3", "9 3 2 3", "4 4", "1 3")
INK = "#777777"
WIDTH, HEIGHT = 460, 300
LEFT, RIGHT, TOP, BOTTOM = 48, 128, 34, 42


@dataclass(frozen=True, slots=True)
class Panel:
    """One chart: lines by name, each a list of (x, y). `y_range` None: from the data. `log_x`: powers of ten."""

    title: str
    x_name: str
    y_name: str
    lines: Mapping[str, Sequence[tuple[float, float]]]
    y_range: tuple[float, float] | None = None
    log_x: bool = False


def svg(panels: Sequence[Panel]) -> str:
    """The panels side by side."""
    width = WIDTH * len(panels)
    drawn = [f'<g transform="translate({WIDTH * n} 0)">\n{_panel(panel)}\n</g>' for n, panel in enumerate(panels)]
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {HEIGHT}" width="{width}" height="{HEIGHT}"'
        ' font-family="sans-serif" font-size="11">'
    )
    return "\n".join([head, *drawn, "</svg>", ""])


def _panel(panel: Panel) -> str:
    xs = [_x(panel, x) for points in panel.lines.values() for x, _ in points]
    ys = [y for points in panel.lines.values() for _, y in points]
    low, high = panel.y_range or (0.0, max(ys) * 1.05 or 1.0)
    left, right = min(xs), max(xs)

    def place(x: float, y: float) -> tuple[float, float]:
        across = (_x(panel, x) - left) / ((right - left) or 1) * (WIDTH - LEFT - RIGHT)
        return LEFT + across, HEIGHT - BOTTOM - (y - low) / ((high - low) or 1) * (HEIGHT - TOP - BOTTOM)

    parts = [_text(LEFT, 18, f"{panel.title}: {panel.y_name}", size=13)]
    for tick in _ticks(low, high):
        _, y = place(next(iter(panel.lines.values()))[0][0], tick)
        parts.append(f'<path d="M{LEFT} {y:.1f}H{WIDTH - RIGHT}" stroke="{INK}" stroke-opacity=".25"/>')
        parts.append(_text(LEFT - 6, y + 4, f"{tick:g}", anchor="end"))
    for tick in sorted({x for points in panel.lines.values() for x, _ in points if _labelled(panel, x)}):
        x, _ = place(tick, low)
        parts.append(_text(x, HEIGHT - BOTTOM + 16, f"{tick:,g}", anchor="middle"))
    parts.append(_text((LEFT + WIDTH - RIGHT) / 2, HEIGHT - 8, panel.x_name, anchor="middle"))
    ends = {name: place(*points[-1]) for name, points in panel.lines.items()}
    names = _spread({name: y for name, (_, y) in ends.items()})
    for n, (name, points) in enumerate(panel.lines.items()):
        path = "L".join(f"{x:.1f} {y:.1f}" for x, y in (place(*point) for point in points))
        colour, dashes = COLOURS[n % len(COLOURS)], DASHES[n % len(DASHES)]
        parts.append(f'<path d="M{path}" fill="none" stroke="{colour}" stroke-width="2" stroke-dasharray="{dashes}"/>')
        parts.append(_text(ends[name][0] + 6, names[name] + 4, name, colour=colour))
    return "\n".join(parts)


def _x(panel: Panel, x: float) -> float:
    return math.log10(x) if panel.log_x else x


def _labelled(panel: Panel, x: float) -> bool:
    """Few enough labels that they do not touch."""
    return math.log10(x).is_integer() if panel.log_x else x == 1 or x % 10 == 0


def _ticks(low: float, high: float) -> list[float]:
    step = 10 ** math.floor(math.log10((high - low) or 1))
    step *= next(part for part in (0.1, 0.2, 0.5, 1, 2) if (high - low) / (step * part) <= 8)
    first = math.ceil(low / step - 1e-9)
    return [round(n * step, 10) for n in range(first, math.floor(high / step + 1e-9) + 1)]


def _spread(wanted: Mapping[str, float], apart: float = 13.0) -> dict[str, float]:
    """Heights of names, moved so that none stands on another."""
    placed: dict[str, float] = {}
    last = -math.inf
    for name, y in sorted(wanted.items(), key=lambda item: item[1]):
        last = placed[name] = max(y, last + apart)
    return placed


def _text(x: float, y: float, words: str, *, anchor: str = "start", colour: str = INK, size: int = 11) -> str:
    place = f'x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}"'
    return f'<text {place} fill="{colour}" font-size="{size}">{escape(words)}</text>'
