"""`laplaced graph audit` and `transcript`: the audit of the chronicle of one user, and its transcripts as Markdown."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import click

from bot.cli.base import fail, graph_command, load

if TYPE_CHECKING:
    from internal.config.settings import Config

_USER = click.option(
    "--user", "user_id", type=click.IntRange(-(2**63) + 1, 2**63 - 1), metavar="ID", required=True, help="Whose memory."
)

_PAGE = 1000
"""The most sessions in one answer."""


@graph_command("laplaced graph audit --user 123456789 --repair")
@_USER
@click.option("--repair", is_flag=True, help="Mend what can be mended.")
def audit(config_path: Path | None, user_id: int, repair: bool) -> None:
    """Audit a user's chronicle, as one JSON object: shares from 0 to 1, and counts of orphans.

    A repair prints the figures before and after it, and what it repaired. Exit code 1 if something is broken that is
    not a matter of judgement: a step of the line, a lost answer, an orphan.
    """
    report = asyncio.run(_audit(load(config_path), user_id, repair))
    click.echo(json.dumps(report, ensure_ascii=False))
    left = report["after"] if repair else report
    if left["next_integrity"] < 1 or left["full_text"] < 1 or left["orphans"]:
        fail("the chronicle is not whole" + ("" if repair else "; laplaced graph audit --repair mends what can be"))


async def _audit(config: Config, user_id: int, repair: bool) -> Mapping[str, Any]:
    from bot.application.rest import open_rest

    async with open_rest(config) as rest:
        query = {"user_id": user_id}
        report: Mapping[str, Any] = await (
            rest.send("POST", "/chronicle/repair", query) if repair else rest.get("/chronicle/audit", query)
        )
    return report


@graph_command("laplaced graph transcript --user 123456789 > conversations.md")
@_USER
@click.option("--session", "session_id", metavar="ID", help="Only this one.  [default: all, oldest first]")
def transcript(config_path: Path | None, user_id: int, session_id: str | None) -> None:
    """Write what was said, word for word, as Markdown."""
    asyncio.run(_transcript(load(config_path), user_id, session_id))


async def _transcript(config: Config, user_id: int, session_id: str | None) -> None:
    async for text in _transcripts(config, user_id, session_id):
        click.echo(text)


async def _transcripts(config: Config, user_id: int, session_id: str | None) -> AsyncIterator[str]:
    from bot.application.rest import open_rest

    async with open_rest(config) as rest:
        if session_id is not None:
            yield await rest.text(f"/chronicle/sessions/{quote(session_id, safe='')}/transcript", {"user_id": user_id})
            return
        offset = 0
        while True:
            query = {"user_id": user_id, "limit": _PAGE, "offset": offset}
            sessions = (await rest.get("/chronicle/sessions", query))["sessions"]
            for session in sessions:
                yield await rest.text(f"/chronicle/sessions/{session['id']}/transcript", {"user_id": user_id})
            offset += len(sessions)
            if len(sessions) < _PAGE:
                return
