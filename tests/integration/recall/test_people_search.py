"""People search: right after every write, for every owner, within its memory."""

import asyncio

import numpy as np
import pytest
from support.flows.recall_stage import DIMENSIONS, NOON, OWNER, STRANGER, DirectNames, Memory, Watched

from internal.people import removal_repository, repository, service
from internal.people.model import INNER_CIRCLE, Circle
from internal.people.operations import Added, Updated
from internal.recall.search.people import PeopleSearch, PersonSearchResult
from internal.storage.database import Database
from internal.storage.forgetting import hidings
from internal.testing.vectors import TrigramEmbedder, trigram_vectors

ENGINEER = Added("Петров", circle=Circle.WORK_OUTER, bio="руководитель проекта альфа")
DOCTOR = Added("Мария", circle=Circle.FRIENDS, bio="врач в детской больнице")
SISTER = Added("Анна", circle=Circle.FAMILY, bio="врач в детской поликлинике")


async def find(
    search: PeopleSearch,
    text: str,
    *,
    user_id: int = OWNER,
    threshold: float | None = None,
    max_results: int = 10,
    exclude: frozenset[Circle] = frozenset(),
    named: bool = False,
) -> list[PersonSearchResult]:
    embedding = trigram_vectors([text], DIMENSIONS)[0]
    return await search.search(user_id, embedding, threshold, max_results, exclude, text if named else "")


def found(results: list[PersonSearchResult]) -> list[str]:
    return [result.person.display_name for result in results]


@pytest.fixture
def search(database: Database, memory: Memory, watched: Watched) -> PeopleSearch:
    return PeopleSearch(database, memory.embedder, observer=watched)


async def test_the_most_similar_people_come_first(memory: Memory, search: PeopleSearch, watched: Watched) -> None:
    """Cosine, best first, nobody below the threshold; the search is measured."""
    await memory.learn(ENGINEER, DOCTOR, SISTER)
    results = await find(search, "врач в больнице", threshold=0.2)
    assert found(results) == ["Мария", "Анна"]
    assert 1 >= results[0].score > results[1].score >= 0.2
    assert watched.searches == [(OWNER, 2)]


async def test_the_threshold_is_the_models_own_unless_it_is_given(memory: Memory, search: PeopleSearch) -> None:
    """None = calibrated; a set value wins, zero and negative ones included."""
    await memory.learn(ENGINEER, DOCTOR)
    assert found(await find(search, "врач в больнице")) == ["Мария"]
    assert len(await find(search, "врач в больнице", threshold=-1.0)) == 2
    assert await find(search, "врач в больнице", threshold=0.99) == []


async def test_excluded_circles_are_cut_before_the_limit(memory: Memory, search: PeopleSearch) -> None:
    """The inner circle takes nobody's place among the results."""
    await memory.learn(*(Added(f"Сестра {n}", circle=Circle.FAMILY, bio="врач в больнице") for n in range(5)), DOCTOR)
    assert found(await find(search, "врач в больнице", max_results=1, exclude=INNER_CIRCLE)) == ["Мария"]
    assert len(await find(search, "врач в больнице", max_results=0)) == 0


async def test_owners_find_only_their_own_people(memory: Memory, search: PeopleSearch) -> None:
    """One user's people are nobody else's."""
    await memory.learn(DOCTOR)
    await memory.learn(ENGINEER, user_id=STRANGER)
    assert found(await find(search, "врач", threshold=-1.0)) == ["Мария"]
    assert found(await find(search, "врач", threshold=-1.0, user_id=STRANGER)) == ["Петров"]


async def test_an_owner_without_people_finds_nobody(search: PeopleSearch) -> None:
    """Nothing to search is no error."""
    assert await find(search, "кто угодно", threshold=-1.0) == []
    assert await find(search, "кто угодно", user_id=404) == []


