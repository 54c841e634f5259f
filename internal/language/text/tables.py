"""Tables of words: JSON files beside the modules that read them."""

import json
from functools import cache
from importlib import resources
from typing import Any


def table(package: str | None, name: str) -> Any:
    """The table with a name in the caller's package, which passes its `__package__`."""
    return json.loads(resources.files(package or "").joinpath(f"{name}.json").read_text(encoding="utf-8"))


@cache
def _classes(package: str) -> dict[str, list[str]]:
    found: dict[str, list[str]] = table(package, "words")
    return found


def any_of(package: str, name: str) -> str:
    """A class of `words.json` as the alternatives of a regular expression."""
    return "|".join(_classes(package)[name])


def all_of(package: str, name: str) -> frozenset[str]:
    """A class of single words."""
    return frozenset(" ".join(_classes(package)[name]).split())
