"""Bob calls every route there is with Alice's ids: the admin on his behalf, and he with his own session and key."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import httpx
import pytest
from fastapi import FastAPI
from support.interfaces.isolation_stage import ALICE, BOB, CANARY, QUESTION, WORDS, Isolation
from support.patience import PATIENCE_S

from internal.events import repository as events

pytestmark = pytest.mark.asyncio(loop_scope="module")

Ids = Mapping[str, str]
Body = Callable[[Ids, int], dict[str, Any]]


@dataclass(frozen=True)
class Case:
    """How Bob asks. `ids` name Alice's things in the path; `body` is made of her ids and of whose memory is named.

    `shown`: Alice herself gets her canary there, or the case would prove nothing.
    """

    ids: tuple[str, ...] = ()
    query: Mapping[str, Any] = field(default_factory=dict)
    body: Body | None = None
    shown: bool = True


def told(*names: str, **more: Any) -> Body:
    return lambda ids, owner: {name: ids[name] for name in names} | more | {"user_id": owner}


def grouped(**more: Any) -> Body:
    return lambda ids, owner: more | {"group_ids": [str(owner)]}


def linked(**more: Any) -> Body:
    return lambda ids, owner: {"source_id": ids["memory"], "target_id": ids["memory 2"], "user_id": owner} | more


def changed(**body: Any) -> Case:
    return Case(("memory",), body=lambda ids, owner: body, shown=False)


QUIET: dict[str, Any] = {"shown": False}

CASES: dict[str, list[Case]] = {
    "GET /artifacts": [Case()],
    "GET /artifacts/{uuid}": [Case(("file",))],
    "GET /artifacts/{uuid}/text": [Case(("file",))],
    "DELETE /artifacts/{uuid}": [Case(("file",), **QUIET)],
    "GET /changes": [Case()],
    "POST /changes/{change_id}/undo": [Case(("change",), **QUIET)],
    "GET /chronicle/audit": [Case(**QUIET)],
    "POST /chronicle/repair": [Case(body=told(), **QUIET)],
    "GET /chronicle/sessions": [Case()],
    "GET /chronicle/sessions/{session_id}": [Case(("session",))],
    "GET /chronicle/sessions/{session_id}/transcript": [Case(("session",))],
    "POST /console/login": [Case(body=lambda ids, owner: {"key": "wrong"}, **QUIET)],
    "GET /console/me": [Case(**QUIET)],
    "GET /events": [Case(), Case(query={"after": "event"}, **QUIET)],
    "GET /events/{event_id}/chain": [Case(("event",))],
    "GET /graph/around/{uuid}": [Case((name,)) for name in ("node", "entity", "memory", "session")],
    "GET /graph/beginnings": [Case()],
    "GET /graph/communities": [Case(**QUIET)],
    "GET /graph/episodes": [Case()],
    "POST /graph/episodes": [
        Case(
            body=lambda ids, owner: {"name": "n", "content": "c", "uuid": ids["episode"], "group_id": str(owner)},
            **QUIET,
        )
    ],
    "GET /graph/episodes/{uuid}": [Case(("episode",))],
    "DELETE /graph/episodes/{uuid}": [Case(("episode",), **QUIET)],
    "GET /graph/facts": [Case(), Case(query={"which": "all"})],
    "DELETE /graph/facts/{uuid}": [Case(("fact",), **QUIET)],
    "GET /graph/facts/{uuid}": [Case(("fact",))],
    "PATCH /graph/facts/{uuid}": [Case(("fact",), body=lambda ids, owner: {"fact": "changed"}, **QUIET)],
    "GET /graph/facts/{uuid}/history": [Case(("fact",))],
    "GET /graph/nodes/{uuid}": [Case(("node",)), Case(("entity",))],
    "GET /graph/nodes/{uuid}/facts": [Case(("node",)), Case(("node",), query={"include_invalid": True})],
    "GET /graph/nodes/{uuid}/citations": [Case(("node",), **QUIET)],
    "POST /graph/query": [Case(body=told(query="MATCH (n) RETURN n"), **QUIET)],
    "POST /graph/search": [
        *(Case(body=grouped(query=QUESTION, search_type=kind)) for kind in ("facts", "nodes", "episodes", "messages")),
        Case(body=lambda ids, owner: {"query": QUESTION, "center_node_uuid": ids["node"], "group_ids": [str(owner)]}),
    ],
    "GET /graph/status": [Case(**QUIET)],
    "POST /memory/edges": [Case(body=linked(type="RELATES_TO", properties={"strength": 0.9}), **QUIET)],
    "GET /memory/edges/{uuid}": [Case(("edge",), **QUIET)],
    "DELETE /memory/edges/{uuid}": [Case(("edge",), **QUIET)],
    "POST /memory/maintenance": [Case(body=told(dry_run=False), **QUIET)],
    "GET /memory/nodes": [Case(), Case(query={"label": "Memory"})],
    "POST /memory/nodes": [
        Case(
            body=lambda ids, owner: {
                "user_id": owner,
                "label": "Memory",
                "properties": {"content": "c"},
                "links": [{"type": "RELATES_TO", "to": {"id": ids["memory"]}}],
            },
            **QUIET,
        )
    ],
    "GET /memory/nodes/{uuid}": [Case(("memory",)), Case(("entity",))],
    "PATCH /memory/nodes/{uuid}": [changed(properties={"summary": "changed"})],
    "DELETE /memory/nodes/{uuid}": [Case(("memory",), **QUIET)],
    "GET /memory/nodes/{uuid}/associations": [Case(("memory",))],
    "GET /memory/nodes/{uuid}/edges": [Case(("memory",), **QUIET)],
    "POST /memory/nodes/{uuid}/merge": [
        Case(("memory",), body=lambda ids, owner: {"target_id": ids["memory 2"]}, **QUIET)
    ],
    "POST /memory/nodes/{uuid}/split": [Case(("memory",), **QUIET)],
    "POST /memory/plasticity/decay": [Case(body=told(threshold=1.0, decay=0.5), **QUIET)],
    "POST /memory/plasticity/prune": [Case(body=told(min_strength=0.2), **QUIET)],
    "POST /memory/plasticity/strengthen": [Case(body=linked(amount=0.1), **QUIET)],
    "POST /memory/plasticity/weaken": [Case(body=linked(amount=0.1), **QUIET)],
    "GET /memory/queries/by-concept": [Case(query={"concept": QUESTION}, **QUIET)],
    "GET /memory/queries/contradictions": [Case(**QUIET)],
    "GET /memory/queries/open-questions": [Case(**QUIET)],
    "GET /memory/queries/preferences": [Case(**QUIET)],
    "GET /memory/queries/shared-concepts": [Case(query={"memory_id": "memory"}, **QUIET)],
    "POST /memory/recall": [Case(body=told(query=QUESTION))],
    "GET /memory/strength": [Case()],
    "GET /messages": [Case()],
    "GET /model-calls": [Case(**QUIET), Case(query={"before": "call"}, **QUIET)],
    "GET /model-calls/{call_id}": [Case(("call",))],
    "GET /calendar.ics": [Case(query={"key": "wrong"}, **QUIET)],
    "GET /occasions": [Case(**QUIET)],
    "GET /today": [Case(**QUIET)],
    "GET /reflections": [Case(**QUIET)],
    "GET /reflections/past": [
        Case(query={"question": f"как часто мне нужно {QUESTION}"}, **QUIET),
        Case(query={"question": f"how often do I say {QUESTION}"}),
    ],
    "DELETE /reflections/{key}": [Case(("entity",), **QUIET)],
    "GET /notifications": [Case()],
    "GET /people": [Case()],
    "GET /people/search": [Case(query={"query": QUESTION})],
    "POST /people/merge": [
        Case(body=lambda ids, owner: {"source_id": int(ids["person"]), "target_id": int(ids["person 2"])}, **QUIET)
    ],
    "GET /people/{person_id}": [Case(("person",)), Case(("entity",), **QUIET)],
    "PATCH /people/{person_id}": [Case(("person",), body=lambda ids, owner: {"bio": "changed"}, **QUIET)],
    "DELETE /people/{person_id}": [Case(("person",), **QUIET)],
    "GET /people/{person_id}/messages": [Case(("person",), **QUIET)],
    "GET /people/{person_id}/known": [Case(("person",), **QUIET)],
    "GET /people/{person_id}/mentions": [Case(("person",), **QUIET)],
    "POST /people/{person_id}/split": [Case(("person",), **QUIET)],
    "GET /spend": [Case(**QUIET)],
    "GET /snapshots": [Case()],
    "POST /snapshots/{version}/restore": [Case(("snapshot",), **QUIET)],
    "GET /tasks": [Case()],
    "POST /tasks": [Case(body=told(title="t"), **QUIET)],
    "GET /tasks/{task_id}": [Case(("task",))],
    "PATCH /tasks/{task_id}": [Case(("task",), body=lambda ids, owner: {"title": "changed"}, **QUIET)],
    "DELETE /tasks/{task_id}": [Case(("task",), **QUIET)],
    "GET /disclosures": [Case()],
    "GET /teams": [Case()],
    "GET /timeline": [Case()],
    "GET /timeline/{event_id}": [Case(("event",))],
    "GET /users": [Case(**QUIET)],
}
"""Every route that answers of an owner. One that is missing here fails the suite."""

OF_NOBODY = frozenset(
    line.strip()
    for line in """
    GET /
    GET /openapi.json
    GET /app
    GET /app/app.css
    GET /app/app.js
    GET /app/telegram.js
    GET /app/words.json
    GET /docs
    GET /docs/swagger-ui.css
    GET /docs/swagger-ui-bundle.js
    GET /docs/favicon.png
    GET /healthz
    GET /readyz
    GET /metrics
    POST /console/logout
    DELETE /console/sessions
    GET /simulator
    POST /simulator
    GET /simulator/report
    POST /admin/archive
    POST /admin/mirror/rebuild
    """.strip().splitlines()
)
"""What tells of no owner, and what only the admin may call: an owner's session does not get there at all."""

