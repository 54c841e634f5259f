"""Whatever happens to facts, in whatever order, these hold."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from datetime import datetime

from hypothesis import HealthCheck, settings, strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule
from sqlalchemy import select
from support.knowledge.knowledge_stage import OWNER, Knowledge, memory
from support.long import examples

from internal.errors import Conflict, NotFound, Refused
from internal.graph import store
from internal.graph.model import MergeUndo
from internal.knowledge import service
from internal.knowledge.claims import repository as claim_repository
from internal.knowledge.claims.changes import BOTH, NEITHER
from internal.knowledge.claims.time_rules import project
from internal.knowledge.relations import group_of
from internal.storage.tables import claims, evidence, facts, graph_edges, search_items

PEOPLE = st.sampled_from(["Anna", "Anya"])
PLACES = st.sampled_from(["Kyiv", "Lviv", "Odesa"])
RELATIONS = st.sampled_from(["LIVES_IN", "LIVES_IN", "VISITS"])
YEARS = st.none() | st.integers(2000, 2004)
MANNERS = st.sampled_from(["", "now", "with two cats"])


class LifeOfFacts(RuleBasedStateMachine):
    """Telling, correcting, answering, merging, splitting and forgetting, one after another."""

    def __init__(self) -> None:
        super().__init__()
        self._memory = memory()
        self.knowledge = Knowledge(self._memory.__enter__())
        self.connection = self.knowledge.connection
        self.told = 0
        self.merged: MergeUndo | None = None
        self.forgotten: list[str] = []

    def teardown(self) -> None:
        self._memory.__exit__(None, None, None)

    @rule(who=PEOPLE, relation=RELATIONS, where=PLACES, start=YEARS, end=YEARS, manner=MANNERS, quote=st.booleans())
    def tell(
        self, who: str, relation: str, where: str, start: int | None, end: int | None, manner: str, quote: bool
    ) -> None:
        if start is not None and end is not None and end <= start:
            end = start + 1
        self.told += 1
        mark = f" mark{self.told}x" if quote else ""
        verb = relation.lower().replace("_", " ")
        self._entity(who), self._entity(where)
        self.knowledge.tell(who, relation, where, start, end, text=f"{who} {verb} {where} {manner}{mark}")

    @rule(place=st.integers(0, 9), words=st.sampled_from(["in Podil", "at the sea"]), moved_to=st.none() | PLACES)
    def correct(self, place: int, words: str, moved_to: str | None) -> None:
        fact_id = self._fact(place)
        target_id = None if moved_to is None else self._entity(moved_to)
        now = self.knowledge.later()
        self._try(lambda: service.update_fact(self.connection, OWNER, fact_id, words, target_id=target_id, now=now))

    @rule(place=st.integers(0, 9), side=st.integers(0, 3))
    def answer(self, place: int, side: int) -> None:
        asked = service.open_contradictions(self.connection, OWNER)
        if asked:
            one = asked[place % len(asked)]
            choice = [*one.facts, BOTH, NEITHER][side % (len(one.facts) + 2)]
            service.resolve_contradiction(self.connection, OWNER, one.id, choice, now=self.knowledge.later())
            assert one.id not in [left.id for left in service.open_contradictions(self.connection, OWNER)]

    @rule(place=st.integers(0, 9))
    def forget_episode(self, place: int) -> None:
        known = [row["episode_id"] for row in self.knowledge.rows(claims)]
        if known:
            episode = known[place % len(known)]
            words = {
                w for row in self.knowledge.rows(claims) if row["episode_id"] == episode for w in row["fact"].split()
            }
            service.remove_episode_claims(self.connection, OWNER, episode, now=self.knowledge.later())
            self.forgotten += [word for word in words if word.startswith("mark")]

    @rule(place=st.integers(0, 9))
    def forget_fact(self, place: int) -> None:
        self._try(lambda: service.erase_fact(self.connection, OWNER, self._fact(place), now=self.knowledge.later()))

    @rule()
    def merge_or_split(self) -> None:
        ends = [self.knowledge.entities.get(name) for name in ("Anya", "Anna")]
        known = [end for end in ends if end and store.get_node(self.connection, OWNER, end, hidden=True)]
        if len(known) < 2:
            return
        anya, anna = known
        if self.merged is None:
            self.merged = store.repoint(self.connection, OWNER, anya, anna)
            store.redirect_node(self.connection, OWNER, anya, anna)
        else:
            store.redirect_node(self.connection, OWNER, anya, None)
            store.restore_ends(self.connection, OWNER, anya, anna, [anya], self.merged)
            self.merged = None
        service.reproject(self.connection, OWNER, [anya, anna], now=self.knowledge.later())

    @invariant()
    def facts_are_the_projection_of_their_claims(self) -> None:
        stored = {row["id"] for row in self.knowledge.rows(claims)}
        held = [one for one in claim_repository.by_ids(self.connection, OWNER, stored) if one.retracted_at is None]
        expected: set[tuple[str, str, str, datetime | None, datetime | None]] = set()
        for group in {group_of(one) for one in held}:
            members = [one for one in held if group_of(one) == group]
            for span in project(members, functional=group[2] is None).spans:
                expected.add((group[0], group[1], span.target, span.valid_at, span.invalid_at))
        edges, words = graph_edges.c, facts.c
        query = select(edges.source, words.name, edges.target, edges.valid_at, edges.invalid_at)
        current = query.join(facts, words.edge_id == edges.id).where(edges.expired_at.is_(None))
        assert {tuple(row) for row in self.connection.execute(current)} == expected

    @invariant()
    def every_row_has_its_others(self) -> None:
        edges = {row["id"]: row for row in self.knowledge.rows(graph_edges)}
        words = {row["edge_id"]: row for row in self.knowledge.rows(facts)}
        items = {row["ref_id"] for row in self.knowledge.rows(search_items) if row["kind"] == "fact"}
        told = {row["id"]: row for row in self.knowledge.rows(claims)}
        assert set(edges) == set(words) == items
        assert {row["claim_id"] for row in words.values()} <= set(told)
        assert all(row["edge_id"] in edges for row in told.values() if row["edge_id"])
        assert all(row["supersedes"] in edges for row in words.values() if row["supersedes"])
        supported = {row["target"] for row in self.knowledge.rows(evidence)}
        assert supported <= {f"claim:{one}" for one in told}
        for edge_id, row in edges.items():
            assert row["props"]["fact"] == words[edge_id]["fact"]

    @invariant()
    def contradictions_name_facts_that_stand(self) -> None:
        for one in service.open_contradictions(self.connection, OWNER):
            sides = service.facts(self.connection, OWNER, one.facts, now=self.knowledge.now)
            assert len(sides) == len(one.facts) > 1
            assert all(side.expired_at is None for side in sides.values())
            assert one.suggestion_id is not None

    @invariant()
    def nothing_forgotten_is_left(self) -> None:
        if self.forgotten:
            left = self.knowledge.everything()
            assert [word for word in self.forgotten if word in left] == []

    @invariant()
    def what_is_known_now_is_what_is_stored(self) -> None:
        then = {
            (f.target, f.valid_at, f.invalid_at)
            for f in self.knowledge.facts(known_at=self.knowledge.now, include_invalid=True)
        }
        stored = {
            (f.target, f.valid_at, f.invalid_at) for f in self.knowledge.facts(include_invalid=True) if not f.expired_at
        }
        assert then == stored

    def _fact(self, place: int) -> str:
        ids = sorted(row["edge_id"] for row in self.knowledge.rows(facts))
        return ids[place % len(ids)] if ids else "none"

    def _try(self, action: Callable[[], object]) -> None:
        with suppress(Conflict, NotFound, Refused):
            action()

    def _entity(self, name: str) -> str:
        """The entity of this name; one that was forgotten is made again."""
        node_id = self.knowledge.entities.get(name)
        if node_id and not store.get_node(self.connection, OWNER, node_id, hidden=True):
            del self.knowledge.entities[name]
        return self.knowledge.entity(name)


LifeOfFacts.TestCase.settings = settings(
    max_examples=examples(20), stateful_step_count=14, suppress_health_check=[HealthCheck.too_slow]
)
TestLifeOfFacts = LifeOfFacts.TestCase
