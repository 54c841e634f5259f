"""Standing instructions: kept when they are said, in every prompt from then on, ended by what contradicts them."""

from __future__ import annotations

import pytest
from sqlalchemy import Connection
from support.flows.flow_stage import OWNER, Talk

from internal.dialogue.model import ForwardOrigin
from internal.flows.forgetting import requests
from internal.flows.forgetting.erase import erase_messages
from internal.flows.turn import instructions as keep
from internal.flows.views.memory import memory_view
from internal.memory import service as memory
from internal.storage.forgetting.forgettings import Kind


async def held(talk: Talk) -> list[str]:
    """What the next prompt shows."""
    return [one.text for one in await talk.read(lambda c: keep.active(c, OWNER))]


async def test_an_instruction_stands_in_the_very_next_prompt(talk: Talk) -> None:
    """Even in that of the message itself, with the day it was given and the message as its receipt."""
    await talk.exchange("Hi! Always answer in bullet points.")
    said = (await talk.messages())[0].timestamp
    [shown] = talk.responder.asked[-1].instructions
    assert (shown.n, shown.text, shown.since) == (1, "Always answer in bullet points", said)
    card = await talk.read(lambda c: memory_view(c, OWNER, shown.node_id))
    assert [line.quote for line in card.lines] == ["Hi! Always answer in bullet points."]


async def test_a_newer_one_ends_what_it_contradicts(talk: Talk) -> None:
    """And nothing else; said again, the older one holds again. What is allowed again ends and leaves nothing."""
    for said in ("пиши мне по-украински в будни", "Больше не используй смайлики", "теперь пиши опять по-русски"):
        await talk.say(said)
        talk.clock.advance(60)
    assert await held(talk) == ["Больше не используй смайлики", "теперь пиши опять по-русски"]
    await talk.say("можешь снова ставить смайлики")
    assert await held(talk) == ["теперь пиши опять по-русски"]
    talk.clock.advance(60)
    await talk.say("Больше не используй смайлики")
    assert await held(talk) == ["Больше не используй смайлики", "теперь пиши опять по-русски"]


async def test_an_exception_leaves_the_rule(talk: Talk) -> None:
    """Another language at the weekend does not end the one of the week."""
    for said in ("Write to me in Ukrainian on weekdays", "Write to me in Russian on weekends"):
        await talk.say(said)
    assert len(await held(talk)) == 2


@pytest.mark.parametrize("kind", ["message", "memory"])
async def test_what_is_forgotten_is_out_of_the_prompt_at_once(talk: Talk, kind: Kind) -> None:
    """The message, even while it is answered, or the instruction; an undo brings it back."""
    for answered in (True, False):
        text = f"Always {'answer in English' if answered else 'use metric units'}"
        message = (await talk.say(text)).message if not answered else None
        if answered:
            await talk.exchange(text)
            message = (await talk.messages())[-2]
        [node] = [one for one in await talk.read(lambda c: keep.active(c, OWNER)) if one.text == text]
        assert message is not None
        ref = message.id if kind == "message" else node.node_id
        asked = await talk.write(lambda c, r=ref: requests.ask(c, OWNER, kind, r, now=talk.clock.now()))  # type: ignore[misc]
        assert text not in await held(talk)
        await talk.write(lambda c, a=asked: requests.undo(c, OWNER, a.id))  # type: ignore[misc]
        assert text in await held(talk)


async def test_without_the_message_that_ended_it_an_instruction_holds_again(talk: Talk) -> None:
    """It had ended by those words alone: when they are erased, it is as it was."""
    await talk.exchange("Always answer in English")
    await talk.exchange("From now on answer in Ukrainian")
    assert await held(talk) == ["From now on answer in Ukrainian"]
    newer = (await talk.messages())[-2]
    await talk.write(lambda c: erase_messages(c, OWNER, [newer.id], now=talk.clock.now()))
    assert await held(talk) == ["Always answer in English"]


@pytest.mark.parametrize(
    "said",
    [
        {"forward": ForwardOrigin("user", "Maria", user_id=900)},
        {"text": "> Always answer in English\nWhat do you think of that?"},
        {"text": "My boss wrote:\nAlways answer in English"},
        {"text": "```\nAlways answer in English\n```"},
    ],
)
async def test_somebody_elses_words_instruct_nothing(talk: Talk, said: dict[str, object]) -> None:
    """Neither a forward nor what is quoted or pasted."""
    await talk.say(**{"text": "Always answer in English"} | said)  # type: ignore[arg-type]
    assert await held(talk) == []


async def test_an_edited_message_instructs_what_it_says_now(talk: Talk) -> None:
    """What it had ended holds again, and its former words are gone."""
    await talk.say("Always answer in English")
    message = (await talk.say("From now on answer in Ukrainian")).message
    assert message is not None
    await talk.edit(message, "No emojis from now on")
    assert await held(talk) == ["Always answer in English", "No emojis from now on"]
    await talk.edit(message, "Never mind")
    assert await held(talk) == ["Always answer in English"]


async def test_its_receipt_follows_the_message_into_the_fragment(talk: Talk) -> None:
    """From then on the episode is cited; a second reading of the fragment leaves it alone, an edit does not."""
    await talk.exchange("Always answer in English")
    [one] = await talk.read(lambda c: keep.active(c, OWNER))
    before = await talk.read(lambda c: memory_view(c, OWNER, one.node_id))
    assert not before.citations
    await talk.publication().publish_now(OWNER)
    card = await talk.read(lambda c: memory_view(c, OWNER, one.node_id))
    [line], [cited] = card.lines, card.citations
    assert (line.quote, line.episode_id) == ("Always answer in English", cited.episode_uuid)
    lines = await talk.read(lambda c: memory.observations_of(c, OWNER, one.node_id))
    assert [observation.episode_id for observation in lines] == [cited.episode_uuid]

    def read_again(connection: Connection) -> None:
        taken = memory.remove_slice_observations(connection, OWNER, cited.episode_uuid, [1])
        memory.remove_unsupported(connection, OWNER, taken, now=talk.clock.now())

    await talk.write(read_again)
    assert await held(talk) == ["Always answer in English"]
    message = (await talk.messages())[0]
    await talk.edit(message, "Always answer in Ukrainian")
    card = await talk.read(lambda c: memory_view(c, OWNER, keep.active(c, OWNER)[0].node_id))
    assert [line.episode_id for line in card.lines] == [cited.episode_uuid]
    assert await held(talk) == ["Always answer in Ukrainian"]


async def test_the_owners_button_gives_way_to_his_newer_words(talk: Talk) -> None:
    """What he opened again with a button, he can still end by saying so."""
    await talk.say("Always answer in English")
    [one] = await talk.read(lambda c: keep.active(c, OWNER))
    for status in ("ended", "active"):
        await talk.write(lambda c, s=status: memory.set_status(c, OWNER, one.node_id, s, now=talk.clock.now()))  # type: ignore[misc]
    await talk.say("Answer in Ukrainian from now on")
    assert await held(talk) == ["Answer in Ukrainian from now on"]
