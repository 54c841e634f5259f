"""Voices and pictures from the local Telegram to the model and back, each over real HTTP."""

from __future__ import annotations

import io
from pathlib import Path

from PIL import Image
from support.product.owners_chat import Chat, archived
from support.product.running_product import ARCHIVIST, RESPONDER, Product, product, until
from support.stores.bucket import s3_bucket

from bot.simulator.client import ControlClient
from internal.artifacts.store import ArtifactStore
from internal.testing import Fault

HEARD, SEEN = "test/whisper", "test/eyes"
MEDIA = {"LAPLACED_MEDIA__TRANSCRIPTION__MODEL": HEARD, "LAPLACED_MEDIA__VISION__MODEL": SEEN}


def picture(colour: str) -> tuple[str, bytes, str]:
    drawn = io.BytesIO()
    Image.new("RGB", (2000, 30), colour).save(drawn, "PNG")
    return f"{colour}.png", drawn.getvalue(), "image/png"


async def test_voices_and_pictures_are_answered(tmp_path: Path) -> None:
    """A voice is heard, an album is seen together; what cannot be is said in one line; forgotten, no byte is left."""
    with s3_bucket() as bucket:
        settings = MEDIA | {"LAPLACED_ARTIFACTS__URL": bucket}
        async with product(tmp_path, scripted=True, **settings) as (bot, people):
            await _heard_and_seen(bot, people)
            await _forgotten_to_the_last_byte(bot, ArtifactStore(bucket, bot.data_dir))


async def _heard_and_seen(bot: Product, people: ControlClient) -> None:
    assert bot.model is not None
    user = await people.add_user("Olena", language_code="en")
    bot.settings["LAPLACED_ACCESS__ALLOWED_USER_IDS"] = str(user)
    bot.model.always(RESPONDER, "Noted.")
    await bot.start()
    chat = Chat(people, user)
    await chat.say("Hello")
    bot.model.script(HEARD, "The meeting at Kestrelhouse is at ten.", "", Fault("status", 413))
    for shown, answer in (
        ("[voice] The meeting at Kestrelhouse is at ten.", "Noted."),
        ("", "no words"),
        ("", "too large"),
    ):
        sent = await people.send_file(user, "voice", "v.ogg", b"OggS sound", "audio/ogg")
        told = await people.wait_for_message(user, lambda m, a=answer: a in m["text"], after=sent["message_id"])
        assert shown in bot.model.asked(RESPONDER)[-1].text
        assert told["text"].count("\n") == 0
    bot.model.always(SEEN, "A flat colour. | KESTREL 77")
    sent = (await people.send_album(user, [picture("red"), picture("blue")], "Which is warmer?"))[-1]
    await chat.next(sent["message_id"])
    [*_, asked] = bot.model.asked(RESPONDER)
    assert [one.split(",")[0] for one in asked.pictures] == ["data:image/jpeg;base64"] * 2
    assert "Which is warmer?\n[photo] A flat colour. | KESTREL 77" in asked.text
    assert asked.text.count("[photo] A flat colour. | KESTREL 77") == 2
    assert [len(one.pictures) for one in bot.model.asked(SEEN)] == [1, 1]
    sent = await people.send_file(user, "document", *picture("green"), caption="And this one, sent as a file?")
    await chat.next(sent["message_id"])
    asked = bot.model.asked(RESPONDER)[-1]
    assert "sent as a file?\n[photo] A flat colour. | KESTREL 77" in asked.text
    assert len(asked.pictures) == 3


async def _forgotten_to_the_last_byte(bot: Product, bucket: ArtifactStore) -> None:
    """Neither in the database with its log, nor in a fresh backup, nor among the copied files, nor in the bucket."""
    [[owner]] = bot.rows("SELECT DISTINCT user_id FROM artifacts")
    assert (await bot.command("backup"))[0] == 0
    kept = [sha256 for (sha256,) in bot.rows("SELECT DISTINCT sha256 FROM artifacts WHERE sha256 IS NOT NULL")]
    assert len(kept) == 4
    assert {path.name for path in bot.data_dir.glob("backups/artifacts/*/*")} == set(kept)
    assert any(b"estrel" in path.read_bytes() for path in bot.data_dir.glob("backups/*.db"))
    for file in (await bot.get("/artifacts", user_id=owner))["artifacts"]:
        await bot.delete(f"/artifacts/{file['id']}")

    async def gone() -> bool:
        return [await bucket.get(sha256) for sha256 in kept] == [None] * len(kept)

    await until(gone)
    for old in bot.data_dir.glob("backups/*.db"):
        old.unlink()  # as the bot does itself after seven days
    assert (await bot.command("backup"))[0] == 0
    assert await bot.stop() == 0
    files = {path.relative_to(bot.data_dir): path.read_bytes() for path in bot.data_dir.rglob("*") if path.is_file()}
    assert any(path.parts[0] == "backups" for path in files)
    assert [str(path) for path, held in files.items() if b"estrel" in held or b"KESTREL" in held] == []
    assert [str(path) for path in files if "artifacts" in path.parts] == []


