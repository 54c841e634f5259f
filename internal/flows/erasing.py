"""Erasing for good, each thing in one transaction: what was said, all that only it supports, every trace of it.

Nothing here waits for an undo: `forgetting` does. A message that others cite too costs them nothing but its own words.
What the owner said elsewhere stays, as do the bot's answers to it: they are messages of their own.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from sqlalchemy import Connection

from internal.dialogue import erase_repository as dialogue_erasing
from internal.dialogue import repository as dialogue
from internal.dialogue.model import Message
from internal.errors import Conflict, NotFound, Refused
from internal.flows import buried, namings, retold, sessions
from internal.flows.fallen import Fallen
from internal.flows.fragment_item import lose_messages
from internal.flows.lines import all_lines, texts_of
from internal.graph import store
from internal.graph.store import owner_node_id
from internal.knowledge import claim_repository, fact_repository, naming_repository
from internal.knowledge import repository as episodes
from internal.knowledge import service as knowledge
from internal.knowledge.model import Claim
from internal.people import (
    forget_repository,
    set_aside,
    suggestion_repository,
    support,
    support_repository,
    tombstones,
)
from internal.people import repository as people
from internal.people.bio import sentences
from internal.people.model import Person
from internal.people.support_repository import Lost
from internal.scheduling import repository as runs
from internal.storage import erasure, traces

_LONG_SENTENCE = 12
"""Characters from which a sentence of a bio is looked for in stored texts; shorter ones may be anybody's."""


def erase_episode(connection: Connection, user_id: int, episode_id: str, *, now: datetime) -> Fallen:
    """Erases an episode: its segments, or the messages it is made of, and everything that only it supports.

    Raises NotFound, and Conflict while one of its messages is being answered.
    """
    episode = episodes.episode(connection, user_id, episode_id)
    if episode is None:
        raise NotFound(f"there is no episode {episode_id}")
    erased = _Erasing(connection, user_id, now)
    messages = dialogue_erasing.of_episode(connection, user_id, episode_id)
    erased.refuse_unanswered(messages)
    erased.said += [episode.content, *([] if episode.source == "message" else [episode.name])]
    erased.said += texts_of(connection, user_id, {(episode_id, 0)})
    erased.note_claims(claim_repository.of_episode(connection, user_id, episode_id))
    cited = erased.cited(episode_id, episodes.numbers(connection, user_id, episode_id))
    lost = support_repository.drop_lines(connection, user_id, episode_id)
    for person_id in support_repository.drop_mentions(connection, user_id, episode_id):
        lost.episodes[person_id].add(episode_id)
    erased.fallen.add(knowledge.remove_episode_claims(connection, user_id, episode_id, now=now))
    erased.drop_episode(episode_id, messages)
    erased.settle(lost, messages, cited)
    erasure.note_done(connection, user_id, "episode", episode_id, now)
    for message in messages:  # a restored backup may hold them without their episode
        erasure.note_done(connection, user_id, "message", message.id, now)
    return erased.fallen


def erase_message(connection: Connection, user_id: int, message_id: str, *, now: datetime) -> Fallen:
    """Erases one message and everything that only it supports; an episode that has no line left goes with it.

    Raises NotFound, and Conflict while the message is being answered.
    """
    messages = dialogue.by_ids(connection, user_id, [message_id])
    if not messages:
        raise NotFound(f"there is no message {message_id}")
    erased = _Erasing(connection, user_id, now)
    erased.refuse_unanswered(messages)
    erased.note_claims(claim_repository.supported_by(connection, user_id, message_ids=[message_id]))
    lost, cited = Lost(), set[str]()
    places = episodes.lines_of_messages(connection, user_id, [message_id])
    for episode_id, number in places:
        cited |= erased.cited(episode_id, [number])
        lost.add(support_repository.drop_lines(connection, user_id, episode_id, [number]))
        erased.take_back_mentions(lost, episode_id)
        erased.empty_slices(episode_id, number)
    erased.fallen.add(knowledge.remove_claims_of_messages(connection, user_id, [message_id], now=now))
    erased.drop_messages(messages)
    lose_messages(connection, user_id, dict(places))
    erased.settle(lost, messages, cited)
    erasure.note_done(connection, user_id, "message", message_id, now)
    return erased.fallen


