"""What becomes of the archivist's operations."""

from dataclasses import replace
from datetime import timedelta

import pytest
from sqlalchemy import Connection, select
from support.knowledge.people_stage import KEY, NOON, OWNER, STRANGER, Archive, reasons

from internal.people import service, suggestion_repository, tombstones
from internal.people.model import Circle, embedding_text
from internal.people.operations import Added, Merged, Updated
from internal.storage.forgetting import tombstone_repository
from internal.storage.search_items import text_hash
from internal.storage.tables import changes, evidence, name_keys, people, search_items


def test_an_added_person_is_stored_with_everything_that_follows(archive: Archive, connection: Connection) -> None:
    """Profile, times of the cited lines, one mention, name keys, search item, evidence and the change log."""
    outcome = archive.fragment(
        Added("Петров", ("Саша",), "petrov", None, Circle.WORK_INNER, "Коллега по проекту X", evidence=(2, 3))
    )
    person = archive.person("Петров")
    assert outcome.applied == {"Added": 1}
    assert outcome.changed == {person.id}
    assert (person.aliases, person.username, person.circle) == (("Саша",), "petrov", Circle.WORK_INNER)
    assert (person.bio, person.mention_count, person.telegram_id) == ("Коллега по проекту X", 1, None)
    assert (person.first_seen, person.last_seen) == (NOON + timedelta(minutes=1), NOON + timedelta(minutes=2))
    assert set(connection.execute(select(name_keys.c.key)).scalars()) == {"петров", "саша"}
    item = connection.execute(select(search_items)).one()
    assert item.text == embedding_text(person)
    assert item.text_hash == text_hash(item.text)
    logged = {tuple(row) for row in connection.execute(select(changes.c.kind, changes.c.id, changes.c.op))}
    item_key = f"person:{person.id}"
    assert logged == {
        ("person", str(person.id), "put"),
        ("node", person.entity_id, "put"),
        ("item", item_key, "put"),
    }
    lines = select(evidence.c.segment, evidence.c.message_id).order_by(evidence.c.segment)
    cited = connection.execute(lines.where(evidence.c.target == f"person:{person.id}")).all()
    assert cited == [(12, "message-2"), (13, "message-3")]
    parts = connection.execute(lines.where(evidence.c.target.startswith(f"profile:{person.id}:"))).all()
    assert set(map(tuple, parts)) == {(12, "message-2"), (13, "message-3")}


def test_evidence_that_is_absent_is_the_whole_fragment(archive: Archive, connection: Connection) -> None:
    """Without numbers the person was seen from the first to the last line, and the episode as a whole is cited."""
    archive.fragment(Added("Петров"))
    person = archive.person("Петров")
    assert (person.first_seen, person.last_seen) == (NOON, NOON + timedelta(minutes=2))
    cited = select(evidence.c.segment, evidence.c.message_id).where(evidence.c.target == f"person:{person.id}")
    assert connection.execute(cited).all() == [(0, None)]


@pytest.mark.parametrize("name", ["", "  ", "???"])
def test_a_person_without_a_name_is_skipped_and_the_rest_applied(archive: Archive, name: str) -> None:
    """The edge case "Человек без имени": refused alone, counted, told in an event."""
    outcome = archive.fragment(Added(name, bio="кто-то"), Added("Мария"))
    assert reasons(outcome) == ["no_name"]
    assert outcome.applied == {"Added": 1}
    assert [event["reason"] for event in archive.events("operation_refused")] == ["no_name"]


def test_a_bio_that_is_empty_is_made_of_the_names_until_a_real_one_comes(archive: Archive) -> None:
    """The edge case "Пустой bio"; the first thing told about the person replaces it."""
    archive.fragment(Added("Петров", ("Саша",)))
    assert archive.person("Петров").bio == "Петров, Саша"
    archive.fragment(Updated(1, aliases=("Санёк",)))
    assert archive.person("Петров").bio == "Петров, Саша, Санёк"
    archive.fragment(Updated(1, bio="Коллега."))
    assert archive.person("Петров").bio == "Коллега."


