"""Imports cards of address books: each adds a person or adds to a known one, with facts whose source is the card.

Importing a card again changes nothing. Forgotten people do not come back, whichever card names them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from functools import partial
from typing import Any, Final

from sqlalchemy import Connection

from internal.access import repository as users
from internal.access.model import User
from internal.errors import Refused
from internal.events import repository as events
from internal.flows.contacts import review
from internal.flows.contacts.exports import export_cards
from internal.flows.contacts.matching import RELATIONS, Index, item_key, people_with_similar_names, ways
from internal.flows.forgetting.erasure_run import episode_key
from internal.flows.visibility.pending_forgettings import everything_asked
from internal.graph import store
from internal.import_formats.contact_card import DATED, CardItem, Contact, contact_of
from internal.import_formats.vcard import Property, escaped, read_cards, write_cards
from internal.knowledge import episode_repository as episodes, service as knowledge
from internal.knowledge.claims.changes import ClaimLine, NewClaim
from internal.knowledge.facts.occasions import add_occasion
from internal.knowledge.model import Episode, Segment
from internal.language.kinship.kinds import Kin, kin_of_label, kin_word
from internal.language.text.spelling import name_key
from internal.language.text.tables import table
from internal.language.worker.calls import LanguageCalls
from internal.people import apply_operations, repository as people, suggestion_repository
from internal.people.bio import join_bio
from internal.people.contacts import repository as contacts
from internal.people.contacts.model import FILES, StoredContact, marks
from internal.people.model import Circle, Person
from internal.people.operations import Added, ApplyContext, SourceLine, Updated
from internal.scheduling.clock import Clock
from internal.storage.database import Database
from internal.storage.engine.owner_scope import acting_for
from internal.storage.forgetting import tombstone_repository
from internal.storage.types import new_id

LARGEST: Final = 5_000
"""The most cards of one file."""

_TYPES: Final = {"organization": "organization", "address": "place"}


class ContactBook:
    """Imports cards for an owner, each file in one transaction, and exports his people as cards."""

    def __init__(self, database: Database, clock: Clock, language: LanguageCalls, tombstone_key: bytes) -> None:
        self._database, self._clock, self._language, self._key = database, clock, language, tombstone_key

    async def take(
        self, user_id: int, cards: Sequence[review.BookCard], *, source: str, book: str = FILES, dry_run: bool = False
    ) -> review.ImportReport:
        """Imports cards; with `dry_run` only returns the review. `source` is the file's name.

        Raises NotFound for an unknown owner, Refused("forgetting" | "too_many").
        """
        if len(cards) > LARGEST:
            raise Refused("too_many", f"these are {len(cards)} contacts: at most {LARGEST} are imported at a time")
        with acting_for(user_id):
            return await self._take(user_id, cards, source, book, dry_run=dry_run)

    async def _take(
        self, user_id: int, cards: Sequence[review.BookCard], source: str, book: str, *, dry_run: bool
    ) -> review.ImportReport:
        known = await self._database.read(lambda c: {one.id: one.names for one in people.listing(c, user_id)})
        read = [contact_of(one.card) for one in cards]
        names = await self._language.run(
            people_with_similar_names, sorted({one.name for one in read if one.name}), known
        )

        def work(connection: Connection) -> review.ImportReport:
            user, now = users.get(connection, user_id), self._clock.now()
            if everything_asked(connection, user_id) is not None:
                raise Refused("forgetting", "everything is about to be forgotten; undo that first")
            taking = _Taking(connection, user, now, self._key, source, book, dry_run=dry_run)
            return taking.all(list(zip(cards, read, strict=True)), names)

        return await (self._database.read(work) if dry_run else self._database.write(work))

    async def admit(self, user_id: int, expect: Callable[[Connection, int, datetime], None]) -> None:
        """Creates a user who was admitted and has not written yet."""
        with acting_for(user_id):
            if await self._database.read(lambda c: users.find(c, user_id)) is None:
                await self._database.write(lambda c: expect(c, user_id, self._clock.now()))

    async def export(self, user_id: int) -> str:
        """A vCard file with all people. Raises NotFound for an unknown owner."""
        now = self._clock.now()
        with acting_for(user_id):
            return await self._database.read(lambda c: export_cards(c, users.get(c, user_id), now=now))


class _Taking:
    """One import in a transaction."""

    def __init__(
        self, connection: Connection, user: User, now: datetime, key: bytes, source: str, book: str, *, dry_run: bool
    ) -> None:
        self._connection, self._user, self._now, self._key = connection, user, now, key
        self._source, self._book, self._dry_run = source, book, dry_run
        self._index = Index.read(connection, user, now)
        self._rev = people.current_rev(connection, user.user_id)
        self._forgotten = tombstone_repository.any_forgotten(connection, user.user_id)
        self._words: Mapping[str, Mapping[str, str]] = table(__package__, "words")
        self._relations: list[tuple[CardItem, str | int, str, ClaimLine, str]] = []

    def all(
        self, cards: Sequence[tuple[review.BookCard, Contact]], names: Mapping[str, Mapping[int, bool]]
    ) -> review.ImportReport:
        report = review.ImportReport(dry_run=self._dry_run)
        for book_card, contact in cards:
            report.reviewed.append(self._one(book_card, contact, names.get(contact.name, {})))
        for relation in self._relations:
            self._relate(*relation)
        if not self._dry_run and report.count("new", "updated"):
            new = [one.person_id for one in report.reviewed if one.outcome == "new"]
            payload = {"new": len(new), "updated": report.count("updated"), "people": new}
            user_id = self._user.user_id
            done = partial(events.append, self._connection, "contacts_imported", source="system:contacts")
            done(now=self._now, user_id=user_id, payload=payload)
        return report

    def _one(self, book_card: review.BookCard, contact: Contact, alike: Mapping[int, bool]) -> review.Reviewed:
        if not contact.name or review.is_company(contact):
            return review.Reviewed(contact.name, "nameless")
        if self._is_forgotten(contact):
            return review.Reviewed(contact.name, "forgotten")
        if self._is_self(contact):
            return review.Reviewed(contact.name, "self")
        found = self._index.match(contact, alike)
        person = found.person
        fresh = self._fresh(contact, person)
        perhaps = tuple(self._index.people[one].display_name for one in found.perhaps)
        if person is not None and not fresh and not self._names(contact, person):
            if not self._dry_run:
                self._keep(person.id, book_card, contact)
            return review.Reviewed(contact.name, "same", person.id, person.display_name, found.reason)
        adds = tuple(review.value_words(item, self._user.lang) or item.label for item in fresh)
        if not self._dry_run:
            stored = self._store(contact, person, fresh, found.namesakes)
            if stored is None:
                return review.Reviewed(contact.name, "refused")
            self._ask(stored, found.perhaps)
        else:
            stored = person or self._imagined(contact)
        self._index.add(stored)
        self._index.learn(stored.id, contact, contact.uid)
        if not self._dry_run:
            self._keep(stored.id, book_card, contact)
        outcome: review.Outcome = "new" if person is None else "updated"
        return review.Reviewed(contact.name, outcome, stored.id, stored.display_name, found.reason, adds, perhaps)

    def _imagined(self, contact: Contact) -> Person:
        """A person who would be added, for the rest of a dry run."""
        number = -len(self._index.people) - 1
        return Person(
            number, self._user.user_id, "", contact.name, Circle.OTHER, "", self._now, self._now, contact.names
        )

    def _is_self(self, contact: Contact) -> bool:
        if contact.telegram_id == self._user.user_id:
            return True
        own = name_key(self._user.username or "")
        return bool(own) and name_key(contact.username or "") == own

    def _is_forgotten(self, contact: Contact) -> bool:
        if not self._forgotten:
            return False
        known = marks(self._key, self._user.user_id, [contact.uid], ways(contact.items, self._index.region))
        return tombstone_repository.forgotten_at(self._connection, self._user.user_id, known) is not None

    def _fresh(self, contact: Contact, person: Person | None) -> list[CardItem]:
        """The items of a card that no earlier card gave for this person; a note that his profile contains is known."""
        known = self._index.items.get(person.id, set()) if person else set()
        items = {item_key(item, self._index.region): item for item in contact.items}
        fresh = [item for key, item in items.items() if key not in known]
        bio = name_key(person.bio) if person else ""
        return [item for item in fresh if not (item.kind == "note" and name_key(item.value) in bio)]

    @staticmethod
    def _names(contact: Contact, person: Person) -> list[str]:
        known = {name_key(name) for name in person.names}
        return [name for name in (contact.name, *contact.names) if name_key(name) not in known]

    def _store(
        self, contact: Contact, person: Person | None, fresh: Sequence[CardItem], namesakes: Sequence[int]
    ) -> Person | None:
        """Stores what is new in a card, with an episode of its lines as the source. None if it is refused."""
        user_id = self._user.user_id
        lines = [contact.name, *(review.line_of(item, self._user.lang) for item in fresh)]
        segments = [Segment(n, self._now, text, None, own=False) for n, text in enumerate(lines, start=1)]
        numbers = {item: n for n, item in enumerate(fresh, start=2)}
        episode_id = new_id()
        notes = [item for item in fresh if item.kind == "note"]
        evidence = (1, *(numbers[item] for item in notes))
        note = join_bio(person.bio if person else "", " ".join(item.value for item in notes))
        sources = {
            n: SourceLine(self._now, n, None, (contact.telegram_id,) if contact.telegram_id else (), text)
            for n, text in enumerate(lines, start=1)
        }
        context = ApplyContext(episode_id, None, sources, self._rev, self._key, self._now, "Contacts")
        names, account = (contact.name, *contact.names), (contact.username, contact.telegram_id)
        if person is None:
            added = Added(names[0], names[1:], *account, review.circle_of(contact), note, evidence, tuple(namesakes))
            outcome = apply_operations.apply(self._connection, user_id, [added], context)
        else:
            bio = note if notes and note != person.bio else None
            aliases = tuple(self._names(contact, person))
            changed = Updated(person.id, None, aliases, *account, None, bio, evidence)
            outcome = apply_operations.apply(self._connection, user_id, [changed], context)
        self._rev = people.current_rev(self._connection, user_id)
        if outcome.refused or not (outcome.changed or person):
            return None
        stored = people.get(self._connection, user_id, next(iter(outcome.changed), person.id if person else 0))
        if stored is None:
            return None
        key = episode_key(stored.id, episode_id)
        episode = Episode(
            user_id, episode_id, "text", contact.name, "", self._source, None, self._now, self._now, dedupe=key
        )
        episodes.add_episode(self._connection, episode, segments)
        episodes.mark_processed(self._connection, user_id, episode_id, self._now)
        self._facts(stored, contact, {item: ClaimLine(n, lines[n - 1]) for item, n in numbers.items()}, episode_id)
        return stored

    def _facts(self, person: Person, contact: Contact, items: Mapping[CardItem, ClaimLine], episode_id: str) -> None:
        claims = []
        for item, line in items.items():
            if item.kind == "relation":
                self._relations.append((item, person.entity_id, person.display_name, line, episode_id))
            elif item.kind in DATED:
                self._occasion(person, item, line, episode_id)
            elif item.kind in RELATIONS:
                value = item_key(item, self._index.region)[1] if item.kind == "phone" else item.value
                target = self._node(value, _TYPES.get(item.kind, "concept"), episode_id, line)
                claims.append(self._claim(person, item, value, target, line, episode_id))
        kin = kin_of_label(next((one.text for one in contact.card if one.name == review.TO_OWNER), "?"))
        if kin is not None:
            owner = store.ensure_owner_node(self._connection, self._user.user_id, self._user.called, self._now).id
            name, called, line = person.display_name, self._user.called, ClaimLine(1, contact.name)
            claims.append(self._kin_claim(kin, person.entity_id, owner, name, called, line, episode_id))
        knowledge.record_claims(self._connection, self._user.user_id, claims, now=self._now, source="system:contacts")

    def _claim(
        self, person: Person, item: CardItem, value: str, target: str, line: ClaimLine, episode_id: str
    ) -> NewClaim:
        text = self._words[item.kind][self._user.lang].format(name=person.display_name, value=value)
        since, ends = (
            self._now if item.kind == "organization" else None,
            (person.entity_id, RELATIONS[item.kind], target),
        )
        return NewClaim(*ends, text, self._now, since, episode_id=episode_id, lines=[line], set_by="import")

    def _kin_claim(
        self, kin: Kin, who: str, whom: str, name: str, other: str, line: ClaimLine, episode_id: str
    ) -> NewClaim:
        text = self._words["relation"][self._user.lang].format(
            name=name, label=kin_word(kin, self._user.lang), value=other
        )
        return NewClaim(who, kin.relation, whom, text, self._now, episode_id=episode_id, lines=[line], set_by="import")

    def _occasion(self, person: Person, item: CardItem, line: ClaimLine, episode_id: str) -> None:
        text = self._words[item.kind][self._user.lang].format(
            name=person.display_name, value=review.value_words(item, self._user.lang)
        )
        month, number, known = review.day_of(item)
        add_occasion(
            self._connection, self._user.user_id, person.entity_id, item.kind, month, number, known, text=text,
            now=self._now, language=self._user.lang, set_by="import", episode_id=episode_id, lines=[line],
        )  # fmt: skip

    def _node(self, name: str, subtype: str, episode_id: str, line: ClaimLine) -> str:
        user_id = self._user.user_id
        known = [one for one in store.nodes_called(self._connection, user_id, [name]) if one.subtype != "person"]
        node = known[0] if known else store.add_node(
            self._connection, user_id, "Entity", {"name": name, "type": subtype}, now=self._now
        )  # fmt: skip
        operation: Any = "referenced" if known else "created"
        knowledge.cite_node(self._connection, user_id, node.id, episode_id, {line.segment: None}, operation=operation)
        return node.id

    def _relate(self, item: CardItem, whom: str | int, name: str, line: ClaimLine, episode_id: str) -> None:
        """Records a relation between two people; creates a person for a name that nobody has."""
        kin = kin_of_label(item.label)
        other = self._index.of_uid(item.uid) if item.uid else self._index.named(item.value)
        if kin is None or (other is None and not item.value):
            return
        user_id = self._user.user_id
        if other is None:
            lines = {1: SourceLine(self._now, line.segment, text=item.value)}
            context = ApplyContext(episode_id, None, lines, self._rev, self._key, self._now, "Contacts")
            outcome = apply_operations.apply(self._connection, user_id, [Added(item.value, evidence=(1,))], context)
            self._rev = people.current_rev(self._connection, user_id)
            other = people.get(self._connection, user_id, next(iter(outcome.changed), 0))
            if other is None:
                return
            self._index.add(other)
        if other.entity_id != whom:
            claim = self._kin_claim(kin, other.entity_id, str(whom), other.display_name, name, line, episode_id)
            knowledge.record_claims(self._connection, user_id, [claim], now=self._now, source="system:contacts")

    def _ask(self, stored: Person, perhaps: Sequence[int]) -> None:
        """Asks the owner whether a new person is one of these, by buttons in the chat and in the console."""
        for person_id in perhaps:
            if person_id != stored.id and person_id > 0:
                payload = {"source_id": stored.id, "target_id": person_id, "reason": "contact"}
                suggestion_repository.suggest(
                    self._connection, self._user.user_id, "merge", person_id, payload, now=self._now
                )

    def _gone(self, before: StoredContact, contact: Contact) -> list[Property]:
        """The properties that the server had and has no more: they stay facts, and are not written back."""
        old = read_cards(before.card)[0] if before.card else ()
        here = {item_key(item, self._index.region) for item in contact.items}
        lost = {item_key(item, self._index.region) for item in contact_of(old).items} - here
        known = {tuple(one.text.split(" ", 1)) for one in old if one.name == review.GONE}
        return [Property(review.GONE, escaped(" ".join(key))) for key in sorted(lost | (known - here))]

    def _keep(self, person_id: int, book_card: review.BookCard, contact: Contact) -> None:
        """Stores the card; another one of the same book is joined with it, so that nothing of either is lost."""
        before = next((one for one in self._index.stored.get(person_id, ()) if one.book == self._book), None)
        card = contact.card
        if before is not None and book_card.href is None:
            card = review.merge_cards(read_cards(before.card)[0], card)
        if before is not None and book_card.href is not None:
            card = [*card, *self._gone(before, contact)]
        uid = contact.uid or (before.uid if before else "")
        text = write_cards([card])
        if before is not None and (text, book_card.href, book_card.etag) == (before.card, before.href, before.etag):
            return
        stored = StoredContact(
            self._user.user_id, self._book, person_id, uid, text, self._now, book_card.href, book_card.etag
        )
        contacts.save_contact(self._connection, stored)
        self._index.keep(person_id, stored)
