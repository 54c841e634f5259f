"""`laplaced graph`: the group of the commands over the graph, which bot/cli/main.py imports one by one."""

from collections.abc import Callable
from typing import Any

import click

from bot.cli.base import command, main


@main.group("graph", epilog="Example: laplaced graph audit --user 123456789")
def graph() -> None:
    """Ask the graph of one user, examine it, and keep it in order."""


def graph_command(example: str) -> Callable[[Callable[..., Any]], click.Command]:
    """A command of this group (`laplaced graph NAME ...`), with what every command has."""
    return command(example, graph)
