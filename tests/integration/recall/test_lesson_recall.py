"""Which lessons of closed sessions come into a prompt: the few that matter now, each once, nothing that is to go."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from datetime import timedelta
from pathlib import Path

import pytest
from sqlalchemy import Connection, insert
from support.stores.stores import where

from internal.chronicle import service
from internal.chronicle.service import ChronicleMessage
from internal.errors import ModelUnavailable
from internal.flows.forgetting import requests
from internal.language.search import terms as language
from internal.language.search.terms import Word
from internal.llm.tokens import count_tokens
from internal.recall.prompt.lessons import MAX_LESSONS, MAX_TOKENS, LessonRecall
from internal.storage.database import Database
from internal.storage.forgetting import forgettings
from internal.storage.migration import migrate
from internal.storage.tables import messages, users
from internal.testing import FIRST_MOMENT, FrozenClock

OWNER = 1
RECIPES = "Просили рецепт — сразу дать количества продуктов."
MONEY = "О ценах говорить в евро."
BRIEF = "Отвечать короче."


class TermsHere:
    """The language process's own functions, called in this process."""

    async def document_terms(self, texts: Sequence[str], *, urgent: bool = False) -> list[str]:
        return language.document_terms(texts)

    async def query_terms(self, text: str) -> list[Word]:
        return language.query_terms(text)

    async def in_cyrillic(self, text: str) -> str:
        return text


class NoTerms(TermsHere):
    async def document_terms(self, texts: Sequence[str], *, urgent: bool = False) -> list[str]:
        raise ModelUnavailable("closed")


class Taught:
    """Sessions that taught something, each at its own time."""

    def __init__(self, database: Database) -> None:
        self.database, self.clock = database, FrozenClock()
        self.count = 0

    async def session(self, *lessons: str, days: float = 0.0) -> str:
        """The id of a message of a session that taught this so many days after the last one."""
        self.clock.advance(timedelta(days=days).total_seconds())
        self.count += 1
        message_id, now, n = f"message-{self.count}", self.clock.now(), self.count

        def work(connection: Connection) -> None:
            row = {"user_id": OWNER, "seq": n, "id": message_id, "role": "user", "content": "Hi", "timestamp": now}
            connection.execute(insert(messages).values(**row, attachments=[], rev=n, delivery="none"))
            event = service.hear(connection, ChronicleMessage(OWNER, message_id, "Hi", now), tz="UTC")
            told = {"verdict": "correct", "lessons": list(lessons)}
            service.close(connection, OWNER, now)
            service.analyse(
                connection, OWNER, event.session_id, "session_summary", told, answers_n=None, now=now, run_id=None
            )

        await self.database.write(work)
        return message_id

    async def recalled(self, question: str, *, terms: TermsHere | None = None) -> list[str]:
        recall = LessonRecall(self.database, self.clock, terms or TermsHere())
        return await recall.for_question(OWNER, question)


@pytest.fixture
async def taught(tmp_path: Path) -> AsyncIterator[Taught]:
    async with Database.open(where(tmp_path)) as database:
        await database.exclusive(migrate)
        row = {"user_id": OWNER, "role": "member", "state": "active", "name": "Olena", "lang": "ru", "tz": "UTC"}
        await database.write(lambda c: c.execute(insert(users).values(**row, settings={}, created_at=FIRST_MOMENT)))
        yield Taught(database)


async def test_the_lesson_that_shares_words_with_the_question_comes_first(taught: Taught) -> None:
    """Over case and declension, before newer ones that say nothing of it."""
    await taught.session(RECIPES)
    await taught.session(MONEY, days=20)
    await taught.session(BRIEF, days=1)
    assert await taught.recalled("Дай рецепты борща") == [RECIPES, BRIEF, MONEY]
    assert (await taught.recalled("Какая цена у билета?"))[0] == MONEY
    assert await taught.recalled("") == [BRIEF, MONEY, RECIPES]


async def test_no_more_than_a_few_come(taught: Taught) -> None:
    """However many there are, and however long they are."""
    await taught.session(RECIPES, MONEY, BRIEF, "Не повторять вопрос.", "Писать без заголовков.")
    assert len(await taught.recalled("рецепт")) == MAX_LESSONS
    long = [f"{name} " + "слово и ещё слово " * 11 for name in ("Борщ", "Плов", "Суп", "Каша")]
    for lesson in long:
        await taught.session(lesson[:199], days=1)
    found = await taught.recalled("борщ плов суп каша")
    assert 0 < len(found) <= MAX_LESSONS
    assert sum(map(count_tokens, found)) <= MAX_TOKENS


async def test_a_lesson_taught_twice_is_told_once_and_lasts_longer(taught: Taught) -> None:
    """In the words in which it was put last; the one taught once fades first, unless it is asked for."""
    await taught.session("Отвечать короче!", MONEY)
    await taught.session(BRIEF, days=1)
    assert await taught.recalled("") == [BRIEF, MONEY]
    await taught.session(days=85)
    assert await taught.recalled("") == [BRIEF]
    assert await taught.recalled("цена?") == [MONEY, BRIEF]
    await taught.session(days=200)
    assert await taught.recalled("") == []


async def test_a_session_that_is_to_be_forgotten_teaches_nothing(taught: Taught) -> None:
    """From the moment it is asked, and again once it is not to be after all; the same for everything."""
    message_id = await taught.session(RECIPES)
    await taught.session(BRIEF, days=1)
    now = taught.clock.now()
    later = now + timedelta(days=1)
    asked = await taught.database.write(lambda c: requests.ask(c, OWNER, "message", message_id, now=now))
    assert await taught.recalled("рецепт") == [BRIEF]
    await taught.database.write(lambda c: requests.undo(c, OWNER, asked.id))
    assert await taught.recalled("рецепт") == [RECIPES, BRIEF]
    await taught.database.write(lambda c: forgettings.ask(c, OWNER, "everything", None, now=now, due_at=later))
    assert await taught.recalled("рецепт") == []
    await taught.session(MONEY, days=0.1)
    assert await taught.recalled("рецепт") == [MONEY]


async def test_what_is_erased_is_taught_no_more(taught: Taught) -> None:
    """There is no other copy of a lesson."""
    message_id = await taught.session(RECIPES)
    await taught.database.write(lambda c: service.lose_messages(c, OWNER, [message_id]))
    assert await taught.recalled("рецепт") == []


async def test_without_the_language_process_age_and_plain_words_decide(taught: Taught) -> None:
    """A prompt is never held up by it."""
    await taught.session(RECIPES)
    await taught.session(BRIEF, days=2)
    assert await taught.recalled("что-нибудь", terms=NoTerms()) == [BRIEF, RECIPES]
