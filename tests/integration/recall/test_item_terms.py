"""Terms follow texts: what is due, what changed meanwhile, other rules, and a language process that is down."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from sqlalchemy import Connection, select, update
from support.flows.fact_search_stage import DirectTerms, Known
from support.flows.recall_stage import DIMENSIONS, OWNER, STRANGER

from internal.errors import ModelUnavailable
from internal.language.search.terms import ANALYZER, document_terms
from internal.language.worker.process_pool import LanguageWorker
from internal.recall.index.terms import TermsBackfill, WorkerTerms
from internal.storage import search_items
from internal.storage.database import Database
from internal.storage.tables import changes, search_items as items
from internal.testing.vectors import TrigramEmbedder


@pytest.fixture
def known(database: Database) -> Known:
    return Known(database, TrigramEmbedder(DIMENSIONS))


async def put(database: Database, *texts: str, user_id: int = OWNER) -> None:
    def store(connection: Connection) -> None:
        for number, text in enumerate(texts):
            search_items.save_search_item(connection, user_id, "fact", str(number), text, number)

    await database.write(store)


async def stored(database: Database) -> list[tuple[str | None, str | None]]:
    def read(connection: Connection) -> list[tuple[str | None, str | None]]:
        rows = connection.execute(select(items.c.terms, items.c.analyzer).order_by(items.c.user_id, items.c.item))
        return [(row.terms, row.analyzer) for row in rows]

    return await database.read(read)


class Failing(DirectTerms):
    def __init__(self) -> None:
        self.down = True

    async def document_terms(self, texts: Sequence[str], *, urgent: bool = False) -> list[str]:
        if self.down:
            raise ModelUnavailable("down")
        return await super().document_terms(texts, urgent=urgent)


async def test_every_text_gets_its_terms(database: Database) -> None:
    """Of all owners, more than one batch of them, once; then there is nothing to do."""
    texts = [f"Петров купил {number} яблок" for number in range(70)]
    await put(database, *texts)
    await put(database, "Інша людина", user_id=STRANGER)
    following = TermsBackfill(database, DirectTerms())
    assert await following.analyse_due() == 71
    assert await following.analyse_due() == 0
    found = await stored(database)
    assert {analyzer for _, analyzer in found} == {ANALYZER}
    assert {terms for terms, _ in found} == set(document_terms([*texts, "Інша людина"]))


async def test_a_changed_text_is_due_again(database: Database) -> None:
    """Only what changed is analysed again, and the change log tells caches of it."""
    await put(database, "первый", "второй")
    following = TermsBackfill(database, DirectTerms())
    await following.analyse_due()
    await put(database, "первый", "другой")
    assert await following.analyse_due() == 1
    told = await database.read(
        lambda c: list(
            c.execute(select(changes.c.id).where(changes.c.kind == "terms").order_by(changes.c.seq)).scalars()
        )
    )
    assert told == ["fact:0", "fact:1", "fact:1"]


async def test_a_text_that_changes_meanwhile_keeps_no_old_terms(database: Database) -> None:
    """Terms of a text that is gone are not stored; the new text is due."""

    class Slow(DirectTerms):
        async def document_terms(self, texts: Sequence[str], *, urgent: bool = False) -> list[str]:
            if "старый" in texts[0]:
                await put(database, "новый текст")
            return await super().document_terms(texts, urgent=urgent)

    await put(database, "старый текст")
    assert await TermsBackfill(database, Slow()).analyse_due() == 1
    assert await stored(database) == [(document_terms(["новый текст"])[0], ANALYZER)]


async def test_terms_of_other_rules_are_made_anew(database: Database) -> None:
    """A new version of the analyzer finds all old terms due at its first look."""
    await put(database, "Петров работает")
    await TermsBackfill(database, DirectTerms()).analyse_due()
    await database.write(lambda c: c.execute(update(items).values(analyzer="words-0", terms="старьё")).rowcount)
    assert await TermsBackfill(database, DirectTerms()).analyse_due() == 1
    assert await stored(database) == [(document_terms(["Петров работает"])[0], ANALYZER)]


async def test_a_language_process_that_is_down_loses_nothing(database: Database) -> None:
    """What could not be read stays due."""
    await put(database, "Петров работает")
    tools = Failing()
    following = TermsBackfill(database, tools)
    assert await following.analyse_due() == 0
    tools.down = False
    assert await following.analyse_due() == 1


async def test_old_terms_of_a_new_text_are_not_searched(known: Known) -> None:
    """Between a change and its terms the item is found by its new words and no more by the old ones."""
    source, target = await known.node("Пётр"), await known.node("вещь")
    fact = await known.tell(source, "HAS", target, "Пётр купил велосипед")
    await known.follow()
    search = known.search()
    assert (await search.facts(OWNER, "велосипед"))[0].reasons.words > 0
    changed = await known.correct(fact, "Пётр купил скутер")
    hits = await search.facts(OWNER, "скутер")
    assert [hit.fact.id for hit in hits] == [changed]
    assert hits[0].reasons.words > 0
    assert (await search.facts(OWNER, "велосипед"))[0].reasons.words == 0


async def test_the_language_process_gives_the_same_terms() -> None:
    """What the program stores is what the rules say."""
    worker = LanguageWorker()
    try:
        tools = WorkerTerms(worker)
        assert await tools.document_terms(["Петров живёт в Киеве"]) == document_terms(["Петров живёт в Киеве"])
        assert await tools.document_terms(["Kyiv"], urgent=True) == document_terms(["Kyiv"])
        assert [dict(word).get("петров") for word in await tools.query_terms("Петровым")] == [1.0]
    finally:
        await worker.close()
