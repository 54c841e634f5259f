"""Merging and splitting people whose facts follow from claims, as a flow does it: the graph first, then the facts."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given, settings, strategies as st
from support.knowledge.graph_stage import NOON, OWNER, Graph, memory
from support.long import examples

from internal.knowledge import episode_repository, service
from internal.knowledge.claims.changes import ClaimLine, NewClaim
from internal.knowledge.model import Episode, Fact, FactFilter, Segment
from internal.people import repository as people_repository, service as people
from internal.people.model import Circle, Person
from internal.storage.types import new_id


@dataclass(slots=True)
class Life:
    """Anna (1) and Hanna (2), two companies, and what was told about them."""

    graph: Graph
    now: datetime = NOON
    ends: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        for name in ("Анна", "Ганна"):
            entity_id = new_id()
            person = Person(0, OWNER, entity_id, name, Circle.FRIENDS, name, NOON, NOON)
            people_repository.create(self.graph.connection, person, by="archivist", now=NOON)
            self.ends.append(entity_id)
        self.ends += [self.graph.entity(name) for name in ("ACME", "Бук")]

    def tell(self, source: int, relation: str, target: int, year: int) -> None:
        self.now += timedelta(minutes=1)
        words = f"{source} {relation} {target}"
        told_at = datetime(year, 1, 1, tzinfo=UTC)
        episode = Episode(OWNER, new_id(), "text", "note", words, "", None, self.now, self.now)
        episode_repository.add_episode(self.graph.connection, episode, [Segment(1, self.now, words, None)])
        claim = NewClaim(
            source=self.ends[source],
            relation=relation,
            target=self.ends[target],
            fact=words,
            said_at=self.now,
            valid_at=told_at,
            valid_stated=True,
            episode_id=episode.id,
            lines=[ClaimLine(1, words)],
        )
        outcome = service.record_claims(self.graph.connection, OWNER, [claim], now=self.now)
        assert not outcome.refused

    def merge(self) -> None:
        self.now += timedelta(minutes=1)
        target = people.merge(self.graph.connection, OWNER, 2, 1, now=self.now)
        service.reproject(self.graph.connection, OWNER, [target.entity_id], now=self.now)

    def split(self) -> None:
        self.now += timedelta(minutes=1)
        both = people.split(self.graph.connection, OWNER, 1, now=self.now)
        service.reproject(self.graph.connection, OWNER, [one.entity_id for one in both], now=self.now)

    @property
    def facts(self) -> list[Fact]:
        wanted = FactFilter(include_invalid=True)
        found = service.facts_about(self.graph.connection, OWNER, wanted, now=self.now, limit=1000)
        return [fact for fact in found if fact.expired_at is None]

    @property
    def told(self) -> set[tuple[object, ...]]:
        """Current facts with everything that must be as it was."""
        return {
            (one.id, one.source, one.name, one.target, one.fact, one.valid_at, one.invalid_at, tuple(one.episodes))
            for one in self.facts
        }


@pytest.fixture
def life() -> Iterator[Life]:
    with memory() as connection:
        yield Life(Graph(connection))


def test_two_timelines_become_one_and_two_again(life: Life) -> None:
    """Merged, the later job ends the earlier one; split, both stand as they stood, under their own ids."""
    life.tell(0, "WORKS_FOR", 2, 2020)
    life.tell(1, "WORKS_FOR", 3, 2022)
    before = life.told
    life.merge()
    ended = {fact.target: fact.invalid_at for fact in life.facts}
    assert ended == {life.ends[2]: datetime(2022, 1, 1, tzinfo=UTC), life.ends[3]: None}
    assert {fact.source for fact in life.facts} == {life.ends[0]}
    life.split()
    assert life.told == before


def test_the_same_fact_of_both_is_told_once_while_they_are_one(life: Life) -> None:
    """With the episodes of both; split, each has its own again."""
    life.tell(0, "WORKS_FOR", 2, 2020)
    life.tell(1, "WORKS_FOR", 2, 2021)
    before = life.told
    life.merge()
    (joined,) = life.facts
    assert (len(joined.episodes), joined.valid_at) == (2, datetime(2020, 1, 1, tzinfo=UTC))
    life.split()
    assert life.told == before


def test_what_the_two_are_to_one_another_is_nothing_while_they_are_one(life: Life) -> None:
    """Nobody knows himself; split, they know one another again."""
    life.tell(0, "KNOWS", 1, 2020)
    before = life.told
    life.merge()
    assert life.facts == []
    life.split()
    assert life.told == before


TOLD = st.lists(
    st.tuples(
        st.integers(0, 3),
        st.sampled_from(["WORKS_FOR", "KNOWS", "LIVES_IN"]),
        st.integers(0, 3),
        st.integers(2018, 2023),
    ).filter(lambda one: one[0] != one[2]),
    max_size=6,
)


@settings(max_examples=examples(25))
@given(TOLD)
def test_a_split_brings_back_every_fact_under_its_own_id(told: list[tuple[int, str, int, int]]) -> None:
    """Whatever was told about the two, and however their facts were joined meanwhile."""
    with memory() as connection:
        life = Life(Graph(connection))
        for one in told:
            life.tell(*one)
        before = life.told
        life.merge()
        assert life.ends[1] not in {end for fact in life.facts for end in (fact.source, fact.target)}
        life.split()
        assert life.told == before
