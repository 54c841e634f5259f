"""/share: the owner sends a message from the private chat to a group, or back; each time is logged."""

from collections.abc import Sequence

from aiogram import Bot, Router
from aiogram.filters import Command, CommandObject
from aiogram.types import CallbackQuery, Message
from sqlalchemy import Connection

from bot.telegram.delivery.chat import Chat
from bot.telegram.handlers.awaited_answers import expect
from bot.telegram.handlers.buttons import button
from bot.telegram.handlers.facts.fact_text import LINE, local, quotable, shorten
from bot.telegram.handlers.groups.buttons import ShareButton
from bot.telegram.handlers.groups.rights import is_member
from bot.telegram.handlers.groups.settings import of_group
from bot.telegram.handlers.services import Services
from bot.telegram.i18n import phrase
from bot.telegram.message_reader import speaker_of
from bot.telegram.rendering import render
from internal.access import disclosure_repository as disclosures, groups, repository as users, service as access
from internal.access.disclosure_repository import Disclosure
from internal.access.model import AwaitedAnswer, User, UserState
from internal.dialogue import repository as dialogue
from internal.dialogue.mailbox import repository as mailbox
from internal.dialogue.mailbox.model import Outgoing
from internal.dialogue.model import SPEAKER_MARK, clock_metadata
from internal.errors import NotFound, Refused
from internal.storage.engine.owner_scope import acting_for
from internal.storage.engine.row_policies import across_owners

_SHARING = "share"
_OFFERED = 20


async def offer(message: Message, command: CommandObject, chat: Chat, services: Services, bot: Bot) -> None:
    """Asks to which group the words, or the message that they answer, are to go."""
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
    user = chat.user
    asked, group = (
        access.awaited(user, services.clock.now()),
        await services.read(lambda c: _group(c, callback_data.group)),
    )
    if asked is None or asked.kind != _SHARING:
        raise NotFound("nothing waits to be shared")
    telegram_chat = await _chat(group, services)
    if not await is_member(bot, telegram_chat, user.user_id):
        raise Refused("other", "only a member shares with a group")
    text, ref = str(asked.details["text"]), str(asked.details["ref"])
    shown = phrase(group.lang, "share-said", name=user.name, text=text)
    await _pass_on(
        services, user, group, (text, shown, user.name), (ref, f"group:{group.user_id}"), chat, telegram_chat
    )
    await chat.edit(phrase(user.lang, "share-done", name=group.name))


async def take_home(message: Message, command: CommandObject, chat: Chat, services: Services) -> None:
    """Copies a message of the group to the private memory of the member who asks for it."""
    group, asker, replied = chat.user, message.from_user, message.reply_to_message
    text = (replied.text or replied.caption or "") if replied is not None else ""
    with acting_for(asker.id if asker is not None else 0):
        user = await services.read(lambda c: users.find(c, asker.id if asker is not None else 0))
    if user is None or user.state is not UserState.ACTIVE or replied is None or not text:
        await chat.say(phrase(group.lang, "share-home-how"))
        return
    speaker = speaker_of(replied)
    name = speaker.name if speaker is not None else services.config.persona.name
    shown = phrase(user.lang, "share-from", group=group.name, name=name, text=text)
    to = (str(replied.message_id), f"user:{user.user_id}")
    await _pass_on(services, group, user, (text, shown, name), to, chat, user.user_id)


async def _pass_on(
    services: Services,
    of: User,
    to: User,
    words: tuple[str, str, str],
    logged: tuple[str, str],
    chat: Chat,
    telegram_chat: int,
) -> None:
    """Logs that words (as said, as shown, whose) leave a memory (`logged`: which message, to whom), sends and stores
    them at the target in one transaction."""
    (text, shown, speaker), (ref, audience), now = words, logged, services.clock.now()
    key = f"share:{of.user_id}:{ref}:{to.user_id}"
    marks = {**clock_metadata(now, to.tz), SPEAKER_MARK: speaker}
    lines = [
        Outgoing(to.user_id, chat.bot_id, telegram_chat, part.text, f"{key}:{n}" if n else key, entities=part.entities)
        for n, part in enumerate(render(shown))
    ]

    def leave(connection: Connection) -> None:
        what = {"kind": "message", "ref_id": ref, "audience": audience, "reason": "/share"}
        if not disclosures.record(connection, of.user_id, key, text, **what, now=now):
            return
        with across_owners(connection):
            for line in lines:
                mailbox.enqueue(connection, line, now)
            dialogue.add(connection, to.user_id, "user", text, now=now, user_metadata=marks, chat_id=telegram_chat)

    await services.write(leave)


async def log(message: Message, chat: Chat, services: Services) -> None:
    await chat.say(await services.read(lambda c: shared_shown(c, chat.user, (chat.bot_id, chat.chat_id))))


def shared_shown(connection: Connection, user: User, address: tuple[int, int]) -> str:
    """What was shared, when and where, the latest first, with the current words of the dialogue."""
    found = disclosures.listing(connection, user.user_id, limit=_OFFERED)
    lines = [_logged(connection, user, one, address) for one in found]
    return "\n".join([phrase(user.lang, "shared" if lines else "shared-nothing"), *lines])


def _logged(connection: Connection, user: User, one: Disclosure, address: tuple[int, int]) -> str:
    said = dialogue.sent(connection, user.user_id, *address, int(one.ref_id)) if one.kind == "message" else None
    with across_owners(connection):
        group = users.find(connection, int(one.audience.rpartition(":")[2]))
    text = shorten(quotable(said.content), LINE) if said is not None else "…"
    at, name = local(user, one.at), group.name if group is not None else one.audience
    return phrase(user.lang, "shared-line", at=at, name=name, text=text)


def _text_of(message: Message, command: CommandObject) -> str:
    replied = message.reply_to_message
    answered = (message.quote.text if message.quote else "") or (replied and (replied.text or replied.caption)) or ""
    return command.args or answered


def _active(connection: Connection) -> Sequence[User]:
    with across_owners(connection):
        found = [
            one for one in users.everybody(connection) if groups.is_group(one.user_id) and groups.settings_of(one).on
        ]
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
    built.message.register(log, Command("shared", ignore_mention=True))
    built.callback_query.register(group_chosen, ShareButton.filter())
    return built
