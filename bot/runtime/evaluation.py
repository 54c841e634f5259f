"""The work of `laplaced eval`: the product's own write path, backfills and search over a scratch store."""

import asyncio
import contextlib
import json
import logging
import os
import signal
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Iterator, Sequence
from datetime import timedelta
from pathlib import Path
from typing import Any, Final

import click

from bot.application.models import remote_embedder
from bot.evaluation import locomo
from bot.evaluation.scores import report
from bot.evaluation.scratch_store import ScratchStore
from bot.evaluation.training import cross_validate, fit_both
from bot.evaluation.vector_cache import VectorCache
from internal.config.settings import Config
from internal.errors import LaplacedError
from internal.language.worker.process_pool import LanguageWorker
from internal.llm.model import Embedder
from internal.llm.offline.embedder import OfflineEmbedder
from internal.recall.index import embed
from internal.recall.index.dictionaries import Dictionaries
from internal.recall.index.embed import VectorBackfill
from internal.recall.index.terms import TermsBackfill, WorkerTerms
from internal.recall.messages.ranking import write_rankings
from internal.recall.messages.search import MessageSearch
from internal.recall.search.knowledge import KnowledgeSearch
from internal.recall.search.names import WorkerNames
from internal.scheduling.clock import SystemClock
from internal.storage.database import Database
from internal.storage.migration import migrate

NO_EMBEDDER: Final = "none"

_RETRY_BASE: Final = timedelta(seconds=1)
_RETRY_MAX: Final = timedelta(seconds=10)
_EVERY_S: Final = 10.0


async def rank_files(config: Config, files: Sequence[Path], target: Path, embedder: str, vectors: Path | None) -> int:
    """Writes the rankings of all questions of these files. Returns how many. Writes nothing unless all are ranked.

    Raises ConversationsUnreadable, ModelUnavailable, and UsageError for an unknown embedder.
    """
    conversations = locomo.read(files)
    with replaced(target, files) as made:
        async with open_stage(config, embedder, vectors) as stage:
            progress = ProgressLine()
            ranked = await stage.rank(await stage.write(conversations, progress), progress)
        made.write_text("".join(json.dumps(one.line, ensure_ascii=False) + "\n" for one in ranked), encoding="utf-8")
    return len(ranked)


async def train_on_files(
    config: Config, files: Sequence[Path], target: Path, vectors: Path | None, *, tags: bool
) -> dict[str, Any]:
    """Writes the weights learned from these files. Returns their scores on the conversation left out of each training.

    `left_out` is None for a single conversation. Raises what `rank_files` raises, and Refused if nothing can be learnt.
    """
    conversations = locomo.read(files)
    with replaced(target, files) as made:
        async with open_stage(config, OfflineEmbedder.name, vectors or vectors_folder()) as stage:
            progress = ProgressLine()
            samples = await stage.samples(await stage.write(conversations, progress), progress)
        write_rankings(made, fit_both(samples))
    alone = len(conversations) == 1
    return {
        "conversations": len(conversations),
        "questions": sum(bool(one.question.evidence) for one in samples),
        "left_out": None if alone else report([one.ranked for one in cross_validate(samples)], tags=tags),
    }


def vectors_folder() -> Path:
    """The user's own temporary folder, where vectors are kept from one training to the next."""
    return Path(tempfile.gettempdir()) / f"laplaced-vectors-{os.getuid()}"


@contextlib.asynccontextmanager
async def open_stage(config: Config, embedder: str, vectors: Path | None = None) -> AsyncIterator[ScratchStore]:
    """Opens an empty scratch store with the product's parts, deleted after the block; `vectors` is a cache folder.

    `embedder` is `offline`, `api`, the name of either's model, or `none`. Raises UsageError for any other.
    """
    # Each batch would log a line beside the progress line.
    logging.getLogger(embed.__name__).setLevel(logging.WARNING)
    async with contextlib.AsyncExitStack() as stack:
        worker = LanguageWorker()
        stack.push_async_callback(worker.close)
        chosen = await _embedder(config, embedder, worker, stack)
        if chosen is not None and vectors is not None:
            chosen = VectorCache(chosen, vectors)
        folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="laplaced-eval-"))
        database = await stack.enter_async_context(Database.open(Path(folder) / "scratch.db"))
        await database.exclusive(migrate)
        dictionaries = Dictionaries(config.rag.retrieval.dictionaries, vectors_folder())
        await dictionaries.make_due()
        with _ended_in_order():
            yield staged(database, worker, chosen, dictionaries)


