"""The port through which a handler sends to its chat."""

from collections.abc import Awaitable, Callable, Sequence
from contextlib import AbstractAsyncContextManager
from typing import Protocol

from internal.access.model import User

Keyboard = Sequence[Sequence[tuple[str, str]]]
"""Rows of buttons, each (label, callback data up to 64 bytes)."""


class Chat(Protocol):
    """Everything sent through a chat becomes an outbox row keyed by the update that caused it.

    A handler that runs again after a crash sends nothing twice, if it sends the same messages in the same order.
    Texts are Markdown; they are rendered to Telegram entities and split here.
    """

    @property
    def user(self) -> User: ...

    @property
    def bot_id(self) -> int: ...

    @property
    def chat_id(self) -> int: ...

    @property
    def thread_id(self) -> int | None: ...

    async def say(self, text: str, keyboard: Keyboard | None = None, *, force_reply: bool = False) -> None:
        """Sends a new message."""

    async def edit(self, text: str, keyboard: Keyboard | None = None) -> None:
        """Replaces the message whose button was pressed; sends a new one if it no longer exists."""

    async def toast(self, text: str = "") -> None:
        """Answers a button press, once; otherwise the press is answered after the handler (cosmetic: may be lost)."""

    def working(self) -> AbstractAsyncContextManager[None]:
        """Shows that an answer is being prepared while the block runs (cosmetic: may be lost)."""

    async def beside(self, work: Callable[[], Awaitable[None]]) -> None:
        """Runs `work` in the background after the handler returns, so that the chat's updates need not wait.

        Nothing else may follow in the handler. `work` may run again after a crash and must then send the same messages
        in the same order.
        """

    async def document(self, filename: str, content: str, caption: str) -> None:
        """Sends a UTF-8 text file, packed and in parts if Telegram would not take it whole."""

    async def photo(self, filename: str, content: bytes, caption: str) -> None:
        """Sends a picture."""
