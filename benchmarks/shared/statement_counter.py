"""Counts what a process asks its database, by the flow that asked and the function that wrote the statement."""

from __future__ import annotations

import json
import os
import re
import signal
import sqlite3
import sys
from collections import Counter
from pathlib import Path
from types import FrameType
from typing import Any, Final

from sqlalchemy import Engine, event

ROOT: Final = f"{Path(__file__).parents[2]}/"
NOT_A_FLOW: Final = ("internal/storage/", "benchmarks/")


def begin(where: str) -> None:
    """Counts from now on. SIGUSR2 writes what was counted as JSON and begins again."""
    counted: Counter[tuple[str, str, str]] = Counter()

    def count(statement: str) -> None:
        if not statement.startswith("--"):  # what a trigger does
            counted[(*_asked_by(sys._getframe(1)), _plain(statement))] += 1

    def write(*_: object) -> None:
        done = [[*key, times] for key, times in counted.most_common()]
        counted.clear()
        there = Path(where)
        there.with_suffix(".new").write_text(json.dumps(done), encoding="utf-8")
        there.with_suffix(".new").replace(there)

    connect = sqlite3.connect

    def traced(*given: Any, **named: Any) -> sqlite3.Connection:
        connection = connect(*given, **named)
        connection.set_trace_callback(count)
        return connection

    sqlite3.connect = traced

    if os.environ.get("LAPLACED_STORAGE__URL"):  # a file is traced; listening changes what is executed

        @event.listens_for(Engine, "before_cursor_execute")
        def counted_elsewhere(connection: Any, cursor: Any, statement: str, *_: object) -> None:
            count(statement)

    signal.signal(signal.SIGUSR2, write)


def _asked_by(frame: FrameType | None) -> tuple[str, str]:
    """The outermost and the innermost function of the product on this thread that are not the database's own."""
    ours = []
    while frame is not None:
        name = frame.f_code.co_filename.removeprefix(ROOT)
        if name != frame.f_code.co_filename and not name.startswith((*NOT_A_FLOW, ".venv")):
            ours.append(f"{name}:{frame.f_code.co_qualname.replace('.<locals>', '').replace('.<lambda>', '')}")
        frame = frame.f_back
    return (ours[-1], ours[0]) if ours else ("", "")


def _plain(statement: str) -> str:
    """The statement without its values, on one line."""
    text = re.sub(r"'(?:[^']|'')*'|\b\d+(?:\.\d+)?\b|\?|x'[0-9a-f]*'", "?", " ".join(statement.split()))
    return re.sub(r"\?(?:, ?\?)+", "?, ...", text)[:200]
