"""An operator's day with the real process: back up, examine, replay, revive, restore, survive a damaged file."""

from __future__ import annotations

import json
import os
import shlex
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from support.product.running_product import (
    ARCHIVIST,
    ENRICHER,
    RERANKER,
    RESPONDER,
    ProcessEnded,
    Product,
    at_rest,
    content,
    product,
    until,
)

from bot.simulator.client import ControlClient


async def checks(bot: Product) -> tuple[int, dict[str, dict[str, Any]]]:
    """Exit code of the examination, and its checks by their name; of several of one name the worst."""
    code, out, err = await bot.command("doctor", "--json")
    assert err == ""
    told = json.loads(out)
    assert told["findings"] == sum(check["level"] == "finding" for check in told["checks"])
    by_badness = sorted(told["checks"], key=lambda check: ["ok", "note", "finding"].index(check["level"]))
    return code, {check["name"]: check for check in by_badness}


def scripted(bot: Product) -> None:
    assert bot.model is not None
    bot.model.always(RESPONDER, "Відповідь.")
    bot.model.always(ENRICHER, {"query": "Петренко"})
    bot.model.always(RERANKER, {"people": []})
    bot.model.always("*", "ok", match="Answer: ok")  # the examination asks each model that is set


def knows(bot: Product) -> None:
    assert bot.model is not None
    person = {"display_name": "Петренко", "circle": "Friends", "bio": "Друг."}
    bot.model.always(ARCHIVIST, {"people_operations": [{"type": "Added", "person": person, "evidence": [1]}]})


async def admitted(bot: Product, control: ControlClient | None) -> tuple[ControlClient, int]:
    assert control is not None
    user = await control.add_user("Олена", language_code="uk")
    bot.settings["LAPLACED_ACCESS__ALLOWED_USER_IDS"] = str(user)
    return control, user


async def talked(bot: Product, people: ControlClient, user: int) -> None:
    """One message, answered and archived; what is written behind has followed."""
    await people.say(user, "Зустрів Петренка, він мій друг.")
    await until(lambda: bot.rows("SELECT 1 FROM vectors WHERE item LIKE 'person:%'"))
    await until(lambda: not bot.rows("SELECT 1 FROM outbox WHERE state != 'sent'"))
    await at_rest(bot.data_dir)


async def test_backup_wipe_restore_brings_everything_back(tmp_path: Path) -> None:
    """A backup of the running bot, restored over nothing, is the same content to the last row, and the bot goes on."""
    async with product(tmp_path, scripted=True, LAPLACED_DIALOGUE__IDLE_TIMEOUT="0.5s") as (bot, control):
        people, user = await admitted(bot, control)
        scripted(bot)
        knows(bot)
        await bot.start()
        await talked(bot, people, user)
        code, out, _ = await bot.command("backup")
        assert (code, "verified" in out) == (0, True)
        made = Path(out.split(" (")[0])
        made_at = float((await bot.metrics()).split("\nlaplaced_last_backup_timestamp_seconds ")[1].split()[0])
        assert abs(datetime.now(UTC).timestamp() - made_at) < 60
        held = await bot.command("restore", "--force", str(made))
        assert (held[0], "holds the data folder" in held[2]) == (1, True)
        assert await bot.stop() == 0

        before = await content(bot.data_dir)
        for file in bot.data_dir.glob("laplaced.db*"):
            file.unlink()
        code, out, _ = await bot.command("restore", str(made))
        assert (code, out.splitlines()[0].startswith("restored ")) == (0, True)
        assert await content(bot.data_dir) == before
        refused = await bot.command("restore", str(made))
        assert (refused[0], "--force" in refused[2]) == (1, True)

        await bot.start()
        again = float((await bot.metrics()).split("\nlaplaced_last_backup_timestamp_seconds ")[1].split()[0])
        assert again == pytest.approx(made_at, abs=1)
        await people.say(user, "Що там Петренко?")
        answered = "SELECT count(*) FROM messages WHERE role = 'assistant' HAVING count(*) = 2"
        await until(lambda: bot.rows(answered))
        assert await bot.stop() == 0


