"""What the bot has stored about a virtual user, read from its store as texts with their times."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import chain

from sqlalchemy import Connection

from internal.dialogue.notifications import repository as notifications
from internal.dialogue.notifications.model import NotificationKind, NotificationState
from internal.events import agent_state_repository as agent_state
from internal.graph import store
from internal.graph.model import Node, NodeFilter
from internal.knowledge import fact_repository
from internal.knowledge.model import Fact, FactFilter
from internal.memory.model import MEMORY_LABELS
from internal.people import repository as people
from internal.people.model import Person
from internal.tasks import repository as tasks
from internal.tasks.model import Task

_SNAPSHOT = ("context_manager", "context_snapshot")
_ALL = 100_000
_OWN = (NotificationKind.OCCASION, NotificationKind.NUDGE, NotificationKind.REMINDER)
_SENT = (NotificationState.SENT, NotificationState.MERGED)


@dataclass(frozen=True, slots=True)
class Notice:
    """A line that the bot wrote on its own initiative."""

    at: datetime
    kind: str
    text: str


@dataclass(frozen=True, slots=True)
class StoredMemory:
    """Everything derived from one owner's messages. `facts` are the current versions, those of ended facts too."""

    people: Sequence[Person]
    facts: Sequence[Fact]
    memories: Sequence[Node]
    tasks: Sequence[Task]
    snapshot: str = ""
    notices: Sequence[Notice] = ()

    def derived(self) -> list[str]:
        """Every derived text, to check that none of them contains something."""
        texts = [f"{' '.join(person.names)} {person.bio}" for person in self.people]
        texts += [fact_words(fact) for fact in self.facts]
        texts += [memory_words(node) for node in self.memories]
        texts += [f"{task.title} {task.details or ''}" for task in self.tasks]
        return [*texts, self.snapshot]


def read(connection: Connection, user_id: int, now: datetime) -> StoredMemory:
    """Reads what is stored about an owner, without what a pending forgetting hides."""
    kinds = FactFilter(include_invalid=True)
    versions = fact_repository.listing(connection, user_id, kinds, now=now, limit=_ALL)
    agent, key = _SNAPSHOT
    snapshot = agent_state.get(connection, agent_state.agent_id(agent, user_id), key)
    return StoredMemory(
        people=people.listing(connection, user_id),
        facts=[version.fact for version in versions if version.fact.expired_at is None],
        memories=store.nodes(connection, user_id, NodeFilter(labels=MEMORY_LABELS), limit=_ALL),
        tasks=tasks.listing(connection, user_id, limit=_ALL),
        snapshot=(snapshot or b"").decode("utf-8", "replace"),
        notices=_notices(connection, user_id),
    )


def _notices(connection: Connection, user_id: int) -> list[Notice]:
    sent = [one for one in notifications.listing(connection, user_id, limit=_ALL) if one.state in _SENT]
    kept = [Notice(one.decided_at, one.kind, one.text) for one in sent if one.kind in _OWN and one.decided_at]
    return sorted(kept, key=lambda one: one.at)


def fact_words(fact: Fact) -> str:
    """A fact's text and the names at its ends."""
    return f"{fact.fact} {fact.source_name} {fact.target_name}"


def memory_words(node: Node) -> str:
    """All texts of a memory's node."""
    return " ".join(chain((node.name,), (value for value in node.properties.values() if isinstance(value, str))))
