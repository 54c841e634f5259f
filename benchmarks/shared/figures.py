"""Figures that a benchmark hands to `make bench`, which compares them with the committed ones."""

from __future__ import annotations

import json
import os
from typing import Literal

FILE = "LAPLACED_BENCH_FIGURES"
"""The variable that names the file figures are appended to, a line of JSON each. Without it they are not kept."""


def keep(name: str, value: float, *, better: Literal["lower", "higher"] = "lower", unit: str = "times") -> None:
    """Keeps a figure that does not depend on the machine's speed: a ratio of one run, or a count."""
    path = os.environ.get(FILE)
    if path:
        with open(path, "a", encoding="utf-8") as file:
            print(json.dumps({"name": name, "value": value, "better": better, "unit": unit}), file=file)
