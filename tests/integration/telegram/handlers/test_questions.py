"""What the bot asks by itself: when it may, how often, and what each tap does, in three languages."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from sqlalchemy import Connection, insert, select, update
from support.interfaces.handler_stage import NOW, Said, World, only

from bot.telegram.handlers import own_initiative as delivery_suggestions
from bot.telegram.i18n import label, phrase
from bot.telegram.rendering import render
from internal.access import repository as users
from internal.access.model import LANGUAGES, Language, UserState
from internal.config.settings import MemoryConfig
from internal.flows.forgetting import requests
from internal.flows.notifications.questions import QuestionScheduler
from internal.graph import store
from internal.graph.model import Node
from internal.memory import service
from internal.memory.model import NAMING, MemoryLookup, NodeRef, ProposedMemory
from internal.memory.observations.changes import ObservedLine, ReplyContext
from internal.memory.questions import repository as question_repository
from internal.storage.tables import dialogue_state, outbox, suggestions, users as users_table

OWNER = 1


def text(key: str, lang: Language = "en", **values: Any) -> str:
    return "".join(part.text for part in render(phrase(lang, key, **values)))


class Quiet:
    """An owner whose last dialogue is over, at noon of his day, and what the bot asks him."""

    def __init__(self, world: World, **config: Any) -> None:
        self.world, self.told = world, 0
        self.questions_router = QuestionScheduler(
            world.database, world.clock, MemoryConfig(**config), delivery_suggestions.ask_about
        )

    async def prepare(self, lang: Language = "en") -> None:
        def work(connection: Connection) -> None:
            users.write_setting(connection, "bot_id", 7)
            idle = {"user_id": OWNER, "last_activity": NOW - timedelta(hours=1), "is_active": False}
            connection.execute(insert(dialogue_state).values(idle))
            connection.execute(update(users_table).values(lang=lang, tz="UTC"))

        await self.world.write(work)

    async def idle(self, *, active: bool = False, ago: timedelta = timedelta(hours=1)) -> None:
        """When he wrote last, and whether that dialogue is still going on."""
        values = {"is_active": active, "last_activity": self.world.clock.now() - ago}
        await self.world.write(lambda c: c.execute(update(dialogue_state).values(values)))

    async def put(self, label: str, words: str, *, days_ago: float = 2, **properties: Any) -> str:
        """Something told some days ago; its id."""
        now = self.world.clock.now()
        self.told += 1
        episode, at = f"e{self.told}", now - timedelta(days=days_ago)

        def work(connection: Connection) -> str:
            lines = {1: ObservedLine(episode, 1, at, words)}
            node = NodeRef(label, {NAMING[label]: words} | properties)
            digest = MemoryLookup([ProposedMemory(node, (), (1,))])
            return service.write(connection, OWNER, digest, ReplyContext(episode, lines, at)).nodes[0]

        return await self.world.write(work)

    async def conflict(self, older: str, newer: str) -> str:
        sides = [await self.put("Memory", words, days_ago=days) for words, days in ((older, 3.0), (newer, 2.0))]
        now = self.world.clock.now()

        def work(connection: Connection) -> str:
            node = service.put_node(connection, OWNER, "Contradiction", {"description": "что верно"}, now=now)
            for side in sides:
                service.put_edge(connection, OWNER, "CONFLICTS_WITH", node.id, side, {}, now=now)
            return node.id

        return await self.world.write(work)

    async def node(self, node_id: str) -> Node:
        node = await self.world.read(lambda c: store.get_node(c, OWNER, node_id))
        assert node is not None
        return node

    async def asked(self) -> list[tuple[str, dict[str, str]]]:
        """Everything the bot asked by itself: the text, and the buttons by their labels."""

        def work(connection: Connection) -> list[tuple[str, dict[str, str]]]:
            query = select(outbox.c.payload).where(outbox.c.dedupe.like("asked:%")).order_by(outbox.c.n)
            return [_shown(payload) for payload in connection.execute(query).scalars()]

        return await self.world.read(work)

    async def look(self) -> tuple[str, dict[str, str]]:
        """Asks what is due, and gives the one question that came."""
        before = len(await self.asked())
        assert await self.questions_router.ask_due() == 1
        after = await self.asked()
        assert len(after) == before + 1
        return after[-1]

    async def next_day(self, days: float = 1) -> None:
        self.world.clock.advance(days * 86_400)
        await self.idle()


def _shown(payload: dict[str, Any]) -> tuple[str, dict[str, str]]:
    rows: Sequence[Sequence[dict[str, str]]] = payload["keyboard"]
    return payload["text"], {one["text"]: one["callback_data"] for row in rows for one in row}


@pytest.fixture
async def quiet(world: World) -> Quiet:
    made = Quiet(world)
    await made.prepare()
    return made


async def press(world: World, data: str) -> Said:
    return only([one for one in await world.press(data) if one.how != "toast"])


@pytest.mark.parametrize("lang", LANGUAGES)
async def test_an_open_question_is_asked_about_and_closed(world: World, lang: Language) -> None:
    """With one tap; the same tap again says the same, another one that it has gone."""
    quiet = Quiet(world)
    await quiet.prepare(lang)
    question = await quiet.put("Question", "Стоит ли менять работу?")
    shown, buttons = await quiet.look()
    assert shown == text("ask-question", lang, text="Стоит ли менять работу?", at=NOW - timedelta(days=2))
    for _ in range(2):
        done = await press(world, buttons[label(lang, "ask-button-answered")])
        assert (done.how, done.text) == ("edit", text("ask-answered", lang))
    assert (await quiet.node(question)).properties["status"] == "answered"
    other = await press(world, buttons[label(lang, "ask-button-open")])
    assert other.text == text("ask-gone", lang)
    await quiet.next_day(60)
    assert await quiet.questions_router.ask_due() == 0


async def test_a_question_left_open_is_asked_again_after_a_month(world: World, quiet: Quiet) -> None:
    """Not the next day."""
    await quiet.put("Question", "Стоит ли менять работу?")
    _, buttons = await quiet.look()
    assert (await press(world, buttons[label("en", "ask-button-open")])).text == text("ask-open")
    await quiet.next_day(20)
    assert await quiet.questions_router.ask_due() == 0
    await quiet.next_day(11)
    await quiet.look()


async def test_what_was_just_said_is_not_asked(quiet: Quiet) -> None:
    """Who has just left something open knows it."""
    await quiet.put("Question", "Стоит ли менять работу?", days_ago=0.5)
    assert await quiet.questions_router.ask_due() == 0


async def test_do_not_ask_again(world: World, quiet: Quiet) -> None:
    """That question never comes back; another one may."""
    await quiet.put("Question", "Стоит ли менять работу?")
    _, buttons = await quiet.look()
    assert (await press(world, buttons[label("en", "ask-button-never")])).text == text("ask-never")
    await quiet.next_day(400)
    assert await quiet.questions_router.ask_due() == 0
    await quiet.put("Question", "Куда поехать в отпуск?")
    assert "отпуск" in (await quiet.look())[0]


@pytest.mark.parametrize(("n", "kept"), [(1, "Дача под Тверью"), (2, "Дача под Рязанью")])
async def test_a_contradiction_is_settled(world: World, quiet: Quiet, n: int, kept: str) -> None:
    """By the side that holds; the other one is held no more."""
    conflict = await quiet.conflict("Дача под Тверью", "Дача под Рязанью")
    shown, buttons = await quiet.look()
    assert shown.startswith(text("ask-contradiction"))
    assert shown.index("Тверью") < shown.index("Рязанью")
    await press(world, buttons[f"{n} · {kept}"])
    assert (await quiet.node(conflict)).properties["status"] == "resolved"
    sides = await world.read(lambda c: service.contradiction_sides(c, OWNER, conflict))
    lost = await world.read(lambda c: service.superseded(c, OWNER, [side.id for side in sides]))
    assert [side.properties["content"] for side in sides if side.id not in lost] == [kept]


async def test_both_sides_may_be_right(world: World, quiet: Quiet) -> None:
    """Then nothing is superseded, and it is not asked again."""
    conflict = await quiet.conflict("Дача под Тверью", "Дача под Рязанью")
    _, buttons = await quiet.look()
    await press(world, buttons[label("en", "contradiction-button-both", count=2)])
    assert (await quiet.node(conflict)).properties["status"] == "accepted"
    await quiet.next_day(30)
    assert await quiet.questions_router.ask_due() == 0


async def test_what_fades_is_offered_monthly(world: World, quiet: Quiet) -> None:
    """Forgotten one by one, with time to undo; what is kept counts as used and is not offered on the next day."""
    await quiet.put("Memory", "Кот убежал", days_ago=900)
    kept = await quiet.put("Memory", "Сосед уехал", days_ago=900)
    shown, buttons = await quiet.look()
    assert shown.startswith(text("ask-fading"))
    first = "Кот" if shown.index("Кот") < shown.index("Сосед") else "Сосед"
    gone = await press(world, buttons[label("en", "ask-button-forget", n=1)])
    assert (gone.how, gone.text) == ("say", text("ask-forgetting", n=1, minutes=10))
    await press(world, gone.buttons[label("en", "forget-button-undo")])
    assert (await press(world, buttons[label("en", "ask-button-keep")])).text == text("ask-kept")
    assert (await quiet.node(kept)).access_count == 1
    assert first in ("Кот", "Сосед")
    await quiet.next_day(40)
    assert await quiet.questions_router.ask_due() == 0


async def test_the_owners_own_word_is_not_changed_without_him(world: World, quiet: Quiet) -> None:
    """What is told otherwise since is asked, and applied or declined."""
    goal = await quiet.put("Goal", "выучить испанский")
    now = world.clock.now()
    await world.write(lambda c: service.set_status(c, OWNER, goal, "abandoned", now=now))
    await quiet.put("Goal", "выучить испанский", days_ago=-0.01, status="achieved")
    assert len(await world.read(lambda c: service.suggestions(c, OWNER))) == 1
    shown, buttons = await quiet.look()
    assert shown == text("ask-suggestion", current="abandoned", value="achieved", text="выучить испанский")
    await press(world, buttons[label("en", "suggestion-button-apply")])
    assert (await quiet.node(goal)).properties["status"] == "achieved"


async def test_one_question_a_day_and_one_at_a_time(world: World, quiet: Quiet) -> None:
    """The next one waits for the next day, and for the answer, but not for ever."""
    for words in ("Стоит ли менять работу?", "Куда поехать в отпуск?"):
        await quiet.put("Question", words)
    await quiet.look()
    assert await quiet.questions_router.ask_due() == 0
    await quiet.next_day()
    assert await quiet.questions_router.ask_due() == 0
    await quiet.next_day(2.1)
    _, buttons = await quiet.look()
    await press(world, buttons[label("en", "ask-button-open")])
    assert await quiet.questions_router.ask_due() == 0


@pytest.mark.parametrize("hour", [0, 5, 9, 21, 23])
async def test_not_at_night(world: World, quiet: Quiet, hour: int) -> None:
    """By the clock of the owner's own zone."""
    await quiet.put("Question", "Стоит ли менять работу?")
    local = datetime(2026, 11, 21, hour, 30, tzinfo=UTC)
    await world.write(lambda c: c.execute(update(users_table).values(tz="Asia/Tokyo")))
    world.clock.advance((local - timedelta(hours=9) - world.clock.now()).total_seconds() + 86_400)
    await quiet.idle()
    assert await quiet.questions_router.ask_due() == 0


