"""Hands commands, button presses and awaited messages to aiogram's routers, each with the chat it came from."""

from aiogram import Bot, Dispatcher, Router
from aiogram.dispatcher.event.bases import UNHANDLED
from aiogram.types import Update

from bot.telegram.delivery.outbox_chat import OutboxChat
from bot.telegram.intake.update_handler import Handled
from bot.telegram.message_reader import forward_of, thread_of
from internal.access.model import User
from internal.dialogue.mailbox.model import InboxRow
from internal.scheduling.clock import Clock
from internal.storage.database import Database


class DispatcherHandlers:
    """Implements `Handlers` of the ingest over an aiogram dispatcher."""

    def __init__(self, bot: Bot, database: Database, clock: Clock, router: Router) -> None:
        self._bot, self._database, self._clock = bot, database, clock
        self._dispatcher = Dispatcher(disable_fsm=True)
        self._dispatcher.include_router(router)

    async def handle(self, update: Update, row: InboxRow, user: User) -> Handled:
        message = update.message or (update.callback_query.message if update.callback_query else None)
        chat = OutboxChat(
            self._bot,
            self._database,
            self._clock,
            user,
            message.chat.id if message is not None else user.user_id,
            row.key,
            thread_id=thread_of(message),
            pressed=update.callback_query,
        )
        if update.message is not None and forward_of(update.message) is not None:
            # Forwarded words are neither a command nor an answer.
            silent = update.message.model_copy(update={"text": None, "caption": None})
            update = update.model_copy(update={"message": silent})
        handled = await self._dispatcher.feed_update(self._bot, update, chat=chat) is not UNHANDLED
        return chat.rest or handled
