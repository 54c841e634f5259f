"""Commands about all data of one user: export, import of an export, forget."""

from __future__ import annotations

import asyncio
import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import click

from bot.cli.base import command, handed_over, load

if TYPE_CHECKING:
    from internal.config.settings import Config
    from internal.flows.forgetting.requests import Erased
    from internal.storage.forgetting.forgettings import Kind

_USER = click.option(
    "--user", "user_id", type=click.IntRange(-(2**63), 2**63 - 1), metavar="ID", required=True, help="Whose memory."
)

_OURS = re.compile(rb'\s*\{\s*"format"\s*:\s*"laplaced-export/')
_BEGINNING = 200
"""The first bytes of a file, by which an export of Laplaced is recognised."""


@command("laplaced export --user 123456789 --out olena.json")
@_USER
@click.option(
    "--out",
    "target",
    type=click.Path(path_type=Path, dir_okay=False),
    help="File to write; it must not exist yet.  [default: standard output]",
)
@click.option("--format", "format_", type=click.Choice(["json", "vcard"]), default="json", help="[default: json]")
def export(config_path: Path | None, user_id: int, target: Path | None, format_: str) -> None:
    """Write all that is kept of one user as JSON, which `laplaced import` reads back, or all people as vCards.

    A running bot is asked for it; if none runs, the data is read here. Vectors are left out: they are made again.
    """
    document = asyncio.run(_export(load(config_path), user_id, format_))
    if target is None:
        click.echo(document, nl=format_ == "json")
        return
    _write_private(target, document)
    click.echo(f"{target} ({target.stat().st_size / 1e6:.1f} MB)")


async def _export(config: Config, user_id: int, format_: str) -> str:
    from bot.application.rest import open_rest
    from bot.web.admin.owner_data import EXPORT_PATH

    async with open_rest(config) as rest:
        if format_ == "vcard":
            return await rest.text("/contacts/export", {"user_id": user_id})
        return await rest.text(EXPORT_PATH, body={"user_id": user_id})


def _write_private(target: Path, document: str) -> None:
    """Writes a file that only its owner may read: it holds somebody's whole memory."""
    try:
        handle = os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except OSError as error:
        raise click.ClickException(f"{target} cannot be written: {error.strerror}") from None
    with os.fdopen(handle, "w", encoding="utf-8", newline="") as file:
        file.write(document)


@command("laplaced forget --user 123456789 --person 42")
@_USER
@click.option("--person", metavar="ID", help="A person, with every fact, memory and note that names them.")
@click.option("--fact", metavar="ID", help="A fact in all its versions; the message that said it stays.")
@click.option("--messages", is_flag=True, help="With --fact or --person: the messages about it too.")
@click.option("--entity", metavar="ID", help="A thing, with all facts about it.")
@click.option("--memory", metavar="ID", help="A memory, goal, question ... with its links; what was said stays.")
@click.option("--episode", metavar="ID", help="A fragment with its messages, or a text, and all that follows from it.")
@click.option("--message", metavar="ID", help="One message, and all that only it supports.")
@click.option("--everything", is_flag=True, help="All that is kept of this user.")
@click.option("--undo", "undone", metavar="ID", help="Show again what is hidden for this forgetting.")
@click.option("--yes", is_flag=True, help="Do not ask.")
def forget(
    config_path: Path | None,
    user_id: int,
    messages: bool,
    everything: bool,
    yes: bool,
    undone: str | None,
    **chosen: str | None,
) -> None:
    """Erase something of one user for good, at once, and print what was erased with it.

    A running bot does it; if none runs, it is done here. The messages that state it stay, unless --messages is given;
    their number is shown before a confirmation. Older backups still hold it: they are named.
    """
    if undone is not None and not (everything or any(chosen.values())):
        asyncio.run(_undo(load(config_path), user_id, undone))
        return
    kind, ref_id = _one_of(everything or undone is not None, chosen)
    about = kind in ("fact", "person")
    if messages and not about:
        raise click.UsageError("--messages goes with --fact and --person only")
    what = "everything" if ref_id is None else f"{kind} {ref_id}" + " with its messages" * messages
    if not yes:
        count = asyncio.run(_count_messages(load(config_path), user_id, kind, ref_id)) if about else 0
        note = f" Messages about it: {count}; they {'go too' if messages else 'stay'}." if count else ""
        click.confirm(f"Erase {what} of user {user_id} for good?{note}", abort=True)
    erased = asyncio.run(_forget(load(config_path), user_id, kind, ref_id, messages=messages))
    for line in _report_lines(what, erased):
        click.echo(line)


