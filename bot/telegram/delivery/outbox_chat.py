"""The chat of a handler: its messages become outbox rows keyed by the update that caused them."""

import asyncio
import base64
import contextlib
import io
import logging
import zipfile
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import KW_ONLY, dataclass, field, replace

from aiogram import Bot
from aiogram.exceptions import TelegramAPIError
from aiogram.types import CallbackQuery
from sqlalchemy import Connection

from bot.telegram.delivery.chat import Keyboard
from bot.telegram.delivery.sender import describe
from bot.telegram.rendering import render
from internal.access.model import User
from internal.dialogue.mailbox import repository as mailbox
from internal.dialogue.mailbox.model import Outgoing, OutgoingKind, Rendered
from internal.events import repository as events
from internal.events.trigger import current_trigger
from internal.scheduling.clock import Clock
from internal.storage.database import Database

log = logging.getLogger(__name__)


TOAST_TIMEOUT_S = 5
"""Seconds for answering a press: the chat's other updates wait for it, and Telegram soon forgets the press."""


TYPING_S = 4.5
"""Seconds between two "typing" actions: Telegram shows one for five seconds."""


MOST_BYTES = 49 * 2**20
"""The most bytes of an upload; Telegram accepts up to 50 MB."""


@dataclass(eq=False)
class OutboxChat:
    """Implements `Chat`. `key` names the update; the n-th message sent for it always has the same dedupe key.

    `rest` is the work to do in the background after the handler has returned.
    """

    bot: Bot
    database: Database
    clock: Clock
    user: User
    chat_id: int
    key: str
    _: KW_ONLY
    thread_id: int | None = None
    pressed: CallbackQuery | None = None
    _said: int = field(default=0, init=False)
    _answered: bool = field(default=False, init=False)
    rest: Callable[[], Awaitable[None]] | None = field(default=None, init=False)

    @property
    def bot_id(self) -> int:
        return self.bot.id

    async def say(self, text: str, keyboard: Keyboard | None = None, *, force_reply: bool = False) -> None:
        parts = render(text)
        last = len(parts) - 1
        rows = [
            self._outgoing(part, keyboard=keyboard if n == last else None, force_reply=force_reply and n == last)
            for n, part in enumerate(parts)
        ]
        await self._enqueue(rows)

    async def edit(self, text: str, keyboard: Keyboard | None = None) -> None:
        message = self.pressed.message if self.pressed else None
        if message is None:
            await self.say(text, keyboard)
            return
        first, *rest = render(text)
        target = message.message_id
        rows = [self._outgoing(first, kind="edit", tg_id=target, keyboard=keyboard if not rest else None)]
        rows += [self._outgoing(part, keyboard=keyboard if part is rest[-1] else None) for part in rest]
        await self._enqueue(rows)

    async def toast(self, text: str = "") -> None:
        if self.pressed is None or self._answered:
            return
        self._answered = True
        try:
            await self.bot.answer_callback_query(self.pressed.id, text or None, request_timeout=TOAST_TIMEOUT_S)
        except TelegramAPIError as error:  # cosmetic: an old button press cannot be answered any more
            log.debug("toast_shed", extra={"error": describe(error)})

    @contextlib.asynccontextmanager
    async def working(self) -> AsyncIterator[None]:
        showing = asyncio.create_task(self._typing())
        try:
            yield
        finally:
            showing.cancel()
            await asyncio.gather(showing, return_exceptions=True)

    async def _typing(self) -> None:
        try:
            while True:
                await self.bot.send_chat_action(
                    self.chat_id, "typing", message_thread_id=self.thread_id, request_timeout=TOAST_TIMEOUT_S
                )
                await asyncio.sleep(TYPING_S)
        except TelegramAPIError as error:  # cosmetic: nothing more is shown
            log.debug("typing_shed", extra={"error": describe(error)})

    async def beside(self, work: Callable[[], Awaitable[None]]) -> None:
        said = self._said

        async def rest() -> None:
            self._said = said  # run again, it sends the same messages
            await work()

        self.rest = rest

    async def document(self, filename: str, content: str, caption: str) -> None:
        if len(content.encode()) <= MOST_BYTES:
            await self._enqueue([self._document(filename, content, caption)])
            return
        parts = await asyncio.to_thread(_packed, filename, content, MOST_BYTES)
        numbered = len(parts) > 1
        await self._enqueue(
            [
                self._document(f"{filename}.zip{f'.{n:03}' * numbered}", part, caption if n == 1 else "", binary=True)
                for n, part in enumerate(parts, start=1)
            ]
        )

    async def photo(self, filename: str, content: bytes, caption: str) -> None:
        encoded = base64.b64encode(content).decode("ascii")
        plain = self._outgoing(Rendered(caption), kind="photo")
        await self._enqueue([replace(plain, filename=filename, content=encoded, binary=True)])

    def _document(self, filename: str, content: str, caption: str, *, binary: bool = False) -> Outgoing:
        plain = self._outgoing(Rendered(caption), kind="document")
        return replace(plain, filename=filename, content=content, binary=binary)

    def _outgoing(
        self,
        part: Rendered,
        *,
        kind: OutgoingKind = "send",
        keyboard: Keyboard | None = None,
        force_reply: bool = False,
        tg_id: int | None = None,
    ) -> Outgoing:
        self._said += 1
        return Outgoing(
            user_id=self.user.user_id,
            bot_id=self.bot.id,
            chat_id=self.chat_id,
            thread_id=self.thread_id,
            text=part.text,
            entities=part.entities,
            dedupe=f"{self.key}:{self._said}",
            kind=kind,
            keyboard=buttons(keyboard),
            force_reply=force_reply,
            tg_id=tg_id,
        )

    async def _enqueue(self, rows: list[Outgoing]) -> None:
        now, trigger = self.clock.now(), current_trigger()

        def work(connection: Connection) -> None:
            if trigger is not None:  # recorded first, so that messages sent at once can refer to it
                events.record_trigger(connection, trigger, self.user.user_id, now)
            for row in rows:
                mailbox.enqueue(connection, row, now)

        await self.database.write(work)


def _packed(filename: str, content: str, most: int) -> list[str]:
    """A zip archive with the file, in base64, cut into parts of at most `most` bytes, to be joined again."""
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as packed:
        packed.writestr(filename, content)
    raw = archive.getvalue()
    return [base64.b64encode(raw[start : start + most]).decode() for start in range(0, len(raw), most)]


def buttons(keyboard: Keyboard | None) -> list[list[dict[str, str]]] | None:
    """A keyboard in Bot API form."""
    if not keyboard:
        return None
    return [[{"text": label, "callback_data": data} for label, data in row] for row in keyboard]
