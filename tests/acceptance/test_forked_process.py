"""Programs that are started by fork are the programs: their environment, their streams, their end."""

from __future__ import annotations

import asyncio
import os
import select
import signal
import sys
from pathlib import Path

import pytest
from support.paths import ROOT, TESTS
from support.patience import PATIENCE_S
from support.product.collected_workers import is_copy
from support.product.forked_process import LANGUAGE, RUN
from support.product.program import BEFORE_PYTHON, BOT, started, starter

from internal.language.worker.process_pool import LanguageWorker

ENVIRONMENT = {"PATH": os.environ["PATH"], **BEFORE_PYTHON}
PORTS = (
    "LAPLACED_SERVER__PORT",
    "LAPLACED_MCP__PORT",
    "LAPLACED_SERVER__CONSOLE_PORT",
    "LAPLACED_TELEGRAM__LOCAL__PORT",
)

DRIVER = """
import asyncio, sys
from pathlib import Path
sys.path.insert(0, sys.argv[1])
from support.product.program import BEFORE_PYTHON, started
async def main():
    process = await started("bot", ["run"], BEFORE_PYTHON | {"LAPLACED_DATA_DIR": sys.argv[2]}, Path(sys.argv[2]))
    print(process.pid, flush=True)
    await asyncio.sleep(60)
asyncio.run(main())
"""


SAID = [["--version"], ["runs", "--help"], ["nonsense"], ["runs", "--nonsense"], ["run", "--config", "none.yaml"]]


@pytest.mark.parametrize("words", SAID)
async def test_a_forked_command_says_and_ends_as_a_fresh_one(tmp_path: Path, words: list[str]) -> None:
    """Both outputs and the exit code are the same to the letter."""
    told = []
    for fresh in (True, False):
        environment = ENVIRONMENT | {"LAPLACED_DATA_DIR": str(tmp_path / "data")}
        process = await started(BOT, words, environment, tmp_path, fresh=fresh)
        out, err = await process.communicate()
        told.append((process.returncode, out, err))
    assert told[0] == told[1]


async def test_processes_that_run_at_once_end_apart(tmp_path: Path) -> None:
    """Each has its own end: one by a signal, of which its returncode tells, one told to stop, with 0."""
    bots = []
    for name in ("one", "two"):
        folder = tmp_path / name
        folder.mkdir()
        ports = dict.fromkeys(PORTS, "0")
        environment = ENVIRONMENT | ports | {"LAPLACED_DATA_DIR": str(folder / "data")}
        with (folder / "log").open("wb") as log:
            bots.append(await started(BOT, ["run"], environment, folder, stderr=log))
    try:
        for bot in bots:
            assert bot.stdout is not None
            async with asyncio.timeout(PATIENCE_S):
                while not (line := await bot.stdout.readline()).startswith(b"Health, metrics and REST: "):
                    assert line, "the bot ended by itself"
        bots[0].kill()
        assert await bots[0].wait() == bots[0].returncode == -signal.SIGKILL
        assert bots[1].returncode is None
        bots[1].terminate()
        assert await bots[1].wait() == 0
    finally:
        for bot in bots:
            bot.kill()
            await bot.wait()


async def test_forked_processes_end_with_who_started_them(tmp_path: Path) -> None:
    """A driver that is killed leaves no bot behind; what another one started by the same starter goes on."""
    (tmp_path / "ours").mkdir()
    ours = await started(BOT, ["run"], ENVIRONMENT | dict.fromkeys(PORTS, "0"), tmp_path / "ours")
    command = [sys.executable, "-c", DRIVER, str(TESTS), str(tmp_path)]
    same_run = os.environ | {RUN: os.environ.get(RUN, str(os.getpid()))}
    driver = await asyncio.create_subprocess_exec(*command, cwd=ROOT, env=same_run, stdout=asyncio.subprocess.PIPE)
    assert driver.stdout is not None
    watch = os.pidfd_open(int(await driver.stdout.readline()))
    driver.kill()
    await driver.wait()
    readable, _, _ = await asyncio.to_thread(select.select, [watch], [], [], 20)
    os.close(watch)
    assert readable, "the bot outlived the one who started it"
    assert ours.returncode is None
    ours.terminate()
    await ours.communicate()


async def test_the_language_process_is_a_copy_that_answers_and_ends() -> None:
    """It is a child of its starter, is started again when it was killed, and ends with who asked it."""
    worker = LanguageWorker()
    try:
        first = await worker.run(os.getpid)
        assert await worker.run(os.getppid) == starter(LANGUAGE).pid
        os.kill(first, signal.SIGKILL)
        second = await worker.run(os.getpid)
        assert second != first
    finally:
        await worker.close()
    with pytest.raises(ProcessLookupError):
        os.kill(second, 0)


async def test_a_sitecustomize_acts_in_a_forked_process(tmp_path: Path) -> None:
    """What is first on PYTHONPATH is heeded as by an interpreter that starts, before the program."""
    (tmp_path / "sitecustomize.py").write_text("print('before all')\n")
    process = await started(BOT, ["--version"], ENVIRONMENT | {"PYTHONPATH": f"{tmp_path}:{ROOT}"}, tmp_path)
    out, _ = await process.communicate()
    assert out.startswith(b"before all\nlaplaced")


def test_a_worker_is_a_copy_of_what_collected_the_tests() -> None:
    """Where it cannot be, it collects by itself, which only takes longer: nothing else would tell."""
    if "PYTEST_XDIST_WORKER" not in os.environ:
        pytest.skip("a run without workers")
    assert is_copy()