STREAMS = frozenset({"GET /events/stream", "GET /timeline/stream"})

OPEN = frozenset({"GET /", "GET /healthz", "GET /readyz", "GET /metrics", "GET /openapi.json"})


def routes(app: FastAPI) -> set[str]:
    """Every route of an application, also those that its description leaves out."""
    paths = app.openapi()["paths"]
    return {f"{method.upper()} {path}" for path in paths for method in paths[path]} | set(_undescribed(app.routes))


def _undescribed(inner: Iterable[Any]) -> Iterator[str]:
    for route in inner:
        nested = getattr(route, "routes", None) or getattr(getattr(route, "original_router", None), "routes", None)
        if nested:
            yield from _undescribed(nested)
        elif not route.include_in_schema:
            yield from (f"{method} {route.path}" for method in route.methods - {"HEAD"})


def calls() -> list[tuple[str, Case]]:
    return [(route, case) for route, cases in sorted(CASES.items()) for case in cases]


async def call(
    apart: Isolation, route: str, case: Case, ids: Ids, owner: int | None, headers: Mapping[str, str] | None = None
) -> httpx.Response:
    """The call with these ids in its path, query and body, on behalf of this owner (None: nobody is named)."""
    method, path = route.split(" ", 1)
    for name in case.ids:
        path = re.sub(r"{\w+}", ids[name], path, count=1)
    named = {} if owner is None else {"user_id": owner, "group_id": str(owner)}
    query = named | {name: ids.get(value, value) for name, value in case.query.items()}
    body = None if case.body is None else case.body(ids, owner or ALICE)
    return await apart.stage.client.request(method, path, params=query, json=body, headers=headers)


