"""The command line: parses, calls one thing, prints. Heavy libraries are imported by the command that needs them."""

from __future__ import annotations

import asyncio
import contextlib
import gc
import json
import os
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from bot.cli import (
    access,
    chronicle,
    contacts,
    cypher,
    evaluate,
    memory,
    memory_graph,
    migrate,
    owner,
    setup,
    simulate,
    snapshots,
    tasks,
)
from bot.cli.base import FAILED, command, handed_over, load, main

if TYPE_CHECKING:
    from bot.web.admin.operations import ArchiveReport, BackupReport
    from bot.web.client import RestClient
    from internal.config.settings import Config
    from internal.flows.operations.health_checks import Check

__all__ = [
    "access",
    "chronicle",
    "cypher",
    "evaluate",
    "main",
    "memory",
    "memory_graph",
    "migrate",
    "owner",
    "setup",
    "simulate",
    "snapshots",
    "tasks",
]


GC_THRESHOLDS = (10_000, 20, 100)
"""Thresholds of garbage collection: Python's (700, 10, 10) pause 0.4 s at a time while thousands of facts are read."""


@command("laplaced run --config /etc/laplaced.yaml")
def run(config_path: Path | None) -> None:
    """Start the bot, and stay until it is stopped (SIGTERM or Ctrl-C).

    Without a Telegram token it starts a local Telegram with a chat page; without a model key the offline models
    answer.
    """
    while asyncio.run(_run(load(config_path), config_path)):
        click.echo("Starting again with the configuration as it is now.", err=True)


async def _run(config: Config, path: Path | None) -> bool:
    """Runs until stopped. Returns whether the bot is to be started again.

    Starts the local Telegram first, if one is needed, so that it loads while this process imports.
    """
    from bot.shared.child_process import started_child
    from bot.simulator.launch import of_config

    fixed = any(name.upper().startswith("LAPLACED_LLM__") for name in os.environ)  # the environment would win
    local = of_config(config, None if fixed else str(path or "")) if config.local_telegram else None
    async with started_child(local) if local is not None else contextlib.nullcontext():
        gc.disable()  # the Bot API's many classes are built a seventh faster, and none of them becomes garbage
        from bot.runtime import bot

        gc.freeze()
        gc.enable()
        gc.set_threshold(*GC_THRESHOLDS)
        return await bot.run(config, local=local) == bot.AGAIN


@command("laplaced worker --config /etc/laplaced.yaml")
def worker(config_path: Path | None) -> None:
    """Work beside `laplaced run` on the same PostgreSQL database, and stay until stopped (SIGTERM or Ctrl-C).

    It answers messages, archives, sends and keeps the clock as the bot does, and takes over what a process that ended
    had begun. It serves no pages and no REST.
    """
    sys.exit(asyncio.run(_worker(load(config_path))))


async def _worker(config: Config) -> int:
    from bot.runtime.worker import run as work

    return await work(config)


@command("laplaced archive --user 123456789")
@click.option(
    "--user",
    "user_id",
    type=click.IntRange(-(2**63), 2**63 - 1),
    metavar="ID",
    help="Telegram id of the one user to archive.  [default: everybody]",
)
@click.option("--backfill", metavar="AGENT", help="Also give this agent all earlier fragments it never worked on.")
@click.option(
    "--again", is_flag=True, help="With --backfill: repeat finished runs too; their model calls are paid again."
)
def archive(config_path: Path | None, user_id: int | None, backfill: str | None, again: bool) -> None:
    """Archive all messages now, without waiting for silence.

    A running bot is asked to do it; if none runs, it is done here.
    """
    if again and backfill is None:
        raise click.UsageError("--again belongs to --backfill AGENT")
    report = asyncio.run(_archive(load(config_path), user_id, backfill, again))
    click.echo(
        f"{report.fragments} fragments published; "
        f"runs: {report.applied} applied, {report.waiting} waiting, {report.dead} dead"
    )


