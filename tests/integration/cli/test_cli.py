"""The command line as its user meets it: help, exit codes, one line for a failure."""

from __future__ import annotations

import asyncio
import contextlib
import os
import subprocess
import sys
from pathlib import Path

import click
import pytest
from click.testing import CliRunner
from fastapi import FastAPI
from support.paths import ROOT
from support.product.program import BEFORE_PYTHON, BOT, completed

from bot.cli.main import main
from bot.web.admin.operations import ArchiveReport, archive_router
from bot.web.http.guard import Guard
from bot.web.server.uvicorn import serving
from internal.storage.engine.data_lock import hold_folder
from internal.storage.files.keys import ensure_key

GROUPS = {name: one for name, one in main.commands.items() if isinstance(one, click.Group)}
COMMANDS = sorted(
    [name for name in main.commands if name not in GROUPS]
    + [f"{name} {below}" for name, group in GROUPS.items() for below in group.commands]
)
"""Everything that does something: `run`, `graph audit`."""
TOKEN = "7312345678:AAH-abcdefghijklmnopqrstuvwxyz_12345"
NEEDED = {
    "restore": ["absent.db"],
    "import": ["--user", "1", "absent.json"],
    "export": ["--user", "1"],
    "forget": ["--user", "1", "--everything", "--yes"],
    "recall": ["--user", "1", "question"],
    "migrate-store": ["sqlite:///data/laplaced.db", "sqlite:///other/laplaced.db"],
    "simulate": ["family"],
    "snapshots": ["--user", "1"],
    "tasks": ["--user", "1"],
    "key add": ["name"],
    "key revoke": ["name"],
    "eval locomo": ["absent.json", "--out", "rankings.jsonl"],
    "eval score": ["rankings.jsonl", "absent.json"],
    "eval train": ["absent.json", "--out", "ranking.json"],
    "graph audit": ["--user", "1"],
    "graph query": ["--user", "1", "MATCH (n) RETURN n"],
    "graph rebuild": ["--user", "1"],
    "graph transcript": ["--user", "1"],
    "graph associations": ["--user", "1", "memory"],
    "graph by-concept": ["--user", "1", "tea"],
    "graph contradictions": ["--user", "1"],
    "graph maintain": ["--user", "1"],
    "graph merge": ["--user", "1", "one", "other"],
    "graph open-questions": ["--user", "1"],
    "graph preferences": ["--user", "1"],
    "graph shared-concepts": ["--user", "1", "memory"],
    "graph split": ["--user", "1", "one"],
}
"""Arguments without which a command is called wrongly."""
SERVERS = frozenset({"run", "mcp"})
"""What takes the signals of its process."""
ELSEWHERE = ("eval ", "key ", "setup", "simulate", "worker")
"""Begins the names of commands that never open the owner's data, or none that is a file of one process."""
HEAVY = {"aiogram", "alembic", "fastapi", "httpx", "nicegui", "numpy", "pydantic", "sqlalchemy", "uvicorn"}


