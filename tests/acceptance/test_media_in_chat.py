"""Voices and pictures from the local Telegram to the model and back, each over real HTTP."""

from __future__ import annotations

import io
from pathlib import Path

from PIL import Image
from support.product.owners_chat import Chat
from support.product.running_product import RESPONDER, product

from internal.testing import Fault

HEARD, SEEN = "test/whisper", "test/eyes"
MEDIA = {"LAPLACED_MEDIA__TRANSCRIPTION__MODEL": HEARD, "LAPLACED_MEDIA__VISION__MODEL": SEEN}


def picture(colour: str) -> tuple[str, bytes, str]:
    drawn = io.BytesIO()
    Image.new("RGB", (2000, 30), colour).save(drawn, "PNG")
    return f"{colour}.png", drawn.getvalue(), "image/png"


async def test_voices_and_pictures_are_answered(tmp_path: Path) -> None:
    """A voice is heard, pictures of an album are seen together; what cannot be is said in one line."""
    async with product(tmp_path, scripted=True, **MEDIA) as (bot, people):
        assert bot.model is not None
        user = await people.add_user("Olena", language_code="en")
        bot.settings["LAPLACED_ACCESS__ALLOWED_USER_IDS"] = str(user)
        bot.model.always(RESPONDER, "Noted.")
        await bot.start()
        chat = Chat(people, user)
        await chat.say("Hello")
        bot.model.script(HEARD, "The meeting is at ten.", "", Fault("status", 413))
        for shown, answer in (("[voice] The meeting is at ten.", "Noted."), ("", "no words"), ("", "too large")):
            sent = await people.send_file(user, "voice", "v.ogg", b"OggS sound", "audio/ogg")
            told = await people.wait_for_message(user, lambda m, a=answer: a in m["text"], after=sent["message_id"])
            assert shown in bot.model.asked(RESPONDER)[-1].text
            assert told["text"].count("\n") == 0
        bot.model.always(SEEN, "A flat colour.")
        sent = (await people.send_album(user, [picture("red"), picture("blue")], "Which is warmer?"))[-1]
        await chat.next(sent["message_id"])
        [*_, asked] = bot.model.asked(RESPONDER)
        assert [one.split(",")[0] for one in asked.pictures] == ["data:image/jpeg;base64"] * 2
        assert "Which is warmer?\n[photo] A flat colour." in asked.text
        assert asked.text.count("[photo] A flat colour.") == 2
        assert [len(one.pictures) for one in bot.model.asked(SEEN)] == [1, 1]
