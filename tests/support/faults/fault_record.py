"""What the fault tests showed, kept as JSON lines for the tables of docs/reliability.md."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from support.paths import ROOT

RECORD_VARIABLE = "LAPLACED_FAULT_RECORD"
"""Names the folder that the records go to; while it is not set, nothing is recorded and the tests only assert."""


def record(kind: str, case: str, outcome: str, *, passed: bool = True) -> None:
    """Adds one case to the record of faults.

    `kind` is where the fault was put ("model", "telegram", "storage", "load"), `case` what went wrong there ("429 with
    Retry-After"), `outcome` what is shown to follow ("the turn waits as told, one answer"). Cases with equal words in
    all three become one row of the table, with their number beside it.
    """
    append("faults", {"kind": kind, "case": case, "outcome": outcome, "passed": passed})


@contextmanager
def proving(kind: str, case: str, outcome: str) -> Iterator[None]:
    """Records the case as passed if the block ends, as failed if an assertion (or anything else) leaves it."""
    try:
        yield
    except BaseException:
        record(kind, case, outcome, passed=False)
        raise
    record(kind, case, outcome)


def append(name: str, fields: dict[str, Any], folder: Path | None = None) -> None:
    """One line in `name`.jsonl of the folder (of the variable's if None); whole or not at all beside other writers."""
    chosen = folder or os.environ.get(RECORD_VARIABLE)
    if not chosen:
        return
    line = json.dumps({**_moment(), **fields}, ensure_ascii=False) + "\n"
    path = Path(chosen) / f"{name}.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    cut = path.exists() and path.read_bytes()[-1:] not in {b"", b"\n"}  # by a crash: the next line begins again
    descriptor = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
    try:
        os.write(descriptor, (b"\n" if cut else b"") + line.encode())
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def records(name: str, folder: Path) -> list[dict[str, Any]]:
    """Every line that was recorded under this name, oldest first; one that a crash cut off is left out."""
    path = folder / f"{name}.jsonl"
    found = []
    for line in path.read_text(encoding="utf-8").split("\n") if path.exists() else []:
        with suppress(ValueError):
            found.append(json.loads(line))
    return found


def commit_here() -> str:
    """The commit that is tested, with a + if the product was changed since."""
    changed = _git("status", "--porcelain", "bot", "internal", "migrations")
    return _git("rev-parse", "--short", "HEAD") + ("+" if changed else "")


def _moment() -> dict[str, Any]:
    return {"at": datetime.now(UTC).isoformat(timespec="seconds"), "commit": commit_here()}


def _git(*arguments: str) -> str:
    return subprocess.run(["git", *arguments], cwd=ROOT, check=True, capture_output=True, text=True).stdout.strip()
