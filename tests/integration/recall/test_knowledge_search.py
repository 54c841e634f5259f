"""Search of facts, entities and episodes: languages, time, owners, forgetting, and what fails on the way."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import timedelta

import pytest
from support.flows.fact_search_stage import DirectTerms, Known, day
from support.flows.recall_stage import DIMENSIONS, NOON, OWNER, STRANGER, DirectNames

from internal.errors import ModelUnavailable, NotFound, Refused
from internal.graph import store
from internal.knowledge import service
from internal.knowledge.model import Episode
from internal.language.search.terms import Word
from internal.llm.model import Vectors
from internal.recall.index.hits import FactHit
from internal.recall.search.knowledge import KnowledgeSearch
from internal.recall.search.names import Names
from internal.storage.database import Database
from internal.storage.forgetting import hidings
from internal.testing.vectors import TrigramEmbedder


@pytest.fixture
def known(database: Database) -> Known:
    return Known(database, TrigramEmbedder(DIMENSIONS))


async def life(known: Known) -> dict[str, str]:
    """Nodes and facts of one owner, by short names."""
    made = {
        "petrov": await known.node("Петров", type="person", aliases=["Саша Петров"]),
        "katya": await known.node("Катя Мельник", type="person"),
        "bob": await known.node("Robert Miller", type="person"),
        "acme": await known.node("ACME", type="organization", labels=["Organization"]),
        "kyiv": await known.node("Київ", type="place", labels=["Location"]),
        "boston": await known.node("Boston", type="place", labels=["Location"]),
        "nuts": await known.node("орехи", type="concept"),
        "owner": await known.owner(),
    }
    made["works"] = await known.tell(made["petrov"], "WORKS_FOR", made["acme"], "Петров работает в ACME")
    made["allergy"] = await known.tell(made["petrov"], "ALLERGIC_TO", made["nuts"], "У Петрова аллергия на орехи")
    made["kyiv_home"] = await known.tell(made["katya"], "LIVES_IN", made["kyiv"], "Катя живе у Києві на Подолі")
    made["boston_home"] = await known.tell(made["bob"], "LIVES_IN", made["boston"], "Bob lives in a town near Boston")
    made["own_home"] = await known.tell(made["owner"], "LIVES_IN", made["kyiv"], "Оля живёт в Киеве на Саксаганского")
    return made


def texts(hits: Sequence[FactHit]) -> list[str]:
    return [hit.fact.fact for hit in hits]


ASKED = (
    ("где работает Петров?", "works"),
    ("про работу Петровых", "works"),
    ("де працює Петров?", "works"),
    ("where does Petrov work?", "works"),
    ("what about acme", "works"),
    ("орехами", "allergy"),
    ("де живе Катерина?", "kyiv_home"),
    ("where does Katya live", "kyiv_home"),
    ("где живёт Катя", "kyiv_home"),
    ("что известно про Боба", "boston_home"),
    ("де живе Роберт Міллер", "boston_home"),
    ("где я живу?", "own_home"),
    ("where do I live?", "own_home"),
)


@pytest.mark.parametrize("vectors", [True, False])
async def test_the_fact_asked_for_comes_first(known: Known, vectors: bool) -> None:
    """Over declension, alphabets, diminutives and languages, by words and names alone.

    Vectors of letters, which stand for meaning here, may put others before it, but not many.
    """
    made = await life(known)
    await known.follow()
    search = known.search(embedder=known.embedder if vectors else None)
    for question, wanted in ASKED:
        hits = await search.facts(OWNER, question)
        place = [hit.fact.id for hit in hits].index(made[wanted])
        assert place <= (2 if vectors else 0), question
        assert hits[place].reasons.words > 0 or hits[place].reasons.name > 0
        assert (hits[place].reasons.meaning is not None) is vectors


async def test_what_was_just_written_is_found(known: Known) -> None:
    """Before terms and vectors have followed, and right after they did; also by a search that was there before."""
    made = await life(known)
    search = known.search(embedder=known.embedder)
    assert texts(await search.facts(OWNER, "аллергия на орехи"))[0] == "У Петрова аллергия на орехи"
    fresh = await known.tell(made["katya"], "PLAYS", made["kyiv"], "Катя грає на бандурі")
    assert (await search.facts(OWNER, "бандура"))[0].fact.id == fresh
    await known.follow()
    found = (await search.facts(OWNER, "бандура"))[0]
    assert found.fact.id == fresh
    assert found.reasons.meaning is not None


async def test_facts_come_with_their_names_and_reasons(known: Known) -> None:
    """Whoever shows a fact needs no other query."""
    made = await life(known)
    await known.follow()
    hit = (await known.search(embedder=known.embedder).facts(OWNER, "где работает Петров?"))[0]
    assert (hit.fact.source_name, hit.fact.target_name) == ("Петров", "ACME")
    assert hit.fact.episodes == ("episode-1",)
    assert hit.reasons.name == pytest.approx(1.0)
    assert hit.reasons.relevant(threshold=2.0)
    assert hit.hops is None
    assert made["works"] == hit.fact.id


async def test_what_ended_is_found_only_in_its_time(known: Known) -> None:
    """Now, then, what is to come, and everything."""
    made = await life(known)
    bank = await known.node("Аваль", type="organization")
    old = await known.tell(
        made["petrov"], "WORKS_FOR", bank, "Петров работает в банке Аваль", valid_at=day("2019-05-01")
    )
    new = await known.tell(
        made["petrov"], "WORKS_FOR", made["acme"], "Петров перешёл в ACME", valid_at=day("2024-01-01")
    )
    await known.follow()
    search = known.search(embedder=known.embedder)

    async def found(question: str = "банк Аваль", **times: object) -> list[str]:
        return [hit.fact.id for hit in await search.facts(OWNER, question, **times)]  # type: ignore[arg-type]

    assert old not in await found()
    assert old in await found(as_of=day("2020-01-01"))
    assert old not in await found(as_of=day("2019-04-30"))
    assert old not in await found(as_of=day("2024-01-01"))
    assert new not in await found("где работает Петров", as_of=day("2020-01-01"))
    both = await found("где работает Петров", as_of=day("2023-01-01"), until=day("2024-01-02"))
    assert {old, new} <= set(both)
    assert new not in await found("где работает Петров", as_of=day("2023-01-01"), until=day("2024-01-01"))
    everything = await found(include_invalid=True)
    assert everything.index(new) < everything.index(old)


async def test_a_corrected_fact_never_outranks_its_correction(known: Known) -> None:
    """However well the old words fit the question, and also when only they fit it."""
    made = await life(known)
    old = made["allergy"]
    versions = [old]
    for text in ("У Петрова непереносимость лактозы", "Петров не ест молочного"):
        known.clock.advance(timedelta(hours=1))
        versions.append(await known.correct(versions[-1], text))
    await known.follow()
    search = known.search(embedder=known.embedder)
    ranked = [hit.fact.id for hit in await search.facts(OWNER, "аллергия на орехи", include_invalid=True)]
    assert ranked.index(versions[2]) < ranked.index(versions[1])
    assert ranked.index(versions[2]) < ranked.index(versions[0])
    assert versions[0] not in [hit.fact.id for hit in await search.facts(OWNER, "аллергия на орехи")]
    then = await search.facts(OWNER, "аллергия на орехи", known_at=NOON)
    assert "У Петрова аллергия на орехи" in texts(then)
    assert "Петров не ест молочного" not in texts(then)


async def test_near_a_centre_comes_first(known: Known) -> None:
    """Hops from the centre count before the score; what is not connected comes last."""
    made = await life(known)
    await known.tell(made["acme"], "LOCATED_IN", made["boston"], "ACME has its office in Boston")
    await known.follow()
    search = known.search(embedder=known.embedder)
    hits = await search.facts(OWNER, "где живёт Катя", center_node=made["acme"])
    hops = [hit.hops for hit in hits]
    assert hops == sorted(hops, key=lambda away: 9 if away is None else away)
    assert {hit.hops for hit in hits if made["acme"] in (hit.fact.source, hit.fact.target)} == {0}
    assert hits[-1].hops is None
    with pytest.raises(NotFound):
        await search.facts(OWNER, "где", center_node="nobody")


async def test_a_search_can_keep_to_nodes_and_types(known: Known) -> None:
    """`about` and `entity_types` leave out what has no such end; an unknown type is refused."""
    made = await life(known)
    await known.follow()
    search = known.search(embedder=known.embedder)
    about = await search.facts(OWNER, "где живёт", about=[made["petrov"]])
    assert {hit.fact.id for hit in about} == {made["works"], made["allergy"]}
    typed = await search.facts(OWNER, "где", entity_types=["Organization"])
    assert {hit.fact.id for hit in typed} == {made["works"]}
    with pytest.raises(Refused):
        await search.facts(OWNER, "где", entity_types=["Starship"])


async def test_nodes_are_found_by_any_form_of_their_name(known: Known) -> None:
    """Entities compete by meaning, words and name, and can be kept to types."""
    await life(known)
    await known.follow()
    search = known.search(embedder=known.embedder)
    for question in ("Петровым", "petrov", "Сашу"):
        assert (await search.nodes(OWNER, question, 1))[0].node.name == "Петров"
    assert (await search.nodes(OWNER, "Kyiv", 1))[0].node.name == "Київ"
    places = await search.nodes(OWNER, "Петров", entity_types=["Location"])
    assert {hit.node.name for hit in places} == {"Київ", "Boston"}


async def test_preferences_and_topics_are_found_with_the_entities(known: Known) -> None:
    """They are named nodes too: found by type, without one, by new words, and their facts by their name."""
    made = await life(known)
    search = known.search(embedder=known.embedder)
    await search.nodes(OWNER, "sailing")
    topic = await known.node("Sailing", label="Topic")
    tea = await known.node("green tea", label="Preference")
    for _ in ("just written", "analysed and embedded"):
        assert [hit.node.id for hit in await search.nodes(OWNER, "tea", entity_types=["Preference"])] == [tea]
        assert [hit.node.id for hit in await search.nodes(OWNER, "boats", entity_types=["Topic"])] == [topic]
        assert (await search.nodes(OWNER, "what about sailing?", 1))[0].node.id == topic
        await known.follow()
    told = await known.tell(made["bob"], "LIKES", topic, "Bob spends his summers on the water")
    assert (await known.search().facts(OWNER, "who is fond of sailing?", 1))[0].fact.id == told


async def test_episodes_are_found_by_what_they_say(known: Known) -> None:
    """The text that a writer gave an episode is searched like any other."""
    for number, text in enumerate(("Обсудили ремонт кухни и плитку", "План поїздки до Карпат", "Release checklist")):
        await known.episode(Episode(OWNER, f"e{number}", "text", f"note {number}", text, "", None, NOON, NOON))
    search = known.search(embedder=known.embedder)
    assert [hit.episode.id for hit in await search.episodes(OWNER, "какую плитку выбрали для кухонь", 1)] == ["e0"]
    assert [hit.episode.id for hit in await search.episodes(OWNER, "подорож у Карпати", 1)] == ["e1"]
    await known.follow()
    assert [hit.episode.id for hit in await search.episodes(OWNER, "checklists for releases", 1)] == ["e2"]


async def test_owners_do_not_see_one_another(known: Known) -> None:
    """The same words in another owner's memory are not found, not even by a node's id."""
    made = await life(known)
    await known.follow()
    search = known.search(embedder=known.embedder)
    assert await search.facts(STRANGER, "где работает Петров?") == []
    assert await search.nodes(STRANGER, "Петров") == []
    other = await known.node("Петров", STRANGER, type="person")
    firm = await known.node("Завод", STRANGER, type="organization")
    await known.tell(other, "WORKS_FOR", firm, "Петров работает на заводе", user_id=STRANGER)
    assert texts(await search.facts(STRANGER, "где работает Петров?")) == ["Петров работает на заводе"]
    assert "Петров работает на заводе" not in texts(await search.facts(OWNER, "Петров на заводе"))
    assert await search.facts(STRANGER, "Петров", about=[made["petrov"]]) == []


async def test_what_is_forgotten_is_found_no_more(known: Known) -> None:
    """Hidden at once, back when that is undone, gone when it is erased."""
    made = await life(known)
    await known.follow()
    search = known.search(embedder=known.embedder)
    question = "аллергия на орехи"
    assert made["allergy"] in [hit.fact.id for hit in await search.facts(OWNER, question)]
    await known.database.write(lambda c: hidings.hide(c, OWNER, "asked", "edge", [made["allergy"]]))
    assert made["allergy"] not in [hit.fact.id for hit in await search.facts(OWNER, question)]
    await known.database.write(lambda c: hidings.end_hiding(c, OWNER, "asked"))
    assert made["allergy"] in [hit.fact.id for hit in await search.facts(OWNER, question)]
    await known.database.write(lambda c: service.erase_fact(c, OWNER, made["allergy"], now=NOON))
    assert made["allergy"] not in [hit.fact.id for hit in await search.facts(OWNER, question, include_invalid=True)]


async def test_another_process_finds_the_same(known: Known) -> None:
    """What is in memory is only a copy: a search made again ranks alike."""
    await life(known)
    search = known.search(embedder=known.embedder)
    await search.facts(OWNER, "где")
    await known.follow()
    again = known.search(embedder=known.embedder)
    for question in ("где работает Петров?", "орехи", "where do I live?"):
        before, after = await search.facts(OWNER, question), await again.facts(OWNER, question)
        assert [hit.fact.id for hit in before] == [hit.fact.id for hit in after]
    again.forget(OWNER)
    assert texts(await again.facts(OWNER, "орехи"))[0] == "У Петрова аллергия на орехи"
    assert again.cached_bytes > 0


class Down(TrigramEmbedder):
    async def embed_queries(self, texts: Sequence[str], *, user_id: int | None = None) -> Vectors:
        raise ModelUnavailable("down")


class NoTerms(DirectTerms):
    async def document_terms(self, texts: Sequence[str], *, urgent: bool = False) -> list[str]:
        raise ModelUnavailable("down")

    async def in_cyrillic(self, text: str) -> str:
        raise ModelUnavailable("down")

    async def query_terms(self, text: str) -> list[Word]:
        raise ModelUnavailable("down")


class NoNames(DirectNames):
    async def boosts(self, query: str, names: Names) -> Mapping[int, float]:
        raise ModelUnavailable("down")


async def test_a_channel_that_fails_is_done_without(known: Known) -> None:
    """No embedder, no language process: names and words as they are written still find."""
    await life(known)
    await known.follow()
    search = KnowledgeSearch(known.database, known.clock, embedder=Down(DIMENSIONS), terms=NoTerms(), names=NoNames())
    assert texts(await search.facts(OWNER, "Петров ACME"))[0] == "Петров работает в ACME"
    assert await search.facts(OWNER, "") != []


async def test_nothing_known_is_no_failure(known: Known) -> None:
    """An empty memory answers every search with nothing."""
    search = known.search(embedder=known.embedder)
    assert await search.facts(OWNER, "где работает Петров?") == []
    assert await search.nodes(OWNER, "Петров") == []
    assert await search.episodes(OWNER, "Петров") == []


async def test_an_entity_is_named_by_what_it_is_called_now(known: Known) -> None:
    """Names that were read for one question are read again once the entity has another one."""
    made = await life(known)
    await known.follow()
    search = known.search()
    assert texts(await search.facts(OWNER, "что с Петровым?"))
    await known.database.write(
        lambda c: store.update_node(c, OWNER, made["acme"], {"name": "Ромашка"}, now=known.clock.now())
    )
    await known.follow()
    [first, *_] = await search.facts(OWNER, "Ромашка")
    assert first.reasons.name > 0
    assert all(hit.reasons.name == 0 for hit in await search.facts(OWNER, "ACME"))
