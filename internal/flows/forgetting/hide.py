"""Hides the targets of a forgetting at once, and shows them again after an undo.

The targets are found by erasing and rolling back (`erasure_preview`), so that exactly what will be erased is
hidden.
"""

from collections.abc import Collection, Iterable, Sequence
from datetime import datetime

from sqlalchemy import Connection

from internal.artifacts import repository as artifacts
from internal.chronicle import repository as chronicle
from internal.dialogue import repository as dialogue, search_item_repository as message_items
from internal.errors import NotFound, Refused
from internal.flows.forgetting.erasure_preview import preview
from internal.flows.forgetting.requested_messages import always_taken, by_ids
from internal.flows.forgetting.shared_support_repository import sharing
from internal.flows.indexing.fragments import follow_messages
from internal.flows.visibility.pending_forgettings import messages_to_forget
from internal.graph import store
from internal.graph.store import owner_node_id
from internal.knowledge import episode_repository as episodes, fact_repository
from internal.people import hidden_parts, removal_repository, service as people
from internal.storage import search_items
from internal.storage.change_log import record_change
from internal.storage.forgetting import forgettings, hidings
from internal.storage.forgetting.forgettings import EVERYTHING, Forgetting, Kind


def check(connection: Connection, user_id: int, kind: Kind, ref_id: str | None) -> str | None:
    """The id of the target of a forgetting, with redirects of merges followed; None for everything.

    Raises NotFound, Refused("owner") for the owner's own entity and Refused("ref_id") for an invalid id.
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


def hide(connection: Connection, asked: Forgetting, messages: Collection[str] = ()) -> None:
    """Hides what a new request will erase, these messages included, from every list, search and prompt."""
    user_id = asked.user_id
    if asked.kind == EVERYTHING:
        hidings.hide_every(connection, user_id, asked.id)
        search_items.hide_kind(connection, user_id, "person")
        message_items.hide_all(connection, user_id)
        record_change(connection, user_id, EVERYTHING, "*")
        return
    add_messages(connection, asked, {*always_taken(connection, asked), *messages})


def add_messages(connection: Connection, asked: Forgetting, messages: Collection[str]) -> None:
    """Adds these messages and their files to a request, and hides what it will then erase."""
    files = [one.id for one in artifacts.of_messages(connection, asked.user_id, messages)]
    hidings.hide(connection, asked.user_id, asked.id, "message", [*messages, *files])
    message_items.hide(connection, by_ids(connection, asked.user_id, messages))
    _update_search_and_chronicle(connection, asked, messages)
    update_hidings(connection, asked.user_id, [asked], now=asked.created_at)
    together = related(connection, asked)
    if len(together) > 1:
        update_hidings(connection, asked.user_id, together, now=asked.created_at)


def show(connection: Connection, asked: Forgetting) -> None:
    """Shows what only this closed request hid."""
    user_id = asked.user_id
    ended = hidings.end_hiding(connection, user_id, asked.id)
    removal_repository.show_nodes(connection, user_id, ended["node"])
    hidden_parts.update_hidden_parts(connection, user_id, ended["part"], now=asked.created_at)
    if asked.kind == EVERYTHING:
        message_items.put_later(connection, user_id)
        record_change(connection, user_id, EVERYTHING, "*")
        return
    message_items.show(connection, by_ids(connection, user_id, ended["message"]))
    _update_search_and_chronicle(connection, asked, ended["message"])


def related(connection: Connection, asked: Forgetting) -> list[Forgetting]:
    """The pending requests, this one included, that may together erase something that each alone would leave."""
    user_id = asked.user_id
    pending = [one for one in forgettings.pending(connection, user_id) if one.kind != EVERYTHING]
    if pending == [asked]:
        return pending
    return sharing(connection, asked, pending)


def update_hidings(connection: Connection, user_id: int, asked: Sequence[Forgetting], *, now: datetime) -> None:
    """Hides exactly what these requests will erase together, such as a fact that rests on messages of two of them."""
    hidden, visible = hidings.align(connection, user_id, preview(connection, user_id, asked, now=now))
    removal_repository.drop_items(connection, user_id, hidden["node"])
    removal_repository.show_nodes(connection, user_id, visible["node"])
    hidden_parts.update_hidden_parts(connection, user_id, hidden["part"] | visible["part"], now=now)


def _is_there(connection: Connection, user_id: int, kind: Kind, ref_id: str) -> bool:
    match kind:
        case "fact":
            return fact_repository.version(connection, user_id, ref_id) is not None
        case "episode":
            return episodes.episode(connection, user_id, ref_id) is not None
    return bool(dialogue.by_ids(connection, user_id, [ref_id]))


def _update_search_and_chronicle(connection: Connection, asked: Forgetting, messages: Collection[str]) -> None:
    """Updates search and chronicle after messages were hidden or shown."""
    user_id = asked.user_id
    there = {episode_id for episode_id, _ in episodes.lines_of_messages(connection, user_id, messages)}
    if asked.kind == "episode":
        there.add(asked.ref_id or "")
        record_change(connection, user_id, "episode", asked.ref_id or "")
    for file in artifacts.of_messages(connection, user_id, messages):
        record_change(connection, user_id, "episode", file.id)
    for episode_id in sorted(there):
        follow_messages(connection, user_id, episode_id)
    _touch_events(connection, user_id, messages)


def _touch_events(connection: Connection, user_id: int, messages: Iterable[str]) -> None:
    """Marks events of messages as hidden or shown, so that the mirror and other readers of the chronicle update them.

    Marks their neighbours too, up to the next visible one, as NEXT skips hidden events.
    """
    found = set(messages)
    hidden = messages_to_forget(connection, user_id) | found
    touched: set[str] = set()
    for event in chronicle.events_of_messages(connection, user_id, found):
        touched.add(event.id)
        for step in (chronicle.event_before, chronicle.after):
            beside = step(connection, user_id, event.n)
            while beside is not None:
                touched.add(beside.id)
                beside = step(connection, user_id, beside.n) if beside.message_id in hidden else None
    chronicle.mark_changed(connection, user_id, sorted(touched))


def _number(ref_id: str) -> int:
    if not (ref_id.isascii() and ref_id.isdecimal() and len(ref_id) < 19):
        raise Refused("ref_id", f"person: a number is expected, not {ref_id!r}")
    return int(ref_id)