async def test_every_route_has_its_case(apart: Isolation) -> None:
    """A route that nobody has thought about here fails this test; so does a case whose route is gone."""
    found = routes(apart.stage.app)
    assert sorted(found - CASES.keys() - OF_NOBODY - STREAMS) == []
    assert CASES.keys() - found == set()


async def test_the_owner_himself_is_answered(apart: Isolation) -> None:
    """Alice gets her own things there, canary and all: what is asked is worth asking."""
    faults = []
    for route, case in calls():
        if case.shown:
            answer = await call(apart, route, case, apart.ids, ALICE)
            faults += [(route, answer.text)] if answer.status_code != 200 or CANARY not in answer.text else []
    assert faults == []


async def test_the_admin_asks_on_anothers_behalf(apart: Isolation) -> None:
    """With the server's key and Bob's name, Alice's ids are not found, her texts never told, her rows never changed."""
    before = await apart.alices_rows()
    answers = [(route, case, await call(apart, route, case, apart.ids, BOB)) for route, case in calls()]
    assert [(route, answer.text) for route, case, answer in answers if not _safe(answer, case)] == []
    assert await apart.alices_rows() == before


@pytest.mark.parametrize("named", [ALICE, BOB, None])
@pytest.mark.parametrize("keyed", [False, True], ids=["session", "key"])
async def test_a_session_or_key_sees_its_owner_alone(apart: Isolation, named: int | None, keyed: bool) -> None:
    """With Bob's session or named key, whomever the call names: Alice, himself or nobody."""
    before = await apart.alices_rows()
    headers = apart.key if keyed else apart.session
    answers = [(route, case, await call(apart, route, case, apart.ids, named, headers)) for route, case in calls()]
    assert [(route, answer.text) for route, case, answer in answers if not _safe(answer, case)] == []
    if named == ALICE:
        found = {route for route, _, answer in answers if answer.status_code != 404}
        assert found <= {"POST /console/login", "GET /calendar.ics"}  # it asks for a key of its own
    assert await apart.alices_rows() == before


