"""Writes docs/configuration.md from config.yaml, whose comments are the one description of every setting.

python docs/settings.py
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "config.yaml"
TARGET = ROOT / "docs/configuration.md"

INDENT = 2
_KEY = re.compile(r"(?P<indent> *)(?P<name>[a-z_]+):(?P<value>.*)")

HEAD = """# Configuration

<!-- Made from config.yaml by docs/settings.py: change it there. -->

The program reads `config.yaml` in the working directory, or the file given with `--config`. An environment variable
overrides it: its name is `LAPLACED_`, then the key in capitals with `__` for each dot, so `telegram.token` is
`LAPLACED_TELEGRAM__TOKEN`. If the name ends in `_FILE`, the value is read from a file, as secrets are mounted. Lists
are written as JSON or separated by commas. Durations are a number and a unit (`0.2s`, `45s`, `30m`, `1h`). Relative
paths start at the working directory. A key that does not exist is an error that names it.
"""


@dataclass(frozen=True, slots=True)
class Setting:
    """A key with its default as YAML (empty: an empty string) and its meaning."""

    key: str
    default: str
    meaning: str

    @property
    def section(self) -> str:
        return self.key.split(".")[0]


def settings(text: str) -> Iterator[Setting]:
    """Yields each key of the file that has a value, in order; its meaning is the comment right above it."""
    values = _values(yaml.safe_load(text))
    path: list[str] = []
    comment: list[str] = []
    for line in text.splitlines():
        if line.lstrip().startswith("#"):
            comment.append(line.strip().removeprefix("#").strip())
            continue
        if match := _KEY.fullmatch(line):
            path[len(match["indent"]) // INDENT :] = [match["name"]]
            key = ".".join(path)
            if key in values:
                yield Setting(key, match["value"].strip().strip('"'), " ".join(comment))
        comment = []


def _values(tree: dict[str, Any], above: str = "") -> set[str]:
    """The dotted names of all keys that are no sections."""
    found = set()
    for name, value in tree.items():
        found |= _values(value, f"{above}{name}.") if isinstance(value, dict) else {above + name}
    return found


def render(text: str) -> str:
    """The page for the text of a config.yaml."""
    page = HEAD
    for section, group in groupby(settings(text), key=lambda setting: setting.section):
        page += f"\n## {section}\n\n{_introduction(text, section)}| key | default | meaning |\n|---|---|---|\n"
        page += "".join(_row(setting) for setting in group)
    return page


def _introduction(text: str, section: str) -> str:
    """The comment above a section as a paragraph; empty where it has none."""
    above = re.search(rf"((?:^#.*\n)+)^{section}:\n", text, re.MULTILINE)
    return "" if above is None else re.sub(r"^# ?", "", above[1], flags=re.MULTILINE) + "\n"


def _row(setting: Setting) -> str:
    default = f"`{setting.default}`" if setting.default else "empty"
    return f"| `{setting.key}` | {default} | {setting.meaning.replace('|', '&#124;')} |\n"


if __name__ == "__main__":
    TARGET.write_text(render(SOURCE.read_text(encoding="utf-8")), encoding="utf-8")
