"""Erases for good, each thing in one transaction: the thing, what only it supports, and every trace of it.

`requests` handles undo windows. Erasing a message that others cite too erases only its own words. What the
owner said elsewhere stays, and so do the bot's answers to it, which are messages of their own.
"""

from collections import defaultdict
from collections.abc import Callable, Collection, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from datetime import datetime, timedelta
from functools import partial, wraps
from typing import Concatenate, ParamSpec

from sqlalchemy import Connection

from internal.artifacts import repository as artifacts
from internal.dialogue import removal_repository as dialogue_erasure
from internal.errors import NotFound, Refused, expect_found
from internal.flows.forgetting import bio_sentences, fact_tombstones as forgetting_tombstones, memories, notifications
from internal.flows.forgetting.erasure_run import Erasure, forget_cards
from internal.flows.forgetting.person_naming import PersonNaming
from internal.flows.forgetting.report import ErasureReport
from internal.flows.forgetting.requested_messages import by_ids
from internal.flows.indexing.fragments import lose_messages
from internal.flows.merging import entities as merging_entities
from internal.flows.sessions import lifecycle
from internal.flows.visibility import name_traces
from internal.flows.visibility.lines import own_messages, texts_of
from internal.graph import store
from internal.graph.store import owner_node_id
from internal.knowledge import episode_repository as episodes, fact_repository, service as knowledge
from internal.knowledge.claims import repository as claim_repository
from internal.memory import service as memory
from internal.memory.merging import merge as merges
from internal.people import hidden_parts, removal_repository, support_repository, tombstones
from internal.people.support_repository import LostSupport
from internal.storage.engine.savepoints import undone_if_refused
from internal.storage.evidence import Lines
from internal.storage.forgetting import forgettings, hidings, traces
from internal.storage.forgetting.forgettings import Forgetting
from internal.tasks import service as task_service
from internal.tasks.teams import repository as teams

P = ParamSpec("P")
Erase = Callable[Concatenate[Connection, int, P], ErasureReport]


def _within(*contexts: Callable[..., AbstractContextManager[None]]) -> Callable[[Erase[P]], Erase[P]]:
    """Makes a function erase within these contexts, all or nothing: a refusal undoes everything.

    What is erased with a merged thing depends on the evidence of each part, so merged things are split meanwhile.
    """

    def decorated(erase: Erase[P]) -> Erase[P]:
        @wraps(erase)
        def erased(connection: Connection, user_id: int, /, *args: P.args, **kwargs: P.kwargs) -> ErasureReport:
            with undone_if_refused(connection), ExitStack() as stack:
                for context in contexts:
                    stack.enter_context(context(connection, user_id, now=kwargs["now"]))
                return erase(connection, user_id, *args, **kwargs)

        return erased

    return decorated


@contextmanager
def _visible(connection: Connection, user_id: int, *, now: datetime) -> Iterator[None]:
    """Shows everything within the block: the result must not depend on other pending forgettings."""
    lifted = hidings.unhide_all(connection, user_id)
    with hidden_parts.put_back(connection, user_id, now=now):
        yield
        for (forgetting_id, kind), targets in lifted.items():
            if kind == "node":
                removal_repository.hide_nodes(connection, user_id, forgetting_id, targets)
            else:
                chains = fact_repository.chains(connection, user_id, targets)  # with versions that were added meanwhile
                versions = {one.fact.id for chain in chains.values() for one in chain}
                hidings.hide(connection, user_id, forgetting_id, kind, versions.union(targets))


def erase(
    connection: Connection,
    asked: Forgetting,
    messages: Collection[str],
    *,
    key: bytes,
    now: datetime,
    wipe: bool = True,
) -> ErasureReport:
    """Erases what a request is about, and these messages with it. Things that are gone count as erased.

    `key` is that of tombstones; without `wipe`, traces in other texts stay. Raises Conflict while it is in use.
    """
    with undone_if_refused(connection):
        try:
            report = _erase_target(connection, asked, key=key, now=now, wipe=wipe)
        except (NotFound, Refused):
            report = ErasureReport()
            if asked.kind == "fact":
                report = erase_hidden_sentences(connection, asked.user_id, asked.ref_id or "", now=now)
        if messages:
            for file in artifacts.of_messages(connection, asked.user_id, messages):
                if episodes.episode(connection, asked.user_id, file.id) is not None:
                    report.join(erase_episode(connection, asked.user_id, file.id, now=now, wipe=wipe))
            report.join(erase_messages(connection, asked.user_id, messages, now=now, wipe=wipe))
        return report