def erase_fact(connection: Connection, user_id: int, fact_id: str, *, key: bytes, now: datetime) -> Fallen:
    """Erases a fact in all its versions, the words that tell it, and what only it keeps. Raises NotFound.

    The message that said it stays; it does not bring the fact back (`key` is that of tombstones).
    """
    chain = fact_repository.chain(connection, user_id, fact_id)
    if not chain:
        raise NotFound(f"there is no fact {fact_id}")
    erased = _Erasing(connection, user_id, now)
    erased.note_claims(claim_repository.of_edges(connection, user_id, [one.fact.id for one in chain]))
    told = [one.fact for one in chain]
    buried.bury_facts(connection, user_id, told, key, now)
    erased.said += [words for fact in told for words in (fact.fact, fact.original_fact, fact.update_reason) if words]
    ends, words = {(fact.source, fact.target) for fact in told}, [fact.fact for fact in told]
    names = namings.names_at(connection, user_id, chain)
    erased.note_sentences(retold.erase(connection, user_id, [fact.id for fact in told], key, now))
    erased.fallen.add(knowledge.erase_fact(connection, user_id, fact_id, now=now))
    erased.fallen.parts += namings.clear_retold(connection, user_id, ends, names, words, now)
    erased.finish()
    erasure.note_done(connection, user_id, "fact", fact_id, now)
    return erased.fallen


def erase_sentence(
    connection: Connection, user_id: int, person_id: int, part: str, *, key: bytes | None = None, now: datetime
) -> Fallen:
    """Erases a sentence of a profile, known by the beginning of its key, with its traces; nothing if it is gone."""
    erased = _Erasing(connection, user_id, now)
    erased.note_sentences(retold.erase_sentence(connection, user_id, person_id, part, key, now))
    erased.finish()
    erasure.note_erased(connection, user_id)
    return erased.fallen


def erase_entity(connection: Connection, user_id: int, node_id: str, *, key: bytes, now: datetime) -> Fallen:
    """Erases a thing with every fact about it; a person's entity goes with the person.

    So does what tells those facts once more, in bios and descriptions of what they were about. Raises NotFound, and
    Refused("owner") for the owner himself.
    """
    node = store.get_node(connection, user_id, node_id, hidden=True)
    if node is None:
        raise NotFound(f"there is no entity {node_id}")
    if node_id == owner_node_id(user_id):
        raise Refused("owner", "the owner himself is forgotten with everything")
    person_id = fact_repository.person_of(connection, user_id, node_id)
    if person_id is not None:
        return erase_person(connection, user_id, person_id, key=key, asked_at=now, now=now)
    erased = _Erasing(connection, user_id, now)
    names = namings.names_of(node)
    buried.bury_entity(connection, user_id, names, key, now)
    erased.erase_node(node_id)
    erased.said += names
    erased.finish(traces.name_pattern(name for name in names if namings.is_proper(name)))
    erasure.note_done(connection, user_id, "entity", node_id, now)
    return erased.fallen


def erase_person(
    connection: Connection, user_id: int, person_id: int, *, key: bytes, asked_at: datetime, now: datetime
) -> Fallen:
    """Erases a person with everybody merged into him, the facts about him, and every derived text that names him.

    What was said up to `asked_at` does not bring him back: keyed hashes of his names and ids stay. The owner's own
    messages stay too. Raises NotFound.
    """
    ids = {person_id} | people.sources_of(connection, user_id, person_id)
    profiles = forget_repository.profiles(connection, user_id, ids)
    if not profiles:
        raise NotFound(f"there is no person {person_id}")
    erased = _Erasing(connection, user_id, now)
    words: set[str] = set()
    phrases: set[str] = set()
    for person in profiles:
        marks = tombstones.marks(key, user_id, person.names, person.username, person.telegram_id)
        suggestion_repository.bury(connection, user_id, marks, asked_at)
        words |= {*namings.words_of(person.names), person.username or "", str(person.telegram_id or "")}
        phrases |= {sentence for sentence in sentences(person.bio) if len(sentence) >= _LONG_SENTENCE}
    things = namings.things_named_after(connection, user_id, words)
    called = [namings.names_by_id(connection, user_id, node_id) for node_id in things]
    erased.erase_people(profiles)
    own = namings.own_names(connection, user_id, words - {""})
    # Older lines would make a thing of him, which needs no profile, and bring back what is called after him.
    names = {name for person in profiles for name in person.names if name in own}
    names |= {name for named in called if namings.naming(own)(named[0]) for name in named}
    buried.bury_entity(connection, user_id, names, key, asked_at)
    erased.erase_namings(own, key, asked_at)
    erased.finish()
    erased.fallen.texts += traces.blank_mentions(connection, user_id, traces.mention_pattern(words, ids, phrases))
    erasure.note_erased(connection, user_id)
    return erased.fallen


def settle_profiles(connection: Connection, user_id: int, lost: Lost, *, now: datetime) -> Fallen:
    """Takes out of profiles what lost its last line, and erases people whom nothing supports any more."""
    erased = _Erasing(connection, user_id, now)
    erased.settle_people(lost, ())
    return erased.fallen


def erase_everything(connection: Connection, user_id: int, spent_since: str) -> Fallen:
    """Erases every row of an owner but those that `erasure.erase_everything` names; nothing is counted."""
    erasure.erase_everything(connection, user_id, spent_since)
    return Fallen()


