"""The configuration: `config.yaml`, overridden by `LAPLACED_...` environment variables.

Names, defaults and meanings are the table in the README; unknown keys are errors that name the key.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from datetime import timedelta
from pathlib import Path
from typing import Annotated, Any, Literal
from urllib.parse import urlsplit

from pydantic import AfterValidator, BaseModel, BeforeValidator, Field, SecretStr, ValidationError, model_validator
from pydantic_settings import BaseSettings, PydanticBaseSettingsSource, SettingsConfigDict

from internal.config import values
from internal.config.agents import LOCAL_DEFAULTS, AgentsConfig
from internal.config.media import CardDavConfig, MediaConfig
from internal.config.sources import from_environment, from_file, merge
from internal.errors import ConfigurationError

DEFAULT_LLM_URL = "https://openrouter.ai/api/v1"
SPECIFIED_EMBEDDING_MODEL = "google/gemini-embedding-001"
SQLITE_URL = "sqlite:///"
POSTGRES_URL = "postgresql://"

TIME_OF_DAY = r"^([01]\d|2[0-3]):[0-5]\d$"
QUIET_HOURS = r"^$|^([01]\d|2[0-3]):[0-5]\d-([01]\d|2[0-3]):[0-5]\d$"
_WEBHOOK_SECRET = re.compile(r"[A-Za-z0-9_-]{0,256}")


class WebhookConfig(values.Section):
    url: values.OptionalAddress = ""
    path: str = Field("/telegram/webhook", pattern=r"^/[\w./~-]+$")
    secret: values.Secret = SecretStr("")

    @model_validator(mode="after")
    def _secret_fits_a_header(self) -> WebhookConfig:
        if not _WEBHOOK_SECRET.fullmatch(self.secret.get_secret_value()):
            raise ValueError("secret may hold up to 256 letters, digits, _ and -, as Telegram demands")
        return self


class LocalTelegramConfig(values.Section):
    port: values.Port = 8090


class TelegramConfig(values.Section):
    token: values.Secret = SecretStr("")
    api_base: values.Address = "https://api.telegram.org"
    mode: Literal["polling", "webhook"] = "polling"
    group_window: values.Duration = timedelta(seconds=2)
    rich_messages: bool = True
    webhook: WebhookConfig = WebhookConfig()
    local: LocalTelegramConfig = LocalTelegramConfig()

    @model_validator(mode="after")
    def _webhook_has_an_address(self) -> TelegramConfig:
        if self.mode == "webhook" and not self.webhook.url:
            raise ValueError("mode webhook needs telegram.webhook.url")
        return self


class AccessConfig(values.Section):
    allowed_user_ids: Annotated[list[int], BeforeValidator(values.listing)] = Field(default_factory=list)
    daily_cost_usd: float = Field(5.0, ge=0)
    messages_per_minute: int = Field(20, ge=0)


class GroupsConfig(values.Section):
    enabled: bool = False
    messages_per_day: int = Field(200, ge=0)
    tokens_per_day: int = Field(500_000, ge=0)


class BusinessConfig(values.Section):
    enabled: bool = False


class LLMConfig(values.Section):
    base_url: values.Address = DEFAULT_LLM_URL
    api_key: values.Secret = SecretStr("")
    model: str = ""
    local: str = ""

    @model_validator(mode="after")
    def _one_source(self) -> LLMConfig:
        if self.local and self.base_url != DEFAULT_LLM_URL:
            raise ValueError("base_url and local are both set; keep one")
        return self


class PersonaConfig(values.Section):
    name: str = Field("Laplaced", min_length=1, max_length=64)
    tone: str = "warm, attentive and to the point"


class EmbeddingConfig(values.Section):
    provider: Literal["auto", "api", "offline"] = "auto"
    base_url: values.OptionalAddress = ""
    api_key: values.Secret = SecretStr("")
    model: str = SPECIFIED_EMBEDDING_MODEL
    dimensions: int = Field(3072, ge=1)


class RetrievalConfig(values.Section):
    people_threshold: Annotated[float | None, BeforeValidator(values.unset)] = Field(None, ge=-1, le=1)
    retrieved_people_count: int = Field(10, ge=0, le=100)
    recall_tokens: int = Field(3000, ge=0, le=100_000)
    dictionaries: str = "/usr/share"


class RagConfig(values.Section):
    retrieval: RetrievalConfig = RetrievalConfig()


class DialogueConfig(values.Section):
    idle_timeout: values.Duration = timedelta(minutes=30)
    max_messages: int = Field(400, ge=1)


class SchedulerConfig(values.Section):
    tick: values.PositiveDuration = timedelta(seconds=5)


def _store(value: str) -> str:
    known = any(value.startswith(kind) and len(value) > len(kind) for kind in (SQLITE_URL, POSTGRES_URL))
    if value and not (known and _is_address(value)):
        raise ValueError(f"{SQLITE_URL}PATH, {POSTGRES_URL}USER:PASSWORD@HOST/DATABASE, or empty")
    return value


def _is_address(value: str) -> bool:
    try:
        values.passwords_of(value)
    except ValueError:  # an IPv6 address without its bracket
        return False
    return True


class StorageConfig(values.Section):
    # Never shown, because a database address may hold a password.
    url: Annotated[str, AfterValidator(_store)] = Field("", repr=False)


class RunsConfig(values.Section):
    retry_base: values.Duration = timedelta(seconds=2)
    retry_max: values.Duration = timedelta(minutes=15)
    max_attempts: int = Field(8, ge=1)


class ServerConfig(values.Section):
    host: str = "127.0.0.1"
    port: values.Port = 9081
    console_port: values.Port = 9082
    worker_port: Annotated[values.Port | None, BeforeValidator(values.unset)] = None
    api_key: values.Secret = SecretStr("")
    allowed_hosts: Annotated[list[str], BeforeValidator(values.listing)] = Field(default_factory=list)
    trusted_proxies: Annotated[list[values.Network], BeforeValidator(values.listing)] = Field(default_factory=list)
    public_url: values.OptionalAddress = ""

    @property
    def hosts(self) -> list[str]:
        """All host names of the server besides loopback."""
        public = urlsplit(self.public_url).hostname
        return [*self.allowed_hosts, public] if public else self.allowed_hosts


class MetricsConfig(values.Section):
    identity: Annotated[Literal["raw", "hashed", "off"], BeforeValidator(values.off_word)] = "raw"
    max_identities: int = Field(1000, ge=1)


class McpConfig(values.Section):
    port: values.Port = 30547


def _mirror(value: str) -> str:
    if value and not value.startswith(("falkor://", "falkors://", "falkor+embedded://")):
        raise ValueError("falkor://HOST:PORT, falkors://HOST:PORT or falkor+embedded:///FOLDER, or empty")
    return value


class GraphConfig(values.Section):
    # Never shown, because a server's address may hold a password.
    mirror_url: Annotated[str, AfterValidator(_mirror)] = Field("", repr=False)
    query_timeout: values.PositiveDuration = timedelta(seconds=5)
    query_rows: int = Field(1000, ge=1, le=100_000)


PlasticityPreset = Literal["default", "conservative", "aggressive", "off"]


class MemoryConfig(values.Section):
    plasticity: Annotated[PlasticityPreset, BeforeValidator(values.off_word)] = "default"
    strengthen: Annotated[float | None, BeforeValidator(values.unset)] = Field(None, ge=0, le=1)
    # From a quarter of an hour to a century: memory does not fade in shorter or longer times.
    half_life_days: Annotated[float | None, BeforeValidator(values.unset)] = Field(None, ge=0.01, le=36_500)
    prune_below: Annotated[float | None, BeforeValidator(values.unset)] = Field(None, ge=0, le=1)
    forget_below: Annotated[float | None, BeforeValidator(values.unset)] = Field(None, ge=0, le=1)
    maintenance_hour: int = Field(3, ge=0, le=23)
    associations: int = Field(3, ge=0, le=20)
    questions_per_day: int = Field(1, ge=0, le=10)


class NotificationsConfig(values.Section):
    quiet_hours: Annotated[str, Field(pattern=QUIET_HOURS)] = "22:00-08:00"
    whole_day_at: Annotated[str, Field(pattern=TIME_OF_DAY)] = "09:00"


class EventsConfig(values.Section):
    keep_days: int = Field(90, ge=1)
    keep_rows: int = Field(1_000_000, ge=1000)


class ConsoleConfig(values.Section):
    enabled: bool = True
    url: values.OptionalAddress = ""
    link_lifetime: values.PositiveDuration = timedelta(minutes=10)
    session_lifetime: values.PositiveDuration = timedelta(days=7)


class WebConfig(values.Section):
    read_pages: bool = True
    search_provider: Literal["none", "searxng"] = "none"
    search_url: values.OptionalAddress = ""


class ArtifactsConfig(values.Section):
    url: str = Field("", pattern=r"^(s3://[^/].*)?$")


class EntityTypeConfig(values.Section):
    name: str = Field(min_length=1)
    description: str = ""


class GraphitiConfig(values.Section):
    entity_types: Annotated[list[EntityTypeConfig], BeforeValidator(values.named_types)] = Field(default_factory=list)


class Config(BaseSettings):
    model_config = SettingsConfigDict(extra="forbid", frozen=True, hide_input_in_errors=True)

    telegram: TelegramConfig = TelegramConfig()
    access: AccessConfig = AccessConfig()
    groups: GroupsConfig = GroupsConfig()
    business: BusinessConfig = BusinessConfig()
    llm: LLMConfig = LLMConfig()
    agents: AgentsConfig = AgentsConfig()
    persona: PersonaConfig = PersonaConfig()
    embedding: EmbeddingConfig = EmbeddingConfig()
    rag: RagConfig = RagConfig()
    dialogue: DialogueConfig = DialogueConfig()
    scheduler: SchedulerConfig = SchedulerConfig()
    storage: StorageConfig = StorageConfig()
    runs: RunsConfig = RunsConfig()
    data_dir: Annotated[Path, BeforeValidator(values.folder)] = Path("data")
    server: ServerConfig = ServerConfig()
    metrics: MetricsConfig = MetricsConfig()
    mcp: McpConfig = McpConfig()
    graph: GraphConfig = GraphConfig()
    memory: MemoryConfig = MemoryConfig()
    graphiti: GraphitiConfig = GraphitiConfig()
    notifications: NotificationsConfig = NotificationsConfig()
    events: EventsConfig = EventsConfig()
    console: ConsoleConfig = ConsoleConfig()
    web: WebConfig = WebConfig()
    media: MediaConfig = MediaConfig()
    artifacts: ArtifactsConfig = ArtifactsConfig()
    carddav: CardDavConfig = CardDavConfig()

    @model_validator(mode="before")
    @classmethod
    def _one_model_for_all(cls, given: Any) -> Any:
        """Gives `llm.model` to each agent that has the default or none: a file may contain every default.

        With `llm.local` it is that file's, and the agents get settings for a small model on a slow machine.
        """
        llm, agents = given.get("llm"), given.get("agents", {})
        if not (isinstance(llm, dict) and isinstance(agents, dict)):
            return given
        local = str(llm.get("local") or "")
        model = llm.get("model") or Path(local).stem
        for name, default in AgentsConfig().each():
            shipped = default.model_dump(include={"model", *LOCAL_DEFAULTS[name]})
            suited = {"model": model} | (LOCAL_DEFAULTS[name] if local else {})
            agent = agents.get(name, {})
            if model and isinstance(agent, dict):
                unchanged = {
                    key: suited[key] for key in suited if _is_default(agent.get(key, shipped[key]), shipped[key])
                }
                agents = agents | {name: agent | unchanged}
        return given | {"agents": agents}

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """Only the values from `load`: pydantic-settings' own sources read lists as JSON only, ignore unknown names and
        have no `*_FILE`. So `sources` reads file and environment, and `Config()` has the defaults."""
        return (init_settings,)

    @property
    def offline_models(self) -> bool:
        """True when no real chat model is configured: no key, and the default provider."""
        llm = self.llm
        return not (llm.api_key.get_secret_value() or llm.local) and llm.base_url == DEFAULT_LLM_URL

    @property
    def offline_embeddings(self) -> bool:
        if self.embedding.provider != "auto":
            return self.embedding.provider == "offline"
        if self.embedding.api_key.get_secret_value() or self.embedding.base_url:
            return False
        one = bool(self.llm.model or self.llm.local)
        return self.offline_models or (one and self.embedding.model == SPECIFIED_EMBEDDING_MODEL)

    @property
    def local_telegram(self) -> bool:
        return not self.telegram.token.get_secret_value()

    @property
    def store(self) -> Path | str:
        """The store: the database file, or a server's address, which may hold a password."""
        return self.storage.url if self.storage.url.startswith(POSTGRES_URL) else self.database_path

    @property
    def database_path(self) -> Path:
        """The database file, if `store` is one; a relative path starts at the working directory."""
        url = self.storage.url
        return Path(url.removeprefix(SQLITE_URL)).expanduser() if url else self.data_dir / "laplaced.db"

    def secrets(self) -> list[str]:
        """Every secret that is set, to be kept out of logs."""
        return [*_secrets(self), *values.passwords_of(self.storage.url)]


