"""/groups: for the bot owner, the groups in which the bot works; in a group, the group's settings."""

import re

from aiogram import Bot, Router
from aiogram.filters import Command, CommandObject
from aiogram.types import CallbackQuery, Message
from sqlalchemy import Connection

from bot.telegram.delivery.chat import Chat
from bot.telegram.handlers.account.forget import undo_pressed
from bot.telegram.handlers.buttons import Rows, button
from bot.telegram.handlers.groups.buttons import GroupButton, UndoMineButton
from bot.telegram.handlers.groups.policy import means_oneself
from bot.telegram.handlers.groups.rights import is_admin
from bot.telegram.handlers.services import Services
from bot.telegram.i18n import Markdown, label, phrase
from bot.telegram.message_reader import speaker_of
from internal.access import groups
from internal.access.groups import Budgets
from internal.access.model import User
from internal.dialogue import repository as dialogue
from internal.errors import Refused
from internal.flows.forgetting import requests
from internal.flows.forgetting.requested_messages import with_quotations
from internal.people import repository as people

_BUDGET = re.compile(r"\D*(\d{1,9})\D+(\d{1,12})\D*")
_LONGEST_WORD = 40


async def of_group(event: Message | CallbackQuery, chat: Chat) -> bool:
    return groups.is_group(chat.user.user_id)


async def of_myself(message: Message, command: CommandObject, chat: Chat) -> bool:
    return groups.is_group(chat.user.user_id) and means_oneself(command.args or "")


async def hello(message: Message, chat: Chat, bot: Bot) -> None:
    await chat.say(phrase(chat.user.lang, "group-hello", bot=f"@{(await bot.me()).username}"))


async def show_all(message: Message, command: CommandObject, chat: Chat, services: Services) -> None:
    """The owner's list of groups in the private chat; /groups on and /groups off switch them all."""
    word = (command.args or "").strip().lower()
    if word in ("on", "off"):
        await services.write(lambda c: groups.enable(c, word == "on", by=chat.user))
    await chat.say(*await services.read(lambda c: _overview(c, chat.user, services)))


async def all_pressed(query: CallbackQuery, callback_data: GroupButton, chat: Chat, services: Services) -> None:
    owner, on = chat.user, callback_data.act == "on"

    def work(connection: Connection) -> tuple[str, Rows]:
        if callback_data.group:
            groups.switch(connection, callback_data.group, on, by=owner)
        else:
            groups.enable(connection, on, by=owner)
        return _overview(connection, owner, services)

    await chat.edit(*await services.write(work))


def _overview(connection: Connection, owner: User, services: Services) -> tuple[str, Rows]:
    found = groups.all_groups(connection, by=owner)
    on = groups.enabled(connection, configured=services.config.groups.enabled)
    lines = [f"- {phrase(owner.lang, _state(groups.settings_of(one).on), name=one.name)}" for one in found]
    text = phrase(owner.lang, "groups-on" if on else "groups-off", groups=Markdown("\n".join(lines)))
    rows = [[_switch(owner, 0, not on, label(owner.lang, "groups-button-off" if on else "groups-button-on"))]]
    for one in found if on else ():
        active = groups.settings_of(one).on
        name = label(owner.lang, "group-button-off" if active else "group-button-on", name=one.name)
        rows.append([_switch(owner, one.user_id, not active, name)])
    return text, rows


def _state(on: bool) -> str:
    return "groups-one" if on else "groups-one-off"


def _switch(owner: User, group: int, on: bool, text: str) -> tuple[str, str]:
    return button(text, GroupButton(owner=owner.user_id, group=group, act="on" if on else "off"))


# In a group


async def show_one(message: Message, command: CommandObject, chat: Chat, services: Services, bot: Bot) -> None:
    """Shows the settings of this group. `budget 50 20000` and `listen on WORD` change them."""
    group, speaker = chat.user, speaker_of(message)
    name, _, words = (command.args or "").partition(" ")
    if name.lower() == "budget" and speaker is not None and (asked := _BUDGET.fullmatch(words)):
        limits = (int(asked[1]), int(asked[2]))
        group = await services.write(lambda c: groups.budget(c, group.user_id, *limits, by=speaker.id))
    elif name.lower() == "listen" and speaker is not None:
        act, _, word = words.partition(" ")
        await _listen(chat, services, bot, speaker.id, on=act.lower() != "off", word=word.strip()[:_LONGEST_WORD])
        return
    await chat.say(*_settings_card(group, services))