def _one_of(everything: bool, chosen: Mapping[str, str | None]) -> tuple[Kind, str | None]:
    chosen_options = {name: value for name, value in chosen.items() if value is not None}
    if len(chosen_options) + everything != 1:
        raise click.UsageError(f"one of --{', --'.join(chosen)} and --everything is needed")
    if everything:
        return "everything", None
    [(kind, ref_id)] = chosen_options.items()
    return kind, ref_id  # type: ignore[return-value] # the options are named like the kinds


async def _forget(config: Config, user_id: int, kind: Kind, ref_id: str | None, *, messages: bool) -> Erased:
    from bot.application.rest import open_rest
    from bot.web.admin.owner_data import FORGET_PATH
    from internal.flows.forgetting.requests import Erased

    order = {"user_id": user_id, "kind": kind, "ref_id": ref_id, "messages": messages}
    async with open_rest(config) as rest:
        return await rest.post(FORGET_PATH, order, Erased)


async def _count_messages(config: Config, user_id: int, kind: Kind, ref_id: str | None) -> int:
    from bot.application.rest import open_rest
    from bot.web.admin.owner_data import MESSAGES_PATH

    async with open_rest(config) as rest:
        return await rest.post(MESSAGES_PATH, {"user_id": user_id, "kind": kind, "ref_id": ref_id}, int)


async def _undo(config: Config, user_id: int, forgetting: str) -> None:
    from bot.application.rest import open_rest
    from bot.web.admin.owner_data import UNDO_PATH

    async with open_rest(config) as rest:
        await rest.text(UNDO_PATH, body={"user_id": user_id, "forgetting": forgetting})


def _report_lines(what: str, erased: Erased) -> list[str]:
    from internal.storage.backup.backup import HELD

    counts = ", ".join(f"{count} {name}" for name, count in erased.erased.items())
    lines = [f"forgotten: {what}" + (f" ({counts})" if counts else "")]
    lines += [f"from the same lines, and may say the same; it stays in the profile: {one}" for one in erased.remaining]
    if not erased.log_emptied:
        lines.append("somebody still reads the write-ahead log; it is emptied by the bot's next tick")
    if erased.backups:
        lines.append(f"backups that still hold it: {', '.join(erased.backups)}")
        lines.append(f"a running bot replaces and deletes them in {HELD.days} days; copies elsewhere are yours")
    return lines


def is_own_export(path: Path) -> bool:
    """Whether a file begins as `laplaced export` writes it."""
    try:
        with path.open("rb") as file:
            return _OURS.match(file.read(_BEGINNING)) is not None
    except OSError:
        return False


async def read_back(config: Config, user_id: int, paths: tuple[Path, ...], *, dry_run: bool) -> list[str]:
    """Imports an export of Laplaced. Returns the lines to print. Raises what `OwnerData.read_back` raises."""
    from bot.application.rest import open_rest
    from bot.web.admin.owner_data import READ_BACK_PATH
    from internal.errors import Refused
    from internal.flows.transfer.restore_export import ReadExport
    from internal.storage.files.permissions import private_copy

    if len(paths) != 1:
        raise Refused("paths", "an export of Laplaced is read back alone: give one file")
    if dry_run:
        return [f"{paths[0]} is an export of Laplaced: it would be read back whole, under the same ids"]
    async with open_rest(config, "started") as rest:
        with handed_over(config.data_dir) as file:
            try:
                await asyncio.to_thread(private_copy, paths[0], file)
            except OSError as error:
                raise Refused("paths", f"{paths[0]} cannot be read: {error.strerror}") from None
            done = await rest.post(READ_BACK_PATH, {"user_id": user_id, "file": str(file)}, ReadExport)
    if done.known:
        return ["everything said in it is there already: nothing was changed"]
    tables = ("messages", "episodes", "people", "facts", "claims")
    counts = ", ".join(f"{done.rows.get(name, 0)} {name}" for name in tables)
    return [f"read back: {counts}; {sum(done.rows.values())} rows in all"]