async def _archive(config: Config, user_id: int | None, backfill: str | None, again: bool) -> ArchiveReport:
    from bot.application.rest import open_rest
    from bot.web.admin.operations import ARCHIVE_PATH, ArchiveReport

    async with open_rest(config, "with models") as rest:
        order = {"user_id": user_id, "backfill": backfill, "again": again}
        return await rest.post(ARCHIVE_PATH, order, ArchiveReport)


@command("laplaced import --user 123456789 --dry-run ~/Downloads/Telegram/result.json")
@click.argument("paths", nargs=-1, required=True, metavar="PATH...", type=click.Path(path_type=Path))
@click.option(
    "--user", "user_id", type=click.IntRange(-(2**63), 2**63 - 1), metavar="ID", required=True, help="Whose memory."
)
@click.option(
    "--format",
    "format_",
    type=click.Choice(["telegram", "slack", "github", "zoom", "contacts", "laplaced"]),
    help="[default: by what is in it]",
)
@click.option("--dry-run", is_flag=True, help="Only tell what it would be, and what the archivist would cost.")
@click.option("--me", multiple=True, metavar="NAME", help="A name or id of the user in the export; repeatable.")
@click.option(
    "--chat", "chats", multiple=True, metavar="NAME", help="Only this chat, channel or repository; repeatable."
)
@click.option("--start", type=click.DateTime(["%Y-%m-%dT%H:%M", "%Y-%m-%d %H:%M"]), help="When a Zoom meeting began.")
@click.option("--workspace", metavar="NAME", help="Slack workspace for the links: NAME.slack.com.")
@click.option("--price", type=click.FloatRange(min=0), metavar="USD", help="Dollars a million tokens, for --dry-run.")
def import_(config_path: Path | None, paths: tuple[Path, ...], format_: str | None, **more: Any) -> None:
    """Import conversations: Telegram Desktop's result.json, a Slack export, GitHub issues, Zoom transcripts; contacts.

    Contacts are vCards (.vcf) or Google's CSV; --dry-run shows the outcome for each. What `laplaced export` wrote is
    imported as a whole, if its user has no memory yet.

    Imported again, an export adds only what is new in it; an interrupted import continues where it stopped. A running
    bot stores it; if none runs, this command does.
    """
    for line in asyncio.run(_import(load(config_path), paths=paths, format=format_, **more)):
        click.echo(line)


async def _import(config: Config, **options: Any) -> list[str]:
    from bot.application.rest import open_rest
    from bot.cli.imports import ImportOptions, run_import

    paths = options["paths"]
    if options["format"] == "laplaced" or (options["format"] is None and any(map(owner.is_own_export, paths))):
        return await owner.read_back(config, options["user_id"], paths, dry_run=options["dry_run"])
    if options["format"] == "contacts" or (options["format"] is None and any(map(contacts.is_contacts, paths))):
        return await contacts.run_import(config, options["user_id"], paths, dry_run=options["dry_run"])
    async with open_rest(config, "started if there is one" if options["dry_run"] else "started") as rest:
        return await run_import(config, ImportOptions(**options), rest)


@command("laplaced backup --to /mnt/nas/laplaced-monday.db")
@click.option(
    "--to",
    "target",
    type=click.Path(path_type=Path, dir_okay=False),
    help="File to write; it must not exist yet.  [default: a new one in the data folder, where the newest 7 are kept]",
)
def backup(config_path: Path | None, target: Path | None) -> None:
    """Copy the database into one verified file, while the bot goes on.

    The keys of the data folder are not in it: keep hmac_key beside your backups.
    """
    report = asyncio.run(_back_up(load(config_path), target))
    click.echo(report)


async def _back_up(config: Config, target: Path | None) -> str:
    from bot.application.rest import open_rest
    from bot.web.admin.operations import BACKUP_PATH, BackupReport

    async with open_rest(config) as rest:
        if target is None:
            made = await rest.post(BACKUP_PATH, {}, BackupReport)
        else:
            made = await _back_up_to(await asyncio.to_thread(target.absolute), rest, config)
    return f"{made.path} (schema {made.revision}, {made.size / 1e6:.1f} MB, verified)"


