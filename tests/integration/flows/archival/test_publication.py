"""Idle and full dialogues become fragments, once, whole, and without what is no evidence."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings, strategies as st
from sqlalchemy import Connection, select
from support.flows.flow_stage import BOT, OTHER, OWNER, Talk, prepared
from support.long import examples
from support.stores.stores import refuse, relent, where

from internal.access import repository as users
from internal.dialogue import repository as dialogue
from internal.dialogue.buffers import DialogueBuffers
from internal.dialogue.model import HIDDEN_MARK, DialogueState
from internal.errors import Refused, StorageError
from internal.flows.archival.publication import LOOKED_BACK
from internal.flows.forgetting.requests import ask_forget
from internal.storage.database import Database
from internal.storage.tables import dialogue_state, episodes, messages, runs, segments

IDLE = timedelta(minutes=31)


async def lengths(talk: Talk) -> list[int]:
    """How many messages each fragment holds, oldest first."""
    query = select(episodes.c.first_seq, episodes.c.last_seq).order_by(episodes.c.first_seq)
    rows = await talk.read(lambda c: c.execute(query).all())
    return [last - first + 1 for first, last in rows]


async def test_an_idle_dialogue_is_published_and_closed(talk: Talk) -> None:
    """One fragment with one run; its messages belong to it, the cursor stands behind it, the buffer is gone."""
    await talk.exchange("Hi")
    talk.clock.advance(IDLE)
    assert await talk.publication().publish_due() == 1
    assert await lengths(talk) == [2]
    [event] = await talk.events("dialogue_fragment_published")
    assert event.source == "agent:DialogueAgent"
    assert {message.episode_id for message in await talk.messages()} == {event.payload["episode"]}
    state = await talk.read(lambda c: dialogue.get_dialogue_state(c, OWNER))
    assert state is not None
    assert (state.last_published_message_id, state.is_active) == ((await talk.messages())[-1].id, False)
    assert len(talk.buffers) == 0
    assert await talk.publication().publish_due() == 0


async def test_a_dialogue_that_goes_on_is_not_idle(talk: Talk) -> None:
    """A message or an answer is activity."""
    await talk.exchange("Hi")
    talk.clock.advance(timedelta(minutes=20))
    await talk.exchange("Still here")
    talk.clock.advance(timedelta(minutes=20))
    assert await talk.publication().publish_due() == 0


async def test_an_edit_of_what_was_archived_makes_it_newer(talk: Talk) -> None:
    """It stays in its fragment, and its `rev` tells a re-derivation that what was made of it is stale."""
    await talk.exchange("Hi")
    await talk.publication().publish_now(OWNER)
    before = (await talk.messages())[0]
    assert before.episode_id is not None
    edited = await talk.edit(before, "Hello")
    assert edited is not None
    assert edited.rev > max(message.rev for message in [before, (await talk.messages())[1]])
    assert (edited.episode_id, edited.seq) == (before.episode_id, before.seq)
    assert talk.buffers.of(OWNER) == []


async def test_a_question_to_another_bot_holds_nothing_up(talk: Talk) -> None:
    """It waits for that bot's token, which may never come back; the dialogue with the new one is archived."""
    await talk.ask("To the old bot")
    await talk.write(lambda c: users.write_setting(c, "bot_id", BOT))
    talk.clock.advance(IDLE)
    assert await talk.publication().publish_due() == 0
    await talk.write(lambda c: users.write_setting(c, "bot_id", BOT + 1))
    assert await talk.publication().publish_due() == 1
    assert await lengths(talk) == [1]


async def test_a_question_without_its_answer_is_not_published(talk: Talk) -> None:
    """The dialogue waits until the turn is over, however long that takes; what was settled before it goes."""
    await talk.exchange("Hi")
    turn = await talk.ask("And?")
    talk.clock.advance(IDLE)
    await talk.publication().publish_due()
    assert await lengths(talk) == [2]
    await talk.flow().answer(turn)
    talk.clock.advance(IDLE)
    await talk.publication().publish_due()
    assert await lengths(talk) == [2, 2]


async def test_a_full_dialogue_is_published_at_the_border_of_a_turn(talk: Talk) -> None:
    """Without silence, and without ending the dialogue."""
    for number in range(3):
        await talk.exchange(str(number))
    assert await talk.publication(max_messages=5).publish_due() == 1
    assert await lengths(talk) == [4]
    state = await talk.read(lambda c: dialogue.get_dialogue_state(c, OWNER))
    assert state is not None
    assert state.is_active
    left = [message.content for message in await talk.messages() if message.seq in talk.buffers.of(OWNER)]
    assert left == ["2", "Answer."]