def _is_default(written: object, default: object) -> bool:
    """Whether a value of a file is the default, also if that is a duration or nothing."""
    if isinstance(default, timedelta) and isinstance(written, str):
        written = values.duration(written)
    return written == default or (default is None and written == "")


def _secrets(section: BaseModel) -> Iterator[str]:
    for name in type(section).model_fields:
        value = getattr(section, name)
        if isinstance(value, BaseModel):
            yield from _secrets(value)
        elif isinstance(value, SecretStr) and value.get_secret_value():
            yield value.get_secret_value()


def load(path: Path | None = None, environ: Mapping[str, str] | None = None) -> Config:
    """The configuration from a YAML file (`None`: defaults) and, over it, the environment.

    Raises ConfigurationError, each fault naming its key and never showing a value that may be secret.
    """
    tree = from_file(path, Config) if path is not None else {}
    merge(tree, from_environment(os.environ if environ is None else environ, Config))
    try:
        return Config(**tree)
    except ValidationError as error:
        raise ConfigurationError("; ".join(_fault(item) for item in error.errors(include_input=False))) from None


def _fault(item: Any) -> str:
    key = ".".join(str(part) for part in item["loc"])
    if item["type"] == "extra_forbidden":
        return f"unknown key {key}"
    return f"{key}: {item['msg'].removeprefix('Value error, ')}"
