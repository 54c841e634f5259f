"""Recall into the prompt on PostgreSQL and on SQLite: equal prompts, and the time of each.

    python -m benchmarks.search.context_engines postgresql://postgres@127.0.0.1:5432/postgres [--messages 10000]
        [--rounds 100]

Both store the same synthetic life (see `synthetic_owners`). Every question is asked of both, and the first alternates.
Questions are already embedded; enricher and reranker are off. "processor" is that of this process, without the server
and the language process. The address is a superuser's: the benchmark makes a database, drops it at the end, and reads
it in a role without such rights.
"""

from __future__ import annotations

import argparse
import asyncio
import tempfile
from collections.abc import Sequence
from contextlib import AsyncExitStack
from pathlib import Path

import bot  # noqa: F401  # first: it says how many threads a product of numpy may take

# isort: split
from benchmarks.messages.worker_throughput import database_on
from benchmarks.search.context_assembly import Stage, Times
from benchmarks.shared.bot_process import circumstances
from benchmarks.shared.synthetic_owners import Language, Life, Question, Size
from internal.language.worker.process_pool import LanguageWorker
from internal.storage.database import Database
from internal.storage.engine.owner_scope import acting_for, acting_for_everyone
from internal.storage.migration import migrate

OWNER = 1
DIMENSIONS = 384
WARM_UP = 10


async def asked_in_turn(stages: dict[str, Stage], questions: Sequence[Question]) -> tuple[dict[str, Times], int]:
    """How long each engine took, and how many questions brought the same into both prompts."""
    times, same = {name: Times() for name in stages}, 0
    for number, question in enumerate(questions):
        prompts = []
        for name in sorted(stages, reverse=bool(number % 2)):
            end = times[name].begin()
            prompts.append(await stages[name].recall(OWNER, question))
            end()
        same += all(prompt == prompts[0] for prompt in prompts)
    return times, same


async def measure(server: str, size: Size, rounds: int) -> tuple[dict[str, dict[str, float]], int]:
    """Milliseconds by engine, and how many prompts were the same."""
    language, worker = Language(DIMENSIONS), LanguageWorker()
    try:
        async with AsyncExitStack() as stack:
            folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
            on_server = stack.enter_context(database_on(server))
            stores: dict[str, Path | str] = {"SQLite": folder / "laplaced.db", "PostgreSQL": on_server}
            stages: dict[str, Stage] = {}
            with acting_for_everyone():
                for name, store in stores.items():
                    database = await stack.enter_async_context(Database.open(store))
                    await database.exclusive(migrate)
                    await Life(OWNER, size, language).store(database)
                    stages[name] = Stage(database, worker, DIMENSIONS)
            questions = language.questions(WARM_UP + rounds, OWNER, size.people)
            with acting_for(OWNER):
                await asked_in_turn(stages, questions[:WARM_UP])
                times, same = await asked_in_turn(stages, questions[WARM_UP:])
            return {name: one.quantiles("assembly") for name, one in times.items()}, same
    finally:
        await worker.close()


def figures(found: dict[str, dict[str, float]]) -> str:
    head = "| store | median, ms | 99 %, ms | processor, median, ms |\n|---|---|---|---|"
    keys = ("assembly_p50_ms", "assembly_p99_ms", "assembly_cpu_p50_ms")
    rows = [f"| {name} | {' | '.join(f'{times[key]:.1f}' for key in keys)} |" for name, times in found.items()]
    return "\n".join([head, *rows])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("server", help="address of a PostgreSQL as its superuser")
    parser.add_argument("--messages", type=int, default=10_000)
    parser.add_argument("--rounds", type=int, default=100)
    asked = parser.parse_args()
    print(circumstances())
    found, same = asyncio.run(measure(asked.server, Size.of(asked.messages), asked.rounds))
    print(figures(found))
    print(f"the same prompts: {same} of {asked.rounds}")


if __name__ == "__main__":
    main()
