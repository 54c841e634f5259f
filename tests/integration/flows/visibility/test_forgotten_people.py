"""What was said of a forgotten person stands in no prompt: no answer quotes it, not even before it is erased."""

from __future__ import annotations

from datetime import timedelta

import pytest
from sqlalchemy import Connection
from support.flows.flow_stage import OWNER, Talk

from internal.agents.model import PassageLine, RecalledPassage
from internal.flows.forgetting.requests import UNDO_WINDOW, ForgettingService, ask_forget, undo
from internal.flows.visibility.prompt_filter import PromptFilter
from internal.people import apply_operations, repository
from internal.people.model import Circle
from internal.people.operations import Added, ApplyContext, SourceLine

KEY = b"k" * 32
TOLD = ["Жанна Тимчук посварилася з директором", "Бачила Жанну в парку", "Ivan called"]


async def known(talk: Talk, *names: str) -> list[int]:
    """People of these names; their ids."""
    now = talk.clock.now()
    added = [Added(name, circle=Circle.OTHER, bio=f"{name} щось робить.", evidence=(1,)) for name in names]

    def work(connection: Connection) -> list[int]:
        rev = repository.current_rev(connection, OWNER)
        context = ApplyContext("episode", "run", {1: SourceLine(now, 1, "m1")}, rev, KEY, now)
        apply_operations.apply(connection, OWNER, added, context)
        by_name = {one.display_name: one.id for one in repository.listing(connection, OWNER)}
        return [by_name[name] for name in names]

    return await talk.write(work)


async def shown(talk: Talk, question: str = "Хто така Жанна?") -> list[str]:
    """What of the things told stands in the dialogue of a prompt."""
    await talk.flow().answer(await talk.ask(question))
    there = {line.text for line in talk.responder.asked[-1].dialogue}
    return [text for text in TOLD if text in there]


async def told(talk: Talk) -> None:
    for text in TOLD:
        await talk.say(text)
    talk.clock.advance(60)


async def test_nothing_said_of_a_person_is_quoted_from_the_request_on(talk: Talk) -> None:
    """Within the time to undo, and for good afterwards; undone it is there again, and so is what is said later."""
    await told(talk)
    (person,) = await known(talk, "Жанна Тимчук")
    assert await shown(talk) == TOLD
    asked = await talk.write(lambda c: ask_forget(c, OWNER, person, now=talk.clock.now()))
    talk.clock.advance(1)
    assert await shown(talk) == ["Ivan called"]
    await talk.write(lambda c: undo(c, OWNER, asked.id))
    assert await shown(talk) == TOLD
    await talk.write(lambda c: ask_forget(c, OWNER, person, now=talk.clock.now()))
    talk.clock.advance(UNDO_WINDOW.total_seconds() + 60)
    assert await ForgettingService(talk.database, talk.clock, KEY).erase_due() == 1
    assert await shown(talk) == ["Ivan called"]
    await talk.exchange("Жанна повернулася")
    assert any(line.text == "Жанна повернулася" for line in talk.responder.asked[-1].dialogue)
    await talk.exchange("А ще?")
    assert any(line.text == "Жанна повернулася" for line in talk.responder.asked[-1].dialogue)


async def test_of_two_of_one_name_the_other_stays(talk: Talk) -> None:
    """What may be meant of somebody known is shown; what holds the forgotten one's surname is not."""
    await told(talk)
    person, _ = await known(talk, "Жанна Тимчук", "Жанна Бойко")
    await talk.write(lambda c: ask_forget(c, OWNER, person, now=talk.clock.now()))
    talk.clock.advance(1)
    assert await shown(talk) == ["Бачила Жанну в парку", "Ivan called"]


async def test_a_line_that_was_judged_is_judged_anew_when_something_changes(talk: Talk) -> None:
    """One filter, as in a running bot: a request, its undoing, somebody else of that name, and the erasing."""
    kept = PromptFilter(talk.database, KEY)
    at = talk.clock.now() - timedelta(days=1)
    found = [RecalledPassage(1, "message", "a", [PassageLine(at, "Olena", "Бачила Жанну в парку")])]
    (person,) = await known(talk, "Жанна Тимчук")
    assert await kept.passages(OWNER, found) == found
    asked = await talk.write(lambda c: ask_forget(c, OWNER, person, now=talk.clock.now()))
    assert await kept.passages(OWNER, found) == []
    await talk.write(lambda c: undo(c, OWNER, asked.id))
    assert await kept.passages(OWNER, found) == found
    await talk.write(lambda c: ask_forget(c, OWNER, person, now=talk.clock.now()))
    (other,) = await known(talk, "Жанна Бойко")
    assert await kept.passages(OWNER, found) == found
    await talk.write(lambda c: ask_forget(c, OWNER, other, now=talk.clock.now()))
    talk.clock.advance(UNDO_WINDOW.total_seconds() + 60)
    assert await ForgettingService(talk.database, talk.clock, KEY).erase_due() == 2
    assert await kept.passages(OWNER, found) == []


@pytest.mark.parametrize("erased", [False, True])
async def test_passages_lose_such_lines_and_keep_their_numbers(talk: Talk, erased: bool) -> None:
    """A passage that was found by such a line is gone, one that only stood beside it loses the line."""
    (person,) = await known(talk, "Жанна Тимчук")
    at = talk.clock.now() - timedelta(days=1)
    await talk.write(lambda c: ask_forget(c, OWNER, person, now=talk.clock.now()))
    if erased:
        talk.clock.advance(UNDO_WINDOW.total_seconds() + 60)
        await ForgettingService(talk.database, talk.clock, KEY).erase_due()
    of_her, beside = PassageLine(at, "Olena", "Жанні не казати"), PassageLine(at, "Olena", "З Тимчук", found=False)
    other = PassageLine(at, "Olena", "Іван тут")
    found = [RecalledPassage(1, "message", "a", [of_her, other]), RecalledPassage(2, "message", "b", [of_her])]
    found.append(RecalledPassage(3, "message", "c", [beside, other]))
    kept = await PromptFilter(talk.database, KEY).passages(OWNER, found)
    assert [(one.n, one.lines) for one in kept] == [(1, [other]), (3, [other])]


@pytest.mark.parametrize("erased", [False, True])
@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("Олег Петров", "Вчера сидели с Петровым"),
        ("Пушкін", "Обідала з Пушкіним"),
        ("Оксана Ковалева", "Дай номер Ковалевої"),
        ("Маша", "Была в кино с Машей"),
        ("Яків Кравець", "Купила подарунок для Якова"),
        ("Кравець", "Бачила Кравця на ринку"),
        ("Павел", "Видела Павла"),
        ("Anna", "Took Anna's car"),
    ],
)
async def test_a_name_is_known_in_every_case(talk: Talk, name: str, said: str, erased: bool) -> None:
    """Instrumentals, changed stems and possessives too, before and after the erasing."""
    (person,) = await known(talk, name)
    at = talk.clock.now() - timedelta(days=1)
    await talk.write(lambda c: ask_forget(c, OWNER, person, now=talk.clock.now()))
    if erased:
        talk.clock.advance(UNDO_WINDOW.total_seconds() + 60)
        await ForgettingService(talk.database, talk.clock, KEY).erase_due()
    passage = RecalledPassage(1, "message", "a", [PassageLine(at, "Olena", said)])
    assert await PromptFilter(talk.database, KEY).passages(OWNER, [passage]) == []
