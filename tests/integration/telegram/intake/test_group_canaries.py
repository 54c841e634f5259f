"""Canaries in groups and private chats at once, in three languages: none is ever seen on another side."""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Iterator
from typing import Any

import pytest
from sqlalchemy import Connection, select
from support.interfaces.telegram_stage import MODEL, BotStage, WholeBot, whole_bot
from support.long import LONG

from internal.config.settings import GroupsConfig
from internal.storage import tables
from internal.testing import ScriptedModel

pytestmark = pytest.mark.asyncio(loop_scope="module")

ROUNDS = 1_250 if LONG else 15
"""Of eight turns each: 10,000 in the long run."""

UNLIMITED = GroupsConfig(enabled=True, messages_per_day=0, tokens_per_day=0)
_CANARY = re.compile(r"canary(\d+)x\d+")
_TOLD = ("my secret word is {}", "моё тайное слово {}", "моє таємне слово {}")
_ASKED = ("what is the secret word?", "какое тайное слово?", "яке таємне слово?")


@pytest.mark.timeout(3600)
async def test_no_canary_crosses(stage: BotStage, model: ScriptedModel) -> None:
    """Three people in private and in two groups; each side is told canaries and asked for them by everybody.

    Neither a prompt nor a row of the store that belongs to one side holds a canary of another one.
    """
    seen: list[tuple[set[str], str]] = []

    def answer(asked: Any) -> str:
        found = set(_CANARY.findall(asked.text))
        seen.append((found, asked.text[-200:]))
        return f"I know: {' '.join(sorted(set(re.findall(r'canary[0-9x]+', asked.text)))[:5])}"

    model.always(MODEL, answer)
    people = [await stage.person(known=False, language=lang) for lang in ("en", "ru", "uk")]
    groups = []
    async with whole_bot(stage, model, groups=UNLIMITED, poll=False) as bot:
        for title in ("Dacha", "Работа"):
            chat = await stage.request("POST", "/chats", {"title": title, "members": people, "with_bot": True})
            groups.append(int(chat["id"]))
        await stage.request("DELETE", "/updates")
        sides = [*people, *groups, people[0], groups[0], groups[1]]
        numbers = itertools.count(1)
        for number in range(ROUNDS):
            before = len(model.requests)
            for place, side in enumerate(sides):
                person = people[(number + place) % 3] if side < 0 else side
                words = _TOLD[number % 3].format(f"canary{abs(side)}x{number}") if place < 5 else _ASKED[number % 3]
                await say(bot, stage, next(numbers), side, person, words, later=place)
            await model.wait_for(MODEL, before + len(sides))
    assert all(len(found) <= 1 for found, _ in seen), next(text for found, text in seen if len(found) > 1)
    assert sum(bool(found) for found, _ in seen) >= len(seen) - 3
    crossed = [one for one in await stage.read(lambda c: list(_crossings(c))) if one]
    assert crossed == []


async def say(bot: WholeBot, stage: BotStage, number: int, side: int, person: int, words: str, *, later: int) -> None:
    """An update as Telegram brings it. A person's own side is asked and told at different times: two turns."""
    group = {"id": side, "type": "supergroup", "title": "Dacha"}
    name = f"@{(await stage.bot.me()).username} "
    told = f"{name}{words}" if side < 0 else words
    message: dict[str, Any] = {
        "message_id": 1_000_000 + number,
        "date": 1_780_000_000 + number * 60 + later * 60,
        "chat": group if side < 0 else {"id": side, "type": "private", "first_name": "Olena"},
        "from": {"id": person, "is_bot": False, "first_name": f"Olena{person}", "language_code": "en"},
        "text": told,
    }
    if side < 0:
        message["entities"] = [{"type": "mention", "offset": 0, "length": len(name) - 1}]
    await bot.ingest.accept([(number, json.dumps({"update_id": number, "message": message}))])


def _crossings(connection: Connection) -> Iterator[str]:
    """Rows of one owner that hold the canary of another."""
    for table in tables.metadata.sorted_tables:
        if "user_id" not in table.c:
            continue
        for row in connection.execute(select(table)).mappings():
            foreign = set(_CANARY.findall(str(dict(row)))) - {str(abs(row["user_id"] or 0))}
            if foreign and row["user_id"] is not None:
                yield f"{table.name} of {row['user_id']}: {foreign}"
