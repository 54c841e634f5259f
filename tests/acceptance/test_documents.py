"""A document from the local Telegram to a cited answer after a kill, and then to nothing."""

from __future__ import annotations

import asyncio
from pathlib import Path

from support.flows.file_stage import CONTRACT, LOCKED
from support.product.running_product import product

from bot.simulator.client import ControlClient
from internal.storage.crash_points import CRASH_VARIABLE

CANARY = "Лесная".encode()


async def test_a_pdf_is_answered_from_after_a_kill_and_forgotten_to_the_last_byte(tmp_path: Path) -> None:
    """Killed between reading and answering, it reads once; the answer names the page; forgetting leaves no byte."""
    settings = {"LAPLACED_CONSOLE__ENABLED": "false"}
    async with product(tmp_path, scripted=False, own_telegram=True, **settings) as (bot, telegram):
        assert telegram is not None
        user = await telegram.add_user("Вера", language_code="ru")
        allowed = {"LAPLACED_ACCESS__ALLOWED_USER_IDS": str(user)}
        await bot.start(**allowed, **{CRASH_VARIABLE: "C4:before"})
        await telegram.send_file(user, "document", "договор.pdf", CONTRACT.read_bytes(), "application/pdf")
        await bot.ended()

        await bot.start(**allowed)
        kept = await telegram.wait_for_message(user, lambda told: "3 страницы" in str(told.get("text")))
        [file] = (await bot.get("/artifacts", user_id=user))["artifacts"]
        assert (file["name"], file["pages"], file["state"]) == ("договор.pdf", 3, "read")
        parts = (await bot.get(f"/artifacts/{file['id']}/text"))["parts"]
        assert [part["page"] for part in parts] == [1, 2, 3]
        assert bot.rows("SELECT count(*) FROM episodes WHERE source_description = 'file'") == [(1,)]

        await _asks(telegram, user, "За сколько дней надо предупредить о выезде?", "договор.pdf, с. 3")
        said = await telegram.send_file(user, "document", "тайна.pdf", LOCKED.read_bytes(), "application/pdf")
        await telegram.wait_for_message(
            user, lambda told: "закрыт паролем" in str(told.get("text")), after=said["message_id"], within=30
        )
        assert await _bytes_with(bot.data_dir, CANARY) != []

        await bot.delete(f"/artifacts/{file['id']}")
        assert (await bot.get("/artifacts", user_id=user))["count"] == 1
        assert await bot.stop() == 0
        assert await _bytes_with(bot.data_dir, CANARY) == []
        assert list((bot.data_dir / "artifacts").rglob("*")) == []
        texts = [str(one.get("text")) for one in await telegram.bot_messages(user)]
        assert sum("3 страницы" in text for text in texts) == 1
        assert kept["message_id"]


async def _asks(telegram: ControlClient, user: int, question: str, quoted: str) -> None:
    said = await telegram.say(user, question)
    await telegram.wait_for_message(
        user, lambda told: quoted in str(told.get("text")), after=said["message_id"], within=60
    )


async def _bytes_with(folder: Path, canary: bytes) -> list[str]:
    """The files of the product, its database's free pages included, that hold these bytes."""

    def look() -> list[str]:
        paths = [path for path in folder.rglob("*") if path.is_file() and "telegram" not in str(path)]
        return sorted(path.name for path in paths if canary in path.read_bytes())

    return await asyncio.to_thread(look)
