"""A user's chats with others, if he connects the bot to them: stored as words of others, never answered."""

from dataclasses import replace

from aiogram import Bot
from aiogram.types import BusinessConnection, BusinessMessagesDeleted, Message, Update
from sqlalchemy import Connection

from bot.telegram.intake.update_outcomes import UpdateOutcomes
from bot.telegram.message_reader import incoming_of, speaker_of
from internal.access import repository as users
from internal.access.model import User, UserState
from internal.dialogue import repository as dialogue
from internal.dialogue.mailbox.model import InboxRow, InboxState
from internal.dialogue.model import Incoming
from internal.flows.forgetting import requests
from internal.flows.turn.intake import Intake
from internal.scheduling.clock import Clock
from internal.storage.database import Database

_CONNECTED = "business_connections"

About = BusinessConnection | BusinessMessagesDeleted | Message


def business_of(update: Update) -> About | None:
    """The part of an update about a user's chats with others; None for any other update."""
    said = update.business_message or update.edited_business_message
    return update.business_connection or said or update.deleted_business_messages


class Business:
    """Stores the messages of those chats. It opens no turn and puts no message into the outbox."""

    def __init__(
        self, bot: Bot, database: Database, clock: Clock, intake: Intake, outcomes: UpdateOutcomes, *, enabled: bool
    ) -> None:
        self._bot, self._database, self._clock = bot, database, clock
        self._intake, self._outcomes, self._enabled = intake, outcomes, enabled

    async def route(self, row: InboxRow, about: About, *, edited: bool) -> None:
        if self._enabled and isinstance(about, BusinessConnection):
            await self._outcomes.settle_with(row, InboxState.INGESTED, lambda c: _connect(c, about))
            return
        connection_id = None if isinstance(about, BusinessConnection) else about.business_connection_id
        owner = await self._database.read(lambda c: _owner(c, connection_id or "")) if self._enabled else None
        if owner is None or isinstance(about, BusinessConnection):
            await self._outcomes.settle(row, InboxState.IGNORED)
        elif isinstance(about, BusinessMessagesDeleted):
            await self._outcomes.settle_with(
                row, InboxState.INGESTED, lambda c: self._forget(c, owner.user_id, about), owner
            )
        else:
            await self._keep(row, owner, about, edited=edited)

    async def _keep(self, row: InboxRow, owner: User, message: Message, *, edited: bool) -> None:
        speaker = speaker_of(message)
        said = incoming_of(message, self._bot.id)
        incoming = replace(said, user_id=owner.user_id, speaker=speaker, command=None, aside=True)
        if speaker is None or not (incoming.readable or incoming.attachments):
            await self._outcomes.settle(row, InboxState.IGNORED)
        elif edited:
            await self._intake.edit(row.n, incoming)
        else:
            await self._intake.take(row.n, owner, incoming, answer=False)

    def _forget(self, connection: Connection, owner: int, gone: BusinessMessagesDeleted) -> None:
        """Forgets messages that were deleted in Telegram."""
        now = self._clock.now()
        for number in gone.message_ids:
            kept = dialogue.find_incoming(connection, Incoming(owner, self._bot.id, gone.chat.id, number, "", now))
            if kept is not None:
                requests.ask(connection, owner, "message", kept.id, now=now)


def _connect(connection: Connection, account: BusinessConnection) -> None:
    """Stores the user of a connection, while he lets the bot read."""
    known = {one: user for one, user in _known(connection).items() if one != account.id}
    user = users.find(connection, account.user.id)
    if account.is_enabled and user is not None and user.state is UserState.ACTIVE:
        known[account.id] = user.user_id
    users.write_setting(connection, _CONNECTED, known)


def _owner(connection: Connection, connection_id: str) -> User | None:
    owner = _known(connection).get(connection_id)
    user = None if owner is None else users.find(connection, owner)
    return user if user is not None and user.state is UserState.ACTIVE else None


def _known(connection: Connection) -> dict[str, int]:
    return users.read_setting(connection, _CONNECTED) or {}
