"""What all commands share: the configuration, an example in the help, errors as one line."""

from __future__ import annotations

import contextlib
import functools
import logging
import secrets
import shlex
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn, ParamSpec, TypeVar

import click

if TYPE_CHECKING:
    from internal.config.settings import Config


P = ParamSpec("P")
T = TypeVar("T")

DEFAULT_CONFIG = Path("config.yaml")
FAILED = 1

_config = click.option(
    "--config",
    "config_path",
    type=click.Path(path_type=Path, dir_okay=False),
    help=f"Configuration file.  [default: {DEFAULT_CONFIG}, if there is one]",
)


def _tells_failures(command: Callable[P, T]) -> Callable[P, T]:
    """Prints a known error as one line on stderr with exit code 1; any other exception is a bug and crashes."""

    @functools.wraps(command)
    def wrapped(*args: P.args, **kwargs: P.kwargs) -> T:
        from internal.errors import LaplacedError, StorageDamaged

        try:
            return command(*args, **kwargs)
        except StorageDamaged as error:
            fail(f"{error}; {_way_out(kwargs.get('config_path'))}")
        except LaplacedError as error:
            fail(str(error))

    return wrapped


def fail(message: str) -> NoReturn:
    """Ends the program with one line on stderr, without secrets, and exit code 1."""
    from internal.telemetry.logs import redact

    click.echo(f"laplaced: {redact(' '.join(message.split()))}", err=True)
    raise SystemExit(FAILED)


def _way_out(config_path: object) -> str:
    """How to repair a damaged database, with the exact command."""
    from internal.storage.backup import backup

    path = config_path if isinstance(config_path, Path) else None
    backups = backup.listing(backup.folder_of(load(path).data_dir))
    if not backups:
        return "there is no backup in the data folder; restore one of your own: laplaced restore --force FILE"
    words = ["laplaced", "restore", "--force", *(["--config", str(path)] if path else []), str(backups[0].path)]
    return f"the newest backup is of {backups[0].at:%Y-%m-%d %H:%M} UTC; to restore it: {shlex.join(words)}"


def command(example: str, group: click.Group | None = None) -> Callable[[Callable[..., Any]], click.Command]:
    """Makes a command of the group, or of `laplaced` itself: it takes `--config`, has an example in its help and prints
    its failures."""

    def register(function: Callable[..., Any]) -> click.Command:
        above = main if group is None else group
        name = example.split()[1 if group is None else 2]  # `import` cannot be the name of a function
        return above.command(name, epilog=f"Example: {example}")(_config(_tells_failures(function)))

    return register


def load(path: Path | None, *, quiet: bool = False) -> Config:
    """Loads the configuration and sets up logs that hide its secrets; `quiet`: they show errors only."""
    from internal.config import settings
    from internal.telemetry import logs

    if path is None and DEFAULT_CONFIG.is_file():
        path = DEFAULT_CONFIG
    loaded = settings.load(path)
    logs.configure(loaded.secrets(), level=logging.ERROR if quiet else logging.INFO)
    return loaded


@contextlib.contextmanager
def handed_over(folder: Path) -> Iterator[Path]:
    """Yields a free path in a folder where the server reads and writes files for a command.

    The file is deleted at the end.
    """
    path = folder.absolute() / f".handed-over-{secrets.token_hex(8)}"
    try:
        yield path
    finally:
        path.unlink(missing_ok=True)


@click.group(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(package_name="laplaced")
def main() -> None:
    """A Telegram companion that remembers the people in your life, and can say where it knows them from."""


def command_group(example: str) -> Callable[[Callable[[], None]], click.Group]:
    """Makes a group of commands, which use the `--config` given before their names."""

    def register(function: Callable[[], None]) -> click.Group:
        @click.pass_context
        def invoked(context: click.Context, config_path: Path | None) -> None:
            if config_path is not None and isinstance(context.command, click.Group):
                context.default_map = {name: {"config_path": config_path} for name in context.command.commands}

        group = main.group(example.split()[1], epilog=f"Example: {example}", help=function.__doc__)
        return group(_config(functools.update_wrapper(invoked, function)))

    return register


@command_group("laplaced graph audit --user 123456789")
def graph() -> None:
    """Ask the graph of one user, examine it, and keep it in order."""


def graph_command(example: str) -> Callable[[Callable[..., Any]], click.Command]:
    """Makes a command of this group (`laplaced graph NAME ...`), like `command`."""
    return command(example, graph)
