"""How a command calls the REST application: of the running server, or in this process if no bot runs."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator
from typing import TYPE_CHECKING, Final, Literal

import httpx

from bot.web.client import RestClient
from internal.storage.engine.data_lock import held, holder
from internal.storage.files.keys import existing_key

if TYPE_CHECKING:
    from internal.config.settings import Config
    from internal.storage.engine.data_lock import Holder

Opening = Literal["stopped", "started", "started if there is one", "with models", "nothing"]
"""What a command opens if no bot runs: the database of a stopped bot as it is; one that is made or migrated first, as a
start does it, or (for a dry run) only if there is one; the product with its models; or nothing."""

TIMEOUT: Final = httpx.Timeout(10.0, read=3600.0)
"""Seconds to connect, and to wait for a reply: archival asks models, fragment after fragment."""


@contextlib.asynccontextmanager
async def open_rest(config: Config, opening: Opening = "stopped") -> AsyncIterator[RestClient]:
    """The REST calls of this installation.

    Raises what `open_stopped`, `open_as_started` or `open_app` raises. Inside this process a call raises the errors of
    the application themselves, and CallRefused for a request that breaks a rule.
    """
    async with contextlib.AsyncExitStack() as stack:
        server = running_server(config)
        if server is not None:
            rest = rest_of(server, config)
        else:
            from bot.application.in_process import open_application

            rest = RestClient.inside(await stack.enter_async_context(open_application(config, opening)), "")
        yield await stack.enter_async_context(contextlib.aclosing(rest))


def rest_of(server: Holder, config: Config) -> RestClient:
    """The REST calls of the process that holds the data folder."""
    silent = f"process {server.pid} holds the data folder but does not answer at {server.url}"
    return RestClient.of_server(server.url or "", key_of(config), timeout=TIMEOUT, unreachable=silent)


def key_of(config: Config) -> str:
    """The key of the running server, or empty if it has made none yet."""
    return config.server.api_key.get_secret_value() or existing_key(config.data_dir, "server_api_key") or ""


def running_server(config: Config) -> Holder | None:
    """The running server of this data folder, or None."""
    server = holder(config.data_dir) if held(config.data_dir) else None
    return server if server is not None and server.url is not None else None
