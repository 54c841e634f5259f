"""/map: the owner's people as a picture, with their ties to him, stated and inferred."""

from aiogram import Router
from aiogram.filters import Command
from aiogram.types import Message

from bot.telegram.delivery.chat import Chat
from bot.telegram.handlers.services import Services
from bot.telegram.i18n import label, phrase
from internal.flows.reflections.communities import communities
from internal.flows.views.map_drawing import drawn, people_on_map, picture


async def show_map(message: Message, chat: Chat, services: Services) -> None:
    user = chat.user
    ties, people = await services.maps.ties(user.user_id)
    found = people_on_map(ties, people, user.lang)
    if not found:
        await chat.say(phrase(user.lang, "map-empty"))
        return
    inferred = sum(one.inferred for one in found)
    caption = label(user.lang, "map-caption", count=len(found), inferred=inferred)
    kept = await services.read(lambda c: communities(c, user.user_id))
    if kept:
        listed = "; ".join(f"{one.name} ({len(one.members)})" for one in kept[:6])
        caption = f"{caption}\n{label(user.lang, 'map-communities', list=listed)}"
    await chat.photo("map.png", picture(drawn(found, user.lang)), caption)


def router() -> Router:
    built = Router(name="map")
    built.message.register(show_map, Command("map", ignore_mention=True, ignore_case=True))
    return built
