"""Builds the product without delivery on one exit stack: storage, models, and what works in the background."""

import contextlib
from collections.abc import AsyncIterator

from bot.application.app import App
from bot.application.database import last_backup, open_database
from bot.application.mirror import Mirrors
from bot.application.models import open_models
from bot.shared.mirror_target import target_of
from internal.config.settings import Config
from internal.flows.operations.model_call_log import CallRecorder
from internal.language.worker.process_pool import LanguageWorker
from internal.scheduling.clock import Clock, SystemClock
from internal.scheduling.store_clock import clock_of
from internal.storage.backup import backup
from internal.storage.engine.data_lock import hold_for
from internal.storage.engine.owner_scope import current_scope
from internal.storage.files.keys import ensure_key
from internal.telemetry.logs import redact
from internal.telemetry.metrics import Metrics


@contextlib.asynccontextmanager
async def open_app(config: Config, *, clock: Clock | None = None) -> AsyncIterator[App]:
    """Takes the data folder, opens and migrates the database, builds the models.

    Without a `clock`, the database server's is used, or this machine's if the store is a file. Raises
    StorageLocked, StorageError, SchemaTooNew and ConfigurationError.
    """
    async with contextlib.AsyncExitStack() as stack:
        lock = stack.enter_context(hold_for(config.store, config.data_dir))
        backups = backup.folder_of(config.data_dir)
        database = await stack.enter_async_context(open_database(config.store, backups, clock or SystemClock()))
        hmac_key = ensure_key(config.data_dir, "hmac_key")
        redact.register(hmac_key)
        metrics = Metrics(config.metrics, hmac_key, database.path, mirror=target_of(config.graph))
        last = await last_backup(database, backups)
        if last is not None:
            metrics.backup_finished(last)
        clock = clock or await clock_of(database, metrics)
        recorder = CallRecorder(database, clock)
        stack.push_async_callback(recorder.flush)
        worker = LanguageWorker(current_scope)
        stack.push_async_callback(worker.close)
        models = await stack.enter_async_context(open_models(config, worker, [metrics, recorder]))
        mirrors = await stack.enter_async_context(Mirrors(config, database, clock).opened())
        app = App(config, clock, lock, database, metrics, recorder, models, mirrors, worker, hmac_key.encode())
        async with app.membership.on():
            yield app
