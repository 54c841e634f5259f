"""Imports an export into a store without data of its owner: the same rows under the same ids."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from sqlalchemy import Connection

from internal.access import repository as users
from internal.access.model import Role
from internal.chronicle import audit
from internal.dialogue import search_item_repository as message_items
from internal.errors import Conflict, Refused
from internal.events import link_repository
from internal.flows.archival.ingestion import put_episode_item
from internal.flows.forgetting.hide import hide
from internal.flows.indexing.fragments import follow_messages
from internal.flows.transfer.export import FORMAT
from internal.graph import store
from internal.graph.store import owner_node_id
from internal.knowledge import episode_repository as episodes, fact_repository
from internal.memory import service as memory
from internal.people import repository as people
from internal.storage.forgetting import forgettings, hidings
from internal.storage.forgetting.hidings import DERIVED
from internal.storage.owner_counters import next_rev
from internal.storage.tables import (
    chronicle,
    claims,
    episodes as episodes_table,
    graph_nodes,
    messages,
    people as people_table,
    users as users_table,
)
from internal.storage.transfer import owner_export

_MEMORY: Final = (messages, episodes_table, people_table, graph_nodes, claims)
"""The tables that form a memory: an owner with a row in one of them has one."""


_LAST_SEGMENT: Final = 2**31 - 1


@dataclass(frozen=True, slots=True)
class ReadExport:
    """The number of stored rows of each table; all are zero, and `known` is set, if this was imported before."""

    user_id: int
    rows: Mapping[str, int]
    known: bool = False


def read_back(connection: Connection, document: Any, *, user_id: int) -> ReadExport:
    """Stores an export (parsed JSON) as it is, in one transaction; vectors and terms follow in the background.

    Does nothing if all its messages are stored already. Raises Refused("format" | "malformed" | "owner" |
    "taken"), and Conflict if the owner has another memory here.
    """
    rows = owner_export.decoded(user_id, _checked(document, user_id))
    if users_table not in rows or len(rows[users_table]) != 1:
        raise Refused("malformed", "users: exactly one row, the owner's own, is expected")
    if owner_export.holds_any(connection, user_id, _MEMORY):
        if rows.get(messages) and owner_export.holds_all(connection, user_id, rows):
            return ReadExport(user_id, {}, known=True)
        raise Conflict(
            f"user {user_id} has a memory here already: forget everything of his first, or use another store"
        )
    [owner] = rows[users_table]
    owner_export.put_user(connection, owner, role=_role(connection, owner["role"]))
    stored = owner_export.put_rows(connection, rows)
    if chronicle not in rows:  # written by a version without it
        audit.fill_from_log(connection, user_id)
    link_repository.derive(connection, user_id)
    make_findable(connection, user_id)
    _hide_as_earlier_versions(connection, user_id)
    return ReadExport(user_id, stored)


def make_findable(connection: Connection, user_id: int) -> None:
    """Recreates the search items of all data of an owner; terms and vectors follow from them."""
    for person in people.listing(connection, user_id):
        people.put_search_item(connection, person)
    for fact in fact_repository.every(connection, user_id):
        fact_repository.put_item(connection, fact)
    for node_id in store.node_ids(connection, user_id):
        if _is_found_by_itself(connection, user_id, node_id):
            store.make_findable(connection, user_id, node_id)
    for episode in episodes.listing(connection, user_id, limit=None):
        if episode.first_seq is not None:
            follow_messages(connection, user_id, episode.id)
            continue
        segments = episodes.episode_segments(connection, user_id, episode.id, 0, _LAST_SEGMENT)
        put_episode_item(connection, episode, segments, next_rev(connection, user_id))
    message_items.put_later(connection, user_id)


def _hide_as_earlier_versions(connection: Connection, user_id: int) -> None:
    """Hides the targets of forgettings in an export of a version that had no rows for them, or none for messages."""
    for asked in forgettings.pending(connection, user_id):
        kinds = ("message",) if asked.kind in ("message", "episode") else DERIVED
        if not any(hidings.of_requests(connection, user_id, [asked.id], kind) for kind in kinds):
            hide(connection, asked)


def _checked(document: Any, user_id: int) -> Mapping[str, Any]:
    if not isinstance(document, Mapping) or document.get("format") != FORMAT:
        found = document.get("format") if isinstance(document, Mapping) else None
        raise Refused("format", f"format: {FORMAT} is expected, not {found!r}")
    if document.get("user_id") != user_id:
        raise Refused("owner", f"this is the export of user {document.get('user_id')}, not of {user_id}")
    tables = document.get("tables")
    if not isinstance(tables, Mapping):
        raise Refused("malformed", "tables: an object of tables is expected")
    return tables


def _role(connection: Connection, role: str) -> str:
    """The role of the imported user: if the instance has an owner already, another owner becomes a member."""
    return Role.MEMBER.value if role == Role.OWNER.value and users.has_owner(connection) else role


def _is_found_by_itself(connection: Connection, user_id: int, node_id: str) -> bool:
    """Whether a node has a search item of its own: not a person with a profile, the owner, or a merged node."""
    node = store.get_node(connection, user_id, node_id, hidden=True)
    if node is None or not memory.is_found_by_words(node) or node_id == owner_node_id(user_id):
        return False
    return fact_repository.person_of(connection, user_id, node_id) is None
