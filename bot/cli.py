"""The command line: parses, calls one thing, prints. Heavy libraries are imported by the command that needs them."""

from __future__ import annotations

import asyncio
import functools
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn, ParamSpec, TypeVar

import click

if TYPE_CHECKING:
    from bot.web.admin import ArchiveReport
    from internal.config import Config

P = ParamSpec("P")
T = TypeVar("T")

DEFAULT_CONFIG = Path("config.yaml")
FAILED = 1


def _tells_failures(command: Callable[P, T]) -> Callable[P, T]:
    """A failure that has a name is one line on stderr and exit code 1; anything else is a bug and crashes."""

    @functools.wraps(command)
    def wrapped(*args: P.args, **kwargs: P.kwargs) -> T:
        from internal.errors import LaplacedError

        try:
            return command(*args, **kwargs)
        except LaplacedError as error:
            _fail(str(error))

    return wrapped


def _fail(message: str) -> NoReturn:
    from internal.telemetry.logs import redact

    click.echo(f"laplaced: {redact(' '.join(message.split()))}", err=True)
    raise SystemExit(FAILED)


def _command(example: str) -> Callable[[Callable[..., Any]], click.Command]:
    """A command of the group: it takes `--config`, shows an example in its help and tells its failures."""

    def register(function: Callable[..., Any]) -> click.Command:
        option = click.option(
            "--config",
            "config_path",
            type=click.Path(path_type=Path, dir_okay=False),
            help=f"Configuration file.  [default: {DEFAULT_CONFIG}, if there is one]",
        )
        return main.command(epilog=f"Example: {example}")(option(_tells_failures(function)))

    return register


def _load(path: Path | None) -> Config:
    """The configuration, and logs that know its secrets from the first line on."""
    from internal import config
    from internal.telemetry import logs

    if path is None and DEFAULT_CONFIG.is_file():
        path = DEFAULT_CONFIG
    loaded = config.load(path)
    logs.configure(loaded.secrets())
    return loaded


@click.group(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(package_name="laplaced")
def main() -> None:
    """A Telegram companion that remembers the people in your life, and can say where it knows them from."""


@_command("laplaced run --config /etc/laplaced.yaml")
def run(config_path: Path | None) -> None:
    """Start the bot, and stay until it is told to stop (SIGTERM or Ctrl-C).

    Without a Telegram token it starts a local Telegram with a chat page; without a model key the offline models
    answer.
    """
    config = _load(config_path)
    from bot import app

    sys.exit(asyncio.run(app.run(config)))


@_command("laplaced archive --user 123456789")
@click.option(
    "--user",
    "user_id",
    type=click.IntRange(-(2**63), 2**63 - 1),
    metavar="ID",
    help="Telegram id of the one user to archive.  [default: everybody]",
)
@click.option("--backfill", metavar="AGENT", help="Also give this agent all earlier fragments it never worked on.")
def archive(config_path: Path | None, user_id: int | None, backfill: str | None) -> None:
    """Archive what was said so far now, without waiting for silence.

    A running bot is asked to do it; if none runs, it is done here.
    """
    report = asyncio.run(_archive(_load(config_path), user_id, backfill))
    click.echo(
        f"{report.fragments} fragments published; "
        f"runs: {report.applied} applied, {report.waiting} waiting, {report.dead} dead"
    )


async def _archive(config: Config, user_id: int | None, backfill: str | None) -> ArchiveReport:
    from internal.storage.lock import held, holder

    server = holder(config.data_dir) if held(config.data_dir) else None
    if server is not None and server.url is not None:
        from bot.web.client import ask_archive

        return await ask_archive(config, server, user_id, backfill)
    from bot.core import open_app  # the models take seconds to import: only who works here himself needs them

    async with open_app(config) as opened:
        return await opened.archive(user_id, backfill)
