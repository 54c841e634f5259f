"""Killed at every commit point and started again: nothing lost, nothing doubled."""

from __future__ import annotations

import asyncio
import json
import re
from datetime import UTC, datetime
from pathlib import Path

import pytest
from sqlalchemy import Connection
from support.faults.chronicle_check import broken_line
from support.faults.fault_record import proving
from support.faults.killed_bot import outside
from support.long import LONG
from support.paths import ROOT
from support.product.running_product import ARCHIVIST, ENRICHER, RERANKER, RESPONDER, SHORT_WAITS, product, until

from internal.access import repository as users, service as access
from internal.storage.crash_points import COMMIT_POINTS
from internal.storage.database import Database
from internal.storage.migration import migrate
from internal.storage.types import new_id, to_micros
from internal.tasks import repository as tasks
from internal.tasks.model import Task, TaskKind, TaskOrigin, TaskState

UNKNOWN_WINDOW = {("C5", "after"), ("C6", "before")}
"""Between C5 and C6 a reply may have been delivered without our knowing: resent once after a while, and counted."""
ONCE, IN_WINDOW = "everything once", "everything once but the reply, which is unknown, sent once more and counted"

IN_SHORT = {
    ("C1", "after"), ("C2", "before"), ("C4", "after"), ("C6", "before"), ("C7", "after"), ("C9", "before"),
    ("C10", "after"), ("C12", "before"),
}  # fmt: skip
"""Taken over, not yet stored, answered, delivered without our knowing, cut off, bought, applied, not yet mirrored."""
KILLS = [
    (point, moment)
    for point in COMMIT_POINTS
    for moment in ("before", "after")
    if point != "C13" and (LONG or (point, moment) in IN_SHORT)
]
"""Each point from both sides; in the short form of every change those between which most can go wrong."""


