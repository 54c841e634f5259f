"""The description of the API is complete and true: schemathesis holds the running server to it."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path
from typing import Any

import pytest
from support.interfaces.rest_graph_stage import ANNA, KEY, Stage
from support.long import LONG
from support.patience import PATIENCE_S

from bot.web.http.body_limit import LARGEST_BODY
from bot.web.http.sessions import OWNERS_PATHS
from bot.web.server.uvicorn import serving

CALLS = frozenset(
    """
    GET /
    GET /artifacts
    DELETE /artifacts/{uuid}
    GET /artifacts/{uuid}
    GET /artifacts/{uuid}/text
    GET /changes
    POST /changes/{change_id}/undo
    GET /chronicle/audit
    POST /chronicle/repair
    GET /chronicle/sessions
    GET /chronicle/sessions/{session_id}
    GET /chronicle/sessions/{session_id}/transcript
    POST /console/login
    POST /console/logout
    GET /console/me
    DELETE /console/sessions
    GET /disclosures
    GET /events
    GET /events/{event_id}/chain
    GET /graph/around/{uuid}
    GET /graph/beginnings
    GET /graph/communities
    GET /graph/episodes
    POST /graph/episodes
    DELETE /graph/episodes/{uuid}
    GET /graph/episodes/{uuid}
    GET /graph/facts
    DELETE /graph/facts/{uuid}
    GET /graph/facts/{uuid}
    PATCH /graph/facts/{uuid}
    GET /graph/facts/{uuid}/history
    GET /graph/nodes/{uuid}
    GET /graph/nodes/{uuid}/citations
    GET /graph/nodes/{uuid}/facts
    POST /graph/query
    POST /graph/search
    GET /graph/status
    GET /healthz
    POST /memory/edges
    DELETE /memory/edges/{uuid}
    GET /memory/edges/{uuid}
    POST /memory/maintenance
    GET /memory/nodes
    POST /memory/nodes
    DELETE /memory/nodes/{uuid}
    GET /memory/nodes/{uuid}
    PATCH /memory/nodes/{uuid}
    GET /memory/nodes/{uuid}/associations
    GET /memory/nodes/{uuid}/edges
    POST /memory/nodes/{uuid}/merge
    POST /memory/nodes/{uuid}/split
    POST /memory/plasticity/decay
    POST /memory/plasticity/prune
    POST /memory/plasticity/strengthen
    POST /memory/plasticity/weaken
    GET /memory/queries/by-concept
    GET /memory/queries/contradictions
    GET /memory/queries/open-questions
    GET /memory/queries/preferences
    GET /memory/queries/shared-concepts
    POST /memory/recall
    GET /memory/strength
    GET /messages
    GET /metrics
    GET /model-calls
    GET /model-calls/{call_id}
    GET /notifications
    GET /occasions
    GET /people
    POST /people/merge
    GET /people/search
    DELETE /people/{person_id}
    GET /people/{person_id}
    PATCH /people/{person_id}
    GET /people/{person_id}/known
    GET /people/{person_id}/mentions
    GET /people/{person_id}/messages
    POST /people/{person_id}/split
    GET /readyz
    GET /reflections
    GET /reflections/past
    DELETE /reflections/{key}
    GET /snapshots
    POST /snapshots/{version}/restore
    GET /spend
    GET /tasks
    POST /tasks
    DELETE /tasks/{task_id}
    GET /tasks/{task_id}
    PATCH /tasks/{task_id}
    GET /teams
    GET /timeline
    GET /timeline/{event_id}
    GET /today
    GET /users
    """.strip().split("\n    ")
)

PHASES, EXAMPLES = ("coverage,fuzzing", "2") if LONG else ("fuzzing", "1")
"""The coverage phase tries the bounds of every field, hundreds of calls; the short run makes one drawn call of each."""

CHECKS = (
    "not_a_server_error,status_code_conformance,content_type_conformance,response_headers_conformance,"
    "response_schema_conformance,negative_data_rejection,ignored_auth,unsupported_method"
)
"""All that tell of the server. What is valid by the schema alone may still be refused: a person merged into himself."""


async def described(stage: Stage) -> Any:
    return (await stage.client.get("/openapi.json")).json()


async def test_every_call_is_described(sole: Stage) -> None:
    """With its answer and its refusals; who needs the key says so, and refusals are one sentence each."""
    api = await described(sole)
    calls = {
        f"{method.upper()} {path}": call for path, methods in api["paths"].items() for method, call in methods.items()
    }
    assert set(calls) == set(CALLS)
    for name, call in calls.items():
        keyed = name.removeprefix("GET ") not in {"/", "/healthz", "/readyz", "/metrics", "POST /console/login"}
        assert ("security" in call) == keyed, name
        if keyed:
            assert {"401", "403", "422"} <= set(call["responses"]), name
            for status, answer in call["responses"].items():
                if status >= "400":
                    assert answer["content"]["application/json"]["schema"] == {"$ref": "#/components/schemas/Refusal"}
    assert "HTTPValidationError" not in api["components"]["schemas"]
    assert "/events/stream" in api["info"]["description"]


async def test_the_description_needs_no_key(sole: Stage) -> None:
    """It tells of nobody; a foreign Host does not get it."""
    del sole.client.headers["Authorization"]
    assert (await sole.client.get("/openapi.json")).status_code == 200
    assert (await sole.client.get("/openapi.json", headers={"Host": "evil.example"})).status_code == 403


async def test_every_call_about_one_owner_is_open_to_that_owner(sole: Stage) -> None:
    """A path that takes `user_id` and is not among the owners' would answer 404 to a session or a Mini App."""
    paths: dict[str, dict[str, Any]] = (await sole.client.get("/openapi.json")).json()["paths"]
    about_one = [
        path
        for path, calls in paths.items()
        for call in calls.values()
        if any(one["name"] == "user_id" for one in call.get("parameters", ()))
    ]
    assert about_one
    assert [path for path in about_one if not any(path.startswith(place) for place in OWNERS_PATHS)] == []


