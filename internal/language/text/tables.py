"""Tables of words: JSON files beside the modules that read them."""

import json
from importlib import resources
from typing import Any


def table(package: str | None, name: str) -> Any:
    """The table of that name in the package of the caller, which gives its `__package__`."""
    return json.loads(resources.files(package or "").joinpath(f"{name}.json").read_text(encoding="utf-8"))
