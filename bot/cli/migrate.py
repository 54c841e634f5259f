"""The command that moves a whole store: from the file to a server, back, or to another place."""

from __future__ import annotations

import asyncio
import contextlib
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click

from bot.cli.base import FAILED, command, load

if TYPE_CHECKING:
    from internal.config.settings import Config
    from internal.flows.operations.migrate_store import Move
    from internal.storage.transfer.migrate_store import Progress


@command("laplaced migrate-store sqlite:///data/laplaced.db postgresql://laplaced@db.example/laplaced")
@click.argument("source", metavar="FROM")
@click.argument("target", metavar="TO")
@click.option("--force", is_flag=True, help="Replace what is in TO; it is kept as a file.")
@click.option("--while-running", is_flag=True, help="Copy FROM as it is now, even while it is in use.")
def migrate_store(config_path: Path | None, source: str, target: str, force: bool, while_running: bool) -> None:
    """Move everything that is stored from one place to another, and compare both.

    FROM and TO are sqlite:///PATH or postgresql://USER:PASSWORD@HOST/DATABASE, as storage.url takes them. The bot must
    be stopped. A move that was interrupted goes on where it was when the same command is given again. FROM is kept, but
    does not start any more until `laplaced reopen`; the keys of the data folder are in neither.
    """
    config = load(config_path)
    moved = asyncio.run(_migrate_store(config, source, target, force, while_running))
    for line in _summary(moved, target):
        click.echo(line)
    if moved.moved.differing:
        raise SystemExit(FAILED)
    if not while_running:
        click.echo("FROM is kept, and does not start any more (unless by laplaced reopen)")
        click.echo("delete it once you are sure: it goes on holding what is forgotten later")


@command("laplaced reopen --config /etc/laplaced.yaml")
def reopen(config_path: Path | None) -> None:
    """Use the configured store again although it was moved. It lacks what was written to the new one since."""
    click.echo(f"{asyncio.run(_reopen(load(config_path)))}; it starts again")


async def _reopen(config: Config) -> str:
    from internal.flows.operations.migrate_store import reopen as open_again

    return f"the store {await open_again(config.store, config.data_dir)}"


async def _migrate_store(config: Config, source: str, target: str, force: bool, while_running: bool) -> Move:
    from internal.flows.operations.migrate_store import migrate_store as move
    from internal.scheduling.clock import SystemClock

    stores = [_store_at(source, "FROM"), _store_at(target, "TO")]
    with _bar() as progress:
        return await move(
            *stores,
            now=SystemClock().now(),
            folder=config.data_dir,
            progress=progress,
            force=force,
            while_running=while_running,
        )


def _store_at(address: str, name: str) -> Path | str:
    from internal.config.settings import load as read
    from internal.errors import ConfigurationError
    from internal.telemetry.logs import redact

    try:
        config = read(environ={"LAPLACED_STORAGE__URL": address})
    except ConfigurationError:
        raise click.UsageError(f"{name}: sqlite:///PATH or postgresql://USER:PASSWORD@HOST/DATABASE") from None
    redact.register(*config.secrets())
    return config.store


def _summary(move: Move, target: str) -> list[str]:
    from internal.flows.operations.migrate_store import name_of

    moved, target_name = move.moved, name_of(_store_at(target, "TO"))
    lines = ["the source has changed since that move was interrupted: it began again"] if moved.begun_anew else []
    lines.append(f"moved {moved.rows} rows" + (f"; {moved.before} were there already" if moved.before else ""))
    if moved.nul_lost:
        lines.append(f"left out, for PostgreSQL keeps none: {moved.nul_lost} NUL characters")
    if move.kept is not None:
        lines.append(f"what was in TO is kept: {move.kept}")
    lines += [f"content of FROM: {moved.source.logical}", f"content of TO:   {moved.target.logical}"]
    if moved.differing:
        lines.append(f"they differ, and TO is not to be used: {', '.join(moved.differing)}")
    else:
        lines.append(
            f"both are the same in every row: set storage.url to the address of {target_name} and start the bot"
        )
    return lines


@contextlib.contextmanager
def _bar() -> Iterator[Progress]:
    """A progress bar on stderr for each step, if stderr is a terminal."""
    with contextlib.ExitStack() as shown:
        known: dict[str, Callable[[int], None]] = {}
        reached = 0
        hidden = not sys.stderr.isatty()

        def progress(what: str, done: int, total: int) -> None:
            nonlocal reached
            if what not in known:
                shown.close()
                bar = click.progressbar(length=max(total, 1), label=what, file=sys.stderr, hidden=hidden)
                known[what], reached = shown.enter_context(bar).update, 0
            known[what](done - reached)
            reached = done

        yield progress
