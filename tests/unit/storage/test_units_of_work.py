"""A unit of work may be run again before it is committed once: it leaves no trace outside the store."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from support.paths import ROOT


def units_of_work() -> Iterator[tuple[str, ast.FunctionDef]]:
    """Every function over a connection in a module that logs, with its place."""
    for folder in ("bot", "internal"):
        for path in sorted((ROOT / folder).rglob("*.py")):
            text = path.read_text(encoding="utf-8")
            if "log = logging" in text and "Connection" in text:
                for node in ast.walk(ast.parse(text)):
                    if isinstance(node, ast.FunctionDef) and any(map(is_connection, node.args.args)):
                        yield f"{path.relative_to(ROOT)}:{node.name}", node


def is_connection(argument: ast.arg) -> bool:
    return isinstance(argument.annotation, ast.Name) and argument.annotation.id == "Connection"


def is_logged(node: ast.AST) -> bool:
    called = node.func if isinstance(node, ast.Call) else None
    return isinstance(called, ast.Attribute) and isinstance(called.value, ast.Name) and called.value.id == "log"


def test_nothing_is_logged_in_a_unit_of_work() -> None:
    """A line would stand there once for each time it ran, and also if it was undone in the end."""
    found = list(units_of_work())
    assert len(found) > 50
    assert [place for place, unit in found if any(map(is_logged, ast.walk(unit)))] == []