@contextlib.contextmanager
def _ended_in_order() -> Iterator[None]:
    """Turns SIGTERM into an error in the block, so that the conversations are deleted from the temporary files."""
    loop, task, ended = asyncio.get_running_loop(), asyncio.current_task(), asyncio.Event()
    assert task is not None

    def end() -> None:
        ended.set()
        task.cancel()

    loop.add_signal_handler(signal.SIGTERM, end)
    try:
        yield
    except asyncio.CancelledError:
        if not ended.is_set():
            raise
        raise LaplacedError("ended before it was done; nothing was written") from None
    finally:
        loop.remove_signal_handler(signal.SIGTERM)


def staged(
    database: Database, worker: LanguageWorker, embedder: Embedder | None, dictionaries: Dictionaries | None = None
) -> ScratchStore:
    """Builds the parts of the product over this database."""
    clock, terms, names = SystemClock(), WorkerTerms(worker, dictionaries), WorkerNames(worker)
    following = None
    if embedder is not None:
        following = VectorBackfill(database, embedder, clock, retry_base=_RETRY_BASE, retry_max=_RETRY_MAX)
    return ScratchStore(
        database=database,
        terms=TermsBackfill(database, terms),
        vectors=following,
        knowledge=KnowledgeSearch(database, clock, embedder=embedder, terms=terms, names=names),
        messages=MessageSearch(database, clock, embedder=embedder, terms=terms, names=names),
    )


async def _embedder(
    config: Config, name: str, worker: LanguageWorker, stack: contextlib.AsyncExitStack
) -> Embedder | None:
    if name == NO_EMBEDDER:
        return None
    if name in ("offline", OfflineEmbedder.name):
        return OfflineEmbedder(worker)
    if name in ("api", config.embedding.model):
        remote = remote_embedder(config)
        stack.push_async_callback(remote.aclose)
        return remote
    known = f"offline ({OfflineEmbedder.name}), api ({config.embedding.model}), {NO_EMBEDDER}"
    raise click.UsageError(f"there is no embedder {name}; there are {known}")


@contextlib.contextmanager
def replaced(target: Path, read: Sequence[Path]) -> Iterator[Path]:
    """Yields a file to write, which replaces the target when the block ends without an error.

    Raises LaplacedError if none can be made, or if the target is one of the files that are `read`.
    """
    if any(target.resolve() == one.resolve() for one in read):
        raise LaplacedError(f"{target} is one of the conversations; choose another file for --out")
    if target.exists() and not target.is_file():  # run as root, it would replace /dev/stdout for everybody
        raise LaplacedError(f"{target} is no file that could be written")
    made = target.with_name(f".{target.name}.{os.getpid()}")
    try:
        made.touch()
    except OSError as error:
        raise LaplacedError(f"cannot write {target}: {error.strerror}") from None
    try:
        yield made
        made.replace(target)
    finally:
        made.unlink(missing_ok=True)


class ProgressLine:
    """Prints progress on stderr: on a terminal in one line that changes, otherwise in a line now and then."""

    def __init__(self) -> None:
        self._same_line = sys.stderr.isatty()
        self._shown_at = 0.0

    def __call__(self, what: str, done: int, total: int) -> None:
        now = time.monotonic()
        if done < total and now - self._shown_at < (0.2 if self._same_line else _EVERY_S):
            return
        self._shown_at = now
        whole = not self._same_line or done == total
        click.echo(f"{what}: {done} of {total}", err=True, nl=whole)
        if not whole:
            click.echo("\r", err=True, nl=False)
