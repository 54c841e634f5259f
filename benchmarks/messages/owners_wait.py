"""How much longer one owner waits for an answer while the bot works on another owner's hostile message.

    python -m benchmarks.messages.owners_wait [--seconds 20]

The wait runs from the update to the answer, without a model: rules and the built-in embedding, in one language process.
The bot is a real process; Telegram is another, over HTTP on loopback. One owner asks short questions all the time.
Another writes one message of some 4,000 characters that is chosen to cost as much as possible; it is answered, archived
after three seconds, analysed and embedded. The ratio compares the first owner's waits with those before that message in
the same run.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import statistics
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

from benchmarks.shared import figures
from benchmarks.shared.bot_process import circumstances, environment, running
from benchmarks.shared.fake_telegram import TOKEN, InstantTelegram

BOT = (sys.executable, "-m", "benchmarks.shared.unlimited_bot")
HOSTILE, ASKING = 5_001, 5_002
PAUSE = 0.1
MESSAGES = {
    "separators": "a-b" * 1360,
    "combining marks": "e\u0301" * 2000,
    "expanding letters": "\ufdfa" * 4000,
    "one long word": "я" * 4000,
    "what is liked": "я люблю " * 500,
    "abbreviations": "A. B. " * 680,
    "names": ", ".join(f"Анна {a}{b}{c}енко" for a in "БВГДКЛМНПР" for b in "аеиоу" for c in "блмнр")[:4000],
}
SETTINGS = {
    "TELEGRAM__TOKEN": TOKEN,
    "TELEGRAM__GROUP_WINDOW": "0s",
    "ACCESS__MESSAGES_PER_MINUTE": "0",
    "ACCESS__ALLOWED_USER_IDS": json.dumps([HOSTILE, ASKING]),
    "DIALOGUE__IDLE_TIMEOUT": "3s",
    "SCHEDULER__TICK": "0.5s",
}


class Asker:
    """The owner who asks one question after another."""

    def __init__(self, telegram: InstantTelegram) -> None:
        self._telegram = telegram
        self._number = 0

    async def ask_for(self, seconds: float) -> list[float]:
        """How long each answer took, of the questions begun in this time."""
        end, waits = time.perf_counter() + seconds, list[float]()
        while time.perf_counter() < end:
            self._number += 1
            waits.append(await self._telegram.ask(ASKING, f"Как зовут мою собаку, {self._number}?"))
            await asyncio.sleep(PAUSE)
        return waits


@asynccontextmanager
async def _started() -> AsyncIterator[InstantTelegram]:
    with tempfile.TemporaryDirectory() as name:
        async with InstantTelegram() as telegram:
            variables = environment(Path(name) / "data", settings=SETTINGS | {"TELEGRAM__API_BASE": telegram.url})
            async with running(BOT, variables):
                yield telegram


async def measure(seconds: float) -> None:
    async with _started() as telegram:
        asker = Asker(telegram)
        for text in ("Моя сестра Анна живёт в Киеве.", "Мою собаку зовут Рекс."):
            await telegram.ask(ASKING, text)
        await asker.ask_for(3)
        quiet = await asker.ask_for(seconds)
        print(_row("nobody else writes", quiet, quiet))
        for name, text in MESSAGES.items():
            telegram.ask(HOSTILE, text)
            waits = await asker.ask_for(seconds)
            print(_row(name, waits, quiet), flush=True)
            figures.keep(name, statistics.median(waits) / statistics.median(quiet))


def _row(name: str, waits: Sequence[float], quiet: Sequence[float]) -> str:
    median, worst = statistics.median(waits), max(waits)
    return (
        f"{name:<22}{len(waits):>10}{median * 1e3:>12.0f}{worst * 1e3:>11.0f}"
        f"{median / statistics.median(quiet):>9.1f}{worst / max(quiet):>9.1f}{(worst - max(quiet)) * 1e3:>13.0f}"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description="Another owner's wait beside a hostile message, against a quiet bot.")
    parser.add_argument("--seconds", type=float, default=20)
    options = parser.parse_args()
    print(circumstances())
    print(f"{'':<22}{'questions':>10}{'median, ms':>12}{'worst, ms':>11}{'ratio':>9}{'ratio':>9}{'growth, ms':>13}")
    asyncio.run(measure(options.seconds))


if __name__ == "__main__":
    main()
