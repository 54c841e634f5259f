"""The examination behind `laplaced doctor`: configuration, storage and connections, without changing anything."""

import asyncio
import contextlib
import shutil
import sqlite3
import time
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import get_args

from sqlalchemy import Connection
from sqlalchemy.exc import SQLAlchemyError

from bot.application.database import last_backup
from bot.application.mirror import check_mirror
from bot.application.models import remote_embedder
from bot.telegram.health_check import check_telegram
from internal.access import repository as users
from internal.config.settings import Config
from internal.errors import ConfigurationError, ModelError, ModelReplyInvalid, ModelUnknown, StorageError
from internal.flows.operations.health_checks import (
    Check,
    check_backups,
    check_clock,
    check_clocks,
    check_dictionaries,
    check_half,
    check_integrity,
    check_moved,
    check_private,
    check_room,
    check_schema,
    check_server,
    check_sqlite,
    check_translations,
    check_workers,
    finding,
    fine,
    judge,
    note,
    read_stored,
)
from internal.llm.model import CallObserver, ChatMessage, ChatModel, ChatRequest
from internal.llm.offline.embedder import OfflineEmbedder
from internal.llm.openai import OpenAIChat
from internal.scheduling.clock import Clock, SystemClock
from internal.scheduling.shards import how_many_serve
from internal.storage.backup import backup
from internal.storage.database import Database
from internal.storage.engine.data_lock import hold_for
from internal.storage.engine.owner_scope import acting_for_everyone
from internal.storage.engine.postgres_server import database_bytes, read_server, server_time
from internal.storage.files.keys import KeyName
from internal.storage.migration import current_revision, head_revision
from internal.storage.transfer.migrate_store import drafts_of, is_half, moved_away

PROBE_TOKENS = 16
PROBE_TIMEOUT_S = 20.0


