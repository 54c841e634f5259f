"""`laplaced snapshots`: the snapshot of one user, its earlier versions, and restoring one of them."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from bot.cli.base import command, load

if TYPE_CHECKING:
    from internal.config.settings import Config

_BY_RULES = (
    "By rules: without a model it quotes the owner, does not rephrase, and notices an end only where it is stated."
)


@command("laplaced snapshots --user 123456789 --restore 12")
@click.option(
    "--user", "user_id", type=click.IntRange(-(2**63) + 1, 2**63 - 1), metavar="ID", required=True, help="Whose."
)
@click.option("--restore", type=click.IntRange(1), metavar="VERSION", help="Make this version the latest again.")
@click.option("--limit", type=click.IntRange(1, 1000), default=1, show_default=True, help="Versions shown.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object a version.")
def snapshots(config_path: Path | None, user_id: int, restore: int | None, limit: int, as_json: bool) -> None:
    """Show what the bot keeps in mind of a user in every conversation, the latest version first."""
    for version in asyncio.run(_snapshots(load(config_path), user_id, restore, limit)):
        click.echo(json.dumps(version, ensure_ascii=False) if as_json else _version_text(version))


async def _snapshots(config: Config, user_id: int, restore: int | None, limit: int) -> list[Mapping[str, Any]]:
    from bot.application.rest import open_rest

    async with open_rest(config) as rest:
        if restore is not None:
            return [await rest.send("POST", f"/snapshots/{restore}/restore", {"user_id": user_id})]
        versions: list[Mapping[str, Any]] = (await rest.get("/snapshots", {"user_id": user_id, "limit": limit}))[
            "snapshots"
        ]
        return versions


def _version_text(version: Mapping[str, Any]) -> str:
    restored = f", again version {version['restored_from']}" if version["restored_from"] else ""
    lines = [f"version {version['version']} of {version['created_at']}{restored}"]
    lines += [_BY_RULES] if version["by"] == "rules" else []
    for part in ("who", "now", "threads"):
        lines += [f"{part}:"] if version[part] else []
        lines += [f"  {item['at'][:10]} {item['text']}" for item in version[part]]
    return "\n".join(lines)