def _safe(answer: httpx.Response, case: Case) -> bool:
    """Nothing of Alice's is told, and what she alone has is not found."""
    hers = bool(case.ids) and "snapshot" not in case.ids  # versions are counted for each owner by himself
    found = answer.status_code not in {404, 422}
    return (
        CANARY not in answer.text and (answer.status_code < 500 or answer.status_code == 503) and not (hers and found)
    )


@pytest.mark.parametrize("keyed", [False, True], ids=["session", "key"])
async def test_a_session_or_key_gets_nowhere_else(apart: Isolation, keyed: bool) -> None:
    """What only the admin may call is not there for an owner; what is open to all tells nobody's words."""
    for route in sorted(OF_NOBODY - {"POST /console/logout", "DELETE /console/sessions"}):  # they would end the session
        method, path = route.split(" ", 1)
        answer = await apart.stage.client.request(method, path, headers=apart.key if keyed else apart.session)
        assert CANARY not in answer.text
        if route not in OPEN and not path.startswith(("/app", "/docs")):
            assert answer.status_code == 404, (route, answer.text)


async def test_what_is_written_for_bob_is_bobs(apart: Isolation) -> None:
    """An id of Alice's that Bob brings along makes no second thing under it."""
    body = {"name": "n", "content": "c", "uuid": apart.ids["episode"], "group_id": str(BOB)}
    answer = await apart.stage.client.post("/graph/episodes", json=body)
    assert answer.status_code in {404, 409, 422}, answer.text


async def test_streams_follow_one_owner(apart: Isolation) -> None:
    """Neither what happens meanwhile to Alice nor a place of hers to begin at reaches Bob. It ends all streams."""
    stage, now = apart.stage, apart.stage.clock.now()
    for path in ("/events/stream", "/timeline/stream"):
        foreign = await stage.client.get(path, params={"user_id": ALICE}, headers=apart.session)
        assert foreign.status_code == 404
    behind = await stage.client.get("/events/stream", params={"user_id": BOB, "after": apart.ids["event"]})
    assert behind.status_code == 404
    following = [
        asyncio.create_task(stage.client.get(path, params={"user_id": BOB}, headers=headers))
        for path in ("/events/stream", "/timeline/stream")
        for headers in (None, apart.session, apart.key)
    ]
    looking = await _streams_that_wait(len(following))
    for owner, words in ((ALICE, WORDS), (BOB, "звичайна")):
        told: dict[str, Any] = {"user_id": owner, "source": f"user:{owner}", "now": now, "payload": {"text": words}}
        await stage.database.write(lambda c, told=told: events.append(c, "message_received", **told))
    await _streams_that_wait(len(following), looking)
    stage.stopping.set()
    for answer in await asyncio.gather(*following):
        assert "звичайна" in answer.text
        assert CANARY not in answer.text


async def _streams_that_wait(count: int, before: Collection[asyncio.Task[Any]] = ()) -> set[asyncio.Task[Any]]:
    """What they wait for the next commit with, once all of them do so, and none by what it waited with `before`."""
    async with asyncio.timeout(PATIENCE_S):
        while True:
            await asyncio.sleep(0.1)
            tasks = {task for task in asyncio.all_tasks() if "committed" in repr(task.get_coro())}
            if len(tasks.difference(before)) == count:
                return tasks
