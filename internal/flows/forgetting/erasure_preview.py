"""Finds what the pending forgettings will erase: nodes and edges of the graph, and parts of profiles.

It erases all of them in their order and rolls back, so that exactly what will be erased is hidden.
"""

from collections.abc import Iterable, Sequence
from contextlib import suppress
from datetime import datetime
from functools import partial
from itertools import groupby

from sqlalchemy import Connection

from internal.dialogue import removal_repository as dialogue_erasure
from internal.errors import Conflict
from internal.flows.forgetting.erase import erase
from internal.flows.forgetting.requested_messages import by_ids
from internal.graph.model import EDGE_CHANGE, NODE_CHANGE
from internal.people import hidden_parts, removal_repository, support
from internal.people.repository import CHANGE_KIND
from internal.storage.change_log import changed_after, last_change, noting_changes
from internal.storage.engine.savepoints import taken_back
from internal.storage.forgetting import hidings
from internal.storage.forgetting.forgettings import Forgetting
from internal.storage.forgetting.hidings import Targets

_NO_KEY = bytes(32)
"""A key without meaning: tombstones of a preview are rolled back."""

_STEPS = 8
"""The most requests that are erased singly, at some 20 ms each; of more, messages in a row are erased in one step.

Then only the last of them hides what is erased with them, and another of two equal facts may stay.
"""


def preview(
    connection: Connection, user_id: int, pending: Sequence[Forgetting], *, now: datetime
) -> dict[str, Targets]:
    """What each of these requests for less than everything will erase, by its id, if they are erased in this order.

    What is erased only because of several requests belongs to the last of them. A message being answered is not
    archived yet and supports nothing.
    """
    at_once = len(pending) > _STEPS
    found: dict[str, Targets] = {one.id: {} for one in pending}
    left: dict[str, dict[int, set[str]]] = {}
    with taken_back(connection), noting_changes():  # changes that are rolled back are not noted
        hidings.unhide_all(connection, user_id)
        hidden_parts.put_all_back(connection, user_id, now=now)
        for _, step in groupby(pending, lambda one: "message" if at_once and one.kind == "message" else one.id):
            together = list(step)
            asked, since = together[-1], last_change(connection, user_id)
            messages = hidings.of_requests(connection, user_id, [one.id for one in together], "message")
            answered = dialogue_erasure.answered(connection, user_id, by_ids(connection, user_id, messages))
            with suppress(Conflict):
                erase(connection, asked, answered, key=_NO_KEY, now=asked.created_at, wipe=False)
            changed = partial(changed_after, connection, user_id, since)
            found[asked.id] = {
                "node": set(hidings.missing_ids(connection, user_id, "node", changed(NODE_CHANGE))),
                "edge": set(hidings.missing_ids(connection, user_id, "edge", changed(EDGE_CHANGE))),
                "part": set(),
            }
            left[asked.id] = _parts(connection, user_id, map(int, changed(CHANGE_KIND)))
    before = _parts(connection, user_id, {person_id for parts in left.values() for person_id in parts})
    for forgetting_id, parts in left.items():
        for person_id, keys in parts.items():
            found[forgetting_id]["part"] |= hidden_parts.targets(person_id, before[person_id] - keys)
            before[person_id] &= keys
    return found


def _parts(connection: Connection, user_id: int, person_ids: Iterable[int]) -> dict[int, set[str]]:
    """The keys of the parts of these profiles, hidden ones included."""
    profiles = removal_repository.profiles(connection, user_id, person_ids)
    return {one.id: set(support.parts(hidden_parts.with_hidden_parts(connection, one))) for one in profiles}