class Doctor:
    """Examines one installation. `telegram` is the Bot API's address and token, or None for the local one, not started.

    `observers` count the model calls of the examination like any others. `chat` is the client of the running bot.
    """

    def __init__(
        self,
        config: Config,
        clock: Clock,
        *,
        running: bool,
        telegram: tuple[str, str] | None,
        observers: Sequence[CallObserver] = (),
        chat: ChatModel | None = None,
    ) -> None:
        self._config, self._clock, self._running, self._chat = config, clock, running, chat
        self._telegram, self._observers = telegram, observers

    async def examine(self, database: Database | None, trouble: str = "") -> list[Check]:
        """All checks, in the order in which they are printed.

        `database` is None while there is none yet, or it cannot be used; `trouble` is the server's error.
        """
        store = self._config.store
        if isinstance(store, Path):
            stored = [check_sqlite(), *await self._examine_file(store, database)]
        else:
            stored = await self._examine_server(database, trouble)
        known_bot = await self._known_bot(database)
        reached = await asyncio.gather(self._ask_telegram(known_bot), self._ask_models(), self._ask_embedder())
        folder = str(self._config.data_dir)
        return [
            fine("config", f"read; data in {folder}", "config-read", folder=folder),
            check_dictionaries(),
            check_translations(self._config.rag.retrieval.dictionaries),
            *self._files(await self._size(database)),
            *stored,
            *(check for checks in reached for check in checks),
            await self._ask_mirror(database),
        ]

    async def _examine_server(self, database: Database | None, trouble: str) -> list[Check]:
        now = self._clock.now()
        if database is None:
            fix = "correct storage.url, or see to the server; nothing is lost meanwhile"
            return [finding("postgresql", trouble, fix, "postgresql-unusable", trouble=trouble), check_clock(now, None)]
        clocks = check_clocks(await database.read(_ahead))
        checks = [*check_server(await database.read(read_server)), clocks, await database.read(check_schema)]
        if await database.read(is_half):
            return [*checks, check_half(), check_clock(now, None)]
        checks += check_moved(await database.read(moved_away))
        if await database.read(current_revision) == head_revision():
            backups = await asyncio.to_thread(backup.listing, backup.folder_of(self._config.data_dir))
            checks += await self._judge(database, backups, now)
        return checks

    async def _examine_file(self, path: Path, database: Database | None) -> list[Check]:
        backups = await asyncio.to_thread(backup.listing, backup.folder_of(self._config.data_dir))
        now = self._clock.now()
        if not await asyncio.to_thread(path.exists):
            if await asyncio.to_thread(drafts_of, path):
                return [check_half(), check_clock(now, None)]
            none = note("database", f"none at {path} yet; the first start makes it", "database-none", path=str(path))
            return [none, check_clock(now, None)]
        damage = await asyncio.to_thread(_quick_check, path)
        checks = [check_integrity(damage, backups[0] if backups else None)]
        if damage or database is None:
            return [*checks, check_clock(now, None)]
        checks += [await database.read(check_schema), *check_moved(await database.read(moved_away))]
        if await database.read(current_revision) == head_revision():
            checks += await self._judge(database, backups, now)
        return checks

    async def _judge(self, database: Database, backups: list[backup.Backup], now: datetime) -> list[Check]:
        config = self._config
        if config.offline_embeddings:
            model, dimensions = OfflineEmbedder.name, OfflineEmbedder.dimensions
        else:
            model, dimensions = config.embedding.model, config.embedding.dimensions
        stored = await database.read(lambda c: read_stored(c, model, dimensions))
        last = await last_backup(database, backup.folder_of(config.data_dir))
        workers = await database.read(how_many_serve) if database.shared else 0
        return [
            *([check_workers(workers)] if database.shared else []),
            *judge(stored, model=model, now=now, running=self._running or workers > 0),
            check_backups(backups, last, stored.oldest_user, now),
        ]

    async def _size(self, database: Database | None) -> int | None:
        """The size of the store in bytes, or None if the server does not report it."""
        store = self._config.store
        if isinstance(store, Path):
            return store.stat().st_size if store.exists() else 0
        with contextlib.suppress(StorageError, SQLAlchemyError):
            return None if database is None else await database.read(database_bytes)
        return None

    def _files(self, size: int | None) -> list[Check]:
        data = self._config.data_dir
        if not data.exists():
            text = f"the data folder {data} does not exist yet; the first start makes it"
            return [note("disk", text, "disk-no-folder", folder=str(data))]
        exposed = [
            check
            for name in get_args(KeyName)
            if (data / name).exists() and (check := check_private(data / name, (data / name).stat().st_mode))
        ]
        checks = exposed or [fine("keys", "readable by their owner alone", "keys-private")]
        return [*checks, check_room(data, shutil.disk_usage(data).free, size)]

    async def _known_bot(self, database: Database | None) -> int | None:
        with contextlib.suppress(StorageError, SQLAlchemyError):  # a damaged or older database has its own check
            if database is not None:
                known: int | None = await database.read(lambda c: users.read_setting(c, "bot_id"))
                return known
        return None

    async def _ask_telegram(self, known_bot: int | None) -> list[Check]:
        if self._telegram is None:
            text = "no token is set: the local Telegram is started with the bot"
            return [note("telegram", text, "telegram-local")]
        api_base, token = self._telegram
        return await check_telegram(self._config.telegram, api_base, token, known_bot=known_bot, now=self._clock.now)

    async def _ask_mirror(self, database: Database | None) -> Check:
        readable = None
        with contextlib.suppress(StorageError, SQLAlchemyError):  # a damaged or older database has its own check
            if database is not None and await database.read(current_revision) == head_revision():
                readable = database
        return await check_mirror(self._config.graph, readable, running=self._running)

    async def _ask_models(self) -> list[Check]:
        """Sends a short call to each model in use: a list of models would not show whether the key is good."""
        config = self._config
        if config.offline_models:
            return [fine("model", "the offline models answer: no key is set", "model-offline")]
        used = (agent for _, agent in config.agents.each())
        names = dict.fromkeys(agent.model for agent in used if agent.enabled)
        if config.llm.local:
            return await self._ask_local(names)
        try:
            chat = OpenAIChat(config.llm.base_url, config.llm.api_key.get_secret_value(), observers=self._observers)
        except ConfigurationError as error:
            fix = "correct llm.base_url and llm.api_key"
            return [finding("model", str(error), fix, "model-misconfigured", error=str(error))]
        async with contextlib.aclosing(chat):
            return list(await asyncio.gather(*(_ask_model(chat, name) for name in names)))

    async def _ask_local(self, names: Iterable[str]) -> list[Check]:
        """Asks the model file that the running bot serves to itself."""
        if self._chat is None:
            file = self._config.llm.local
            return [note("model", f"{file} is loaded when the bot starts", "model-local", file=file)]
        return [await _ask_model(self._chat, name) for name in names]

    async def _ask_embedder(self) -> list[Check]:
        if self._config.offline_embeddings:
            name = OfflineEmbedder.name
            return [fine("embedding", f"the offline model {name} answers", "embedding-offline", model=name)]
        embedding = self._config.embedding
        values = {"model": embedding.model, "size": str(embedding.dimensions)}
        try:
            embedder = remote_embedder(self._config, self._observers)
            async with contextlib.aclosing(embedder):
                await embedder.embed_queries(["ok"])
        except ModelReplyInvalid as error:
            fix = f"set embedding.dimensions to what {embedding.model} gives (now {embedding.dimensions})"
            return [finding("embedding", str(error), fix, "embedding-size", error=str(error), **values)]
        except (ModelError, ConfigurationError) as error:
            fix = "check embedding.base_url, embedding.api_key and embedding.model; until then people are found by name"
            return [finding("embedding", str(error), fix, "embedding-error", error=str(error))]
        text = f"{embedding.model} answers with {embedding.dimensions} numbers"
        return [fine("embedding", text, "embedding-answers", **values)]


