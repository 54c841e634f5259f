"""The control API's calls for groups, topics and reactions."""

from typing import Literal

from fastapi import APIRouter
from pydantic import Field

from bot.simulator.groups import GroupPeople
from bot.simulator.repository import Json
from bot.simulator.server.control_api import Body, acted
from bot.simulator.telegram import Telegram


class NewChat(Body):
    title: str = Field(min_length=1)
    members: list[int] = Field(min_length=1)
    type: Literal["group", "supergroup", "channel"] = "supergroup"
    id: int | None = Field(None, lt=0)
    privacy: bool = True
    with_bot: bool = True


class ByUser(Body):
    user_id: int


class NewTopic(ByUser):
    name: str = Field(min_length=1)


class Reacted(Body):
    message_id: int
    emoji: str = ""
    chat_id: int | None = None


def group_api(telegram: Telegram) -> APIRouter:
    router = APIRouter(prefix="/sim", include_in_schema=False)
    people = GroupPeople(telegram)

    @router.post("/chats")
    async def add_chat(chat: NewChat) -> Json:
        with acted():
            return people.create_group(
                chat.title, chat.members, chat_type=chat.type, chat_id=chat.id, privacy=chat.privacy,
                with_bot=chat.with_bot,
            )  # fmt: skip

    @router.post("/chats/{chat_id}/{act}")
    async def of_group(chat_id: int, act: Literal["upgrade", "add_bot", "remove_bot", "promote"], by: ByUser) -> Json:
        acts = {"add_bot": people.add_bot, "remove_bot": people.remove_bot, "promote": people.promote}
        with acted():
            if act == "upgrade":
                return people.upgrade_group(by.user_id, chat_id)
            acts[act](by.user_id, chat_id)
        return {}

    @router.post("/chats/{chat_id}/topics/new")
    async def add_topic(chat_id: int, topic: NewTopic) -> Json:
        with acted():
            return {"message_thread_id": people.create_topic(topic.user_id, chat_id, topic.name)}

    @router.delete("/chats/{chat_id}/threads/{thread_id}")
    async def delete_thread(chat_id: int, thread_id: int) -> Json:
        telegram.delete_thread(chat_id, thread_id)
        return {}

    @router.post("/users/{user_id}/react")
    async def give_reaction(user_id: int, given: Reacted) -> Json:
        with acted():
            people.react(user_id, given.message_id, given.emoji, chat_id=given.chat_id)
        return {}

    return router