def test_every_commit_point_is_in_the_list() -> None:
    """The points that the product's writes name are those of the list, and processing.md describes each."""
    code = "".join(
        path.read_text(encoding="utf-8") for room in ("bot", "internal") for path in (ROOT / room).rglob("*.py")
    )
    assert set(re.findall(r'point="(C\d+)"', code)) == set(COMMIT_POINTS)
    told = re.findall(r"^\| (C\d+) \|", (ROOT / "docs/processing.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert told == list(COMMIT_POINTS)


@pytest.mark.parametrize(("point", "moment"), KILLS)
async def test_a_kill_at_a_commit_point_loses_and_doubles_nothing(tmp_path: Path, point: str, moment: str) -> None:
    """One message, one answer, one fragment, one person, one mention, wherever the process was killed."""
    with proving("kill", f"{moment} {point}", IN_WINDOW if (point, moment) in UNKNOWN_WINDOW else ONCE):
        await _kill_and_look(tmp_path, point, moment)


async def _kill_and_look(tmp_path: Path, point: str, moment: str) -> None:
    async with product(tmp_path, scripted=True, LAPLACED_DIALOGUE__IDLE_TIMEOUT="0.5s", **SHORT_WAITS) as (bot, people):
        assert people is not None
        assert bot.model is not None
        user = await people.add_user("Олена", language_code="uk")
        bot.settings["LAPLACED_ACCESS__ALLOWED_USER_IDS"] = str(user)
        if point == "C12":
            bot.settings["LAPLACED_GRAPH__MIRROR_URL"] = f"falkor+embedded://{tmp_path / 'mirror'}"
        bot.model.always(RESPONDER, "Відповідь.")
        bot.model.always(ENRICHER, {"query": "Петренко"})
        bot.model.always(RERANKER, {"people": []})
        person = {"display_name": "Петренко", "circle": "Friends", "bio": "Друг."}
        bot.model.always(ARCHIVIST, {"people_operations": [{"type": "Added", "person": person, "evidence": [1]}]})
        await people.say(user, "Зустрів Петренка, він мій друг.")

        await bot.start_until_killed(f"{point}:{moment}")
        assert await bot.ended() == -9
        sending = bool(bot.rows("SELECT 1 FROM outbox WHERE state = 'sending'"))
        assert sending or (point, moment) not in UNKNOWN_WINDOW
        seen = len(await people.bot_messages(user))
        known = bool(bot.rows("SELECT 1 FROM outbox WHERE state = 'sent'"))
        await bot.start()

        await until(lambda: bot.rows("SELECT 1 FROM vectors WHERE item LIKE 'person:%'"))
        delivered = "SELECT count(*) FROM outbox WHERE state = 'sent' HAVING count(*) = 1"
        await until(lambda: bot.rows(delivered))
        answers = await people.bot_messages(user)
        assert [answer["text"] for answer in answers] == ["Відповідь."] * (1 if known else seen + 1)
        assert sending or len(answers) == 1
        assert f"laplaced_sends_unknown_total {int(sending)}.0" in await bot.metrics()
        assert bot.rows("SELECT role, content FROM messages ORDER BY seq") == [
            ("user", "Зустрів Петренка, він мій друг."),
            ("assistant", "Відповідь."),
        ]
        assert bot.rows("SELECT count(*) FROM episodes") == [(1,)]
        await until(lambda: not bot.rows("SELECT 1 FROM runs WHERE state != 'applied'"))
        judged = bot.rows("SELECT agent, count(*) FROM runs GROUP BY agent ORDER BY agent")
        assert judged == [("analyst", 1), ("archivist", 1), ("context_manager", 1), ("task_manager", 1)]
        assert bot.rows("SELECT label FROM chronicle WHERE message_id IS NOT NULL ORDER BY n") == [
            ("Request",),
            ("Response",),
        ]
        assert bot.rows("SELECT count(*), count(closed_at) FROM sessions") == [(1, 1)]
        with outside(bot.data_dir / "laplaced.db") as database:
            assert broken_line(database, user) == []
        assert bot.rows("SELECT display_name, mention_count FROM people") == [("Петренко", 1)]
        assert bot.rows("SELECT state, count(*) FROM turns GROUP BY state") == [("closed", 1)]
        assert bot.rows("SELECT count(*) FROM inbox WHERE state = 'received'") == [(0,)]
        if point == "C12":
            line = "MATCH (e:Request)-[:NEXT]->(r:Response) RETURN e.text AS asked, r.full_text AS answered"
            code, out, _ = await bot.command("graph", "query", "--user", str(user), line)
            assert code == 0
            assert [json.loads(row) for row in out.splitlines()] == [
                {"asked": "Зустрів Петренка, він мій друг.", "answered": "Відповідь."}
            ]
        assert await bot.stop() == 0


@pytest.mark.parametrize("moment", ["before", "after"])
async def test_a_kill_when_a_task_fires_tells_of_it_once(tmp_path: Path, moment: str) -> None:
    """One firing, one notification, one message, and the next moment of what recurs."""
    with proving("kill", f"{moment} C13", ONCE):
        async with product(tmp_path, scripted=True, LAPLACED_NOTIFICATIONS__QUIET_HOURS="") as (bot, people):
            assert people is not None
            assert bot.model is not None
            user = await people.add_user("Олена", language_code="uk")
            bot.settings["LAPLACED_ACCESS__ALLOWED_USER_IDS"] = str(user)
            bot.model.always(RESPONDER, "Відповідь.")
            bot.model.always(ENRICHER, {"query": "привіт"})
            bot.model.always(RERANKER, {"people": []})
            await people.say(user, "Привіт!")
            due_at = await _owed(bot.data_dir, user)
            await bot.start_until_killed(f"C13:{moment}")
            assert await bot.ended() == -9
            fired = bot.rows("SELECT count(*) FROM task_firings")
            assert fired == bot.rows("SELECT count(*) FROM notifications") == [(int(moment == "after"),)]
            await bot.start()
            delivered = "SELECT count(*) FROM outbox WHERE state = 'sent' HAVING count(*) = 2"
            await until(lambda: bot.rows(delivered))
            told = [one["text"] for one in await people.bot_messages(user)]
            assert sorted(told) == ["Відповідь.", "🔔 Подзвонити мамі"]
            assert bot.rows("SELECT state, count(*) FROM notifications GROUP BY state") == [("sent", 1)]
            assert bot.rows("SELECT count(*) FROM task_firings") == [(1,)]
            assert bot.rows("SELECT next_at - due_at FROM tasks") == [(86_400_000_000,)]
            assert bot.rows("SELECT due_at FROM tasks") == [(due_at,)]
            said = (
                "SELECT role, content LIKE '[hidden instruction] %', count(*) FROM messages GROUP BY 1, 2 ORDER BY 1, 2"
            )
            assert bot.rows(said) == [("assistant", 0, 2), ("user", 0, 1), ("user", 1, 1)]
            assert await bot.stop() == 0


async def _owed(data_dir: Path, user_id: int) -> int:
    """A database in which a daily task of this user is due just now; when that is, in microseconds."""
    await asyncio.to_thread(data_dir.mkdir, parents=True)
    now = datetime.now(UTC).replace(microsecond=0)
    async with Database.open(data_dir / "laplaced.db") as database:
        await database.exclusive(migrate)

        def work(connection: Connection) -> None:
            access.expect(connection, user_id, admit_all=True, now=now)
            users.change(connection, user_id, lang="uk")
            task = Task(
                user_id=user_id,
                id=new_id(),
                kind=TaskKind.REMINDER,
                state=TaskState.OPEN,
                title="Подзвонити мамі",
                tz="UTC",
                origin=TaskOrigin.CHAT,
                created_at=now,
                updated_at=now,
                rev=0,
                due_at=now,
                recurrence="FREQ=DAILY",
                next_at=now,
            )
            tasks.add(connection, task)

        await database.write(work)
    return to_micros(now)
