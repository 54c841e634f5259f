"""The Mini App: its files, and the session that Telegram's signature opens."""

from __future__ import annotations

import json
import re
from datetime import timedelta
from pathlib import Path
from urllib.parse import urlencode

import httpx
import pytest
from aiogram.utils.web_app import check_webapp_signature
from support.interfaces.rest_graph_stage import ANNA, BORIS, BOT_TOKEN, Stage

from bot.web.miniapp import init_data, router
from internal.access import repository as users
from internal.access.model import UserState
from internal.people.model import Circle

STATIC = Path(router.__file__).parent / "static"


def opened(known: Stage, user_id: object, age: timedelta = timedelta(), token: str = BOT_TOKEN, **more: str) -> str:
    """What Telegram gives to a Mini App that this user opened."""
    at = str(int((known.clock.now() - age).timestamp()))
    user = json.dumps({"id": user_id, "first_name": "Anna & Ко"})
    fields = {"query_id": "q", "auth_date": at, "user": user, **more}
    return urlencode(fields | {"hash": init_data.signed(fields, token)})


async def log_in(known: Stage, data: str) -> httpx.Response:
    known.client.headers.pop("Authorization", None)
    return await known.client.post("/console/login", json={"init_data": data})


async def test_a_signature_of_telegram_opens_the_session_of_its_user(known: Stage) -> None:
    """The session shows that owner alone; aiogram takes the signature for Telegram's too."""
    data = opened(known, ANNA)
    assert check_webapp_signature(BOT_TOKEN, data)
    session = (await log_in(known, data)).json()
    assert (session["role"], session["user_id"]) == ("owner", ANNA)
    known.client.headers.update({"Authorization": f"Bearer {session['token']}", "X-CSRF-Token": session["csrf"]})
    assert (await known.client.get("/people")).status_code == 200
    assert (await known.client.get("/people", params={"user_id": BORIS})).status_code == 404
    assert (await known.client.get("/doctor")).status_code in {403, 404}


@pytest.mark.parametrize("user_id", [BORIS + 5000, "1", None, True, 1.5])
async def test_nobody_else_is_let_in(known: Stage, user_id: object) -> None:
    """A signature of somebody the bot does not know, or of no user at all, opens nothing."""
    assert (await log_in(known, opened(known, user_id))).status_code == 401


async def test_old_foreign_and_changed_data_are_refused(known: Stage) -> None:
    """What was made long ago or ahead of time, by another bot, or changed on the way."""
    good = opened(known, ANNA)
    for bad in (
        opened(known, ANNA, timedelta(hours=2)),
        opened(known, ANNA, -timedelta(hours=1)),
        opened(known, ANNA, token="1:other"),
        good.replace(str(ANNA), str(BORIS)),
        good.replace("hash=", "hash=0"),
        good.partition("&hash=")[0],
        f"{good}&start_param=p_1",
        "hash=%ff",
        "&&&",
    ):
        assert (await log_in(known, bad)).status_code in {401, 429}


async def test_a_removed_user_is_refused(known: Stage) -> None:
    """Whose admission was withdrawn, although Telegram still vouches for the account."""
    await known.database.write(lambda c: users.change(c, ANNA, state=UserState.REMOVED.value))
    assert (await log_in(known, opened(known, ANNA))).status_code == 401


async def test_the_files_need_no_key_and_load_nothing_from_elsewhere(known: Stage) -> None:
    """A browser sends no key for a page; only Telegram's own pages may frame it."""
    known.client.headers.pop("Authorization", None)
    for path in sorted(router.PATHS):
        answer = await known.client.get(path)
        assert answer.status_code == 200
        policy = answer.headers["content-security-policy"]
        assert "default-src 'none'" in policy
        assert "https://web.telegram.org" in policy
        assert not re.search(r"""(src|href|from|import)\s*[=(]?\s*["']https?:""", answer.text)


def test_every_text_is_there_in_three_languages() -> None:
    """Each key that the page asks for has its words, and no word is left over."""
    words = json.loads((STATIC / "words.json").read_text(encoding="utf-8"))
    script = (STATIC / "app.js").read_text(encoding="utf-8")
    assert len({frozenset(one) for one in words.values()}) == 1
    assert set(words) == {"en", "ru", "uk"}
    used = r'["`. ]{0}["`.:,(]|views\.{0}\b'
    assert {key for key in words["en"] if not re.search(used.replace("{0}", re.escape(key)), script)} == {
        key for key in words["en"] if key.startswith("circle-")
    }
    assert {f"circle-{one.value}" for one in Circle} <= set(words["en"])


async def test_a_fact_is_forgotten_for_good(known: Stage) -> None:
    """DELETE erases it with its versions; nobody can erase another owner's."""
    source, target = await known.node("Mira"), await known.node("Lisbon")
    uuid, _ = await known.tell(source, "lives_in", target, "Mira lives in Lisbon")
    foreign = await known.client.delete(f"/graph/facts/{uuid}", params={"user_id": BORIS})
    assert foreign.status_code == 404
    assert (await known.client.delete(f"/graph/facts/{uuid}", params={"user_id": ANNA})).status_code == 204
    assert (await known.client.get(f"/graph/facts/{uuid}", params={"user_id": ANNA})).status_code == 404
