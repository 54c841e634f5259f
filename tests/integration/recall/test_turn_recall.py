"""Recall for a turn, with every model up, down, late and wrong."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TypeVar, cast

import pytest
from support.flows.recall_stage import DIMENSIONS, NOON, OWNER, DirectNames, Memory, Watched

from internal.agents.model import EnricherRequest, OwnerProfile, PersonPick, RerankerRequest, TranscriptLine
from internal.config.settings import Config
from internal.errors import ModelError, ModelReplyInvalid, ModelReplyUnknownIds, ModelUnavailable
from internal.language.worker.process_pool import LanguageCallFailed
from internal.llm.model import Vectors
from internal.people.model import Circle
from internal.people.operations import Added, Updated
from internal.recall.prompt.context import RecallLimits, RecallResult, TurnRecall
from internal.recall.search.names import Names
from internal.recall.search.people import PeopleSearch
from internal.testing.vectors import TrigramEmbedder

PROFILE = OwnerProfile(OWNER, "Оля", None, "ru", "Europe/Kyiv")
RECENT = (TranscriptLine(1, "user", "Оля", NOON, "Вчера видела Петрова"),)
PEOPLE = (
    Added("Анна", circle=Circle.FAMILY, bio="сестра, врач в больнице"),
    Added("Шеф", circle=Circle.WORK_INNER, bio="начальник в больнице"),
    Added("Петров", circle=Circle.WORK_OUTER, bio="врач в больнице"),
    Added("Мария", circle=Circle.FRIENDS, bio="врач в детской больнице"),
    Added("Сосед", bio="zzzz yyyy"),
)


class Rewriting:
    """An Enricher that answers as it is told."""

    def __init__(self, answer: str | Exception | float) -> None:
        self.answer, self.asked = answer, list[EnricherRequest]()

    async def standalone(self, request: EnricherRequest) -> str:
        self.asked.append(request)
        return await _said(self.answer)


class Picking:
    """A Reranker that answers as it is told."""

    def __init__(self, answer: Sequence[int] | Exception | float) -> None:
        self.answer, self.asked = answer, list[RerankerRequest]()

    async def pick(self, request: RerankerRequest) -> list[PersonPick]:
        self.asked.append(request)
        return [PersonPick(person_id, f"потому что {person_id}") for person_id in await _said(self.answer)]


T = TypeVar("T")


async def _said(answer: T | Exception | float) -> T:
    if isinstance(answer, Exception):
        raise answer
    if isinstance(answer, float):
        await asyncio.sleep(answer)
    return cast(T, answer)


class Down(TrigramEmbedder):
    """An embedder that cannot be reached, or answers nonsense."""

    def __init__(self, failure: ModelError | None) -> None:
        super().__init__(DIMENSIONS)
        self.failure = failure

    async def embed_queries(self, texts: Sequence[str], *, user_id: int | None = None) -> Vectors:
        if self.failure is not None:
            raise self.failure
        return (await super().embed_queries(texts))[:, :3]


class SilentNames(DirectNames):
    async def boosts(self, query: str, names: Names) -> Mapping[int, float]:
        raise LanguageCallFailed


LIMITS = RecallLimits(candidates=50, max_people=10, fallback_people=1, enricher_timeout=0.05, reranker_timeout=0.05)


@pytest.fixture
async def known(memory: Memory) -> Memory:
    await memory.learn(*PEOPLE)
    return memory


async def recall(
    memory: Memory,
    watched: Watched,
    question: str = "врач в больнице",
    *,
    enricher: Rewriting | None = None,
    reranker: Picking | None = None,
    names: DirectNames | None = None,
    limits: RecallLimits = LIMITS,
    recent: Sequence[TranscriptLine] = (),
    embedder: TrigramEmbedder | None = None,
) -> RecallResult:
    search = PeopleSearch(memory.database, memory.embedder, names=names, observer=watched)
    turn = TurnRecall(
        memory.database,
        search,
        embedder or memory.embedder,
        enricher=enricher,
        reranker=reranker,
        names=names,
        limits=limits,
        observer=watched,
    )
    return await turn.recall(PROFILE, question, recent)


def named(people: Sequence[object]) -> list[str]:
    return [person.display_name for person in people]  # type: ignore[attr-defined]


async def test_the_reranker_chooses_among_the_candidates_outside_the_inner_circle(
    known: Memory, watched: Watched
) -> None:
    """The inner circle is always there and never a candidate; picks keep the reranker's order and reasons."""
    reranker = Picking([4, 3])
    recalled = await recall(known, watched, reranker=reranker)
    assert named(recalled.inner_circle) == ["Анна", "Шеф"]
    assert {person.display_name for person in reranker.asked[0].candidates} == {"Петров", "Мария"}
    assert (reranker.asked[0].query, reranker.asked[0].max_people) == ("врач в больнице", 10)
    assert named(recalled.relevant_people) == ["Мария", "Петров"]
    assert recalled.reasons[4] == "потому что 4"
    assert recalled.scores[3] > 0.3
    assert (recalled.fallback, watched.selected, watched.fallbacks) == (None, [2], [])


