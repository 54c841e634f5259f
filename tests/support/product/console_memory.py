"""A life to look at: Clara, of whom there is something on every page."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, time, timedelta
from typing import Any, Final
from zoneinfo import ZoneInfo

from sqlalchemy import Connection

from internal.access import repository as users
from internal.access.model import Role, User, UserState
from internal.chronicle import service as chronicle
from internal.dialogue import repository as dialogue
from internal.dialogue.mailbox import repository as mailbox
from internal.dialogue.mailbox.model import InboxState
from internal.dialogue.notifications import repository as notifications
from internal.dialogue.notifications.model import NotificationKind
from internal.dialogue.snapshots import repository as snapshots
from internal.dialogue.snapshots.model import Snapshot, SnapshotItem
from internal.flows.sessions.lifecycle import UNJUDGED
from internal.graph import store
from internal.knowledge import episode_repository as episodes, service as knowledge
from internal.knowledge.claims.changes import ClaimLine, NewClaim
from internal.knowledge.model import Episode, Segment
from internal.scheduling import run_repository as runs
from internal.storage import search_items
from internal.storage.tables import graph_nodes
from internal.storage.types import new_id
from internal.tasks import service as tasks
from internal.tasks.model import Schedule, TaskKind

CLARA: Final = 400
ZONE: Final = "Europe/Kyiv"
HOSTILE: Final = "<script>document.title='pwned'</script>"

_FACTS: Final = (
    ("Clara", "MENTORS", "Marek", "Clara mentors Marek, who joined the team in September", 3),
    ("Clara", "ALLERGIC_TO", "Penicillin", "Clara is allergic to penicillin", 8),
    ("Marek", "LIVES_IN", "Kraków", "Marek lives in Kraków with his sister", 12),
    ("Clara", "WORKS_FOR", "Meridian", "Clara works for Meridian as a structural engineer", 31),
    ("Oksana", "SISTER_OF", "Clara", "Oksana is Clara's younger sister; she studies medicine in Lviv", 44),
    ("Clara", "PREFERS", "Morning flights", "Clara prefers morning flights and aisle seats", 60),
    ("Clara", "OWNS", "Biscuit", f"Clara has a dog named Biscuit {HOSTILE}", 95),
)

_TALKS: Final[Sequence[tuple[int, Sequence[tuple[str, str]], tuple[str, list[str], list[str]]]]] = (
    (
        6,
        (
            ("Can you draft a polite mail to the landlord about the leaking window?", "Of course. Here is a draft: …"),
            ("Too formal. Make it shorter.", "Shorter: “Hello Mr Bartoš, the kitchen window leaks when it rains. …”"),
        ),
        ("partially_correct", ["The first draft ignored that the owner likes short mails."], ["Keep mails short."]),
    ),
    (
        2,
        (("When is Oksana's exam?", "On Friday the 27th, at nine in the morning, anatomy."),),
        ("correct", [], ["Name the hour as well as the day."]),
    ),
    (
        1,
        (("How many days are left until the conference?", "Nineteen."), ("It is twelve.", "You are right: twelve.")),
        ("incorrect", ["Counted from a wrong date."], ["Look at today's date before counting days."]),
    ),
)

_MEMORIES: Final = (
    ("The bridge in Brno was the first project Clara signed alone", 320, 260, 2, 0.95),
    ("Clara wants to run a half marathon in spring", 140, 20, 6, 0.9),
    ("Biscuit is afraid of thunder", 95, None, 0, 0.8),
    ("The landlord answers mails within two days", 60, 6, 3, 0.7),
    ("Coffee after four keeps Clara awake", 210, 190, 1, 0.85),
    ("Oksana's exams end in December", 44, 2, 4, 0.9),
    ("A café near the station has good poppy seed cake", 400, None, 0, 0.6),
    ("Marek is shy in meetings, and writes well", 33, 3, 5, 0.8),
)

_AGENTS: Final = (("responder", 0.0124), ("archivist", 0.0058), ("analyst", 0.0031), ("task_manager", 0.0012))


def furnish_clara(connection: Connection, now: datetime) -> None:
    """She has written for a year; `now` is the product's own time."""
    known = User(CLARA, Role.MEMBER, UserState.ACTIVE, "Clara Moreau", None, "en", ZONE, True, now, {})
    users.add(connection, known)
    _learn(connection, now)
    _talk(connection, now)
    _plan(connection, now)
    _weigh(connection, now)
    _keep_in_mind(connection, now)
    _remember(connection, now)
    _spend(connection, now)
    dialogue.record_activity(connection, CLARA, now)


