"""What a handler may do with the chat it was called from."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from contextlib import AbstractAsyncContextManager
from typing import Protocol

from internal.access.model import User

Keyboard = Sequence[Sequence[tuple[str, str]]]
"""Rows of buttons, each (label, callback data up to 64 bytes)."""


class Chat(Protocol):
    """Everything sent through a chat becomes an outbox row keyed by the update that caused it.

    So a handler that runs again after a crash sends nothing twice, provided it says the same things in the same order.
    Texts are Markdown; they are rendered to Telegram entities and split here.
    """

    @property
    def user(self) -> User: ...

    @property
    def bot_id(self) -> int: ...

    @property
    def chat_id(self) -> int: ...

    async def say(self, text: str, keyboard: Keyboard | None = None, *, force_reply: bool = False) -> None:
        """A new message."""
        ...

    async def edit(self, text: str, keyboard: Keyboard | None = None) -> None:
        """Replaces the message whose button was pressed; says it anew where there is none."""
        ...

    async def toast(self, text: str = "") -> None:
        """Answers a button press (cosmetic: may be lost)."""
        ...

    def working(self) -> AbstractAsyncContextManager[None]:
        """Shows that an answer is being prepared, for as long as the block takes (cosmetic: may be lost)."""
        ...

    async def beside(self, work: Callable[[], Awaitable[None]]) -> None:
        """Has the rest of the handling done beside the chat, whose later updates go on; nothing else may follow it.

        It may run again, and says the same things in the same order then.
        """
        ...

    async def document(self, filename: str, content: str, caption: str) -> None:
        """Sends a UTF-8 text file."""
        ...