def test_the_last_circle_wins(archive: Archive) -> None:
    """The edge case "Один человек — разные круги"."""
    archive.fragment(Added("Петров", circle=Circle.WORK_OUTER))
    archive.fragment(Updated(1, circle=Circle.FRIENDS))
    archive.fragment(Added("петров", circle=Circle.WORK_INNER))
    assert archive.person("Петров").circle == Circle.WORK_INNER


def test_a_circle_that_is_not_told_is_other_at_first_and_unchanged_later(archive: Archive) -> None:
    """Absent = Other for somebody new; for a known person nothing is said about it."""
    archive.fragment(Added("Петров"), Added("Мария", circle=Circle.FAMILY))
    archive.fragment(Added("Мария", bio="Сестра."), Updated(2, bio="Живёт в Киеве."))
    assert [person.circle for person in archive.people] == [Circle.OTHER, Circle.FAMILY]


def test_no_username_means_no_telegram_id(archive: Archive) -> None:
    """The edge case "Нет @username": both stay null."""
    archive.fragment(Added("Петров"))
    assert (archive.person("Петров").username, archive.person("Петров").telegram_id) == (None, None)


# The same person under another operation


@pytest.mark.parametrize(
    ("known", "added"),
    [
        (Added("Петров"), Added("ПЕТРОВ")),
        (Added("Фёдор"), Added("Федор")),
        (Added("Петров", ("Саша",)), Added("саша")),
        (Added("Петров"), Added("Александр", ("петров",))),
        (Added("Петров", username="Petrov"), Added("Александр", username="petrov")),
    ],
)
def test_an_added_person_who_is_known_becomes_an_update(archive: Archive, known: Added, added: Added) -> None:
    """Equal case-folded name, alias or username: the name by which he is known stays, the other becomes an alias."""
    archive.fragment(known)
    outcome = archive.fragment(replace(added, bio="Любит чай."))
    (person,) = archive.people
    assert outcome.applied == {"Updated": 1}
    assert person.display_name == known.display_name
    assert "Любит чай." in person.bio
    assert person.mention_count == 2
    assert added.display_name.casefold().replace("ё", "е") in {
        name.casefold().replace("ё", "е") for name in person.names
    }


def test_equal_telegram_ids_are_one_person_whatever_the_name(archive: Archive) -> None:
    """The forward's metadata name the account; the archivist's other name becomes an alias."""
    archive.fragment(Added("Петров", telegram_id=77, evidence=(1,)), telegram_ids=(77,))
    outcome = archive.fragment(Added("Alex", telegram_id=77, evidence=(1,)), telegram_ids=(77,))
    assert outcome.applied == {"Updated": 1}
    assert archive.person("Петров").aliases == ("Alex",)


@pytest.mark.parametrize(
    ("known", "added"),
    [
        (Added("Иван Петров", ("Иван",)), Added("Иван Сидоров", ("Иван",))),
        (Added("Иван", username="ivan_p"), Added("Иван", username="ivan_s")),
        (Added("Иван"), Added("Иван", distinct_from=(1,))),
        (Added("Иван"), Added("Ивана")),
        (Added("Мария"), Added("Маша")),
    ],
)
def test_two_people_stay_two(archive: Archive, known: Added, added: Added) -> None:
    """Another surname or username, the archivist's word, or a name that is only similar: nobody is merged."""
    archive.fragment(known)
    assert archive.fragment(added).applied == {"Added": 1}
    assert len(archive.people) == 2


def test_another_telegram_id_makes_another_person_of_the_same_name(archive: Archive) -> None:
    """A forward matched by name does not overwrite a different Telegram id."""
    archive.fragment(Added("Иван", telegram_id=7, evidence=(1,)), telegram_ids=(7,))
    archive.fragment(Added("Иван", telegram_id=8, evidence=(1,)), telegram_ids=(8,))
    assert [person.telegram_id for person in archive.people] == [7, 8]


