"""The time until each page of the console shows its content, for an owner with 100,000 events.

    PYTHONPATH=tests python -m benchmarks.storage.console_pages [--events 100000] [--rounds 5] [--only /tasks] [--json]
        [--folder FOLDER]

The product runs on synthetic rows. With 100,000 events the owner has 20,000 messages in 1,000 sessions, 4,000 facts,
1,000 people, 2,000 memories, 20,000 model calls, 5,000 notifications and 2,000 tasks. Each page is opened in a headless
Chromium, alternately for this owner and for one with few rows. A page counts as shown once its content can be seen: its
newest rows or its drawing. That includes scripts (from the browser's cache), the WebSocket and the layout. `--folder`
keeps the rows for the next run.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import statistics
import tempfile
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any, Final

from playwright.async_api import Browser, BrowserContext
from support.product.screenshot import chromium

from benchmarks.shared.bot_process import circumstances
from benchmarks.shared.console_store import LivedConsole
from benchmarks.shared.synthetic_owners import Language, Life, Size
from bot.application.app import App
from bot.application.bootstrap import open_app
from bot.application.operations import Operations
from bot.runtime.http import ServerPorts, serve_rest_and_mcp
from internal.access.console import service as console
from internal.config.settings import Config
from internal.flows.operations.health_checks import Check

MANY, LITTLE = 100_000, 300
"""Owners by their ids: of the first there are as many events as asked for, of the second this many."""
OWNERS: Final = {"many": 1, "little": 2}
PATIENCE_S: Final = 60.0
DIMENSIONS: Final = 16

SHOWN: Final = {
    "/": ".events .event",
    "/people": ".circles-svg .dot",
    "/graph": ".graph-svg .node",
    "/facts": "details.fact",
    "/sessions": ".transcript .bubble",
    "/memory": ".memory-row",
    "/tasks": ".task",
    "/notifications": ".notice-row",
    "/context": ".mind-row",
    "/calls": "details.row",
    "/costs": ".chart canvas",
    "/health": ".figure",
}
"""Each page, and what is there once it shows what it is for."""


def _size(events: int) -> Size:
    messages = events // 5
    return Size(messages, messages // 5, max(5, events // 100), max(4, messages // 10))


async def _nothing() -> list[Check]:
    return []


async def _nobody(_: int) -> bool:
    return False


@asynccontextmanager
async def _house(folder: Path) -> AsyncIterator[tuple[App, str]]:
    """The servers over the product, with nothing at work behind them: nothing is embedded, archived or judged."""
    settings: dict[str, Any] = {"data_dir": folder / "data", "embedding": {"provider": "offline"}}
    settings |= {"server": {"port": 0, "console_port": 0}, "mcp": {"port": 0}}
    config = Config.model_validate(settings)
    async with open_app(config) as app:
        ports = ServerPorts(_nobody, Operations(app.backups, app.database, app.clock), _nothing)
        async with serve_rest_and_mcp(app, ports) as server:
            assert server.console is not None
            yield app, server.console


async def _furnish(app: App, events: int) -> None:
    language = Language(DIMENSIONS)
    for name, count in (("little", LITTLE), ("many", events)):
        size = _size(count)
        life = Life(OWNERS[name], size, language)
        await LivedConsole(life, size, count, app.clock.now()).store(app.database)


async def _visitor(app: App, browser: Browser, url: str, owner: int) -> BrowserContext:
    """A browser of its own with a session of that owner."""
    lifetime, now = timedelta(days=1), app.clock.now()
    opened = await app.database.write(lambda c: console.open_session(c, owner, lifetime=lifetime, now=now))
    context = await browser.new_context(viewport={"width": 1280, "height": 800}, reduced_motion="reduce")
    await context.add_cookies([{"name": "laplaced_session", "value": opened.token, "url": url}])
    return context


async def _open(context: BrowserContext, url: str, path: str) -> float:
    """Milliseconds."""
    page = await context.new_page()
    try:
        began = time.perf_counter()
        await page.goto(url + path, timeout=PATIENCE_S * 1e3, wait_until="commit")
        await page.locator(SHOWN[path]).first.wait_for(timeout=PATIENCE_S * 1e3)
        return (time.perf_counter() - began) * 1e3
    finally:
        await page.close()


async def _measured(app: App, url: str, rounds: int, only: Sequence[str]) -> dict[str, dict[str, float]]:
    found: dict[str, dict[str, float]] = {}
    async with chromium() as browser:
        visitors = {name: await _visitor(app, browser, url, owner) for name, owner in OWNERS.items()}
        for context in visitors.values():
            await _open(context, url, "/costs")  # starts the process behind the pages, and fills the browser's cache
        for path in only or SHOWN:
            times: dict[str, list[float]] = {name: [] for name in visitors}
            for _ in range(rounds):
                for name, context in visitors.items():
                    times[name].append(await _open(context, url, path))
            found[path] = {name: statistics.median(taken) for name, taken in times.items()}
            found[path] |= {"first": times["many"][0], "slowest": max(times["many"])}
            found[path]["ratio"] = found[path]["many"] / found[path]["little"]
    return found


async def run(asked: argparse.Namespace, folder: Path) -> dict[str, dict[str, float]]:
    made = (folder / "data/laplaced.db").exists()
    async with _house(folder) as (app, url):
        if not made:
            await _furnish(app, asked.events)
        return await _measured(app, url, asked.rounds, asked.only)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--events", type=int, default=MANY)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--only", nargs="+", choices=SHOWN, default=[])
    parser.add_argument("--folder", type=Path)
    parser.add_argument("--json", action="store_true")
    asked = parser.parse_args()
    machine = circumstances()
    with tempfile.TemporaryDirectory() as scratch:
        found = asyncio.run(run(asked, asked.folder or Path(scratch)))
    if asked.json:
        print(json.dumps({"circumstances": machine, "milliseconds": found}))
        return
    print(machine)
    print("| page | many, ms | first of them | slowest | little, ms | ratio |\n|---|---|---|---|---|---|")
    for path, one in found.items():
        numbers = " | ".join(f"{one[name]:,.0f}" for name in ("many", "first", "slowest", "little"))
        print(f"| `{path}` | {numbers} | {one['ratio']:.2f} |")


if __name__ == "__main__":
    main()