async def test_a_transcript_is_corrected_and_remembered_as_the_owners_word(tmp_path: Path) -> None:
    """The next message takes its place everywhere; the archivist reads that, and that only."""
    async with product(tmp_path, scripted=True, **MEDIA) as (bot, people):
        assert bot.model is not None
        user = await people.add_user("Оля", language_code="uk")
        bot.settings["LAPLACED_ACCESS__ALLOWED_USER_IDS"] = str(user)
        bot.model.always(RESPONDER, "Зрозуміло.")
        bot.model.script(
            HEARD, "Моя сестра Оксана Петренко.", Fault("status", 500), "Нагадай мені завтра о 9 взяти паспорт"
        )
        person = {"display_name": "Оксана Петрова", "bio": "Сестра Олі."}
        added = {"type": "Added", "person": person, "evidence": [3]}
        bot.model.always(ARCHIVIST, {"people_operations": [added]}, match="transcript")
        await bot.start()
        chat = Chat(people, user)
        await chat.say("Привіт")
        sent = await people.send_file(user, "voice", "v.ogg", b"OggS sound", "audio/ogg")
        shown = await people.wait_for_message(user, lambda m: m["text"].startswith("🎙"), after=sent["message_id"])
        assert shown["reply_to_message"]["message_id"] == sent["message_id"]
        await chat.press(shown, "✏️", "Наступне повідомлення")
        await people.say(user, "Моя сестра Оксана Петрова.")
        await people.wait_for_message(user, lambda m: m["text"] == "🎙 Моя сестра Оксана Петрова.")
        said = "SELECT content FROM messages WHERE role = 'user' ORDER BY seq"
        assert bot.rows(said) == [("Привіт",), ("[voice] Моя сестра Оксана Петрова.",)]
        sent = await people.send_file(user, "voice", "v.ogg", b"OggS more", "audio/ogg")
        await people.wait_for_message(user, lambda m: "⏰" in m["text"], after=sent["message_id"])
        assert bot.rows("SELECT title FROM tasks") == [("Взяти паспорт",)]
        await archived(bot, chat, 1)
        read = bot.model.asked(ARCHIVIST)[0].text
        assert "[voice] Моя сестра Оксана Петрова." in read
        assert "Петренко" not in read
        assert bot.rows("SELECT display_name FROM people") == [("Оксана Петрова",)]
        receipts = "SELECT count(*) FROM model_calls WHERE agent = 'transcriber' AND error IS NULL"
        assert bot.rows(receipts) == [(2,)]


async def test_a_voice_that_an_outage_hid_is_heard_by_a_tap(tmp_path: Path) -> None:
    """The line of the outage has a button; the transcript takes the line's place, and what was said is answered."""
    async with product(tmp_path, scripted=True, **MEDIA) as (bot, people):
        assert bot.model is not None
        user = await people.add_user("Игорь", language_code="ru")
        bot.settings["LAPLACED_ACCESS__ALLOWED_USER_IDS"] = str(user)
        bot.model.always(RESPONDER, "Понятно.")
        bot.model.always(HEARD, Fault("status", 503))
        await bot.start()
        chat = Chat(people, user)
        await chat.say("Привет")
        sent = await people.send_file(user, "voice", "v.ogg", b"OggS sound", "audio/ogg")
        told = await people.wait_for_message(user, lambda m: "не отвечает" in m["text"], after=sent["message_id"])
        bot.model.forget(HEARD)
        bot.model.always(HEARD, "Встречаемся в Вежлайне в десять")
        shown = await chat.press(told, "🔁", "Вежлайне")
        assert shown["message_id"] == told["message_id"]
        [[button]] = shown["reply_markup"]["inline_keyboard"]
        assert button["text"].startswith("✏️")
        assert "[voice] Встречаемся в Вежлайне в десять" in [
            text for (text,) in bot.rows("SELECT content FROM messages")
        ]
        answer = await people.wait_for_message(user, lambda m: m["text"] == "Понятно.", after=sent["message_id"])
        assert "[voice] Встречаемся в Вежлайне в десять" in bot.model.asked(RESPONDER)[-1].text
        assert answer.get("reply_to_message", sent)["message_id"] == sent["message_id"]
        assert [one["text"] for one in await people.bot_messages(user)].count(shown["text"]) == 1
        await _heard_beside_words(bot, people, user)


