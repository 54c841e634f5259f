"""The chat that handlers talk to, against a real local Telegram."""

from __future__ import annotations

import io
import zipfile

import pytest
from support.interfaces.telegram_stage import BotStage, eventually

from bot.telegram.delivery import outbox_chat
from bot.telegram.delivery.outbox_chat import OutboxChat
from internal.access import repository as users

pytestmark = pytest.mark.asyncio(loop_scope="module")


async def chat_of(stage: BotStage, person: int) -> OutboxChat:
    user = await stage.read(lambda c: users.get(c, person))
    return OutboxChat(stage.bot, stage.database, stage.clock, user, person, "update:1:1")


async def test_typing_is_shown_while_an_answer_is_prepared(stage: BotStage, monkeypatch: pytest.MonkeyPatch) -> None:
    """Repeated, for Telegram forgets it after five seconds, and over as soon as the answer is there."""
    monkeypatch.setattr(outbox_chat, "TYPING_S", 0.05)
    person = await stage.person()
    chat = await chat_of(stage, person)

    async def calls() -> int:
        return len(await stage.ledger(person, "sendChatAction"))

    async def repeated() -> bool:
        return await calls() >= 3

    async with chat.working():
        await eventually(repeated)
        assert (await stage.screen(person))["typing"]
    said = await calls()
    await chat.say("Here it is.")
    stage.sender.wake()

    async def there() -> bool:
        return "Here it is." in await stage.texts(person)

    await eventually(there)
    assert await calls() <= said + 1


async def test_a_refused_sign_of_work_hurts_nothing(stage: BotStage) -> None:
    """It is cosmetic: what is being prepared goes on, and what fails within it fails as it would."""
    person = await stage.person()
    chat = await chat_of(stage, person)
    await stage.fault("server_error", "sendChatAction")

    async def refused() -> bool:
        return len(await stage.ledger(person, "sendChatAction")) > 0

    async with chat.working():
        await eventually(refused)
    with pytest.raises(LookupError):
        async with chat.working():
            raise LookupError


@pytest.mark.parametrize("most", [400, 10_000])
async def test_a_file_that_telegram_would_not_take_is_packed(
    stage: BotStage, monkeypatch: pytest.MonkeyPatch, most: int
) -> None:
    """As a zip archive, in numbered parts if even that is too big; joined they are the archive."""
    monkeypatch.setattr(outbox_chat, "MOST_BYTES", most)
    person = await stage.person()
    whole = "".join(f"{n * n * 7919 % 10_007} Їжак\n" for n in range(1000))
    await (await chat_of(stage, person)).document("me.json", whole, "Yours")
    stage.sender.wake()

    async def archive() -> bytes:
        found = [message["document"] for message in await stage.bot_messages(person)]
        parts = [(await stage._http.get(f"/sim/files/{one['file_id']}")).content for one in found]
        names = [f"me.json.zip.{n:03}" for n in range(1, len(found) + 1)]
        assert [one["file_name"] for one in found] == (["me.json.zip"] * len(found) if most > 400 else names)
        assert all(len(part) <= most for part in parts)
        return b"".join(parts)

    async def arrived() -> str | None:
        try:
            with zipfile.ZipFile(io.BytesIO(await archive())) as packed:
                return packed.read("me.json").decode()
        except zipfile.BadZipFile:
            return None

    assert await eventually(arrived) == whole
    assert (await stage.bot_messages(person))[0]["caption"] == "Yours"
