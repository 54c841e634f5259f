"""Statements that are built once at import are compiled only where they first run; a test has them all compile."""

from __future__ import annotations

import importlib
import pkgutil

from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.sql.base import Executable
from sqlalchemy.sql.elements import ClauseElement

import internal


def test_every_statement_of_a_module_compiles_on_both_engines() -> None:
    """A condition that brings tables of its own into a join does not leave the statement unreadable."""
    statements = {
        f"{module.name}.{name}": value
        for module in pkgutil.walk_packages(internal.__path__, "internal.")
        if not module.name.endswith("__main__")
        for name, value in vars(importlib.import_module(module.name)).items()
        if isinstance(value, Executable) and isinstance(value, ClauseElement)
    }
    assert len(statements) > 50
    for statement in statements.values():
        for dialect in (sqlite.dialect(), postgresql.dialect()):
            assert str(statement.compile(dialect=dialect))
