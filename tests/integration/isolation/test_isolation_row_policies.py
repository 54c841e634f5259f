"""The second wall: with every filter of the application forgotten, Bob still sees nothing of Alice's."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from sqlalchemy import Connection
from support.interfaces.isolation_stage import BOB, CANARY, Isolation
from support.interfaces.rest_graph_stage import KEY
from support.interfaces.row_policy_stage import Forgetting, forgotten_filters
from support.stores import stores
from test_isolation_mcp import ARGUMENTS, called
from test_isolation_queries import LEAST, arguments, queries
from test_isolation_rest import Case, call, calls

from bot.web.client import RestClient
from internal.storage.engine.owner_scope import acting_for, acting_for_everyone

pytestmark = [
    pytest.mark.asyncio(loop_scope="module"),
    pytest.mark.skipif(stores.wanted() == stores.SQLITE, reason="SQLite has no such wall"),
]

LEAKING = 50
"""Functions at least that would tell Bob of Alice without the wall: fewer, and the filters are not forgotten at all."""

ACROSS = {
    "console_sessions": "whose a session is",
    "episodes": "whether anybody has an episode of an id that Bob wants to give one",
    "team_members": "who is in a team of his",
    "users": "who there is, and what those in his teams are called",
}
"""Tables that are asked for all owners during a call about Bob, each with the question."""


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    metafunc.fixturenames.append("store")
    metafunc.parametrize("store", [stores.POSTGRESQL])


Question = tuple[Callable[..., Any], dict[str, Any]]


def telling(connection: Connection, ids: dict[str, str]) -> tuple[int, dict[str, Question]]:
    """How many functions could be asked for Bob, and a question to each that answers with a word of Alice's."""
    count, found = 0, dict[str, Question]()
    for name, function in queries():
        ways = arguments(function, ids)
        if ways is not None:
            count += 1
            told = next((given for given in ways if CANARY in answered(connection, function, given)), None)
            if told is not None:
                found[name] = function, told
    return count, found


def answered(connection: Connection, function: Callable[..., Any], given: dict[str, Any]) -> str:
    """What it tells Bob. What it changes is undone."""
    asking = connection.begin_nested()
    try:
        told = function(connection, BOB, **given)
        return repr(list(told) if isinstance(told, Iterator) else told)
    except Exception as error:  # an id of another owner may be refused in any way
        return repr(error.args[:1])
    finally:
        asking.rollback()


async def test_no_query_tells_of_another_owner(apart: Isolation) -> None:
    """Without filters and without the wall many a function tells Bob of Alice; behind the wall none of them does."""
    database = apart.stage.database
    with acting_for_everyone(), forgotten_filters(everywhere=True):
        count, asked = await database.write(lambda c: telling(c, apart.ids))
    assert count >= LEAST
    assert len(asked) >= LEAKING, sorted(asked)
    with acting_for(BOB), forgotten_filters() as seen:
        answers = await database.write(lambda c: {name: answered(c, *one) for name, one in asked.items()})
    assert {name: answer for name, answer in answers.items() if CANARY in answer} == {}
    assert seen.forgotten >= LEAKING
    assert seen.kept == []


async def test_no_route_tells_of_another_owner(apart: Isolation) -> None:
    """With Bob's session, and as the admin on his behalf: no answer holds a word of hers, and her rows stay."""
    apart.stage.client.event_hooks = {}  # the guard of changes looks at everybody's
    before = await apart.alices_rows()
    with forgotten_filters() as seen:
        for owner, headers in ((BOB, None), (None, apart.session)):
            answers = [(route, await _text(apart, route, case, owner, headers)) for route, case in calls()]
            assert [(route, text) for route, text in answers if CANARY in text] == []
    assert await apart.alices_rows() == before
    _expect_forgotten(seen)


async def test_no_tool_tells_of_another_owner(apart: Isolation) -> None:
    """No tool does either."""
    rest = RestClient.inside(apart.stage.app, KEY)
    before = await apart.alices_rows()
    with forgotten_filters() as seen:
        answers = {name: await called(rest, name, make(apart.ids, BOB)) for name, make in ARGUMENTS.items()}
    await rest.aclose()
    assert [(name, answer) for name, answer in answers.items() if CANARY in answer] == []
    assert await apart.alices_rows() == before
    _expect_forgotten(seen)


async def _text(apart: Isolation, route: str, case: Case, owner: int | None, headers: Any) -> str:
    """The answer as text; a call that cannot do without its filters has told nothing."""
    try:
        return (await call(apart, route, case, apart.ids, owner, headers)).text
    except Exception as error:
        return repr(error)


def _expect_forgotten(seen: Forgetting) -> None:
    assert seen.forgotten > 0
    assert seen.kept == []
    assert seen.across <= ACROSS.keys()
