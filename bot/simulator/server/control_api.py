"""The control API under `/sim`: tests and virtual users act in the local Telegram and see what the bot did.

All bodies and answers are JSON; impossible requests are answered by 404 or 422 with `{"detail": ...}`.
docs/testing.md lists the calls.
"""

import base64
import binascii
from typing import Any

from fastapi import APIRouter, HTTPException, Response
from pydantic import AwareDatetime, BaseModel, ConfigDict, Field

from bot.simulator.actions import ActRefused, People
from bot.simulator.clock import SimulatedClock
from bot.simulator.entities import check_entities, trimmed, with_found
from bot.simulator.media import MEDIA, with_file
from bot.simulator.methods.registry import Upload
from bot.simulator.repository import Json, Repository
from bot.simulator.server.bot_api import file_response
from bot.simulator.server.errors import ApiRefusal
from bot.simulator.server.faults import Fault
from bot.simulator.server.flood_limits import FloodLimits
from bot.simulator.server.webhook import Webhook
from bot.simulator.telegram import Draft, Telegram
from internal.scheduling.clock import SystemClock

LONGEST_WAIT_S = 1.0
"""Seconds that a call waits for something new in a chat, so that a stop never waits long; clients ask again."""


class Body(BaseModel):
    model_config = ConfigDict(extra="forbid")


class NewUser(Body):
    id: int | None = Field(None, ge=1)
    first_name: str = Field(min_length=1, max_length=64)
    last_name: str = Field("", max_length=64)
    username: str = Field("", pattern=r"^[A-Za-z0-9_]{0,32}$")
    language_code: str = "en"
    phone: str = ""
    started: bool = False


class NewDocument(Body):
    name: str = Field(min_length=1)
    content: str
    mime: str = "application/octet-stream"


class NewMessage(Body):
    text: str = ""
    media: str | None = None
    contact: dict[str, Any] | None = None
    document: NewDocument | None = None
    duration: int = Field(0, ge=0)
    caption: str = ""
    chat_id: int | None = None
    entities: list[dict[str, Any]] = []
    reply_to: int | None = None
    quote: str = ""
    forward_origin: dict[str, Any] | None = None
    media_group_id: str | None = None
    message_thread_id: int | None = None
    extra: dict[str, Any] = {}


class Edit(Body):
    text: str = Field(min_length=1)
    chat_id: int | None = None


class Press(Body):
    message_id: int
    data: str
    chat_id: int | None = None


class Vote(Body):
    message_id: int
    options: list[int]
    chat_id: int | None = None


class Inline(Body):
    query: str
    chat_id: int | None = None


class Time(Body):
    now: AwareDatetime
    until: AwareDatetime | None = None


class NextId(Body):
    next: int = Field(ge=1)


def control_api(telegram: Telegram, webhook: Webhook) -> APIRouter:
    """The routes under `/sim`."""
    router = APIRouter(prefix="/sim", include_in_schema=False)
    for add in (_people_routes, _act_routes, _observation_routes, _time_routes, _fault_routes):
        add(router, telegram, webhook)
    return router


def _people_routes(router: APIRouter, telegram: Telegram, webhook: Webhook) -> None:
    people = People(telegram)

    @router.get("/users")
    async def users() -> Json:
        return {"users": telegram.repository.users()}

    @router.post("/users")
    async def add_user(user: NewUser) -> Json:
        return telegram.add_user(user.id, **user.model_dump(exclude={"id"}))

    @router.post("/users/{user_id}/block")
    async def block(user_id: int) -> Json:
        with acted():
            people.block(user_id)
        return {}

    @router.post("/users/{user_id}/unblock")
    async def unblock(user_id: int) -> Json:
        with acted():
            people.unblock(user_id)
        return {}


def _act_routes(router: APIRouter, telegram: Telegram, webhook: Webhook) -> None:
    people = People(telegram)

    @router.post("/users/{user_id}/messages")
    async def send(user_id: int, message: NewMessage) -> Json:
        with acted():
            content = _content(telegram.repository, message)
            if content is None:
                sent = people.say(
                    user_id, message.text, entities=message.entities, chat_id=message.chat_id,
                    reply_to=message.reply_to, quote=message.quote, extra=_extra(message),
                )  # fmt: skip
            else:
                whole = content | _caption(message) | _extra(message)
                addressed = {"chat_id": message.chat_id, "reply_to": message.reply_to}
                sent = [people.send(user_id, whole, **addressed, quote=message.quote)]
        return {"messages": sent}

    @router.patch("/users/{user_id}/messages/{message_id}")
    async def edit(user_id: int, message_id: int, change: Edit) -> Json:
        with acted():
            return people.edit(user_id, message_id, change.text, chat_id=change.chat_id)

    @router.post("/users/{user_id}/press")
    async def press(user_id: int, button: Press) -> Json:
        with acted():
            pressed = people.press(user_id, button.message_id, button.data, chat_id=button.chat_id)
        return {"callback_query_id": pressed}

    @router.post("/users/{user_id}/vote")
    async def vote(user_id: int, wanted: Vote) -> Json:
        with acted():
            return people.vote(user_id, wanted.message_id, wanted.options, chat_id=wanted.chat_id)

    @router.post("/users/{user_id}/inline")
    async def ask_inline(user_id: int, typed: Inline) -> Json:
        with acted():
            return {"inline_query_id": people.ask_inline(user_id, typed.query, chat_id=typed.chat_id)}

    @router.post("/inline/{query_id}/{result_id}")
    async def choose_inline(query_id: str, result_id: str) -> Json:
        with acted():
            return await people.choose_inline(query_id, result_id)

    @router.post("/users/{user_id}/stop")
    async def stop(user_id: int) -> Json:
        with acted():
            return {"stopped": people.stop_generation(user_id)}

    @router.post("/updates")
    async def inject(update: dict[str, Any]) -> Json:
        return {"update_id": telegram.updates.inject(update)}

    @router.delete("/updates")
    async def drop() -> Json:
        telegram.repository.forget_all_updates()
        return {}

    @router.post("/update_ids")
    async def renumber(wanted: NextId) -> Json:
        telegram.repository.set_counter("update_id", wanted.next)
        return {}


