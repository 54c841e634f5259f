"""A unit of work may be run again before it is committed once: it leaves no trace outside the store."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[3]


def units_of_work() -> Iterator[tuple[str, ast.FunctionDef]]:
    """Every function over a connection, with its place."""
    for folder in ("bot", "internal"):
        for path in sorted((ROOT / folder).rglob("*.py")):
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                if isinstance(node, ast.FunctionDef) and any(map(is_connection, node.args.args)):
                    yield f"{path.relative_to(ROOT)}:{node.name}", node


def is_connection(argument: ast.arg) -> bool:
    return argument.annotation is not None and ast.unparse(argument.annotation) == "Connection"


def test_nothing_is_logged_in_a_unit_of_work() -> None:
    """A line would stand there once for each time it ran, and also if it was undone in the end."""
    found = list(units_of_work())
    assert len(found) > 500
    calls = [
        f"{place} line {node.lineno}"
        for place, unit in found
        for node in ast.walk(unit)
        if isinstance(node, ast.Call) and ast.unparse(node.func).startswith("log.")
    ]
    assert calls == []
