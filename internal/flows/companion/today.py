"""The agenda of a day or a week: tasks, occasions, promises both ways, people to be in touch with, open questions."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from typing import Final
from zoneinfo import ZoneInfo

from sqlalchemy import Connection

from internal.access.model import User
from internal.flows.companion.contacts import with_person
from internal.flows.companion.occasions import UpcomingOccasion, coming, local_day
from internal.graph import store
from internal.graph.model import Node, NodeFilter
from internal.tasks import repository as tasks
from internal.tasks.model import Task, TaskKind, TaskState

WEEK: Final = 7
_QUESTIONS: Final = 5


@dataclass(frozen=True, slots=True)
class Agenda:
    """The days from `first` to `last`, both included. Tasks are due by then or overdue; promises may be undated."""

    first: date
    last: date
    tasks: Sequence[Task]
    occasions: Sequence[UpcomingOccasion]
    promises: Sequence[Task]
    waiting: Sequence[Task]
    contacts: Sequence[Task]
    questions: Sequence[Node]

    @property
    def empty(self) -> bool:
        return not any((self.tasks, self.occasions, self.promises, self.waiting, self.contacts, self.questions))

    @property
    def people(self) -> Iterable[int]:
        """The people whom the agenda names, in order."""
        named = [one.person_id for one in self.occasions]
        named += [one.person_id for one in (*self.tasks, *self.promises, *self.waiting, *self.contacts)]
        return dict.fromkeys(one for one in named if one is not None)


def agenda(connection: Connection, user: User, *, now: datetime, days: int = 1) -> Agenda:
    """The agenda of the next days, beginning with today."""
    first = local_day(user, now)
    last = first + timedelta(days=days - 1)
    end = datetime.combine(last + timedelta(days=1), time(), ZoneInfo(user.tz))
    known = [one for one in tasks.pending(connection, user.user_id) if one.state is TaskState.OPEN]
    due = [one for one in known if one.when is not None and one.when < end]
    wanted = NodeFilter(labels=["Question"], status="open")
    return Agenda(
        first,
        last,
        tasks=[one for one in due if one.kind in (TaskKind.TASK, TaskKind.REMINDER)],
        occasions=coming(connection, user, first, last, now=now),
        promises=[one for one in known if one.kind is TaskKind.PROMISE and (one in due or one.when is None)],
        waiting=[with_person(connection, one) for one in known if one.kind is TaskKind.WAITING],
        contacts=[one for one in due if one.kind is TaskKind.CONTACT],
        questions=store.nodes(connection, user.user_id, wanted, limit=_QUESTIONS),
    )
