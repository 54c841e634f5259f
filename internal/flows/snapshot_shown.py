"""The snapshot as prompts and screens may show it: without what is about to be forgotten, however it was put there."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import datetime

from sqlalchemy import Connection

from internal.events import repository as events
from internal.flows import namings
from internal.flows.forgetting import everything_asked, messages_to_forget
from internal.flows.witnesses import own_messages
from internal.graph import store
from internal.knowledge import fact_repository
from internal.people import forget_repository
from internal.snapshots import repository as snapshots
from internal.snapshots.model import EMPTY, Snapshot, Version
from internal.storage import erasure, traces
from internal.storage.erasure import Forgetting


def shown_snapshot(connection: Connection, user_id: int) -> Snapshot:
    """The latest one; empty before the first."""
    version = snapshots.current(connection, user_id)
    return EMPTY if version is None else veiled(connection, user_id)(version).snapshot


def veiled(connection: Connection, user_id: int) -> Callable[[Version], Version]:
    """What makes versions of this owner fit to be shown."""
    asked = erasure.pending(connection, user_id)
    if not asked:
        return lambda version: version
    everything = everything_asked(connection, user_id)
    messages = messages_to_forget(connection, user_id)
    lines: list[str] = []
    names: list[str] = []
    for one in asked:
        messages |= _told_in(connection, one)
        lines += _lines(connection, one)
        names += _names(connection, one)
    of_lines, of_names = traces.Lines(lines), traces.name_pattern(names)

    def show(version: Version) -> Version:
        if everything is not None and version.created_at <= everything.created_at:
            return replace(version, snapshot=EMPTY)
        left = version.snapshot.without(messages, lambda text: of_lines(text) or of_names(text))
        return replace(version, snapshot=left)

    return show


def _told_in(connection: Connection, asked: Forgetting) -> set[str]:
    """The messages that tell a fact: what rests on them may tell it in other words."""
    if asked.kind != "fact" or asked.ref_id is None:
        return set()
    return set(own_messages(connection, asked.user_id, asked.ref_id))


def _lines(connection: Connection, asked: Forgetting) -> list[str]:
    if asked.kind == "fact" and asked.ref_id is not None:
        return [one.fact.fact for one in fact_repository.chain(connection, asked.user_id, asked.ref_id)]
    if asked.kind == "memory" and asked.ref_id is not None:
        node = store.get_node(connection, asked.user_id, asked.ref_id, hidden=True)
        return [str(value) for value in node.properties.values() if isinstance(value, str)] if node else []
    return []


def _names(connection: Connection, asked: Forgetting) -> list[str]:
    if asked.person_id is not None:
        found = forget_repository.profiles(connection, asked.user_id, {asked.person_id})
        return sorted(namings.words_of([name for person in found for name in person.names]))
    if asked.kind == "entity" and asked.ref_id is not None:
        node = store.get_node(connection, asked.user_id, asked.ref_id, hidden=True)
        return [name for name in namings.names_of(node) if namings.is_proper(name)] if node else []
    return []


def restored(connection: Connection, user_id: int, version: int, now: datetime) -> Version:
    """Makes an earlier version the latest again, as a new one that names it. Raises NotFound."""
    again = snapshots.restore(connection, user_id, version, now)
    events.append(
        connection,
        "snapshot_restored",
        source=f"user:{user_id}",
        now=now,
        user_id=user_id,
        payload={"version": again.version, "restored_from": version},
    )
    return veiled(connection, user_id)(again)
