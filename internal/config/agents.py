"""The settings of each agent."""

from datetime import timedelta
from typing import Annotated, Any, Final, Literal, Self

from pydantic import BeforeValidator, Field, model_validator

from internal.config.values import OptionalDuration, PositiveDuration, Section, unset

Effort = Literal["none", "minimal", "low", "medium", "high"]


class AgentConfig(Section):
    """The settings of an agent. Temperature and limits of None are those beside the agent's prompt (`LIMITS`).

    `short_prompt` is for small models, which cannot follow long instructions, and for slow processors.
    """

    enabled: bool = True
    model: str = "google/gemini-3-flash-preview"
    temperature: Annotated[float | None, BeforeValidator(unset)] = Field(None, ge=0, le=2)
    max_tokens: Annotated[int | None, BeforeValidator(unset)] = Field(None, ge=1)
    timeout: OptionalDuration = Field(None, gt=timedelta(0))
    reasoning_effort: Annotated[Effort | None, BeforeValidator(unset)] = None
    short_prompt: bool = False


class ResponderConfig(AgentConfig):
    history_tokens: int = Field(6000, ge=100)
    tools: bool = True
    first_token_timeout: PositiveDuration = timedelta(seconds=15)


class ArchivistConfig(AgentConfig):
    model: str = "google/gemini-2-flash-thinking"


class RerankerConfig(AgentConfig):
    candidates: int = Field(50, ge=1, le=200)
    max_people: int = Field(10, ge=0, le=50)


class GoingAlongConfig(AgentConfig):
    """Settings of an agent that shares the archivist's call unless it has its own model."""

    model: str = ""


class AgentsConfig(Section):
    together: bool = True
    responder: ResponderConfig = ResponderConfig()
    archivist: ArchivistConfig = ArchivistConfig()
    analyst: AgentConfig = AgentConfig()
    reranker: RerankerConfig = RerankerConfig()
    enricher: AgentConfig = AgentConfig()
    task_manager: GoingAlongConfig = GoingAlongConfig()
    context_manager: GoingAlongConfig = GoingAlongConfig()

    def each(self) -> list[tuple[str, AgentConfig]]:
        """The agents with their names."""
        return [(name, agent) for name, agent in self if isinstance(agent, AgentConfig)]

    @model_validator(mode="after")
    def _go_along(self) -> Self:
        for name in ("task_manager", "context_manager"):
            agent: AgentConfig = getattr(self, name)
            if not agent.model:
                self.__dict__[name] = agent.model_copy(update={"model": self.archivist.model})
        return self


_PATIENT: Final[dict[str, Any]] = {"short_prompt": True, "timeout": "1h", "max_tokens": 1024}
LOCAL_DEFAULTS: Final[dict[str, dict[str, Any]]] = {
    "responder": {**_PATIENT, "first_token_timeout": "10m", "tools": False},
    "archivist": _PATIENT,
    "analyst": _PATIENT,
    "reranker": {"enabled": False},
    "enricher": {"enabled": False},
    "task_manager": _PATIENT,
    "context_manager": _PATIENT,
}
"""Defaults for a model inside the program (`llm.local`), which mostly runs on a processor.

A reranker or enricher would take minutes; a small model calls tools without need, and does not always end its reply
by itself.
"""