async def _back_up_to(target: Path, rest: RestClient, config: Config) -> BackupReport:
    """Moves the server's copy to the target: the server may have no rights to write there."""
    from bot.web.admin.operations import BACKUP_PATH, BackupReport
    from internal.storage.backup import backup as files

    with handed_over(files.folder_of(config.data_dir)) as copy, files.new_at(target, datetime.now(UTC)) as making:
        made = await rest.post(BACKUP_PATH, {"to": str(copy)}, BackupReport)
        moved = making.finished(await asyncio.to_thread(files.copy, copy, making.draft))
    return BackupReport(str(target), made.at, moved.revision, moved.size)


@command("laplaced restore --force data/backups/laplaced-20261121T101500Z-0001.db")
@click.argument("file", type=click.Path(path_type=Path, dir_okay=False))
@click.option("--force", is_flag=True, help="Replace the database that is there; it is kept under another name.")
def restore(config_path: Path | None, file: Path, force: bool) -> None:
    """Put a backup in the place of the database. The bot must be stopped.

    The backup is verified first. Forgettings since it was made are repeated, if the replaced
    database can be read.
    """
    for line in asyncio.run(_restore(load(config_path), file, force)):
        click.echo(line)


async def _restore(config: Config, file: Path, force: bool) -> list[str]:
    from internal.artifacts.repository import kept_files
    from internal.artifacts.store import ArtifactStore
    from internal.flows.operations.migrate_store import name_of
    from internal.flows.operations.restore import restore as put_back, restore_into
    from internal.scheduling.clock import SystemClock
    from internal.storage.database import Database
    from internal.storage.engine.data_lock import hold_for
    from internal.storage.files.keys import ensure_key

    store, clock = config.store, SystemClock()
    with hold_for(store, config.data_dir):
        key = ensure_key(config.data_dir, "hmac_key").encode()
        if isinstance(store, Path):
            done = await put_back(file, store, clock=clock, tombstone_key=key, force=force)
        else:
            done = await restore_into(file, store, config.data_dir, clock=clock, tombstone_key=key, force=force)
        async with Database.open(store) as database:
            wanted = await database.read(kept_files)
        lost = await ArtifactStore(config.artifacts.url, config.data_dir).put_back(wanted)
    lines = [f"restored {file} (schema {done.revision}) to {store if isinstance(store, Path) else name_of(store)}"]
    if done.kept is not None:
        lines.append(f"the replaced database is kept: {done.kept}")
    if done.forgotten is None:
        lines.append("the replaced database cannot be read: people forgotten after the backup are known again")
    elif done.forgotten:
        lines.append(f"forgotten again, as asked for after the backup: {done.forgotten}")
    if lost:
        lines.append(
            f"files whose bytes are neither in the store nor in backups/artifacts: {len(lost)} of {len(wanted)}"
        )
    return lines


@command("laplaced doctor --json")
@click.option("--json", "as_json", is_flag=True, help="One JSON object: the checks, and how many are findings.")
def doctor(config_path: Path | None, as_json: bool) -> None:
    """Check the installation, and say how to repair it. The exit code is 1 if there is a finding.

    A running bot is asked; if none runs, its data is looked at here. Each model in use is asked for a few tokens;
    nothing is changed.
    """
    from internal.flows.operations.health_checks import Level

    checks = asyncio.run(_examine(load(config_path)))
    findings = [check for check in checks if check.level is Level.FINDING]
    click.echo(_as_json(checks, len(findings)) if as_json else _as_lines(checks))
    if findings:
        raise SystemExit(FAILED)


async def _examine(config: Config) -> list[Check]:
    from bot.application.rest import open_rest
    from bot.web.admin.operations import DOCTOR_PATH
    from internal.flows.operations.health_checks import Check

    async with open_rest(config, "nothing") as rest:
        return await rest.post(DOCTOR_PATH, {}, list[Check])


