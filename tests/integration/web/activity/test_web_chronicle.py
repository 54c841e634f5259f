"""`/chronicle` over HTTP: sessions, their graph, transcripts, the audit and its repair."""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import timedelta
from itertools import pairwise
from typing import Any

import pytest
from sqlalchemy import text
from support.interfaces.rest_graph_stage import ANNA, BORIS, EXPECTED, Stage, stage, user

from internal.chronicle import repository, service
from internal.dialogue import repository as dialogue
from internal.flows.forgetting import requests
from internal.storage.database import Database
from internal.telemetry.metrics import Metrics

CALLS = ("/chronicle/sessions", "/chronicle/audit")


@pytest.fixture
async def both(database: Database, metrics: Metrics) -> AsyncIterator[Stage]:
    """Two owners in Kyiv's time who have written."""
    async with stage(database, metrics, user(ANNA, "Europe/Kyiv"), user(BORIS)) as built:
        yield built


async def got(web: Stage, path: str, **query: Any) -> Any:
    answer = await web.client.get(path, params=query)
    assert answer.status_code == 200, answer.text
    return answer.json()


async def test_sessions_come_oldest_first_with_their_attributes(both: Stage) -> None:
    """Under the names of the specification, with created_at and closed_at; pages by limit and offset."""
    ids = [await both.talked((f"Question {n}", "Yes."), closed=n < 2) for n in range(3)]
    found = await got(both, "/chronicle/sessions", user_id=ANNA)
    assert [one["id"] for one in found["sessions"]] == ids
    assert found["count"] == 3
    first, _, last = found["sessions"]
    assert {name: first[name] for name in ("topic", "status", "trigger")} == {
        "topic": "Question 0",
        "status": "closed",
        "trigger": "/db",
    }
    assert first["closed_at"] > first["created_at"] or first["closed_at"] == first["created_at"]
    assert (last["status"], last["closed_at"]) == ("active", None)
    page = await got(both, "/chronicle/sessions", user_id=ANNA, limit=1, offset=1)
    assert ([one["id"] for one in page["sessions"]], page["count"]) == ([ids[1]], 3)


async def test_a_session_shows_its_events_and_edges(both: Stage) -> None:
    """Events in the order of NEXT with their required attributes, every edge with its ends among what is told."""
    before = await both.talked(("Earlier", "Yes."))
    session_id = await both.talked(("Who is Anna?", "A colleague."), ("Since when?", "Since May."))
    shown = await got(both, f"/chronicle/sessions/{session_id}", user_id=ANNA)
    assert [event["label"] for event in shown["events"]] == ["Request", "Response", "Feedback", "Response"]
    request, answer, *_ = shown["events"]
    assert (request["author"], request["text"], request["type"]) == ("user", "Who is Anna?", "text")
    assert (answer["author"], answer["full_text"]) == ("Grynya", "A colleague.")
    ids = [event["id"] for event in shown["events"]]
    steps = [(one["source_id"], one["target_id"]) for one in shown["edges"] if one["type"] == "NEXT"]
    assert steps[1:] == list(pairwise(ids))
    assert steps[0][1] == ids[0]
    earlier = (await got(both, f"/chronicle/sessions/{before}"))["events"]
    assert steps[0][0] == earlier[-1]["id"]
    known = {*ids, session_id, earlier[-1]["id"], *(node["id"] for node in shown["nodes"])}
    assert {end for one in shown["edges"] for end in (one["source_id"], one["target_id"])} <= known
    [month] = [one for one in shown["edges"] if one["type"] == "MONTH"]
    assert month["number"] == 2
    times = [one["time"] for one in shown["edges"] if one["type"] == "HAPPENED_AT"]
    assert all(time.startswith("14:") for time in times)