def _erase_target(connection: Connection, asked: Forgetting, *, key: bytes, now: datetime, wipe: bool) -> ErasureReport:
    user_id, ref_id = asked.user_id, asked.ref_id or ""
    erasing: Callable[..., ErasureReport]
    match asked.kind:
        case "everything":
            # A day back: the limit counts the day of the owner's zone.
            return erase_everything(connection, user_id, (now - timedelta(days=1)).date().isoformat())
        case "person":
            return erase_person(
                connection, user_id, int(ref_id), key=key, asked_at=asked.created_at, now=now, wipe=wipe
            )
        case "entity":
            erasing = partial(erase_entity, key=key)
        case "memory":
            erasing = partial(erase_memory, key=key)
        case "fact":
            erasing = partial(erase_fact, key=key)
        case "episode":
            erasing = erase_episode
        case "message":
            return ErasureReport()
    return erasing(connection, user_id, ref_id, now=now, wipe=wipe)


@_within(_visible, merging_entities.split_all_merged)
def erase_episode(
    connection: Connection, user_id: int, episode_id: str, *, now: datetime, wipe: bool = True
) -> ErasureReport:
    """Erases an episode: its segments, or the messages it is made of, and everything that only it supports.

    Raises NotFound, and Conflict while one of its messages is being answered.
    """
    episode = expect_found(episodes.episode(connection, user_id, episode_id), f"there is no episode {episode_id}")
    erased = Erasure(connection, user_id, now, wipe)
    messages = dialogue_erasure.of_episode(connection, user_id, episode_id)
    erased.refuse_unanswered(messages)
    erased.said += [episode.content, *([] if episode.source == "message" else [episode.name])]
    erased.said += texts_of(connection, user_id, {(episode_id, 0)})
    erased.note_claims(claim_repository.of_episode(connection, user_id, episode_id))
    cited = erased.cited(episode_id, episodes.numbers(connection, user_id, episode_id))
    lost = support_repository.drop_lines(connection, user_id, episode_id)
    for person_id in support_repository.drop_mentions(connection, user_id, episode_id):
        lost.episodes[person_id].add(episode_id)
    erased.note_memories(memory.remove_episode(connection, user_id, episode_id, now=now))
    erased.report.add(knowledge.remove_episode_claims(connection, user_id, episode_id, now=now))
    erased.drop_episode(episode_id, messages)
    erased.settle(lost, messages, cited)
    forgettings.note_done(connection, user_id, "episode", episode_id, now)
    for message in messages:  # a restored backup may hold them without their episode
        forgettings.note_done(connection, user_id, "message", message.id, now)
    return erased.report


@_within(_visible, merging_entities.split_all_merged)
def erase_messages(
    connection: Connection, user_id: int, message_ids: Collection[str], *, now: datetime, wipe: bool = True
) -> ErasureReport:
    """Erases the messages among these that exist, and everything that only they support, episodes without other lines
    included.

    Raises Conflict while one of them is being answered.
    """
    messages = by_ids(connection, user_id, message_ids)
    ids = [message.id for message in messages]
    erased = Erasure(connection, user_id, now, wipe)
    if not ids:
        return erased.report
    erased.refuse_unanswered(messages)
    erased.note_claims(claim_repository.supported_by(connection, user_id, Lines(message_ids=ids)))
    lost, cited, numbers_by_episode = LostSupport(), set[str](), defaultdict[str, list[int]](list)
    for episode_id, number in episodes.lines_of_messages(connection, user_id, ids):
        numbers_by_episode[episode_id].append(number)
    for episode_id, numbers in numbers_by_episode.items():
        cited |= erased.cited(episode_id, numbers)
        lost.add(support_repository.drop_lines(connection, user_id, episode_id, numbers))
        erased.take_back_mentions(lost, episode_id)
        erased.empty_slices(episode_id, numbers)
    erased.note_memories(memory.remove_messages(connection, user_id, ids, now=now))
    erased.report.add(knowledge.remove_claims_of_messages(connection, user_id, ids, now=now))
    erased.drop_messages(messages)
    lose_messages(connection, user_id, numbers_by_episode)
    erased.settle(lost, messages, cited)
    for message_id in ids:
        forgettings.note_done(connection, user_id, "message", message_id, now)
    return erased.report


