"""Out of sight until it is erased: what each kind of forgetting hides at once, and how it comes back."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from functools import partial

from sqlalchemy import Connection

from internal.dialogue import erase_repository as dialogue_erasing
from internal.dialogue import repository as dialogue
from internal.dialogue import search_item_repository as message_items
from internal.dialogue.model import Message
from internal.errors import NotFound, Refused
from internal.flows.forgetting import bio_sentences
from internal.flows.forgetting import erase as forgetting_erase
from internal.flows.forgetting.preview import resting_on
from internal.flows.indexing.fragments import follow_messages
from internal.graph import store
from internal.graph.store import owner_node_id
from internal.knowledge import episode_repository as episodes
from internal.knowledge import fact_repository
from internal.knowledge import service as knowledge
from internal.knowledge.claims import repository as claim_repository
from internal.memory import service as memory
from internal.people import forget_repository, hidden_parts
from internal.people import service as people
from internal.storage import evidence
from internal.storage.erasure.forgettings import EVERYTHING, Forgetting, Kind
from internal.storage.evidence import Lines
from internal.storage.owner_counters import record_change


def check(connection: Connection, user_id: int, kind: Kind, ref_id: str | None) -> str | None:
    """The id of what is to be forgotten, redirects of merges followed; None for everything.

    Raises NotFound, Refused("owner") for the owner's own entity and Refused("ref_id") for an id that can be none.
    """
    if kind == "everything":
        return None
    if ref_id is None:
        raise Refused("ref_id", f"{kind}: an id is expected")
    if kind == "person":
        return str(people.person(connection, user_id, _number(ref_id)).id)
    if kind == "entity" and ref_id == owner_node_id(user_id):
        raise Refused("owner", "the owner himself is forgotten with everything")
    if kind in ("entity", "memory"):
        node = store.resolve_node(connection, user_id, ref_id)
        if node is not None:
            return node.id
    elif _is_there(connection, user_id, kind, ref_id):
        return ref_id
    raise NotFound(f"there is no {kind} {ref_id}")


def hide(connection: Connection, asked: Forgetting) -> None:
    """Takes it out of every list, search and prompt; messages are left out by `messages_to_forget`."""
    user_id, ref_id, until = asked.user_id, asked.ref_id or "", asked.due_at
    match asked.kind:
        case "everything":
            forget_repository.hide(connection, user_id, None, until)
            store.hide_nodes(connection, user_id, None, until)
            message_items.hide_all(connection, user_id)
            record_change(connection, user_id, EVERYTHING, "*")
        case "person":
            forget_repository.hide(connection, user_id, [int(ref_id)], until)
            profiles = forget_repository.profiles(connection, user_id, [int(ref_id)])
            _hide_mentioning(connection, user_id, [one.entity_id for one in profiles], until)
        case "entity":
            for fact_id in _facts_of(connection, user_id, ref_id):
                bio_sentences.hide(connection, user_id, fact_id, now=asked.created_at)
            store.hide_nodes(connection, user_id, [ref_id], until)
            _hide_mentioning(connection, user_id, [ref_id], until)
        case "memory":
            store.hide_nodes(connection, user_id, [ref_id], until)
        case "fact":
            bio_sentences.hide(connection, user_id, ref_id, now=asked.created_at)
            knowledge.hide_facts(connection, user_id, [ref_id], until)
        case "episode":
            _hide_resting(connection, asked)
            falling = knowledge.only_in_episode(connection, user_id, ref_id)
            fact_repository.hide(connection, user_id, falling, until)
            store.hide_nodes(connection, user_id, memory.only_in_episode(connection, user_id, ref_id), until)
            message_items.hide(connection, _messages_of(connection, asked))
            record_change(connection, user_id, "episode", ref_id)
        case "message":
            _hide_resting(connection, asked)
            fact_repository.hide(connection, user_id, _only_in_message(connection, user_id, ref_id), until)
            store.hide_nodes(connection, user_id, memory.only_in_messages(connection, user_id, [ref_id]), until)
            message_items.hide(connection, _messages_of(connection, asked))
            _follow(connection, user_id, ref_id)


def show(connection: Connection, asked: Forgetting) -> None:
    """Brings back what this request hid."""
    user_id, ref_id, until = asked.user_id, asked.ref_id or "", asked.due_at
    match asked.kind:
        case "everything":
            store.show_nodes(connection, user_id, None, until)
            forget_repository.show(connection, user_id, None, until)
            message_items.put_later(connection, user_id)
            record_change(connection, user_id, EVERYTHING, "*")
        case "person":
            forget_repository.show(connection, user_id, [int(ref_id)], until)
            store.show_nodes(connection, user_id, None, until)
        case "memory":
            store.show_nodes(connection, user_id, [ref_id], until)
        case "entity":
            store.show_nodes(connection, user_id, None, until)
            hidden_parts.bring_back(connection, user_id, _facts_of(connection, user_id, ref_id), now=asked.created_at)
        case "fact":
            knowledge.show_facts(connection, user_id, until)
            hidden_parts.bring_back(connection, user_id, [ref_id], now=asked.created_at)
        case "episode":
            knowledge.show_facts(connection, user_id, until)
            _show_resting(connection, asked)
            message_items.show(connection, _messages_of(connection, asked))
            record_change(connection, user_id, "episode", ref_id)
        case "message":
            knowledge.show_facts(connection, user_id, until)
            _show_resting(connection, asked)
            message_items.show(connection, _messages_of(connection, asked))
            _follow(connection, user_id, ref_id)


def _hide_resting(connection: Connection, asked: Forgetting) -> None:
    """People, things, and parts of profiles that nothing else supports are out of sight like what tells them."""
    user_id, ref_id, until, now = asked.user_id, asked.ref_id or "", asked.due_at, asked.created_at
    if asked.kind == "episode":
        places = [(ref_id, number) for number in episodes.numbers(connection, user_id, ref_id)]
        erase = partial(forgetting_erase.erase_episode, connection, user_id, ref_id, now=now)
    else:
        places = episodes.lines_of_messages(connection, user_id, [ref_id])
        erase = partial(forgetting_erase.erase_message, connection, user_id, ref_id, now=now)
    resting = resting_on(connection, user_id, places, erase)
    for before, after in resting.profiles:
        hidden_parts.put_parts(connection, before, after, forgetting_erase.aside_for(asked.kind, ref_id), now=now)
    if resting.people:
        forget_repository.hide(connection, user_id, resting.people, until)
    store.hide_nodes(connection, user_id, resting.things, until)


def _show_resting(connection: Connection, asked: Forgetting) -> None:
    store.show_nodes(connection, asked.user_id, None, asked.due_at)
    forget_repository.show(connection, asked.user_id, None, asked.due_at)
    refs = [forgetting_erase.aside_for(asked.kind, asked.ref_id or "")]
    hidden_parts.bring_back(connection, asked.user_id, refs, now=asked.created_at)


def _is_there(connection: Connection, user_id: int, kind: Kind, ref_id: str) -> bool:
    match kind:
        case "fact":
            return fact_repository.version(connection, user_id, ref_id) is not None
        case "episode":
            return episodes.episode(connection, user_id, ref_id) is not None
    return bool(dialogue.by_ids(connection, user_id, [ref_id]))


def _hide_mentioning(connection: Connection, user_id: int, entity_ids: Sequence[str], until: datetime) -> None:
    """Memories that mention what is being forgotten are forgotten with it."""
    mentioning = [node.id for node in memory.mentioning(connection, user_id, entity_ids)]
    store.hide_nodes(connection, user_id, mentioning, until)


def _messages_of(connection: Connection, asked: Forgetting) -> list[Message]:
    if asked.kind == "episode":
        return dialogue_erasing.of_episode(connection, asked.user_id, asked.ref_id or "")
    return dialogue.by_ids(connection, asked.user_id, [asked.ref_id or ""])


def _follow(connection: Connection, user_id: int, message_id: str) -> None:
    """The fragment of a message is found by it, or not any more."""
    for episode_id, _ in episodes.lines_of_messages(connection, user_id, [message_id]):
        follow_messages(connection, user_id, episode_id)


def _facts_of(connection: Connection, user_id: int, node_id: str) -> list[str]:
    return [one.fact.id for one in fact_repository.at_nodes(connection, user_id, [node_id])]


def _number(ref_id: str) -> int:
    if not (ref_id.isascii() and ref_id.isdecimal() and len(ref_id) < 19):
        raise Refused("ref_id", f"person: a number is expected, not {ref_id!r}")
    return int(ref_id)


def _only_in_message(connection: Connection, user_id: int, message_id: str) -> list[str]:
    """The facts that nothing but this message supports."""
    told = claim_repository.supported_by(connection, user_id, Lines(message_ids=[message_id]))
    edges = {claim.edge_id for claim in told if claim.edge_id is not None}
    beneath = claim_repository.of_edges(connection, user_id, edges)
    support = evidence.rows(connection, user_id, "claim", [claim.id for claim in beneath])
    messages = {claim_id: {row.message_id for row in rows} for claim_id, rows in support.items()}
    others = {claim.edge_id for claim in beneath if messages.get(claim.id) != {message_id}}
    return sorted(edges - others)