def settings(known: dict[str, tuple[str, str | int]]) -> str:
    """schemathesis.toml: the key, the user, and for some calls an id that exists."""
    lines = [f'headers = {{ Authorization = "Bearer {KEY}" }}', "[parameters]", f"user_id = {ANNA}"]
    lines.append(f'group_id = "{ANNA}"')
    for call, (field, value) in known.items():
        told = f'"{value}"' if isinstance(value, str) else value
        lines += ["[[operations]]", f'include-name = "{call}"', f'parameters = {{ "path.{field}" = {told} }}']
    return "\n".join(lines)


async def test_the_server_is_as_described(sole: Stage, tmp_path: Path) -> None:
    """Nothing above 4xx whatever is sent, and every answer in the form that was promised, by schemathesis itself.

    Ids that exist are given, so that answers are compared and not only refusals.
    """
    anna, acme = await sole.node("Anna"), await sole.node("ACME", labels=["Organization"])
    fact, episode = await sole.tell(anna, "WORKS_FOR", acme, "Anna works for ACME", "2020-05-01")
    _, deleted = await sole.tell(anna, "LIKES", acme, "Anna likes ACME")
    erased, _ = await sole.tell(anna, "KNOWS", acme, "Anna knows ACME")
    person = await sole.person("Петров")
    session = await sole.talked(("Who is Anna?", "She works for ACME."))
    told = {"user_id": ANNA, "label": "Memory", "properties": {"content": "Anna likes tea"}}
    memory, doomed = [(await sole.client.post("/memory/nodes", json=told)).json()["id"] for _ in range(2)]
    task, dropped = [
        (await sole.client.post("/tasks", json={"user_id": ANNA, "title": f"Task {n}"})).json()["id"] for n in (1, 2)
    ]
    await sole.follow()
    known: dict[str, tuple[str, str | int]] = {
        "GET /chronicle/sessions/{session_id}": ("session_id", session),
        "GET /chronicle/sessions/{session_id}/transcript": ("session_id", session),
        "GET /graph/around/{uuid}": ("uuid", acme),
        "DELETE /graph/facts/{uuid}": ("uuid", erased),
        "GET /graph/facts/{uuid}": ("uuid", fact),
        "PATCH /graph/facts/{uuid}": ("uuid", fact),
        "GET /graph/facts/{uuid}/history": ("uuid", fact),
        "GET /graph/nodes/{uuid}": ("uuid", acme),
        "GET /graph/nodes/{uuid}/citations": ("uuid", acme),
        "GET /graph/nodes/{uuid}/facts": ("uuid", acme),
        "GET /graph/episodes/{uuid}": ("uuid", episode),
        "DELETE /graph/episodes/{uuid}": ("uuid", deleted),
        "DELETE /memory/nodes/{uuid}": ("uuid", doomed),
        "GET /memory/nodes/{uuid}": ("uuid", memory),
        "PATCH /memory/nodes/{uuid}": ("uuid", memory),
        "GET /memory/nodes/{uuid}/associations": ("uuid", memory),
        "GET /memory/nodes/{uuid}/edges": ("uuid", memory),
        "GET /people/{person_id}": ("person_id", person.id),
        "PATCH /people/{person_id}": ("person_id", person.id),
        "GET /people/{person_id}/known": ("person_id", person.id),
        "GET /people/{person_id}/mentions": ("person_id", person.id),
        "GET /people/{person_id}/messages": ("person_id", person.id),
        "DELETE /tasks/{task_id}": ("task_id", dropped),
        "GET /tasks/{task_id}": ("task_id", task),
        "PATCH /tasks/{task_id}": ("task_id", task),
    }
    (tmp_path / "schemathesis.toml").write_text(settings(known), encoding="utf-8")
    await sole.client.get("/openapi.json")  # made once: a busy machine takes longer for it than schemathesis waits
    async with serving(sole.app, "127.0.0.1", 0) as server:
        command = [str(Path(sys.executable).with_name("st")), "--config-file", "schemathesis.toml", "run"]
        command += [f"{server.url}/openapi.json", "--checks", CHECKS, "--phases", PHASES]
        command += ["--max-examples", EXAMPLES, "--seed", "1", "--no-color", "--suppress-health-check", "all"]
        command += ["--request-timeout", str(PATIENCE_S)]
        process = await asyncio.create_subprocess_exec(
            *command, cwd=tmp_path, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.STDOUT
        )
        told = (await process.communicate())[0].decode()
    assert process.returncode == 0, told[-6_000:]
    assert f"Selected: {len(CALLS)}/{len(CALLS)}" in told
    assert (await sole.client.get(f"/graph/facts/{fact}")).json()["expired_at"] is not None


