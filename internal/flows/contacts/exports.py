"""All people of an owner as cards: imported cards as they were, with what is known since."""

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Final

from sqlalchemy import Connection

from internal.access.model import User
from internal.flows.contacts.matching import RELATIONS, Index, item_key
from internal.flows.contacts.review import CIRCLE, GONE, TO_OWNER, merge_cards
from internal.flows.views.people_map import read_ties
from internal.import_formats.contact_card import (
    DATED,
    PLAIN,
    CardItem,
    Contact,
    ItemKind,
    contact_of,
    new_card,
    property_of,
)
from internal.import_formats.vcard import Card, Property, escaped, read_cards, write_cards
from internal.knowledge import service as knowledge
from internal.knowledge.facts import occasions
from internal.knowledge.model import FactFilter
from internal.language.kinship.kinds import kin_of_label, kin_word
from internal.language.text.spelling import name_key
from internal.people.bio import made_of_names, sentences_of_bio
from internal.people.model import Circle, Person

_KINDS: Final[Mapping[str, ItemKind]] = {relation: kind for kind, relation in RELATIONS.items()}  # type: ignore[misc] # its keys are kinds
_MOST_FACTS: Final = 50_000
_FOLLOWED: Final = frozenset({*RELATIONS, *DATED})
"""Relations that a card's lines of these kinds follow: without the fact the line is removed."""


def export_cards(connection: Connection, user: User, *, now: datetime) -> str:
    """A file with a card for each visible person."""
    return write_cards(cards_of_people(connection, user, Index.read(connection, user, now), now=now).values())


def cards_of_people(
    connection: Connection, user: User, index: Index, *, now: datetime, notes: bool = True
) -> dict[int, Card]:
    """The current card of each person, by id; without `notes` it contains no words of the profile."""
    items = known_items(connection, user, index, now=now)
    to_owner, _ = _ties(connection, user, now)
    return {
        person.id: _card(person, index, items[person.entity_id], to_owner.get(person.entity_id), notes=notes)
        for person in index.people.values()
    }


def cards_to_push(connection: Connection, user: User, book: str, *, now: datetime) -> dict[int, Card]:
    """The cards that differ from those of a book on a server, by person, without words of a profile.

    A person without a card there gets one if a way to reach them or a birthday is known. What was removed from a card
    there is not written back, and nothing is removed there except what the owner corrected.
    """
    index = Index.read(connection, user, now)
    items, corrected = known_items(connection, user, index, now=now), _corrected(connection, user, now)
    found: dict[int, Card] = {}
    for person in index.people.values():
        known = items[person.entity_id]
        here = next((one for one in index.stored.get(person.id, ()) if one.book == book), None)
        if here is None:
            if any(item.kind in ("phone", "email", "birthday", "address") for item in known):
                found[person.id] = _card(person, index, known, None, notes=False)
            continue
        before = read_cards(here.card)[0]
        gone = {tuple(one.text.split(" ", 1)) for one in before if one.name == GONE}
        outdated = {item_key(item, index.region) for item in corrected[person.entity_id]}
        wanted = [item for item in known if item_key(item, index.region) not in gone]
        there = [one for one in before if one.name != GONE]
        card = _renamed(with_known(there, wanted, index, outdated), person)
        if list(card) != there:
            found[person.id] = [*card, *(one for one in before if one.name == GONE)]
    return found


def _corrected(connection: Connection, user: User, now: datetime) -> Mapping[str, list[CardItem]]:
    """The values that the owner replaced, by entity id."""
    wanted = FactFilter(relations=list(_KINDS), include_invalid=True)
    facts = knowledge.facts_about(connection, user.user_id, wanted, now=now, limit=_MOST_FACTS)
    replaced = {fact.supersedes for fact in facts if fact.set_by == "owner" and fact.supersedes}
    found: dict[str, list[CardItem]] = defaultdict(list)
    for fact in facts:
        if fact.id in replaced:
            found[fact.source].append(CardItem(_KINDS[fact.name], fact.target_name))
    return found