def _as_json(checks: list[Check], findings: int) -> str:
    from dataclasses import asdict

    from internal.telemetry.logs import redact

    plain = redact.clean({"findings": findings, "checks": [asdict(check) for check in checks]})
    return json.dumps(plain, ensure_ascii=False, indent=2)


def _as_lines(checks: list[Check]) -> str:
    from internal.telemetry.logs import redact

    lines = (f"{c.level:<8} {c.name:<11} {c.message}{f'. Fix: {c.fix}' if c.fix else ''}" for c in checks)
    return "\n".join(redact(" ".join(line.split("\n"))) for line in lines)


def _number(_: click.Context, __: click.Parameter, value: str | None) -> int | None:
    """Parses the number of an update; 0 stands for `all`."""
    if value is None or value == "all":
        return None if value is None else 0
    if value.isascii() and value.isdecimal() and 0 < int(value) < 2**63:
        return int(value)
    raise click.BadParameter("a number of the list, or all")


@command("laplaced quarantine --replay all")
@click.option("--show", "shown", callback=_number, metavar="N", help="Print this update as Telegram sent it.")
@click.option("--replay", "replayed", callback=_number, metavar="N|all", help="Handle it once more.")
@click.option("--drop", "dropped", callback=_number, metavar="N|all", help="Give it up: its text is deleted.")
def quarantine(config_path: Path | None, shown: int | None, replayed: int | None, dropped: int | None) -> None:
    """List the updates that could not be handled; show, replay or drop them."""
    if sum(choice is not None for choice in (shown, replayed, dropped)) > 1:
        raise click.UsageError("--show, --replay and --drop exclude one another")
    for line in asyncio.run(_quarantine(load(config_path), shown, replayed, dropped)):
        click.echo(line)


async def _quarantine(config: Config, shown: int | None, replayed: int | None, dropped: int | None) -> list[str]:
    from bot.application.rest import open_rest
    from bot.web.admin.operations import DROP_PATH, QUARANTINE_PATH, REPLAY_PATH
    from internal.dialogue.mailbox.model import QuarantinedUpdate

    async with open_rest(config) as rest:
        if replayed is not None:
            return [f"{await rest.post(REPLAY_PATH, {'n': replayed or None}, int)} updates are handled once more"]
        if dropped is not None:
            return [f"{await rest.post(DROP_PATH, {'n': dropped or None}, int)} updates are given up"]
        updates = await rest.post(QUARANTINE_PATH, {}, list[QuarantinedUpdate])
    if shown is not None:
        return [update.raw for update in updates if shown in {0, update.n}]
    return [f"{update.n}  {update.received_at:%Y-%m-%d %H:%M} UTC  {update.error}" for update in updates]


@command("laplaced runs --revive")
@click.option("--user", "user_id", type=click.IntRange(-(2**63), 2**63 - 1), metavar="ID", help="Of this user only.")
@click.option("--revive", is_flag=True, help="Give them another series of attempts.")
def runs(config_path: Path | None, user_id: int | None, revive: bool) -> None:
    """List the runs that were given up, and why; revive them once the reason is gone."""
    for line in asyncio.run(_runs(load(config_path), user_id, revive)):
        click.echo(line)


async def _runs(config: Config, user_id: int | None, revive: bool) -> list[str]:
    from bot.application.rest import open_rest
    from bot.web.admin.operations import DEAD_RUNS_PATH, REVIVE_PATH, DeadRun

    async with open_rest(config) as rest:
        if revive:
            return [f"{await rest.post(REVIVE_PATH, {'user_id': user_id}, int)} runs are tried again"]
        dead = await rest.post(DEAD_RUNS_PATH, {"user_id": user_id}, list[DeadRun])
    return [f"{run.created_at:%Y-%m-%d %H:%M} UTC  user {run.user_id}  {run.agent}  {run.error}" for run in dead]
