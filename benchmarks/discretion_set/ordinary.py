"""Which ordinary messages are taken for orders for somebody else, or are in doubt.

python -m benchmarks.discretion_set.ordinary
"""

import asyncio
import tempfile
from pathlib import Path

from bot.runtime.headless import open_alone
from bot.runtime.turns import discretion_of
from internal.config.settings import load
from internal.flows.turn.discretion import OrderText
from internal.storage.engine.owner_scope import acting_for

MESSAGES = Path(__file__).with_name("ordinary.txt")


async def main() -> None:
    lines = [one for one in MESSAGES.read_text(encoding="utf-8").splitlines() if one and one[0] != "#"]
    with tempfile.TemporaryDirectory() as name:
        settings = {"LAPLACED_DATA_DIR": name, "LAPLACED_SERVER__PORT": "0"}
        async with open_alone(load(None, settings)) as (app, _):
            discretion = discretion_of(app)
            assert discretion is not None
            with acting_for(1):
                orders = [await discretion.order(1, OrderText(one, one)) for one in lines]
    for kind, certain in (("orders", True), ("in doubt", False)):
        found = [line for line, one in zip(lines, orders, strict=True) if one is not None and one.certain is certain]
        print(f"{kind}: {len(found)} of {len(lines)}", *found, sep="\n  ")


if __name__ == "__main__":
    asyncio.run(main())