def trouble(connection: Connection, now: datetime) -> None:
    """What an admin has to look after: a run that was given up, and an update nobody could read."""
    [episode] = episodes.listing(connection, CLARA, limit=1)
    runs.create(connection, CLARA, "archivist", episode.id, [(1, 1)], rev=1, now=now)
    [run] = runs.of_agent(connection, CLARA, "archivist")
    runs.park(connection, run, now, "the model's reply was no JSON, five times")
    [row] = mailbox.receive(connection, 7, [(4711, '{"update_id": 4711, "poll": {}}')], now)
    mailbox.mark_processed(connection, row.n, InboxState.QUARANTINED, error="KeyError: 'question'", keep_raw=True)


def _learn(connection: Connection, now: datetime) -> None:
    nodes: dict[str, str] = {}
    for source, relation, target, fact, days in _FACTS:
        at = now - timedelta(days=days)
        for name in (source, target):
            if name not in nodes:
                told = {"name": name, "type": "concept"}
                nodes[name] = store.add_node(connection, CLARA, "Entity", told, now=at).id
        episode = Episode(
            user_id=CLARA,
            id=new_id(),
            source="text",
            name=f"Notes of {at:%d %B}",
            content=fact,
            source_description="notes",
            source_url="https://example.org/notes",
            reference_time=at,
            created_at=at,
        )
        claim = NewClaim(
            source=nodes[source],
            relation=relation,
            target=nodes[target],
            fact=fact,
            said_at=at,
            valid_at=at,
            valid_stated=True,
            episode_id=episode.id,
            lines=[ClaimLine(1, fact)],
        )
        episodes.add_episode(connection, episode, [Segment(1, at, f"{fact}.", None)])
        search_items.save_search_item(connection, CLARA, "episode", episode.id, fact, 1)
        knowledge.record_claims(connection, CLARA, [claim], now=at)


def _talk(connection: Connection, now: datetime) -> None:
    for days, exchanges, (verdict, errors, lessons) in _TALKS:
        at = now - timedelta(days=days)
        for words, reply in exchanges:
            at += timedelta(minutes=2)
            asked = dialogue.add(connection, CLARA, "user", words, now=at)
            UNJUDGED.heard(connection, asked, tz=ZONE, now=at)
            at += timedelta(seconds=20)
            said = dialogue.add(connection, CLARA, "assistant", reply, now=at)
            event = UNJUDGED.answered(connection, said, [asked], tz=ZONE, now=at)
        UNJUDGED.close(connection, CLARA, at)
        told: dict[str, Any] = {"verdict": verdict, "errors": errors, "rules_used": [], "rules_ignored": []}
        more: dict[str, Any] = {"now": at, "run_id": None}
        session = event.session_id
        chronicle.analyse(
            connection, CLARA, session, "response_analysis", told | {"lessons": []}, answers_n=event.n, **more
        )
        chronicle.analyse(
            connection, CLARA, session, "session_summary", told | {"lessons": lessons}, answers_n=None, **more
        )


