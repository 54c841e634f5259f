"""What an operator may set of each agent."""

from datetime import timedelta
from typing import Annotated, Any, Final, Literal, Self

from pydantic import BeforeValidator, Field, model_validator

from internal.config.values import OptionalDuration, PositiveDuration, Section, unset

Effort = Literal["none", "minimal", "low", "medium", "high"]


class AgentConfig(Section):
    """Temperature and limits that are None are those beside the agent's prompt (`LIMITS`).

    `short_prompt`: small models get lost in the long instructions, and a processor reads some tens of tokens a second.
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
    """Settings of an agent that goes with the archivist unless it has a model of its own."""

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
"""What replaces defaults where the model runs inside the program (`llm.local`), on a processor as a rule.

Nobody waits for a reranker or enricher that would take minutes; a small model uses tools for what is no question,
and does not always come to an end by itself.
"""
