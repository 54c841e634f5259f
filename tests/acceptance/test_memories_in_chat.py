"""Memories in the chat, whole: the real process, a local Telegram and a scripted model, in one start."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from support.product.owners_chat import Chat, archived
from support.product.running_product import ARCHIVIST, ENRICHER, RERANKER, RESPONDER, product

from internal.testing import Asked

TOLD = "Хочу выучить испанский до лета. На курсах записался в группу по вторникам."
LATER = "Всё, испанский сдал на отлично!"


def memory(content: str, *links: dict[str, Any]) -> dict[str, Any]:
    return {"label": "Memory", "properties": {"content": content}, "links": list(links), "evidence": [1]}


GOAL = {"label": "Goal", "properties": {"description": "выучить испанский"}, "evidence": [1]}
LESSONS = memory("Занятия по вторникам")
COURSE = memory(
    "Записался на курсы испанского",
    {"type": "SUPPORTS", "to": {"label": "Goal", "properties": {"description": "выучить испанский"}}},
    {
        "type": "RELATES_TO",
        "to": {"label": "Memory", "properties": {"content": "Занятия по вторникам"}},
        "properties": {"strength": 0.8},
    },
)


def answer(asked: Asked) -> str:
    """Cites what the prompt shows, and one that was never given."""
    numbers = {words: number for number, words in re.findall(r"\[(M\d+)\] \w+: ([^(\n]+) \(", asked.text)}
    goal, course = numbers["выучить испанский"], numbers["Записался на курсы испанского"]
    assert re.search(r"\[M\d+\] Memory: Занятия по вторникам \([^)]*associated\)", asked.text)
    return f"Ты хочешь выучить испанский [{goal}] и ходишь на курсы[{course}][M99]."


def reached(asked: Asked) -> dict[str, Any]:
    """The goal by the handle under which the archivist is shown it."""
    [handle] = set(re.findall(r"\b(G\d+)\b[^\n]*выучить испанский", asked.text))
    return {"memories": [{"label": "Goal", "id": handle, "properties": {"status": "achieved"}, "evidence": [1]}]}


def taken_back(asked: Asked) -> dict[str, Any]:
    """The instruction by its handle, and one that the rules did not find."""
    [handle] = set(re.findall(r"\b(P\d+)\b[^\n]*Отвечай мне теперь только по-украински", asked.text))
    [line] = re.findall(r"(\d+)\. [^\n]*без лишних слов", asked.text)
    wish = {"category": "instruction", "preference": "без лишних слов"}
    return {
        "memories": [
            {"id": handle, "properties": {"status": "ended"}, "evidence": [int(line)]},
            {"label": "Preference", "properties": wish, "evidence": [int(line)]},
        ]
    }


async def test_a_goal_is_told_found_cited_and_reached(tmp_path: Path) -> None:
    """From the words of a chat to a list, an answer with what is associated, and the list of what is behind.

    What the owner wants kept to stands in the very next prompt, is cited and listed, and ends by his own words.
    """
    async with product(tmp_path, scripted=True) as (bot, people):
        assert people is not None
        assert bot.model is not None
        user = await people.add_user("Олег", language_code="ru")
        chat = Chat(people, user)
        bot.settings["LAPLACED_ACCESS__ALLOWED_USER_IDS"] = str(user)
        bot.model.always(ENRICHER, {"query": "испанский"})
        bot.model.always(RERANKER, {"people": []})
        bot.model.script(ARCHIVIST, {"memories": [GOAL, LESSONS, COURSE]}, reached)
        bot.model.script(RESPONDER, "Удачи!", answer, "Поздравляю!")
        await bot.start()
        await chat.say(TOLD)
        await archived(bot, chat, 1)

        listed = await chat.say("/goals")
        assert "1. выучить испанский" in listed["text"]
        said = await chat.say("Что у меня с испанским?")
        assert said["text"] == "Ты хочешь выучить испанский¹ и ходишь на курсы²."
        used = "SELECT json_extract(props, '$.content'), access_count FROM graph_nodes WHERE label = 'Memory'"
        assert dict(bot.rows(used)) == {"Записался на курсы испанского": 1, "Занятия по вторникам": 0}
        why = await chat.say("/why", reply_to=said["message_id"])
        assert "1. выучить испанский" in why["text"]
        card = await chat.press(why, "Открыть 1", "Откуда это")
        assert "Хочу выучить испанский" in card["text"]

        await chat.say(LATER)
        await archived(bot, chat, 2)
        gone = await chat.say("/goals")
        assert gone["text"].startswith("Целей сейчас нет.")
        past = await chat.press(gone, "Прежние", "Прошлые цели")
        assert "достигнуто" in past["text"]

        bot.model.forget()
        bot.model.script(RESPONDER, "Добре, як ти й просив [I1].", "Ясно.")
        bot.model.script(ARCHIVIST, taken_back)
        said = await chat.say("Отвечай мне теперь только по-украински")
        assert said["text"] == "Добре, як ти й просив¹."
        system = bot.model.asked(RESPONDER)[-1].system
        assert re.search(
            r"<instructions>\n\[I1\] Отвечай мне теперь только по-украински \| since 20\S+\n</instructions>", system
        )
        why = await chat.say("/why", reply_to=said["message_id"])
        assert "1. Отвечай мне теперь только по-украински" in why["text"]
        listed = await chat.say("/instructions")
        assert "1. Отвечай мне теперь только по-украински" in listed["text"]
        kept = await bot.get("/memory/nodes", user_id=user, label="Preference")
        assert [(one["properties"]["category"], one["properties"]["status"]) for one in kept["nodes"]] == [
            ("instruction", "active")
        ]
        await chat.say("А вообще можно как угодно, только без лишних слов")
        await archived(bot, chat, 3)
        listed = await chat.say("/instructions")
        assert "1. без лишних слов" in listed["text"]
        assert "по-украински" not in listed["text"]
        assert await bot.stop() == 0
