"""One walks along the events: from a reply back to the update it answers, and forward to what was archived from it."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from sqlalchemy import select
from support.flows.erase_stage import ErasingStage
from support.flows.flow_stage import OTHER, OWNER, Talk

from internal.dialogue.mailbox import repository as mailbox
from internal.dialogue.mailbox.model import InboxRow, InboxState, Outgoing
from internal.events import repository as events
from internal.events.chain import Chain, chain
from internal.events.model import Event
from internal.events.trigger import UpdateTrigger
from internal.events.trigger_events import triggered_by
from internal.flows.sessions.lifecycle import SessionLifecycle
from internal.storage.tables import inbox

PETROV = {"type": "Added", "person": {"display_name": "Петров", "circle": "Friends"}, "evidence": [1]}
ACME = {"name": "ACME", "labels": ["Organization"], "evidence": [1]}
WORKS = {"source": "Петров", "relation": "WORKS_FOR", "target": "ACME", "fact": "Петров в ACME", "evidence": [1]}


async def newest(talk: Talk, kind: str) -> Event:
    return (await talk.events(kind))[-1]


async def walked(talk: Talk, event: Event, user_id: int = OWNER, limit: int = 200) -> Chain:
    found = await talk.read(lambda c: chain(c, user_id, event.id, limit=limit))
    assert found is not None
    return found


def kinds(listed: list[Event]) -> list[str]:
    return [event.event_type for event in listed]


async def test_a_reply_leads_back_to_its_update(talk: Talk) -> None:
    """From the message sent over the answer and its beginning to the message received, with the update's id."""
    await talk.exchange("Привіт", "Вітаю!")
    found = await walked(talk, await newest(talk, "message_sent"))
    assert kinds(found.back) == ["message_received", "agent_activity_start", "agent_result"]
    received, _, answered = found.back
    assert received.payload["update_id"] == await talk.read(lambda c: c.scalar(select(inbox.c.update_id)))
    (message,) = [one for one in await talk.messages() if one.role == "assistant"]
    assert (answered.links or {})["message"] == message.id
    assert found.made_for == [(received.links or {})["turn"]]
    assert found.links == [
        (answered.id, found.event.id),
        (found.back[1].id, answered.id),
        (received.id, found.back[1].id),
    ]


async def test_an_answer_to_several_messages_has_them_all_as_its_cause(talk: Talk) -> None:
    """Messages of one turn are grouped, and each of them led to the answer."""
    await talk.say("one")
    await talk.exchange("two")
    found = await walked(talk, await newest(talk, "message_sent"))
    assert kinds(found.back) == ["message_received", "message_received", "agent_activity_start", "agent_result"]


async def test_a_message_leads_to_what_was_archived_from_it(talk: Talk) -> None:
    """From a message received over its answer and its fragment to the archivist's result, the person and the fact."""
    stage = ErasingStage(talk)
    stage.reply("ACME", people_operations=[PETROV], entities=[ACME], facts=[WORKS])
    await stage.said("Петров тепер в ACME")
    received = await newest(talk, "message_received")
    told = kinds((await walked(talk, received)).forward)
    assert told[:4] == ["agent_activity_start", "agent_result", "message_sent", "dialogue_fragment_published"]
    assert {"fact_created", "agent_result"} <= set(told[5:])
    fact = await newest(talk, "fact_created")
    back = await walked(talk, fact)
    assert received.id in [event.id for event in back.back]
    assert kinds(back.back)[-2:] == ["dialogue_fragment_published", "agent_activity_start"]
    assert (back.back[-1].links or {})["run"] in back.made_for


async def test_every_change_of_memory_has_its_run_or_its_forgetting_as_cause(talk: Talk) -> None:
    """Also a preference that is derived again since the reply names it as a thing, and a fact of a forgotten person."""
    stage = ErasingStage(talk)
    taste = {"label": "Preference", "properties": {"description": "чай", "strength": 0.7}, "evidence": [1]}
    thing = {"name": "чай", "labels": ["Preference"], "evidence": [1]}
    likes = {"source": "user", "relation": "LIKES", "target": "чай", "fact": "Пользователь любит чай", "evidence": [1]}
    lists: dict[str, list[dict[str, Any]]]
    lists = {"people_operations": [PETROV], "entities": [ACME, thing], "facts": [WORKS, likes], "memories": [taste]}
    stage.reply("ACME", **lists)
    await stage.said("Петров тепер в ACME, а я люблю чай")
    (petrov,) = await stage.people()
    await stage.forget("person", str(petrov.id))
    listed = await talk.read(lambda c: events.listing(c, OWNER))
    changes = [event for event in listed if event.event_type.startswith(("memory_", "fact_", "person_"))]
    assert {"memory_changed", "fact_created", "fact_deleted"} <= set(kinds(changes))
    assert [event for event in changes if not (event.links or {}).get("caused_by")] == []
    deleted = await walked(talk, next(event for event in changes if event.event_type == "fact_deleted"))
    assert kinds(deleted.back) == ["forgetting_asked"]


