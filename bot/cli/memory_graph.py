"""`laplaced graph ...` for the memory graph: the specified example queries, associations, maintenance."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import click

from bot.cli.base import graph_command, load

if TYPE_CHECKING:
    from internal.config.settings import Config

_USER = click.option(
    "--user", "user_id", type=click.IntRange(-(2**63) + 1, 2**63 - 1), metavar="ID", required=True, help="Whose memory."
)


def _limit(default: int) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    return click.option("--limit", type=click.IntRange(1, 1000), default=default, show_default=True, help="Most rows.")


@graph_command('laplaced graph by-concept --user 123456789 "authentication"')
@_USER
@click.argument("concept", metavar="NAME")
@_limit(20)
def by_concept(config_path: Path | None, user_id: int, concept: str, limit: int) -> None:
    """List the memories that have a concept, last accessed first. One JSON object a row, as in every list here."""
    _print(_rows_of(config_path, "queries/by-concept", user_id, concept=concept, limit=limit)["nodes"])


@graph_command("laplaced graph open-questions --user 123456789")
@_USER
@_limit(1000)
def open_questions(config_path: Path | None, user_id: int, limit: int) -> None:
    """List open questions with the memories that might answer them."""
    _print(_rows_of(config_path, "queries/open-questions", user_id, limit=limit)["pairs"])


@graph_command("laplaced graph contradictions --user 123456789")
@_USER
@_limit(1000)
def contradictions(config_path: Path | None, user_id: int, limit: int) -> None:
    """List unresolved contradictions with the memories that take part in them."""
    _print(_rows_of(config_path, "queries/contradictions", user_id, limit=limit)["pairs"])


@graph_command('laplaced graph preferences --user 123456789 --category "coding style"')
@_USER
@click.option("--category", metavar="NAME", help="Only of this category.")
@_limit(1000)
def preferences(config_path: Path | None, user_id: int, category: str | None, limit: int) -> None:
    """List what the user likes and dislikes, strongest liking first."""
    _print(_rows_of(config_path, "queries/preferences", user_id, category=category, limit=limit)["nodes"])


@graph_command("laplaced graph shared-concepts --user 123456789 019ab2c4-7e00-7000-8000-000000000001")
@_USER
@click.argument("memory_id", metavar="MEMORY")
@_limit(20)
def shared_concepts(config_path: Path | None, user_id: int, memory_id: str, limit: int) -> None:
    """List other memories that share a concept with one."""
    _print(_rows_of(config_path, "queries/shared-concepts", user_id, memory_id=memory_id, limit=limit)["nodes"])


@graph_command("laplaced graph associations --user 123456789 --min-strength 0.3 019ab2c4-7e00-7000-8000-000000000001")
@_USER
@click.argument("memory_id", metavar="MEMORY")
@click.option("--min-strength", type=click.FloatRange(0, 1), default=0.0, show_default=True, help="Weakest link.")
@_limit(100)
def associations(config_path: Path | None, user_id: int, memory_id: str, min_strength: float, limit: int) -> None:
    """List the memories that one leads to, most strongly linked first."""
    path = f"nodes/{quote(memory_id, safe='')}/associations"
    _print(_rows_of(config_path, path, user_id, min_strength=min_strength, limit=limit)["associations"])


@graph_command(
    "laplaced graph merge --user 123456789 019ab2c4-7e00-7000-8000-000000000001 019ab2c4-7e00-7000-8000-000000000002"
)
@_USER
@click.argument("source_id", metavar="SOURCE")
@click.argument("target_id", metavar="TARGET")
def merge(config_path: Path | None, user_id: int, source_id: str, target_id: str) -> None:
    """Make one of two nodes that are the same thing: the source becomes part of the target.

    What is known of the source belongs to the target from now on, under either name. People are merged in the chat
    (/person).
    """
    path = f"nodes/{quote(source_id, safe='')}/merge?user_id={user_id}"
    _print([asyncio.run(_call(load(config_path), "POST", path, body={"target_id": target_id}))])


@graph_command("laplaced graph split --user 123456789 019ab2c4-7e00-7000-8000-000000000001")
@_USER
@click.argument("node_id", metavar="NODE")
def split(config_path: Path | None, user_id: int, node_id: str) -> None:
    """Undo the merge that made a node part of another, else the last one into it."""
    path = f"nodes/{quote(node_id, safe='')}/split?user_id={user_id}"
    _print([asyncio.run(_call(load(config_path), "POST", path, body={}))])


@graph_command("laplaced graph maintain --user 123456789 --dry-run")
@_USER
@click.option("--dry-run", is_flag=True, help="Only tell what it would come to.")
def maintain(config_path: Path | None, user_id: int, dry_run: bool) -> None:
    """Do now what is done every night: links decay by the time that passed, the weakest are pruned.

    The report lists memories that have faded. They are offered for forgetting; none is deleted by this.
    """
    order = {"user_id": user_id, "dry_run": dry_run}
    _print([asyncio.run(_call(load(config_path), "POST", "maintenance", body=order))])


def _rows_of(config_path: Path | None, path: str, user_id: int, **query: Any) -> Mapping[str, Any]:
    return asyncio.run(_call(load(config_path), "GET", path, query={"user_id": user_id, **query}))


async def _call(
    config: Config, method: str, path: str, *, query: Mapping[str, Any] | None = None, body: Any = None
) -> Mapping[str, Any]:
    from bot.application.rest import open_rest

    async with open_rest(config) as rest:
        answer: Mapping[str, Any] = await (
            rest.get(f"/memory/{path}", query) if method == "GET" else rest.send(method, f"/memory/{path}", body)
        )
    return answer


def _print(rows: Sequence[Mapping[str, Any]]) -> None:
    for row in rows:
        click.echo(json.dumps(row, ensure_ascii=False))