async def test_an_empty_pick_is_an_answer(known: Memory, watched: Watched) -> None:
    """ "Nobody is relevant" is not overridden by the best matches."""
    recalled = await recall(known, watched, reranker=Picking([]))
    assert (recalled.relevant_people, recalled.fallback, watched.selected) == ([], None, [0])


async def test_picks_are_validated_and_limited(known: Memory, watched: Watched) -> None:
    """Unknown ids, the inner circle's and repetitions are dropped; max_people is enforced here."""
    recalled = await recall(known, watched, reranker=Picking([99, 1, 4, 4, 3]))
    assert named(recalled.relevant_people) == ["Мария", "Петров"]
    one = await recall(known, watched, reranker=Picking([3, 4]), limits=replace(LIMITS, max_people=1))
    assert named(one.relevant_people) == ["Петров"]


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (None, "off"),
        (ModelUnavailable(), "failed"),
        (ModelReplyInvalid("no JSON"), "failed"),
        (60.0, "timeout"),
        (ModelReplyUnknownIds(), "unknown_ids"),
        ([99, 1], "unknown_ids"),
    ],
)
async def test_without_a_pick_the_best_matches_are_used_and_counted(
    known: Memory, watched: Watched, answer: Sequence[int] | Exception | float | None, reason: str
) -> None:
    """Off, failed, late, or nothing but unknown ids: the best `retrieved_people_count`, counted by reason."""
    recalled = await recall(known, watched, reranker=None if answer is None else Picking(answer))
    assert named(recalled.relevant_people) == ["Петров"]
    assert (recalled.fallback, watched.fallbacks, watched.selected) == (reason, [reason], [])


async def test_nobody_is_asked_when_nobody_was_found(known: Memory, watched: Watched) -> None:
    """A question about nothing known costs no reranker call and counts no fallback."""
    reranker = Picking([])
    recalled = await recall(known, watched, "ёёёё щщщщ", reranker=reranker)
    assert (recalled.relevant_people, reranker.asked, watched.fallbacks) == ([], [], [])


async def test_the_enricher_makes_the_question_stand_alone(known: Memory, watched: Watched) -> None:
    """Its query is searched and given to the reranker."""
    enricher, reranker = Rewriting("что сказал врач в больнице Петров"), Picking([3])
    recalled = await recall(known, watched, "а он что?", enricher=enricher, reranker=reranker, recent=RECENT)
    assert enricher.asked[0].recent == RECENT
    assert enricher.asked[0].leans
    assert recalled.query == reranker.asked[0].query == "что сказал врач в больнице Петров"
    assert named(recalled.relevant_people) == ["Петров"]


@pytest.mark.parametrize("answer", [ModelUnavailable(), ModelReplyInvalid(), 60.0, "  "])
async def test_without_the_enricher_the_question_is_searched_as_it_is(
    known: Memory, watched: Watched, answer: str | Exception | float
) -> None:
    """Down, wrong, late or silent: the turn goes on."""
    recalled = await recall(known, watched, enricher=Rewriting(answer), reranker=Picking([3]), recent=RECENT)
    assert recalled.query == "врач в больнице"
    assert named(recalled.relevant_people) == ["Петров"]
    assert watched.degraded == ([] if isinstance(answer, str) else ["enricher"])


async def test_words_that_the_enricher_dropped_are_searched_too(known: Memory, watched: Watched) -> None:
    """A model that rewrites a question badly must not lose what it asked."""
    recalled = await recall(known, watched, "а он в больнице?", enricher=Rewriting("Где Петров?"), recent=RECENT)
    assert recalled.query == "а он в больнице?\nГде Петров?"


