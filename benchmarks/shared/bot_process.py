"""Runs the bot as a process of its own for benchmarks: starts it on a free port, watches it, stops it in order."""

from __future__ import annotations

import asyncio
import os
import platform
import socket
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx

from bot.simulator.launch import LocalTelegram

ROOT = Path(__file__).parents[2]
TICKS_PER_SECOND = os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True, slots=True)
class BotProcess:
    """A bot that answered `/readyz` at this `url`, `ready_after` seconds after its process was begun."""

    process: asyncio.subprocess.Process
    ready_after: float
    url: str

    @property
    def pid(self) -> int:
        return self.process.pid


def environment(
    data_dir: Path, telegram: LocalTelegram | None = None, settings: Mapping[str, str] | None = None
) -> dict[str, str]:
    """The variables of a bot that keeps its data there; `settings` are named without the prefix."""
    clean = {name: value for name, value in os.environ.items() if not name.startswith("LAPLACED_")}
    given = {"DATA_DIR": str(data_dir), "TELEGRAM__LOCAL__PORT": "0"}
    if telegram is not None:
        given |= {"TELEGRAM__TOKEN": telegram.token, "TELEGRAM__API_BASE": telegram.url}
    prefixed = {f"LAPLACED_{name}": value for name, value in (given | dict(settings or {})).items()}
    return clean | {"PYTHONPATH": str(ROOT)} | prefixed


@asynccontextmanager
async def running(command: Sequence[str], variables: dict[str, str]) -> AsyncIterator[BotProcess]:
    """Starts the command and waits for `/readyz`. Raises SystemExit if it ends, TimeoutError after three minutes."""
    port = _free_port()
    folder = Path(variables["LAPLACED_DATA_DIR"]).parent
    with (folder / "bot.log").open("wb") as log:
        began = time.perf_counter()
        process = await asyncio.create_subprocess_exec(
            *command,
            env=variables
            | {"LAPLACED_SERVER__PORT": str(port), "LAPLACED_MCP__PORT": "0", "LAPLACED_SERVER__CONSOLE_PORT": "0"},
            cwd=folder,
            stdout=log,
            stderr=log,
        )
    try:
        await _until_ready(process, port)
        yield BotProcess(process, time.perf_counter() - began, f"http://127.0.0.1:{port}")
    finally:
        if process.returncode is None:
            process.terminate()
        await process.wait()


async def _until_ready(process: asyncio.subprocess.Process, port: int) -> None:
    async with httpx.AsyncClient(base_url=f"http://127.0.0.1:{port}", trust_env=False) as http, asyncio.timeout(180):
        while process.returncode is None:
            try:
                if (await http.get("/readyz")).status_code == 200:
                    return
            except httpx.TransportError:
                pass
            await asyncio.sleep(0.01)
    raise SystemExit(f"the bot ended with {process.returncode}")


def _free_port() -> int:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return int(taken.getsockname()[1])


def cpu_seconds(pid: int) -> float:
    """Processor time that this process has used so far, without its children."""
    fields = Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / TICKS_PER_SECOND


def circumstances() -> str:
    """One line on what was measured where, and how busy the machine was with other things."""
    commit = subprocess.run(
        ["git", "describe", "--always", "--dirty"], cwd=ROOT, check=False, capture_output=True, text=True
    ).stdout.strip()
    load = os.getloadavg()[0]
    return (
        f"{time.strftime('%Y-%m-%d')}, commit {commit or 'unknown'}, Python {platform.python_version()}, "
        f"{platform.machine()}, {os.cpu_count()} cores, load {load:.1f} at the start; by {Path(sys.argv[0]).name}"
    )