async def test_without_buffers_the_store_says_what_is_full(talk: Talk) -> None:
    """Where other processes write too: a dialogue that goes on is found again at each look, a silent one no more."""
    talk.buffers.kept = False
    publication = talk.publication(max_messages=5)
    for number in range(3):
        await talk.exchange(str(number))
        assert len(talk.buffers) == 0
        assert await publication.publish_due() == (1 if number == 2 else 0)
    assert await lengths(talk) == [4]
    assert await talk.read(lambda c: dialogue.full_since(c, None, 2)) == [OWNER]
    assert await talk.read(lambda c: dialogue.full_since(c, None, 3)) == []
    later = talk.clock.now() + timedelta(minutes=1)
    assert await talk.read(lambda c: dialogue.full_since(c, later, 2)) == []


async def test_a_look_that_failed_is_made_up_for(talk: Talk, monkeypatch: pytest.MonkeyPatch) -> None:
    """What became full before it is found by the next look."""
    talk.buffers.kept = False
    publication = talk.publication(max_messages=4)
    assert await publication.publish_due() == 0
    talk.clock.advance(LOOKED_BACK * 3)
    for number in range(2):
        await talk.exchange(str(number))
    talk.clock.advance(LOOKED_BACK * 2)
    read, failures = talk.database.read, iter([True])

    async def failing(work: Callable[[Connection], Any]) -> Any:
        found = await read(work)
        if found == [OWNER] and next(failures, False):
            raise StorageError("away")
        return found

    monkeypatch.setattr(talk.database, "read", failing)
    with pytest.raises(StorageError):
        await publication.publish_due()
    assert await publication.publish_due() == 1


async def test_what_is_full_is_counted_from_each_owners_own_place(talk: Talk) -> None:
    """Two dialogues were published, to different places: of each, what waits behind its own place is counted."""
    talk.buffers.kept = False
    for owner, published, waiting in ((OWNER, 3, 1), (OTHER, 1, 2)):
        for number in range(published):
            await talk.exchange(str(number), user_id=owner)
        await talk.publication().publish_now(owner)
        for number in range(waiting):
            await talk.exchange(str(number), user_id=owner)
    assert sorted(await talk.read(lambda c: dialogue.full_since(c, None, 2))) == [OWNER, OTHER]
    assert await talk.read(lambda c: dialogue.full_since(c, None, 4)) == [OTHER]
    assert await talk.read(lambda c: dialogue.full_since(c, None, 5)) == []


async def test_a_long_backlog_becomes_several_fragments(talk: Talk) -> None:
    """Idle and longer than a fragment: all of it, in order."""
    for number in range(5):
        await talk.exchange(str(number))
    talk.clock.advance(IDLE)
    assert await talk.publication(max_messages=4).publish_due() == 3
    assert await lengths(talk) == [4, 4, 2]


async def test_what_is_no_evidence_has_no_number(talk: Talk) -> None:
    """Hidden instructions, system messages and answers nobody got are in the fragment, not among its segments."""
    await talk.exchange("Hi")
    now = talk.clock.now()

    def work(c: object) -> None:
        dialogue.add(c, OWNER, "user", "hidden", now=now, user_metadata={HIDDEN_MARK: True})  # type: ignore[arg-type]
        dialogue.add(c, OWNER, "system", "note", now=now)  # type: ignore[arg-type]
        dialogue.add(c, OWNER, "assistant", "lost", now=now, delivery="refused")  # type: ignore[arg-type]

    await talk.write(work)
    await talk.publication().publish_now(OWNER)
    assert await lengths(talk) == [5]
    query = select(messages.c.content).join(segments, segments.c.message_id == messages.c.id).order_by(segments.c.n)
    assert (await talk.read(lambda c: c.execute(query).scalars().all())) == ["Hi", "Answer."]