async def test_a_question_that_stands_alone_asks_no_model(known: Memory, watched: Watched) -> None:
    """The enricher is told so."""
    enricher = Rewriting("врач в больнице")
    await recall(known, watched, "врач в больнице", enricher=enricher, recent=RECENT)
    assert [asked.leans for asked in enricher.asked] == [False]


async def test_a_first_question_needs_no_enricher(known: Memory, watched: Watched) -> None:
    """With nothing before it, it stands alone already: no call."""
    enricher = Rewriting("?")
    assert (await recall(known, watched, enricher=enricher)).query == "врач в больнице"
    assert enricher.asked == []


@pytest.mark.parametrize("failure", [ModelUnavailable(), None])
async def test_without_the_embedder_only_those_named_are_recalled(
    known: Memory, watched: Watched, failure: ModelError | None
) -> None:
    """By name in any form, short ones too, never the inner circle twice, never an error."""
    recalled = await recall(
        known, watched, "Анна с Петровым говорила?", names=DirectNames(), embedder=Down(failure), reranker=Picking([3])
    )
    assert named(recalled.relevant_people) == ["Петров"]
    assert recalled.scores == {3: 1.0}
    assert watched.degraded == ["embedder"]
    short = await recall(known, watched, "Что там Маша?", names=DirectNames(), embedder=Down(failure))
    assert named(short.relevant_people) == ["Мария"]
    nobody = await recall(known, watched, "Петров?", names=SilentNames(), embedder=Down(failure))
    assert (nobody.relevant_people, named(nobody.inner_circle)) == ([], ["Анна", "Шеф"])


async def test_somebody_named_reaches_the_reranker_whatever_the_threshold(known: Memory, watched: Watched) -> None:
    """Cosines of another embedding model do not hide whom the question names; nobody else comes along."""
    reranker = Picking([3])
    high = replace(LIMITS, threshold=0.99)
    recalled = await recall(known, watched, "про Петрова", reranker=reranker, names=DirectNames(), limits=high)
    assert [person.display_name for person in reranker.asked[0].candidates] == ["Петров"]
    assert named(recalled.relevant_people) == ["Петров"]


async def test_a_person_whose_vector_is_not_there_yet_is_recalled_by_name(known: Memory, watched: Watched) -> None:
    """Between the archival and the embedding somebody new is found by his name."""
    await known.learn(Added("Олег", circle=Circle.FRIENDS), Updated(4, bio="Переехала."), embed=False)
    recalled = await recall(known, watched, "Что там Олег?", names=DirectNames(), limits=replace(LIMITS, candidates=1))
    assert named(recalled.relevant_people) == ["Олег"]


@pytest.mark.parametrize("embedder", [None, Down(ModelUnavailable())])
async def test_a_circle_that_is_asked_for_comes_whole(
    known: Memory, watched: Watched, embedder: TrigramEmbedder | None
) -> None:
    """ "Кто мои друзья?" has no word in common with any of them, and their vectors may not be there."""
    await known.learn(Added("Олег", circle=Circle.FRIENDS, bio="qqqq"), embed=False)
    high = replace(LIMITS, threshold=0.99, fallback_people=10)
    recalled = await recall(known, watched, "Кто мои друзья?", names=DirectNames(), limits=high, embedder=embedder)
    assert named(recalled.relevant_people) == ["Мария", "Олег"]
    at_work = await recall(known, watched, "С кем я работаю?", names=DirectNames(), limits=high, embedder=embedder)
    assert named(at_work.relevant_people) == ["Петров"]


def test_the_limits_come_from_the_configuration() -> None:
    """candidates 50, max_people 10, retrieved_people_count 10, the model's own threshold, the agents' timeouts."""
    assert RecallLimits.of(Config()) == RecallLimits(50, 10, 10, None, 4.0, 4.0)


async def test_a_follow_up_without_a_model_is_searched_with_the_turn_before_it(known: Memory, watched: Watched) -> None:
    """People too; and what was recalled is counted by its kind."""
    recent = (TranscriptLine(1, "user", "Оля", NOON, "Была у врача в детской больнице"),)
    recalled = await recall(known, watched, "а что она сказала?", recent=recent)
    assert recalled.query == "Была у врача в детской больнице\nа что она сказала?"
    assert named(recalled.relevant_people) == ["Мария"]
    assert watched.recalls == [{"person": 1, "fact": 0, "memory": 0, "message": 0, "episode": 0}]
