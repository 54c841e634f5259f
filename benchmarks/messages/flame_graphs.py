"""Where the processor's time goes: flame graphs and collapsed stacks of a message, a question, a fragment and a start.

    python -m benchmarks.messages.flame_graphs [message] [question] [fragment] [start] [--folder .profile] [--least 1.0]

py-spy samples the running bot and its language process 200 times a second; what counts is a thread that holds the
interpreter's lock. For each it writes NAME.svg to look at and NAME.txt (stacks with counts for other tools), and prints
the functions that take most of the time, with their callees. A message takes the whole path (`message_cost.py`); a
question is the context assembly among 10,000 messages (`context_assembly.py`); a fragment is `laplaced archive` over
300 messages with offline models; a start is everything up to `/readyz`.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import re
import signal
import subprocess
import sys
import tempfile
from collections import Counter
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path

from benchmarks.messages.message_cost import answering
from benchmarks.messages.throughput import BOT, FIRST_USER, SETTINGS, acquaint
from benchmarks.shared.bot_process import ROOT, environment, running
from benchmarks.shared.fake_telegram import InstantTelegram
from benchmarks.shared.life_sentences import LANGUAGES
from internal.dialogue import repository as dialogue
from internal.storage.database import Database

SPY = str(Path(sys.executable).with_name("py-spy"))
MESSAGES = 300
SHOWN = 40
OUTSIDE = re.compile(r"asyncio/|threading\.py|runpy|<module>|contextlib\.py|importlib|^thread |^process ")
"""Frames of no interest in the table."""


def spying(out: Path, *more: str) -> list[str]:
    kind = "flamegraph" if out.suffix == ".svg" else "raw"
    return [
        SPY,
        "record",
        "--rate",
        "200",
        "--gil",
        "--subprocesses",
        "--nonblocking",
        "--format",
        kind,
        "-o",
        str(out),
        *more,
    ]


async def message(folder: Path) -> None:
    async with answering(1) as bot:
        spies = [await _spy_on(bot.pid, folder / f"message.{kind}") for kind in ("svg", "txt")]
        await asyncio.sleep(2)
        await bot.telegram.converse(bot.users, MESSAGES)
        for spy in spies:
            spy.send_signal(signal.SIGINT)
            await spy.wait()


async def _spy_on(pid: int, out: Path) -> asyncio.subprocess.Process:
    command = spying(out, "--pid", str(pid))
    return await asyncio.create_subprocess_exec(*command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


async def question(folder: Path) -> None:
    with tempfile.TemporaryDirectory() as filled:
        sizes = ("--sizes", "10000", "--small", "0", "--folder", filled)
        command = [sys.executable, "-m", "benchmarks.search.context_assembly", *sizes, "--rounds"]
        filling = await asyncio.create_subprocess_exec(*command, "1", cwd=ROOT, stdout=subprocess.DEVNULL)
        await filling.wait()  # so that the graph does not show how the messages were made
        await _twice(folder / "question", [*command, "200"])


async def fragment(folder: Path) -> None:
    with tempfile.TemporaryDirectory() as name:
        data = Path(name) / "data"
        await acquaint(data / "laplaced.db", [FIRST_USER], 20)
        lines = [text for language in LANGUAGES for text in _SAID[language]]
        async with Database.open(data / "laplaced.db") as database:
            for number in range(MESSAGES):
                said = partial(_say, text=lines[number % len(lines)], number=number)
                await database.write(said)
        variables = environment(data, settings={"TELEGRAM__TOKEN": SETTINGS["TELEGRAM__TOKEN"]})
        await _twice(folder / "fragment", [sys.executable, "-m", "bot", "archive"], variables)


_SAID = {
    "ru": ("Вчера виделся с Петром Ивановым, он переехал в Казань.", "Напомни купить билеты в пятницу."),
    "uk": ("Оксана тепер працює в лікарні у Львові.", "Мені подобається кава без цукру."),
    "en": ("My brother Tom was born on 3 May 1990.", "I decided to learn the cello this year."),
}


def _say(connection: object, text: str, number: int) -> None:
    now = datetime.now(UTC) - timedelta(days=1) + timedelta(minutes=number)
    dialogue.add(connection, FIRST_USER, "user", text, now=now)  # type: ignore[arg-type]
    dialogue.record_activity(connection, FIRST_USER, now)  # type: ignore[arg-type]


async def start(folder: Path) -> None:
    for kind in ("svg", "txt"):
        with tempfile.TemporaryDirectory() as name:
            data = Path(name) / "data"
            await acquaint(data / "laplaced.db", [FIRST_USER], 20)
            async with InstantTelegram() as telegram:
                variables = environment(data, settings=SETTINGS | {"TELEGRAM__API_BASE": telegram.url})
                async with running((*spying(folder / f"start.{kind}"), "--", *BOT), variables) as spy:
                    os.kill(_child(spy.pid), signal.SIGTERM)  # py-spy writes when its program has ended
                    await spy.process.wait()


async def _twice(out: Path, command: list[str], variables: dict[str, str] | None = None) -> None:
    variables = variables or environment(out.parent)
    for kind in (".svg", ".txt"):
        spied = (*spying(out.with_suffix(kind)), "--", *command)
        process = await asyncio.create_subprocess_exec(*spied, cwd=ROOT, env=variables, stdout=subprocess.DEVNULL)
        await process.wait()


def _child(pid: int) -> int:
    return int(Path(f"/proc/{pid}/task/{pid}/children").read_text(encoding="ascii").split()[0])


def table(stacks: Path, least: float) -> None:
    """Prints each function with the share of the samples in which it or what it calls was running."""
    within: Counter[str] = Counter()
    alone: Counter[str] = Counter()
    samples = 0
    for line in stacks.read_text(encoding="utf-8").splitlines():
        stack, _, count = line.rpartition(" ")
        frames = [re.sub(r":\d+\)$", ")", frame) for frame in stack.split(";")]
        samples += int(count)
        alone[frames[-1]] += int(count)
        for frame in {frame for frame in frames if not OUTSIDE.search(frame)}:
            within[frame] += int(count)
    print(f"\n{stacks.stem}: {samples} samples; % with what it calls, % alone")
    for frame, count in within.most_common(SHOWN):
        if count / samples * 100 >= least:
            print(f"{count / samples * 100:6.1f} {alone[frame] / samples * 100:6.1f}  {frame}")


def main() -> None:
    known = {"message": message, "question": question, "fragment": fragment, "start": start}
    parser = argparse.ArgumentParser(description="Flame graphs of what the bot does.")
    parser.add_argument("what", nargs="*", choices=[*known, []], default=[])
    parser.add_argument("--folder", type=Path, default=ROOT / ".profile")
    parser.add_argument("--least", type=float, default=1.0, help="smallest share that is shown, in %%")
    asked = parser.parse_args()
    asked.folder.mkdir(exist_ok=True)
    for name in asked.what or known:
        asyncio.run(known[name](asked.folder))
        table(asked.folder / f"{name}.txt", asked.least)
    print(f"\nflame graphs and stacks are in {asked.folder}")


if __name__ == "__main__":
    main()
