"""One owner's data with the real process: edited, exported, forgotten down to the last byte, read back."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from support.product.running_product import ARCHIVIST, ENRICHER, RERANKER, RESPONDER, Product, product, until

from internal.testing import Asked

SAID, EDITED, CANARY = "Петренко працює в Канарейкіні.", "Петренко працює в ACME.", "Канарейкін"


def _archived(asked: Asked) -> dict[str, Any]:
    """What an archivist makes of the words it is shown."""
    transcript = asked.text.rsplit("<transcript>", 1)[1]
    firm = CANARY if CANARY in transcript else "ACME"
    person = {"display_name": "Петренко", "circle": "Friends", "bio": f"Працює: {firm}."}
    fact = {"source": "Петренко", "relation": "WORKS_FOR", "target": firm, "fact": f"Петренко працює: {firm}",
            "evidence": [1], "entity_types": {firm: "Organization"}}  # fmt: skip
    return {"people_operations": [{"type": "Added", "person": person, "evidence": [1]}], "facts": [fact]}


def _holding(bot: Product, text: str) -> list[str]:
    """The files of the data folder in which this text stands anywhere."""
    files = (file for file in sorted(bot.data_dir.rglob("*")) if file.is_file())
    return [file.name for file in files if text.encode() in file.read_bytes()]


async def _facts(bot: Product, user: int) -> list[str]:
    found = await until(lambda: bot.rows("SELECT fact FROM facts WHERE user_id = ? ORDER BY fact", user))
    return [fact for (fact,) in found]


async def test_a_memory_is_corrected_exported_forgotten_and_read_back(tmp_path: Path) -> None:
    """An edit replaces what followed from the old words; forgetting leaves no byte; the export brings all back."""
    async with product(tmp_path, scripted=True, LAPLACED_DIALOGUE__IDLE_TIMEOUT="0.5s") as (bot, people):
        assert people is not None
        assert bot.model is not None
        user = await people.add_user("Олена", language_code="uk")
        bot.settings["LAPLACED_ACCESS__ALLOWED_USER_IDS"] = str(user)
        bot.model.always(RESPONDER, "Зрозуміло.")
        bot.model.always(ENRICHER, {"query": "Петренко"})
        bot.model.always(RERANKER, {"people": []})
        bot.model.always(ARCHIVIST, _archived)
        await bot.start()
        message = await people.say(user, SAID)
        assert await _facts(bot, user) == [f"Петренко працює: {CANARY}"]

        await people.edit(user, message["message_id"], EDITED)
        await until(lambda: bot.rows("SELECT 1 FROM runs WHERE replaces IS NOT NULL"))
        assert (await bot.command("archive", "--user", str(user)))[0] == 0
        assert await _facts(bot, user) == ["Петренко працює: ACME"]
        (petrenko,) = (await bot.get("/people", user_id=user))["people"]
        assert (petrenko["bio"], petrenko["mention_count"]) == ("Працює: ACME.", 1)

        recalled = await bot.command("recall", "--user", str(user), "--json", "ACME")
        (found,) = json.loads(recalled[1])["episodes"]
        assert bot.rows("SELECT count(*) FROM episodes WHERE id = ?", found["id"]) == [(1,)]

        target = tmp_path / "olena.json"
        assert (await bot.command("export", "--user", str(user), "--out", str(target)))[0] == 0
        exported = json.loads(target.read_text(encoding="utf-8"))
        assert [row["fact"] for row in exported["tables"]["facts"]] == ["Петренко працює: ACME"]

        ((episode,),) = bot.rows("SELECT id FROM episodes WHERE user_id = ?", user)
        code, out, _ = await bot.command("forget", "--user", str(user), "--episode", episode, "--yes")
        assert (code, out.startswith(f"forgotten: episode {episode} (1 episodes, 2 messages")) == (0, True)
        for text in ("Петренко", "ACME", EDITED):
            assert _holding(bot, text) == []
        read_back = await bot.command("import", "--user", str(user), str(target))
        assert read_back[2] == ""  # nothing is left that could stand in its way
        assert read_back[1].startswith("read back: 2 messages, 1 episodes, 1 people, 1 facts, 1 claims;")
        (again,) = (await bot.get("/people", user_id=user))["people"]
        assert (again["id"], again["bio"]) == (petrenko["id"], "Працює: ACME.")
        await until(lambda: bot.rows("SELECT count(*) FROM vectors WHERE user_id = ?", user)[0][0] > 1)
        assert await _facts(bot, user) == ["Петренко працює: ACME"]
        assert await bot.stop() == 0