async def test_not_in_the_middle_of_anything(world: World, quiet: Quiet) -> None:
    """Neither in a dialogue, nor right behind it, nor to who is away, has left, or has something else to answer."""
    await quiet.put("Question", "Стоит ли менять работу?")
    for state in ({"active": True}, {"ago": timedelta(minutes=10)}, {"ago": timedelta(days=20)}):
        await quiet.idle(**state)
        assert await quiet.questions_router.ask_due() == 0
    await quiet.idle()
    await world.write(lambda c: c.execute(update(users_table).values(state=UserState.PAUSED)))
    assert await quiet.questions_router.ask_due() == 0
    await world.write(lambda c: c.execute(update(users_table).values(state=UserState.ACTIVE)))
    waiting = {"user_id": OWNER, "id": "s", "kind": "merge", "payload": {}, "state": "pending", "created_at": NOW}
    await world.write(lambda c: c.execute(insert(suggestions).values(waiting)))
    assert await quiet.questions_router.ask_due() == 0
    await world.write(lambda c: c.execute(update(suggestions).values(state="declined")))
    await world.write(lambda c: requests.ask(c, OWNER, "everything", None, now=NOW))
    assert await quiet.questions_router.ask_due() == 0


async def test_who_wants_no_questions_gets_none(world: World) -> None:
    """The setting is 0."""
    quiet = Quiet(world, questions_per_day=0)
    await quiet.prepare()
    await quiet.put("Question", "Стоит ли менять работу?")
    assert await quiet.questions_router.ask_due() == 0


async def test_what_is_gone_cannot_be_answered(world: World, quiet: Quiet) -> None:
    """Forgotten since it was asked."""
    question = await quiet.put("Question", "Стоит ли менять работу?")
    _, buttons = await quiet.look()
    await world.write(lambda c: requests.ask(c, OWNER, "memory", question, now=world.clock.now()))
    assert (await press(world, buttons[label("en", "ask-button-answered")])).text == text("ask-gone")


async def test_rows_of_questions_hold_no_words(world: World, quiet: Quiet) -> None:
    """They point at what they are about, so that forgetting it leaves nothing."""
    await quiet.put("Question", "Стоит ли менять работу?")
    await quiet.look()
    [asked] = await world.read(lambda c: question_repository.ever_asked(c, OWNER, "question"))
    stored = await world.read(lambda c: c.execute(select(suggestions.c.payload)).scalars().all())
    assert stored == [{"about": "question", "refs": list(asked.refs)}]
