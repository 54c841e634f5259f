"""The short form of `make torture`: the same harness, a handful of kills; and whether its verdict notices anything."""

from __future__ import annotations

import asyncio
import random
import shutil
import sqlite3
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
from support.faults.killed_bot import KilledBot, outside
from support.faults.ledger import Ledger
from support.faults.torture import LIFE_S
from support.faults.verdict import Verdict, judge

KILLS, SEED = 6, "short:1"


@dataclass(frozen=True)
class Lived:
    """What is left of a bot that was killed often and came to rest."""

    ledger: Ledger
    users: list[int]
    database: Path
    chats: dict[int, list[dict[str, Any]]]
    looked: int
    broken: list[str]

    def judged(self, database: Path | None = None, chats: dict[int, list[dict[str, Any]]] | None = None) -> Verdict:
        with outside(database or self.database) as connection:
            return judge(self.ledger, self.users, connection, chats or self.chats)


@pytest.fixture(scope="module")
def lived(tmp_path_factory: pytest.TempPathFactory) -> Lived:
    return asyncio.run(_live(tmp_path_factory.mktemp("killed")))


async def _live(folder: Path) -> Lived:
    rng = random.Random(SEED)
    async with KilledBot.world(folder, SEED) as bot:
        for _ in range(KILLS):
            await bot.live(rng, rng.uniform(0, LIFE_S))
        await bot.come_to_rest()
        chats = {user: await bot.people.bot_messages(user) for user in bot.users}
        return Lived(bot.ledger, list(bot.users), bot.database, chats, bot.looked, bot.broken)


def test_kills_at_random_moments_lose_and_double_nothing(lived: Lived) -> None:
    """Killed again and again while people write, the bot comes to rest with everything done once."""
    verdict = lived.judged()
    assert verdict.violations == []
    assert verdict.messages > 5
    assert verdict.operations == verdict.fragments > 0
    assert verdict.mentions > 0
    assert verdict.facts == verdict.fragments
    assert verdict.replies > 0


def test_the_chronicle_is_one_line_after_every_kill(lived: Lived) -> None:
    """As it lies on the disk when the kill has struck, and in the end: an event for each message, in order."""
    assert lived.looked > KILLS // 2
    assert lived.broken == []
    assert lived.judged().events >= lived.judged().messages > 0


@pytest.mark.parametrize(
    ("harm", "measure"),
    [
        ("DELETE FROM messages WHERE role = 'user' AND seq = 1", "lost"),
        ("UPDATE messages SET tg_id = tg_id + 1000 WHERE role = 'user' AND seq = 1", "doubled"),
        ("UPDATE messages SET tg_id = 1000 - tg_id WHERE role = 'user'", "out_of_order"),
        ("UPDATE messages SET content = 'something else' WHERE role = 'user' AND seq = 1", None),
        ("UPDATE messages SET turn_id = NULL WHERE role = 'user' AND seq = 1", "replies_lost"),
        ("UPDATE messages SET episode_id = NULL WHERE seq = 1", None),
        ("DELETE FROM outbox WHERE turn_id IS NOT NULL", "replies_lost"),
        ("UPDATE outbox SET state = 'refused', error = '400'", "replies_lost"),
        ("UPDATE turns SET state = 'answered'", "replies_lost"),
        ("UPDATE episodes SET last_seq = last_seq + 1", None),
        ("DELETE FROM segments WHERE n = 1", None),
        ("UPDATE runs SET state = 'dead'", None),
        ("DELETE FROM people WHERE mention_count = 1", "operations_lost"),
        ("UPDATE people SET mention_count = mention_count + 1", "mentions_wrong"),
        ("DELETE FROM mentions", "mentions_wrong"),
        ("DELETE FROM claims WHERE id = (SELECT min(id) FROM claims)", "facts_wrong"),
        ("UPDATE facts SET fact = 'something else'", "facts_wrong"),
        ("DELETE FROM evidence WHERE target LIKE 'claim:%'", "facts_wrong"),
        ("UPDATE graph_edges SET expired_at = 1", "facts_wrong"),
        ("UPDATE people SET display_name = 'Nobody'", None),
        ("DELETE FROM chronicle WHERE label = 'Response'", "line_broken"),
        ("UPDATE chronicle SET n = -n", "line_broken"),
        ("UPDATE chronicle SET answers_n = NULL", "line_broken"),
        ("UPDATE chronicle SET label = 'Feedback' WHERE label = 'Request'", "line_broken"),
        ("UPDATE sessions SET id = id || '1'", "line_broken"),
        ("DELETE FROM runs WHERE agent = 'task_manager'", None),
        ("UPDATE runs SET agent = 'archivist' WHERE agent = 'context_manager'", None),
        ("DELETE FROM events WHERE event_type = 'agent_result' AND source = 'agent:TaskManager'", None),
        ("INSERT INTO task_firings SELECT user_id, id, 1, 1, id FROM episodes", None),
        ("DELETE FROM vectors", None),
        ("DELETE FROM search_items WHERE kind = 'episode'", None),
        ("UPDATE inbox SET state = 'received'", None),
        ("DELETE FROM inbox WHERE n = 1", None),
        (
            "INSERT INTO events SELECT NULL, id || 'again', user_id, timestamp, event_type, source, payload, links"
            " FROM events WHERE source = 'agent:Archivist'",
            None,
        ),
    ],
)
def test_the_verdict_notices_harm(lived: Lived, tmp_path: Path, harm: str, measure: str | None) -> None:
    """A database that is not as it ought to be is found out, and counted where there is a column for it."""
    harmed = tmp_path / "harmed.db"
    shutil.copy(lived.database, harmed)
    with closing(sqlite3.connect(harmed)) as connection, connection:
        assert connection.execute(harm).rowcount > 0
    verdict = lived.judged(harmed)
    assert verdict.violations != []
    assert measure is None or getattr(verdict, measure) > 0


def test_the_verdict_notices_a_reply_delivered_twice(lived: Lived) -> None:
    """Outside the declared window each reply is in the chat once."""
    user = next(user for user, chat in lived.chats.items() if chat)
    copy = {**lived.chats[user][-1], "message_id": 10_000}
    for chat in (lived.chats[user] + [copy] * 2, lived.chats[user][:-1]):
        assert lived.judged(chats={**lived.chats, user: chat}).violations != []


def test_the_verdict_notices_a_reply_of_the_model_that_was_applied_twice(lived: Lived, tmp_path: Path) -> None:
    """Two people of one fragment come from two replies: only one of them may have been applied."""
    harmed = tmp_path / "harmed.db"
    shutil.copy(lived.database, harmed)
    with closing(sqlite3.connect(harmed)) as connection, connection:
        names = [name for (name,) in connection.execute("SELECT display_name FROM people")]
        applied = next(name for name in names if name in lived.ledger.people)
        kept = "aliases, circle, bio, first_seen, last_seen, mention_count, rev, field_meta"
        connection.execute(
            f"INSERT INTO people(user_id, entity_id, display_name, {kept})"
            f" SELECT user_id, 'twice', 'Twice', {kept} FROM people WHERE display_name = ?",
            (applied,),
        )
    ledger = replace(lived.ledger, people=lived.ledger.people | {"Twice": lived.ledger.people[applied]})
    assert replace(lived, ledger=ledger).judged(harmed).operations_doubled == 1
