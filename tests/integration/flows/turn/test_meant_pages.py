"""A short question whose words no rule knows opens the page that it means; nothing else does, nothing is changed."""

from __future__ import annotations

from collections.abc import Callable
from datetime import time, timedelta
from typing import Any, ParamSpec, TypeVar

import pytest
from support.flows.command_stage import commands_of
from support.flows.erase_stage import LanguageHere
from support.flows.flow_stage import OWNER, Talk

from internal.dialogue.model import ForwardOrigin
from internal.errors import ModelUnavailable
from internal.flows.turn.commands.meant_pages import MeantPages
from internal.llm.offline.embedder import OfflineEmbedder
from internal.people.service import TelegramAccount, from_metadata
from internal.tasks import service
from internal.tasks.model import Schedule, TaskKind

P = ParamSpec("P")
T = TypeVar("T")


class Refusing(LanguageHere):
    """A language process that ended."""

    async def run(self, function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        raise ModelUnavailable("the language process ended")


@pytest.fixture
def acting(talk: Talk) -> Talk:
    """Nobody converses; pages are chosen by the built-in embedder too."""
    language = LanguageHere()
    talk.commands = commands_of(talk, converses=False)
    talk.commands.pages = MeantPages(talk.database, OfflineEmbedder(language), language)
    return talk


async def card(talk: Talk, text: str, **more: Any) -> str:
    """What is shown for a message without asking the responder; empty if that answers."""
    asked, before = len(talk.responder.asked), len(await talk.outbox())
    talk.responder.script.append(["Answer."])
    turn = await talk.ask(text, **more)
    await talk.flow().answer(turn)
    rows = (await talk.outbox())[before:]
    shown = "\n".join(row.outgoing.text for row in rows if row.outgoing.kind != "react")
    if len(talk.responder.asked) > asked:
        return ""
    talk.responder.script.pop()
    return shown


async def person(talk: Talk, name: str) -> None:
    now = talk.clock.now()
    await talk.write(lambda c: from_metadata(c, OWNER, TelegramAccount(77, name, None), seen_at=now, now=now))


async def task(talk: Talk, title: str, kind: TaskKind = TaskKind.TASK) -> None:
    now = talk.clock.now()
    new = service.NewTask(title, Schedule(now + timedelta(days=1), False, None, "UTC"), kind=kind)
    await talk.write(lambda c: service.open_task(c, OWNER, new, service.by_owner(OWNER, now, time(9))))


@pytest.mark.parametrize(
    ("known", "meant"),
    [
        ("whose birthdays are coming up?", "I want to buy a cake for somebody, who's next to celebrate"),
        ("whose birthdays are coming up?", "кому из наших скоро свечки задувать"),
        ("whose birthdays are coming up?", "кого мені в грудні треба привітати"),
        ("whom haven't I called for ages?", "which friend did I not phone since forever"),
        ("whom haven't I called for ages?", "с кем я перестала общаться"),
        ("whom haven't I called for ages?", "з ким я перестала спілкуватися"),
        ("what do you know about me?", "how would you portray me"),
        ("have you shown anyone something of mine?", "have you gossiped about me"),
        ("have you shown anyone something of mine?", "ты про меня сплетничал?"),
        ("have you shown anyone something of mine?", "ти про мене пліткував?"),
        ("what did you change lately?", "oops, I pressed wrong, could you reinstate it"),
        ("what did you change lately?", "ой, промахнулся, верни взад"),
        ("what did you change lately?", "ой, промахнувся, поверни як стояло"),
    ],
)
async def test_the_page_is_that_of_a_question_that_the_rules_know(acting: Talk, known: str, meant: str) -> None:
    """In three languages, in words that are in no list."""
    assert acting.commands is not None
    pages, acting.commands.pages = acting.commands.pages, None
    page = await card(acting, known)
    assert page
    assert await card(acting, meant) == ""
    acting.commands.pages = pages
    assert (await card(acting, meant)).startswith(page)


@pytest.mark.parametrize(
    "words", ["who has not given me my stuff back", "кто из друзей зажал мои вещи", "хто з друзів зажав мої речі"]
)
async def test_what_others_owe_is_listed(acting: Talk, words: str) -> None:
    """And no task of the owner's own."""
    await task(acting, "Tom: the drill", TaskKind.WAITING)
    await task(acting, "Buy milk")
    found = await card(acting, words)
    assert "the drill" in found
    assert "Buy milk" not in found


async def test_both_directions_are_shown_where_the_vector_does_not_tell(acting: Talk) -> None:
    """What is owed to the owner and what he owes differ by grammar, of which a vector knows little."""
    await task(acting, "Tom: the drill", TaskKind.WAITING)
    await task(acting, "Bring Ann her ladder", TaskKind.PROMISE)
    found = await card(acting, "whose things must I bring back")
    assert "the drill" in found
    assert "ladder" in found


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("Martha", "Martha rings in five, what do I need to know"),
        ("Марта", "Марта звонит через пять минут, что мне надо знать"),
        ("Марта", "Марта дзвонить за п'ять хвилин, що мені треба знати"),
    ],
)
async def test_a_brief_is_of_a_known_person(acting: Talk, name: str, words: str) -> None:
    """Of somebody unknown there is none, and the question is answered."""
    assert await card(acting, words) == ""
    await person(acting, name)
    assert name in await card(acting, words)


@pytest.mark.parametrize("words", ["чем у меня забито завтра", "чим у мене забито завтра"])
async def test_the_days_are_read_from_the_words(acting: Talk, words: str) -> None:
    """As the rules read them."""
    await task(acting, "Dentist")
    assert "Dentist" in await card(acting, words)


@pytest.mark.parametrize(
    "words",
    [
        "when was Chopin born?",
        "what's on at the opera this week",
        "how often do I have to feed a hamster?",
        "who lends money at low rates",
        "he put that back in the drawer",
        "I rang my granny today",
        "what did I do last friday?",
        "во сколько закрывается аптека в субботу",
        "кто придумал радио?",
        "позвонил деду",
        "что мы ели в прошлое воскресенье?",
        "о котрій зачиняється аптека в суботу",
        "хто вигадав радіо?",
        "подзвонив дідові",
        "що ми їли минулої неділі?",
    ],
)
async def test_other_messages_open_none(acting: Talk, words: str) -> None:
    """Questions to memory and to the world, and news."""
    await task(acting, "Dentist")
    assert await card(acting, words) == ""


async def test_a_birthday_of_somebody_known_is_no_list(acting: Talk) -> None:
    """Who asks for one day gets an answer."""
    await person(acting, "Martha")
    assert await card(acting, "i need a cake for martha, when does she celebrate") == ""


async def test_only_the_owners_own_words_count(acting: Talk) -> None:
    """Neither what was forwarded nor a quotation."""
    words = "have you gossiped about me"
    assert await card(acting, words, forward=ForwardOrigin(kind="user", name="Tom")) == ""
    assert await card(acting, f'Tom asked: "{words}"') == ""


async def test_without_the_language_process_the_message_is_answered(acting: Talk) -> None:
    """As before there was a vector."""
    assert acting.commands is not None
    acting.commands.pages = MeantPages(acting.database, OfflineEmbedder(Refusing()), LanguageHere())
    assert await card(acting, "have you gossiped about me") == ""
