"""`laplaced graph query` and `rebuild`: Cypher over the mirror of one user's graph."""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from bot.cli.base import load, server_of
from bot.cli.graph import graph_command

if TYPE_CHECKING:
    from bot.application.mirror import Mirrors
    from bot.web.graph.cypher import CypherAnswer, Rebuilt
    from internal.config import Config

_ID = click.IntRange(-(2**63) + 1, 2**63 - 1)


def _parameter(_: click.Context, __: click.Parameter, given: tuple[str, ...]) -> dict[str, Any]:
    """`name=value`: the value as JSON if it is any, else as text."""
    params: dict[str, Any] = {}
    for one in given:
        name, separator, value = one.partition("=")
        if not separator or not name:
            raise click.BadParameter(f"{one!r}: NAME=VALUE is expected")
        try:
            params[name] = json.loads(value)
        except ValueError:
            params[name] = value
    return params


@graph_command("laplaced graph query --user 123456789 \"MATCH (g:Goal {status: 'active'}) RETURN g\"")
@click.argument("query", metavar="CYPHER")
@click.option("--user", "user_id", type=_ID, metavar="ID", required=True, help="Whose graph.")
@click.option(
    "--param", "params", metavar="NAME=VALUE", multiple=True, callback=_parameter, help="A $NAME of the statement."
)
def query(config_path: Path | None, query: str, user_id: int, params: dict[str, Any]) -> None:
    """Ask one user's graph in Cypher: knowledge, memories and chronicle. Prints one JSON object a row.

    Only reading is possible. A running bot is asked; if none runs, or no mirror is configured, one is made for this
    question.
    """
    if not query.strip():
        raise click.UsageError("the statement is empty")
    for row in asyncio.run(_query(load(config_path), user_id, query, params)).rows:
        click.echo(json.dumps(row, ensure_ascii=False))


async def _query(config: Config, user_id: int, query: str, params: dict[str, Any]) -> CypherAnswer:
    server = server_of(config)
    if server is not None:
        from bot.web.client import ask_cypher

        return await ask_cypher(config, server, user_id, query, params)
    from bot.web.graph.cypher import CypherAnswer

    async with _mirrors(config) as mirrors:
        return CypherAnswer.of(await mirrors.query(user_id, query, params))


@graph_command("laplaced graph rebuild --user 123456789")
@click.option("--user", "user_id", type=_ID, metavar="ID", help="Whose mirror.")
@click.option("--all", "everybody", is_flag=True, help="The mirrors of all users.")
def rebuild(config_path: Path | None, user_id: int | None, everybody: bool) -> None:
    """Drop the mirror of one user, or of everybody, and build it anew from the database."""
    if (user_id is None) is not everybody:
        raise click.UsageError("either --user ID or --all is expected")
    for owner, things in asyncio.run(_rebuild(load(config_path), user_id)):
        click.echo(f"user {owner}: {things} nodes and edges")


async def _rebuild(config: Config, user_id: int | None) -> Rebuilt:
    server = server_of(config)
    if server is not None:
        from bot.web.client import ask_rebuild

        return await ask_rebuild(config, server, user_id)
    async with _mirrors(config) as mirrors:
        return await mirrors.rebuild(user_id)


@contextlib.asynccontextmanager
async def _mirrors(config: Config) -> AsyncIterator[Mirrors]:
    """The mirrors over the data of a stopped bot."""
    from bot.application.mirror import Mirrors
    from bot.application.operations import open_stopped
    from internal.scheduling.clock import SystemClock

    async with open_stopped(config) as database, Mirrors(config, database, SystemClock()).opened() as mirrors:
        yield mirrors
