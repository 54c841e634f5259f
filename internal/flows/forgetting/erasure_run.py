"""One run of erasing: what is noted before, what is erased with it, and the traces that are wiped at the end.

Data from address books is erased too, and keyed hashes keep it from coming back.
"""

import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Final

from sqlalchemy import Connection

from internal.artifacts import repository as artifacts
from internal.dialogue import removal_repository as dialogue_erasure
from internal.dialogue.model import Message
from internal.errors import Conflict
from internal.flows.forgetting import bio_sentences, fact_tombstones as tombstones, memories, notifications
from internal.flows.forgetting.report import ErasureReport
from internal.flows.sessions import lifecycle
from internal.flows.sessions.lifecycle import withdraw_about
from internal.flows.visibility import name_traces
from internal.flows.visibility.lines import all_lines, texts_of
from internal.graph import store
from internal.import_formats.contact_card import contact_of
from internal.import_formats.vcard import Card, is_vcard, read_cards, write_cards
from internal.knowledge import episode_repository as episodes, fact_repository, service as knowledge
from internal.knowledge.claims import repository as claim_repository
from internal.knowledge.entities.names import names_cited
from internal.knowledge.model import Claim
from internal.language.text.spelling import name_key
from internal.memory import service as memory
from internal.memory.observations.changes import Removal
from internal.people import removal_repository, repository as people, suggestion_repository, support, support_repository
from internal.people.bio import sentences_of_bio
from internal.people.contacts import repository as contacts
from internal.people.contacts.model import StoredContact, marks
from internal.people.model import Person
from internal.people.support_repository import LostSupport
from internal.scheduling import run_repository as runs
from internal.storage import evidence
from internal.storage.evidence import Lines
from internal.storage.forgetting import tombstone_repository, traces
from internal.tasks import repository as tasks, service as task_service
from internal.tasks.model import Task
from internal.tasks.teams import repository as teams

_WAYS: Final = frozenset({"HAS_PHONE", "HAS_EMAIL"})
"""Relations by which a forgotten person would be found again in an address book."""

_WORD = re.compile(r"[^\W_]+")
_TELLING: Final = 7
"""The least digits in which two phone numbers must agree to be the same."""

EPISODE: Final = "contact"
"""The prefix of the `dedupe` of an episode that contains what a card says about a person."""


_OWN: Final = ("FN", "N", "VERSION", "UID", "REV", "PRODID")
"""Properties of a card that only identify it or its person."""


def episode_key(person_id: int, content: str) -> str:
    return f"{EPISODE}/{person_id}/{content}"


def forget_cards(
    connection: Connection,
    user_id: int,
    forgotten: Collection[Person],
    names_person: traces.Holds,
    key: bytes,
    at: datetime,
) -> list[str]:
    """Drops the cards of forgotten people and keeps hashes of their ids, phones and mails.

    Returns the ids of the episodes made of those cards, for the caller to erase.
    """
    held = fact_repository.at_nodes(connection, user_id, [person.entity_id for person in forgotten])
    targets = [one.fact.target for one in held if one.fact.name in _WAYS]
    ways = list(fact_repository.names_of(connection, user_id, targets).values())
    ids, uids = {person.id for person in forgotten}, list[str]()
    for one in contacts.listing(connection, user_id):
        if one.person_id in ids:
            uids.append(one.uid)
            items = contact_of(_card(one)).items
            ways += [item.value for item in items if item.kind in ("phone", "email")]
    tombstone_repository.mark_forgotten(connection, user_id, marks(key, user_id, uids, ways), at)
    contacts.drop(connection, user_id, ids)
    without_values(connection, user_id, [name for person in forgotten for name in person.names], names_person)
    return [episode for one in ids for episode in episodes.ids_of_dedupe(connection, user_id, episode_key(one, ""))]


def without_values(
    connection: Connection, user_id: int, said: Iterable[str], names_person: traces.Holds = lambda _: False
) -> None:
    """Removes lines from stored cards that contain an erased value, a phone in any spelling, or name a person."""
    gone = {name_key(text) for text in said}
    for one in contacts.listing(connection, user_id):
        card = _card(one)
        kept = [line for line in card if line.name in _OWN or not (_says(line.text, gone) or names_person(line.text))]
        if not card:
            contacts.drop(connection, user_id, [one.person_id])
        elif len(kept) < len(card):
            contacts.save_contact(connection, replace(one, card=write_cards([kept])))


