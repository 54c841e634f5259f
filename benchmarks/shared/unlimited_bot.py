"""`laplaced run` or `worker` without Telegram's limits (one message a second to a chat, 25 to all).

`COUNT_STATEMENTS=file` counts the statements of the database, writes them there at SIGUSR2, and starts again from zero.
"""

from __future__ import annotations

import asyncio
import gc
import os
import sys

from bot.cli.main import GC_THRESHOLDS
from bot.runtime import bot, worker
from bot.telegram.delivery.flood_limits import Budget
from internal.config.settings import load
from internal.telemetry import logs

NO_LIMIT = 1e9

if __name__ == "__main__":
    gc.freeze()
    gc.set_threshold(*GC_THRESHOLDS)
    if where := os.environ.get("COUNT_STATEMENTS"):
        from benchmarks.shared import statement_counter

        statement_counter.begin(where)
    config = load()
    logs.configure(config.secrets())
    program = worker if "worker" in sys.argv[1:] else bot
    sys.exit(asyncio.run(program.run(config, budget=Budget(global_per_second=NO_LIMIT, chat_per_second=NO_LIMIT))))
