"""Checks who administers a group."""

from aiogram import Bot
from aiogram.exceptions import TelegramBadRequest, TelegramForbiddenError


async def is_admin(bot: Bot, chat_id: int, user_id: int) -> bool:
    """Whether a speaker administers the group; one who writes as the group itself does."""
    if user_id < 0:
        return user_id == chat_id
    try:
        member = await bot.get_chat_member(chat_id, user_id, request_timeout=10)
    except TelegramBadRequest:  # the member has left meanwhile
        return False
    return member.status in ("creator", "administrator")


async def is_member(bot: Bot, chat_id: int, user_id: int) -> bool:
    try:
        member = await bot.get_chat_member(chat_id, user_id, request_timeout=10)
    except (TelegramBadRequest, TelegramForbiddenError):
        return False
    return member.status not in ("left", "kicked")