@_within(_visible)
def erase_fact(
    connection: Connection, user_id: int, fact_id: str, *, key: bytes, now: datetime, wipe: bool = True
) -> ErasureReport:
    """Erases a fact in all its versions, the texts that state it, and what only it supports. Raises NotFound.

    The message that said it stays and does not bring the fact back (`key` is that of tombstones).
    """
    chain = fact_repository.chain(connection, user_id, fact_id)
    if not chain:
        raise NotFound(f"there is no fact {fact_id}")
    erased = Erasure(connection, user_id, now, wipe)
    erased.note_claims(claim_repository.of_edges(connection, user_id, [one.fact.id for one in chain]))
    erased.stated_in |= set(own_messages(connection, user_id, fact_id))
    versions = [one.fact for one in chain]
    erased.note_memories(
        memories.with_facts(connection, user_id, versions, list(erased.claims.values()), key=key, now=now)
    )
    forgetting_tombstones.mark_facts_forgotten(connection, user_id, versions, key, now)
    erased.said += [
        words for fact in versions for words in (fact.fact, fact.original_fact, fact.update_reason) if words
    ]
    ends, words = {(fact.source, fact.target) for fact in versions}, [fact.fact for fact in versions]
    names = name_traces.names_at(connection, user_id, chain)
    erased.note_sentences(bio_sentences.erase(connection, user_id, [fact.id for fact in versions], key, now))
    erased.report.add(knowledge.erase_fact(connection, user_id, fact_id, now=now))
    erased.report.parts += name_traces.clear_retellings(connection, user_id, ends, names, words, now)
    erased.finish()
    forgettings.note_done(connection, user_id, "fact", fact_id, now)
    return erased.report


@_within(_visible)
def erase_hidden_sentences(connection: Connection, user_id: int, fact_id: str, *, now: datetime) -> ErasureReport:
    """Erases the parts of profiles that are hidden for a fact which is already gone."""
    return ErasureReport(parts=len(hidden_parts.erase(connection, user_id, [fact_id], now=now)))


@_within(_visible)
def erase_sentence(
    connection: Connection, user_id: int, person_id: int, part: str, *, key: bytes | None = None, now: datetime
) -> ErasureReport:
    """Erases a sentence of a profile, identified by the beginning of its key, with its traces, if it exists."""
    erased = Erasure(connection, user_id, now)
    erased.note_sentences(bio_sentences.erase_sentence(connection, user_id, person_id, part, key, now))
    erased.finish()
    forgettings.note_erased(connection, user_id)
    return erased.report


@_within(_visible)
def erase_entity(
    connection: Connection, user_id: int, node_id: str, *, key: bytes, now: datetime, wipe: bool = True
) -> ErasureReport:
    """Erases a thing with every fact about it and what was merged into it; a person's entity goes with the person.

    Texts that repeat those facts, in bios and descriptions of other things, are erased too. Raises NotFound, and
    Refused("owner") for the owner.
    """
    one = partial(_erase_entity, connection, user_id, key=key, now=now, wipe=wipe)
    return _with_merged(connection, user_id, node_id, one, now)


def _with_merged(
    connection: Connection, user_id: int, node_id: str, erase: Callable[[str], ErasureReport], now: datetime
) -> ErasureReport:
    """Erases a node and each node merged into it, with what belongs to each."""
    others = merges.merged_into(connection, user_id, node_id)
    with merging_entities.split_all_merged(connection, user_id, now=now):
        report = erase(node_id)
        for other in others:
            if store.get_node(connection, user_id, other, hidden=True) is not None:
                report.join(erase(other))
    return report


def _erase_entity(
    connection: Connection, user_id: int, node_id: str, *, key: bytes, now: datetime, wipe: bool = True
) -> ErasureReport:
    node = expect_found(store.get_node(connection, user_id, node_id, hidden=True), f"there is no entity {node_id}")
    if node_id == owner_node_id(user_id):
        raise Refused("owner", "the owner himself is forgotten with everything")
    person_id = fact_repository.person_of(connection, user_id, node_id)
    if person_id is not None:
        return erase_person(connection, user_id, person_id, key=key, asked_at=now, now=now, wipe=wipe)
    erased = Erasure(connection, user_id, now, wipe)
    names = name_traces.names_of(node)
    forgetting_tombstones.mark_entity_forgotten(connection, user_id, names, key, now)
    proper = [name for name in names if name_traces.is_proper(name)]
    # A topic connects many memories: these stay, without the topic.
    called = name_traces.naming(proper) if node.label == "Entity" and proper else None
    erased.note_memories(memories.with_entities(connection, user_id, [node_id], called, key=key, asked_at=now, now=now))
    memories.mark_memory_forgotten(connection, user_id, node, key, now)
    erased.erase_node(node_id)
    erased.said += names
    erased.finish(name_traces.naming(proper, shortest=1))
    forgettings.note_done(connection, user_id, "entity", node_id, now)
    return erased.report


