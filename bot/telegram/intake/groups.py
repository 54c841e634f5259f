"""Updates of groups: messages to the bot are answered, others are stored only while the group lets it listen."""

from collections.abc import Awaitable, Callable
from datetime import datetime, timedelta
from functools import partial
from typing import Final

from aiogram import Bot
from aiogram.types import Chat, ChatMemberUpdated, Message, Update
from sqlalchemy import Connection

from bot.telegram.delivery.drafts import STOP_CALLBACK
from bot.telegram.handlers.buttons import BUTTONS
from bot.telegram.handlers.groups.policy import Permit, permit_of
from bot.telegram.handlers.groups.rights import is_admin
from bot.telegram.intake.group_messages import Addressed, addressed, in_group, stops_listening
from bot.telegram.intake.update_outcomes import UpdateOutcomes
from bot.telegram.message_reader import author_of, reaction_of, speaker_of, thread_of
from bot.telegram.rendering import render
from internal.access import groups, service as access
from internal.access.groups import Budgets, GroupAccess
from internal.access.model import Author, User, nearest_language
from internal.access.zones import guess_zone
from internal.config.settings import GroupsConfig
from internal.dialogue.mailbox import repository as mailbox
from internal.dialogue.mailbox.model import InboxRow, InboxState, Outgoing
from internal.dialogue.model import Speaker
from internal.flows.turn.intake import Intake, IntakePhrases, StoredMessage
from internal.scheduling.clock import Clock
from internal.storage.database import Database
from internal.storage.engine.owner_scope import acting_for

Take = Callable[[InboxRow, User, Message], Awaitable[None]]
Handle = Callable[[InboxRow, Update, User, Take], Awaitable[None]]

SEEN_AGAIN: Final = timedelta(hours=1)
"""The silence after which the bot shows again that it listens."""
THERE: Final = frozenset({"member", "administrator", "restricted"})


def group_of(update: Update) -> Chat | None:
    """The group of an update; None for a private chat, a channel, or a press that stops an answer."""
    query = update.callback_query
    if query is not None:
        chat = query.message.chat if query.message and not (query.data or "").startswith(STOP_CALLBACK) else None
    else:
        about = update.message or update.edited_message or update.message_reaction or update.my_chat_member
        chat = about.chat if about is not None else None
    return chat if chat is not None and chat.type in ("group", "supergroup") else None


