"""The main job, whole: the real process, a local Telegram, a scripted model, everything over HTTP."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from support.product.running_product import ARCHIVIST, ENRICHER, RERANKER, RESPONDER, product, until

from internal.testing import Asked

DIALOGUES = {
    "ru": ("Помнишь, мы с Петровым обсуждали проект X? А сестра Маша приехала.", "А он что сказал?", "Петров", "Маша"),
    "uk": ("Пам'ятаєш, ми з Петренком обговорювали проєкт X? А сестра Оля приїхала.", "А він що сказав?",
           "Петренко", "Оля"),
    "en": ("Remember, Baker and I discussed project X? And my sister Kate came over.", "And what did he say?",
           "Baker", "Kate"),
}  # fmt: skip


def _ids(asked: Asked) -> list[int]:
    return [int(found) for found in re.findall(r"\[Person:(\d+)\]", asked.text)]


@pytest.mark.parametrize("lang", ["en", "uk", pytest.param("ru", marks=pytest.mark.long)])
async def test_a_dialogue_becomes_people_and_the_next_question_carries_them(tmp_path: Path, lang: str) -> None:
    """Chat, silence, Added; the follow-up reaches the model with the inner circle and the picked people."""
    told, follow_up, colleague, sister = DIALOGUES[lang]
    fresh = lang == "en"  # one of them as from a shell, whole
    async with product(tmp_path, scripted=True, fresh=fresh, LAPLACED_DIALOGUE__IDLE_TIMEOUT="1s") as (bot, people):
        assert people is not None
        assert bot.model is not None
        user = await people.add_user("Alex", language_code=lang)
        bot.settings["LAPLACED_ACCESS__ALLOWED_USER_IDS"] = str(user)
        bot.model.script(RESPONDER, "First answer.", "**Second** answer.", "Third answer.")
        bot.model.script(
            ARCHIVIST,
            {
                "people_operations": [
                    {
                        "type": "Added",
                        "person": {"display_name": colleague, "circle": "work_outer", "bio": "Project X."},
                        "evidence": [1],
                    },
                    {"type": "Added", "person": {"display_name": sister, "circle": "Family", "bio": "Sister."}},
                    {"type": "Added", "person": {"display_name": "", "bio": "nobody"}},
                    {"type": "Updated", "person": {"id": 4242, "bio": "not there"}, "evidence": [1]},
                ]
            },
        )
        bot.model.always(ENRICHER, {"query": f"{colleague}: project X"})
        bot.model.always(RERANKER, lambda asked: {"people": [{"id": f"Person:{_ids(asked)[0]}", "reason": "meant"}]})
        await bot.start()

        await people.say(user, told)
        await people.wait_for_message(user, lambda m: m["text"] == "First answer.")
        listed = await until(lambda: _listed(bot, user, 2))
        assert {(one["display_name"], one["circle"], one["mention_count"]) for one in listed} == {
            (colleague, "Work_Outer", 1),
            (sister, "Family", 1),
        }
        [shown] = bot.model.asked(ARCHIVIST)
        assert told in shown.text
        await until(lambda: bot.rows("SELECT count(*) FROM vectors WHERE item LIKE 'person:%' HAVING count(*) = 2"))

        await people.say(user, follow_up)
        answer = await people.wait_for_message(user, lambda m: m["text"] == "Second answer.")
        assert answer["entities"][0]["type"] == "bold"
        system, *talk = bot.model.asked(RESPONDER)[1].messages
        sister_id = next(one["id"] for one in listed if one["display_name"] == sister)
        colleague_id = next(one["id"] for one in listed if one["display_name"] == colleague)
        assert system["role"] == "system"
        inner = f"<inner_circle>\n[Person:{sister_id}] {sister} | Family | 1 mentions | Sister.\n</inner_circle>"
        relevant = f"[Person:{colleague_id}] {colleague} | Work_Outer | 1 mentions | Project X."
        assert inner in system["content"]
        assert f"<relevant_people>\n{relevant}\n</relevant_people>" in "".join(one["content"] for one in talk)

        metrics = await bot.metrics()
        assert f'laplaced_people_extracted_total{{op_type="Added",user_id="{user}"}} 2.0' in metrics
        assert 'laplaced_operations_refused_total{agent="archivist",reason="no_name"} 1.0' in metrics
        assert 'laplaced_operations_refused_total{agent="archivist",reason="unknown_id"} 1.0' in metrics
        assert f'laplaced_people_reranker_selected_sum{{user_id="{user}"}} 1.0' in metrics
        assert await bot.stop() == 0


async def test_updated_and_merged_reach_the_profiles_and_the_old_id_still_answers(tmp_path: Path) -> None:
    """A second fragment updates one person and merges another into him; counters move, the merged id redirects."""
    async with product(tmp_path, scripted=True, LAPLACED_DIALOGUE__IDLE_TIMEOUT="1s") as (bot, people):
        assert people is not None
        assert bot.model is not None
        user = await people.add_user("Иван", language_code="ru")
        bot.settings["LAPLACED_ACCESS__ALLOWED_USER_IDS"] = str(user)
        bot.model.always(RESPONDER, "Ответ.")
        bot.model.always(ENRICHER, {"query": "Мария"})
        bot.model.always(RERANKER, {"people": []})
        bot.model.script(
            ARCHIVIST,
            {
                "people_operations": [
                    {"type": "Added", "person": {"display_name": "Мария", "bio": "Подруга."}},
                    {"type": "Added", "person": {"display_name": "Мария Ивановна", "bio": "Учитель."}},
                ]
            },
            lambda asked: {
                "people_operations": [
                    {"type": "Updated", "person": {"id": _ids(asked)[0], "aliases": ["Гелёй"], "circle": "FRIENDS"}},
                    {"type": "Merged", "source_id": _ids(asked)[1], "target_id": _ids(asked)[0], "reason": "одна"},
                ]
            },
        )
        await bot.start()
        await people.say(user, "Мария и Мария Ивановна звонили.")
        before = await until(lambda: _listed(bot, user, 2))
        await people.say(user, "Мария это и есть Мария Ивановна, ещё её зовут Гелёй.")
        [after] = await until(lambda: _listed(bot, user, 1))
        assert after["circle"] == "Friends"
        assert {"Гелёй", "Мария Ивановна"} <= set(after["aliases"])
        assert after["bio"] == "Подруга. Учитель."
        gone = next(one["id"] for one in before if one["id"] != after["id"])
        assert (await bot.get(f"/people/{gone}"))["id"] == after["id"]
        metrics = await bot.metrics()
        for op_type in ("Updated", "Merged"):
            assert f'laplaced_people_extracted_total{{op_type="{op_type}",user_id="{user}"}} 1.0' in metrics
        assert f'laplaced_people_duplicates_merged_total{{user_id="{user}"}} 1.0' in metrics


async def _listed(bot: object, user: int, count: int) -> list[dict[str, object]] | None:
    found = (await bot.get("/people", user_id=user))["people"]  # type: ignore[attr-defined]
    return found if len(found) == count else None