def _plan(connection: Connection, now: datetime) -> None:
    teller = tasks.by_owner(CLARA, now, time(9))
    day, hour = timedelta(days=1), timedelta(hours=1)
    wanted: Sequence[tuple[str, timedelta | None, dict[str, Any]]] = (
        ("Call the landlord about the window", -2 * hour, {}),
        ("Take Biscuit to the vet", 3 * hour, {"kind": TaskKind.REMINDER}),
        ("Send Marek the load calculations", day, {"kind": TaskKind.PROMISE, "details": "The bridge in Brno, part 2"}),
        ("Water the plants", 2 * day, {"recurrence": "FREQ=WEEKLY"}),
        ("Book the flight to Lisbon", 6 * day, {"proposed": True}),
        ("Read the new Eurocode", None, {}),
    )
    for title, due, more in wanted:
        schedule = Schedule(None if due is None else now + due, False, more.pop("recurrence", None), ZONE)
        tasks.open_task(connection, CLARA, tasks.NewTask(title, schedule, **more), teller)
    over = tasks.open_task(connection, CLARA, tasks.NewTask("Renew the passport", Schedule(tz=ZONE)), teller)
    tasks.mark_done(connection, CLARA, over.id, teller)


def _weigh(connection: Connection, now: datetime) -> None:
    def wanted(text: str, kind: NotificationKind, hours: float, **more: Any) -> str:
        at = now - timedelta(hours=hours)
        made = notifications.generate(connection, CLARA, kind, text, now=at, dedupe=text, **more)
        assert made is not None
        return made

    def told(found: str, *merged: str) -> None:
        said = dialogue.add(connection, CLARA, "assistant", "By the way …", now=now)
        reason = "nothing speaks against it; both are about the same trip"
        notifications.mark_sent(connection, CLARA, found, merged=merged, message_id=said.id, reason=reason, now=now)

    kind = NotificationKind
    trip = wanted("Passport: pick it up", kind.REMINDER, 20)
    told(trip, wanted("Flight to Lisbon: check in", kind.REMINDER, 19))
    wanted("Did you mean “Book the flight to Lisbon”?", kind.CONFIRM, 0.2)
    late = wanted("Call the landlord about the window", kind.REMINDER, 2)
    until = now + timedelta(hours=7)
    notifications.defer(connection, CLARA, [late], until, "quiet hours until 8:00", now)
    gone = wanted("Buy milk", kind.REMINDER, 30)
    notifications.drop(connection, CLARA, [gone], "she said an hour ago that she bought it", now)


def _keep_in_mind(connection: Connection, now: datetime) -> None:
    who = [SnapshotItem("Structural engineer at Meridian; allergic to penicillin", now - timedelta(days=9))]
    threads = [SnapshotItem("Landlord has not answered about the leaking window", now - timedelta(days=6))]
    current: list[SnapshotItem] = []
    for days, part, text in (
        (5, who, "Younger sister Oksana studies medicine in Lviv"),
        (2, current, "Prepares a talk for the conference in Lisbon"),
        (0, threads, "Marek waits for the load calculations"),
    ):
        at = now - timedelta(days=days)
        part.append(SnapshotItem(text, at))
        snapshots.add(connection, CLARA, Snapshot(tuple(who), tuple(current), tuple(threads)), now=at)


def _remember(connection: Connection, now: datetime) -> None:
    made = []
    for words, created, used, times, confidence in _MEMORIES:
        at = now - timedelta(days=created)
        told = {"content": words, "summary": words, "confidence": confidence}
        node = store.add_node(connection, CLARA, "Memory", told, now=at)
        last = None if used is None else now - timedelta(days=used)
        changed = graph_nodes.update().where(graph_nodes.c.user_id == CLARA, graph_nodes.c.id == node.id)
        connection.execute(changed.values(access_count=times, last_accessed=last))
        made.append(node.id)
    for one, other, strength in ((0, 1, 0.4), (3, 5, 0.7), (5, 7, 0.9)):
        told = {"strength": strength}
        store.add_edge(connection, CLARA, "RELATES_TO", made[one], made[other], told, now=now)


def _spend(connection: Connection, now: datetime) -> None:
    today = now.astimezone(ZoneInfo(ZONE)).date()
    for days in range(30):
        day = (today - timedelta(days=days)).isoformat()
        for place, (agent, price) in enumerate(_AGENTS):
            share = 1 + (days * 7 + place * 3) % 5
            users.add_spend(connection, CLARA, day, agent, tokens=1500 * share, cost_usd=price * share)