async def test_a_fragment_is_cut_into_even_runs_for_each_agent(talk: Talk) -> None:
    """No model call gets more than sixty messages."""
    for _ in range(50):
        await talk.say("…")
        talk.clock.advance(5)
        await talk.write(lambda c: c.exec_driver_sql("UPDATE turns SET state = 'closed'"))
    for _ in range(40):
        await talk.say("…")
    await talk.write(lambda c: c.exec_driver_sql("UPDATE turns SET state = 'closed'"))
    await talk.publication(agents=("archivist", "analyst")).publish_now(OWNER)
    query = select(runs.c.agent, runs.c.first_n, runs.c.last_n).order_by(runs.c.agent.desc(), runs.c.first_n)
    made = await talk.read(lambda c: [tuple(row) for row in c.execute(query)])
    assert made == [(agent, *borders) for agent in ("archivist", "analyst") for borders in ((1, 45), (46, 90))]


async def test_archiving_now_leaves_the_dialogue_open(talk: Talk) -> None:
    """`/archive` publishes what is waiting; silence then closes a dialogue with nothing left, and its buffer goes."""
    await talk.exchange("Hi")
    assert [fragment.count for fragment in await talk.publication().publish_now(OWNER)] == [2]
    assert await talk.publication().publish_now(OWNER) == []
    assert len(talk.buffers) == 1
    talk.clock.advance(IDLE)
    assert await talk.publication().publish_due() == 0
    assert len(talk.buffers) == 0
    assert await talk.read(lambda c: c.execute(select(dialogue_state.c.is_active)).scalars().all()) == [False]


async def test_a_dialogue_that_cannot_be_published_does_not_hold_up_the_others(talk: Talk) -> None:
    """Its fault is logged, and it stays due."""
    await talk.exchange("Broken", user_id=OWNER)
    await talk.exchange("Fine", user_id=OTHER)
    talk.clock.advance(IDLE)
    await talk.write(lambda c: refuse(c, "INSERT", "episodes", when="NEW.user_id = 1"))
    assert await talk.publication().publish_due() == 1
    await talk.write(relent)
    assert await talk.publication().publish_due() == 1


async def test_what_is_about_to_be_forgotten_is_not_published(talk: Talk) -> None:
    """Nothing new is derived from it, whoever asks."""
    await talk.exchange("Secret")
    await talk.write(lambda c: ask_forget(c, OWNER, None, now=talk.clock.now()))
    assert await talk.publication().publish_now(OWNER) == []


async def test_backfill_gives_a_new_agent_the_old_fragments_once(talk: Talk) -> None:
    """A newly enabled agent is billed for history only on demand; an unknown one is refused."""
    await talk.exchange("One")
    await talk.publication(agents=()).publish_now(OWNER)
    publication = talk.publication(agents=("archivist",))
    assert await publication.backfill("archivist", [OWNER, OTHER]) == 1
    assert await publication.backfill("archivist", [OWNER]) == 0
    with pytest.raises(Refused):
        await publication.backfill("nobody", [OWNER])


def snapshot(buffers: DialogueBuffers) -> dict[int, DialogueState]:
    return {state.user_id: state for state in buffers.states()}


STEPS = st.lists(st.sampled_from(["say", "answer", "edit", "idle", "full", "archive", "other", "wait"]), max_size=14)


@given(STEPS)
@settings(max_examples=examples(25), suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_a_restart_restores_the_very_same_buffers(steps: list[str]) -> None:
    """After any sequence of messages, answers, edits and publications the database rebuilds what memory held."""
    with TemporaryDirectory() as folder:
        asyncio.run(_play(Path(folder), steps))


async def _play(folder: Path, steps: list[str]) -> None:
    async with Database.open(where(folder)) as database:
        talk = await prepared(database)
        for step in steps:
            talk.clock.advance(3)
            await _step(talk, step)
            restored = DialogueBuffers()
            for state in await talk.read(dialogue.restorable):
                restored.restore(state)
            assert snapshot(restored) == snapshot(talk.buffers)


async def _step(talk: Talk, step: str) -> None:
    match step:
        case "say":
            await talk.say("word")
        case "other":
            await talk.say("word", user_id=OTHER)
        case "answer":
            await talk.flow().answer(await talk.ask("Hi"))
        case "edit":
            if mine := [message for message in await talk.messages() if message.role == "user"]:
                await talk.edit(mine[-1], f"edited at {talk.clock.now()}")
        case "idle":
            talk.clock.advance(IDLE)
            await talk.publication().publish_due()
        case "full":
            await talk.publication(max_messages=2).publish_due()
        case "archive":
            await talk.publication().publish_now(OWNER)
        case "wait":
            talk.clock.advance(60)
