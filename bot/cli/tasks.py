"""`laplaced tasks`: what a user has to do; added, done, postponed and cancelled from the command line."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import click

from bot.cli.base import command, fail, load

if TYPE_CHECKING:
    from bot.web.client import RestClient
    from internal.config.settings import Config

_STATES = ("proposed", "open", "done", "cancelled")


@command('laplaced tasks --user 123456789 --add "Buy bread" --due 2026-11-27T18:30')
@click.option(
    "--user", "user_id", type=click.IntRange(-(2**63) + 1, 2**63 - 1), metavar="ID", required=True, help="Whose."
)
@click.option("--state", type=click.Choice(_STATES), help="Only those in this state.  [default: all]")
@click.option("--add", "title", metavar="WORDS", help="Open a task.")
@click.option("--due", metavar="TIME", help="When it is due: ISO 8601, or a bare date for the whole day.")
@click.option("--repeat", metavar="RRULE", help="How it comes again, such as FREQ=WEEKLY;BYDAY=MO.")
@click.option("--done", metavar="TASK", help="Close the task of this id as done.")
@click.option("--cancel", metavar="TASK", help="Cancel the task of this id.")
@click.option("--limit", type=click.IntRange(1, 1000), default=100, show_default=True, help="Tasks shown.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object a task.")
def tasks(config_path: Path | None, user_id: int, as_json: bool, **options: Any) -> None:
    """Show what a user has to do, by time, or change it."""
    if (options["due"] or options["repeat"]) and not options["title"]:
        fail("--due and --repeat belong to --add")
    for task in asyncio.run(_tasks(load(config_path), user_id, options)):
        click.echo(json.dumps(task, ensure_ascii=False) if as_json else _task_line(task))


async def _tasks(config: Config, user_id: int, options: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    from bot.application.rest import open_rest

    async with open_rest(config) as rest:
        changed = await _change(rest, user_id, options)
        if changed is not None:
            return [changed]
        query = {"user_id": user_id, "limit": options["limit"]}
        query |= {"state": options["state"]} if options["state"] else {}
        rows: list[Mapping[str, Any]] = (await rest.get("/tasks", query))["tasks"]
        return rows


async def _change(rest: RestClient, user_id: int, options: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """Adds or closes a task and returns it, or None if no option asks for a change."""
    if options["title"]:
        body = {"user_id": user_id, "title": options["title"]}
        body |= {"due_at": options["due"]} if options["due"] else {}
        body |= {"recurrence": options["repeat"]} if options["repeat"] else {}
        added: Mapping[str, Any] = await rest.send("POST", "/tasks", body)
        return added
    for option, state in (("done", "done"), ("cancel", "cancelled")):
        if options[option]:
            path = f"/tasks/{quote(options[option], safe='')}"
            closed: Mapping[str, Any] = await rest.send("PATCH", path, {"state": state}, {"user_id": user_id})
            return closed
    return None


def _task_line(task: Mapping[str, Any]) -> str:
    due = (task["due_at"] or "")[: 10 if task["whole_day"] else 16] or "no date"
    again = f"  {task['recurrence']}" if task["recurrence"] else ""
    return f"{task['id']}  {task['state']:9}  {due:16}  {task['title']}{again}"
