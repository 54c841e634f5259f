"""Many at once, and one without end: all are answered in order, nobody is starved, memory stays bounded."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator

import pytest
import pytest_asyncio
from support.faults.fault_record import proving, record
from support.faults.fault_stage import Stage, quiet, under_faults
from support.long import LONG
from support.patience import PATIENCE_S
from support.product.running_product import RESPONDER, until

from internal.testing import Asked

pytestmark = pytest.mark.asyncio(loop_scope="module")

CROWD = 500 if LONG else 60
FLOOD = 1000 if LONG else 150
SENT_A_SECOND = 25
"""What Telegram lets a bot send to all its chats."""

GROWTH_MB = 220 if LONG else 120
"""A prompt, a turn, a message and a small search index of each are below; each of them kept for ever would not be."""


def resident_mb(stage: Stage) -> float:
    """What the bot's process holds in memory now."""
    assert stage.bot.process is not None
    with open(f"/proc/{stage.bot.process.pid}/status", encoding="ascii") as status:
        (line,) = [line for line in status if line.startswith("VmRSS:")]
    return int(line.split()[1]) / 1024


def echo(asked: Asked) -> str:
    """The last words of the owner, so that every answer tells what it answers."""
    return f"You said: {asked.messages[-1]['content'].split(']')[-1].strip()[-60:]}"


async def test_a_crowd_at_once(stage: Stage) -> None:
    """Everybody writes at the same moment, every second one twice: all words stored in order, all are answered.

    The last of them waits for no longer than Telegram's own limit makes him wait, and somewhat.
    """
    with proving("load", f"{CROWD} people at once", "all answered, each in order, nobody starved, memory bounded"):
        before = resident_mb(stage)
        people = [await stage.newcomer(f"Person {number}") for number in range(CROWD)]
        said = {user: [f"Hello from {user}, {n}" for n in range(1 + number % 2)] for number, user in enumerate(people)}
        begun = time.monotonic()
        answered = asyncio.create_task(_answered(stage, {user: texts[-1] for user, texts in said.items()}))
        await asyncio.gather(*(_say_all(stage, user, said[user]) for user in people))
        waits = sorted(at - begun for at in await answered)
        stored: dict[int, list[str]] = {}
        for user, content in stage.bot.rows("SELECT user_id, content FROM messages WHERE role = 'user' ORDER BY seq"):
            stored.setdefault(user, []).append(content)
        assert {user: stored[user] for user in people} == said
        closed = "SELECT user_id, count(*) FROM turns WHERE state = 'closed' GROUP BY user_id"
        answers: dict[int, int] = {}
        async with asyncio.timeout(PATIENCE_S):  # a turn is closed by the commit after its answer arrived at Telegram
            while not answers.keys() >= set(people):  # others have written before them
                answers = dict(stage.bot.rows(closed))  # type: ignore[arg-type] # rows of two
                await asyncio.sleep(0.02)
        assert all(1 <= answers[user] <= len(said[user]) for user in people)
        owed = sum(answers[user] for user in people)
        limit = 3 * owed / SENT_A_SECOND + 30
        assert waits[-1] < limit
        assert resident_mb(stage) - before < GROWTH_MB
    figures = f"half answered within {waits[len(waits) // 2]:.0f} s, the last after {waits[-1]:.0f} s"
    record("load", f"{CROWD} people at once: how long they wait", figures)


async def _say_all(stage: Stage, user: int, texts: list[str]) -> None:
    for text in texts:
        await stage.people.say(user, text)


async def _answered(stage: Stage, last: dict[int, str]) -> list[float]:
    """When the last message of each of these people was answered; all are watched by one look, which costs little."""
    waiting, seen, moments = dict(last), 0, []
    async with asyncio.timeout(240):
        while waiting:
            sent = await stage.people.request("GET", "/ledger", method="sendMessage", after=seen)
            for call in sent["calls"]:
                seen = call["seq"]
                if call["chat_id"] in waiting and waiting[call["chat_id"]] in call["request"]["text"]:
                    del waiting[call["chat_id"]]
                    moments.append(time.monotonic())
            await asyncio.sleep(0.2)
    return moments


@pytest.mark.long
async def test_one_who_never_stops(stage: Stage) -> None:
    """So many messages of one user, as fast as they go: each is in the log once, in order; another is not kept waiting.

    What he said is archived in slices meanwhile, each of them read once.
    """
    with proving("load", "one user writes without a pause", "every message in the log, in order; others go on"):
        user, other = await stage.newcomer(), await stage.newcomer()
        before = resident_mb(stage)
        texts = [f"Message {number} of many" for number in range(FLOOD)]
        writing = asyncio.create_task(_say_all(stage, user, texts))
        begun = time.monotonic()
        assert "Am I heard?" in await stage.ask(other, "Am I heard?")
        assert time.monotonic() - begun < 15
        await writing
        query = "SELECT count(*) FROM messages WHERE user_id = ? AND role = 'user' HAVING count(*) = ?"
        await stage.until_rows(query, user, FLOOD)
        stored = stage.bot.rows("SELECT content FROM messages WHERE user_id = ? AND role = 'user' ORDER BY seq", user)
        assert [text for (text,) in stored] == texts
        # Telegram takes one message a second: the answers are waited for, their delivery is not.
        busy = (
            "SELECT 1 FROM turns WHERE user_id = :u AND state NOT IN ('answered', 'closed') UNION ALL "
            "SELECT 1 FROM messages WHERE user_id = :u AND episode_id IS NULL UNION ALL "
            "SELECT 1 FROM runs WHERE user_id = :u AND state != 'applied'"
        ).replace(":u", str(user))
        await until(lambda: not stage.bot.rows(busy))
        numbers = [int(text.split("Message ")[1].split()[0]) for text in await stage.seen(user)]
        assert numbers == sorted(numbers)
        assert len(numbers) == len(set(numbers)) > 0
        slices = stage.bot.rows("SELECT count(*) FROM segments WHERE user_id = ?", user)
        spoken = stage.bot.rows("SELECT count(*) FROM messages WHERE user_id = ?", user)
        assert slices == spoken
        assert resident_mb(stage) - before < GROWTH_MB


# -- the product -------------------------------------------------------------------------------------------------------


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def stage(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Stage]:
    async with under_faults(tmp_path_factory.mktemp("load"), LAPLACED_AGENTS__RESPONDER__TIMEOUT="60s") as running:
        running.model.always(RESPONDER, echo)
        quiet(running.model)
        await running.bot.start()
        await running.ask(await running.newcomer(), "Warm")
        yield running
