"""Messages the bot sends on its own initiative: a question with buttons, or a plain sentence."""

from datetime import datetime

from sqlalchemy import Connection

from bot.telegram.delivery.outbox_chat import buttons
from bot.telegram.handlers.memories import questions
from bot.telegram.handlers.people.suggestions import next_question
from bot.telegram.i18n import phrase
from bot.telegram.rendering import render
from internal.access import repository as users
from internal.access.model import User
from internal.chronicle import repository as chronicle
from internal.dialogue.mailbox import repository as mailbox
from internal.dialogue.mailbox.model import Outgoing
from internal.memory.questions.repository import AskedQuestion


def ask_first(connection: Connection, user_id: int, links: dict[str, str], now: datetime) -> None:
    """Asks the first thing that only the owner can decide; the others follow as he decides. Groups are not asked."""
    question = None if user_id < 0 else next_question(connection, users.get(connection, user_id))
    if question is not None:
        once = f"suggestion:{question.id}"
        _enqueue(connection, user_id, question.text, once, links, now, buttons(question.rows))


def ask_about(connection: Connection, user: User, asked: AskedQuestion, now: datetime) -> None:
    """Asks something about memories, once for each `asked`; groups are not asked, as no member decides for them."""
    if user.user_id < 0:
        return
    question = questions.question(connection, user, asked)
    ended = chronicle.listing(connection, user.user_id, limit=1, newest_first=True)
    links = {"session": ended[0].id} if ended else {}  # questions are asked when a conversation is over
    _enqueue(connection, user.user_id, question.text, f"asked:{asked.id}", links, now, buttons(question.rows))


def notify(connection: Connection, user_id: int, key: str, dedupe: str, links: dict[str, str], now: datetime) -> None:
    """Sends the phrase `key` in the user's language, once for each `dedupe`; `links` name what it is about."""
    _enqueue(connection, user_id, phrase(users.get(connection, user_id).lang, key), dedupe, links, now)


def _enqueue(
    connection: Connection,
    user_id: int,
    text: str,
    dedupe: str,
    links: dict[str, str],
    now: datetime,
    keyboard: list[list[dict[str, str]]] | None = None,
) -> None:
    """Enqueues one message to the user's private chat, unless no bot ever ran on this database."""
    bot_id = users.read_setting(connection, "bot_id")
    if bot_id is None:
        return
    [part] = render(text)
    message = Outgoing(
        user_id, bot_id, user_id, part.text, dedupe, entities=part.entities, keyboard=keyboard, links=links
    )
    mailbox.enqueue(connection, message, now)