def known_items(connection: Connection, user: User, index: Index, *, now: datetime) -> Mapping[str, list[CardItem]]:
    """The known items for each person's card, by entity id."""
    found: dict[str, list[CardItem]] = defaultdict(list)
    wanted = FactFilter(relations=list(_KINDS))
    for fact in knowledge.facts_about(connection, user.user_id, wanted, now=now, limit=_MOST_FACTS):
        found[fact.source].append(CardItem(_KINDS[fact.name], fact.target_name))
    for one in occasions.of_owner(connection, user.user_id, now=now):
        if one.kind in DATED:
            kind: ItemKind = "birthday" if one.kind == "birthday" else "anniversary"
            found[one.node_id].append(CardItem(kind, f"{one.year or '-'}-{one.month:02}-{one.day:02}"))
    _, between = _ties(connection, user, now)
    names = {person.entity_id: person.display_name for person in index.people.values()}
    for whom, who, label in between:
        found[whom].append(CardItem("relation", names[who], label))
    return found


def with_known(
    card: Card, known: Sequence[CardItem], index: Index, outdated: Collection[tuple[str, str]] | None = None
) -> Card:
    """A card with the known items, and without imported ones that are no fact any more.

    With `outdated` only the items in it are left out.
    """
    wanted = {item_key(item, index.region): item for item in known}
    kept, said = list[Property](), set[tuple[str, str]]()
    for one in card:
        items = contact_of([one, *card]).items[:1] if one.name in _READ else ()
        keys = {item_key(item, index.region) for item in items}
        said |= keys
        stale = keys and any(key[0] in _FOLLOWED for key in keys) if outdated is None else keys & set(outdated)
        if not stale or keys & wanted.keys():
            kept.append(one)
    return [*kept, *(property_of(item) for key, item in wanted.items() if key not in said)]


_OWN: Final = frozenset({CIRCLE, TO_OWNER, GONE})
_READ: Final = frozenset(PLAIN) - {"NOTE"}


def _ties(connection: Connection, user: User, now: datetime) -> tuple[dict[str, str], list[tuple[str, str, str]]]:
    """The tie of each person to the owner, by entity id, and stated ties between people as (whom, who, label)."""
    ties, _ = read_ties(connection, user.user_id, now)
    to_owner: dict[str, str] = {}
    between = []
    for one in ties.stated:
        label = kin_word(one.kin, "en").partition("/")[0]
        if ties.owner not in (one.who, one.whom):
            between.append((one.whom, one.who, label))
        elif one.whom == ties.owner:
            to_owner[one.who] = label
    return to_owner, between


def _card(person: Person, index: Index, items: Sequence[CardItem], to_owner: str | None, *, notes: bool) -> Card:
    stored = index.stored.get(person.id, ())
    card: Card = ()
    for one in stored:
        read = read_cards(one.card)[0]
        card = merge_cards(card, read) if card else read
    if card:
        card = _renamed(with_known(card, items, index), person)
    else:
        aliases = [name for name in person.aliases if name_key(name) != name_key(person.display_name)]
        card = new_card(person.display_name, f"laplaced-{person.entity_id}", aliases, items, person.username)
    own = [Property(CIRCLE, str(person.circle))] if person.circle is not Circle.OTHER else []
    own += [Property(TO_OWNER, to_owner)] if to_owner and kin_of_label(to_owner) else []
    if person.telegram_id is not None and contact_of(card).telegram_id is None:
        own.append(Property("IMPP", f"tg://user?id={person.telegram_id}", (("TYPE", "telegram"),)))
    card = [one for one in card if one.name not in _OWN]
    return [*_noted(card, person), *own] if notes else card


def _renamed(card: Card, person: Person) -> Card:
    """The card under the owner's name for the person, and with the names that he added."""
    read = contact_of(card)
    known = {name_key(name) for name in (read.name, *read.names)}
    if person.owner_set("display_name") and name_key(person.display_name) != name_key(read.name):
        first, _, rest = person.display_name.partition(" ")
        parts = {"FN": escaped(person.display_name), "N": f"{escaped(rest)};{escaped(first)};;;"}
        card = [replace(one, value=parts.get(one.name, one.value)) for one in card]
    return [*card, *_nicknames(person, read, known)]


def _nicknames(person: Person, read: Contact, known: set[str]) -> list[Property]:
    new = [name for name in person.names if name_key(name) not in known]
    return [Property("NICKNAME", ",".join(map(escaped, new)))] if new and not read.names else []


def _noted(card: Card, person: Person) -> Card:
    """The card with the profile's text as its note, unless its own note contains it."""
    note = name_key(" ".join(one.text for one in card if one.name == "NOTE"))
    if made_of_names(person) or all(name_key(one) in note for one in sentences_of_bio(person.bio)):
        return card
    return [*(one for one in card if one.name != "NOTE"), Property("NOTE", escaped(person.bio))]