@_within(_visible, merging_entities.split_all_merged)
def erase_person(
    connection: Connection,
    user_id: int,
    person_id: int,
    *,
    key: bytes,
    asked_at: datetime,
    now: datetime,
    wipe: bool = True,
) -> ErasureReport:
    """Erases a person with everybody merged into them, their facts, and every derived text that names them.

    Messages up to `asked_at` do not bring the person back: keyed hashes of names and ids stay. The owner's own messages
    stay too. Raises NotFound.
    """
    person = PersonNaming.of(connection, user_id, person_id)
    erased = Erasure(connection, user_id, now, wipe)
    held = forget_cards(connection, user_id, person.profiles, person.by_name, key, asked_at)
    things = name_traces.things_named_after(connection, user_id, person.by_name)
    names = {name for node_id in things for name in name_traces.names_by_id(connection, user_id, node_id)}
    forget = partial(memories.with_entities, connection, user_id, key=key, asked_at=asked_at, now=now)
    erased.note_memories(forget({one.entity_id for one in person.profiles}, None))
    erased.erase_people(person.profiles)
    # Older lines would make a thing of the person, without a profile, and bring back things named after the person.
    forgetting_tombstones.mark_entity_forgotten(connection, user_id, person.own_names | names, key, asked_at)
    tombstones.mark_people_forgotten(connection, user_id, person.profiles, person.own, person.others, key, asked_at)
    erased.note_memories(forget((), person.by_name))
    erased.erase_namings(person.by_name, key, asked_at)
    erased.said += notifications.erase(connection, user_id, (), person.mentions, now)
    erased.finish()
    if wipe:
        erased.report.texts += traces.blank_mentions(connection, user_id, person.mentions)
        lifecycle.drop_wiped(connection, user_id, person.mentions)
    task_service.publish(connection, user_id, now)  # titles that named the person are gone
    forgettings.note_erased(connection, user_id)
    for episode_id in held:
        erased.report.join(erase_episode(connection, user_id, episode_id, now=now, wipe=wipe))
    return erased.report


@_within(_visible)
def erase_memory(
    connection: Connection, user_id: int, node_id: str, *, key: bytes, now: datetime, wipe: bool = True
) -> ErasureReport:
    """Erases a node of memory with its links, its observations and what was merged into it.

    A node that is a thing too is erased as a thing. Messages that state it stay and do not bring it back (`key` is
    that of tombstones). Raises NotFound.
    """
    node = store.get_node(connection, user_id, node_id, hidden=True)
    if node is not None and node.label in ("Entity", "Topic", "Preference"):
        return erase_entity(connection, user_id, node_id, key=key, now=now, wipe=wipe)
    one = partial(_erase_memory, connection, user_id, key=key, now=now, wipe=wipe)
    return _with_merged(connection, user_id, node_id, one, now)


def _erase_memory(
    connection: Connection, user_id: int, node_id: str, *, key: bytes, now: datetime, wipe: bool = True
) -> ErasureReport:
    erased = Erasure(connection, user_id, now, wipe)
    erased.note_memories(memories.with_node(connection, user_id, node_id, key=key, asked_at=now, now=now))
    erased.finish()
    forgettings.note_done(connection, user_id, "memory", node_id, now)
    return erased.report


def settle_profiles(connection: Connection, user_id: int, lost: LostSupport, *, now: datetime) -> ErasureReport:
    """Removes unsupported parts from profiles, and erases people without any support."""
    erased = Erasure(connection, user_id, now)
    erased.settle_people(lost, ())
    return erased.report


def erase_everything(connection: Connection, user_id: int, spent_since: str) -> ErasureReport:
    """Erases every row of an owner except those that `forgettings.erase_everything` names. Returns no counts."""
    teams.erase_unsent(connection, user_id)
    forgettings.erase_everything(connection, user_id, spent_since)
    return ErasureReport()
