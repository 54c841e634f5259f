"""How long a user waits for the first words of an answer when each call of the model takes 0.8 s.

    python -m benchmarks.messages.first_words [--seconds 0.8] [--window 2s] [--asked 10]

The bot is a process with its database on disk and the built-in embeddings; Telegram and a scripted model are another.
Each call of the model is silent for `--seconds` and then answers. Three kinds of messages are written into dialogues
that already have one message: plain ones, ones that lean on the message before ("and where does he live?"), and ones
that name several people, among whom the reranker chooses. The time runs from the update to the first draft or message
with words. The window is subtracted, since nobody expects an answer in it.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import statistics
import tempfile
import time
from pathlib import Path
from typing import Any

from benchmarks.messages.throughput import ANSWERS, BOT, FIRST_USER, SETTINGS, acquaint
from benchmarks.shared import figures
from benchmarks.shared.bot_process import circumstances, environment, running
from benchmarks.shared.fake_telegram import InstantTelegram
from internal.testing import ScriptedModel
from internal.testing.script import Fault

MESSAGES = {
    "plain": "Сегодня утром я долго гулял у реки, вода уже холодная.",
    "leaning on the one before": "А где он сейчас живёт?",
    "a question about people": "Кто из них говорил про релиз: Имя3, Имя7 или Имя11?",
}
OWN = {"EMBEDDING__PROVIDER": "offline"}


class Watched(InstantTelegram):
    """Notes when the first words of an answer arrive."""

    def __init__(self) -> None:
        super().__init__()
        self.first: asyncio.Future[float] | None = None

    async def first_words(self, user: int, text: str) -> float:
        """Seconds until the first words, once the whole answer is there."""
        self.first = asyncio.get_running_loop().create_future()
        began = time.perf_counter()
        async with asyncio.timeout(60):
            await self.ask(user, text)
        return (await self.first) - began

    def spoke(self, body: dict[str, Any]) -> None:
        if self.first is not None and not self.first.done() and str(body.get("text", "")).strip():
            self.first.set_result(time.perf_counter())

    def heard(self, method: str, body: dict[str, Any]) -> None:
        if method in ("sendMessageDraft", "sendMessage"):
            self.spoke(body)


async def measure(seconds: float, window: str, asked: int) -> None:
    with tempfile.TemporaryDirectory() as name:
        folder, user = Path(name), FIRST_USER
        (folder / "data").mkdir(mode=0o700)
        await acquaint(folder / "data/laplaced.db", [user], 20)
        async with ScriptedModel() as model, Watched() as telegram:
            for agent, answer in ANSWERS.items():
                text = answer if isinstance(answer, str) else json.dumps(answer, ensure_ascii=False)
                model.always(f"instant/{agent}", Fault("slow", text=text, seconds=seconds))
            given = SETTINGS | OWN | {"TELEGRAM__API_BASE": telegram.url, "LLM__BASE_URL": model.url}
            given |= {"TELEGRAM__GROUP_WINDOW": window, "ACCESS__ALLOWED_USER_IDS": json.dumps([user])}
            async with running(BOT, environment(folder / "data", settings=given)):
                await telegram.first_words(user, "Петров вчера переехал в Тверь.")
                for kind, text in MESSAGES.items():
                    model.requests.clear()
                    waits = [await telegram.first_words(user, text) for _ in range(asked)]
                    after = [wait - float(window.rstrip("s")) for wait in waits]
                    figures.keep(f"{kind}, to one call", statistics.median(after) / seconds)
                    calls = len([request for request in model.requests if "/chat/" in request.path]) / asked
                    times = f"{statistics.median(after):.2f} | {max(after):.2f} | {min(after):.2f}"
                    print(f"| {kind} | {times} | {calls:.1f} |", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description="How long a user waits for the first words.")
    parser.add_argument("--seconds", type=float, default=0.8, help="of each call of the model")
    parser.add_argument("--window", default="2s", help="telegram.group_window")
    parser.add_argument("--asked", type=int, default=10, help="messages of each kind")
    options = parser.parse_args()
    print(circumstances())
    print("| message | median, s after the window | longest | shortest | calls of the model |")
    print("|---|---|---|---|---|")
    asyncio.run(measure(options.seconds, options.window, options.asked))


if __name__ == "__main__":
    main()