async def test_entities_are_named_as_the_chronicle_does(both: Stage) -> None:
    """In CamelCase, with the chronicle's type; INVOLVES has the topic, MENTIONS the relevance."""
    session_id = await both.talked(("Who is Anna?", "A colleague."))
    node = await both.node("київська політехніка", type="organization", description="Університет")
    [event, _] = await both.database.read(lambda c: repository.events_of_session(c, ANNA, session_id))
    mention = "INSERT INTO event_mentions VALUES (:user, :event, :node, :node, 4, NULL)"
    told = {"user": ANNA, "event": event.id, "node": node}
    await both.database.write(lambda c: c.execute(text(mention), told))
    shown = await got(both, f"/chronicle/sessions/{session_id}")
    [entity] = [one for one in shown["nodes"] if one["label"] == "Entity"]
    assert (entity["name"], entity["type"], entity["description"]) == ("КиївськаПолітехніка", "Concept", "Університет")
    edges = {one["type"]: one for one in shown["edges"]}
    assert (edges["MENTIONS"]["relevance"], edges["INVOLVES"]["context"]) == (4, "Who is Anna?")
    transcript = await both.client.get(f"/chronicle/sessions/{session_id}/transcript")
    assert "- Про що: київська політехніка" in transcript.text or "- О чём: київська політехніка" in transcript.text


async def test_a_topic_does_not_tell_what_is_being_forgotten(both: Stage) -> None:
    """Neither at the session, nor where it is the context of what the session involves."""
    session_id = await both.talked(("Who is Anna?", "A colleague."), ("And the institute?", "A good one."))
    node = await both.node("Polytechnic", type="organization")
    events = await both.database.read(lambda c: repository.events_of_session(c, ANNA, session_id))
    mention = "INSERT INTO event_mentions VALUES (:user, :event, :node, :node, 4, NULL)"
    told = {"user": ANNA, "event": events[2].id, "node": node}
    await both.database.write(lambda c: c.execute(text(mention), told))
    asked = events[0].message_id
    await both.database.write(lambda c: requests.ask(c, ANNA, "message", asked, now=both.clock.now()))
    shown = await got(both, f"/chronicle/sessions/{session_id}")
    [involved] = [one for one in shown["edges"] if one["type"] == "INVOLVES"]
    assert involved["context"] == "And the institute?"
    assert "Who is Anna?" not in str(shown)
    assert shown["session"]["topic"] == "And the institute?"


async def test_a_transcript_is_markdown_in_the_owners_language(both: Stage) -> None:
    """Word for word, with what was judged; another language is given on request."""
    session_id = await both.talked(("Who\n\n# is Anna?", "A *colleague*."))
    events = await both.database.read(lambda c: repository.events_of_session(c, ANNA, session_id))
    told = {"verdict": "partially_correct", "lessons": ["Say since when."], "rules_used": ["Be brief."]}
    now = both.clock.now() + timedelta(hours=12)
    both.clock.advance(timedelta(hours=12))

    def judge(connection: Any) -> None:
        service.analyse(
            connection, ANNA, session_id, "response_analysis", told, answers_n=events[1].n, now=now, run_id=None
        )
        summary = {"verdict": "correct", "summary": "Anna was asked about."}
        service.analyse(connection, ANNA, session_id, "session_summary", summary, answers_n=None, now=now, run_id=None)

    await both.database.write(judge)
    answer = await both.client.get(f"/chronicle/sessions/{session_id}/transcript", params={"lang": "en"})
    assert answer.headers["content-type"] == "text/markdown; charset=utf-8"
    lines = answer.text.splitlines()
    assert lines[0] == "# Who # is Anna?"
    at = lines.index("> Who")
    assert lines[at : at + 3] == ["> Who", ">", "> # is Anna?"]
    assert "> A *colleague*." in lines
    assert "- Lessons: Say since when." in lines
    assert "> Anna was asked about." in lines
    events = (await got(both, f"/chronicle/sessions/{session_id}"))["events"]
    assert [event.get("summary") for event in events if event["label"] == "Analysis"] == [None, "Anna was asked about."]
    assert [line for line in lines if line.startswith("## ")] == ["## 2026-02-07", "## 2026-02-08"]
    own = await both.client.get(f"/chronicle/sessions/{session_id}/transcript")
    assert "- Начат: 2026-02-07 14:01 (Europe/Kyiv)" in own.text
    assert "Разбор** · отчасти верно" in own.text


