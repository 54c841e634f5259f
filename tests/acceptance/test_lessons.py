"""What a conversation teaches, whole: the real process, a local Telegram, a scripted model or none at all."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

from support.product.running_product import ANALYST, ARCHIVIST, ENRICHER, RERANKER, RESPONDER, Product, product, until

from bot.simulator.client import ControlClient
from internal.agents.analyst.output import name_of_rule
from internal.agents.responder.rules import rules

LESSON = "Спросили про адрес — сначала дать адрес, потом остальное."
JUDGED = {
    "topic": "Адрес ACME",
    "responses": [
        {"message": 2, "verdict": "correct", "rules_used": ["R1"]},
        {"message": "4", "verdict": "Incorrect", "rules_ignored": "4", "errors": ["Адрес выдуман."], "lessons": LESSON},
    ],
    "session_summary": {"verdict": "partially correct", "summary": "Искали адрес ACME.", "lessons": []},
}
ACME = {"name": "ACME", "labels": ["Organization"], "relevance": 5, "evidence": [1]}
TOLD = ("Мой брат работает в ACME.", "Какой у ACME адрес?", "Нет, не так, это старый адрес.")


async def conversation(people: ControlClient, user: int, *texts: str) -> None:
    """One turn after another, each answered."""
    for text in texts:
        said = await people.say(user, text)
        await people.wait_for_message(user, lambda _: True, after=said["message_id"])


async def judged(bot: Product, user: int, sessions: int) -> dict[str, Any]:
    """The newest session once all these were judged and archived."""

    async def done() -> dict[str, Any] | None:
        found = (await bot.get("/chronicle/sessions", user_id=user))["sessions"]
        open_runs = bot.rows("SELECT count(*) FROM runs WHERE state NOT IN ('applied')")[0][0]
        if len(found) != sessions or open_runs:
            return None
        newest: dict[str, Any] = await bot.get(f"/chronicle/sessions/{found[-1]['id']}")
        return newest if any(one["label"] == "Analysis" for one in newest["events"]) else None

    found: dict[str, Any] = await until(done, 60)
    return found


async def test_a_closed_session_is_judged_and_the_next_one_is_told_its_lesson(tmp_path: Path) -> None:
    """An Analysis of each response and a summary, in the line and over REST; the next prompt has the lesson."""
    async with product(tmp_path, scripted=True) as (bot, people):
        assert people is not None
        assert bot.model is not None
        user = await people.add_user("Олег", language_code="ru")
        bot.settings["LAPLACED_ACCESS__ALLOWED_USER_IDS"] = str(user)
        bot.model.always(ENRICHER, {"query": "адрес ACME"})
        bot.model.always(RERANKER, {"people": []})
        bot.model.always(RESPONDER, "ACME стоит на улице Садовой.")
        bot.model.always(ARCHIVIST, {"people_operations": [], "entities": [ACME]})
        bot.model.script(ANALYST, JUDGED)
        await bot.start()
        await conversation(people, user, *TOLD, "/ss")
        await until(lambda: bot.rows("SELECT 1 FROM runs WHERE agent = 'archivist' AND state = 'applied'"))
        session = await judged(bot, user, 1)

        events = {one["id"]: one for one in session["events"]}
        labels = [one["label"] for one in session["events"]]
        turns = ["Request", "Response", "Feedback", "Response", "Feedback", "Response"]
        assert labels == [*turns, "Analysis", "Analysis", "Analysis", "Analysis"]
        edges = Counter(one["type"] for one in session["edges"])
        assert (edges["NEXT"], edges["ANALYZES"], edges["SUMMARIZES"], edges["PART_OF"]) == (9, 3, 1, 10)
        assert session["session"]["topic"] == "Адрес ACME"
        ruled = [one for one in session["events"] if one["label"] == "Analysis"]
        # The third answer was left out by the model: the rules judge it, by what the owner said next, which is nothing.
        assert [one["verdict"] for one in ruled] == ["correct", "incorrect", "correct", "partially_correct"]
        assert [one["lessons"] for one in ruled] == [[], [LESSON], [], []]
        assert ruled[0]["rules_used"] == [name_of_rule(rules()[0])]
        assert ruled[1]["rules_ignored"] == [name_of_rule(rules()[3])]

        mentions = [one for one in session["edges"] if one["type"] == "MENTIONS"]
        named = [events[one["source_id"]]["label"] for one in mentions]
        assert Counter(named) == {"Request": 1, "Feedback": 1, "Response": 3, "Analysis": 1}
        assert {one["relevance"] for one in mentions if events[one["source_id"]]["label"] == "Request"} == {5}
        assert edges["INVOLVES"] == 1

        await conversation(people, user, "Напомни адрес")
        prompt = bot.model.asked(RESPONDER)[-1].text
        assert f"<lessons>\n- {LESSON}\n</lessons>" in prompt
        audit = await bot.get("/chronicle/audit", user_id=user)
        assert (audit["analysis_coverage"], audit["next_integrity"], audit["orphans"]) == (1.0, 1.0, 0)
        assert 'laplaced_analysis_verdicts_total{verdict="incorrect"} 1.0' in await bot.metrics()
        assert await bot.stop() == 0


async def test_without_a_model_the_owners_own_words_judge(tmp_path: Path) -> None:
    """He corrects an answer: it was wrong, and there is a lesson; what he says nothing against was right."""
    async with product(tmp_path, scripted=False) as (bot, people):
        assert people is not None
        user = await people.add_user("Оксана", language_code="uk")
        bot.settings["LAPLACED_ACCESS__ALLOWED_USER_IDS"] = str(user)
        await bot.start()
        await conversation(people, user, "Яка адреса офісу мого брата?", "Ні, не так, я ж казала.", "Дякую!", "/ss")
        session = await judged(bot, user, 1)
        ruled = [one for one in session["events"] if one["label"] == "Analysis"]
        assert [one["verdict"] for one in ruled] == ["incorrect", "correct", "correct", "partially_correct"]
        assert [len(one["lessons"]) for one in ruled] == [1, 0, 0, 0]
        assert (await bot.get("/chronicle/audit", user_id=user))["analysis_coverage"] == 1.0
        assert await bot.stop() == 0
