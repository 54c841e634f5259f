"""The order of updates, and updates without news."""

from collections.abc import Hashable

from aiogram.types import CallbackQuery, Update

from bot.telegram.delivery.drafts import STOP_CALLBACK


def order_of(update: Update) -> Hashable:
    """The key whose updates are handled one after another: the chat. Stop buttons and inline searches do not wait."""
    query = update.callback_query
    if query is not None and stopped_turn(query) is None:
        return query.message.chat.id if query.message is not None else query.from_user.id
    business = update.business_message or update.edited_business_message or update.deleted_business_messages
    if business is not None:
        return "business", business.chat.id
    for message in (update.message, update.edited_message, update.my_chat_member, update.message_reaction):
        if message is not None:
            return message.chat.id
    return "update", update.update_id


def stopped_turn(query: CallbackQuery) -> str | None:
    """The turn whose stop button was pressed."""
    if query.data is None or not query.data.startswith(STOP_CALLBACK):
        return None
    return query.data.removeprefix(STOP_CALLBACK)


def found_inline(update: Update, bot_id: int) -> bool:
    """Whether a message is an inline result of the bot itself: text from the memory is not new to the memory."""
    message = update.message or update.edited_message
    return message is not None and message.via_bot is not None and message.via_bot.id == bot_id
