"""What the console shows of messages while their forgetting can still be undone: nothing."""

from __future__ import annotations

import json
from typing import Any

import pytest
from sqlalchemy import Connection
from support.interfaces.rest_graph_stage import ANNA, Stage

from internal.dialogue import repository as dialogue
from internal.events import repository as events
from internal.flows.forgetting import requests
from internal.storage.types import new_id
from internal.telemetry import call_repository

SECRET, PLAIN = "The safe opens with 4711 to the left.", "Good morning to all of you."


def call(name: str, at: Any, prompt: str, **links: str) -> dict[str, Any]:
    return {
        "id": name, "user_id": ANNA, "agent": "responder", "model": "m", "at": at, "duration_s": 1.5,
        "prompt_tokens": 10, "completion_tokens": 5, "cost_usd": 0.01, "prompt": [{"role": "user", "content": prompt}],
        "reply": "Noted", "error": None, "links": links,
    }  # fmt: skip


async def talked(known: Stage) -> str:
    """Two messages with their events, and calls: for the turn of the first, with its words, and with neither. Its id.

    The other words come first.
    """
    now, turn = known.clock.now(), new_id()

    def work(connection: Connection) -> str:
        plain = dialogue.add(connection, ANNA, "user", PLAIN, now=now)
        secret = dialogue.add(connection, ANNA, "user", SECRET, now=now, turn_id=turn)
        for said in (plain, secret):
            told = {"message": said.id}
            source = f"user:{ANNA}"
            events.append(connection, "message_received", source=source, now=now, user_id=ANNA, payload=told)
        calls = [call("for-it", now, "Hello", turn=turn), call("with-it", now, f"<log>{SECRET}</log>", turn="other")]
        call_repository.add(connection, [*calls, call("without", now, PLAIN, turn="other")])
        return secret.id

    return await known.database.write(work)


async def seen(known: Stage) -> tuple[list[str], list[str | None], list[str]]:
    """The words of the messages, those beside events, and which calls have theirs."""

    async def got(path: str) -> Any:
        return (await known.client.get(path, params={"user_id": ANNA})).json()

    messages = [one["content"] for one in (await got("/messages"))["messages"]]
    told = [one for one in (await got("/timeline"))["events"] if one["event_type"] == "message_received"]
    alone = [(await got(f"/timeline/{one['id']}"))["text"] for one in told]
    assert alone == [one["text"] for one in told]
    calls = {name: await got(f"/model-calls/{name}") for name in ("for-it", "with-it", "without")}
    assert all((one["prompt"] is None) == (one["reply"] is None) for one in calls.values())
    return messages, alone, [name for name, one in calls.items() if one["prompt"] is not None]


ALL = ([PLAIN, SECRET], [PLAIN, SECRET], ["for-it", "with-it", "without"])


@pytest.mark.parametrize(
    ("kind", "left"),
    [("message", ([PLAIN], [PLAIN, None], ["without"])), ("everything", ([], [None, None], []))],
)
async def test_what_is_about_to_be_forgotten_is_not_shown(known: Stage, kind: Any, left: Any) -> None:
    """Until it is undone: not in the talk, not beside its event, in no prompt that holds it."""
    message_id = await talked(known)
    assert await seen(known) == ALL
    ref_id, now = message_id if kind == "message" else None, known.clock.now()
    asked = await known.database.write(lambda c: requests.ask(c, ANNA, kind, ref_id, now=now))
    assert await seen(known) == left
    await known.database.write(lambda c: requests.undo(c, ANNA, asked.id))
    assert await seen(known) == ALL


@pytest.mark.parametrize(
    ("kind", "gone"), [("fact", ["with-fact", "of-fact"]), ("entity", ["with-fact", "of-fact", "of-name"])]
)
async def test_a_prompt_that_tells_what_is_to_be_forgotten_is_not_shown(known: Stage, kind: Any, gone: Any) -> None:
    """A fact is told by its words, in the prompt or the reply; a thing by its name, however it is declined."""
    told, now = "Rubin opened an office in Lviv", known.clock.now()
    rubin, lviv = await known.node("Rubin"), await known.node("Lviv")
    fact_id, _ = await known.tell(rubin, "HAS_OFFICE_IN", lviv, told)
    names = ("with-fact", "of-fact", "of-name", "of-neither")

    def calls(connection: Connection) -> None:
        rows = [
            call("with-fact", now, f"<facts>\n- {told} \n</facts>"),
            call("of-fact", now, "Hello") | {"reply": json.dumps({"fact": told})},
            call("of-name", now, "We met at Rubin's"),
            call("of-neither", now, "We met at Rubinstein's"),
        ]
        call_repository.add(connection, rows)

    async def shown() -> list[str]:
        answers = [await known.client.get(f"/model-calls/{name}", params={"user_id": ANNA}) for name in names]
        return [one["id"] for one in (answer.json() for answer in answers) if one["prompt"] is not None]

    await known.database.write(calls)
    assert await shown() == list(names)
    ref_id = fact_id if kind == "fact" else rubin
    asked = await known.database.write(lambda c: requests.ask(c, ANNA, kind, ref_id, now=now))
    assert await shown() == [name for name in names if name not in gone]
    await known.database.write(lambda c: requests.undo(c, ANNA, asked.id))
    assert await shown() == list(names)
