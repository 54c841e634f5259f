"""How a command reaches the server that holds the data folder."""

from __future__ import annotations

import httpx
from pydantic import TypeAdapter, ValidationError

from bot.web.admin import ARCHIVE_PATH, ArchiveReport
from internal.config import Config
from internal.errors import LaplacedError
from internal.storage.keys import existing_key
from internal.storage.lock import Holder

PATIENCE = httpx.Timeout(10.0, read=3600.0)
"""Archival asks models, fragment after fragment: only the connection itself must be quick."""

_REPORT = TypeAdapter(ArchiveReport)


class ServerUnreachable(LaplacedError):
    """The process that holds the data folder does not answer."""


class ServerRefused(LaplacedError):
    """The server refused the request."""


async def ask_archive(config: Config, server: Holder, user_id: int | None, backfill: str | None) -> ArchiveReport:
    """Asks the holder of the data folder to archive now, and waits for its report.

    Raises ServerUnreachable, and ServerRefused with the server's own words.
    """
    answer = await _post(server, _key(config), {"user_id": user_id, "backfill": backfill})
    if answer.is_error:
        raise ServerRefused(_detail(answer))
    try:
        return _REPORT.validate_json(answer.content)
    except ValidationError:
        raise ServerUnreachable(f"what answers at {server.url} is no Laplaced") from None


async def _post(server: Holder, key: str, order: dict[str, int | str | None]) -> httpx.Response:
    # The guard knows this machine as localhost, whatever address the server listens on.
    headers = {"Host": "localhost"} | ({"Authorization": f"Bearer {key}"} if key else {})
    # A proxy from the environment must not come between two processes of one machine.
    async with httpx.AsyncClient(timeout=PATIENCE, trust_env=False, headers=headers) as client:
        try:
            return await client.post(f"{server.url}{ARCHIVE_PATH}", json=order)
        except httpx.HTTPError as error:
            said = f"process {server.pid} holds the data folder but does not answer at {server.url}"
            raise ServerUnreachable(f"{said}: {type(error).__name__}") from error


def _key(config: Config) -> str:
    return config.server.api_key.get_secret_value() or existing_key(config.data_dir, "server_api_key") or ""


def _detail(answer: httpx.Response) -> str:
    try:
        return str(answer.json()["detail"])
    except (ValueError, KeyError, TypeError):
        return f"the server answered {answer.status_code}"
