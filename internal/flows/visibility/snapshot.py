"""The snapshot without what is about to be forgotten or was corrected."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime

from sqlalchemy import Connection

from internal.dialogue.snapshots import repository as snapshots
from internal.dialogue.snapshots.model import EMPTY, Snapshot, SnapshotItem, SnapshotVersion
from internal.events import repository as events
from internal.flows.visibility import name_traces
from internal.flows.visibility.lines import own_messages
from internal.flows.visibility.pending_forgettings import everything_asked, messages_to_forget
from internal.graph import store
from internal.knowledge import fact_repository
from internal.people import removal_repository
from internal.storage.forgetting import forgettings, traces
from internal.storage.forgetting.forgettings import Forgetting


def shown_snapshot(connection: Connection, user_id: int) -> Snapshot:
    """The latest snapshot; empty before the first."""
    version = snapshots.current(connection, user_id)
    return EMPTY if version is None else without_hidden(connection, user_id)(version).snapshot


def without_hidden(connection: Connection, user_id: int) -> Callable[[SnapshotVersion], SnapshotVersion]:
    """A function that removes hidden items from versions of this owner's snapshot."""
    asked = forgettings.pending(connection, user_id)
    corrected = [_corrected(connection, one) for one in forgettings.replaced(connection, user_id)]
    if not asked and not corrected:
        return lambda version: version
    everything = everything_asked(connection, user_id)
    messages = messages_to_forget(connection, user_id)
    for one in asked:
        messages |= _messages_with(connection, one)
    to_forget = mentions_of_pending(connection, asked)

    def show(version: SnapshotVersion) -> SnapshotVersion:
        if everything is not None and version.created_at <= everything.created_at:
            return replace(version, snapshot=EMPTY)
        left = version.snapshot.without(messages, to_forget)
        return replace(version, snapshot=left.only(lambda item: not any(states(item) for states in corrected)))

    return show


def _corrected(connection: Connection, replaced: Forgetting) -> Callable[[SnapshotItem], bool]:
    """A test for items from before a correction that state what it replaced: in its words, or naming the old other end.

    The latter counts only in items that rest on the messages of the fact.
    """
    user_id, fact_id = replaced.user_id, replaced.ref_id or ""
    chain = [one.fact for one in fact_repository.chain(connection, user_id, fact_id)]
    old = next((one for one in chain if one.id == fact_id), None)
    if old is None:
        return lambda item: False
    holds, denied = traces.LineTest([old.fact]), chain[-1].id == old.id
    if holds(chain[-1].fact) and not denied:
        return lambda item: False
    moved = denied or chain[-1].target != old.target
    said = own_messages(connection, user_id, fact_id) if moved else ()
    names_target = name_traces.naming(name_traces.names_by_id(connection, user_id, old.target) if moved else ())

    def states(item: SnapshotItem) -> bool:
        rests_on_it = not set(said).isdisjoint(item.sources)
        return item.at <= replaced.created_at and (holds(item.text) or (rests_on_it and names_target(item.text)))

    return states


def mentions_of_pending(connection: Connection, asked: Sequence[Forgetting]) -> traces.Holds:
    """A test for texts that state a fact or memory, or name a person or thing, with a pending forgetting."""
    of_lines = traces.LineTest(line for one in asked for line in _lines(connection, one))
    of_things = name_traces.naming((name for one in asked for name in _names_of_thing(connection, one)), shortest=1)
    of_people = [_naming_person(connection, one.user_id, one.person_id) for one in asked if one.person_id is not None]
    return traces.either(of_lines, of_things, *of_people)


def _messages_with(connection: Connection, asked: Forgetting) -> set[str]:
    """The messages that state a pending fact: items that rest on them may repeat it in other words."""
    if asked.kind != "fact" or asked.ref_id is None:
        return set()
    return set(own_messages(connection, asked.user_id, asked.ref_id))


def _lines(connection: Connection, asked: Forgetting) -> list[str]:
    if asked.kind == "fact" and asked.ref_id is not None:
        chain = fact_repository.chain(connection, asked.user_id, asked.ref_id)
        return [words for one in chain for words in (one.fact.fact, one.fact.original_fact) if words]
    if asked.kind == "memory" and asked.ref_id is not None:
        node = store.get_node(connection, asked.user_id, asked.ref_id, hidden=True)
        values = node.properties.values() if node else ()
        # A single word, such as a status, occurs in unrelated texts.
        return [words for words in values if isinstance(words, str) and " " in words.strip()]
    return []


def _naming_person(connection: Connection, user_id: int, person_id: int) -> traces.Holds:
    found = removal_repository.profiles(connection, user_id, {person_id})
    names = name_traces.words_of([name for person in found for name in person.names])
    return name_traces.naming_person(names, name_traces.names_of_others(connection, user_id, {person_id}))


def _names_of_thing(connection: Connection, asked: Forgetting) -> list[str]:
    if asked.kind == "entity" and asked.ref_id is not None:
        node = store.get_node(connection, asked.user_id, asked.ref_id, hidden=True)
        return [name for name in name_traces.names_of(node) if name_traces.is_proper(name)] if node else []
    return []


def restored(connection: Connection, user_id: int, version: int, now: datetime) -> SnapshotVersion:
    """Makes an earlier version the latest again, as a new version that refers to it. Raises NotFound."""
    again = snapshots.restore(connection, user_id, version, now)
    payload = {"version": again.version, "restored_from": version}
    events.append(connection, "snapshot_restored", source=f"user:{user_id}", now=now, user_id=user_id, payload=payload)
    return without_hidden(connection, user_id)(again)
