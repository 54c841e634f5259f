"""The models that answer: a provider's over the OpenAI API, or the offline ones."""

import contextlib
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, replace

from bot.application.local_model import local_model
from internal.agents.analyst.agent import ModelAnalyst
from internal.agents.archivist.agent import ModelArchivist
from internal.agents.context_manager.agent import ModelContextManager
from internal.agents.enricher.agent import ModelEnricher
from internal.agents.model import Analyst, Archivist, ContextManager, Enricher, Reranker, Responder, TaskManager
from internal.agents.reranker.agent import ModelReranker
from internal.agents.responder.agent import ModelResponder
from internal.agents.task_manager.agent import ModelTaskManager
from internal.config.media import SpeechConfig, TranscriptionConfig
from internal.config.settings import Config
from internal.knowledge.entities.types import EntityTypes
from internal.language.worker.process_pool import LanguageWorker
from internal.llm.audio import OpenAIAudio
from internal.llm.embeddings import OpenAIEmbedder
from internal.llm.model import CallObserver, ChatModel, Embedder
from internal.llm.offline.embedder import OfflineEmbedder
from internal.llm.openai import OpenAIChat


@dataclass(frozen=True, slots=True)
class Models:
    """The agents behind their ports. A disabled agent is None where the product can do without it."""

    archivist: Archivist
    analyst: Analyst | None
    enricher: Enricher | None
    reranker: Reranker | None
    responder: Responder
    embedder: Embedder
    offline: bool
    chat: ChatModel | None = None
    context_manager: ContextManager | None = None
    task_manager: TaskManager | None = None
    transcription: OpenAIAudio | None = None
    speech: OpenAIAudio | None = None


@contextlib.asynccontextmanager
async def open_models(
    config: Config, worker: LanguageWorker, observers: Sequence[CallObserver]
) -> AsyncIterator[Models]:
    """The models that the configuration asks for, closed when the block ends. Raises ConfigurationError."""
    async with contextlib.AsyncExitStack() as stack:
        embedder = await _embedder(config, worker, observers, stack)
        models = (
            _offline(config, worker, embedder)
            if config.offline_models
            else await _remote(config, embedder, observers, stack)
        )
        media = config.media
        transcription, speech = (_audio(config, one, observers, stack) for one in (media.transcription, media.speech))
        yield replace(models, transcription=transcription, speech=speech)


def _offline(config: Config, worker: LanguageWorker, embedder: Embedder) -> Models:
    # Imported here: with a provider they are never loaded.
    from internal.agents.analyst.offline import OfflineAnalyst
    from internal.agents.archivist.offline.agent import OfflineArchivist
    from internal.agents.context_manager.offline import OfflineContextManager
    from internal.agents.enricher.offline import OfflineEnricher
    from internal.agents.reranker.offline import OfflineReranker
    from internal.agents.responder.offline.agent import OfflineResponder
    from internal.agents.task_manager.offline import OfflineTaskManager

    agents = config.agents
    return Models(
        archivist=OfflineArchivist(worker),
        analyst=OfflineAnalyst(worker) if agents.analyst.enabled else None,
        enricher=OfflineEnricher(worker) if agents.enricher.enabled else None,
        reranker=OfflineReranker(worker) if agents.reranker.enabled else None,
        responder=OfflineResponder(worker),
        context_manager=OfflineContextManager(worker) if agents.context_manager.enabled else None,
        task_manager=OfflineTaskManager(worker) if agents.task_manager.enabled else None,
        embedder=embedder,
        offline=True,
    )


async def _remote(
    config: Config, embedder: Embedder, observers: Sequence[CallObserver], stack: contextlib.AsyncExitStack
) -> Models:
    agents, server = config.agents, (config.llm.base_url, config.llm.api_key.get_secret_value())
    if config.llm.local:
        local = await stack.enter_async_context(local_model(config))
        server = (local.base_url, local.key)
    chat = OpenAIChat(*server, observers=observers)
    stack.push_async_callback(chat.aclose)
    return Models(
        archivist=ModelArchivist(chat, agents.archivist, entity_types(config)),
        analyst=ModelAnalyst(chat, agents.analyst) if agents.analyst.enabled else None,
        enricher=ModelEnricher(chat, agents.enricher) if agents.enricher.enabled else None,
        reranker=ModelReranker(chat, agents.reranker) if agents.reranker.enabled else None,
        responder=ModelResponder(chat, agents.responder),
        context_manager=ModelContextManager(chat, agents.context_manager) if agents.context_manager.enabled else None,
        task_manager=ModelTaskManager(chat, agents.task_manager) if agents.task_manager.enabled else None,
        embedder=embedder,
        offline=False,
        chat=chat,
    )


def entity_types(config: Config) -> EntityTypes:
    """The nine default types of entities and those of the configuration."""
    return EntityTypes((own.name, own.description) for own in config.graphiti.entity_types)


def _audio(
    config: Config,
    server: TranscriptionConfig | SpeechConfig,
    observers: Sequence[CallObserver],
    stack: contextlib.AsyncExitStack,
) -> OpenAIAudio | None:
    """The client of a server for transcripts or speech, or None if no model is configured."""
    if not server.model:
        return None
    key = server.api_key.get_secret_value() or ("" if server.base_url else config.llm.api_key.get_secret_value())
    audio = OpenAIAudio(server.base_url or config.llm.base_url, key, observers=observers)
    stack.push_async_callback(audio.aclose)
    return audio


async def _embedder(
    config: Config, worker: LanguageWorker, observers: Sequence[CallObserver], stack: contextlib.AsyncExitStack
) -> Embedder:
    if config.offline_embeddings:
        return OfflineEmbedder(worker)
    embedder = remote_embedder(config, observers)
    stack.push_async_callback(embedder.aclose)
    return embedder


def remote_embedder(config: Config, observers: Sequence[CallObserver] = ()) -> OpenAIEmbedder:
    """The embedder of a provider; the caller closes it. Raises ConfigurationError."""
    embedding = config.embedding
    return OpenAIEmbedder(
        embedding.base_url or config.llm.base_url,
        embedding.api_key.get_secret_value() or config.llm.api_key.get_secret_value(),
        model=embedding.model,
        dimensions=embedding.dimensions,
        observers=observers,
    )