def _card(stored: StoredContact) -> Card:
    """The stored card, or an empty one if its text cannot be read any more."""
    return read_cards(stored.card)[0] if is_vcard(stored.card) else ()


def _says(text: str, gone: Collection[str]) -> bool:
    words = f" {' '.join(_WORD.findall(name_key(text)))} "
    return any(f" {' '.join(_WORD.findall(one))} " in words or _same_number(text, one) for one in gone if one)


def _same_number(one: str, other: str) -> bool:
    """Whether two texts are the same phone number, with or without the country code."""
    digits = ["".join(letter for letter in text if letter.isdigit()).lstrip("0") for text in (one, other)]
    shorter, longer = sorted(digits, key=len)
    bare = not any(letter.isalpha() for letter in one + other)
    return bare and len(shorter) >= _TELLING and longer.endswith(shorter)


@dataclass(slots=True)
class Erasure:
    """One erasure, in the caller's transaction. `said` are the words whose traces are wiped by `finish`.

    `stated_in` are the messages that state it: rewordings that were derived from them are erased too.
    """

    connection: Connection
    user_id: int
    now: datetime
    wipe: bool = True
    report: ErasureReport = field(default_factory=ErasureReport)
    said: list[str] = field(default_factory=list)
    _named: dict[str, str] = field(default_factory=dict)
    _names: dict[str, set[str]] = field(default_factory=dict)
    claims: dict[str, Claim] = field(default_factory=dict)
    stated_in: set[str] = field(default_factory=set)

    def refuse_unanswered(self, messages: Sequence[Message]) -> None:
        if len(dialogue_erasure.answered(self.connection, self.user_id, messages)) < len(messages):
            raise Conflict("a message of this is being answered; try again in a moment")

    def note_claims(self, claims: Sequence[Claim]) -> None:
        """Notes claims that may be erased and the names of their ends, which cannot be looked up afterwards."""
        self.claims |= {claim.id: claim for claim in claims}
        ends = {end for claim in claims for end in (claim.source, claim.target)}
        self._named |= fact_repository.names_of(self.connection, self.user_id, ends)

    def cited(self, episode_id: str, numbers: Collection[int]) -> set[str]:
        """The entities that these lines support."""
        lines = Lines(episode_id=episode_id, segments={0, *numbers})
        found = evidence.cited_ids(self.connection, self.user_id, "entity", lines)
        self._named |= fact_repository.names_of(self.connection, self.user_id, found)
        for node_id, keys in names_cited(self.connection, self.user_id, episode_id, numbers).items():
            self._names.setdefault(node_id, set()).update(keys)
        return found

    def take_back_mentions(self, lost: LostSupport, episode_id: str) -> None:
        """Removes the mentions of people whom no line of the episode supports any more."""
        for person_id, where in lost.episodes.items():
            if episode_id in where and not support_repository.is_cited_in(
                self.connection, self.user_id, person_id, episode_id
            ):
                support_repository.drop_mentions(self.connection, self.user_id, episode_id, person_id)

    def empty_slices(self, episode_id: str, numbers: Collection[int]) -> None:
        """Empties the prompts and replies that contained one of these lines; their other contents are derived again."""
        for number in numbers:
            held = runs.of_slice(self.connection, self.user_id, episode_id, number)
            runs.forget_replies(self.connection, self.user_id, [run.id for run in held])
        traces.blank_calls(self.connection, self.user_id, episode_id=episode_id)

    def drop_episode(self, episode_id: str, messages: Sequence[Message]) -> None:
        gone = runs.drop_of_episode(self.connection, self.user_id, episode_id)
        suggestion_repository.drop_of_runs(self.connection, self.user_id, gone)
        traces.blank_calls(self.connection, self.user_id, episode_id=episode_id)
        traces.blank_events(self.connection, self.user_id, episode_id)
        self.drop_tasks(tasks.of_texts(self.connection, self.user_id, episode_id))
        episodes.drop(self.connection, self.user_id, episode_id)
        dialogue_erasure.drop_sources(self.connection, self.user_id, "episode", [episode_id])
        self.report.episodes += 1
        self.drop_messages(messages)

    def drop_messages(self, messages: Sequence[Message]) -> None:
        ids = [*(message.id for message in messages), *notifications.instructions_of(messages)]
        self.drop_tasks(tasks.of_lines(self.connection, self.user_id, ids))
        self.stated_in |= set(ids)
        self.said += [message.content for message in messages]
        turns = {message.turn_id for message in messages if message.turn_id is not None}
        # Calls that read a file without a turn are linked with its message.
        traces.blank_calls(self.connection, self.user_id, turn_ids={*turns, *ids})
        traces.blank_replies(self.connection, self.user_id, ids)
        for episode_id, number in episodes.lines_of_messages(self.connection, self.user_id, ids):
            episodes.drop_segments(self.connection, self.user_id, episode_id, [number])
            if not episodes.numbers(self.connection, self.user_id, episode_id):
                self.drop_episode(episode_id, ())
        lifecycle.lose_messages(self.connection, self.user_id, ids, self.now)
        files = artifacts.of_messages(self.connection, self.user_id, ids)
        artifacts.drop(self.connection, self.user_id, [one.id for one in files])
        self.said += [one.name for one in files]
        dialogue_erasure.drop(self.connection, self.user_id, ids)
        self.report.messages += len(ids)

    def settle(self, lost: LostSupport, messages: Sequence[Message], cited: Collection[str]) -> None:
        """Adjusts the rest after the target itself is erased: profiles, things that stay, traces in other texts."""
        self._add_accounts(lost, messages)
        said = [text for text in self.said if text]
        self.settle_people(lost, said)
        self.report.parts += name_traces.clear_names(self.connection, self.user_id, cited, self._names, said, self.now)
        # A node of both knowledge and memory is derived again from the rest of either.
        memory.project_nodes(self.connection, self.user_id, cited, now=self.now)
        self.finish()

    def settle_people(self, lost: LostSupport, said: Sequence[str]) -> None:
        settled = support.remove_unsupported_parts(
            self.connection, self.user_id, lost, said, self._texts_of, self._otherwise_known, now=self.now
        )
        self.report.parts += len(settled.texts)
        self.said += settled.texts
        for person in settled.unsupported:
            self.said += [*person.names, *sentences_of_bio(person.bio)]
        self.erase_people(settled.unsupported)

    def erase_people(self, profiles: Sequence[Person]) -> None:
        for entity_id in sorted({person.entity_id for person in profiles}):
            if store.get_node(self.connection, self.user_id, entity_id, hidden=True) is not None:
                self.erase_node(entity_id, counted=False)
        ids = {person.id for person in profiles}
        contacts.drop(self.connection, self.user_id, ids)
        touched = removal_repository.erase(self.connection, self.user_id, ids)
        knowledge.reproject(self.connection, self.user_id, touched, now=self.now)
        memory.reproject(self.connection, self.user_id, touched, now=self.now)
        dialogue_erasure.drop_sources(self.connection, self.user_id, "person", map(str, ids))
        self.drop_tasks(tasks.of_people(self.connection, self.user_id, ids))
        self.report.people += len(ids)

    def note_sentences(self, sentences: Collection[str]) -> None:
        self.said += sentences
        self.report.parts += len(sentences)

    def note_memories(self, removal: Removal) -> None:
        self.said += memories.identifying_texts(removal)
        self.report.memories += len(removal.nodes)
        dialogue_erasure.drop_sources(self.connection, self.user_id, "memory", removal.nodes)

    def erase_node(self, node_id: str, *, counted: bool = True) -> None:
        stated = fact_repository.at_nodes(self.connection, self.user_id, [node_id])
        names = name_traces.names_at(self.connection, self.user_id, stated)
        self.said += [one.fact.fact for one in stated]
        facts = [one.fact.id for one in stated]
        self.said += bio_sentences.take_out(self.connection, self.user_id, [node_id, *facts], facts, self.now)
        self.note_claims(claim_repository.at_nodes(self.connection, self.user_id, [node_id]))
        self.note_memories(memory.remove_node_observations(self.connection, self.user_id, node_id, now=self.now))
        removal = knowledge.erase_node(self.connection, self.user_id, node_id, now=self.now)
        ends = {(one.fact.source, one.fact.target) for one in stated}
        self.report.parts += name_traces.clear_retellings(
            self.connection, self.user_id, ends, names, [one.fact.fact for one in stated], self.now
        )
        dialogue_erasure.drop_sources(self.connection, self.user_id, "entity", [node_id])
        self.report.add(removal)
        if not counted:
            self.report.entities -= 1

    def erase_namings(self, holds: traces.Holds, key: bytes, at: datetime) -> None:
        """Erases facts, descriptions and bios about other things that contain an erased name.

        Lines up to `at` do not bring those facts back.
        """
        for fact_id in name_traces.facts_naming(self.connection, self.user_id, holds):
            chain = fact_repository.chain(self.connection, self.user_id, fact_id)
            if chain:
                self.note_claims(
                    claim_repository.of_edges(self.connection, self.user_id, [one.fact.id for one in chain])
                )
                self.said += [one.fact.fact for one in chain]
                tombstones.mark_facts_forgotten(self.connection, self.user_id, [one.fact for one in chain], key, at)
                self.report.add(knowledge.erase_fact(self.connection, self.user_id, fact_id, now=self.now))
        for node_id in name_traces.things_named_after(self.connection, self.user_id, holds):
            self.erase_node(node_id)
        self.report.parts += name_traces.clear_namings(self.connection, self.user_id, holds, self.now)

    def finish(self, also: traces.Holds | None = None) -> None:
        """Wipes the traces of everything erased from derived texts; does nothing without `wipe`."""
        if not self.wipe:
            return
        left = {claim.id for claim in claim_repository.by_ids(self.connection, self.user_id, list(self.claims))}
        erased_too = [claim for claim in self.claims.values() if claim.id not in left]
        self.said += [claim.fact for claim in erased_too]
        there = fact_repository.names_of(self.connection, self.user_id, list(self._named))
        self.said += [name for node_id, name in self._named.items() if node_id not in there]
        dialogue_erasure.drop_sources(self.connection, self.user_id, "fact", self.report.gone)
        self.said += notifications.erase(self.connection, self.user_id, self.stated_in, self._traces(also), self.now)
        without_values(self.connection, self.user_id, [text for text in self.said if text])
        holds = self._traces(also)
        self.report.texts += traces.blank_texts(self.connection, self.user_id, holds)
        lifecycle.drop_wiped(self.connection, self.user_id, holds)
        task_service.publish(self.connection, self.user_id, self.now)

    def drop_tasks(self, gone: Sequence[Task]) -> None:
        """Deletes tasks that rest on what is erased, and their waiting notifications."""
        self.said += [words for task in gone for words in (task.title, task.details) if words]
        for task in gone:
            withdraw_about(self.connection, self.user_id, task.id, "forgotten", self.now)
        teams.erase_unsent(self.connection, self.user_id, [task.id for task in gone])
        tasks.drop(self.connection, self.user_id, [task.id for task in gone])

    def _traces(self, also: traces.Holds | None) -> traces.Holds:
        return traces.either(traces.LineTest(self.said), *([also] if also else []))

    def _add_accounts(self, lost: LostSupport, messages: Sequence[Message]) -> None:
        """Notes people whom only these messages' own metadata may support."""
        for telegram_id in {one for message in messages for one in _accounts(message)}:
            person = people.by_telegram_id(self.connection, self.user_id, telegram_id)
            if person is not None:
                lost.episodes[person.id] |= set()

    def _texts_of(self, line_refs: Collection[tuple[str, int]]) -> list[str]:
        return texts_of(self.connection, self.user_id, all_lines(self.connection, self.user_id, line_refs))

    def _otherwise_known(self, person: Person) -> bool:
        """Whether a message's metadata, a claim about the entity, or a merge with others still supports the person."""
        if person.telegram_id is not None and dialogue_erasure.known_from_messages(
            self.connection, self.user_id, person.telegram_id
        ):
            return True
        if claim_repository.names_node(self.connection, self.user_id, person.entity_id):
            return True
        return any(
            support_repository.support_lines(self.connection, self.user_id, source).get("")
            for source in people.sources_of(self.connection, self.user_id, person.id)
        )


def _accounts(message: Message) -> list[int]:
    found = [message.forward.user_id if message.forward else None]
    found += [attachment.get("telegram_id") for attachment in message.attachments]
    return [one for one in found if one is not None]
