"""The changes of the last week as events record them, and how each is undone.

Events hold ids and no words; the current words are read, so that nothing forgotten is shown. A change that was
undone, or replaced by a later one, is not listed any more.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, time
from enum import StrEnum
from typing import Final

from sqlalchemy import Connection

from internal.errors import LaplacedError, NotFound
from internal.events import repository as events
from internal.events.model import Event
from internal.flows.forgetting import bio_sentences, requests
from internal.flows.merging import entities, people as merging_people
from internal.flows.tasks import actions
from internal.flows.views.memory import memory_view, naming_text
from internal.graph import store
from internal.graph.labels import NODES
from internal.knowledge import service as knowledge
from internal.people import service as people
from internal.people.suggestion_repository import KEPT
from internal.storage.forgetting import forgettings
from internal.tasks import service as tasks
from internal.tasks.model import TaskState
from internal.tasks.service import TaskAuthor

WINDOW: Final = KEPT
"""How far back changes are listed."""


class ChangeKind(StrEnum):
    FACT = "fact_learned"
    CORRECTION = "fact_corrected"
    ENDED = "fact_ended"
    MEMORY = "memory_added"
    PERSON = "person_added"
    PROFILE = "person_edited"
    PEOPLE_MERGED = "people_merged"
    THINGS_MERGED = "things_merged"
    TASK = "task_opened"
    TASK_CLOSED = "task_closed"
    TASK_MOVED = "task_moved"
    FORGETTING = "forgetting"


_KINDS: Final = {
    "fact_created": ChangeKind.FACT,
    "fact_updated": ChangeKind.CORRECTION,
    "fact_closed": ChangeKind.ENDED,
    "memory_created": ChangeKind.MEMORY,
    "people_merged": ChangeKind.PEOPLE_MERGED,
    "nodes_merged": ChangeKind.THINGS_MERGED,
    "task_open": ChangeKind.TASK,
    "task_done": ChangeKind.TASK_CLOSED,
    "task_cancelled": ChangeKind.TASK_CLOSED,
    "forgetting_asked": ChangeKind.FORGETTING,
    tasks.POSTPONED: ChangeKind.TASK_MOVED,
    tasks.CHANGED: ChangeKind.TASK_MOVED,
    "agent_result": ChangeKind.PERSON,
    "contacts_imported": ChangeKind.PERSON,
    "person_changed": ChangeKind.PROFILE,
}
_TASKS: Final = frozenset({ChangeKind.TASK, ChangeKind.TASK_CLOSED, ChangeKind.TASK_MOVED})
_BESIDE: Final = frozenset({"TemporalMarker", "Contradiction"})
"""Sentences that are not memories of their own; names, such as those of sources, are not either."""


@dataclass(frozen=True, slots=True)
class Change:
    """A change; `id` names it for `undo`; `text` is its subject now; `by_owner`: not an agent or the system.

    `refs` are the ids of what changed, several if one change stored the same words more than once; `fields` are
    the edited fields of a profile.
    """

    id: str
    at: datetime
    kind: ChangeKind
    text: str
    by_owner: bool
    refs: tuple[str, ...]
    fields: tuple[str, ...] = ()


def recent(connection: Connection, user_id: int, *, now: datetime, limit: int, offset: int = 0) -> list[Change]:
    """The changes that can be undone, newest first."""
    found: list[Change] = []
    seen: set[tuple[str, str]] = set()
    for event in events.newest(connection, user_id, tuple(_KINDS), since=now - WINDOW):
        for change in _changes(connection, user_id, event):
            targets = {(_family(change.kind), ref) for ref in change.refs}
            if not targets & seen:
                found.append(change)
            seen |= targets
        if len(found) >= offset + limit:
            break
    return found[offset : offset + limit]


def undo(connection: Connection, user_id: int, change_id: str, *, now: datetime, whole_day_at: time) -> Change:
    """Undoes a change and returns it. Raises NotFound for one that is gone or was undone, Conflict for one on
    which later ones depend.
    """
    event_id, _, number = change_id.partition(".")
    event = events.get(connection, user_id, event_id)
    if event is None or event.event_type not in _KINDS or event.timestamp < now - WINDOW:
        raise NotFound("that change is not there any more")
    change = next((one for one in _changes(connection, user_id, event) if one.id == f"{event_id}.{number}"), None)
    if change is None:
        raise NotFound("that was taken back already, or changed since")
    for ref in change.refs:
        _undo_one(connection, user_id, change.kind, ref, tasks.by_owner(user_id, now, whole_day_at))
    return change


def _undo_one(connection: Connection, user_id: int, kind: ChangeKind, ref: str, author: TaskAuthor) -> None:
    now = author.now
    match kind:
        case ChangeKind.FACT:
            knowledge.retract_fact(connection, user_id, ref, now=now)
        case ChangeKind.CORRECTION:
            corrected = knowledge.fact(connection, user_id, ref)
            knowledge.undo_correction(connection, user_id, ref, now=now)
            bio_sentences.show_replaced(connection, user_id, {corrected.supersedes or ""}, now=now)
        case ChangeKind.ENDED:
            knowledge.reopen_fact(connection, user_id, ref, now=now)
        case ChangeKind.MEMORY:
            requests.ask(connection, user_id, "memory", ref, now=now)
        case ChangeKind.PERSON:
            requests.ask(connection, user_id, "person", ref, now=now)
        case ChangeKind.PROFILE:
            merging_people.undo_edit(connection, user_id, ref, now=now)
        case ChangeKind.PEOPLE_MERGED:
            merging_people.undo_merge(connection, user_id, int(ref), now=now)
        case ChangeKind.THINGS_MERGED:
            entities.split(connection, user_id, ref, now=now)
        case ChangeKind.TASK:
            actions.cancel(connection, user_id, ref, author)
        case ChangeKind.TASK_CLOSED:
            tasks.reopen(connection, user_id, ref, author)
        case ChangeKind.TASK_MOVED:
            tasks.move_back(connection, user_id, ref, author)
        case ChangeKind.FORGETTING:
            requests.append_event(connection, requests.UNDONE, requests.undo(connection, user_id, ref), now)


def _family(kind: ChangeKind) -> str:
    """The kind of thing changed: of a task that was opened and closed only the newest change can be undone."""
    return "task" if kind in _TASKS else kind.value


def _changes(connection: Connection, user_id: int, event: Event) -> Iterator[Change]:
    kind = _KINDS[event.event_type]
    if kind is ChangeKind.PROFILE and "people" in event.payload:
        kind = ChangeKind.PERSON
    same: dict[str, list[str]] = {}
    for ref in _refs(kind, event):
        try:
            text = _text(connection, user_id, kind, ref, event)
        except (LaplacedError, KeyError):
            continue  # gone, forgotten, or undone
        if text:
            same.setdefault(text, []).append(ref)
    owner, numbers = event.source == f"user:{user_id}", {ref: n for n, ref in enumerate(_refs(kind, event))}
    fields = tuple(event.payload.get("fields", ())) if kind is ChangeKind.PROFILE else ()
    for text, refs in same.items():
        yield Change(f"{event.id}.{numbers[refs[0]]}", event.timestamp, kind, text, owner, tuple(refs), fields)


def _refs(kind: ChangeKind, event: Event) -> list[str]:
    payload = event.payload
    if kind is ChangeKind.PERSON:
        return [str(person_id) for person_id in payload.get("people", ())]
    if kind is ChangeKind.FORGETTING:
        return [str((event.links or {}).get("forgetting", ""))]
    if kind is ChangeKind.PROFILE:
        return [str(payload.get("edit", ""))]
    if kind in _TASKS:
        return [str(payload.get("task", ""))]
    if kind in {ChangeKind.PEOPLE_MERGED, ChangeKind.THINGS_MERGED}:
        return [str(payload.get("source", ""))]
    return [str(ref) for ref in payload.get("ids", ())]


def _text(connection: Connection, user_id: int, kind: ChangeKind, ref: str, event: Event) -> str:
    """The current words of what changed; empty, or an error, if the change does not hold any more."""
    match kind:
        case ChangeKind.FACT | ChangeKind.CORRECTION:
            fact = knowledge.fact(connection, user_id, ref)
            meant = kind is ChangeKind.FACT or (event.source == f"user:{user_id}" and fact.supersedes is not None)
            text = fact.fact if fact.expired_at is None and meant else ""
        case ChangeKind.ENDED:
            fact = knowledge.fact(connection, user_id, ref)
            text = fact.fact if knowledge.ending_claims(connection, user_id, fact) else ""
        case ChangeKind.MEMORY:
            node = memory_view(connection, user_id, ref).node
            shown = NODES[node.label].sentence and node.label not in _BESIDE
            text = naming_text(node) if shown else ""
        case ChangeKind.PERSON | ChangeKind.PEOPLE_MERGED:
            person = people.person(connection, user_id, int(ref))
            merged = person.id != int(ref)
            text = person.display_name if merged == (kind is ChangeKind.PEOPLE_MERGED) else ""
        case ChangeKind.PROFILE:
            text = people.edited(connection, user_id, ref)[0].display_name
        case ChangeKind.THINGS_MERGED:
            thing = store.resolve_node(connection, user_id, ref)
            text = thing.name if thing is not None and thing.id != ref else ""
        case ChangeKind.FORGETTING:
            text = next((one.kind for one in forgettings.pending(connection, user_id) if one.id == ref), "")
        case ChangeKind.TASK | ChangeKind.TASK_CLOSED:
            task = tasks.task(connection, user_id, ref)
            closed = kind is ChangeKind.TASK_CLOSED
            text = task.title if task.state.closed == closed and task.state is not TaskState.PROPOSED else ""
        case ChangeKind.TASK_MOVED:
            task = tasks.task(connection, user_id, ref)
            stands = task.event_id == event.id and tasks.BEFORE in event.payload and not task.state.closed
            text = task.title if stands else ""
    return text