async def test_examination_finds_what_is_wrong_and_its_fixes_mend_it(tmp_path: Path) -> None:
    """Clean: 0. With a dead run and a quarantined update: 1, and the commands it names make it clean again."""
    async with product(tmp_path, scripted=True, LAPLACED_DIALOGUE__IDLE_TIMEOUT="0.5s") as (bot, control):
        people, user = await admitted(bot, control)
        scripted(bot)
        assert bot.model is not None
        bot.settings["LAPLACED_RUNS__MAX_ATTEMPTS"] = "1"
        bot.model.always(ARCHIVIST, "I would rather not.")
        await bot.start()
        await people.say(user, "Зустрів Петренка, він мій друг.")
        await until(lambda: bot.rows("SELECT 1 FROM runs WHERE state = 'dead'"))
        await until(lambda: not bot.rows("SELECT 1 FROM outbox WHERE state != 'sent'"))
        code, found = await checks(bot)
        assert (code, found["runs"]["level"], found["model"]["level"]) == (1, "finding", "ok")
        code, out, _ = await bot.command("runs")
        # Agents that share one reading of a slice fail together.
        assert (code, out.count("\n"), "archivist" in out) == (0, 3, True)

        bot.model.forget(ARCHIVIST)
        knows(bot)
        assert (await bot.command("runs", "--revive"))[1] == "3 runs are tried again\n"
        await until(lambda: bot.rows("SELECT 1 FROM vectors WHERE item LIKE 'person:%'"))
        code, found = await checks(bot)
        assert (code, {name for name, check in found.items() if check["level"] == "finding"}) == (0, set())
        assert await bot.stop() == 0

        put_aside(bot, user)
        code, found = await checks(bot)  # over the data of the stopped bot
        assert (code, found["quarantine"]["level"]) == (1, "finding")
        await bot.start()
        code, out, _ = await bot.command("quarantine")
        assert (code, out.count("\n"), "2 faults" in out) == (0, 2, True)
        number = out.split()[0]
        assert "Сховане" in (await bot.command("quarantine", "--show", number))[1]
        assert (await bot.command("quarantine", "--replay", number))[1] == "1 updates are handled once more\n"
        await until(lambda: bot.rows("SELECT 1 FROM messages WHERE content = 'Сховане'"))
        unknown = await bot.command("quarantine", "--replay", number)
        assert (unknown[0], "no update" in unknown[2]) == (1, True)
        assert (await bot.command("quarantine", "--drop", "all"))[1] == "1 updates are given up\n"
        assert bot.rows("SELECT count(*) FROM inbox WHERE state = 'quarantined' OR raw LIKE '%broken%'") == [(0,)]
        assert (await checks(bot))[1]["quarantine"]["level"] == "ok"
        assert await bot.stop() == 0


def put_aside(bot: Product, user: int) -> None:
    """Two updates as the intake of a program that could not read them would have put them aside."""
    import sqlite3

    ((bot_id,),) = bot.rows("SELECT DISTINCT bot_id FROM inbox")
    person = {"id": user, "is_bot": False, "first_name": "Олена"}
    chat = {"id": user, "type": "private", "first_name": "Олена"}
    said = {"message_id": 90001, "date": 1795300000, "from": person, "chat": chat, "text": "Сховане"}
    connection = sqlite3.connect(bot.data_dir / "laplaced.db")
    for update_id, raw in ((99001, {"update_id": 99001, "message": said}), (99002, {"broken": True})):
        row = (bot_id, update_id, json.dumps(raw, ensure_ascii=False), "quarantined", "2 faults", 1795300000000000)
        into = "INSERT INTO inbox (bot_id, update_id, raw, state, error, received_at) VALUES (?, ?, ?, ?, ?, ?)"
        connection.execute(into, row)
    connection.commit()
    connection.close()


async def test_damaged_database_is_told_with_the_command_that_helps(tmp_path: Path) -> None:
    """A start over a damaged file ends with 1 and one line; the command in that line brings the bot back."""
    async with product(tmp_path, scripted=True, LAPLACED_DIALOGUE__IDLE_TIMEOUT="0.5s") as (bot, control):
        people, user = await admitted(bot, control)
        scripted(bot)
        knows(bot)
        await bot.start()
        await talked(bot, people, user)
        assert (await bot.command("backup"))[0] == 0
        assert await bot.stop() == 0
        before = await content(bot.data_dir)
        database = bot.data_dir / "laplaced.db"
        size = database.stat().st_size
        with database.open("r+b") as file:
            file.seek(4096)
            file.write(os.urandom(size - 4096))

        with pytest.raises(ProcessEnded):
            await bot.start()
        said = bot.log.read_text().splitlines()[-1]
        assert await bot.ended() == 1
        assert said.startswith("laplaced: the database ")
        assert "is damaged" in said
        code, found = await checks(bot)
        assert (code, found["integrity"]["level"]) == (1, "finding")

        command = shlex.split(said.split("to restore it: laplaced ")[1])
        code, out, _ = await bot.command(*command)
        assert (code, "cannot be read" in out) == (0, True)
        assert await content(bot.data_dir) == before
        await bot.start()
        assert await bot.stop() == 0


async def test_no_backup_is_offered_where_there_is_none(tmp_path: Path) -> None:
    """Without any backup the line says so; nothing is made up, and the damaged file stays."""
    async with product(tmp_path, scripted=False, own_telegram=False) as (bot, _):
        bot.data_dir.mkdir()
        database = bot.data_dir / "laplaced.db"
        database.write_bytes(b"garbage " * 1000)
        for words in (["run"], ["archive"], ["backup"]):
            code, out, err = await bot.command(*words)
            assert (code, out) == (1, "")
            assert "there is no backup in the data folder" in err.splitlines()[-1]
        assert database.read_bytes() == b"garbage " * 1000
