"""Work under a trigger: every change of memory is an event with a cause, also if its code appends none."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from typing import Any, Final

from sqlalchemy import Connection

from internal.events import repository
from internal.events.repository import noting_events
from internal.events.trigger import TRIGGER, UpdateTrigger
from internal.storage.change_log import noting_changes
from internal.storage.engine.write_guard import Work, with_wrapper

_MEMORY: Final[Mapping[str, str]] = {"person": "person_changed", "node": "memory_changed", "edge": "memory_changed"}
"""The event of a change without another event, by the kind of changed row: a profile before its node."""

_NAMED: Final = 200
"""Most ids in one event: maintenance can change every link."""

_ABOUT_OTHERS: Final = ("command_", "message_", "notification_", "reaction_", "session_", "task_")
"""Prefixes of the types of events that are not about changes of memory."""


@contextmanager
def triggered_by(trigger: UpdateTrigger | None) -> Iterator[None]:
    """Makes this trigger (None: none) the cause of events in the block, also of units of work begun there.

    A unit of work that changes memory and appends no event about it gets one, in its own transaction.
    """
    before = TRIGGER.get()
    TRIGGER.set(trigger)
    try:
        with with_wrapper(None if trigger is None else partial(_recording, trigger)):
            yield
    finally:
        TRIGGER.set(before)


def _recording(trigger: UpdateTrigger, work: Work) -> Work:
    def recorded(connection: Connection) -> Any:
        with noting_changes() as changed, noting_events() as appended:
            result = work(connection)
        recorded_owners = {user_id for user_id, type in appended if not type.startswith(_ABOUT_OTHERS)}
        for user_id in dict.fromkeys(owner for owner, *_ in changed):
            ids = {kind: [ref for owner, one, ref in changed if (owner, one) == (user_id, kind)] for kind in _MEMORY}
            kinds = [kind for kind in _MEMORY if ids[kind]]
            if kinds and trigger.is_of(user_id) and user_id not in recorded_owners:
                event_type = _MEMORY[kinds[0]]
                named = list(dict.fromkeys(ref for kind in kinds if _MEMORY[kind] == event_type for ref in ids[kind]))
                payload = {"ids": named[:_NAMED]} | ({"count": len(named)} if len(named) > _NAMED else {})
                source = f"user:{user_id}"
                repository.append(
                    connection, event_type, source=source, now=trigger.at, user_id=user_id, payload=payload
                )
        return result

    return recorded
