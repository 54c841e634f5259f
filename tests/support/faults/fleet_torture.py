"""Kills four workers of one PostgreSQL store at random, and restarts and cuts it in between: a part of `make torture`.

In batches, each a world of its own that comes to rest, is moved into a file by `laplaced migrate-store` and judged like
a single bot's: against the ledger, and with what Telegram delivered. A finished batch is a line in FOLDER/fleet.jsonl.
"""

from __future__ import annotations

import argparse
import asyncio
import random
import shutil
import sys
import time
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from support.faults.fault_record import append, commit_here
from support.faults.fleet import WORKERS, Fleet
from support.faults.killed_bot import BotFailed, outside
from support.faults.reliability import FLEET, write_page
from support.faults.torture import FOLDER, PAGE, alone
from support.faults.verdict import Verdict, judge

BATCH = 20


async def play(folder: Path, seed: int, number: int, kills: int) -> dict[str, object]:
    """One batch in an empty folder, as it is recorded. What breaks is in its verdict; nothing is raised."""
    began, commit = time.monotonic(), commit_here()
    rng = random.Random(f"fleet:{seed}:{number}")
    async with Fleet.world(folder, f"fleet:{seed}:{number}") as fleet:
        try:
            await fleet.live(rng, kills)
            await fleet.come_to_rest()
            verdict = await judged(fleet)
        except BotFailed as failure:
            verdict = Verdict(violations=[str(failure)])
        if verdict.violations:
            fleet.bot.ledger.write(folder / "ledger.jsonl")
        blows = asdict(fleet.blows)
    told = {"seed": seed, "number": number, "workers": WORKERS, **blows, "commit": commit}
    return {**told, "seconds": round(time.monotonic() - began, 1), "verdict": asdict(verdict)}


async def judged(fleet: Fleet) -> Verdict:
    """The verdict on a fleet that has come to rest and was stopped."""
    chats = {user: await fleet.bot.people.bot_messages(user) for user in fleet.bot.users}
    with outside(await fleet.moved()) as database:
        return judge(fleet.bot.ledger, list(fleet.bot.users), database, chats)


async def torture(seed: int, kills: int, folder: Path, page: Path) -> bool:
    """Plays so many kills; whether all of it passed."""
    passed = True
    for number in range(1, -(-kills // BATCH) + 1):
        world = folder / f"fleet-{seed}-{number}"
        shutil.rmtree(world, ignore_errors=True)
        world.mkdir(parents=True)
        played = await play(world, seed, number, min(BATCH, kills - (number - 1) * BATCH))
        append(FLEET, played, folder)
        write_page(folder, page)
        print(played, flush=True)
        violations = played["verdict"]["violations"]  # type: ignore[index]
        passed = passed and not violations
        if not violations:
            shutil.rmtree(world)
    return passed


def main(arguments: Sequence[str]) -> int:
    """Ends with 1 if anything was not as promised."""
    parser = argparse.ArgumentParser(prog="fleet_torture", description=main.__doc__)
    parser.add_argument("--kills", type=int, default=100)
    parser.add_argument("--seed", type=int, default=None)
    parser.add_argument("--folder", type=lambda path: Path(path).resolve(), default=FOLDER)
    parser.add_argument("--page", type=Path, default=PAGE)
    options = parser.parse_args(arguments)
    seed = options.seed if options.seed is not None else random.SystemRandom().randrange(1, 1_000_000)
    with alone(options.folder):
        return 0 if asyncio.run(torture(seed, options.kills, options.folder, options.page)) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
