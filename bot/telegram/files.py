"""Fetches files that users sent, from the Bot API."""

from http import HTTPStatus
from io import BytesIO

import aiohttp
from aiogram import Bot
from aiogram.exceptions import TelegramAPIError, TelegramBadRequest

from internal.artifacts.model import Artifact, FileUnavailable, UnreadableFile


class TelegramFiles:
    def __init__(self, bot: Bot) -> None:
        self._bot = bot

    async def fetch(self, artifact: Artifact, most: int) -> bytes:
        """The bytes of a file, at most `most`. Raises UnreadableFile and FileUnavailable."""
        if artifact.bot_id != self._bot.id:  # the token has changed: this bot cannot fetch another bot's files
            raise UnreadableFile("gone")
        found = _Limited(most)
        try:
            file = await self._bot.get_file(artifact.file_id)
            if not file.file_path:
                raise UnreadableFile("gone")
            await self._bot.download_file(file.file_path, found)
        except TelegramBadRequest as error:
            raise UnreadableFile("large" if "too big" in error.message else "gone") from None
        except aiohttp.ClientResponseError as error:
            if error.status == HTTPStatus.NOT_FOUND:
                raise UnreadableFile("gone") from None
            raise FileUnavailable(f"HTTP {error.status}") from None
        except (TimeoutError, TelegramAPIError, aiohttp.ClientError, OSError) as error:
            raise FileUnavailable(type(error).__name__) from None
        return found.getvalue()


class _Limited(BytesIO):
    """Reads at most `most` bytes, whatever size was announced."""

    def __init__(self, most: int) -> None:
        super().__init__()
        self._most = most

    def write(self, chunk: bytes, /) -> int:  # type: ignore[override]
        if self.tell() + len(chunk) > self._most:
            raise UnreadableFile("large")
        return super().write(chunk)
