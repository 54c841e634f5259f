"""Facts in the chat, whole: the real process, a local Telegram, a scripted model, and a kill in the middle."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from support.product.owners_chat import Chat, archived
from support.product.running_product import ARCHIVIST, ENRICHER, RERANKER, RESPONDER, product, until

from internal.testing import Asked

TOLD = "Петров с 2021 года работает в ACME, а живёт во Львове с 2020-го."


def fact(relation: str, target: str, words: str, since: str) -> dict[str, Any]:
    kind = "Organization" if relation == "WORKS_FOR" else "Location"
    types = {target: kind}
    stated = {"source": "Петров", "relation": relation, "target": target, "fact": words, "valid_at": since}
    return {**stated, "invalid_at": None, "entity_types": types, "evidence": [1]}


PETROV = {"type": "Added", "person": {"display_name": "Петров", "circle": "Friends"}, "evidence": [1]}
KNOWN = {
    "people_operations": [PETROV],
    "facts": [
        fact("WORKS_FOR", "ACME", "Петров работает в ACME", "2021-01-01"),
        fact("LIVES_IN", "Львов", "Петров живёт во Львове", "2020-01-01"),
    ],
}
OTHERWISE = {"facts": [fact("LIVES_IN", "Киев", "Петров живёт в Киеве", "2020-01-01")]}


def answer(asked: Asked) -> str:
    """Cites both facts by the numbers of the prompt, and one that was never given."""
    numbers = {words: number for number, words in re.findall(r"\[(F\d+)\] ([^|\n]+) \|", asked.text)}
    lives, works = numbers["Петров живёт во Львове"], numbers["Петров работает в ACME"]
    return f"Живёт во Львове [{lives}], а работает в ACME[{works}][F99]."


async def test_facts_are_cited_explained_corrected_and_disputed(tmp_path: Path) -> None:
    """The numbers of an answer are those of /why; a correction outlives a kill; what contradicts it is asked."""
    async with product(tmp_path, scripted=True) as (bot, people):
        assert people is not None
        assert bot.model is not None
        user = await people.add_user("Олег", language_code="ru")
        chat = Chat(people, user)
        bot.settings["LAPLACED_ACCESS__ALLOWED_USER_IDS"] = str(user)
        bot.model.always(ENRICHER, {"query": "Петров"})
        bot.model.always(RERANKER, {"people": []})
        bot.model.script(ARCHIVIST, KNOWN, OTHERWISE)
        bot.model.script(RESPONDER, "Запомню.", answer, "Вот как.")
        await bot.start()
        await chat.say(TOLD)
        await archived(bot, chat, 1)
        listed = await chat.say("/facts Петров")
        assert "Петров живёт во Львове — с 2020 года" in listed["text"]  # the model wrote the first of January

        said = await chat.say("Где Петров работает и живёт?")
        assert said["text"] == "Живёт во Львове¹, а работает в ACME²."
        why = await chat.say("/why", reply_to=said["message_id"])
        cited = [line for line in why["text"].splitlines() if line[:2] in ("1.", "2.")]
        assert [line.split(" — ")[0] for line in cited] == ["1. Петров живёт во Львове", "2. Петров работает в ACME"]
        card = await chat.press(why, "Открыть 1", "Откуда это")
        assert f"«{TOLD}»" in card["text"]
        await chat.press(card, "Поправить", "Как правильно?")

        await until(lambda: not bot.rows("SELECT 1 FROM outbox WHERE state != 'sent'"))  # or it would be sent once more
        await bot.kill()
        await bot.start()
        asked = await chat.say("Петров живёт в Одессе")
        corrected = await chat.press(asked, "Да", "Исправлено.")
        assert "«Петров живёт во Львове»" in corrected["text"]

        await chat.say("Петров живёт в Киеве с 2020 года.")
        await archived(bot, chat, 2)
        asked = await people.wait_for_message(user, lambda m: "противоречит одно другому" in m["text"])
        settled = await chat.press(asked, next(_labels(asked, "Одесса")), "Хорошо, верно это")
        assert settled["message_id"] == asked["message_id"]
        listed = await chat.say("/facts Петрову")
        lines = [line.split(" — ")[0] for line in listed["text"].splitlines()[2:]]
        assert sorted(line[3:] for line in lines) == ["Петров живёт в Одессе", "Петров работает в ACME"]

        opened = await chat.press(listed, "1", "Откуда это")
        sure = await chat.press(opened, "Забыть", "Забыть это?")
        await chat.press(sure, "Да", "Забываю")
        assert "1 факт" in (await chat.say("/facts Петров"))["text"]
        assert await bot.stop() == 0


def _labels(message: dict[str, Any], part: str) -> Any:
    rows = message["reply_markup"]["inline_keyboard"]
    return (one["text"] for row in rows for one in row if part in one["text"])