async def one_pressed(
    query: CallbackQuery, callback_data: GroupButton, chat: Chat, services: Services, bot: Bot
) -> None:
    await _listen(chat, services, bot, query.from_user.id, on=callback_data.act == "listen")


async def _listen(chat: Chat, services: Services, bot: Bot, by: int, *, on: bool, word: str = "") -> None:
    """Begins or ends listening, in a line that everybody in the group sees."""
    if not await is_admin(bot, chat.chat_id, by):
        raise Refused("group_admins", "only the administrators of a group decide whether the bot listens")
    group, change = chat.user, {"listens": on} | ({"stop_word": word} if word else {})
    group = await services.write(lambda c: groups.change(c, group.user_id, **change))
    key = "group-listens" if on else "group-listens-not"
    await chat.say(phrase(group.lang, key, word=_stop_word(group)))


def _stop_word(group: User) -> str:
    return groups.settings_of(group).stop_word or groups.STOP_WORDS[group.lang]


def _settings_card(group: User, services: Services) -> tuple[str, Rows]:
    configured = services.config.groups
    limits = groups.budgets(group, Budgets(configured.messages_per_day, configured.tokens_per_day))
    listens = groups.settings_of(group).listens
    kept = phrase(group.lang, "group-card-listens" if listens else "group-card-listens-not", word=_stop_word(group))
    text = phrase(
        group.lang, "group-card", listens=Markdown(kept), messages=limits.messages or "∞", tokens=limits.tokens or "∞"
    )
    act, name = ("quiet", "group-button-quiet") if listens else ("listen", "group-button-listen")
    data = GroupButton(owner=group.user_id, group=group.user_id, act=act)
    return text, [[button(label(group.lang, name), data)]]


async def forget_me(message: Message, chat: Chat, services: Services) -> None:
    """Forgets what a member said in the group, and what the group knows about this member."""
    speaker, group, now = speaker_of(message), chat.user.user_id, services.clock.now()
    if speaker is None:
        return

    def work(connection: Connection) -> tuple[int, str | None]:
        said = dialogue.said_by(connection, group, speaker.id)
        known = people.by_telegram_id(connection, group, speaker.id)
        taken = with_quotations(connection, group, said)
        if known is None and not said:
            return 0, None
        if known is None:
            return len(said), requests.ask(connection, group, "message", said[0], now=now, messages=taken).id
        return len(said), requests.ask_forget(connection, group, known.id, now=now, messages=taken).id

    count, asked = await services.write(work)
    minutes = round(requests.UNDO_WINDOW.total_seconds() / 60)
    text = phrase(chat.user.lang, "group-forgot-member", name=speaker.name, count=count, minutes=minutes)
    data = UndoMineButton(owner=group, forgetting=asked, by=speaker.id) if asked else None
    await chat.say(text, [[button(label(chat.user.lang, "forget-button-undo"), data)]] if data else [])


async def undo_mine(query: CallbackQuery, callback_data: UndoMineButton, chat: Chat, services: Services) -> None:
    if query.from_user.id != callback_data.by:
        raise Refused("other", "only who asked to be forgotten takes it back")
    await undo_pressed(query, callback_data, chat, services)


def router() -> Router:
    built = Router(name="groups")
    built.message.register(hello, Command("start", "help", ignore_mention=True), of_group)
    built.message.register(forget_me, Command("forget", ignore_mention=True), of_myself)
    built.message.register(show_one, Command("groups", ignore_mention=True), of_group)
    built.message.register(show_all, Command("groups", ignore_mention=True))
    built.callback_query.register(undo_mine, UndoMineButton.filter())
    built.callback_query.register(one_pressed, GroupButton.filter(), of_group)
    built.callback_query.register(all_pressed, GroupButton.filter())
    return built