async def examine_here(config: Config) -> list[Check]:
    """Examines an installation whose bot does not run, whatever state its database is in. Raises StorageLocked."""
    clock, store = SystemClock(), config.store
    on_file = isinstance(store, Path)
    if on_file and not await asyncio.to_thread(config.data_dir.exists):
        return await _examine_stopped(config, None, clock)
    with acting_for_everyone(), hold_for(store, config.data_dir) if on_file else contextlib.nullcontext():
        if isinstance(store, Path) and not await asyncio.to_thread(store.exists):
            return await _examine_stopped(config, None, clock)
        async with contextlib.AsyncExitStack() as stack:
            opened, trouble = None, ""
            try:
                opened = await stack.enter_async_context(Database.open(store))
            except StorageError as error:
                trouble = str(error)
            return await _examine_stopped(config, opened, clock, trouble)


async def _examine_stopped(config: Config, database: Database | None, clock: Clock, trouble: str = "") -> list[Check]:
    """`trouble` says why the database cannot be used; empty if there is none yet."""
    token = config.telegram.token.get_secret_value()
    telegram = (config.telegram.api_base, token) if token else None
    return await Doctor(config, clock, running=False, telegram=telegram).examine(database, trouble)


async def _ask_model(chat: ChatModel, name: str) -> Check:
    probe = ChatRequest(
        agent="doctor",
        model=name,
        messages=[ChatMessage("user", "Answer: ok")],
        max_tokens=PROBE_TOKENS,
        timeout=PROBE_TIMEOUT_S,
    )
    try:
        await chat.complete(probe)
    except ModelReplyInvalid:
        pass  # a thinking model uses up these few tokens on thoughts: it was reached and accepted the key
    except ModelUnknown as error:
        fix = "set llm.model, or the model of the agent, to one that the server has; what waits goes on by itself then"
        return finding("model", f"{name}: {error}", fix, "model-unknown", model=name, error=str(error))
    except ModelError as error:
        fix = "check llm.base_url, llm.api_key and the model's name; messages are kept until it answers"
        return finding("model", f"{name}: {error}", fix, "model-error", model=name, error=str(error))
    return fine("model", f"{name} answers", "model-answers", model=name)


def _ahead(connection: Connection) -> timedelta:
    """How far the server's clock is ahead of this machine's."""
    server = server_time(connection, time.monotonic)
    return server.at - (datetime.now(UTC) - timedelta(seconds=time.monotonic() - server.counted))


def _quick_check(path: Path) -> list[str]:
    """SQLite's findings about a file, on a connection of its own; an empty list for a sound one."""
    try:
        with contextlib.closing(sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro", uri=True)) as connection:
            answer = [str(row[0]) for row in connection.execute("PRAGMA quick_check(3)")]
    except sqlite3.Error as error:
        return [str(error)]
    return [] if answer == ["ok"] else answer