async def _heard_beside_words(bot: Product, people: ControlClient, user: int) -> None:
    """The words are answered at once, below a line; what is heard later is answered with them."""
    assert bot.model is not None
    bot.model.forget(HEARD)
    bot.model.always(HEARD, Fault("status", 503))
    sent = await people.send_file(user, "voice", "w.ogg", b"OggS other", "audio/ogg", caption="Во сколько?")
    told = await people.wait_for_message(user, lambda m: "не отвечает" in m["text"], after=sent["message_id"])
    assert told["text"].endswith("Понятно.")
    bot.model.forget(HEARD)
    bot.model.always(HEARD, "Перенесли на одиннадцать")
    shown = await Chat(people, user).press(told, "🔁", "одиннадцать")
    assert shown["reply_to_message"]["message_id"] == sent["message_id"]
    await people.wait_for_message(user, lambda m: m["text"] == "Понятно.", after=told["message_id"])
    assert "Во сколько?\n[voice] Перенесли на одиннадцать" in bot.model.asked(RESPONDER)[-1].text


async def test_an_answer_is_spoken_on_request(tmp_path: Path) -> None:
    """It comes as text and as a voice message with these words; a service that fails costs the voice, with a line."""
    speech = {"LAPLACED_MEDIA__SPEECH__MODEL": "test/tts"}
    async with product(tmp_path, scripted=True, **speech) as (bot, people):
        assert bot.model is not None
        user = await people.add_user("Emma", language_code="en")
        bot.settings["LAPLACED_ACCESS__ALLOWED_USER_IDS"] = str(user)
        spoken = {"tool_calls": [{"name": "reply_by_voice", "arguments": {}}]}
        bot.model.script(RESPONDER, spoken, "Good evening, Emma.", spoken, "Once more.", "Only written.")
        await bot.start()
        chat = Chat(people, user)
        sent = await people.say(user, "Tell me good evening aloud")
        voice = await people.wait_for_message(user, lambda m: "voice" in m, after=sent["message_id"])
        file = await people.request("GET", f"/chats/{user}/messages")
        assert [m.get("text") for m in file["messages"]][-2:] == ["Good evening, Emma.", None]
        assert voice["voice"]["mime_type"] == "audio/ogg"
        assert bot.model.asked("test/tts")[0].body["input"] == "Good evening, Emma."
        bot.model.script("test/tts", Fault("status", 500))
        sent = await people.say(user, "Again, aloud")
        await people.wait_for_message(user, lambda m: "couldn't say it aloud" in m.get("text", ""))
        assert (await chat.say("And now?"))["text"] == "Only written."


async def test_a_kill_while_it_listens_loses_and_doubles_nothing(tmp_path: Path) -> None:
    """The voice message is heard after the restart: one transcript, one answer, and the question is not forgotten."""
    async with product(tmp_path, scripted=True, **MEDIA) as (bot, people):
        assert bot.model is not None
        user = await people.add_user("Emma", language_code="en")
        bot.settings["LAPLACED_ACCESS__ALLOWED_USER_IDS"] = str(user)
        bot.model.always(RESPONDER, "Noted.")
        bot.model.script(HEARD, Fault("hang"), "Dinner is at eight.")
        await bot.start()
        sent = await people.send_file(user, "voice", "v.ogg", b"OggS sound", "audio/ogg", caption="When?")
        await bot.model.wait_for(HEARD)
        await bot.kill()
        await bot.start()
        await people.wait_for_message(user, lambda m: m["text"] == "Noted.", after=sent["message_id"])
        told = [m["text"] for m in await people.bot_messages(user) if m["message_id"] > sent["message_id"]]
        assert told == ["🎙 Dinner is at eight.", "Noted."]
        assert "When?\n[voice] Dinner is at eight." in bot.model.asked(RESPONDER)[-1].text
        assert bot.rows("SELECT state, attempts FROM artifacts") == [("read", 2)]
        bot.model.script(HEARD, "Bring wine.")
        sent = await people.send_file(user, "voice", "v.ogg", b"OggS more", "audio/ogg")
        await people.wait_for_message(user, lambda m: m["text"] == "Noted.", after=sent["message_id"])
        await Chat(people, user).say("What was that?", reply_to=sent["message_id"])
        assert "in_reply_to: the owner: [voice] Bring wine." in bot.model.asked(RESPONDER)[-1].text