@dataclass(slots=True)
class _Erasing:
    """One erasure. `said` are the words whose traces are wiped at the end."""

    connection: Connection
    user_id: int
    now: datetime
    fallen: Fallen = field(default_factory=Fallen)
    said: list[str] = field(default_factory=list)
    _named: dict[str, str] = field(default_factory=dict)
    _names: dict[str, set[str]] = field(default_factory=dict)
    _claims: dict[str, Claim] = field(default_factory=dict)

    def refuse_unanswered(self, messages: Sequence[Message]) -> None:
        turns = {message.turn_id for message in messages if message.turn_id is not None}
        if dialogue_erasing.being_answered(self.connection, self.user_id, turns):
            raise Conflict("a message of this is being answered; try again in a moment")

    def note_claims(self, claims: Sequence[Claim]) -> None:
        """Remembers what may fall, with the names of what it is about: afterwards they cannot be looked up."""
        self._claims |= {claim.id: claim for claim in claims}
        ends = {end for claim in claims for end in (claim.source, claim.target)}
        self._named |= fact_repository.names_of(self.connection, self.user_id, ends)

    def cited(self, episode_id: str, numbers: Collection[int]) -> set[str]:
        """The entities that these lines support."""
        found = claim_repository.entities_cited(
            self.connection, self.user_id, message_ids=(), episode_id=episode_id, segments={0, *numbers}
        )
        self._named |= fact_repository.names_of(self.connection, self.user_id, found)
        for node_id, keys in naming_repository.told_in(self.connection, self.user_id, episode_id, numbers).items():
            self._names.setdefault(node_id, set()).update(keys)
        return set(found)

    def take_back_mentions(self, lost: Lost, episode_id: str) -> None:
        """Whom no line of the episode tells of any more is not mentioned in it."""
        for person_id, where in lost.episodes.items():
            if episode_id in where and not support_repository.told_of_in(
                self.connection, self.user_id, person_id, episode_id
            ):
                support_repository.drop_mentions(self.connection, self.user_id, episode_id, person_id)

    def empty_slices(self, episode_id: str, number: int) -> None:
        """The prompts and replies in which a line stood tell it; what else they hold can be derived anew."""
        held = runs.of_slice(self.connection, self.user_id, episode_id, number)
        runs.forget_replies(self.connection, self.user_id, [run.id for run in held])
        traces.blank_calls(self.connection, self.user_id, episode_id=episode_id)

    def drop_episode(self, episode_id: str, messages: Sequence[Message]) -> None:
        gone = runs.drop_of_episode(self.connection, self.user_id, episode_id)
        suggestion_repository.drop_of_runs(self.connection, self.user_id, gone)
        traces.blank_calls(self.connection, self.user_id, episode_id=episode_id)
        traces.blank_events(self.connection, self.user_id, episode_id)
        episodes.drop(self.connection, self.user_id, episode_id)
        dialogue_erasing.drop_sources(self.connection, self.user_id, "episode", [episode_id])
        self.fallen.episodes += 1
        self.drop_messages(messages)

    def drop_messages(self, messages: Sequence[Message]) -> None:
        ids = [message.id for message in messages]
        self.said += [message.content for message in messages]
        turns = {message.turn_id for message in messages if message.turn_id is not None}
        traces.blank_calls(self.connection, self.user_id, turn_ids=turns)
        traces.blank_replies(self.connection, self.user_id, ids)
        for episode_id, number in episodes.lines_of_messages(self.connection, self.user_id, ids):
            episodes.drop_segments(self.connection, self.user_id, episode_id, [number])
            if not episodes.numbers(self.connection, self.user_id, episode_id):
                self.drop_episode(episode_id, ())
        sessions.lose_messages(self.connection, self.user_id, ids, self.now)
        dialogue_erasing.drop(self.connection, self.user_id, ids)
        self.fallen.messages += len(ids)

    def settle(self, lost: Lost, messages: Sequence[Message], cited: Collection[str]) -> None:
        """After everything of its own is gone: profiles, things that stay, traces in other texts."""
        self._add_accounts(lost, messages)
        said = [text for text in self.said if text]
        self.settle_people(lost, said)
        self.fallen.parts += namings.clear_names(self.connection, self.user_id, cited, self._names, said, self.now)
        self.finish()

    def settle_people(self, lost: Lost, said: Sequence[str]) -> None:
        settled = support.settle(
            self.connection, self.user_id, lost, said, self._texts_of, self._otherwise_known, now=self.now
        )
        self.fallen.parts += len(settled.texts)
        self.said += settled.texts
        for person in settled.unsupported:
            self.said += [*person.names, *sentences(person.bio)]
        self.erase_people(settled.unsupported)

    def erase_people(self, profiles: Sequence[Person]) -> None:
        for entity_id in sorted({person.entity_id for person in profiles}):
            if store.get_node(self.connection, self.user_id, entity_id, hidden=True) is not None:
                self.erase_node(entity_id, counted=False)
        ids = {person.id for person in profiles}
        touched = forget_repository.erase(self.connection, self.user_id, ids)
        knowledge.reproject(self.connection, self.user_id, touched, now=self.now)
        dialogue_erasing.drop_sources(self.connection, self.user_id, "person", map(str, ids))
        self.fallen.people += len(ids)

    def note_sentences(self, told: Collection[str]) -> None:
        self.said += told
        self.fallen.parts += len(told)

    def erase_node(self, node_id: str, *, counted: bool = True) -> None:
        told = fact_repository.at_nodes(self.connection, self.user_id, [node_id])
        names = namings.names_at(self.connection, self.user_id, told)
        self.said += [one.fact.fact for one in told]
        self.said += set_aside.erase(self.connection, self.user_id, [one.fact.id for one in told], now=self.now)
        self.note_claims(claim_repository.at_nodes(self.connection, self.user_id, [node_id]))
        removal = knowledge.erase_node(self.connection, self.user_id, node_id, now=self.now)
        ends = {(one.fact.source, one.fact.target) for one in told}
        self.fallen.parts += namings.clear_retold(
            self.connection, self.user_id, ends, names, [one.fact.fact for one in told], self.now
        )
        dialogue_erasing.drop_sources(self.connection, self.user_id, "entity", [node_id])
        self.fallen.add(removal)
        self.fallen.entities -= 0 if counted else 1

    def erase_namings(self, names: Iterable[str], key: bytes, at: datetime) -> None:
        """Facts, descriptions and bios that name what is gone, though they are about something else.

        Lines up to `at` do not bring those facts back.
        """
        names = list(names)
        for fact_id in namings.facts_naming(self.connection, self.user_id, names):
            chain = fact_repository.chain(self.connection, self.user_id, fact_id)
            if chain:
                self.note_claims(
                    claim_repository.of_edges(self.connection, self.user_id, [one.fact.id for one in chain])
                )
                self.said += [one.fact.fact for one in chain]
                buried.bury_facts(self.connection, self.user_id, [one.fact for one in chain], key, at)
                self.fallen.add(knowledge.erase_fact(self.connection, self.user_id, fact_id, now=self.now))
        for node_id in namings.things_named_after(self.connection, self.user_id, names):
            self.erase_node(node_id)
        self.fallen.parts += namings.clear_namings(self.connection, self.user_id, names, self.now)

    def finish(self, also: traces.Holds | None = None) -> None:
        """Wipes the traces of all that fell in texts made from it."""
        left = {claim.id for claim in claim_repository.by_ids(self.connection, self.user_id, list(self._claims))}
        fallen = [claim for claim in self._claims.values() if claim.id not in left]
        self.said += [claim.fact for claim in fallen]
        there = fact_repository.names_of(self.connection, self.user_id, list(self._named))
        self.said += [name for node_id, name in self._named.items() if node_id not in there]
        dialogue_erasing.drop_sources(self.connection, self.user_id, "fact", self.fallen.gone)
        lines = traces.Lines(self.said)
        holds = lines if also is None else lambda text: lines(text) or also(text)
        self.fallen.texts += traces.blank_texts(self.connection, self.user_id, holds)
        sessions.drop_wiped(self.connection, self.user_id)

    def _add_accounts(self, lost: Lost, messages: Sequence[Message]) -> None:
        """Whoever these messages' own metadata told of may be known from nothing else."""
        for telegram_id in {one for message in messages for one in _accounts(message)}:
            person = people.by_telegram_id(self.connection, self.user_id, telegram_id)
            if person is not None:
                lost.episodes[person.id] |= set()

    def _texts_of(self, places: Collection[tuple[str, int]]) -> list[str]:
        return texts_of(self.connection, self.user_id, all_lines(self.connection, self.user_id, places))

    def _otherwise_known(self, person: Person) -> bool:
        """By a message's own metadata, by a claim about his entity, or as the target of a merge that holds others."""
        if person.telegram_id is not None and dialogue_erasing.known_from_messages(
            self.connection, self.user_id, person.telegram_id
        ):
            return True
        if claim_repository.names_node(self.connection, self.user_id, person.entity_id):
            return True
        return any(
            support_repository.places(self.connection, self.user_id, source).get("")
            for source in people.sources_of(self.connection, self.user_id, person.id)
        )


def _accounts(message: Message) -> list[int]:
    found = [message.forward.user_id if message.forward else None]
    found += [attachment.get("telegram_id") for attachment in message.attachments]
    return [one for one in found if one is not None]
