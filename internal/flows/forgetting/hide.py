"""Hides at once what is to be forgotten, and shows it again after an undo."""

from __future__ import annotations

from sqlalchemy import Connection

from internal.dialogue import erase_repository as dialogue_erasing
from internal.dialogue import repository as dialogue
from internal.dialogue import search_item_repository as message_items
from internal.dialogue.model import Message
from internal.errors import NotFound, Refused
from internal.flows.forgetting.erasure_preview import preview
from internal.flows.indexing.fragments import follow_messages
from internal.graph import store
from internal.graph.store import owner_node_id
from internal.knowledge import episode_repository as episodes
from internal.knowledge import fact_repository
from internal.people import forget_repository, hidden_parts
from internal.people import service as people
from internal.storage import search_items
from internal.storage.erasure import hidings
from internal.storage.erasure.forgettings import EVERYTHING, Forgetting, Kind
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
    """Hides it from every list, search and prompt; messages are left out by `messages_to_forget`."""
    user_id = asked.user_id
    if asked.kind == "everything":
        hidings.hide_every(connection, user_id, asked.id)
        search_items.hide_kind(connection, user_id, "person")
        message_items.hide_all(connection, user_id)
        record_change(connection, user_id, EVERYTHING, "*")
        return
    found = preview(connection, asked)
    forget_repository.hide_nodes(connection, user_id, asked.id, found.nodes)
    hidings.hide(connection, user_id, asked.id, "edge", found.edges)
    hidden_parts.hide(connection, user_id, asked.id, found.parts, now=asked.created_at)
    message_items.hide(connection, _messages_of(connection, asked))
    _follow(connection, asked)


def show(connection: Connection, asked: Forgetting) -> None:
    """Shows again what this closed request hid and no other hides."""
    user_id = asked.user_id
    ended = hidings.end(connection, user_id, asked.id)
    forget_repository.show_nodes(connection, user_id, ended["node"])
    hidden_parts.show(connection, user_id, ended["part"], now=asked.created_at)
    if asked.kind == "everything":
        message_items.put_later(connection, user_id)
        record_change(connection, user_id, EVERYTHING, "*")
        return
    message_items.show(connection, _messages_of(connection, asked))
    _follow(connection, asked)


def _is_there(connection: Connection, user_id: int, kind: Kind, ref_id: str) -> bool:
    match kind:
        case "fact":
            return fact_repository.version(connection, user_id, ref_id) is not None
        case "episode":
            return episodes.episode(connection, user_id, ref_id) is not None
    return bool(dialogue.by_ids(connection, user_id, [ref_id]))


def _messages_of(connection: Connection, asked: Forgetting) -> list[Message]:
    if asked.kind == "episode":
        return dialogue_erasing.of_episode(connection, asked.user_id, asked.ref_id or "")
    return dialogue.by_ids(connection, asked.user_id, [asked.ref_id or ""]) if asked.kind == "message" else []


def _follow(connection: Connection, asked: Forgetting) -> None:
    """Makes a fragment and its messages searchable, or not, as they are now."""
    if asked.kind == "episode":
        record_change(connection, asked.user_id, "episode", asked.ref_id or "")
    if asked.kind == "message":
        for episode_id, _ in episodes.lines_of_messages(connection, asked.user_id, [asked.ref_id or ""]):
            follow_messages(connection, asked.user_id, episode_id)


def _number(ref_id: str) -> int:
    if not (ref_id.isascii() and ref_id.isdecimal() and len(ref_id) < 19):
        raise Refused("ref_id", f"person: a number is expected, not {ref_id!r}")
    return int(ref_id)
