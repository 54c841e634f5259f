"""Draws the map of people: the owner in the middle, each person at the end of the chain that leads there.

One SVG is shown in the console and, as a picture, in the chat. Inferred relations are dashed.
"""

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from importlib.resources import files
from typing import Final

from internal.language.facts.kin_questions import Ties
from internal.language.kinship.chains import Tie, tie_words
from internal.language.kinship.kinds import kin_word
from internal.language.text.spelling import Language
from internal.people.model import Circle, Person

MOST: Final = 60
"""The most people of one drawing, nearest first."""

_BOX: Final = (132, 42)
_RING: Final = 128
_CROWD: Final = 120
"""Pixels of a ring's circumference that one box needs."""

_COLOURS: Final = {
    Circle.FAMILY: "#5b67e8",
    Circle.FRIENDS: "#1f9d68",
    Circle.WORK_INNER: "#b8720a",
    Circle.WORK_OUTER: "#b8720a",
    Circle.OTHER: "#6b7280",
}
_LEAST_WIDTH: Final = 320
"""The least width in pixels, so that the legend fits below a single person."""
_LEGEND: Final[dict[Language, tuple[str, str, str]]] = {
    "en": ("You", "told", "inferred"),
    "ru": ("Ты", "рассказано", "выведено"),
    "uk": ("Ти", "розказано", "виведено"),
}
_FONT: Final = "Roboto, sans-serif"


@dataclass(frozen=True, slots=True)
class PersonOnMap:
    """A person on the map: the position, the relation, and the parent in the tree ("" = the owner)."""

    node: str
    name: str
    word: str
    words: str
    inferred: bool
    circle: Circle
    parent: str
    x: float
    y: float


def people_on_map(ties: Ties, people: Sequence[Person], language: Language) -> list[PersonOnMap]:
    """The people tied to the owner, on rings around him; each family of the tree has its own sector."""
    by_node = {person.entity_id: person for person in people}
    tied = {node: tie for node, tie in ties.map().ties(ties.owner).items() if node in by_node}
    nearest = sorted(tied.items(), key=lambda one: (len(one[1].steps), -by_node[one[0]].mention_count))[:MOST]
    tied = dict(nearest)
    children: dict[str, list[str]] = defaultdict(list)
    for node, tie in sorted(tied.items(), key=lambda one: (list(Circle).index(by_node[one[0]].circle), one[0])):
        children[_parent(tie, ties.owner)].append(node)
    sectors = _sectors(children, tied)
    reach = max(_RING, len([node for node in tied if node not in children]) * _CROWD / (2 * math.pi))
    found = []
    for node, tie in tied.items():
        angle, depth = sectors[node], len(tie.steps)
        radius = reach + (depth - 1) * _RING
        word = kin_word(tie.kin, language, tie.spouse) if tie.kin else kin_word(tie.steps[-1].kin, language)
        found.append(
            PersonOnMap(
                node,
                by_node[node].display_name,
                word,
                tie_words(tie, ties.shown, language),
                tie.inferred,
                by_node[node].circle,
                _parent(tie, ties.owner),
                math.cos(angle) * radius * 1.35,
                math.sin(angle) * radius,
            )
        )
    return found


def _parent(tie: Tie, owner: str) -> str:
    return tie.steps[-2].who if len(tie.steps) > 1 else ""


def _sectors(children: Mapping[str, Sequence[str]], tied: Mapping[str, Tie]) -> dict[str, float]:
    """The angle of each node: leaves are spread evenly, and a parent is centred over its leaves."""
    leaves: list[str] = []
    found: dict[str, float] = {}

    def visit(node: str) -> list[str]:
        below = [leaf for child in children.get(node, ()) for leaf in visit(child)]
        if not below and node:
            leaves.append(node)
            below = [node]
        spans[node] = below
        return below

    spans: dict[str, list[str]] = {}
    visit("")
    turn = {leaf: 2 * math.pi * n / max(len(leaves), 1) - math.pi / 2 for n, leaf in enumerate(leaves)}
    for node in tied:
        angles = [turn[leaf] for leaf in spans.get(node, ())]
        found[node] = sum(angles) / len(angles) if angles else 0.0
    return found


def drawn(found: Sequence[PersonOnMap], language: Language) -> str:
    """The SVG of the map."""
    you, stated, inferred = _LEGEND[language]
    width, height = _BOX
    half = [max((abs(axis) for axis in axes), default=0.0) for axes in ([p.x for p in found], [p.y for p in found])]
    w, h = max(round(2 * (half[0] + width / 2 + 24)), _LEAST_WIDTH), round(2 * (half[1] + height / 2 + 44))
    at = {person.node: (person.x, person.y) for person in found} | {"": (0.0, 0.0)}
    lines = [_line(person, at[person.parent]) for person in found]
    boxes = [_box(person) for person in found]
    legend = (
        f'<g transform="translate({-w / 2 + 16:.0f},{h / 2 - 18:.0f})" font-size="12" fill="#6b7280">'
        f'<path d="M0 -4h26" stroke="#6b7280" stroke-width="2"/><text x="34">{stated}</text>'
        f'<path d="M130 -4h26" stroke="#6b7280" stroke-width="2" stroke-dasharray="5 4"/>'
        f'<text x="164">{inferred}</text></g>'
    )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="{-w / 2:.0f} {-h / 2:.0f} {w} {h}" width="{w}" height="{h}"'
        f' font-family="{_FONT}"><rect x="{-w / 2:.0f}" y="{-h / 2:.0f}" width="{w}" height="{h}" fill="#ffffff"/>'
        f"{''.join(lines)}{''.join(boxes)}"
        f'<circle r="34" fill="#1f2440"/><text y="6" text-anchor="middle" font-size="17" fill="#ffffff">{you}</text>'
        f"{legend}</svg>"
    )


def picture(svg: str) -> bytes:
    """The SVG as a PNG of twice the size, for screens of phones."""
    import resvg_py  # 7 ms a picture, only on request

    font = files(__package__).joinpath("Roboto-Regular.ttf")
    return bytes(
        resvg_py.svg_to_bytes(
            svg_string=svg, font_files=[str(font)], skip_system_fonts=True, zoom=2, font_family="Roboto"
        )
    )


def _line(person: PersonOnMap, start: tuple[float, float]) -> str:
    dashed = ' stroke-dasharray="6 5"' if person.inferred else ""
    return (
        f'<line x1="{start[0]:.0f}" y1="{start[1]:.0f}" x2="{person.x:.0f}" y2="{person.y:.0f}"'
        f' stroke="{_COLOURS[person.circle]}" stroke-width="2" stroke-opacity="0.55"{dashed}/>'
    )


def _box(person: PersonOnMap) -> str:
    width, height = _BOX
    colour = _COLOURS[person.circle]
    dashed = ' stroke-dasharray="6 5"' if person.inferred else ""
    return (
        f'<g transform="translate({person.x:.0f},{person.y:.0f})">'
        f"<title>{escape(f'{person.name}: {person.words}')}</title>"
        f'<rect x="{-width / 2}" y="{-height / 2}" width="{width}" height="{height}" rx="12" fill="#ffffff"'
        f' stroke="{colour}" stroke-width="2"{dashed}/>'
        f'<text y="-2" text-anchor="middle" font-size="14" fill="#1f2440">{escape(_cut(person.name, 17))}</text>'
        f'<text y="14" text-anchor="middle" font-size="12" fill="{colour}">{escape(_cut(person.word, 20))}</text></g>'
    )


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[: most - 1]}…"