async def test_a_search_sees_every_write_made_before_it(
    memory: Memory, database: Database, search: PeopleSearch
) -> None:
    """Edit, circle, merge, split, hide, show: the next search is right without being told."""
    await memory.learn(ENGINEER, DOCTOR)
    assert found(await find(search, "врач в детской больнице")) == ["Мария"]

    await memory.learn(Updated(1, bio="врач в детской больнице"))
    assert set(found(await find(search, "врач в детской больнице"))) == {"Петров", "Мария"}

    await database.write(lambda c: service.edit(c, OWNER, 1, {"circle": Circle.FAMILY}, now=NOON))
    assert found(await find(search, "врач в детской больнице", exclude=INNER_CIRCLE)) == ["Мария"]

    await database.write(lambda c: service.merge(c, OWNER, 2, 1, now=NOON))
    await memory.follow()
    (merged,) = await find(search, "врач в детской больнице")
    assert "Мария" in merged.person.aliases

    await database.write(lambda c: service.split(c, OWNER, 1, now=NOON))
    await memory.follow()
    assert set(found(await find(search, "врач в детской больнице"))) == {"Петров", "Мария"}

    maria = await database.read(lambda c: repository.entity_ids(c, OWNER, [2]))
    await database.write(lambda c: removal_repository.hide_nodes(c, OWNER, "asked", maria))
    assert found(await find(search, "врач в детской больнице")) == ["Петров"]

    await database.write(
        lambda c: removal_repository.show_nodes(c, OWNER, hidings.end_hiding(c, OWNER, "asked")["node"])
    )
    assert set(found(await find(search, "врач в детской больнице"))) == {"Петров", "Мария"}


async def test_an_edited_person_is_not_found_by_what_he_was(memory: Memory, search: PeopleSearch) -> None:
    """The vector of the old text counts for nothing from the edit on; the new one counts as soon as it is there."""
    await memory.learn(DOCTOR)
    await find(search, "врач")
    await memory.learn(Updated(1, display_name="Оксана", bio="Переехала на север."), embed=False)
    assert await find(search, "врач в детской больнице", threshold=-1.0) == []
    assert [person.id for person in await search.unembedded(OWNER)] == [1]
    assert await search.unembedded(OWNER, [Circle.FRIENDS]) == []
    await memory.follow()
    assert await search.unembedded(OWNER) == []
    assert found(await find(search, "оксана переехала")) == ["Оксана"]


async def test_results_show_the_person_as_he_is_now(memory: Memory, database: Database, search: PeopleSearch) -> None:
    """A change that needs no new vector is seen as well."""
    await memory.learn(DOCTOR)
    await find(search, "врач")
    await database.write(lambda c: service.note_mentions(c, OWNER, "e", {1: [NOON]}, now=NOON))
    (result,) = await find(search, "врач в детской больнице")
    assert result.person.mention_count == 2


async def test_vectors_of_another_model_or_size_are_never_compared(memory: Memory, database: Database) -> None:
    """A new embedding model finds nobody until it has embedded them itself."""
    await memory.learn(DOCTOR)
    for embedder in (TrigramEmbedder(DIMENSIONS, name="other"), TrigramEmbedder(128)):
        search = PeopleSearch(database, embedder)
        query = trigram_vectors(["врач в детской больнице"], embedder.dimensions)[0]
        assert await search.search(OWNER, query, -1.0, 10) == []
        await Memory(database, embedder).follow()
        assert len(await search.search(OWNER, query, -1.0, 10)) == 1


@pytest.mark.parametrize(
    "embedding", [np.ones(3), np.ones((1, DIMENSIONS)), np.zeros(DIMENSIONS), np.full(DIMENSIONS, np.nan)]
)
async def test_an_embedding_that_cannot_be_compared_is_an_error(search: PeopleSearch, embedding: np.ndarray) -> None:
    """A mixture of sizes must not look like finding nobody."""
    with pytest.raises(ValueError):
        await search.search(OWNER, embedding.astype(np.float32), None, 10)


async def test_a_name_in_the_query_lifts_its_people(memory: Memory, database: Database) -> None:
    """Declined and transliterated names boost; scores stay within 1 and the rest is ranked by meaning."""
    await memory.learn(Added("Петров", bio="zzz"), Added("Сидоренко", bio="zzz"), DOCTOR)
    search = PeopleSearch(database, memory.embedder, names=DirectNames())
    for question in ("что сказал Petrov?", "встреча с Петровым"):
        plain = {r.person.display_name: r.score for r in await find(search, question, threshold=-1)}
        boosted = {r.person.display_name: r.score for r in await find(search, question, threshold=-1, named=True)}
        assert boosted["Петров"] > plain["Петров"] + 0.2
        assert boosted["Сидоренко"] == pytest.approx(plain["Сидоренко"])
        assert max(boosted.values()) <= 1.0


