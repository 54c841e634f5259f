"""A published fragment is found by what its messages say: edited, hidden, erased or published by an older version."""

from __future__ import annotations

import numpy as np
from sqlalchemy import Connection, delete, func, select
from support.flows.flow_stage import OWNER, Talk

from internal.flows.forgetting import erase, requests
from internal.flows.indexing.fragments import FragmentBackfill
from internal.language.search.terms import ANALYZER
from internal.recall.index import item_repository
from internal.storage import vectors
from internal.storage.tables import search_items, vectors as stored


async def followed(talk: Talk) -> None:
    """Terms and vectors of everything are there."""

    def follow(connection: Connection) -> None:
        for due in item_repository.due_terms(connection, limit=100):
            item_repository.store_terms(connection, due, due.text.casefold(), ANALYZER)
        for one in vectors.due(connection, "m", 4, limit=100):
            vectors.save_vector(connection, one, "m", np.ones(4, dtype=np.float32))

    await talk.write(follow)


async def found_by(talk: Talk) -> tuple[str, str, int]:
    """What the only fragment is found by: its text, its terms, the number of its vectors."""

    def read(connection: Connection) -> tuple[str, str, int]:
        row = connection.execute(select(search_items).where(search_items.c.kind == "episode")).one()
        of_it = select(func.count()).select_from(stored).where(stored.c.item == row.item)
        return row.text, row.terms or "", connection.execute(of_it).scalar_one()

    return await talk.read(read)


async def test_a_fragment_is_found_by_what_its_messages_say_now(talk: Talk) -> None:
    """It has a search item; an edit changes it, and an erased message leaves no word in it nor in its terms."""
    await talk.exchange("Встретил Петрова")
    await talk.publication().publish_now(OWNER)
    await followed(talk)
    assert "Встретил Петрова" in (await found_by(talk))[0]
    (question, _) = await talk.messages()
    await talk.edit(question, "Встретил Сидорова")
    await followed(talk)
    text, terms, of_it = await found_by(talk)
    assert ("Сидорова" in text, "сидоров" in terms, of_it) == (True, True, 1)
    await talk.write(lambda c: erase.erase_messages(c, OWNER, [question.id], now=talk.clock.now()))
    text, terms, of_it = await found_by(talk)
    assert ("Сидорова" in text, "сидоров" in terms, of_it) == (False, False, 0)


async def test_a_message_that_is_to_be_forgotten_finds_its_fragment_no_more(talk: Talk) -> None:
    """From the asking on, and again once that is undone."""
    await talk.exchange("Встретил Петрова")
    await talk.publication().publish_now(OWNER)
    (question, _) = await talk.messages()
    asked = await talk.write(lambda c: requests.ask(c, OWNER, "message", question.id, now=talk.clock.now()))
    assert "Петрова" not in (await found_by(talk))[0]
    await talk.write(lambda c: requests.undo(c, OWNER, asked.id))
    assert "Петрова" in (await found_by(talk))[0]


async def test_fragments_of_an_earlier_version_become_findable(talk: Talk) -> None:
    """What was published without a search item gets one, once."""
    for text in ("Встретил Петрова", "Встретил Сидорова"):
        await talk.exchange(text)
        await talk.publication().publish_now(OWNER)
    query = select(search_items.c.item, search_items.c.text).where(search_items.c.kind == "episode")
    before = await talk.read(lambda c: c.execute(query).all())
    await talk.write(lambda c: c.execute(delete(search_items)))
    fragments = FragmentBackfill(talk.database)
    assert [await fragments.follow_due(), await fragments.follow_due()] == [2, 0]
    assert await talk.read(lambda c: c.execute(query).all()) == before
