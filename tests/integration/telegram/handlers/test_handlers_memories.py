"""/goals, /decisions, /questions, /preferences, /instructions, /memories, and memories in /why, in three languages."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from sqlalchemy import Connection
from support.interfaces.handler_stage import NOW, Said, World, only

from bot.telegram.handlers.buttons import MemoriesButton
from bot.telegram.handlers.paging import PAGE
from bot.telegram.i18n import label, phrase
from bot.telegram.rendering import render
from internal.access.model import LANGUAGES, Language
from internal.dialogue import reply_source_repository as sources, repository as dialogue
from internal.dialogue.model import ReplySource
from internal.graph import store
from internal.graph.model import Node
from internal.knowledge import episode_repository as episodes
from internal.knowledge.model import Episode, Segment
from internal.memory import service
from internal.memory.model import NAMING, MemoryLookup, NodeRef, ProposedMemory
from internal.memory.observations.changes import ObservedLine, ReplyContext
from internal.storage.types import new_id


def text(key: str, lang: Language = "en", **values: Any) -> str:
    return "".join(part.text for part in render(phrase(lang, key, **values)))


class Life:
    """What the owner of a world told, as the archivist keeps it: each memory in an episode of its own."""

    def __init__(self, world: World, user_id: int = 1) -> None:
        self.world, self.user_id, self.told = world, user_id, 0

    async def tell(self, label: str, words: str, *said: str, **properties: Any) -> str:
        """A node told by these lines (else by its own words); its id."""
        self.told += 1
        now = self.world.clock.now()
        episode_id, quotes = f"e{self.user_id}-{self.told}", said or (words,)

        def work(connection: Connection) -> str:
            episode = Episode(self.user_id, episode_id, "text", "заметка", "\n".join(quotes), "", None, now, now)
            parts = [Segment(number, now, quote, None) for number, quote in enumerate(quotes, start=1)]
            episodes.add_episode(connection, episode, parts)
            lines = {n: ObservedLine(episode_id, n, now, quote) for n, quote in enumerate(quotes, start=1)}
            node = NodeRef(label, {NAMING[label]: words} | properties)
            digest = MemoryLookup([ProposedMemory(node, (), tuple(lines))])
            written = service.write(connection, self.user_id, digest, ReplyContext(episode_id, lines, now))
            assert not written.refused
            return written.nodes[0]

        return await self.world.write(work)

    async def node(self, node_id: str) -> Node | None:
        return await self.world.read(lambda c: store.get_node(c, self.user_id, node_id))

    async def reply(self, words: str, cited: tuple[str, ...], given: tuple[str, ...] = ()) -> str:
        def work(connection: Connection) -> str:
            added = dialogue.add(
                connection, self.user_id, "assistant", words, now=self.world.clock.now(), turn_id=new_id()
            )
            kept = [ReplySource(n, "memory", one, True) for n, one in enumerate(cited, start=1)]
            kept += [ReplySource(n, "memory", one) for n, one in enumerate(given, start=len(cited) + 1)]
            sources.add(connection, self.user_id, added.id, kept)
            return added.id

        return await self.world.write(work)


async def press(world: World, said: Said, button: str, user_id: int = 1) -> Said:
    return only([one for one in await world.press(said.buttons[button], user_id) if one.how != "toast"])


@pytest.fixture
def life(world: World) -> Life:
    return Life(world)


@pytest.mark.parametrize("lang", LANGUAGES)
async def test_a_goal_is_listed_opened_and_reached(world: World, lang: Language) -> None:
    """It stands on the list until it is reached, then among those behind; it can be opened again."""
    await world.admit(2, "Оля", lang)
    life = Life(world, 2)
    goal = await life.tell(
        "Goal", "выучить испанский", "Хочу выучить испанский", targetDate="2026-12-31T00:00:00+00:00"
    )
    shown = only(await world.send("/goals", 2))
    assert shown.text.startswith(text("memories-title-goals", lang, count=1))
    assert "1. выучить испанский — " in shown.text
    assert "2026" in shown.text
    card = await press(world, shown, "1", 2)
    assert "выучить испанский" in card.text
    assert "Хочу выучить испанский" in card.text
    reached = await press(world, card, label(lang, "memory-button-reached"), 2)
    assert label(lang, "memory-status", status="achieved") in reached.text
    node = await life.node(goal)
    assert node is not None
    assert node.properties["status"] == "achieved"
    left = await press(world, reached, label(lang, "button-back"), 2)
    assert left.text == text("memories-none-goals", lang)
    past = await press(world, left, label(lang, "memories-button-past", count=1), 2)
    assert past.text.startswith(text("memories-title-goals-past", lang, count=1))
    again = await press(world, await press(world, past, "1", 2), label(lang, "memory-button-reopen"), 2)
    assert label(lang, "memory-status", status="active") in again.text
    assert only(await world.send("/goals", 2)).text.startswith(text("memories-title-goals", lang, count=1))


async def test_what_is_due_first_stands_first(world: World, life: Life) -> None:
    """Goals without a date follow, the newest first."""
    for words, due in (("a", None), ("b", "2027-01-01"), ("c", "2026-12-01"), ("d", None)):
        await life.tell("Goal", words, **({"targetDate": f"{due}T00:00:00+00:00"} if due else {}))
        world.clock.advance(60)
    listed = only(await world.send("/goals")).text.splitlines()[2:]
    assert [line.split(" — ")[0] for line in listed] == ["1. c", "2. b", "3. d", "4. a"]


async def test_a_question_is_closed_and_opened_again(world: World, life: Life) -> None:
    """With the date of its answer, which goes when it is open again."""
    question = await life.tell("Question", "Стоит ли менять работу?")
    card = await press(world, only(await world.send("/questions")), "1")
    await press(world, card, label("en", "memory-button-answered"))
    node = await life.node(question)
    assert node is not None
    assert (node.properties["status"], node.properties["answeredDate"]) == ("answered", NOW.isoformat())
    listed = only(await world.send("/questions"))
    past = await press(world, listed, label("en", "memories-button-past", count=1))
    await press(world, await press(world, past, "1"), label("en", "memory-button-reopen"))
    node = await life.node(question)
    assert node is not None
    assert (node.properties["status"], node.properties.get("answeredDate")) == ("open", None)


async def test_decisions_tell_why_and_preferences_what_is_disliked(world: World, life: Life) -> None:
    """A card shows what belongs to its kind."""
    await life.tell("Decision", "продать машину", rationale="дорогой бензин", outcome="езжу на поезде")
    card = await press(world, only(await world.send("/decisions")), "1")
    assert text("memory-rationale", text="дорогой бензин") in card.text
    assert text("memory-outcome", text="езжу на поезде") in card.text
    assert label("en", "memory-button-reached") not in card.buttons
    await life.tell("Preference", "созвоны по утрам", category="работа", strength=-0.9)
    shown = only(await world.send("/preferences"))
    assert f"1. созвоны по утрам — {label('en', 'memory-status', status='disliked')}" in shown.text


async def test_pages_are_turned(world: World, life: Life) -> None:
    """A page holds a few, numbered through; a page that is gone shows the last one."""
    for number in range(PAGE + 2):
        await life.tell("Memory", f"memory {number}")
        world.clock.advance(60)
    first = only(await world.send("/memories"))
    assert f"1. memory {PAGE + 1} — " in first.text
    second = await press(world, first, "»")
    assert f"{PAGE + 1}. memory 1 — " in second.text
    card = await press(world, second, str(PAGE + 1))
    assert (await press(world, card, label("en", "button-back"))).text == second.text
    far = MemoriesButton(owner=1, kind="m", page=99).pack()
    assert only([one for one in await world.press(far) if one.how == "edit"]).text == second.text


async def test_memories_are_found_by_words(world: World, life: Life) -> None:
    """Whatever has a list belongs to /memories, what is no memory says so; another command finds its own kind only.

    Each is opened below, in a message of its own.
    """
    await life.tell("Memory", "Купили дачу под Тверью")
    await life.tell("Memory", "Кот опять убежал")
    await life.tell("Goal", "построить дачу")
    shown = only(await world.send("/memories дача"))
    assert shown.text.startswith(text("memories-found", text="дача"))
    assert "Купили дачу под Тверью" in shown.text
    assert "Кот" not in shown.text
    assert f"построить дачу — {label('en', 'memory-kind', kind='Goal')}" in shown.text
    opened = await press(world, shown, "1")
    assert (opened.how, "дачу" in opened.text) == ("say", True)
    own = only(await world.send("/goals дача"))
    assert "построить дачу" in own.text
    assert "Тверью" not in own.text
    assert only(await world.send("/memories велосипед")).text == text("memories-not-found", text="велосипед")


async def test_the_owner_puts_a_memory_right(world: World, life: Life) -> None:
    """His words stand, are his, and are what it is found by."""
    node_id = await life.tell("Memory", "Купили дачу под Тверью")
    card = await press(world, only(await world.send("/memories")), "1")
    question = only(await world.press(card.buttons[label("en", "fact-button-correct")]))
    assert question.text == text("correct-ask", text="Купили дачу под Тверью")
    done = only(await world.send("Купили дачу под Рязанью"))
    assert done.text.startswith(text("correct-done"))
    assert text("fact-owners-word") in done.text
    node = await life.node(node_id)
    assert node is not None
    assert node.properties["content"] == node.properties["summary"] == "Купили дачу под Рязанью"
    assert "Рязанью" in only(await world.send("/memories дача")).text


async def test_a_memory_is_forgotten_with_time_to_undo(world: World, life: Life) -> None:
    """Asked first, out of sight at once, back after a change of mind; cancelled, nothing happens."""
    await life.tell("Goal", "выучить испанский")
    card = await press(world, only(await world.send("/goals")), "1")
    sure = await press(world, card, label("en", "fact-button-forget"))
    assert sure.text == text("forget-memory-confirm", text="выучить испанский")
    assert "испанский" in (await press(world, sure, label("en", "button-cancel"))).text
    gone = await press(world, sure, label("en", "forget-button-yes"))
    assert gone.text == text("forget-memory-done", minutes=10)
    assert only(await world.send("/goals")).text == text("memories-none-goals")
    assert (await world.press(sure.buttons[label("en", "button-cancel")]))[0].text != ""
    await press(world, gone, label("en", "forget-button-undo"))
    assert "испанский" in only(await world.send("/goals")).text


async def test_all_sources_of_a_memory(world: World, life: Life) -> None:
    """A card shows the first ones; a button shows all, each once."""
    said = [f"слова {number}" for number in range(5)]
    await life.tell("Memory", "Купили дачу", *said)
    card = await press(world, only(await world.send("/memories")), "1")
    assert [line in card.text for line in said] == [True] * 3 + [False] * 2
    everything = await press(world, card, label("en", "fact-button-sources", count=5))
    assert all(line in everything.text for line in said)
    assert (await press(world, everything, label("en", "button-back"))).text == card.text


async def test_what_lost_a_contradiction_is_not_listed(world: World, life: Life) -> None:
    """Opened from elsewhere it says that it is not held any more."""
    old = await life.tell("Memory", "Дача под Тверью")
    world.clock.advance(3600)
    new = await life.tell("Memory", "Дача под Рязанью")
    now = NOW + timedelta(days=1)

    def settle(connection: Connection) -> None:
        node = service.put_node(connection, 1, "Contradiction", {"description": "где дача"}, now=now)
        for side in (old, new):
            service.put_edge(connection, 1, "CONFLICTS_WITH", node.id, side, {}, now=now)
        service.resolve_contradiction(connection, 1, node.id, "newer", now=now)

    await world.write(settle)
    shown = only(await world.send("/memories"))
    assert "Рязанью" in shown.text
    assert "Тверью" not in shown.text
    await life.reply("Под Тверью.", (old,))
    card = await press(world, only(await world.send("/why")), label("en", "fact-button-open", n=1))
    assert text("memory-superseded") in card.text


@pytest.mark.parametrize("lang", LANGUAGES)
async def test_an_answer_shows_the_memories_it_rests_on(world: World, lang: Language) -> None:
    """With buttons that open, correct and forget each, and lead back to the answer."""
    await world.admit(2, "Оля", lang)
    life = Life(world, 2)
    goal = await life.tell("Goal", "выучить испанский")
    beside = await life.tell("Memory", "Купили дачу")
    await life.reply("Испанский.", (goal,), (beside,))
    shown = only(await world.send("/why", 2))
    assert "1. выучить испанский" in shown.text
    assert text("why-given", lang) in shown.text
    assert "2. Купили дачу" in shown.text
    card = await press(world, shown, label(lang, "fact-button-open", n=1), 2)
    settled = await press(world, card, label(lang, "memory-button-reached"), 2)
    assert (await press(world, settled, label(lang, "button-back"), 2)).text.splitlines()[0] == shown.text.splitlines()[
        0
    ]
    sure = await press(world, shown, label(lang, "fact-button-forget"), 2)
    await press(world, sure, label(lang, "forget-button-yes"), 2)
    again = only(await world.send("/why", 2))
    assert f"1. {text('why-gone', lang)}" in again.text


async def test_owners_see_only_their_own(world: World, life: Life) -> None:
    """A stranger's list is empty, and his press on somebody else's button opens nothing."""
    await life.tell("Goal", "выучить испанский")
    await world.admit(2, "Ivan")
    assert only(await world.send("/goals", 2)).text == text("memories-none-goals")
    shown = only(await world.send("/goals"))
    assert all("испанский" not in one.text for one in await world.press(shown.buttons["1"], 2))


@pytest.mark.parametrize("lang", LANGUAGES)
async def test_an_instruction_is_ended_and_holds_again(world: World, lang: Language) -> None:
    """Listed by itself, not among the likings; a tap ends it, another takes that back; what ended is listed apart."""
    await world.admit(2, "Оля", lang)
    life = Life(world, 2)
    node_id = await life.tell("Preference", "Always answer briefly", category="instruction", status="active")
    await life.tell("Preference", "tea", strength=0.9)
    assert "briefly" not in only(await world.send("/preferences", 2)).text
    listed = only(await world.send("/instructions", 2))
    assert listed.text.startswith(text("memories-title-instructions", lang, count=1))
    card = await press(world, listed, "1", 2)
    assert label(lang, "memory-kind", kind="Instruction") in card.text
    ended = await press(world, card, label(lang, "memory-button-ended"), 2)
    assert label(lang, "memory-status", status="ended") in ended.text
    none = only(await world.send("/instructions", 2))
    assert none.text.startswith(text("memories-none-instructions", lang))
    past = await press(world, none, label(lang, "memories-button-past", count=1), 2)
    assert "briefly" in past.text
    await press(world, ended, label(lang, "memory-button-holds"), 2)
    node = await life.node(node_id)
    assert node is not None
    assert node.properties["status"] == "active"
