"""Whatever happens to people, in whatever order, these hold."""

from __future__ import annotations

import numpy as np
from hypothesis import HealthCheck, settings, strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule
from sqlalchemy import func, select
from support.knowledge.people_stage import NOON, OWNER, Archive, memory
from support.long import examples

from internal.errors import NotFound, Refused
from internal.language.text.spelling import name_key
from internal.people import removal_repository, repository, service
from internal.people.model import Circle, Person, embedding_text
from internal.people.operations import Added, Merged, Updated
from internal.people.service import TelegramAccount
from internal.recall.index import people_repository as recall
from internal.recall.index.people_matrix import PeopleMatrix
from internal.storage import vectors
from internal.storage.forgetting import hidings
from internal.storage.tables import mentions, people, search_items

MODEL, DIM = "test", 4
NAMES = st.sampled_from(["Иван", "иван", "Ваня", "Иван Петров", "Иван Сидоров", "Мария", "Маша", ""])
USERNAMES = st.sampled_from([None, None, None, "ivan", "IVAN", "maria"])
TELEGRAM_IDS = st.sampled_from([None, None, None, 7, 8])
IDS = st.integers(1, 8)
BIOS = st.sampled_from(["", "Коллега.", "Коллега. Любит чай.", "Сестра."])
CIRCLES = st.sampled_from([None, *Circle])
ALIASES = st.lists(NAMES, max_size=2).map(tuple)

ADDED = st.builds(Added, NAMES, ALIASES, USERNAMES, TELEGRAM_IDS, CIRCLES, BIOS, distinct_from=st.tuples(IDS))
UPDATED = st.builds(Updated, IDS, st.none() | NAMES, ALIASES, USERNAMES, TELEGRAM_IDS, CIRCLES, BIOS)
MERGED = st.builds(Merged, IDS, IDS)


