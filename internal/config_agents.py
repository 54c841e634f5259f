"""What each agent asks of its model."""

from __future__ import annotations

from datetime import timedelta

from pydantic import Field

from internal.config_values import PositiveDuration, Section


class AgentConfig(Section):
    enabled: bool = True
    model: str = "google/gemini-3-flash-preview"
    temperature: float = Field(0.0, ge=0, le=2)
    max_tokens: int = Field(2048, ge=1)
    timeout: PositiveDuration = timedelta(seconds=60)


class ResponderConfig(AgentConfig):
    temperature: float = Field(0.7, ge=0, le=2)
    timeout: PositiveDuration = timedelta(seconds=120)
    history_tokens: int = Field(6000, ge=100)


class ArchivistConfig(AgentConfig):
    model: str = "google/gemini-2-flash-thinking"
    max_tokens: int = Field(4096, ge=1)
    timeout: PositiveDuration = timedelta(seconds=120)


class AnalystConfig(AgentConfig):
    max_tokens: int = Field(4096, ge=1)
    timeout: PositiveDuration = timedelta(seconds=120)


class RerankerConfig(AgentConfig):
    candidates: int = Field(50, ge=1, le=200)
    max_people: int = Field(10, ge=0, le=50)


class EnricherConfig(AgentConfig):
    max_tokens: int = Field(256, ge=1)
    timeout: PositiveDuration = timedelta(seconds=20)


class AgentsConfig(Section):
    responder: ResponderConfig = ResponderConfig()
    archivist: ArchivistConfig = ArchivistConfig()
    analyst: AnalystConfig = AnalystConfig()
    reranker: RerankerConfig = RerankerConfig()
    enricher: EnricherConfig = EnricherConfig()
    task_manager: AgentConfig = AgentConfig()
    context_manager: AgentConfig = AgentConfig()
