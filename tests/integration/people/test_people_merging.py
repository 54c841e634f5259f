"""Merge, redirects and split."""

import json
from datetime import timedelta

import pytest
from sqlalchemy import Connection, select
from support.knowledge.people_stage import NOON, OWNER, Archive, reasons

from internal.errors import NotFound, Refused
from internal.people import merge, repository, service, suggestion_repository
from internal.people.model import Circle
from internal.people.operations import Added, Merged, Operation, Updated
from internal.storage.tables import evidence, mentions, merges, search_items

LATER = NOON + timedelta(days=3)


@pytest.fixture
def two(archive: Archive) -> Archive:
    """Maria (id 1), mentioned in three fragments, and Maria Ivanovna (id 2), in one, later."""
    archive.fragment(Added("Мария", ("Маша",), bio="Подруга."), episode="a")
    for episode in ("b", "c"):
        archive.fragment(Updated(1), episode=episode)
    archive.fragment(
        Added("Maria Ivanovna", ("маша",), "maria", 7, Circle.FRIENDS, "Подруга. Живёт в Киеве.", distinct_from=(1,)),
        at=LATER,
        telegram_ids=(7,),
        episode="d",
    )
    return archive


def test_a_merge_joins_fills_and_widens(two: Archive) -> None:
    """The larger mention count plus one; names, bios and ids are joined under the target's name; times widen."""
    two.fragment(Merged(2, 1), episode="d")
    (person,) = two.people
    assert (person.id, person.display_name, person.aliases) == (1, "Мария", ("Маша", "Maria Ivanovna"))
    assert (person.username, person.telegram_id, person.circle) == ("maria", 7, Circle.FRIENDS)
    assert person.bio == "Подруга. Живёт в Киеве."
    assert (person.first_seen, person.last_seen) == (NOON, LATER + timedelta(minutes=2))
    assert person.mention_count == 4


@pytest.mark.parametrize(
    "meant",
    [
        (),
        (Updated(2, bio="Больше."),),
        (Updated(1, bio="Больше."),),
        (Updated(1), Updated(2)),
        (Added("Ещё", ("Она",)), Merged(3, 2)),
    ],
)
@pytest.mark.parametrize("direction", [(2, 1), (1, 2)])
def test_a_merge_takes_the_larger_count_before_the_fragment_and_one_more(
    archive: Archive, meant: tuple[Operation, ...], direction: tuple[int, int]
) -> None:
    """Whichever side the fragment had meant before the merge, and whichever way it goes: one mention a fragment."""
    archive.fragment(Added("Мария"), episode="0")
    for number in range(1, 5):
        archive.fragment(Updated(1), episode=str(number))
    archive.fragment(Added("Maria"), episode="5")
    archive.fragment(Updated(2), episode="6")
    archive.fragment(*meant, Merged(*direction), episode="7")
    assert [person.mention_count for person in archive.people] == [5 + 1]
    archive.fragment(Updated(1), episode="7")
    assert [person.mention_count for person in archive.people] == [5 + 1]


def test_a_split_gives_each_side_the_merges_mention(two: Archive, connection: Connection) -> None:
    """The fragment that proposed the merge meant both, and counts no second time for either."""
    two.fragment(Merged(2, 1), episode="e")
    service.split(connection, OWNER, 2, now=LATER)
    assert [person.mention_count for person in two.people] == [4, 2]
    two.fragment(Updated(1), Updated(2), episode="e")
    assert [person.mention_count for person in two.people] == [4, 2]


def test_a_merge_counts_as_a_mention_only_in_a_new_fragment(two: Archive) -> None:
    """The fragment in which the merge is proposed means the person, once."""
    two.fragment(Merged(2, 1), episode="e")
    assert two.people[0].mention_count == 4
    assert two.fragment(Updated(1), episode="d").applied == {"Updated": 1}
    assert two.people[0].mention_count == 4


def test_the_old_id_leads_to_the_target_through_any_number_of_merges(two: Archive, connection: Connection) -> None:
    """A reply that names an old id means the person it leads to; a redirect is no person of its own."""
    two.fragment(Added("Мэри"))
    two.fragment(Merged(2, 1))
    two.fragment(Merged(1, 3))
    assert repository.resolve_id(connection, OWNER, 2) == 3
    assert service.person(connection, OWNER, 2).display_name == "Мэри"
    assert repository.get(connection, OWNER, 2) is None
    assert repository.redirected_ids(connection, OWNER) == [1, 2]
    assert repository.sources_of(connection, OWNER, 3) == {1, 2}
    two.fragment(Updated(2, bio="Любит чай."))
    assert "Любит чай." in two.people[0].bio
    assert list(connection.execute(select(search_items.c.item)).scalars()) == ["person:3"]


