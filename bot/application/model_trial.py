"""Tries the configured models before they are used: one small call of each kind that the agents make."""

import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from bot.application.models import open_models
from internal.agents.model import (
    AnalystRequest,
    ArchivistRequest,
    ContextRequest,
    DialogueLine,
    EnricherRequest,
    OwnerProfile,
    RerankerRequest,
    ResponderRequest,
    TaskManagerRequest,
    TranscriptLine,
)
from internal.config.settings import Config
from internal.dialogue.snapshots.model import EMPTY
from internal.errors import ModelError
from internal.language.worker.process_pool import LanguageWorker
from internal.llm.model import Tool, ToolCall
from internal.llm.openai import OpenAIChat
from internal.people.model import Circle, Person

_OWNER: Final = OwnerProfile(0, "Emma", None, "en", "UTC")
_NOW: Final = datetime(2026, 1, 5, 12, tzinfo=UTC)
_LINES: Final = (
    TranscriptLine(1, "user", "Emma", _NOW, "My colleague Tom Baker moved to Lisbon. Remind me on Friday to call him."),
    TranscriptLine(2, "assistant", "Laplaced", _NOW + timedelta(seconds=9), "I will keep that in mind."),
)
_TOM: Final = Person(1, 0, "1", "Tom Baker", Circle.WORK_INNER, "A colleague in Lisbon", _NOW, _NOW)
_ASKED: Final = ResponderRequest(
    _OWNER, "Laplaced", "brief", [_TOM], [], [DialogueLine("user", "Where does Tom live?")], _NOW
)


@dataclass(frozen=True, slots=True)
class TrialResult:
    """How a call went: `error` is None if the answer could be read; `note` says what the server does not accept."""

    agent: str
    model: str
    seconds: float
    error: ModelError | None = None
    note: str = ""


class _OneTool:
    """A toolbox of one tool, which finds nothing."""

    tools = (Tool("list_tasks", "Lists all open tasks of the owner.", {"type": "object", "properties": {}}),)

    def extended(self, request: ResponderRequest) -> ResponderRequest:
        return request

    async def use(self, request: ResponderRequest, call: ToolCall) -> str:
        return "no open tasks"


async def try_models(config: Config) -> AsyncIterator[TrialResult]:
    """Yields how each agent's call went, the responder's first. Raises ConfigurationError."""
    async with AsyncExitStack() as stack:
        worker = LanguageWorker()
        stack.push_async_callback(worker.close)
        models = await stack.enter_async_context(open_models(config, worker, []))
        assert isinstance(models.chat, OpenAIChat)
        calls: dict[str, Callable[[], Awaitable[Any]]] = {
            "responder": lambda: _answer(models.responder.reply(replace(_ASKED, toolbox=_OneTool()))),
            "archivist": lambda: models.archivist.ask(ArchivistRequest(_OWNER, [_TOM], [], [], _LINES)),
        }
        if not config.agents.archivist.enabled:
            del calls["archivist"]
        if (tasks := models.task_manager) is not None:
            calls["task_manager"] = lambda: tasks.ask(TaskManagerRequest(_OWNER, _LINES))
        if (context := models.context_manager) is not None:
            calls["context_manager"] = lambda: context.update(ContextRequest(_OWNER, EMPTY, _LINES))
        if (analyst := models.analyst) is not None:
            calls["analyst"] = lambda: analyst.ask(AnalystRequest(_OWNER, "Tom", _LINES))
        if (enricher := models.enricher) is not None:
            calls["enricher"] = lambda: enricher.standalone(EnricherRequest(_OWNER, "And since when?", _LINES))
        if (reranker := models.reranker) is not None:
            calls["reranker"] = lambda: reranker.pick(RerankerRequest(_OWNER, "Who lives in Lisbon?", [_TOM], 5))
        for agent, call in calls.items():
            model = getattr(config.agents, agent).model
            tried = await _timed(agent, model, call)
            yield replace(tried, note=", ".join(f"takes no {word}" for word in models.chat.refused(model)))
        if not config.offline_embeddings:
            yield await _timed("embedding", config.embedding.model, lambda: models.embedder.embed_queries(["Tom"]))


async def _answer(reply: AsyncIterator[Any]) -> None:
    async for _ in reply:
        pass


async def _timed(agent: str, model: str, call: Callable[[], Awaitable[Any]]) -> TrialResult:
    started, failed = time.monotonic(), None
    try:
        await call()
    except ModelError as error:
        failed = error
    return TrialResult(agent, model, time.monotonic() - started, failed)
