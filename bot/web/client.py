"""How a command reaches the server that holds the data folder."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, TypeVar

import httpx
from pydantic import TypeAdapter, ValidationError

from bot.web.admin.imports import IMPORT_PATH, TERMS_PATH, ImportedEpisode, ImportOrder
from bot.web.admin.operations import (
    BACKUP_PATH,
    DEAD_RUNS_PATH,
    DOCTOR_PATH,
    DROP_PATH,
    QUARANTINE_PATH,
    QUEUES_PATH,
    REPLAY_PATH,
    REVIVE_PATH,
    BackupReport,
    DeadRun,
    Queues,
)
from bot.web.admin.owner_data import EXPORT_PATH, FORGET_PATH, READ_BACK_PATH
from bot.web.admin.recall import RECALL_PATH, Recalled, RecallOrder
from bot.web.admin.router import ARCHIVE_PATH, ArchiveReport
from bot.web.graph.cypher import QUERY_PATH, REBUILD_PATH, CypherAnswer, Rebuilt
from internal.config import Config
from internal.errors import LaplacedError
from internal.flows.forgetting.requests import Erased
from internal.flows.operations.health_checks import Check
from internal.flows.transfer.import_export import ReadExport
from internal.flows.transfer.imports import OwnerTerms, Taken
from internal.import_formats.model import Draft
from internal.mailbox.model import QuarantinedUpdate
from internal.storage.engine.data_lock import Holder
from internal.storage.erasure.forgettings import Kind
from internal.storage.key_files import existing_key

PATIENCE = httpx.Timeout(10.0, read=3600.0)
"""Archival asks models, fragment after fragment: only the connection itself must be quick."""

T = TypeVar("T")
Order = dict[str, int | str | bool | None]

_REPORT = TypeAdapter(ArchiveReport)
_BACKUP = TypeAdapter(BackupReport)
_CHECKS = TypeAdapter(list[Check])
_QUARANTINE = TypeAdapter(list[QuarantinedUpdate])
_DEAD_RUNS = TypeAdapter(list[DeadRun])
_COUNT = TypeAdapter(int)
_QUEUES = TypeAdapter(Queues)
_TERMS = TypeAdapter(OwnerTerms)
_TAKEN = TypeAdapter(Taken)
_ERASED = TypeAdapter(Erased)
_READ_BACK = TypeAdapter(ReadExport)
_RECALLED = TypeAdapter(Recalled)
_ROWS = TypeAdapter(CypherAnswer)
_REBUILT: TypeAdapter[Rebuilt] = TypeAdapter(list[tuple[int, int]])


class ServerUnreachable(LaplacedError):
    """The process that holds the data folder does not answer."""


class ServerRefused(LaplacedError):
    """The server refused the request."""


async def ask_archive(
    config: Config, server: Holder, user_id: int | None, backfill: str | None, again: bool = False
) -> ArchiveReport:
    """Asks the holder of the data folder to archive now, and waits for its report.

    Raises ServerUnreachable, and ServerRefused with the server's own words.
    """
    return await _ask(config, server, ARCHIVE_PATH, {"user_id": user_id, "backfill": backfill, "again": again}, _REPORT)


async def ask_recall(config: Config, server: Holder, user_id: int, query: str, limit: int) -> Recalled:
    """What a question brings to the mind of the holder of the data folder. Raises as `ask_archive`."""
    order = RecallOrder(user_id=user_id, query=query, limit=limit)
    return await _ask(config, server, RECALL_PATH, order.model_dump_json().encode(), _RECALLED)


async def ask_cypher(config: Config, server: Holder, user_id: int, query: str, params: dict[str, Any]) -> CypherAnswer:
    """Rows of a Cypher statement, by the holder of the data folder. Raises as `ask_archive`."""
    asked = json.dumps({"user_id": user_id, "query": query, "params": params}).encode()
    return await _ask(config, server, QUERY_PATH, asked, _ROWS)


async def ask_rebuild(config: Config, server: Holder, user_id: int | None) -> Rebuilt:
    """Has the mirror of a user, or (None) of everybody, built anew. Raises as `ask_archive`."""
    return await _ask(config, server, REBUILD_PATH, {"user_id": user_id}, _REBUILT)


async def ask_mcp(server: Holder) -> str:
    """The address of the running server's MCP tools. Raises ServerUnreachable, also if it serves none."""
    async with _client("") as client:
        try:
            found = (await client.get(f"{server.url}/")).json()
            return str(found["mcp"])
        except (httpx.HTTPError, ValueError, KeyError, TypeError):
            raise ServerUnreachable(f"process {server.pid} holds the data folder and serves no MCP over HTTP") from None