def test_a_name_that_several_people_have_makes_a_new_person(archive: Archive) -> None:
    """Ambiguity is not resolved by guessing."""
    archive.fragment(Added("Иван"), Added("Иван", distinct_from=()))
    archive.fragment(Added("Иван", distinct_from=(1,)))
    assert archive.fragment(Added("Иван")).applied == {"Added": 1}
    assert len(archive.people) == 3


def test_names_with_wildcards_match_only_themselves(archive: Archive) -> None:
    """`@ivan_p` holds a LIKE wildcard; it is not @ivanXp."""
    archive.fragment(Added("А", username="ivanXp"), Added("Б", username="ivan_p"), Added("100%"), Added("100x"))
    assert len(archive.people) == 4


def test_a_telegram_id_that_no_cited_line_vouches_for_is_not_taken(archive: Archive) -> None:
    """A model's word for an id counts for nothing; the rest of the operation does."""
    archive.fragment(Added("Петров", telegram_id=77))
    archive.fragment(Updated(1, telegram_id=78), telegram_ids=(79,))
    assert archive.person("Петров").telegram_id is None


# Updates


def test_aliases_are_added_never_replaced(archive: Archive) -> None:
    """Known aliases stay, the name itself and repetitions are no aliases, empty ones are nothing."""
    archive.fragment(Added("Мария", ("Маша",)))
    archive.fragment(Updated(1, aliases=("Гелёй", "маша", "МАРИЯ", " ")))
    assert archive.person("Мария").aliases == ("Маша", "Гелёй")


def test_a_new_name_keeps_the_old_one_as_an_alias(archive: Archive) -> None:
    """The person will be called by the old name again."""
    archive.fragment(Added("Петров"))
    archive.fragment(Updated(1, display_name="Александр Петров"))
    assert archive.person("Александр Петров").aliases == ("Петров",)


def test_an_updated_bio_takes_the_place_of_the_one_it_was_written_from(archive: Archive) -> None:
    """The archivist is shown the bio and writes it again, so a correction does not stand beside the error."""
    archive.fragment(Added("Петров", bio="Живёт в Туле."))
    archive.fragment(Updated(1, bio="Переехал из Тулы в Киев."))
    assert archive.person("Петров").bio == "Переехал из Тулы в Киев."


def test_a_known_person_added_again_keeps_what_was_known(archive: Archive) -> None:
    """Whoever adds a known person has not read his bio: what is told now is joined to it."""
    archive.fragment(Added("Петров", bio="Живёт в Туле."))
    archive.fragment(Added("петров", bio="Любит чай."))
    assert archive.person("Петров").bio == "Живёт в Туле. Любит чай."


def test_a_bio_does_not_grow_by_repetition(archive: Archive) -> None:
    """The archivist repeats what it was shown; the profile stays."""
    archive.fragment(Added("Петров", bio="Коллега по проекту X."))
    for _ in range(3):
        archive.fragment(Updated(1, bio="Коллега по проекту X. Любит чай."))
    assert archive.person("Петров").bio == "Коллега по проекту X. Любит чай."


def test_an_update_changes_what_is_searched(archive: Archive, connection: Connection) -> None:
    """An edited person's search item has another hash, so the old vector is due to be replaced."""
    archive.fragment(Added("Петров"))
    before = connection.execute(select(search_items.c.text_hash)).scalar_one()
    archive.fragment(Updated(1, bio="Коллега."))
    assert connection.execute(select(search_items.c.text_hash)).scalar_one() != before


