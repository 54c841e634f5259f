"""Every query of a repository that takes an owner is asked for Bob with every id of Alice's."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
import types
import typing
from collections.abc import Callable, Iterable, Iterator
from datetime import datetime, timedelta
from typing import Any

import pytest
from sqlalchemy import Connection
from support.interfaces.isolation_stage import ALICE, BOB, CANARY, QUESTION, Isolation
from support.stores.store_hash import owner_hashes

import internal

pytestmark = pytest.mark.asyncio(loop_scope="module")

LEAST = 300
"""Functions that are asked at least: fewer, and the walk over the repositories has stopped finding them."""

TELLING = 60
"""Functions at least that answer Alice with her own words."""

ACROSS = frozenset({"internal.access.repository", "internal.tasks.teams.repository"})
"""Who may talk to the bot, and who agreed to share a team: these look across owners, and are asked over REST."""


def queries() -> list[tuple[str, Callable[..., Any]]]:
    """Every function of a repository whose first two parameters are a connection and an owner."""
    found: list[tuple[str, Callable[..., Any]]] = []
    for module in sorted(one.name for one in pkgutil.walk_packages(internal.__path__, "internal.")):
        if not module.endswith("repository") or module in ACROSS:
            continue
        loaded = importlib.import_module(module)
        for name, function in inspect.getmembers(loaded, inspect.isfunction):
            names = list(inspect.signature(function).parameters)
            if function.__module__ == module and not name.startswith("_") and names[:2] == ["connection", "user_id"]:
                found.append((f"{module}.{name}", function))
    return found


def arguments(function: Callable[..., Any], ids: dict[str, str]) -> Iterator[dict[str, Any]] | None:
    """Ways to call it: each id of Alice's in turn where a text is asked for. None where it asks for something else."""
    hints = typing.get_type_hints(function)
    needed = [
        name
        for name, one in list(inspect.signature(function).parameters.items())[2:]
        if one.default is inspect.Parameter.empty and one.kind is not inspect.Parameter.VAR_KEYWORD
    ]
    values = {name: _values(name, hints.get(name), list(ids.values())) for name in needed}
    if any(value is None for value in values.values()):
        return None
    most = max((len(value) for value in values.values() if value), default=1)
    return ({name: value[n % len(value)] for name, value in values.items() if value} for n in range(most))


def _values(name: str, hint: Any, ids: list[str]) -> list[Any] | None:
    moment = datetime.fromisoformat("2026-02-08T12:00:00+00:00")
    plain: dict[Any, list[Any]] = {
        str: [*ids, QUESTION],
        int: [int(one) for one in ids if one.isdigit()] + [0, 100],
        float: [0.5],
        bool: [False],
        datetime: [moment],
        timedelta: [timedelta(days=1)],
    }
    if hint in plain:
        return plain[hint]
    origin, inner = typing.get_origin(hint), typing.get_args(hint)
    if origin in {typing.Union, types.UnionType}:
        return next((found for one in inner if (found := _values(name, one, ids)) is not None), None)
    if isinstance(origin, type) and issubclass(origin, Iterable) and inner and inner[0] in plain and len(inner) == 1:
        return [plain[inner[0]]]
    return None


def asked(connection: Connection, owner: int, function: Callable[..., Any], given: dict[str, Any]) -> str:
    """What it answers, written out; a refusal tells nothing. What it changes for Bob stays."""
    try:
        with connection.begin_nested() as asking:
            found = function(connection, owner, **given)
            told = repr(list(found) if isinstance(found, types.GeneratorType) else found)
            if owner == ALICE:
                asking.rollback()  # or the first that deletes would leave nothing to be told of
            return told
    except Exception as error:  # an id of another owner may be refused in any way
        return repr(error.args[:1])


def sweep(connection: Connection, owner: int, ids: dict[str, str]) -> tuple[int, set[str]]:
    """How many functions could be asked for this owner, and those that answered with a word of Alice's."""
    count, telling = 0, set[str]()
    for name, function in queries():
        ways = arguments(function, ids)
        if ways is not None:
            count += 1
            telling |= {name for given in ways if CANARY in asked(connection, owner, function, given)}
    return count, telling


async def test_no_query_answers_of_another_owner(apart: Isolation) -> None:
    """Not one answer for Bob holds a word of Alice's, and not one row of hers is another afterwards."""

    def work(connection: Connection) -> tuple[int, set[str], list[str]]:
        before = owner_hashes(connection, ALICE)
        count, leaks = sweep(connection, BOB, apart.ids)
        after = owner_hashes(connection, ALICE)
        return count, leaks, [table for table in before if before[table] != after.get(table)]

    count, leaks, changed = await apart.stage.database.write(work)
    assert (leaks, changed) == (set(), [])
    assert count >= LEAST


async def test_the_owner_is_answered(apart: Isolation) -> None:
    """The same questions, asked for Alice, are answered with her words."""
    _, telling = await apart.stage.database.write(lambda c: sweep(c, ALICE, apart.ids))
    assert len(telling) >= TELLING
