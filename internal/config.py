"""The configuration: `config.yaml`, overridden by `LAPLACED_...` environment variables.

Names, defaults and meanings are the table in the README; unknown keys are errors that name the key.
"""

from __future__ import annotations

import json
import os
import re
from datetime import timedelta
from pathlib import Path
from typing import Annotated, Any, Literal

import yaml
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, SecretStr, ValidationError
from pydantic.fields import FieldInfo
from pydantic_settings import BaseSettings, PydanticBaseSettingsSource, SettingsConfigDict

from internal.errors import ConfigurationError

PREFIX = "LAPLACED_"
DEFAULT_LLM_URL = "https://openrouter.ai/api/v1"
SPECIFIED_EMBEDDING_MODEL = "google/gemini-embedding-001"

_DURATION = re.compile(r"(\d+(?:\.\d+)?)(ms|s|m|h|d)")
_UNITS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}


def _duration(value: object) -> object:
    if not isinstance(value, str):
        return value
    match = _DURATION.fullmatch(value.strip())
    if match is None:
        raise ValueError("a duration is a number and a unit, such as 0.2s, 45s, 30m or 1h")
    return timedelta(seconds=float(match[1]) * _UNITS[match[2]])


def _listing(value: object) -> object:
    if not isinstance(value, str):
        return value
    text = value.strip()
    return json.loads(text) if text.startswith("[") else [part.strip() for part in text.split(",") if part.strip()]


Duration = Annotated[timedelta, BeforeValidator(_duration), Field(ge=timedelta(0))]


