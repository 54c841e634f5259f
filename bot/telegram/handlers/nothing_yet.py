"""What is said where a list is empty: that nothing is known, or that it is still being read."""

from __future__ import annotations

from bot.telegram.handlers.services import Services
from bot.telegram.i18n import phrase
from internal.access.model import User
from internal.flows.views.status import reading


async def nothing_yet(user: User, services: Services, text: str) -> str:
    """The text of an empty list; while the conversation is being read, that it is."""
    busy = await services.read(lambda c: reading(c, user.user_id))
    return phrase(user.lang, "still-reading") if busy else text
