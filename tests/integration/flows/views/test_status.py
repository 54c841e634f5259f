"""What /status counts."""

from __future__ import annotations

from sqlalchemy import Connection
from support.flows.flow_stage import OWNER, Talk

from internal.dialogue import repository as dialogue
from internal.dialogue.model import HIDDEN_MARK
from internal.flows.forgetting import requests
from internal.flows.views.status import Status, read_status


async def status(talk: Talk) -> Status:
    return await talk.read(lambda c: read_status(c, OWNER, talk.clock.now()))


async def test_only_the_owners_own_messages_wait(talk: Talk) -> None:
    """Neither the bot's answers nor hidden instructions are anything he said."""
    await talk.exchange("Hi")
    await talk.exchange("And more")

    def instruct(connection: Connection) -> None:
        hidden = {HIDDEN_MARK: "yes"}
        dialogue.add(connection, OWNER, "user", "Remind him", now=talk.clock.now(), user_metadata=hidden)
        dialogue.add(connection, OWNER, "system", "He is back", now=talk.clock.now())

    await talk.write(instruct)
    assert (await status(talk)).buffered == 2


async def test_a_question_waits_for_nothing(talk: Talk) -> None:
    """There is nothing in it to be remembered, so it does not call for patience; it is read with the rest."""
    for text in ("Who is Petrov?", "And where? When?", "He lives in Kyiv. Did you know?"):
        await talk.exchange(text)
    assert (await status(talk)).buffered == 1
    assert [fragment.count for fragment in await talk.publication().publish_now(OWNER)] == [6]


async def test_what_is_being_forgotten_waits_for_nothing(talk: Talk) -> None:
    """Neither its messages nor its runs are counted; what is said afterwards is, and once it is undone all are."""
    await talk.exchange("Hi")
    await talk.publication().publish_now(OWNER)
    await talk.exchange("And more")
    assert ((await status(talk)).buffered, (await status(talk)).waiting) == (1, 1)
    talk.clock.advance(1)
    asked = await talk.write(lambda c: requests.ask_forget(c, OWNER, None, now=talk.clock.now()))
    assert ((await status(talk)).buffered, (await status(talk)).waiting) == (0, 0)
    talk.clock.advance(1)
    await talk.exchange("A new beginning")
    assert (await status(talk)).buffered == 1
    await talk.write(lambda c: requests.undo(c, OWNER, asked.id))
    assert ((await status(talk)).buffered, (await status(talk)).waiting) == (2, 1)