def test_what_cannot_be_merged_is_refused(two: Archive) -> None:
    """Self, a redirect, other ids: each by its own reason, and nothing changes."""
    two.fragment(Added("Иван", username="ivan", telegram_id=8), telegram_ids=(8,))
    two.fragment(Added("Пётр", username="petr"))
    before = two.people
    assert reasons(two.fragment(Merged(1, 1), Merged(2, 3), Merged(2, 4))) == [
        "self_merge",
        "different_telegram_ids",
        "different_usernames",
    ]
    assert two.people == before
    two.fragment(Merged(2, 1))
    assert reasons(two.fragment(Merged(2, 1), Merged(1, 2), Merged(2, 4))) == [
        "already_merged",
        "already_merged",
        "different_usernames",
    ]


def test_a_redirected_id_is_merged_as_the_person_it_leads_to(two: Archive) -> None:
    """A reply that names the old id of somebody merged meanwhile means the one he is now, as source or as target."""
    two.fragment(Added("Мэри"), Added("Мари"))
    two.fragment(Merged(2, 1))
    assert two.fragment(Merged(2, 3), Merged(4, 1)).applied == {"Merged": 2}
    (person,) = two.people
    assert (person.id, person.aliases) == (3, ("Мария", "Маша", "Maria Ivanovna", "Мари"))


def test_the_owners_fields_survive_a_merge(two: Archive, connection: Connection) -> None:
    """The target's own word stays; the source's comes with it and stays marked."""
    service.edit(connection, OWNER, 1, {"bio": "Моя сестра."}, now=LATER)
    service.edit(connection, OWNER, 2, {"circle": Circle.FAMILY}, now=LATER)
    two.fragment(Merged(2, 1))
    (person,) = two.people
    assert (person.bio, person.circle) == ("Моя сестра.", Circle.FAMILY)
    assert person.owner_set("bio")
    assert person.owner_set("circle")


def test_a_removed_alias_does_not_return_by_a_models_merge(two: Archive, connection: Connection) -> None:
    """Removed aliases stay rejected; the owner's own merge brings them."""
    service.edit(connection, OWNER, 1, {"aliases": []}, now=LATER)
    two.fragment(Merged(2, 1))
    assert two.people[0].aliases == ("Maria Ivanovna",)
    service.split(connection, OWNER, 1, now=LATER)
    assert service.merge(connection, OWNER, 2, 1, now=LATER).aliases == ("Maria Ivanovna", "маша")


def test_a_split_restores_both(two: Archive, connection: Connection) -> None:
    """Profiles, ids, names, mentions and evidence are as before the merge."""
    before = [(p.names, p.bio, p.circle, p.username, p.telegram_id, p.mention_count, p.first_seen) for p in two.people]
    rows = (set(connection.execute(select(mentions)).all()), set(connection.execute(select(evidence)).all()))
    merged = service.merge(connection, OWNER, 2, 1, now=LATER)
    assert merged.mention_count == 3
    source, target = service.split(connection, OWNER, 1, now=LATER)
    assert (source.id, target.id) == (2, 1)
    after = [(p.names, p.bio, p.circle, p.username, p.telegram_id, p.mention_count, p.first_seen) for p in two.people]
    assert after == before
    assert (set(connection.execute(select(mentions)).all()), set(connection.execute(select(evidence)).all())) == rows
    assert {p.display_name for p in service.find(connection, OWNER, "маша")} == {"Мария", "Maria Ivanovna"}
    assert len(connection.execute(select(search_items)).all()) == 2


def test_a_split_leaves_the_target_what_it_learned_since(two: Archive, connection: Connection) -> None:
    """What came after the merge stays with the target; what came with the source goes."""
    service.merge(connection, OWNER, 2, 1, now=LATER)
    two.fragment(Updated(1, aliases=("Мария Ив.",), bio="Подруга. Любит чай.", circle=Circle.FAMILY), at=LATER)
    _, target = service.split(connection, OWNER, 2, now=LATER)
    assert target.aliases == ("Маша", "Мария Ив.")
    assert target.bio == "Подруга. Любит чай."
    assert (target.circle, target.telegram_id, target.mention_count) == (Circle.FAMILY, None, 4)


