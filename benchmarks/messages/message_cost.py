"""What a message costs: processor time, statements and commits, beside the least that a bot can do.

    python -m benchmarks.messages.message_cost [--users 1 8] [--messages 400] [--window 0s] [--store postgresql://...]
        [--flows]

The path is that of `throughput.py`: the bot is a process with its database on disk; Telegram and an instant model are
another. It counts milliseconds of the processor (user and system) and statements, which other load changes little. The
bare bot (`shared/bare_bot.py`) is measured in the same run. Statements are counted in a separate run, since counting
costs time; `--flows` lists which function asked what.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import signal
import sys
import tempfile
import time
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from benchmarks.messages.throughput import ANSWERS, BOT, FIRST_USER, SETTINGS, WARM_UP, acquaint
from benchmarks.shared import figures
from benchmarks.shared.bot_process import ROOT, circumstances, cpu_seconds, environment, running
from benchmarks.shared.fake_telegram import InstantTelegram
from internal.testing import ScriptedModel

BARE = (sys.executable, "-m", "benchmarks.shared.bare_bot")
KNOWN = 20
"""People that each user knows."""

Asked = list[tuple[str, str, str, int]]
"""The flow, the function that wrote a statement, the statement, how often."""


@dataclass(frozen=True, slots=True)
class Started:
    """A bot that answers these users."""

    pid: int
    telegram: InstantTelegram
    users: Sequence[int]
    counted: Path


@asynccontextmanager
async def answering(
    users: int,
    *,
    store: str = "",
    count: bool = False,
    window: str = "0s",
    more: Callable[[Path], Awaitable[None]] | None = None,
) -> AsyncIterator[Started]:
    """A warm bot. `store` is the address of an empty PostgreSQL database; in a `window` answers are prepared.

    `more` adds other owners to the SQLite file before the bot starts.
    """
    with tempfile.TemporaryDirectory() as name:
        folder, ids = Path(name), range(FIRST_USER, FIRST_USER + users)
        (folder / "data").mkdir(mode=0o700)
        await acquaint(store or folder / "data/laplaced.db", ids, KNOWN)
        if more is not None:
            await more(folder / "data/laplaced.db")
        async with ScriptedModel(piece=1000) as model, InstantTelegram() as telegram:
            for agent, answer in ANSWERS.items():
                model.always(f"instant/{agent}", answer)
            given = {"TELEGRAM__API_BASE": telegram.url, "LLM__BASE_URL": model.url}
            given |= {"TELEGRAM__GROUP_WINDOW": window}
            given |= {"ACCESS__ALLOWED_USER_IDS": json.dumps(list(ids))} | ({"STORAGE__URL": store} if store else {})
            variables = environment(folder / "data", settings=SETTINGS | given)
            counted = folder / "counted.json"
            if count:
                variables["COUNT_STATEMENTS"] = str(counted)
            async with running(BOT, variables) as bot:
                await telegram.converse(ids, WARM_UP)
                yield Started(bot.pid, telegram, ids, counted)


async def processor(users: int, messages: int, store: str = "", window: str = "0s") -> float:
    """Seconds of the bot's processor a message."""
    async with answering(users, store=store, window=window) as bot:
        return await _spent(bot.pid, bot.telegram, bot.users, messages)


async def bare(users: int, messages: int) -> float:
    """The same of a bot that does the least."""
    ids = range(FIRST_USER, FIRST_USER + users)
    with tempfile.TemporaryDirectory() as name:
        async with ScriptedModel(piece=1000) as model, InstantTelegram() as telegram:
            model.always("instant/responder", ANSWERS["responder"])
            given = (telegram.url, model.url, f"{name}/bare.db")
            process = await asyncio.create_subprocess_exec(*BARE, *given, env=os.environ | {"PYTHONPATH": str(ROOT)})
            try:
                await telegram.converse(ids, WARM_UP)
                return await _spent(process.pid, telegram, ids, messages)
            finally:
                process.terminate()
                await process.wait()


async def _spent(pid: int, telegram: InstantTelegram, users: Sequence[int], messages: int) -> float:
    before, each = cpu_seconds(pid), messages // len(users)
    await telegram.converse(users, each)
    return (cpu_seconds(pid) - before) / (each * len(users))


async def statements(users: int, messages: int, store: str = "", window: str = "0s") -> tuple[Asked, int]:
    """What was asked while so many messages were answered."""
    async with answering(users, store=store, count=True, window=window) as bot:
        each = messages // len(bot.users)
        await _written(bot)
        await bot.telegram.converse(bot.users, each)
        return await _written(bot), each * len(bot.users)


async def _written(bot: Started) -> Asked:
    bot.counted.unlink(missing_ok=True)
    await asyncio.sleep(0.3)  # the last answer's own row is written after it arrived
    os.kill(bot.pid, signal.SIGUSR2)
    for _ in range(100):
        await asyncio.sleep(0.05)
        if bot.counted.exists():
            break
    return [(flow, function, text, times) for flow, function, text, times in json.loads(bot.counted.read_bytes())]


def _print_statements(asked: Asked, messages: int, users: int, flows: bool) -> None:
    commits = sum(times for *_, text, times in asked if text.startswith("COMMIT"))
    print(
        f"{users} users: {sum(times for *_, times in asked) / messages:.1f} statements and "
        f"{commits / messages:.2f} commits a message"
    )
    figures.keep(f"statements, {users} users", sum(times for *_, times in asked) / messages, unit="a message")
    figures.keep(f"commits, {users} users", commits / messages, unit="a message")
    if not flows:
        return
    by_flow: Counter[str] = Counter()
    for flow, _, _, times in asked:
        by_flow[flow] += times
    for flow, times in by_flow.most_common():
        print(f"{times / messages:8.2f}  {flow or 'the database itself'}")
        for of, function, text, count in asked:
            if of == flow and count / messages >= 0.02:
                print(f"          {count / messages:6.2f}  {function}  {text[:110]}")


def main() -> None:
    parser = argparse.ArgumentParser(description="What a message costs.")
    parser.add_argument("--users", type=int, nargs="+", default=[1, 8])
    parser.add_argument("--messages", type=int, default=400)
    parser.add_argument("--store", default="", help="address of an empty PostgreSQL database")
    parser.add_argument("--window", default="0s", help="telegram.group_window, in which answers are prepared")
    parser.add_argument("--flows", action="store_true", help="which function asked what")
    parser.add_argument("--only-statements", action="store_true")
    options = parser.parse_args()
    print(circumstances())
    for users in options.users:
        if not options.only_statements:
            least = asyncio.run(bare(users, options.messages))
            began = time.perf_counter()
            ours = asyncio.run(processor(users, options.messages, options.store, options.window))
            print(
                f"{users} users: {ours * 1e3:.1f} ms of the processor a message, bare bot {least * 1e3:.1f}, "
                f"ratio {ours / least:.1f}; {time.perf_counter() - began:.0f} s",
                flush=True,
            )
            figures.keep(f"processor to a bare bot's, {users} users", ours / least)
        asked, messages = asyncio.run(statements(users, options.messages // 4, options.store, options.window))
        _print_statements(asked, messages, users, options.flows)


if __name__ == "__main__":
    main()