def test_a_mention_counts_once_a_fragment(archive: Archive, connection: Connection) -> None:
    """Several operations and the owner's own words in one fragment are one mention; times widen all the same."""
    archive.fragment(Added("Петров"), Updated(1, bio="Коллега."), Added("петров"), episode="one")
    later = NOON + timedelta(days=1)
    assert service.note_mentions(connection, OWNER, "one", {1: [later]}, now=later) == 0
    assert service.note_mentions(connection, OWNER, "two", {1: [later], 99: [later]}, now=later) == 1
    person = archive.person("Петров")
    assert (person.mention_count, person.last_seen) == (2, later)


@pytest.mark.parametrize("operation", [Updated(99, bio="x"), Merged(99, 1), Merged(1, 99)])
def test_an_unknown_id_is_refused(archive: Archive, operation: Updated | Merged) -> None:
    """An invented id changes nobody."""
    archive.fragment(Added("Петров"))
    assert reasons(archive.fragment(operation)) == ["unknown_person"]


def test_another_owners_person_is_unknown(archive: Archive, connection: Connection) -> None:
    """Ids are unique across the store, but never usable across owners."""
    archive.fragment(Added("Петров", bio="Тайна."))
    stranger = Archive(connection, STRANGER)
    outcome = stranger.fragment(Updated(1, bio="x"), Added("Петров"))
    assert reasons(outcome) == ["unknown_person"]
    assert outcome.applied == {"Added": 1}
    assert archive.person("Петров").bio == "Тайна."


def test_a_username_that_belongs_to_somebody_else_is_refused(archive: Archive) -> None:
    """The operation that would take it changes nothing; those beside it do."""
    archive.fragment(Added("Петров", username="petrov"), Added("Мария"))
    outcome = archive.fragment(Updated(2, username="PETROV", bio="x"), Updated(2, bio="Сестра."))
    assert reasons(outcome) == ["username_taken"]
    assert archive.person("Мария").bio == "Сестра."


def test_another_username_than_the_known_one_is_suggested(archive: Archive, connection: Connection) -> None:
    """Two usernames are two people: a model's word does not replace one, within one reply neither."""
    archive.fragment(Added("Петров"))
    outcome = archive.fragment(Updated(1, username="petrov"), Updated(1, username="@sidorov", bio="Коллега."))
    person = archive.person("Петров")
    assert (person.username, person.bio, outcome.suggested) == ("petrov", "Коллега.", 1)
    (suggestion,) = suggestion_repository.pending(connection, OWNER)
    assert suggestion.payload == {"field": "username", "value": "sidorov", "current": "petrov"}
    assert service.accept(connection, OWNER, suggestion.id, now=NOON).username == "sidorov"


@pytest.mark.parametrize("operation", [Updated(1, username="PETROV"), Added("петров", username="Petrov")])
def test_a_username_in_other_case_is_no_change(archive: Archive, operation: Updated | Added) -> None:
    """Telegram knows no case in usernames: neither a new vector nor a question comes of it."""
    archive.fragment(Added("Петров", username="petrov"))
    before = archive.person("Петров")
    outcome = archive.fragment(operation)
    after = archive.person("Петров")
    assert (after.username, after.field_meta, outcome.suggested) == ("petrov", before.field_meta, 0)


def test_a_different_telegram_id_is_refused(archive: Archive) -> None:
    """An account of another id is another person, even when the archivist says otherwise."""
    archive.fragment(Added("Петров", telegram_id=7, evidence=(1,)), telegram_ids=(7,))
    assert reasons(archive.fragment(Updated(1, telegram_id=8), telegram_ids=(8,))) == ["different_telegram_id"]


def test_evidence_outside_the_transcript_is_refused(archive: Archive) -> None:
    """An operation may not cite a line that was not shown."""
    assert reasons(archive.fragment(Added("Петров", evidence=(4,)), lines=3)) == ["unknown_line"]


# What the owner said, and what changed meanwhile