@pytest.mark.parametrize("question", ["Кто такой Петров?", "Расскажи про Петрова", "Who is Petrov?"])
async def test_whoever_is_named_is_found_below_the_threshold(memory: Memory, database: Database, question: str) -> None:
    """A named person needs no cosine; the threshold stays for everybody else, an excluded circle stays excluded."""
    named = Added("Иван Петров", circle=Circle.WORK_OUTER, bio="zzz")
    await memory.learn(named, Added("Анна Петрова", circle=Circle.FAMILY, bio="zzz"), DOCTOR)
    search = PeopleSearch(database, memory.embedder, names=DirectNames())
    assert await find(search, question, threshold=0.99) == []
    results = await find(search, question, threshold=0.99, exclude=INNER_CIRCLE, named=True)
    assert found(results) == ["Иван Петров"]
    assert results[0].score < 0.99


async def test_the_named_are_kept_at_the_limit(memory: Memory, database: Database) -> None:
    """Where not all fit, those who are only near in meaning give way; the rest is ranked by score."""
    await memory.learn(*(Added(f"Знакомый {n}", bio="что сказал про врача в больнице") for n in range(5)))
    await memory.learn(Added("Сидоренко", bio="zzz"), Added("Петров", bio="zzz"))
    search = PeopleSearch(database, memory.embedder, names=DirectNames())
    question = "что сказал Петров про врача в больнице"
    assert "Петров" in found(await find(search, question, threshold=-1, max_results=1, named=True))
    several = await find(search, question, threshold=-1, max_results=3, named=True)
    assert "Петров" in found(several)
    assert [result.score for result in several] == sorted((result.score for result in several), reverse=True)


async def test_without_the_language_process_a_search_goes_on(
    memory: Memory, database: Database, watched: Watched
) -> None:
    """Names are a boost; their failure is counted, not raised."""

    class Down(DirectNames):
        async def boosts(self, query: str, names: object) -> dict[int, float]:
            from internal.errors import ModelUnavailable

            raise ModelUnavailable

    await memory.learn(DOCTOR)
    search = PeopleSearch(database, memory.embedder, names=Down(), observer=watched)
    assert found(await find(search, "врач в больнице", named=True)) == ["Мария"]
    assert watched.degraded == ["names"]


async def test_memory_is_bounded_over_owners_and_the_results_stay_right(memory: Memory, database: Database) -> None:
    """One budget for all; whoever was dropped is read again."""
    await memory.learn(*(Added(f"Врач {n}", bio="врач") for n in range(30)))
    await memory.learn(*(Added(f"Врач {n}", bio="врач") for n in range(30)), user_id=STRANGER)
    roomy, tight = PeopleSearch(database, memory.embedder), PeopleSearch(database, memory.embedder, cache_bytes=1)
    for _ in range(2):
        for user_id in (OWNER, STRANGER):
            for search in (roomy, tight):
                assert len(await find(search, "врач", user_id=user_id, threshold=-1, max_results=50)) == 30
    assert tight.cached_bytes < roomy.cached_bytes
    roomy.forget(OWNER)
    assert roomy.cached_bytes == pytest.approx(tight.cached_bytes, rel=0.2)


async def test_searches_beside_writes_see_whole_states_only(memory: Memory, search: PeopleSearch) -> None:
    """Writers and searches of one owner run together; in the end the search equals a fresh one."""
    await memory.learn(*(Added(f"Имя {n}", bio=f"сосед номер {n}") for n in range(20)))

    async def write() -> None:
        for n in range(1, 20):
            await memory.learn(Updated(n, bio=f"врач номер {n}"))

    async def read() -> None:
        for _ in range(30):
            results = await find(search, "сосед", threshold=-1.0, max_results=50)
            assert len({result.person.id for result in results}) == len(results)

    await asyncio.gather(write(), read(), read())
    fresh = PeopleSearch(memory.database, memory.embedder)
    assert await find(search, "врач", threshold=-1.0) == await find(fresh, "врач", threshold=-1.0)


async def test_a_large_matrix_is_multiplied_off_the_event_loop(database: Database, memory: Memory) -> None:
    """A long product gives the same result as a short one, in a thread."""
    await memory.learn(DOCTOR)
    embedder = TrigramEmbedder(2_000_000, name="huge", people_threshold=0.1)
    await Memory(database, embedder).follow()
    search = PeopleSearch(database, embedder)
    query = trigram_vectors(["врач в детской больнице"], embedder.dimensions)[0]
    (result,) = await search.search(OWNER, query, None, 5)
    assert 0.5 < result.score <= 1.0
