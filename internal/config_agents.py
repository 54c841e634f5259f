"""What an operator may set of each agent."""

from datetime import timedelta
from typing import Annotated, Literal

from pydantic import BeforeValidator, Field

from internal.config_values import OptionalDuration, PositiveDuration, Section, unset

Effort = Literal["none", "minimal", "low", "medium", "high"]


class AgentConfig(Section):
    """Temperature and limits that are None are those beside the agent's prompt (`LIMITS`)."""

    enabled: bool = True
    model: str = "google/gemini-3-flash-preview"
    temperature: Annotated[float | None, BeforeValidator(unset)] = Field(None, ge=0, le=2)
    max_tokens: Annotated[int | None, BeforeValidator(unset)] = Field(None, ge=1)
    timeout: OptionalDuration = Field(None, gt=timedelta(0))
    reasoning_effort: Annotated[Effort | None, BeforeValidator(unset)] = None


class ResponderConfig(AgentConfig):
    history_tokens: int = Field(6000, ge=100)
    tools: bool = True
    first_token_timeout: PositiveDuration = timedelta(seconds=15)


class ArchivistConfig(AgentConfig):
    model: str = "google/gemini-2-flash-thinking"


class RerankerConfig(AgentConfig):
    candidates: int = Field(50, ge=1, le=200)
    max_people: int = Field(10, ge=0, le=50)


class AgentsConfig(Section):
    responder: ResponderConfig = ResponderConfig()
    archivist: ArchivistConfig = ArchivistConfig()
    analyst: AgentConfig = AgentConfig()
    reranker: RerankerConfig = RerankerConfig()
    enricher: AgentConfig = AgentConfig()
    task_manager: AgentConfig = AgentConfig()
    context_manager: AgentConfig = AgentConfig()