async def test_a_body_has_an_end(sole: Stage) -> None:
    """413 by its declared length before any of it is read, and as soon as too much has come where none is declared."""
    headers = {"Content-Type": "application/json"}

    async def endless() -> Any:
        for _ in range(LARGEST_BODY // 65_536 + 2):
            yield b" " * 65_536

    for content in (b" " * (LARGEST_BODY + 1), endless()):
        answer = await sole.client.post("/graph/episodes", content=content, headers=headers)
        assert (answer.status_code, answer.json()) == (413, {"detail": f"body: at most {LARGEST_BODY} bytes at a time"})
    longest = {"name": "n", "content": "ї" * 500_000}
    assert (await sole.client.post("/graph/episodes", json=longest)).status_code == 202
    escaped = b'{"name": "n", "content": "' + b"\\u0457" * 500_000 + b'"}'
    assert (await sole.client.post("/graph/episodes", content=escaped, headers=headers)).status_code == 202


@pytest.mark.parametrize(
    ("method", "path", "allowed"),
    [
        ("PUT", "/people/1", "DELETE, GET, PATCH"),
        ("PATCH", "/people/merge", "POST"),
        ("POST", "/people/search", "GET"),
        ("PUT", "/graph/episodes", "GET, POST"),
        ("POST", "/graph/episodes/x", "DELETE, GET"),
    ],
)
async def test_other_methods_are_told_which_there_are(sole: Stage, method: str, path: str, allowed: str) -> None:
    """405 with every method of the path."""
    answer = await sole.client.request(method, path)
    assert (answer.status_code, answer.headers["Allow"]) == (405, allowed)


async def test_without_the_key_no_call_answers(sole: Stage) -> None:
    """401 on each described call but those of probes, 403 under a foreign name."""
    for call in CALLS:
        method, path = call.split(" ")
        if path in {"/", "/healthz", "/readyz", "/metrics", "/console/login"}:
            continue
        bare = {"Authorization": ""}
        assert (await sole.client.request(method, path, headers=bare)).status_code == 401, call
        assert (await sole.client.request(method, path, headers={"Host": "evil.example"})).status_code == 403, call
    assert (await sole.client.get(f"/events/stream?user_id={ANNA}", headers={"Authorization": ""})).status_code == 401
