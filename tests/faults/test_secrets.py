"""Tokens and keys show nowhere: every product of these tests is searched at its end, and here are the worst cases.

What a running product wrote (log, terminal, metrics, database, backups) is searched by `under_faults`, what a command
says by `Stage.laplaced`; both fail the test that made them.
"""

from __future__ import annotations

import contextlib
import json
import sqlite3
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio
from support.faults.fault_record import proving
from support.faults.fault_stage import (
    BOT_TOKEN,
    CANARIES,
    MODEL_KEY,
    OFFLINE,
    SERVER_KEY,
    WEBHOOK_SECRET,
    Stage,
    database_text,
    quiet,
    told_secrets,
    under_faults,
)
from support.long import LONG
from support.product.running_product import ARCHIVIST, ENRICHER, RESPONDER, until

from internal.testing import Fault

pytestmark = pytest.mark.asyncio(loop_scope="module")

ECHO = {"error": {"message": f"bad request: Authorization Bearer {MODEL_KEY}", "type": "server_error", "code": 500}}
"""Some providers and gateways quote what they were sent."""


async def test_the_search_finds_every_secret() -> None:
    """What is looked for is found in any of the forms in which it would be written, or the rest proves nothing."""
    for secret in (BOT_TOKEN, MODEL_KEY, SERVER_KEY, WEBHOOK_SECRET):
        for form in (secret, f"https://api/bot{secret}/getMe", json.dumps({"key": secret}), repr(secret.encode())):
            assert len(told_secrets(f"before {form} after")) == 1
    assert told_secrets("nothing to be seen") == []


async def test_what_a_product_wrote_is_searched_whole(stage: Stage, tmp_path: Path) -> None:
    """A secret in any column of any table of the database is found."""
    found = []
    for name, canary in CANARIES.items():
        path = tmp_path / f"{name}.db"
        with contextlib.closing(sqlite3.connect(path)) as connection:
            connection.execute("CREATE TABLE events (payload TEXT)")
            connection.execute("INSERT INTO events VALUES (?)", (json.dumps({"error": f"said {canary}!"}),))
            connection.commit()
        found += told_secrets(database_text(path))
    assert found == list(CANARIES)


async def test_a_provider_that_quotes_the_key(stage: Stage) -> None:
    """In an error of each agent, in a refusal, in a redirect: the key reaches no row, no log and no chat."""
    with proving("secrets", "a provider quotes the key in its errors", "hidden in log, rows, events, metrics and chat"):
        user, marker = await stage.newcomer(), "(quoted)"
        broken = Fault("status", status=500, body=ECHO)
        denied = Fault("status", status=401, body=ECHO)
        stage.script(ENRICHER, marker, broken)
        stage.script(RESPONDER, marker, broken, denied, OFFLINE)
        stage.script(ARCHIVIST, marker, broken, denied, Fault("refusal", text=f"I know {MODEL_KEY}"))
        for _ in range(2):
            await stage.ask(user, f"Who is it? {marker}")
        await stage.settled(user)
        errors = stage.bot.rows("SELECT error FROM runs WHERE user_id = ?", user)
        errors += stage.bot.rows("SELECT error FROM turns WHERE user_id = ? AND error IS NOT NULL", user)
        assert len(errors) >= 2
        assert told_secrets(str(errors) + str(await stage.seen(user))) == []


async def test_telegram_that_cannot_be_reached(stage: Stage) -> None:
    """Connections that are refused, reset and silent: the URL of each call holds the token, and no error tells it."""
    with proving("secrets", "Telegram refuses, resets, falls silent", "the URL with the token is never told"):
        user = await stage.newcomer()
        for kind in ("reset", "reset_after", "bad_gateway", "hang", "server_error", "unauthorized"):
            for method in ("sendMessage", "sendMessageDraft", "sendChatAction"):
                await stage.people.fault(kind, method, chat_id=user, seconds=0.3)
        for kind in ("reset", "bad_gateway", "hang"):
            await stage.people.fault(kind, "getUpdates", seconds=0.3)
        await stage.people.say(user, "Anybody?")
        failed = "SELECT error FROM outbox WHERE user_id = ? AND error IS NOT NULL"
        ((error,),) = await stage.until_rows(failed, user)
        assert told_secrets(error) == []
        await stage.telegram.kill()
        try:
            await until(lambda: "poll_failed" in stage.bot.log.read_text())
            code, out, _ = await stage.laplaced("doctor")
            assert (code, "finding  telegram" in out) == (1, True)
        finally:
            await stage.telegram.start()


async def test_commands_and_pages_tell_none(stage: Stage) -> None:
    """Neither wrong keys, nor unknown paths, nor the examination in any form brings a secret back."""
    with proving("secrets", "wrong keys, unknown paths, doctor, runs", "no answer tells a secret"):
        for words in (["doctor", "--json"], ["runs"]):
            await stage.laplaced(*words)
        answers = [
            await stage.call("GET", "/people", headers={"Authorization": f"Bearer {SERVER_KEY}x"}),
            await stage.call("GET", "/people", params={"user_id": "x" + SERVER_KEY[:4]}),
            await stage.call("GET", f"/bot{BOT_TOKEN.split(':')[0]}/getMe"),
            await stage.call("POST", "/telegram/webhook", content=b"{"),
            await stage.call("GET", "/people", headers={"Host": "elsewhere.example"}),
            await stage.call("GET", "/metrics"),
            await stage.call("GET", "/readyz"),
        ]
        assert {answer.status_code for answer in answers} >= {200, 401, 403, 404}
        assert told_secrets("".join(answer.text + str(answer.headers) for answer in answers)) == []


WRONG = {
    "LAPLACED_TELEGRAM__TOKEN": f"x{BOT_TOKEN}",
    "LAPLACED_LLM__API_KEY": f"{MODEL_KEY}ключ",
    "LAPLACED_TELEGRAM__WEBHOOK__SECRET": f"{WEBHOOK_SECRET} with blanks",
    "LAPLACED_LLM__BASE_URL": f"http://user:{MODEL_KEY.split('/')[0]}@127.0.0.1:9/v1?key={MODEL_KEY.split('/')[0]}",
    "LAPLACED_EMBEDDING__API_KEY": f"{MODEL_KEY}ключ",
}


@pytest.mark.parametrize("name", WRONG if LONG else [*WRONG][:2])
async def test_a_wrong_setting_is_told_without_its_value(stage: Stage, tmp_path: Path, name: str) -> None:
    """A secret that cannot be one is refused by its name; the value may be the right one, mistyped."""
    with proving("secrets", f"{name} is mistyped", "told by its name, never by its value"):
        settings = {"LAPLACED_DATA_DIR": str(tmp_path / "data"), name: WRONG[name]}
        code, out, err = await stage.laplaced("doctor", **settings)
        assert code == 1
        assert (out + err).strip()


async def test_the_token_of_a_bot_that_is_gone(stage: Stage) -> None:
    """The last words of a program whose token was revoked do not hold it."""
    with proving("secrets", "the token is revoked while the bot runs", "its last words do not hold it"):
        await stage.people.fault("unauthorized", "getUpdates", times=9)
        await stage.people.say(await stage.newcomer(), "Wakes the poll that hangs")
        assert await stage.bot.ended() == 1
        assert told_secrets(stage.bot.log.read_text()) == []


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def stage(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Stage]:
    async with under_faults(tmp_path_factory.mktemp("secrets")) as running:
        quiet(running.model)
        await running.bot.start()
        yield running