def test_merges_are_undone_last_first(two: Archive, connection: Connection) -> None:
    """While the target is itself merged away the first merge cannot be undone; then it can."""
    two.fragment(Added("Мэри"))
    service.merge(connection, OWNER, 2, 1, now=LATER)
    service.merge(connection, OWNER, 1, 3, now=LATER)
    with pytest.raises(Refused) as refusal:
        service.split(connection, OWNER, 2, now=LATER)
    assert refusal.value.reason == "merged_further"
    service.split(connection, OWNER, 3, now=LATER)
    service.split(connection, OWNER, 1, now=LATER)
    assert [person.display_name for person in two.people] == ["Мария", "Maria Ivanovna", "Мэри"]
    with pytest.raises(NotFound):
        service.split(connection, OWNER, 1, now=LATER)


def test_a_split_is_refused_when_somebody_else_has_got_the_sources_username(
    two: Archive, connection: Connection
) -> None:
    """Two live people never share a username."""
    service.merge(connection, OWNER, 2, 1, now=LATER)
    service.edit(connection, OWNER, 1, {"username": None}, now=LATER)
    two.fragment(Added("Другая", username="maria"))
    with pytest.raises(Refused) as refusal:
        service.split(connection, OWNER, 1, now=LATER)
    assert refusal.value.reason == "username_taken"


def test_what_the_owner_split_no_model_merges_again(two: Archive, connection: Connection) -> None:
    """The undone merge is the owner's word; he himself may merge again."""
    two.fragment(Merged(2, 1))
    service.split(connection, OWNER, 1, now=LATER)
    assert reasons(two.fragment(Merged(2, 1), Merged(1, 2))) == ["split_by_owner"] * 2
    assert service.merge(connection, OWNER, 2, 1, now=LATER).id == 1


def test_what_the_owner_split_no_model_merges_by_way_of_a_third(two: Archive, connection: Connection) -> None:
    """Somebody who has one of the two in him is not merged with the other, by his own id or by the old one."""
    two.fragment(Added("Мэри"))
    two.fragment(Merged(2, 1))
    service.split(connection, OWNER, 1, now=LATER)
    two.fragment(Merged(2, 3))
    assert reasons(two.fragment(Merged(2, 1), Merged(1, 3))) == ["split_by_owner"] * 2


def test_an_undo_that_comes_twice_undoes_once(two: Archive, connection: Connection) -> None:
    """The second one says the same and leaves the merge alone that went into the source."""
    two.fragment(Added("Мэри"))
    service.merge(connection, OWNER, 3, 2, now=LATER)
    service.merge(connection, OWNER, 2, 1, now=LATER)
    undone = service.undo_merge(connection, OWNER, 2, now=LATER)
    assert service.undo_merge(connection, OWNER, 2, now=LATER) == undone
    assert [person.id for person in two.people] == [1, 2]
    with pytest.raises(NotFound):
        service.undo_merge(connection, OWNER, 1, now=LATER)


def test_open_suggestions_follow_the_merge(two: Archive, connection: Connection) -> None:
    """What was asked about the source is asked about the target; the same merge is not asked any more."""
    service.edit(connection, OWNER, 2, {"circle": Circle.FAMILY}, now=LATER)
    two.fragment(Updated(2, circle=Circle.OTHER))
    suggestion_repository.suggest(
        connection, OWNER, "merge", 1, {"source_id": 2, "target_id": 1, "reason": ""}, now=LATER
    )
    service.merge(connection, OWNER, 2, 1, now=LATER)
    (suggestion,) = suggestion_repository.pending(connection, OWNER)
    assert (suggestion.kind, suggestion.person_id) == ("field", 1)


def test_a_merge_keeps_what_is_needed_to_undo_it(two: Archive, connection: Connection) -> None:
    """`merges.before` is plain JSON with both profiles."""
    merge.merge(connection, OWNER, 2, 1, now=LATER)
    before = connection.execute(select(merges.c.before)).scalar_one()
    assert json.loads(json.dumps(before))["source"]["display_name"] == "Maria Ivanovna"