class RemoteOperations:
    """Upkeep by the server that holds the data folder. Every call raises ServerUnreachable and ServerRefused."""

    def __init__(self, config: Config, server: Holder) -> None:
        self._config, self._server = config, server

    async def back_up(self, to: Path | None) -> BackupReport:
        """The server writes the file; a relative path is of this process."""
        target = None if to is None else str(await asyncio.to_thread(to.absolute))
        return await self._ask(BACKUP_PATH, {"to": target}, _BACKUP)

    async def examine(self) -> list[Check]:
        return await self._ask(DOCTOR_PATH, {}, _CHECKS)

    async def quarantined(self) -> list[QuarantinedUpdate]:
        return await self._ask(QUARANTINE_PATH, {}, _QUARANTINE)

    async def replay(self, n: int | None) -> int:
        return await self._ask(REPLAY_PATH, {"n": n}, _COUNT)

    async def drop(self, n: int | None) -> int:
        return await self._ask(DROP_PATH, {"n": n}, _COUNT)

    async def dead_runs(self, user_id: int | None) -> list[DeadRun]:
        return await self._ask(DEAD_RUNS_PATH, {"user_id": user_id}, _DEAD_RUNS)

    async def revive(self, user_id: int | None) -> int:
        return await self._ask(REVIVE_PATH, {"user_id": user_id}, _COUNT)

    async def queues(self) -> Queues:
        return await self._ask(QUEUES_PATH, {}, _QUEUES)

    async def _ask(self, path: str, order: Order, answer: TypeAdapter[T]) -> T:
        return await _ask(self._config, self._server, path, order, answer)


class RemoteOwnerData:
    """Keeping by the server that holds the data folder. Every call raises ServerUnreachable and ServerRefused."""

    def __init__(self, config: Config, server: Holder) -> None:
        self._config, self._server = config, server

    async def export(self, user_id: int) -> str:
        answer = await _post(self._server, EXPORT_PATH, key_of(self._config), {"user_id": user_id})
        if answer.is_error:
            raise ServerRefused(_detail(answer))
        return answer.text

    async def forget(self, user_id: int, kind: Kind, ref_id: str | None, *, messages: bool = False) -> Erased:
        order: Order = {"user_id": user_id, "kind": kind, "ref_id": ref_id, "messages": messages}
        return await _ask(self._config, self._server, FORGET_PATH, order, _ERASED)

    async def read_back(self, user_id: int, file: Path) -> ReadExport:
        """The server reads the file."""
        order: Order = {"user_id": user_id, "file": str(file)}
        return await _ask(self._config, self._server, READ_BACK_PATH, order, _READ_BACK)


class RemoteImporter:
    """Importing by the server that holds the data folder. Every call raises ServerUnreachable and ServerRefused."""

    def __init__(self, config: Config, server: Holder) -> None:
        self._config, self._server = config, server

    async def terms(self, user_id: int) -> OwnerTerms:
        return await _ask(self._config, self._server, TERMS_PATH, {"user_id": user_id}, _TERMS)

    async def take(self, user_id: int, drafts: Sequence[Draft], *, dry_run: bool) -> Taken:
        episodes = [ImportedEpisode.of(draft) for draft in drafts]
        order = ImportOrder(user_id=user_id, dry_run=dry_run, episodes=episodes)
        return await _ask(self._config, self._server, IMPORT_PATH, order.model_dump_json().encode(), _TAKEN)


async def _ask(config: Config, server: Holder, path: str, order: Order | bytes, wanted: TypeAdapter[T]) -> T:
    answer = await _post(server, path, key_of(config), order)
    if answer.is_error:
        raise ServerRefused(_detail(answer))
    try:
        return wanted.validate_json(answer.content)
    except ValidationError:
        raise ServerUnreachable(f"what answers at {server.url} is no Laplaced") from None


async def _post(server: Holder, path: str, key: str, order: Order | bytes) -> httpx.Response:
    body = order if isinstance(order, bytes) else json.dumps(order).encode()
    async with _client(key) as client:
        try:
            return await client.post(f"{server.url}{path}", content=body)
        except httpx.HTTPError as error:
            said = f"process {server.pid} holds the data folder but does not answer at {server.url}"
            raise ServerUnreachable(f"{said}: {type(error).__name__}") from error


def _client(key: str) -> httpx.AsyncClient:
    # The guard knows this machine as localhost, whatever address the server listens on.
    headers = {"Host": "localhost", "Content-Type": "application/json", "Accept": "application/json"}
    headers |= {"Authorization": f"Bearer {key}"} if key else {}
    # A proxy from the environment must not come between two processes of one machine. Plain HTTP on one machine:
    # reading certificates would take 50 ms of every call.
    return httpx.AsyncClient(timeout=PATIENCE, trust_env=False, verify=False, headers=headers)


def key_of(config: Config) -> str:
    """The key of the running server; empty if it has made none yet."""
    return config.server.api_key.get_secret_value() or existing_key(config.data_dir, "server_api_key") or ""


def _detail(answer: httpx.Response) -> str:
    try:
        return str(answer.json()["detail"])
    except (ValueError, KeyError, TypeError):
        return f"the server answered {answer.status_code}"
