"""Finds the person of a card: by its id, phone, mail, Telegram account or name in any alphabet, with the reason."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from babel.core import get_global
from sqlalchemy import Connection

from internal.access.model import User
from internal.import_formats.contact_card import CardItem, Contact, contact_of
from internal.import_formats.vcard import read_cards
from internal.knowledge import service as knowledge
from internal.knowledge.model import FactFilter
from internal.language.kinship.kinds import kin_of_label
from internal.language.names.same_person import same_person_reason
from internal.language.text.spelling import name_key
from internal.people import repository as people
from internal.people.contacts import repository as contacts
from internal.people.contacts.model import StoredContact, phone_key
from internal.people.model import Person

RELATIONS = {
    "phone": "HAS_PHONE",
    "email": "HAS_EMAIL",
    "address": "HAS_ADDRESS",
    "organization": "WORKS_FOR",
    "title": "HAS_JOB_TITLE",
    "url": "HAS_WEBSITE",
}
"""The facts that items of a card become; birthdays and relations to people have their own functions."""

_LARGEST_FACTS = 20_000
_FULL_NAME = 2
"""Words from which a name in another alphabet or case identifies a person without asking."""


def region_of(tz: str) -> str | None:
    """The country of a time zone, whose rules apply to numbers without a country code."""
    zones: Mapping[str, str] = get_global("zone_territories")
    aliases: Mapping[str, str] = get_global("zone_aliases")
    return zones.get(tz) or zones.get(aliases.get(tz, ""))


def item_key(item: CardItem, region: str | None) -> tuple[str, str]:
    """The key by which two items of cards are equal."""
    match item.kind:
        case "phone":
            return item.kind, phone_key(item.value, region)
        case "relation":
            kin = kin_of_label(item.label)
            return item.kind, f"{kin.kind if kin else item.label} {name_key(item.value) or item.uid}"
        case "birthday" | "anniversary":
            return item.kind, item.value
    return item.kind, " ".join(name_key(item.value).split())


def people_with_similar_names(names: Sequence[str], known: Mapping[int, Sequence[str]]) -> dict[str, dict[int, bool]]:
    """For each name, the people who may have it in another spelling or a shorter form, and whether that is certain.

    For the language process.
    """
    found: dict[str, dict[int, bool]] = {}
    for name in names:
        for person_id, several in known.items():
            for other in several:
                reason = same_person_reason(name, other)
                if reason is not None:
                    sizes = {len(name.split()), len(other.split())}
                    sure = reason in ("transliteration", "declension") and len(sizes) == 1 and min(sizes) >= _FULL_NAME
                    found.setdefault(name, {})[person_id] = sure or found.get(name, {}).get(person_id, False)
    return found


@dataclass(slots=True)
class CardMatch:
    """The person of a card, and the reason; `perhaps` are people who may be the same, if none is certain."""

    person: Person | None = None
    reason: str = ""
    perhaps: tuple[int, ...] = ()
    namesakes: tuple[int, ...] = ()


@dataclass(slots=True)
class Index:
    """The people of an owner, indexed by everything that a card may contain."""

    region: str | None
    people: dict[int, Person] = field(default_factory=dict)
    stored: dict[int, list[StoredContact]] = field(default_factory=lambda: defaultdict(list))
    items: dict[int, set[tuple[str, str]]] = field(default_factory=lambda: defaultdict(set))
    _by_uid: dict[str, int] = field(default_factory=dict)
    _by_way: dict[tuple[str, str], set[int]] = field(default_factory=lambda: defaultdict(set))
    _by_name: dict[str, set[int]] = field(default_factory=lambda: defaultdict(set))

    @classmethod
    def read(cls, connection: Connection, user: User, now: datetime) -> Index:
        index = cls(region_of(user.tz))
        for person in people.listing(connection, user.user_id):
            index.add(person)
        entities = {person.entity_id: person.id for person in index.people.values()}
        for one in contacts.listing(connection, user.user_id):
            person_id = people.resolve_id(connection, user.user_id, one.person_id)
            if person_id in index.people and one.card:
                index.keep(person_id, one)
        wanted = FactFilter(relations=("HAS_PHONE", "HAS_EMAIL"))
        for fact in knowledge.facts_about(connection, user.user_id, wanted, now=now, limit=_LARGEST_FACTS):
            kind = "phone" if fact.name == "HAS_PHONE" else "email"
            if fact.source in entities:
                key = item_key(CardItem(kind, fact.target_name), index.region)  # type: ignore[arg-type] # one of the two
                index._by_way[key].add(entities[fact.source])
        return index

    def add(self, person: Person) -> None:
        self.people[person.id] = person
        for name in person.names:
            self._by_name[name_key(name)].add(person.id)

    def keep(self, person_id: int, stored: StoredContact) -> None:
        """Records a card of a person in place of the earlier one of the same book."""
        contact = contact_of(read_cards(stored.card)[0])
        self.stored[person_id] = [one for one in self.stored[person_id] if one.book != stored.book] + [stored]
        self.learn(person_id, contact, stored.uid)

    def learn(self, person_id: int, contact: Contact, uid: str) -> None:
        if uid:
            self._by_uid[uid] = person_id
        keys = {item_key(item, self.region) for item in contact.items}
        self.items[person_id] |= keys
        for key in keys:
            if key[0] in ("phone", "email"):
                self._by_way[key].add(person_id)

    def match(self, contact: Contact, alike: Mapping[int, bool]) -> CardMatch:
        """The person of a card; the most certain reason decides."""
        if contact.uid in self._by_uid:
            return CardMatch(self.people[self._by_uid[contact.uid]], "uid")
        for person in self.people.values():
            if contact.telegram_id is not None and person.telegram_id == contact.telegram_id:
                return CardMatch(person, "telegram")
            if contact.username and name_key(person.username or "") == name_key(contact.username):
                return CardMatch(person, "telegram")
        return self._by_ways(contact, alike) or self._by_names(contact, alike)

    def named(self, name: str) -> Person | None:
        """The only person of a name, or None."""
        found = self._by_name.get(name_key(name), set())
        return self.people[next(iter(found))] if len(found) == 1 else None

    def of_uid(self, uid: str) -> Person | None:
        person_id = self._by_uid.get(uid, self._by_uid.get(uid.removeprefix("urn:uuid:"), -1))
        return self.people.get(person_id)

    def _by_ways(self, contact: Contact, alike: Mapping[int, bool]) -> CardMatch | None:
        """A match by phone or mail, which identify a person; if a family shares them, the name must fit too."""
        for item in contact.items:
            if item.kind in ("phone", "email"):
                found = self._by_way.get(item_key(item, self.region), set())
                fitting = [self.people[one] for one in found if one in alike or _may_be(self.people[one], contact)]
                if len(fitting) == 1:
                    return CardMatch(fitting[0], item.kind)
        return None

    def _by_names(self, contact: Contact, alike: Mapping[int, bool]) -> CardMatch:
        named = sorted(self._by_name.get(name_key(contact.name), set()))
        fitting = [one for one in named if not self._other_account(one, contact)]
        if len(fitting) == 1:
            return CardMatch(self.people[fitting[0]], "name")
        sure = [one for one, certain in alike.items() if certain and not self._other_account(one, contact)]
        if not named and len(sure) == 1:
            return CardMatch(self.people[sure[0]], "name")
        return CardMatch(None, "", tuple(dict.fromkeys((*fitting, *alike))), tuple(named))

    def _other_account(self, person_id: int, contact: Contact) -> bool:
        person = self.people[person_id]
        other = contact.telegram_id is not None and person.telegram_id not in (None, contact.telegram_id)
        named = contact.username and person.username and name_key(contact.username) != name_key(person.username)
        return other or bool(named)


def _may_be(person: Person, contact: Contact) -> bool:
    """Whether the names may be one person's: two full names in one script must share all words of the shorter."""
    ours, theirs = (set(name_key(name).split()) for name in (person.display_name, contact.name))
    full = min(len(ours), len(theirs)) >= _FULL_NAME and person.display_name[:1].isascii() == contact.name[:1].isascii()
    return not full or ours <= theirs or theirs <= ours


def ways(contact: Iterable[CardItem], region: str | None) -> list[str]:
    """The phones and mails of items in the form in which they are compared."""
    return [key for item in contact if item.kind in ("phone", "email") for _, key in [item_key(item, region)]]