@pytest.mark.parametrize(
    ("changes", "operation"),
    [
        ({"circle": "family"}, Updated(1, circle=Circle.OTHER)),
        ({"bio": "Мой брат."}, Updated(1, bio="Коллега.")),
        ({"display_name": "Пётр"}, Updated(1, display_name="Павел")),
        ({"username": "petr"}, Updated(1, username="pavel")),
    ],
)
def test_a_field_the_owner_set_is_not_overruled_but_suggested(
    archive: Archive, connection: Connection, changes: dict[str, str], operation: Updated
) -> None:
    """The owner's word wins; the archivist's becomes a question to him, once."""
    archive.fragment(Added("Иванов"))
    edited = service.edit(connection, OWNER, 1, changes, now=NOON)
    first, again = archive.fragment(operation), archive.fragment(operation)
    (field,) = changes
    assert getattr(archive.people[0], field) == getattr(edited, field)
    assert (first.suggested, again.suggested, first.applied) == (1, 0, {})
    (suggestion,) = suggestion_repository.pending(connection, OWNER)
    assert suggestion.payload["field"] == field


def test_a_suggestion_that_is_accepted_becomes_the_owners_word(archive: Archive, connection: Connection) -> None:
    """One tap applies it, marks the field, and closes the suggestion."""
    archive.fragment(Added("Петров"))
    service.edit(connection, OWNER, 1, {"circle": Circle.FAMILY}, now=NOON)
    archive.fragment(Updated(1, circle=Circle.FRIENDS))
    (suggestion,) = suggestion_repository.pending(connection, OWNER)
    person = service.accept(connection, OWNER, suggestion.id, now=NOON)
    assert person.circle == Circle.FRIENDS
    assert person.owner_set("circle")
    assert suggestion_repository.pending(connection, OWNER) == []


def test_a_suggestion_that_is_declined_is_not_made_again(archive: Archive, connection: Connection) -> None:
    """The owner is not asked the same twice."""
    archive.fragment(Added("Петров"))
    service.edit(connection, OWNER, 1, {"circle": Circle.FAMILY}, now=NOON)
    archive.fragment(Updated(1, circle=Circle.FRIENDS))
    (suggestion,) = suggestion_repository.pending(connection, OWNER)
    service.decline(connection, OWNER, suggestion.id, now=NOON)
    assert archive.fragment(Updated(1, circle=Circle.FRIENDS)).suggested == 0
    assert archive.person("Петров").circle == Circle.FAMILY


def test_a_field_that_changed_since_the_model_was_asked_is_suggested(archive: Archive) -> None:
    """A reply to an older state does not undo a newer one; fields that did not change are written."""
    archive.fragment(Added("Петров"))
    asked_at = archive.rev
    archive.fragment(Updated(1, circle=Circle.FRIENDS))
    outcome = archive.fragment(Updated(1, circle=Circle.WORK_OUTER, bio="Коллега."), snapshot_rev=asked_at)
    person = archive.person("Петров")
    assert (person.circle, person.bio, outcome.suggested) == (Circle.FRIENDS, "Коллега.", 1)


def test_operations_of_one_reply_build_on_one_another(archive: Archive) -> None:
    """Update and merge in one reply lose nothing: each sees what the one before it wrote."""
    archive.fragment(Added("Мария", bio="Подруга."), Added("Maria Ivanovna"))
    outcome = archive.fragment(
        Updated(1, bio="Подруга из Киева."),
        Updated(1, bio="Любит чай."),
        Updated(1, circle=Circle.FRIENDS),
        Updated(1, circle=Circle.FAMILY),
        Merged(2, 1),
    )
    (person,) = archive.people
    assert outcome.applied == {"Updated": 4, "Merged": 1}
    assert (person.bio, person.circle) == ("Подруга из Киева. Любит чай.", Circle.FAMILY)
    assert person.aliases == ("Maria Ivanovna",)