async def test_a_fragment_is_caused_by_what_was_said_in_it_alone(talk: Talk) -> None:
    """Messages and answers of other fragments are no cause of it."""
    await talk.exchange("first")
    await talk.publication().publish_now(OWNER)
    await talk.exchange("second")
    await talk.publication().publish_now(OWNER)
    later = await walked(talk, await newest(talk, "dialogue_fragment_published"))
    received = await newest(talk, "message_received")
    assert [event.id for event in later.back if event.event_type == "message_received"] == [received.id]


async def test_a_closed_session_leads_to_its_analysis(talk: Talk) -> None:
    """The session's end is told, caused by what was said in it."""
    await talk.exchange("Hi")
    lifecycle = SessionLifecycle(["analyst"])
    await talk.write(lambda c: lifecycle.close(c, OWNER, talk.clock.now()))
    closed = await newest(talk, "session_closed")
    assert kinds((await walked(talk, closed)).back)[0] == "message_received"


async def test_an_edit_leads_back_to_the_message(talk: Talk) -> None:
    """What an edit changed is the message that was received."""
    taken = await talk.say("Hi")
    assert taken.message is not None
    await talk.edit(taken.message, "Hello")
    assert kinds((await walked(talk, await newest(talk, "message_edited"))).back) == ["message_received"]


async def test_an_answer_to_a_command_leads_back_to_it(talk: Talk) -> None:
    """A command is no message, but what the bot said to it links to the update that brought it."""
    now, n = talk.clock.now(), await talk.update()
    row = InboxRow(n, 7, 100 + n, "", InboxState.RECEIVED, 0, now)
    trigger = UpdateTrigger(OWNER, row.key, {"update_id": row.update_id}, talk.clock.now())
    await talk.write(lambda c: events.record_trigger(c, trigger, OWNER, now))
    await talk.write(lambda c: mailbox.enqueue(c, Outgoing(OWNER, 7, OWNER, "People", f"{row.key}:1"), now))
    await talk.delivered((await talk.outbox())[-1])
    (command,) = (await walked(talk, await newest(talk, "message_sent"))).back
    assert (command.event_type, command.payload["update_id"]) == ("command_received", 100 + n)


async def test_what_happens_on_an_occasion_is_caused_by_it_too(talk: Talk) -> None:
    """Beside what else led to it, told once however much happens, and of its own user alone."""
    trigger = UpdateTrigger(OWNER, "7:1", {"update_id": 101, "command": "/tasks"}, talk.clock.now())
    told: dict[str, Any] = {"source": "system:test", "now": talk.clock.now()}
    first = await talk.write(lambda c: events.append(c, "first", user_id=OWNER, **told))
    links = {"caused_by": first}
    with triggered_by(trigger):
        await talk.write(lambda c: events.append(c, "second", user_id=OWNER, links=links, **told))
        await talk.write(lambda c: events.append(c, "third", user_id=OWNER, **told))
        await talk.write(lambda c: events.append(c, "third", user_id=OTHER, **told))
    await talk.write(lambda c: events.append(c, "fourth", user_id=OWNER, **told))
    (command,) = await talk.events("command_received")
    assert command.payload == {"update_id": 101, "command": "/tasks"}
    causes = [(await newest(talk, kind)).links for kind in ("second", "third", "fourth")]
    assert causes == [{"caused_by": [first, command.id]}, {"caused_by": command.id}, None]
    assert [one.links for one in await talk.events("third", OTHER)] == [None]


async def test_a_walk_is_bounded_and_says_so(talk: Talk) -> None:
    """The nearest events to either side, and a word that there are more."""
    await talk.exchange("Hi")
    sent = await newest(talk, "message_sent")
    cut = await walked(talk, sent, limit=2)
    assert (kinds(cut.back), cut.cut) == (["agent_activity_start", "agent_result"], True)
    assert not (await walked(talk, sent, limit=3)).cut


async def test_nobody_walks_along_another_owners_events(talk: Talk) -> None:
    """Neither is the event found, nor does a link lead across."""
    await talk.exchange("Hi")
    sent = await newest(talk, "message_sent")
    assert await talk.read(lambda c: chain(c, OTHER, sent.id)) is None
    told: dict[str, Any] = {
        "source": "system:test",
        "now": talk.clock.now() + timedelta(1),
        "links": {"caused_by": sent.id},
    }
    foreign = await talk.write(lambda c: events.append(c, "x", user_id=OTHER, **told))
    assert foreign not in [event.id for event in (await walked(talk, sent)).forward]
    theirs = await talk.read(lambda c: chain(c, OTHER, foreign))
    assert theirs is not None
    assert theirs.back == []
