"""What a forgetting will erase, and hides until then: nodes and edges of the graph, and parts of profiles.

It is found by erasing and rolling back, so exactly what will be erased is hidden.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import partial

from sqlalchemy import Connection

from internal.errors import Conflict, NotFound
from internal.flows.forgetting.erase import erase
from internal.graph.model import EDGE_CHANGE, NODE_CHANGE
from internal.people import forget_repository, hidden_parts, support
from internal.people.model import Person
from internal.people.repository import CHANGE_KIND
from internal.storage.engine.savepoints import taken_back
from internal.storage.erasure import hidings
from internal.storage.erasure.forgettings import Forgetting
from internal.storage.owner_counters import changed_after, last_change, noting_changes

_NO_KEY = bytes(32)
"""No tombstone outlives a preview."""


@dataclass(frozen=True, slots=True)
class Preview:
    """The ids of nodes and edges, and for each person the keys of the parts, that will be erased."""

    nodes: Iterable[str] = ()
    edges: Iterable[str] = ()
    parts: dict[int, set[str]] = field(default_factory=dict)


def preview(connection: Connection, asked: Forgetting) -> Preview:
    """What a request for less than everything will erase, whatever other requests hide.

    Empty while it cannot be erased: a message that is being answered is not archived yet, and supports nothing.
    """
    user_id = asked.user_id
    since = last_change(connection, user_id)
    try:
        with taken_back(connection), noting_changes():  # what is taken back has not changed
            erase(connection, asked, key=_NO_KEY, now=asked.created_at, wipe=False)
            changed = partial(changed_after, connection, user_id, since)
            nodes = hidings.gone(connection, user_id, "node", changed(NODE_CHANGE))
            edges = hidings.gone(connection, user_id, "edge", changed(EDGE_CHANGE))
            after = _parts(connection, user_id, map(int, changed(CHANGE_KIND)))
    except (Conflict, NotFound):
        return Preview()
    before = _parts(connection, user_id, after)
    return Preview(nodes, edges, {person_id: before[person_id] - after[person_id] for person_id in before})


def _parts(connection: Connection, user_id: int, person_ids: Iterable[int]) -> dict[int, set[str]]:
    """The keys of the parts of these profiles, hidden ones included."""

    def keys(person: Person) -> set[str]:
        return set(support.parts(hidden_parts.whole(connection, person)))

    return {one.id: keys(one) for one in forget_repository.profiles(connection, user_id, person_ids)}
