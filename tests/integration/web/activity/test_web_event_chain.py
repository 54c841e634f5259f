"""The walk along events over REST, and the teams of an owner."""

from __future__ import annotations

from typing import Any

from sqlalchemy import Connection, insert
from support.interfaces.rest_graph_stage import ANNA, BORIS, NOON, Stage

from internal.events import repository as events
from internal.storage.tables import model_calls
from internal.storage.types import new_id
from internal.tasks.teams import service as teams


def call(turn: str) -> dict[str, Any]:
    row = {"id": new_id(), "user_id": ANNA, "agent": "responder", "model": "m", "at": NOON, "duration_s": 1.5}
    return row | {"prompt_tokens": 7, "completion_tokens": 3, "cost_usd": 0.25, "links": {"turn": turn}, "reply": "no"}


def answered(connection: Connection) -> str:
    """A message, its answer and what was sent: the id of the last."""
    told: dict[str, Any] = {"source": "agent:Responder", "now": NOON, "user_id": ANNA}
    events.append(connection, "message_received", payload={"update_id": 9}, links={"turn": "t1"}, **told)
    events.append(connection, "agent_activity_start", links={"turn": "t1"}, **told)
    events.append(connection, "agent_result", links={"turn": "t1", "message": "m1"}, **told)
    connection.execute(insert(model_calls), [call("t1"), call("t11")])
    return events.append(connection, "message_sent", links={"turn": "t1"}, **told)


async def test_a_chain_goes_back_to_the_update_with_its_model_calls(known: Stage) -> None:
    """Events oldest first, links between them, and the price of the calls made for the turn, without their words."""
    sent = await known.database.write(answered)
    found = (await known.client.get(f"/events/{sent}/chain", params={"user_id": ANNA})).json()
    kinds = ["message_received", "agent_activity_start", "agent_result"]
    assert [event["event_type"] for event in found["back"]] == kinds
    assert (found["back"][0]["payload"]["update_id"], found["event"]["id"], found["cut"]) == (9, sent, False)
    assert {"cause": found["back"][2]["id"], "effect": sent} in found["links"]
    (paid,) = found["calls"]
    assert (paid["cost_usd"], paid["links"], "reply" in paid) == (0.25, {"turn": "t1"}, False)
    first = (await known.client.get(f"/events/{found['back'][0]['id']}/chain", params={"limit": 2})).json()
    assert ([event["event_type"] for event in first["forward"]], first["cut"]) == (kinds[1:], True)


async def test_a_reminders_chain_has_the_call_that_weighed_it(known: Stage) -> None:
    """Of several weighed together, too."""

    def reminded(connection: Connection) -> str:
        told: dict[str, Any] = {"source": "agent:ContextManager", "now": NOON, "user_id": ANNA}
        generated = [
            events.append(connection, "notification_generated", links={"notification": n}, **told) for n in "12"
        ]
        links = {"notification": "2", "message": "m2", "caused_by": generated[1]}
        events.append(connection, "notification_sent", links=links, **told)
        row = call("t1") | {"agent": "context_manager", "links": {"notification": ["1", "2"]}}
        connection.execute(insert(model_calls), [row, call("t2")])
        return events.append(connection, "message_sent", links={"message": "m2"}, **told)

    sent = await known.database.write(reminded)
    found = (await known.client.get(f"/events/{sent}/chain", params={"user_id": ANNA})).json()
    assert [event["event_type"] for event in found["back"]] == ["notification_generated", "notification_sent"]
    assert [paid["agent"] for paid in found["calls"]] == ["context_manager"]


async def test_a_chain_of_nobody_is_not_found(known: Stage) -> None:
    """Neither an unknown event nor another owner's."""
    sent = await known.database.write(answered)
    for event_id, owner in (("unknown", ANNA), (sent, BORIS)):
        answer = await known.client.get(f"/events/{event_id}/chain", params={"user_id": owner})
        assert (answer.status_code, answer.json()["detail"]) == (404, f"there is no event {event_id}")


async def test_teams_are_told_with_members_and_invitations(known: Stage) -> None:
    """A member sees everybody in it; who is only invited sees who asks and to what."""
    family = await known.database.write(lambda c: teams.create(c, ANNA, "Family", NOON))
    await known.database.write(lambda c: teams.invite(c, ANNA, family.id, str(BORIS), NOON))
    hers = (await known.client.get("/teams", params={"user_id": ANNA})).json()
    assert [(team["name"], [one["user_id"] for one in team["members"]]) for team in hers["teams"]] == [
        ("Family", [ANNA])
    ]
    his = (await known.client.get("/teams", params={"user_id": BORIS})).json()
    assert (his["teams"], [one["team_name"] for one in his["invitations"]]) == ([], ["Family"])
    assert his["invitations"][0]["invited_by"] == ANNA
