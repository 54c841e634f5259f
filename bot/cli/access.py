"""`laplaced key`: named keys for REST and MCP; `laplaced logout`: the end of the console's sessions."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from bot.cli.base import command, command_group, load

if TYPE_CHECKING:
    from internal.access.api_keys import ApiKeys
    from internal.config.settings import Config


@command_group("laplaced key list")
def key() -> None:
    """Named keys for REST and MCP, beside the server's own: of one user or of all, for reading only or for all."""


def key_command(example: str) -> Callable[[Callable[..., Any]], click.Command]:
    return command(example, key)


@key_command("laplaced key add notebook --user 123456789 --read-only")
@click.argument("name", metavar="NAME")
@click.option(
    "--user", "user_id", type=click.IntRange(-(2**63) + 1, 2**63 - 1), metavar="ID", help="Of this user only."
)
@click.option("--read-only", is_flag=True, help="It changes nothing: GET, searches, and the MCP tools that read.")
def add(config_path: Path | None, name: str, user_id: int | None, read_only: bool) -> None:
    """Make a key and print it, once: only its hash is kept."""
    click.echo(_keys(config_path).add(name, user_id, read_only=read_only, now=datetime.now(UTC)))


@key_command("laplaced key list --config /etc/laplaced.yaml")
def list_(config_path: Path | None) -> None:
    """List the keys by name, never the keys themselves."""
    for one in _keys(config_path).all():
        whose = "everybody" if one.user_id is None else f"user {one.user_id}"
        rights = "reads" if one.read_only else "reads and writes"
        click.echo(f"{one.name}  {whose}  {rights}  since {one.created_at:%Y-%m-%d %H:%M} UTC")


@key_command("laplaced key revoke notebook")
@click.argument("name", metavar="NAME")
def revoke(config_path: Path | None, name: str) -> None:
    """Revoke a key. It ends at once, also for what is being streamed with it."""
    _keys(config_path).revoke(name)
    click.echo(f"key {name} is revoked")


def _keys(config_path: Path | None) -> ApiKeys:
    from internal.access.api_keys import ApiKeys

    return ApiKeys(load(config_path).data_dir)


@command("laplaced logout --user 123456789")
@click.option(
    "--user", "user_id", type=click.IntRange(-(2**63) + 1, 2**63 - 1), metavar="ID", help="Of this user only."
)
def logout(config_path: Path | None, user_id: int | None) -> None:
    """End all sessions of the console, the admin's too, and all of its links that nobody has used yet."""
    click.echo(f"{asyncio.run(_logout(load(config_path), user_id))} sessions are ended")


async def _logout(config: Config, user_id: int | None) -> int:
    from bot.application.rest import open_rest

    async with open_rest(config) as rest:
        return int((await rest.delete("/console/sessions", {"user_id": user_id}))["ended"])
