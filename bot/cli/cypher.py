"""`laplaced graph query` and `rebuild`: Cypher over the mirror of one user's graph."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from bot.cli.base import graph_command, load

if TYPE_CHECKING:
    from bot.web.graph.cypher import CypherAnswer, Rebuilt
    from internal.config.settings import Config

_ID = click.IntRange(-(2**63) + 1, 2**63 - 1)


def _parameter(_: click.Context, __: click.Parameter, values: tuple[str, ...]) -> dict[str, Any]:
    """Parses `name=value`: the value as JSON if it is valid JSON, else as text."""
    params: dict[str, Any] = {}
    for pair in values:
        name, separator, value = pair.partition("=")
        if not separator or not name:
            raise click.BadParameter(f"{pair!r}: NAME=VALUE is expected")
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
    from bot.application.rest import open_rest
    from bot.web.graph.cypher import QUERY_PATH, CypherAnswer

    async with open_rest(config) as rest:
        return await rest.post(QUERY_PATH, {"user_id": user_id, "query": query, "params": params}, CypherAnswer)


@graph_command("laplaced graph rebuild --user 123456789")
@click.option("--user", "user_id", type=_ID, metavar="ID", help="Whose mirror.")
@click.option("--all", "everybody", is_flag=True, help="The mirrors of all users.")
def rebuild(config_path: Path | None, user_id: int | None, everybody: bool) -> None:
    """Drop the mirror of one user, or of everybody, and rebuild it from the database."""
    if (user_id is None) is not everybody:
        raise click.UsageError("either --user ID or --all is expected")
    for owner, things in asyncio.run(_rebuild(load(config_path), user_id)):
        click.echo(f"user {owner}: {things} nodes and edges")


async def _rebuild(config: Config, user_id: int | None) -> Rebuilt:
    from bot.application.rest import open_rest
    from bot.web.graph.cypher import REBUILD_PATH

    async with open_rest(config) as rest:
        return await rest.post(REBUILD_PATH, {"user_id": user_id}, list[tuple[int, int]])
