"""Expressions that SQLite and PostgreSQL have other words for."""

from __future__ import annotations

from typing import Any

from sqlalchemy import BigInteger, Boolean, Text
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.functions import GenericFunction


class holds_words(GenericFunction[bool]):
    """Whether the first text has the second one in it, as it is written. LIKE takes no notice of case on SQLite."""

    type = Boolean()
    inherit_cache = True


@compiles(holds_words, "sqlite")
def _with_instr(element: holds_words, compiler: Any, **how: Any) -> str:
    return f"(instr({compiler.process(element.clauses, **how)}) > 0)"


@compiles(holds_words, "postgresql")
def _with_strpos(element: holds_words, compiler: Any, **how: Any) -> str:
    return f"(strpos({compiler.process(element.clauses, **how)}) > 0)"


class merely_compared(GenericFunction[int]):
    """An owner beside ids by which his rows are looked up. SQLite knows no figures of its tables: where no index holds
    both, it would take an index that begins with the owner, and read everything of his."""

    type = BigInteger()
    inherit_cache = True


@compiles(merely_compared, "sqlite")
def _with_plus(element: merely_compared, compiler: Any, **how: Any) -> str:
    return f"+{compiler.process(element.clauses, **how)}"


@compiles(merely_compared, "postgresql")
def _with_nothing(element: merely_compared, compiler: Any, **how: Any) -> str:
    return str(compiler.process(element.clauses, **how))


class text_items(GenericFunction[str]):
    """The texts of a list in JSON as the column `value`, with `table_valued`; none of them if it is no list."""

    type = Text()
    inherit_cache = True


@compiles(text_items, "sqlite")
def _with_each(element: text_items, compiler: Any, **how: Any) -> str:
    return f"json_each({compiler.process(element.clauses, **how)})"


@compiles(text_items, "postgresql")
def _with_elements(element: text_items, compiler: Any, **how: Any) -> str:
    listed = compiler.process(element.clauses, **how)
    return f"json_array_elements_text(CASE WHEN json_typeof({listed}) = 'array' THEN {listed} END)"
