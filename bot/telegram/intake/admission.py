"""Decides who is admitted, and recognises users: by the allow-list, the local Telegram, or the owner code."""

from dataclasses import dataclass
from datetime import datetime

from aiogram.types import Message
from sqlalchemy import Connection

from bot.telegram.handlers.account.start import start_code
from bot.telegram.handlers.services import Menu
from internal.access import repository as users, service as access
from internal.access.model import Author, Role, User, UserState
from internal.dialogue.mailbox import repository as mailbox
from internal.scheduling.clock import Clock
from internal.storage.database import Database


@dataclass(frozen=True, slots=True)
class AccessPolicy:
    """The users who are admitted: the configured ids, or everybody (local Telegram)."""

    allowed: frozenset[int]
    admit_all: bool


class Admission:
    """Finds or creates the user who wrote."""

    def __init__(self, database: Database, clock: Clock, policy: AccessPolicy, bot_id: int, menu: Menu) -> None:
        self._database, self._clock = database, clock
        self._policy, self._bot_id, self._menu = policy, bot_id, menu

    async def admit(self, author: Author) -> User | None:
        """The user who wrote, or None for a stranger. Nothing is stored if nothing about him changed."""
        known = await self._database.read_quickly(lambda c: users.find(c, author.user_id))
        if known is not None and known.state is UserState.REMOVED:
            return None
        if known is not None and access.up_to_date(known, author):
            return known
        now = self._clock.now()
        user = await self._database.write(lambda c: _admit(c, author, self._policy, self._bot_id, now))
        if user is not None and known is None and user.role is Role.OWNER:
            await self._menu.show(user)
        return user

    async def claim(self, author: Author, message: Message) -> User | None:
        """Makes the user who sends the owner code the bot owner; the handler of /start greets him."""
        code = start_code(message)
        if code is None:
            return None
        now = self._clock.now()
        return await self._database.write(lambda c: access.claim_ownership(c, author, code, now))


def _admit(connection: Connection, author: Author, policy: AccessPolicy, bot_id: int, now: datetime) -> User | None:
    user = access.admit(connection, author, allowed=policy.allowed, admit_all=policy.admit_all, now=now)
    if user is not None:
        mailbox.release(connection, user.user_id, bot_id, now)
    return user