def _observation_routes(router: APIRouter, telegram: Telegram, webhook: Webhook) -> None:
    repository = telegram.repository

    @router.get("/chats/{chat_id}/messages")
    async def messages(chat_id: int, limit: int = 1000, before: int | None = None, beyond: int = -1) -> Json:
        if repository.chat(chat_id) is None:
            raise HTTPException(404, f"there is no chat {chat_id}")
        await telegram.feed.beyond(chat_id, beyond, LONGEST_WAIT_S)
        return {"messages": repository.history(chat_id, limit, before), "happened": telegram.feed.counts[chat_id]}

    @router.get("/chats/{chat_id}/ledger")
    async def chat_ledger(chat_id: int, after: int = 0, method: str | None = None) -> Json:
        return {"calls": repository.ledger(chat_id, after, method)}

    @router.get("/ledger")
    async def ledger(after: int = 0, method: str | None = None) -> Json:
        return {"calls": repository.ledger(None, after, method)}

    @router.get("/files/{file_id}")
    async def file(file_id: str) -> Response:
        return file_response(telegram, file_id)

    @router.get("/callbacks/{callback_id}")
    async def callback(callback_id: str) -> Json:
        found = repository.callback(callback_id)
        if found is None:
            raise HTTPException(404, f"there is no callback query {callback_id}")
        return found

    @router.get("/inline/{query_id}")
    async def inline(query_id: str) -> Json:
        return repository.inline_query(query_id) or {}

    @router.get("/chats/{chat_id}/messages/{message_id}/reactions")
    async def reactions(chat_id: int, message_id: int) -> Json:
        return {"reactions": repository.reactions(chat_id, message_id)}

    @router.get("/users/{user_id}/screen")
    async def screen(user_id: int, chat_id: int | None = None) -> Json:
        draft = telegram.draft(user_id)
        return {
            "typing": telegram.is_typing(user_id),
            "draft": None if draft is None else _shown_draft(draft),
            "commands": telegram.commands_for(user_id, chat_id),
            "unread": repository.unread(user_id),
        }

    @router.get("/state")
    async def state() -> Json:
        return {
            "bot": telegram.bot,
            "pending_updates": repository.update_count(),
            "poll_in_flight": telegram.updates.poll_in_flight,
            "last_poll_at": telegram.updates.last_poll_at,
            "webhook": webhook.state(),
        }


def _time_routes(router: APIRouter, telegram: Telegram, webhook: Webhook) -> None:
    @router.put("/clock")
    async def move(time: Time) -> Json:
        clock = SimulatedClock(time.now)
        clock.advance(time.now, until=time.until)
        telegram.clock = clock
        return {"now": clock.now().isoformat()}

    @router.delete("/clock")
    async def release() -> Json:
        telegram.clock = SystemClock()
        return {}


def _shown_draft(draft: Draft) -> Json:
    return {"draft_id": draft.draft_id, "text": draft.text, "entities": draft.entities}


def _fault_routes(router: APIRouter, telegram: Telegram, webhook: Webhook) -> None:
    @router.post("/faults")
    async def order(fault: Fault) -> Json:
        return {"number": telegram.faults.order(fault)}

    @router.get("/faults")
    async def faults() -> Json:
        return {"faults": telegram.faults.listing()}

    @router.delete("/faults")
    async def clear() -> Json:
        telegram.faults.clear()
        return {}

    @router.put("/flood")
    async def flood(limits: FloodLimits) -> Json:
        telegram.flood.limits = limits
        return limits.model_dump()


class acted:
    """Turns acts that people cannot do into an HTTP answer."""

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if isinstance(error, ActRefused):
            raise HTTPException(404 if "there is no" in str(error) else 422, str(error)) from None
        if isinstance(error, ApiRefusal):
            raise HTTPException(422, error.description) from None


def _content(repository: Repository, message: NewMessage) -> Json | None:
    """The Message fields of content that is not a text; None for a text."""
    if message.contact is not None:
        return {"contact": message.contact}
    if message.document is not None:
        try:
            content = base64.b64decode(message.document.content, validate=True)
        except binascii.Error:
            raise HTTPException(422, "document.content must be base64") from None
        upload = Upload(message.document.name, message.document.mime, content)
        return with_file(repository, _kind(message.media or "document"), upload, message.duration)
    if message.media is None:
        # Without a text, further fields, such as a poll, are the content.
        return {} if message.extra and not message.text else None
    return MEDIA[_kind(message.media)]()


def _kind(media: str) -> str:
    if media not in MEDIA:
        raise HTTPException(422, f"media must be one of {', '.join(MEDIA)}")
    return media


def _caption(message: NewMessage) -> Json:
    caption, entities = trimmed(message.caption, check_entities(message.entities, message.caption))
    found = with_found(caption, entities)
    return ({"caption": caption} if caption else {}) | ({"caption_entities": found} if found else {})


def _extra(message: NewMessage) -> Json:
    named = {
        "forward_origin": message.forward_origin,
        "media_group_id": message.media_group_id,
        "message_thread_id": message.message_thread_id,
    }
    return {key: value for key, value in named.items() if value is not None} | message.extra
