"""/archive, /status, /export and /privacy: archiving, the state of the memory, all data, and who receives it."""

from urllib.parse import urlsplit
from zoneinfo import ZoneInfo

from aiogram import Router
from aiogram.filters import Command
from aiogram.types import Message, TelegramObject

from bot.shared.mirror_target import target_of
from bot.telegram.delivery.chat import Chat
from bot.telegram.handlers.services import Services
from bot.telegram.i18n import Markdown, label, phrase
from internal.access.model import Language, Role
from internal.config.settings import Config
from internal.flows.archival.archive_now import ArchivedCounts
from internal.flows.operations.model_call_log import KEPT as CALLS_KEPT
from internal.flows.views.status import Status, read_status
from internal.graph.mirror.repository import lag as mirror_lag
from internal.storage.backup.backup import HELD
from internal.storage.forgetting import forgettings


async def archive(message: Message, chat: Chat, services: Services) -> None:
    ordered = await services.archival.archive_soon(chat.user.user_id)
    await chat.say("\n".join(_order_lines(chat.user.lang, ordered)))


def _order_lines(lang: Language, ordered: ArchivedCounts) -> list[str]:
    lines = [phrase(lang, "archive-started", count=ordered.messages)] if ordered.messages else []
    if again := ordered.revived + ordered.hurried:
        lines.append(phrase(lang, "archive-again", count=again))
    if ordered.reread:
        lines.append(phrase(lang, "archive-reread", count=ordered.reread))
    if ordered.unpaid:
        lines.append(phrase(lang, "archive-unpaid", count=ordered.unpaid))
    if not lines and ordered.unfinished:
        lines.append(phrase(lang, "archive-running"))
    if ordered.answering:
        lines.append(phrase(lang, "archive-answering"))
    return lines or [phrase(lang, "archive-nothing")]


async def status(message: Message, chat: Chat, services: Services) -> None:
    now = services.clock.now()
    found = await services.read(lambda c: read_status(c, chat.user.user_id, now))
    lines = _status_lines(chat.user.lang, found, services.config)
    if services.refused and chat.user.role is not Role.OWNER:
        lines.append(phrase(chat.user.lang, "model-denied"))
    elif services.refused:
        refused = (phrase(chat.user.lang, "status-refused", model=m, error=e) for m, e in services.refused.items())
        lines += [*refused, phrase(chat.user.lang, "status-refused-fix")]
    mirror = target_of(services.config.graph)
    if mirror and chat.user.role is Role.OWNER:
        behind = await services.read(lambda c: mirror_lag(c, mirror))
        lines.append(phrase(chat.user.lang, "status-mirror", count=behind))
    await chat.say("\n".join(lines))


def _status_lines(lang: Language, found: Status, config: Config) -> list[str]:
    been_through = not (found.waiting or found.dead)
    lines = [phrase(lang, "status-buffered", count=found.buffered)] if found.buffered or been_through else []
    if found.waiting:
        lines.append(phrase(lang, "status-waiting", count=found.waiting))
    if found.dead:
        lines.append(phrase(lang, "status-dead", count=found.dead))
    lines.append(phrase(lang, "status-people", count=found.people))
    if config.offline_models:
        lines.append(phrase(lang, "status-offline"))
    else:
        agents = config.agents
        models = {"responder": agents.responder.model, "archivist": agents.archivist.model}
        lines.append(phrase(lang, "status-models", **models))
    if found.quarantined:
        lines.append(phrase(lang, "status-quarantined", count=found.quarantined))
    limit = config.access.daily_cost_usd
    key = "status-spent" if limit else "status-spent-unlimited"
    lines.append(phrase(lang, key, spent=found.spent_usd, limit=limit))
    return lines


async def export(event: TelegramObject, chat: Chat, services: Services) -> None:
    day = services.clock.now().astimezone(ZoneInfo(chat.user.tz)).date()
    user_id, lang = chat.user.user_id, chat.user.lang
    content = await services.export.export_document(user_id)
    caption = label(lang, "export-caption", day=day)
    if await services.read(lambda c: forgettings.pending(c, user_id)):
        caption += "\n" + label(lang, "export-caption-forgetting")
    await chat.document(f"laplaced-{day.isoformat()}.json", content, caption)
    people = await services.contacts.export(user_id)
    if people:
        await chat.document("people.vcf", people, label(lang, "export-caption-people"))


async def privacy(event: TelegramObject, chat: Chat, services: Services) -> None:
    lang, hosts = chat.user.lang, _providers(services.config)
    transport = phrase(lang, "privacy-local" if services.config.local_telegram else "privacy-telegram")
    models = phrase(lang, "privacy-provider", hosts=", ".join(hosts)) if hosts else phrase(lang, "privacy-offline")
    values = {"transport": Markdown(transport), "models": Markdown(models)}
    await chat.say(phrase(lang, "privacy", days=CALLS_KEPT.days, held=HELD.days, **values))


def _providers(config: Config) -> list[str]:
    """The hosts that receive parts of the conversation, without duplicates."""
    urls = [] if config.offline_models or config.llm.local else [config.llm.base_url]
    if not config.offline_embeddings:
        urls.append(config.embedding.base_url or config.llm.base_url)
    return list(dict.fromkeys(urlsplit(url).hostname or url for url in urls))


def router() -> Router:
    built = Router(name="memory")
    for name, handler in (("archive", archive), ("status", status), ("export", export), ("privacy", privacy)):
        built.message.register(handler, Command(name, ignore_mention=True))
    return built