class Groups:
    """Handles updates of groups; `admit` finds the user behind an act, `handle` runs commands and buttons."""

    def __init__(
        self,
        bot: Bot,
        database: Database,
        clock: Clock,
        config: GroupsConfig,
        *,
        intake: Intake,
        outcomes: UpdateOutcomes,
        phrases: IntakePhrases,
        admit: Callable[[Author], Awaitable[User | None]],
        handle: Handle,
        stored: Callable[[User, StoredMessage], None],
    ) -> None:
        self._bot, self._database, self._clock, self._config = bot, database, clock, config
        self._intake, self._outcomes, self._phrases = intake, outcomes, phrases
        self._admit, self._handle, self._stored = admit, handle, stored
        self._heard: dict[int, datetime] = {}

    async def route(self, row: InboxRow, update: Update, chat: Chat) -> None:
        standing = await self._database.read(lambda c: groups.standing_of(c, chat.id, configured=self._config.enabled))
        match update:
            case Update(my_chat_member=ChatMemberUpdated() as changed):
                await self._membership(row, changed, standing)
            case Update(message=Message() as message) if message.migrate_to_chat_id or message.migrate_from_chat_id:
                ids = (chat.id, message.migrate_to_chat_id or chat.id)
                old, new = (message.migrate_from_chat_id, chat.id) if message.migrate_from_chat_id else ids
                await self._outcomes.settle_with(
                    row, InboxState.INGESTED, lambda c: groups.move_to_supergroup(c, old, new)
                )
            case Update(message=Message() as message) if not standing.enabled:
                language = message.from_user.language_code if message.from_user else None
                await self._once(row, chat.id, "works-in-private", language)
            case Update(message=Message() as message):
                await self._message(row, update, message, standing)
            case _ if not standing.active or standing.user is None:
                await self._outcomes.settle(row, InboxState.IGNORED)
            case _:
                await self._of_group(row, update, standing.user)

    async def _of_group(self, row: InboxRow, update: Update, user: User) -> None:
        """Handles an edit, a reaction or a press in a group in which the bot works."""
        edited, reacted, query = update.edited_message, update.message_reaction, update.callback_query
        if edited is not None and (speaker := speaker_of(edited)) is not None:
            incoming = in_group(edited, await self._bot.me(), user.user_id, speaker)
            await self._intake.edit(row.n, incoming)
        elif reacted is not None:
            await self._intake.react(row.n, reaction_of(reacted, self._bot.id, user.user_id))
        elif query is not None and query.message is not None:
            pressed = BUTTONS.get((query.data or "").partition(":")[0])
            permit = permit_of(pressed.command.removeprefix("/") if pressed is not None else "")
            if permit is Permit.ADMINS and not await is_admin(self._bot, query.message.chat.id, query.from_user.id):
                text = self._phrases(user.lang, "group-admins-only")
                await self._outcomes.settle(row, InboxState.IGNORED)
                await self._bot.answer_callback_query(query.id, text, request_timeout=5)
            else:
                await self._handle(row, update, user, self._take)
        else:
            await self._outcomes.settle(row, InboxState.IGNORED)

    # The bot joins and leaves

    async def _membership(self, row: InboxRow, changed: ChatMemberUpdated, standing: GroupAccess) -> None:
        chat, by = changed.chat, changed.from_user
        if changed.new_chat_member.status not in THERE:
            await self._outcomes.settle_with(row, InboxState.INGESTED, lambda c: _leave_group(c, standing.owner_id))
        elif not standing.enabled:
            await self._once(row, chat.id, "works-in-private", by.language_code)
        elif changed.old_chat_member.status in THERE and standing.user is not None:
            await self._outcomes.settle(row, InboxState.INGESTED, standing.user)  # its rights have changed
        elif user := await self._join(row, standing, chat, author_of(by)):
            await self._outcomes.settle(row, InboxState.INGESTED, user)
        else:
            await self._once(row, chat.id, "group-not-invited", by.language_code)

    async def _join(self, row: InboxRow, standing: GroupAccess, chat: Chat, by: Author) -> User | None:
        """Begins to work in a group if a user of the bot wants that, and says so. Returns the group, or None."""
        invited = await self._admit(by) is not None
        if not invited and (standing.user is None or not groups.settings_of(standing.user).on):
            return None
        lang, zone, now = nearest_language(by.language_code), guess_zone(by.language_code), self._clock.now()
        name = f"@{(await self._bot.me()).username}"

        def work(connection: Connection) -> User:
            title = chat.title or str(chat.id)
            user = groups.join(connection, standing.owner_id, title, lang, zone, now, on=invited)
            mailbox.release(connection, user.user_id, self._bot.id, now)
            hello = self._line(user, chat.id, "group-hello", f"{row.key}:hello", bot=name)
            mailbox.enqueue(connection, hello, now)
            return user

        with acting_for(standing.owner_id):
            user = await self._database.write(work)
        self._outcomes.wake()
        return user

    # Messages

    async def _message(self, row: InboxRow, update: Update, message: Message, standing: GroupAccess) -> None:
        speaker, me = speaker_of(message), await self._bot.me()
        if speaker is None:
            await self._outcomes.settle(row, InboxState.IGNORED)
            return
        to_bot = addressed(message, me)
        user = standing.user
        if user is None and to_bot is not Addressed.NOT and message.from_user is not None:
            user = await self._join(row, standing, message.chat, author_of(message.from_user))
            standing = GroupAccess(standing.enabled, standing.owner_id, user)
        if user is None or not standing.active:
            await self._outcomes.settle(row, InboxState.IGNORED)
            return
        if message.chat.title and message.chat.title != user.name:
            with acting_for(user.user_id):
                user = await self._database.write(partial(groups.rename, user=user, title=message.chat.title))
        settings = groups.settings_of(user)
        if settings.listens and stops_listening(message, me, settings.stop_word):
            with acting_for(user.user_id):
                await self._database.write(lambda c: groups.change(c, user.user_id, listens=False))
            await self._say(row, user, message.chat.id, "group-listens-not", thread=thread_of(message))
        elif to_bot is Addressed.COMMAND:
            await self._command(row, update, message, user, speaker)
        elif to_bot is Addressed.WORDS:
            await self._spoken_to(row, update, message, user)
        elif settings.listens and to_bot is Addressed.NOT:
            await self._keep(row, user, message, speaker)
        else:
            await self._outcomes.settle(row, InboxState.IGNORED)

    async def _command(self, row: InboxRow, update: Update, message: Message, user: User, speaker: Speaker) -> None:
        name, _, words = (message.text or "").removeprefix("/").partition(" ")
        permit = permit_of(name.partition("@")[0].lower(), words)
        if permit is Permit.ADMINS and not await is_admin(self._bot, message.chat.id, speaker.id):
            await self._say(row, user, message.chat.id, "group-admins-only", thread=thread_of(message))
        elif permit is Permit.PRIVATE:
            await self._say(row, user, message.chat.id, "group-command-private", thread=thread_of(message))
        else:
            await self._handle(row, update, user, self._take)

    async def _spoken_to(self, row: InboxRow, update: Update, message: Message, user: User) -> None:
        """Handles a message to the bot: an answer to its question if it replies to that, else a question."""
        awaited = access.awaited(user, self._clock.now(), message.message_id)
        if awaited is not None and message.reply_to_message is not None:
            await self._handle(row, update, user, self._take)
        else:
            await self._take(row, user, message)

    async def _take(self, row: InboxRow, user: User, message: Message) -> None:
        """Stores a message to be answered, unless the group's limit for today is used up."""
        speaker, now = speaker_of(message), self._clock.now()
        if speaker is None:
            return
        configured = Budgets(self._config.messages_per_day, self._config.tokens_per_day)
        with acting_for(user.user_id):
            used_up = await self._database.read(lambda c: groups.exceeded(c, user, now, configured))
        if used_up is not None:
            day, key = now.date(), f"group-budget-{used_up}"
            await self._say(row, user, message.chat.id, key, thread=thread_of(message), once=f"{user.user_id}:{day}")
            return
        await self._keep(row, user, message, speaker, answer=True)

    async def _keep(
        self, row: InboxRow, user: User, message: Message, speaker: Speaker, *, answer: bool = False
    ) -> None:
        incoming = in_group(message, await self._bot.me(), user.user_id, speaker)
        if not incoming.readable and not incoming.attachments:
            await self._outcomes.settle(row, InboxState.IGNORED)
            return
        taken = await self._intake.take(row.n, user, incoming, answer=answer)
        self._stored(user, taken)
        if taken.message is not None and not answer:
            await self._show_listening(user, message)

    async def _show_listening(self, user: User, message: Message) -> None:
        """Reacts to the first message after a silence, as a reminder to the group that the bot listens."""
        now = self._clock.now()
        before, self._heard[user.user_id] = self._heard.get(user.user_id), now
        if before is None or now - before > SEEN_AGAIN:
            address = (user.user_id, self._bot.id, message.chat.id)
            dedupe = f"seen:{message.chat.id}:{message.message_id}"
            seen = Outgoing(*address, "👀", dedupe, kind="react", tg_id=message.message_id)
            with acting_for(user.user_id):
                await self._database.write(lambda c: mailbox.enqueue(c, seen, now))
            self._outcomes.wake()

    # Messages on the bot's own initiative

    async def _once(self, row: InboxRow, chat_id: int, key: str, language: str | None) -> None:
        """Sends one line to a group in which the bot does not work, once; nothing else about it is stored."""
        text = self._phrases(nearest_language(language), key)
        line = Outgoing(0, self._bot.id, chat_id, text, f"once:group:{chat_id}")
        await self._outcomes.say(row, InboxState.IGNORED, line)

    async def _say(
        self, row: InboxRow, user: User, chat_id: int, key: str, *, thread: int | None = None, once: str = "",
        **values: str,
    ) -> None:  # fmt: skip
        """Settles the update with a line to the group."""
        dedupe = f"{key}:{once}" if once else f"{row.key}:{key}"
        line, now = self._line(user, chat_id, key, dedupe, thread, **values), self._clock.now()
        await self._outcomes.settle_with(row, InboxState.INGESTED, lambda c: mailbox.enqueue(c, line, now), user)
        self._outcomes.wake()

    def _line(
        self, user: User, chat_id: int, key: str, dedupe: str, thread: int | None = None, **values: str
    ) -> Outgoing:
        [part] = render(self._phrases(user.lang, key, **values))
        address = (user.user_id, self._bot.id, chat_id)
        return Outgoing(*address, part.text, dedupe, entities=part.entities, thread_id=thread)


def _leave_group(connection: Connection, owner_id: int) -> None:
    if access.pause(connection, owner_id):
        mailbox.hold_messages(connection, owner_id, "removed from the group")
