"""What recall finds is the same on both engines, item by item, and in whatever process it is asked."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from support.flows.fact_search_stage import Known
from support.flows.message_stage import Talk
from support.flows.recall_stage import DIMENSIONS, OWNER, DirectNames, Memory, add_users
from support.stores.stores import where_postgresql
from test_knowledge_search import ASKED, life

from internal.flows.forgetting import erase
from internal.knowledge.model import Episode
from internal.people.operations import Added
from internal.recall.search.people import PeopleSearch
from internal.storage.database import Database
from internal.storage.migration import migrate
from internal.storage.transfer.migrate_store import copy_store
from internal.testing.vectors import TrigramEmbedder

LINES = (
    "Купили дачу под Тверью, теперь ремонт",
    "Ремонт дачи идёт, крышу перекрыли",
    "Оля переїхала до Львова заради нової роботи",
    "The old bicycle was stolen from the cellar",
    "Петров звонил про ремонт",
    "Ok",
    "Ok",
)
QUESTIONS = (*(question for question, _ in ASKED), "что с дачей?", "ремонт", "who stole my bicycle?", "Львів", "ok")


async def remembered(database: Database) -> None:
    """Facts, a text, messages and people of one owner, with words and vectors of all."""
    known = Known(database, TrigramEmbedder(DIMENSIONS))
    await life(known)
    at = known.clock.now()
    await known.episode(Episode(OWNER, "e1", "text", "Ремонт", LINES[0], "", None, at, at))
    people = Memory(database, known.embedder)
    await people.learn(
        Added("Саша Петров", bio="Работает в ACME, занимается ремонтом"),
        Added("Катя Мельник", bio="Живе у Києві, вчить робототехніку"),
        embed=False,
    )
    talk = Talk.of(database, known.embedder)
    for line in LINES:
        await talk.say(line)
        await talk.reply(f"— {line}?")
    await talk.follow()


class Seeker:
    """Asks a process's searches, which keep in memory what they have read."""

    def __init__(self, database: Database) -> None:
        self.embedder = TrigramEmbedder(DIMENSIONS)
        self.knowledge = Known(database, self.embedder).search(embedder=self.embedder)
        self.talk = Talk.of(database, self.embedder)
        self.people = PeopleSearch(database, self.embedder, names=DirectNames())

    async def recalled(self, question: str) -> list[Any]:
        """Everything that is found, best first, with what it was found by."""
        facts = [(hit.fact.id, hit.score) for hit in await self.knowledge.facts(OWNER, question)]
        nodes = [(hit.node.id, hit.score) for hit in await self.knowledge.nodes(OWNER, question)]
        texts = [(hit.episode.id, hit.score) for hit in await self.knowledge.episodes(OWNER, question)]
        said = [(hit.message.id, hit.chance) for hit in await self.talk.hits(question)]
        [vector] = await self.embedder.embed_queries([question], user_id=OWNER)
        known = await self.people.search(OWNER, vector, 0.0, 10, query_text=question)
        return [facts, nodes, texts, said, [(hit.person.id, hit.score) for hit in known]]


async def test_what_is_found_is_the_same_on_both_engines(tmp_path: Path) -> None:
    """Every question finds the same facts, entities, texts and messages in the same order with the same scores."""
    async with (
        Database.open(tmp_path / "laplaced.db") as sqlite,
        Database.open(where_postgresql(tmp_path)) as postgresql,
    ):
        await sqlite.exclusive(migrate)
        await sqlite.write(add_users)
        await remembered(sqlite)
        moved = await copy_store(sqlite, postgresql, name="tests", progress=lambda *_: None)
        assert moved.differing == []
        some = 0
        for question in QUESTIONS:
            expected, found = await Seeker(sqlite).recalled(question), await Seeker(postgresql).recalled(question)
            assert _ids(found) == _ids(expected), question
            assert _scores(found) == pytest.approx(_scores(expected)), question
            some += sum(map(bool, expected))
        assert some > 2 * len(QUESTIONS)


async def test_what_another_process_wrote_is_found_and_what_it_erased_is_not(tmp_path: Path) -> None:
    """Though the searches had read everything before: each looks what has changed since."""
    address, question = where_postgresql(tmp_path), "ремонт дачи"
    async with Database.open(address) as here, Database.open(address) as elsewhere:
        await here.write(add_users)
        seeker = Seeker(here)
        assert await seeker.recalled(question) == [[], [], [], [], []]
        await remembered(elsewhere)
        facts, nodes, texts, said, people = _ids(await seeker.recalled(question))
        assert all((facts, nodes, texts, said, people))
        now = seeker.talk.clock.now()
        await elsewhere.write(lambda c: erase.erase_messages(c, OWNER, [said[0]], now=now))
        assert said[0] not in _ids(await seeker.recalled(question))[3]


def _ids(found: list[Any]) -> list[list[str]]:
    return [[hit[0] for hit in kind] for kind in found]


def _scores(found: list[Any]) -> list[float]:
    return [hit[1] for kind in found for hit in kind]
