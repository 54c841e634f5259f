"""Canaries over everything that a person can look at: prompts, chats, groups, topics, inline results, the Mini App."""

from __future__ import annotations

import asyncio
import json
import re
import time
from pathlib import Path
from typing import Any

import httpx
import pytest
from support.faults.fault_record import append
from support.faults.reliability import CANARIES
from support.long import LONG
from support.product.running_product import ARCHIVIST, RESPONDER, Product, product, until

from bot.simulator.client import ControlClient
from bot.simulator.page.mini_app import init_data

ROUNDS, GROUPS = (360, 10) if LONG else (4, 2)
"""Of twenty-eight turns each: 10,080 in the long run. Many groups, since one gets only twenty messages a minute."""

_CANARY = re.compile(r"canary(\d+)x\d+")
_LINE = re.compile(r"^(\d+)\. \[.*?(canary\d+x\d+)", re.MULTILINE)
_TOLD = ("My word {} is in the vault", "Моё слово {} лежит в сейфе", "Моє слово {} лежить у сейфі")
_ASKED = ("Which words are in the vault?", "Какие слова лежат в сейфе?", "Які слова лежать у сейфі?")
_PAGES = ("/today?days=7", "/people?limit=30", "/tasks?limit=100", "/graph/facts?limit=100", "/artifacts?limit=30")


def archived(asked: Any) -> dict[str, Any]:
    """A fact for each canary of a transcript."""
    transcript = asked.text.rsplit("<transcript>", 1)[-1]
    return {
        "facts": [
            {
                "source": word,
                "relation": "PART_OF",
                "target": "vault",
                "fact": f"{word} is in the vault",
                "evidence": [int(n)],
            }
            for n, word in _LINE.findall(transcript)
        ]
    }


def canaries(shown: Any) -> set[int]:
    return {int(found) for found in _CANARY.findall(shown if isinstance(shown, str) else json.dumps(shown))}


@pytest.mark.timeout(4 * 3600)
async def test_nobody_sees_what_another_side_was_told(tmp_path: Path) -> None:
    """Three people in three languages talk in private, groups and topics, search inline, open the Mini App."""
    async with product(tmp_path, scripted=True, LAPLACED_GROUPS__ENABLED="true") as (bot, people):
        assert bot.model is not None
        assert people is not None
        bot.model.always(ARCHIVIST, archived)
        bot.model.always(RESPONDER, lambda asked: f"I know: {' '.join(re.findall(r'canary[0-9x]+', asked.text)[:9])}.")
        persons = [
            await people.add_user(f"Olena{n}", language_code=lang, started=True)
            for n, lang in enumerate(("en", "ru", "uk"))
        ]
        bot.settings |= {
            "LAPLACED_ACCESS__ALLOWED_USER_IDS": ",".join(map(str, persons)),
            "LAPLACED_GROUPS__MESSAGES_PER_DAY": "0",
            "LAPLACED_GROUPS__TOKENS_PER_DAY": "0",
        }
        await people.request("PUT", "/flood", {"enabled": False})
        await bot.start()
        name = (await people.request("GET", "/state"))["bot"]["username"]
        sides: list[tuple[int, int | None]] = [(side, None) for side in persons]
        for number in range(GROUPS):
            chat = await people.request("POST", "/chats", {"title": f"Dacha {number}", "members": persons})
            sides.append((int(chat["id"]), await _topic(people, persons[0], chat["id"]) if number % 2 else None))
        sides.append((persons[0], await _topic(people, persons[0], persons[0])))
        seen: list[tuple[int, set[int]]] = []
        looks: list[tuple[int, set[int]]] = []
        for number in range(ROUNDS):
            turns = (_tell_and_ask(people, name, persons[number % 3], side, topic, number) for side, topic in sides)
            seen += [one for both in await asyncio.gather(*turns) for one in both]
            if number % 10 == 3:
                for person in persons:
                    await people.say(person, "/archive")
                learnt = "SELECT count(DISTINCT user_id) FROM facts WHERE user_id > 0"
                await until(lambda q=learnt: bot.rows(q) == [(3,)])
                for person in persons:
                    looks += [(person, await _inline(people, person)), (person, await _mini_app(bot, person, persons))]
    crossed = [(side, found) for side, found in (*seen, *looks) if found - {side}]
    mixed = [asked.text for asked in bot.model.requests if len(canaries(asked.text)) > 1]
    counts = {"chats": len(sides), "turns": len(seen), "prompts": len(bot.model.requests), "looks": len(looks)}
    append(CANARIES, counts | {"crossed": len(crossed) + len(mixed)})
    assert (crossed, mixed) == ([], [])
    assert sum(bool(found) for _, found in seen) >= len(seen) // 2


async def _topic(people: ControlClient, person: int, chat: int) -> int:
    begun = await people.request("POST", f"/chats/{chat}/topics/new", {"user_id": person, "name": "Roof"})
    return int(begun["message_thread_id"])


async def _tell_and_ask(
    people: ControlClient, bot: str, person: int, side: int, topic: int | None, number: int
) -> list[tuple[int, set[int]]]:
    """Two turns of one chat or topic, in a group as this person; whose canaries each answer names."""
    found = []
    for words in (_TOLD[number % 3].format(f"canary{abs(side)}x{number}"), _ASKED[number % 3]):
        said = {"text": f"@{bot} {words}" if side < 0 else words, "chat_id": side, "message_thread_id": topic}
        sent = await people.say(person if side < 0 else side, **said)
        answer = await people.wait_for_message(
            side, lambda m: m.get("message_thread_id") == topic, after=sent["message_id"]
        )
        found.append((abs(side), canaries(answer)))
    return found


async def _inline(people: ControlClient, person: int) -> set[int]:
    """What the vault's words find inline."""
    asked = await people.ask_inline(person, "vault canary")

    async def answered() -> Any:
        return (await people.request("GET", f"/inline/{asked}")).get("answer")

    found = canaries(await until(answered))
    assert found, "an inline search that finds nothing proves nothing"
    return found


async def _mini_app(bot: Product, person: int, everybody: list[int]) -> set[int]:
    """All that its pages show this person; those of others are refused."""
    assert bot.telegram is not None
    data = init_data(bot.telegram.token, {"id": person, "first_name": "Olena"}, int(time.time()))
    async with httpx.AsyncClient(base_url=bot.url, timeout=30) as client:
        session = (await client.post("/console/login", json={"init_data": data})).raise_for_status().json()
        client.headers.update({"Authorization": f"Bearer {session['token']}", "X-CSRF-Token": session["csrf"]})
        wanted = [f"{page}&user_id={person}" for page in _PAGES]
        pages = await asyncio.gather(*(client.get(page) for page in wanted))
        search = {"query": "vault", "search_type": "facts", "max_results": 30, "group_ids": [str(person)]}
        searched = await client.post("/graph/search", json=search)
        foreign = [f"{page}&user_id={one}" for page in _PAGES for one in everybody if one != person]
        refused = await asyncio.gather(*(client.get(page) for page in foreign))
        assert {one.status_code for one in (*pages, searched)} == {200}
        assert {one.status_code for one in refused} <= {403, 404}
    found = canaries(pages[3].text)
    assert found, "a page of facts that shows none proves nothing"
    return found.union(*(canaries(one.text) for one in (*pages, searched, *refused)))
