"""Asks the owner, with buttons, what an archivist wants to change about something he set himself."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import Connection

from bot.telegram.handlers.suggestions import suggestion_card
from bot.telegram.outbox_chat import buttons
from bot.telegram.rendering import render
from internal.access import repository as users
from internal.mailbox import repository as mailbox
from internal.mailbox.model import Outgoing
from internal.people import suggestion_repository


def ask_first(connection: Connection, user_id: int, now: datetime) -> None:
    """Owes the first open question to its owner, once; the others follow as he decides. Nothing without a bot."""
    bot_id = users.read_setting(connection, "bot_id")
    waiting = suggestion_repository.pending(connection, user_id, limit=1)
    if bot_id is None or not waiting:
        return
    text, rows = suggestion_card(connection, users.get(connection, user_id), waiting[0])
    [part] = render(text)
    question = Outgoing(
        user_id=user_id,
        bot_id=bot_id,
        chat_id=user_id,
        text=part.text,
        entities=part.entities,
        keyboard=buttons(rows),
        dedupe=f"suggestion:{waiting[0].id}",
    )
    mailbox.put(connection, question, now)