class Section(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class WebhookConfig(Section):
    url: str = ""
    path: str = "/telegram/webhook"
    secret: SecretStr = SecretStr("")


class LocalTelegramConfig(Section):
    port: int = Field(8090, ge=0, le=65535)


class TelegramConfig(Section):
    token: SecretStr = SecretStr("")
    api_base: str = "https://api.telegram.org"
    mode: Literal["polling", "webhook"] = "polling"
    group_window: Duration = timedelta(seconds=2)
    webhook: WebhookConfig = WebhookConfig()
    local: LocalTelegramConfig = LocalTelegramConfig()


class AccessConfig(Section):
    allowed_user_ids: Annotated[list[int], BeforeValidator(_listing)] = []
    daily_cost_usd: float = Field(5.0, ge=0)
    messages_per_minute: int = Field(20, ge=0)


class LLMConfig(Section):
    base_url: str = DEFAULT_LLM_URL
    api_key: SecretStr = SecretStr("")


class AgentConfig(Section):
    enabled: bool = True
    model: str = "google/gemini-3-flash-preview"
    temperature: float = Field(0.0, ge=0, le=2)
    max_tokens: int = Field(2048, ge=1)
    timeout: Duration = timedelta(seconds=60)


class ResponderConfig(AgentConfig):
    temperature: float = Field(0.7, ge=0, le=2)
    timeout: Duration = timedelta(seconds=120)
    history_tokens: int = Field(6000, ge=100)


class ArchivistConfig(AgentConfig):
    model: str = "google/gemini-2-flash-thinking"
    max_tokens: int = Field(4096, ge=1)
    timeout: Duration = timedelta(seconds=120)


class RerankerConfig(AgentConfig):
    candidates: int = Field(50, ge=1, le=200)
    max_people: int = Field(10, ge=0, le=50)


class AgentsConfig(Section):
    responder: ResponderConfig = ResponderConfig()
    archivist: ArchivistConfig = ArchivistConfig()
    analyst: AgentConfig = AgentConfig()
    reranker: RerankerConfig = RerankerConfig()
    enricher: AgentConfig = AgentConfig(max_tokens=256, timeout=timedelta(seconds=20))
    task_manager: AgentConfig = AgentConfig()
    context_manager: AgentConfig = AgentConfig()


class PersonaConfig(Section):
    name: str = Field("Laplaced", min_length=1, max_length=64)
    tone: str = "warm, attentive and to the point"


class EmbeddingConfig(Section):
    provider: Literal["auto", "api", "offline"] = "auto"
    base_url: str = ""
    api_key: SecretStr = SecretStr("")
    model: str = SPECIFIED_EMBEDDING_MODEL
    dimensions: int = Field(3072, ge=1)


class RetrievalConfig(Section):
    people_threshold: Annotated[float | None, BeforeValidator(lambda v: None if v == "" else v)] = Field(
        None, ge=-1, le=1
    )
    retrieved_people_count: int = Field(10, ge=0, le=100)


class RagConfig(Section):
    retrieval: RetrievalConfig = RetrievalConfig()


class DialogueConfig(Section):
    idle_timeout: Duration = timedelta(minutes=30)
    max_messages: int = Field(400, ge=1)


class SchedulerConfig(Section):
    tick: Duration = timedelta(seconds=5)


class StorageConfig(Section):
    url: str = ""


class RunsConfig(Section):
    retry_base: Duration = timedelta(seconds=2)
    retry_max: Duration = timedelta(minutes=15)
    max_attempts: int = Field(8, ge=1)


class ServerConfig(Section):
    host: str = "127.0.0.1"
    port: int = Field(9081, ge=0, le=65535)
    console_port: int = Field(9082, ge=0, le=65535)
    api_key: SecretStr = SecretStr("")
    allowed_hosts: Annotated[list[str], BeforeValidator(_listing)] = []


class MetricsConfig(Section):
    identity: Literal["raw", "hashed", "off"] = "raw"
    max_identities: int = Field(1000, ge=1)


class McpConfig(Section):
    port: int = Field(30547, ge=0, le=65535)


class GraphConfig(Section):
    mirror_url: str = ""


class EntityTypeConfig(Section):
    name: str = Field(min_length=1)
    description: str = ""


class GraphitiConfig(Section):
    entity_types: list[EntityTypeConfig] = []


class Config(BaseSettings):
    model_config = SettingsConfigDict(
        env_prefix=PREFIX, env_nested_delimiter="__", extra="forbid", frozen=True, validate_default=True
    )

    telegram: TelegramConfig = TelegramConfig()
    access: AccessConfig = AccessConfig()
    llm: LLMConfig = LLMConfig()
    agents: AgentsConfig = AgentsConfig()
    persona: PersonaConfig = PersonaConfig()
    embedding: EmbeddingConfig = EmbeddingConfig()
    rag: RagConfig = RagConfig()
    dialogue: DialogueConfig = DialogueConfig()
    scheduler: SchedulerConfig = SchedulerConfig()
    storage: StorageConfig = StorageConfig()
    runs: RunsConfig = RunsConfig()
    data_dir: Path = Path("data")
    server: ServerConfig = ServerConfig()
    metrics: MetricsConfig = MetricsConfig()
    mcp: McpConfig = McpConfig()
    graph: GraphConfig = GraphConfig()
    graphiti: GraphitiConfig = GraphitiConfig()

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        # Both sources are merged by load(): pydantic-settings parses list variables as JSON only, ignores
        # unknown names and knows no *_FILE.
        return (init_settings,)

    @property
    def offline_models(self) -> bool:
        """True when no real chat model is configured: no key, and the default provider."""
        return not self.llm.api_key.get_secret_value() and self.llm.base_url == DEFAULT_LLM_URL

    @property
    def offline_embeddings(self) -> bool:
        if self.embedding.provider != "auto":
            return self.embedding.provider == "offline"
        return self.offline_models and not self.embedding.api_key.get_secret_value() and not self.embedding.base_url

    @property
    def local_telegram(self) -> bool:
        return not self.telegram.token.get_secret_value()


def load(path: Path | None = None, environ: dict[str, str] | None = None) -> Config:
    """The configuration from a YAML file (absent = defaults only if `path` is None) and the environment.

    Raises ConfigurationError, one line a fault, each naming its key and never showing a secret's value.
    """
    tree = _from_file(path) if path is not None else {}
    _merge(tree, _from_environment(dict(os.environ) if environ is None else environ))
    try:
        return Config(**tree)
    except ValidationError as error:
        raise ConfigurationError("; ".join(_fault(item) for item in error.errors(include_input=False))) from None


def _fault(item: Any) -> str:
    key = ".".join(str(part) for part in item["loc"])
    return f"unknown key {key}" if item["type"] == "extra_forbidden" else f"{key}: {item['msg']}"


def _from_file(path: Path) -> dict[str, Any]:
    try:
        tree = yaml.safe_load(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise ConfigurationError(f"cannot read {path}: {error.strerror}") from None
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise ConfigurationError(f"{path} is not readable YAML: {str(error).splitlines()[0]}") from None
    if tree is None:
        return {}
    if not isinstance(tree, dict):
        raise ConfigurationError(f"{path} must hold keys and values")
    return {str(key): value for key, value in tree.items() if value is not None}


def _from_environment(environ: dict[str, str]) -> dict[str, Any]:
    tree: dict[str, Any] = {}
    for name in sorted(environ):
        if not name.upper().startswith(PREFIX):
            continue
        value = environ[name]
        key = name[len(PREFIX) :].lower()
        path = key.split("__")
        if path[-1].endswith("_file") and _field(path) is None:
            path[-1] = path[-1].removesuffix("_file")
            value = _read_secret(name, value)
        field = _field(path)
        if field is None:
            raise ConfigurationError(f"unknown key {'.'.join(path)} (from {name})")
        _put(tree, path, _plain(value, field))
    return tree


def _read_secret(name: str, path: str) -> str:
    try:
        return Path(path).read_text(encoding="utf-8").strip()
    except OSError as error:
        raise ConfigurationError(f"{name}: cannot read {path}: {error.strerror}") from None


def _field(path: list[str]) -> FieldInfo | None:
    fields = Config.model_fields
    for depth, part in enumerate(path):
        field = fields.get(part)
        if field is None or depth == len(path) - 1:
            return field
        if not (isinstance(field.annotation, type) and issubclass(field.annotation, BaseModel)):
            return None
        fields = field.annotation.model_fields
    return None


def _plain(value: str, field: FieldInfo) -> Any:
    """Sections and lists of sections come as JSON; everything else is left to its own validator."""
    annotation = field.annotation
    structured = value.lstrip().startswith(("{", "[{"))
    if structured and annotation is not str:
        try:
            return json.loads(value)
        except ValueError:
            return value
    return value


def _put(tree: dict[str, Any], path: list[str], value: Any) -> None:
    for part in path[:-1]:
        tree = tree.setdefault(part, {})
    tree[path[-1]] = value


def _merge(base: dict[str, Any], over: dict[str, Any]) -> None:
    for key, value in over.items():
        if isinstance(value, dict) and isinstance(base.get(key), dict):
            _merge(base[key], value)
        else:
            base[key] = value