def called(folder: Path, *words: str, **environ: str) -> subprocess.CompletedProcess[str]:
    """`laplaced WORDS` in an empty folder, without the settings of whoever runs the tests."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("LAPLACED_")}
    return completed(BOT, words, kept | BEFORE_PYTHON | environ, folder)


def called_here(folder: Path, *words: str, **environ: str) -> subprocess.CompletedProcess[str]:
    """The same in this process: a start of Python costs a second. A failure without a name fails the test."""
    foreign = dict.fromkeys(name for name in os.environ if name.startswith("LAPLACED_"))
    with contextlib.chdir(folder):
        result = CliRunner().invoke(main, words, env=foreign | environ, prog_name="laplaced")
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    return subprocess.CompletedProcess(words, result.exit_code, result.stdout, result.stderr)


def test_help_names_every_command() -> None:
    """A bare --help lists what there is, on stdout."""
    command = [sys.executable, "-m", BOT, "--help"]
    told = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert (told.returncode, told.stderr) == (0, "")
    everyday = [
        "archive",
        "backup",
        "carddav",
        "doctor",
        "eval",
        "export",
        "forget",
        "graph",
        "import",
        "key",
        "logout",
        "mcp",
    ]
    rare = [
        "migrate-store",
        "quarantine",
        "recall",
        "reopen",
        "restore",
        "run",
        "runs",
        "setup",
        "simulate",
        "snapshots",
        "tasks",
        "worker",
    ]
    assert [*everyday, *rare] == sorted(main.commands)
    assert all(f"\n  {name} " in told.stdout for name in main.commands)


@pytest.mark.parametrize("group", sorted(GROUPS))
def test_help_of_a_group_names_its_commands(tmp_path: Path, group: str) -> None:
    """`laplaced graph --help` lists what there is under it, and shows one of them."""
    told = called_here(tmp_path, group, "--help")
    assert (told.returncode, told.stderr) == (0, "")
    assert f"Example: laplaced {group} " in told.stdout
    assert "--config" in told.stdout
    assert all(f"\n  {name} " in told.stdout for name in GROUPS[group].commands)


def test_a_configuration_before_the_name_of_a_command_is_its_own(tmp_path: Path) -> None:
    """`laplaced key --config FILE list` reads that file, as `laplaced key list --config FILE` does."""
    (tmp_path / "other.yaml").write_text("unheard_of: 1\n")
    for words in ("key --config other.yaml list", "key list --config other.yaml"):
        told = called_here(tmp_path, *words.split())
        assert (told.returncode, told.stderr) == (1, "laplaced: unknown key unheard_of\n")


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_an_example_and_takes_a_configuration(tmp_path: Path, command: str) -> None:
    """--help of each command shows how it is really called."""
    told = called_here(tmp_path, *command.split(), "--help")
    assert told.returncode == 0
    assert f"Example: laplaced {command} " in told.stdout
    assert "--config" in told.stdout


def test_help_loads_nothing_heavy() -> None:
    """Help comes at once: no library that takes long is imported for it."""
    script = "import sys; from bot.cli.main import main; main(['--help'], standalone_mode=False); print(*sys.modules)"
    shown = subprocess.run([sys.executable, "-c", script], check=True, capture_output=True, text=True).stdout
    assert HEAVY & set(shown.splitlines()[-1].split()) == set()


@pytest.mark.parametrize(
    "words",
    [
        (),
        ("dance",),
        ("run", "--fast"),
        ("archive", "--user", "me"),
        ("archive", "--user", "9" * 30),
        ("run", "extra"),
        ("restore",),
        ("backup", "extra"),
        ("import", "absent.json"),
        ("import", "--user", "1"),
        ("import", "--user", "1", "--format", "icq", "absent.json"),
        ("import", "--user", "1", "--start", "soon", "absent.vtt"),
        ("archive", "--again"),
        ("forget", "--user", "1"),
        ("eval", "locomo", "--out", "rankings.jsonl"),
        ("eval", "score", "rankings.jsonl"),
        ("quarantine", "--replay", "some"),
        ("quarantine", "--replay", "0"),
        ("quarantine", "--replay", "1", "--drop", "2"),
    ],
)
def test_wrong_usage_is_two(tmp_path: Path, words: tuple[str, ...]) -> None:
    """What the command line cannot understand ends with 2 and says so on stderr."""
    told = called_here(tmp_path, *words)
    assert (told.returncode, told.stdout) == (2, "")
    assert "Usage: laplaced" in told.stderr


WRONG_CONFIGURATIONS: tuple[tuple[list[str], dict[str, str], str], ...] = (
    (["--config", "absent.yaml"], {}, "laplaced: cannot read absent.yaml: No such file or directory\n"),
    ([], {"LAPLACED_SERVER__PORT": "x"}, "laplaced: server.port: "),
    ([], {"LAPLACED_TELEGRAM__TOKN": TOKEN}, "laplaced: unknown key telegram.tokn (from LAPLACED_TELEGRAM__TOKN)\n"),
    (
        [],
        {"LAPLACED_TELEGRAM__TOKEN_FILE": f"/bot{TOKEN}/x"},
        "laplaced: LAPLACED_TELEGRAM__TOKEN_FILE: cannot read",
    ),
)
"""Words and environment of a command, and how what it says begins."""


@pytest.mark.parametrize("command", COMMANDS)
def test_wrong_configuration_is_one_line(tmp_path: Path, command: str) -> None:
    """A nameable failure ends with 1 and one line on stderr, without a traceback or a secret."""
    call = called if command in SERVERS else called_here
    for words, environ, said in WRONG_CONFIGURATIONS:
        told = call(tmp_path, *command.split(), *NEEDED.get(command, []), *words, **environ)
        assert (told.returncode, told.stdout) == (1, ""), said
        assert told.stderr.startswith(said)
        assert told.stderr.count("\n") == 1
        assert TOKEN not in told.stderr


def test_configuration_in_the_folder_is_read(tmp_path: Path) -> None:
    """config.yaml of the working directory is the default."""
    (tmp_path / "config.yaml").write_text("telgram: {}\n", encoding="utf-8")
    assert called(tmp_path, "run").stderr == "laplaced: unknown key telgram\n"


@pytest.mark.parametrize("command", [name for name in COMMANDS if not name.startswith(ELSEWHERE)])
def test_held_data_folder_is_told_with_its_holder(tmp_path: Path, command: str) -> None:
    """While another process that serves nothing holds the data, a command names it and ends with 1."""
    call = called if command in SERVERS else called_here
    with hold_folder(tmp_path / "data"):
        told = call(tmp_path, *command.split(), *NEEDED.get(command, []))
    held = f"laplaced: process {os.getpid()} holds the data folder data; one process at a time may use it\n"
    assert (told.returncode, told.stderr) == (1, held)


async def test_archive_goes_through_the_server_that_holds_the_data(tmp_path: Path) -> None:
    """A running bot does the work; its report is printed, and its refusal is the command's failure."""

    async def archive(user_id: int | None, backfill: str | None, again: bool) -> ArchiveReport:
        assert backfill in {None, "archivist"}
        return ArchiveReport(fragments=user_id or 0, applied=3 if again else 2, waiting=1)

    app = FastAPI()
    app.include_router(archive_router(archive))
    with hold_folder(tmp_path / "data") as lock:
        guarded = Guard(app, api_key=ensure_key(tmp_path / "data", "server_api_key"), allowed_hosts=[], own_secret=[])
        async with serving(guarded, "127.0.0.1", 0) as server:
            lock.announce(server.url)
            words = ("archive", "--user", "7", "--backfill", "archivist", "--again")
            told = await asyncio.to_thread(called, tmp_path, *words)
            refused = await asyncio.to_thread(called, tmp_path, "archive", LAPLACED_SERVER__API_KEY="other")
    assert (told.returncode, told.stdout) == (0, "7 fragments published; runs: 3 applied, 1 waiting, 0 dead\n")
    assert (refused.returncode, refused.stdout) == (1, "")
    assert "server.api_key" in refused.stderr


def test_archive_works_by_itself_when_nothing_runs(tmp_path: Path) -> None:
    """Without a running bot the command opens the data itself; a user it does not know is told."""
    no_model = {"LAPLACED_LLM__BASE_URL": "http://127.0.0.1:9/v1"}
    nothing = called(tmp_path, "archive", **no_model)
    assert (nothing.returncode, nothing.stdout) == (0, "0 fragments published; runs: 0 applied, 0 waiting, 0 dead\n")
    stranger = called(tmp_path, "archive", "--user", "7", **no_model)
    assert (stranger.returncode, stranger.stderr.splitlines()[-1]) == (1, "laplaced: there is no user 7")