def test_a_merge_of_somebody_who_changed_meanwhile_is_suggested(archive: Archive, connection: Connection) -> None:
    """Merged applies only if neither side changed since; accepted, the owner's tap does it."""
    archive.fragment(Added("Мария"), Added("Maria"))
    asked_at = archive.rev
    service.edit(connection, OWNER, 2, {"bio": "Другая."}, now=NOON)
    outcome = archive.fragment(Merged(2, 1, "то же имя"), snapshot_rev=asked_at)
    assert (outcome.applied, outcome.suggested, len(archive.people)) == ({}, 1, 2)
    (suggestion,) = suggestion_repository.pending(connection, OWNER)
    assert service.accept(connection, OWNER, suggestion.id, now=NOON).id == 1
    assert len(archive.people) == 1


def test_mentions_alone_do_not_stop_a_merge(archive: Archive, connection: Connection) -> None:
    """Being talked about between the question and the answer is no change of the profile."""
    archive.fragment(Added("Мария"), Added("Maria"))
    asked_at = archive.rev
    service.note_mentions(connection, OWNER, "another", {1: [NOON], 2: [NOON]}, now=NOON)
    assert archive.fragment(Merged(2, 1), snapshot_rev=asked_at).applied == {"Merged": 1}


def test_an_alias_the_owner_removed_stays_removed(archive: Archive, connection: Connection) -> None:
    """No model brings it back, and it matches nobody any more."""
    archive.fragment(Added("Петров", ("Саша",)))
    service.edit(connection, OWNER, 1, {"aliases": []}, now=NOON)
    archive.fragment(Updated(1, aliases=("Саша", "Шура")))
    assert archive.person("Петров").aliases == ("Шура",)
    assert archive.fragment(Added("Саша")).applied == {"Added": 1}
    restored = service.edit(connection, OWNER, 1, {"aliases": ["Шура", "Саша"]}, now=NOON)
    assert restored.aliases == ("Шура", "Саша")


# Who was forgotten


def test_older_evidence_does_not_bring_a_forgotten_person_back(archive: Archive, connection: Connection) -> None:
    """What was said before the forgetting is refused under every name; what is said later is not."""
    forgotten_at = NOON + timedelta(hours=2)
    marks = tombstones.marks(KEY, OWNER, ["Петров", "Саша"], "petrov", None)
    tombstone_repository.mark_forgotten(connection, OWNER, marks, forgotten_at)
    old = archive.fragment(Added("петров"), Added("Саша"), Added("Некто", username="PETROV"), Added("Мария"))
    assert reasons(old) == ["forgotten"] * 3
    assert [person.display_name for person in archive.people] == ["Мария"]
    new = archive.fragment(Added("Петров", evidence=(3,)), at=forgotten_at)
    assert new.applied == {"Added": 1}


def test_an_operation_that_cites_nothing_counts_as_old_as_its_oldest_line(
    archive: Archive, connection: Connection
) -> None:
    """A fragment that began before the forgetting may not smuggle the person back without saying from where."""
    marks = tombstones.marks(KEY, OWNER, ["Петров"])
    tombstone_repository.mark_forgotten(connection, OWNER, marks, NOON + timedelta(seconds=90))
    assert reasons(archive.fragment(Added("Петров"))) == ["forgotten"]
    assert archive.fragment(Added("Петров", evidence=(3,))).applied == {"Added": 1}


def test_every_write_bumps_rev_and_is_logged(archive: Archive, connection: Connection) -> None:
    """Caches and mirrors see each change; a write that changes nothing is none."""
    archive.fragment(Added("Петров"))
    archive.fragment(Updated(1, bio="Коллега."))
    revs = connection.execute(select(people.c.rev)).scalar_one()
    about_people = select(changes).where(changes.c.kind == "person")
    logged = len(connection.execute(about_people).all())
    service.edit(connection, OWNER, 1, {"circle": "friends"}, now=NOON)
    person = archive.person("Петров")
    assert person.rev > revs
    service.edit(connection, OWNER, 1, {"circle": "Friends"}, now=NOON)
    assert archive.person("Петров").rev == person.rev
    assert len(connection.execute(about_people).all()) == logged + 1