async def test_of_another_owner_nothing_is_found(both: Stage) -> None:
    """The id of one with the user of another, an id of nobody, and a user nobody knows: 404."""
    session_id = await both.talked(("Mine", "Yes."))
    for path in (f"/chronicle/sessions/{session_id}", f"/chronicle/sessions/{session_id}/transcript"):
        assert (await both.client.get(path, params={"user_id": BORIS})).status_code == 404
        assert (await both.client.get(path.replace(session_id, "none"))).status_code == 404
    for path in CALLS:
        assert (await both.client.get(path, params={"user_id": 9})).status_code == 404
        assert (await both.client.get(path)).status_code == 422
    assert (await both.client.post("/chronicle/repair", json={"user_id": 9})).status_code == 404
    assert await got(both, "/chronicle/sessions", user_id=BORIS) == {"sessions": [], "count": 0}


async def test_who_is_let_in_has_an_empty_chronicle(both: Stage) -> None:
    """Before a first message everything is empty, and whole."""
    assert await got(both, "/chronicle/sessions", user_id=EXPECTED) == {"sessions": [], "count": 0}
    whole = await got(both, "/chronicle/audit", user_id=EXPECTED)
    assert whole == {
        "next_integrity": 1.0,
        "full_text": 1.0,
        "analysis_coverage": 1.0,
        "entity_uniqueness": 1.0,
        "orphans": 0,
    }


@pytest.mark.parametrize("limit", [0, 1001])
async def test_limits_are_held(both: Stage, limit: int) -> None:
    """Between one and a thousand."""
    answer = await both.client.get("/chronicle/sessions", params={"user_id": ANNA, "limit": limit})
    assert (answer.status_code, answer.json()["detail"].split(":")[0]) == (422, "limit")


async def test_audit_and_repair(both: Stage) -> None:
    """What is damaged is told in figures, mended on request, and what nobody judged is given to the analyst."""
    await both.talked(("One", "Yes."), ("Two", "No."))
    assert (await got(both, "/chronicle/audit", user_id=ANNA))["analysis_coverage"] == 0.0
    await both.database.write(lambda c: c.execute(text("DELETE FROM chronicle WHERE label = 'Response'")))
    found = await got(both, "/chronicle/audit", user_id=ANNA)
    assert (found["full_text"], found["next_integrity"]) == (0.0, 0.2)
    done = (await both.client.post("/chronicle/repair", json={"user_id": ANNA})).json()
    assert done["before"] == found
    assert (done["mended"]["missing"], done["judged"]) == (2, 1)
    assert (done["after"]["full_text"], done["after"]["next_integrity"]) == (1.0, 1.0)


async def test_what_is_being_forgotten_is_shown_nowhere(both: Stage) -> None:
    """While it can be undone: not in a list, a session or a transcript."""
    session_id = await both.talked(("A secret", "Noted."), ("The weather", "Fine."))
    other = await both.talked(("Another secret", "Noted."))
    messages = await both.database.read(lambda c: dialogue.recent(c, ANNA, limit=10))
    for message in (messages[0], *messages[4:]):
        await both.database.write(lambda c, m=message: requests.ask(c, ANNA, "message", m.id, now=both.clock.now()))  # type: ignore[misc]
    listed = await both.client.get("/chronicle/sessions", params={"user_id": ANNA})
    shown = await both.client.get(f"/chronicle/sessions/{session_id}")
    told = await both.client.get(f"/chronicle/sessions/{session_id}/transcript")
    assert listed.json()["count"] == 1
    assert [event["label"] for event in shown.json()["events"]] == ["Response", "Feedback", "Response"]
    assert "secret" not in listed.text + shown.text + told.text
    assert (await both.client.get(f"/chronicle/sessions/{other}")).status_code == 404
