"""Writes the lock files in deploy/locks/: each package of an installation with its version and hashes of its files.

python -m deploy.lock, with uv on the path, after a change of the dependencies in pyproject.toml; with --upgrade the
newest versions that it allows. tests/unit/deploy/test_locks.py fails while both disagree.
"""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path
from typing import Any, Final

ROOT: Final = Path(__file__).parents[1]
FOLDER: Final = ROOT / "deploy/locks"

TEST: Final = "test"
LOCKS: Final[dict[str, tuple[str, ...]]] = {
    TEST: ("--extra", "all", "--extra", "test"),
    "all": ("--extra", "all"),
    "run": ("--extra", "ukrainian"),
    "core": (),
    "sbom": ("--only-group", "sbom"),
    "telemelya": ("--only-group", "telemelya"),
}
"""Each lock file with what uv is asked for. Installations take the versions of the first one."""

_MARK: Final = "# made from pyproject.toml "


def fingerprint(project: dict[str, Any]) -> str:
    """A hash of all that the lock files follow from."""
    sections = (
        project["build-system"]["requires"],
        project["project"]["requires-python"],
        project["project"]["dependencies"],
        project["project"]["optional-dependencies"],
        project["dependency-groups"],
    )
    return hashlib.sha256(json.dumps(sections, sort_keys=True).encode()).hexdigest()[:16]


def read_project() -> dict[str, Any]:
    return tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))


def made_from(lock: Path) -> str:
    """The fingerprint that a lock file carries."""
    return lock.read_text(encoding="utf-8").partition("\n")[0].removeprefix(_MARK)


def _compile(name: str, project: dict[str, Any], build: Path, upgrade: bool) -> None:
    target = FOLDER / f"{name}.txt"
    command = ["uv", "pip", "compile", "--quiet", "--universal", "--generate-hashes", "--no-header", "--no-annotate"]
    command += ["--python-version", project["project"]["requires-python"].removeprefix(">=")]
    command += ["--output-file", str(target)]
    alone = "--only-group" in LOCKS[name]
    if alone:
        command += ["--group", f"pyproject.toml:{name}"]
    else:
        command += ["pyproject.toml", str(build), *LOCKS[name]]
    if name != TEST and not alone:
        command += ["--constraints", str(FOLDER / f"{TEST}.txt")]
    if upgrade:
        command.append("--upgrade")
    subprocess.run(command, cwd=ROOT, check=True)
    text = f"{_MARK}{fingerprint(project)}\n{target.read_text(encoding='utf-8')}"
    target.write_text(text, encoding="utf-8")


def write_locks(*, upgrade: bool = False) -> None:
    project = read_project()
    FOLDER.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        # What builds Laplaced itself is locked with it: an installation then fetches nothing else.
        build = Path(folder) / "build.in"
        build.write_text("\n".join(project["build-system"]["requires"]), encoding="utf-8")
        for name in LOCKS:
            _compile(name, project, build, upgrade)


if __name__ == "__main__":
    write_locks(upgrade="--upgrade" in sys.argv[1:])