class LifeOfPeople(RuleBasedStateMachine):
    """Operations, edits, contacts, merges, splits, forgetting and embedding, one after another."""

    def __init__(self) -> None:
        super().__init__()
        self._memory = memory()
        self.connection = self._memory.__enter__()
        self.archive = Archive(self.connection)
        self.matrix = PeopleMatrix(DIM)
        self.moment = NOON

    def teardown(self) -> None:
        self._memory.__exit__(None, None, None)

    @initialize(operations=st.lists(ADDED, min_size=2, max_size=5))
    def begin(self, operations: list[Added]) -> None:
        self.archive.fragment(*operations, telegram_ids=(7, 8))

    @rule(operations=st.lists(ADDED | UPDATED | MERGED, max_size=5), episode=st.sampled_from([None, "same"]))
    def archive_fragment(self, operations: list[Added | Updated | Merged], episode: str | None) -> None:
        self.archive.fragment(*operations, telegram_ids=(7, 8), episode=episode)

    @rule(operations=st.lists(UPDATED | MERGED, max_size=3))
    def archive_late_reply(self, operations: list[Updated | Merged]) -> None:
        self.archive.fragment(*operations, telegram_ids=(7, 8), snapshot_rev=max(self.archive.rev - 3, 0))

    @rule(person_id=IDS, name=NAMES, aliases=ALIASES, username=USERNAMES)
    def edit(self, person_id: int, name: str, aliases: tuple[str, ...], username: str | None) -> None:
        changes = {"display_name": name, "aliases": aliases, "username": username}
        self._try(lambda: service.edit(self.connection, OWNER, person_id, changes, now=NOON))

    @rule(name=NAMES, username=USERNAMES, telegram_id=st.sampled_from([7, 8, 9]))
    def contact(self, name: str, username: str | None, telegram_id: int) -> None:
        sender = TelegramAccount(telegram_id, name, username)
        self._try(lambda: service.from_metadata(self.connection, OWNER, sender, seen_at=NOON, now=NOON))

    @rule(source_id=IDS, target_id=IDS)
    def merge(self, source_id: int, target_id: int) -> None:
        self._try(lambda: service.merge(self.connection, OWNER, source_id, target_id, now=NOON))

    @rule(person_id=IDS)
    def split(self, person_id: int) -> None:
        self._try(lambda: service.split(self.connection, OWNER, person_id, now=NOON))

    @rule(person_id=IDS)
    def hide_and_show(self, person_id: int) -> None:
        entities = repository.entity_ids(self.connection, OWNER, [person_id])
        removal_repository.hide_nodes(self.connection, OWNER, "asked", entities)
        self.follow_changes()
        removal_repository.show_nodes(
            self.connection, OWNER, hidings.end_hiding(self.connection, OWNER, "asked")["node"]
        )

    @rule(person_id=IDS)
    def erase(self, person_id: int) -> None:
        ids = {person_id} | repository.sources_of(self.connection, OWNER, person_id)
        if repository.resolve_id(self.connection, OWNER, person_id) == person_id:
            removal_repository.erase(self.connection, OWNER, ids)

    @rule(limit=st.integers(1, 3))
    def embed(self, limit: int) -> None:
        for due in vectors.due(self.connection, MODEL, DIM, limit=limit):
            seed = int(due.text_hash[:8], 16)
            vector = np.random.default_rng(seed).normal(size=DIM).astype(np.float32)
            assert vectors.save_vector(self.connection, due, MODEL, vector)

    @rule()
    def follow_changes(self) -> None:
        changed = recall.log_after(self.connection, OWNER, self.matrix.seq)
        ids = {one for kind, ref in changed.entries or () if (one := recall.person_of_change(kind, ref)) is not None}
        current = list(recall.people_vectors(self.connection, OWNER, MODEL, DIM, sorted(ids)))
        self.matrix.apply_changes(ids, current)
        self.matrix.seq = changed.seq

    def _try(self, change: object) -> None:
        """As a unit of work would: what is refused leaves nothing behind."""
        assert callable(change)
        self.connection.exec_driver_sql("SAVEPOINT work")
        try:
            change()
        except (Refused, NotFound):
            self.connection.exec_driver_sql("ROLLBACK TO work")
        self.connection.exec_driver_sql("RELEASE work")

    @property
    def live(self) -> list[Person]:
        return self.archive.people

    @invariant()
    def nobody_shares_an_account(self) -> None:
        """No two live people of one owner have the same Telegram id or username."""
        for held in (
            [person.telegram_id for person in self.live if person.telegram_id is not None],
            [name_key(person.username) for person in self.live if person.username],
        ):
            assert len(held) == len(set(held))

    @invariant()
    def redirects_end(self) -> None:
        """Every id that was ever given leads to a row that is no redirect, or nowhere."""
        for person_id in self.connection.execute(select(people.c.id)).scalars():
            final = repository.resolve_id(self.connection, OWNER, person_id)
            assert final is not None
            assert repository.resolve_id(self.connection, OWNER, final) == final

    @invariant()
    def profiles_are_whole(self) -> None:
        """A name, a bio, times in order, no alias empty, twice or equal to the name."""
        for person in self.live:
            keys = [name_key(name) for name in person.names]
            assert all(keys)
            assert len(keys) == len(set(keys))
            assert person.bio
            assert person.first_seen <= person.last_seen

    @invariant()
    def names_find_their_people(self) -> None:
        """The name keys are exactly the names of the profile."""
        for person in self.live:
            for name in person.names:
                assert person in repository.by_name_keys(self.connection, OWNER, [name_key(name)])

    @invariant()
    def what_is_searched_is_the_profile(self) -> None:
        """One search item for each visible person, with the text of now."""
        rows = self.connection.execute(select(search_items.c.ref_id, search_items.c.text)).all()
        assert dict(rows) == {str(person.id): embedding_text(person) for person in self.live}

    @invariant()
    def mentions_are_counted_at_least_once_a_fragment(self) -> None:
        """A person who was never merged was mentioned as often as fragments meant him."""
        merged_into = set(self.connection.execute(select(people.c.merged_into)).scalars())
        for person in self.live:
            if person.id not in merged_into and person.mention_count:
                counted = select(func.count()).select_from(mentions).where(mentions.c.person_id == person.id)
                assert person.mention_count >= 1
                assert self.connection.execute(counted).scalar_one() >= person.mention_count

    @invariant()
    def the_matrix_is_what_reading_everything_anew_gives(self) -> None:
        """Following the change log ends where a fresh start begins."""
        self.follow_changes()
        everybody = list(recall.people_vectors(self.connection, OWNER, MODEL, DIM))
        fresh = PeopleMatrix.load(DIM, self.matrix.seq, everybody, expected=len(everybody))
        assert _content(self.matrix) == _content(fresh)


def _content(matrix: PeopleMatrix) -> object:
    outside = matrix.outside({Circle.FAMILY, Circle.WORK_INNER})
    rows = {
        int(person_id): (matrix.vectors[row].tolist(), bool(outside[row])) for row, person_id in enumerate(matrix.ids)
    }
    return rows, matrix.profiles


LifeOfPeople.TestCase.settings = settings(
    max_examples=examples(20), stateful_step_count=25, suppress_health_check=[HealthCheck.too_slow]
)
TestLifeOfPeople = LifeOfPeople.TestCase
