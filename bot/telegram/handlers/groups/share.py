"""/share: a message goes from the private chat to a group, or back, because its owner says so; each time is logged."""

from collections.abc import Sequence

from aiogram import Bot, Router
from aiogram.filters import Command, CommandObject
from aiogram.types import CallbackQuery, Message
from sqlalchemy import Connection

from bot.telegram.delivery.chat import Chat
from bot.telegram.handlers.awaited_answers import expect
from bot.telegram.handlers.buttons import button
from bot.telegram.handlers.groups.buttons import ShareButton
from bot.telegram.handlers.groups.rights import is_member
from bot.telegram.handlers.groups.settings import of_group
from bot.telegram.handlers.services import Services
from bot.telegram.i18n import phrase
from bot.telegram.message_reader import speaker_of
from bot.telegram.rendering import render
from internal.access import groups
from internal.access import repository as users
from internal.access import service as access
from internal.access.model import AwaitedAnswer, User, UserState
from internal.dialogue import repository as dialogue
from internal.dialogue.model import SPEAKER_MARK, clock_metadata
from internal.disclosures import repository as disclosures
from internal.errors import NotFound, Refused
from internal.mailbox import repository as mailbox
from internal.mailbox.model import Outgoing
from internal.storage.engine.owner_scope import acting_for
from internal.storage.engine.row_policies import across_owners

_SHARING = "share"
_OFFERED = 20


async def offer(message: Message, command: CommandObject, chat: Chat, services: Services, bot: Bot) -> None:
    """Asks to which group the words, or the message that they answer, shall go."""
    text, user = _text_of(message, command), chat.user
    known = await services.read(_active)
    theirs = [
        one for one in known[:_OFFERED] if text and await is_member(bot, await _chat(one, services), user.user_id)
    ]
    if not theirs:
        await chat.say(phrase(user.lang, "share-how" if not text else "share-nowhere"))
        return
    replied = message.reply_to_message
    details = {"text": text, "ref": str((replied or message).message_id)}
    await expect(user, services, AwaitedAnswer(_SHARING, details))
    rows = [[button(one.name, ShareButton(owner=user.user_id, group=one.user_id))] for one in theirs]
    await chat.say(phrase(user.lang, "share-where"), rows)


async def group_chosen(
    query: CallbackQuery, callback_data: ShareButton, chat: Chat, services: Services, bot: Bot
) -> None:
    user, now = chat.user, services.clock.now()
    asked, group = access.awaited(user, now), await services.read(lambda c: _group(c, callback_data.group))
    if asked is None or asked.kind != _SHARING:
        raise NotFound("nothing waits to be shared")
    place = await _chat(group, services)
    if not await is_member(bot, place, user.user_id):
        raise Refused("other", "only a member shares with a group")
    text, ref = str(asked.details["text"]), str(asked.details["ref"])
    key = f"share:{user.user_id}:{ref}:{group.user_id}"
    [part] = render(phrase(group.lang, "share-said", name=user.name, text=text[:3000]))
    await services.write(
        lambda c: disclosures.record(
            c, user.user_id, key, text, kind="message", ref_id=ref, audience=f"group:{group.user_id}",
            reason="/share", now=now,
        )
    )  # fmt: skip

    def arrive(connection: Connection) -> None:
        out = Outgoing(group.user_id, chat.bot_id, place, part.text, key, entities=part.entities)
        if mailbox.put(connection, out, now) is not None:
            marks = {**clock_metadata(now, group.tz), SPEAKER_MARK: user.name}
            dialogue.add(connection, group.user_id, "user", text, now=now, user_metadata=marks, chat_id=place)

    with acting_for(group.user_id):
        await services.write(arrive)
    await chat.toast()
    await chat.edit(phrase(user.lang, "share-done", name=group.name))


async def take_home(message: Message, command: CommandObject, chat: Chat, services: Services) -> None:
    """Copies a message of the group to the private memory of who asks for it."""
    group, now, asker, replied = chat.user, services.clock.now(), message.from_user, message.reply_to_message
    text = (replied.text or replied.caption or "") if replied is not None else ""
    with acting_for(asker.id if asker is not None else 0):
        user = await services.read(lambda c: users.find(c, asker.id if asker is not None else 0))
    if user is None or user.state is not UserState.ACTIVE or replied is None or not text:
        await chat.say(phrase(group.lang, "share-home-how"))
        return
    key, speaker = f"share:{group.user_id}:{replied.message_id}:{user.user_id}", speaker_of(replied)
    name = speaker.name if speaker is not None else services.config.persona.name
    await services.write(
        lambda c: disclosures.record(
            c, group.user_id, key, text, kind="message", ref_id=str(replied.message_id),
            audience=f"user:{user.user_id}", reason="/share", now=now,
        )
    )  # fmt: skip

    def arrive(connection: Connection) -> None:
        [part] = render(phrase(user.lang, "share-from", group=group.name, name=name, text=text[:3000]))
        out = Outgoing(user.user_id, chat.bot_id, user.user_id, part.text, key, entities=part.entities)
        if mailbox.put(connection, out, now) is not None:
            marks = {**clock_metadata(now, user.tz), SPEAKER_MARK: name}
            dialogue.add(connection, user.user_id, "user", text, now=now, user_metadata=marks, chat_id=user.user_id)

    with acting_for(user.user_id):
        await services.write(arrive)


def _text_of(message: Message, command: CommandObject) -> str:
    replied = message.reply_to_message
    answered = (message.quote.text if message.quote else "") or (replied and (replied.text or replied.caption)) or ""
    return command.args or answered


def _active(connection: Connection) -> Sequence[User]:
    with across_owners(connection):
        found = [one for one in users.everybody(connection) if groups.is_group(one.user_id) and groups.of(one).on]
    return [one for one in found if one.state is UserState.ACTIVE]


def _group(connection: Connection, group_id: int) -> User:
    with across_owners(connection):
        return users.get(connection, group_id)


async def _chat(group: User, services: Services) -> int:
    return await services.read(lambda c: groups.chat_of(c, group.user_id))


def router() -> Router:
    built = Router(name="share")
    built.message.register(take_home, Command("share", ignore_mention=True), of_group)
    built.message.register(offer, Command("share", ignore_mention=True))
    built.callback_query.register(group_chosen, ShareButton.filter())
    return built
