"""The ports that the HTTP application needs from the process that serves it."""

import asyncio
from collections.abc import Callable, Collection
from dataclasses import dataclass, field

from bot.web.activity.chronicle import Chronicle
from bot.web.admin.console_login import Console
from bot.web.admin.imports import Importer
from bot.web.admin.operations import Archive, Examine, Operations
from bot.web.admin.owner_data import OwnerData
from bot.web.admin.recall import Recall
from bot.web.admin.simulator import Simulator
from bot.web.graph.cypher import Cypher
from bot.web.graph.router import Graph
from bot.web.http.owners import Owners
from bot.web.memory.artifacts import Erase as EraseFile
from bot.web.memory.nodes import MemoryPorts
from bot.web.server.telegram_webhook import Webhook
from internal.access.api_keys import ApiKeys
from internal.flows.contacts.imports import ContactBook
from internal.flows.contacts.sync import ContactSync
from internal.flows.forgetting.requests import ForgettingService
from internal.flows.reflections.past_questions import LifeAnswers
from internal.flows.reflections.service import Reflections
from internal.flows.views.people_map import PeopleMaps
from internal.scheduling.clock import Clock
from internal.storage.database import Database
from internal.telemetry.metrics import Metrics


@dataclass(frozen=True, slots=True, kw_only=True)
class WebPorts:
    """The ports of the application; a part that is None is not offered.

    `daily_limit_usd` is what each owner may spend in a day, 0 = no limit. `chat_page` and `mcp` are addresses to show.
    `stopping` is set before the server stops, and ends streams. Without `metrics_open` the metrics need a key.
    `keys` are named keys beside the server's own.
    """

    database: Database
    metrics: Metrics
    clock: Clock
    api_key: str
    allowed_hosts: Collection[str]
    owners: Owners
    poll_fresh: Callable[[], bool]
    archive: Archive
    graph: Graph | None = None
    memory: MemoryPorts | None = None
    files: EraseFile | None = None
    eraser: ForgettingService | None = None
    cypher: Cypher | None = None
    chronicle: Chronicle | None = None
    recall: Recall | None = None
    examine: Examine | None = None
    operations: Operations | None = None
    importer: Importer | None = None
    owner_data: OwnerData | None = None
    simulator: Simulator | None = None
    webhook: Webhook | None = None
    console: Console | None = None
    chat_page: str | None = None
    mcp: str | None = None
    whole_day_at: str = "09:00"
    daily_limit_usd: float = 0.0
    stopping: asyncio.Event = field(default_factory=asyncio.Event)
    metrics_open: bool = True
    keys: ApiKeys | None = None
    contacts: ContactBook | None = None
    maps: PeopleMaps | None = None
    contact_sync: ContactSync | None = None
    reflections: Reflections | None = None
    life: LifeAnswers | None = None
