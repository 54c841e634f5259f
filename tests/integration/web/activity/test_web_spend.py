"""What the console reads beside single things: lists of facts, strengths of memories, what the models cost, queues."""

from __future__ import annotations

from typing import Any

from sqlalchemy import Connection
from support.interfaces.rest_graph_stage import ANNA, BORIS, NOON, Stage

from internal.access import repository as users
from internal.graph import store


async def read(stage: Stage, path: str, **query: Any) -> Any:
    answer = await stage.client.get(path, params={"user_id": ANNA} | query)
    assert answer.status_code == 200, answer.text
    return answer.json()


async def test_facts_are_listed_newest_first(known: Stage) -> None:
    """With the names of their ends and their receipts; what was corrected is among all, not among what holds."""
    anna, acme = await known.node("Anna"), await known.node("ACME")
    first, _ = await known.tell(anna, "WORKS_FOR", acme, "Anna works for ACME")
    second, _ = await known.tell(anna, "LIKES", acme, "Anna likes ACME")
    told = await read(known, "/graph/facts")
    assert ([one["uuid"] for one in told["facts"]], told["count"]) == ([second, first], 2)
    assert told["names"] == {anna: "Anna", acme: "ACME"}
    assert told["facts"][0]["evidence"][0]["quote"] == "Anna likes ACME"
    assert (await known.client.patch(f"/graph/facts/{first}", json={"fact": "Anna runs ACME"})).status_code == 200
    assert [(await read(known, "/graph/facts", which=which))["count"] for which in ("current", "ended", "all")] == [
        2, 0, 3,
    ]  # fmt: skip
    assert [one["uuid"] for one in (await read(known, "/graph/facts", limit=1, offset=1))["facts"]] == [second]


async def test_spend_is_told_by_day_and_agent(known: Stage) -> None:
    """Of one owner, or of all together; earlier days than were asked for are left out."""

    def spend(connection: Connection) -> None:
        for user_id, day, cost in ((ANNA, "2026-02-06", 0.25), (ANNA, "2026-02-07", 0.5), (BORIS, "2026-02-07", 1.0)):
            users.add_spend(connection, user_id, day, "responder", tokens=10, cost_usd=cost)

    await known.database.write(spend)
    told = await read(known, "/spend", days=2)
    assert (told["first"], told["last"]) == ("2026-02-06", "2026-02-07")
    row = {"agent": "responder", "calls": 1, "tokens": 10}
    assert told["spent"] == [
        {"day": "2026-02-06", "cost_usd": 0.25, **row},
        {"day": "2026-02-07", "cost_usd": 0.5, **row},
    ]
    everybody = (await known.client.get("/spend", params={"days": 1})).json()
    assert [(one["calls"], one["cost_usd"]) for one in everybody["spent"]] == [(2, 1.5)]


async def test_strength_tells_what_is_left_of_memories(known: Stage) -> None:
    """The most faded first; one of a half-life ago has half of its confidence left, and a day on which it fades."""

    def remember(connection: Connection) -> tuple[str, str]:
        told = {"content": "c", "summary": "s", "confidence": 0.8}
        old = store.add_node(connection, ANNA, "Memory", told, now=NOON)
        known.clock.set(NOON.replace(month=5, day=8))
        return old.id, store.add_node(connection, ANNA, "Memory", told, now=known.clock.now()).id

    old, new = await known.database.write(remember)
    told = await read(known, "/memory/strength")
    assert [(one["id"], round(one["retention"], 3)) for one in told["memories"]] == [(old, 0.4), (new, 0.8)]
    assert (told["half_life_days"], told["count"], told["spread"]) == (90, 2, [0, 0, 0, 0, 1, 0, 0, 0, 1, 0])
    assert told["memories"][0]["faded_at"].startswith("2027-02-02")
    strongest = await read(known, "/memory/strength", first="strongest", limit=1)
    assert [one["id"] for one in strongest["memories"]] == [new]
