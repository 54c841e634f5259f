"""Expressions that SQLite and PostgreSQL write differently."""

from typing import Any

from sqlalchemy import BigInteger, Boolean, Text
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.functions import GenericFunction


class holds_words(GenericFunction[bool]):
    """Whether the first text contains the second, case-sensitively. LIKE ignores case on SQLite."""

    type = Boolean()
    inherit_cache = True


@compiles(holds_words, "sqlite")
def _with_instr(element: holds_words, compiler: Any, **how: Any) -> str:
    return f"(instr({compiler.process(element.clauses, **how)}) > 0)"


@compiles(holds_words, "postgresql")
def _with_strpos(element: holds_words, compiler: Any, **how: Any) -> str:
    return f"(strpos({compiler.process(element.clauses, **how)}) > 0)"


class without_index(GenericFunction[int]):
    """An owner's id in a condition that must not choose the index: other ids look the rows up.

    SQLite has no statistics: where no index holds both columns, it would choose an index that begins with the owner and
    read all of the owner's rows.
    """

    type = BigInteger()
    inherit_cache = True


@compiles(without_index, "sqlite")
def _with_plus(element: without_index, compiler: Any, **how: Any) -> str:
    return f"+{compiler.process(element.clauses, **how)}"


@compiles(without_index, "postgresql")
def _with_nothing(element: without_index, compiler: Any, **how: Any) -> str:
    return str(compiler.process(element.clauses, **how))


class text_items(GenericFunction[str]):
    """The texts of a JSON list as the column `value`, with `table_valued`. Empty if it is no list."""

    type = Text()
    inherit_cache = True


@compiles(text_items, "sqlite")
def _with_each(element: text_items, compiler: Any, **how: Any) -> str:
    return f"json_each({compiler.process(element.clauses, **how)})"


@compiles(text_items, "postgresql")
def _with_elements(element: text_items, compiler: Any, **how: Any) -> str:
    listed = compiler.process(element.clauses, **how)
    return f"json_array_elements_text(CASE WHEN json_typeof({listed}) = 'array' THEN {listed} END)"
