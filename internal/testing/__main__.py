"""The scripted model as a process of its own: `python -m internal.testing --port 0 --script FILE`."""

import argparse
import asyncio
import json
import runpy
import sys
from collections.abc import Sequence
from pathlib import Path

from internal.testing.server import ScriptedModel


def _scripted(port: int, script: Path | None) -> ScriptedModel:
    model = ScriptedModel(port=port)
    if script is not None and script.suffix == ".py":
        runpy.run_path(str(script))["configure"](model)
    elif script is not None:
        model.load(json.loads(script.read_text(encoding="utf-8")))
    return model


async def _serve(model: ScriptedModel) -> None:
    async with model:
        print(json.dumps({"url": model.url, "port": model.port}), flush=True)
        await asyncio.Event().wait()


def main(arguments: Sequence[str]) -> None:
    """Serves until interrupted. FILE is JSON as for `POST /script`, or Python with `configure(model)`."""
    parser = argparse.ArgumentParser(prog="python -m internal.testing", description=main.__doc__)
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--script", type=Path)
    options = parser.parse_args(arguments)
    try:
        asyncio.run(_serve(_scripted(options.port, options.script)))
    except KeyboardInterrupt:
        return


if __name__ == "__main__":
    main(sys.argv[1:])
