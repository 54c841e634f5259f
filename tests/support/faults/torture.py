"""Kills the bot at random moments, by the thousand, and records what came of it: `make torture`.

In batches. Each is a world of its own (data folder, Telegram, people) that lives through 50 kills, comes to rest and is
judged against the ledger. A batch that was broken off is played again from its beginning; one that is finished is a
line in FOLDER/kills.jsonl and is not repeated, so that a series goes on where it stopped. What is needed to look into a
batch that failed stays in FOLDER. The page is written again after each batch.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import shutil
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from filelock import FileLock, Timeout
from support.faults.fault_record import append, commit_here, records
from support.faults.killed_bot import BotFailed, KilledBot, Life, outside
from support.faults.reliability import KILLS, write_page
from support.faults.verdict import Verdict, judge
from support.paths import ROOT

FOLDER, PAGE = ROOT / ".torture", ROOT / "docs/reliability.md"
BATCH = 50
EVERY_WEBHOOK = 4
"""In every so many-th batch Telegram calls the bot; in the others it is polled."""
LIFE_S, STARTS = 3.0, 4.0
"""A kill comes at a moment that is uniform over the first three seconds, or, where a start takes long, over four times
as long as that: it finds recovery as well as full work."""


@dataclass(frozen=True, slots=True)
class Series:
    """So many kills from one seed. Only what people and the model do follows from it: the kills find other moments."""

    seed: int
    kills: int


@dataclass(frozen=True, slots=True)
class Batch:
    """What is recorded of one batch."""

    seed: int
    number: int
    kills: int
    before_ready: int
    stopping: int
    webhook: bool
    seconds: float
    commit: str
    verdict: Verdict

    @property
    def passed(self) -> bool:
        return not self.verdict.violations


async def play(folder: Path, seed: int, number: int, kills: int) -> Batch:
    """One batch in an empty folder. What the bot breaks is in its verdict; nothing is raised."""
    began, commit, lives = time.monotonic(), commit_here(), list[Life]()
    rng = random.Random(f"{seed}:{number}")
    webhook = number % EVERY_WEBHOOK == 0
    async with KilledBot.world(folder, f"{seed}:{number}", webhook=webhook) as bot:
        try:
            while len(lives) < kills:
                life = await bot.live(rng, rng.uniform(0, max(LIFE_S, STARTS * bot.start_s)))
                lives += [life] if life.killed else []
            await bot.come_to_rest()
            verdict = await _judged(bot)
        except BotFailed as failure:
            verdict = Verdict(violations=[str(failure)])
        if verdict.violations:
            bot.ledger.write(folder / "ledger.jsonl")
    early, late = sum(not life.was_ready for life in lives), sum(life.stopping for life in lives)
    seconds = round(time.monotonic() - began, 1)
    return Batch(seed, number, len(lives), early, late, webhook, seconds, commit, verdict)


async def _judged(bot: KilledBot) -> Verdict:
    chats = {user: await bot.people.bot_messages(user) for user in bot.users}
    with outside(bot.database) as database:
        verdict = judge(bot.ledger, list(bot.users), database, chats)
    verdict.line_broken += verdict.says(bot.broken)
    return verdict


async def torture(series: Series, folder: Path, page: Path, batch: int) -> bool:
    """Plays what is left of a series; whether all of it passed."""
    for number, kills in left(series, folder, batch):
        world = folder / f"batch-{series.seed}-{number}"
        shutil.rmtree(world, ignore_errors=True)
        world.mkdir(parents=True)
        played = await play(world, series.seed, number, kills)
        append(KILLS, asdict(played), folder)
        write_page(folder, page)
        print(_told(played, series, folder), flush=True)
        if played.passed:
            shutil.rmtree(world)
    return not any(one["verdict"]["violations"] for one in _played(series, folder))


def left(series: Series, folder: Path, batch: int) -> Iterator[tuple[int, int]]:
    """The numbers of the batches that are still to be played, with their kills."""
    done = sum(one["kills"] for one in _played(series, folder))
    number = max((one["number"] for one in _played(series, folder)), default=0)
    while done < series.kills:
        number, kills = number + 1, min(batch, series.kills - done)
        yield number, kills
        done += kills


def _played(series: Series, folder: Path) -> list[dict[str, Any]]:
    return [one for one in records(KILLS, folder) if one["seed"] == series.seed]


def _told(played: Batch, series: Series, folder: Path) -> str:
    done = sum(one["kills"] for one in _played(series, folder))
    verdict = played.verdict
    line = (
        f"{done}/{series.kills} kills, seed {series.seed}, {played.seconds / max(played.kills, 1):.1f} s a kill: "
        f"{verdict.messages} messages, {verdict.lost} lost, {verdict.doubled} doubled"
    )
    return "\n".join([line, *(f"  BROKEN: {violation}" for violation in verdict.violations)])


def begin_or_go_on(folder: Path, kills: int, seed: int | None) -> Series:
    """The series that was broken off, unless another seed is asked for; else a new one."""
    note = folder / "series.json"
    if note.exists():
        begun = Series(**json.loads(note.read_text(encoding="utf-8")))
        if seed in {None, begun.seed}:
            return begun
    series = Series(seed if seed is not None else random.SystemRandom().randrange(1, 1_000_000), kills)
    folder.mkdir(parents=True, exist_ok=True)
    note.write_text(json.dumps(asdict(series)), encoding="utf-8")
    return series


@contextmanager
def alone(folder: Path) -> Iterator[None]:
    """Two series in one folder would mix their worlds."""
    folder.mkdir(parents=True, exist_ok=True)
    try:
        with FileLock(folder / "torture.lock", timeout=0):
            yield
    except Timeout:
        raise SystemExit(f"another run uses {folder}") from None


def _absolute(path: str) -> Path:
    """The bot lives in another folder than the one this was started in."""
    return Path(path).resolve()


def main(arguments: Sequence[str]) -> int:
    """Begins a series, or goes on with the one that was broken off. Ends with 1 if anything was not as promised."""
    parser = argparse.ArgumentParser(prog="torture", description=main.__doc__)
    parser.add_argument("--kills", type=int, default=1000)
    parser.add_argument("--seed", type=int, help="of a new series, or of the one to go on with; else drawn and printed")
    parser.add_argument("--batch", type=int, default=BATCH)
    parser.add_argument("--folder", type=_absolute, default=FOLDER)
    parser.add_argument("--page", type=Path, default=PAGE)
    options = parser.parse_args(arguments)
    with alone(options.folder):
        series = begin_or_go_on(options.folder, options.kills, options.seed)
        print(f"{series.kills} kills, seed {series.seed}; records in {options.folder}", flush=True)
        try:
            passed = asyncio.run(torture(series, options.folder, options.page, options.batch))
        except KeyboardInterrupt:
            print("broken off; the same command goes on", file=sys.stderr)
            return 130
        (options.folder / "series.json").unlink()
    return 0 if passed else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
