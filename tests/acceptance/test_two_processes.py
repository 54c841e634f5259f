"""Two real processes on PostgreSQL: either is killed, and the dialogue goes on."""

from __future__ import annotations

from pathlib import Path

import psycopg
from support.patience import PATIENCE_S
from support.product.running_product import ARCHIVIST, ENRICHER, RERANKER, RESPONDER, product, until
from support.stores.stores import where_postgresql

ANSWER = "I see."

PERSON = {
    "people_operations": [
        {"type": "Added", "person": {"display_name": "Boris", "circle": "Friends", "bio": "Is an engineer."},
         "evidence": [1]},
    ],
    "facts": [],
}  # fmt: skip


async def test_either_process_goes_on_alone(tmp_path: Path) -> None:
    """What is said while one is killed is answered and archived by the other; a new one takes its place meanwhile."""
    store = where_postgresql(tmp_path)
    settings = {"LAPLACED_STORAGE__URL": store, "LAPLACED_DIALOGUE__IDLE_TIMEOUT": "2s"}
    async with product(tmp_path, scripted=True) as (bot, people):
        bot.settings |= settings
        assert people is not None
        assert bot.model is not None
        bot.model.always(RESPONDER, ANSWER)
        bot.model.always(ENRICHER, {"query": "Boris"})
        bot.model.always(RERANKER, {"people": []})
        bot.model.always(ARCHIVIST, PERSON)
        users = [await people.add_user(name) for name in ("Ann", "Bea", "Cleo")]
        bot.settings["LAPLACED_ACCESS__ALLOWED_USER_IDS"] = ",".join(map(str, users))

        async def everybody_is_answered(times: int) -> bool:
            said = [[one for one in await people.bot_messages(user) if one.get("text") == ANSWER] for user in users]
            return all(len(answers) >= times for answers in said)

        async def talked_to(times: int) -> None:
            await until(lambda: everybody_is_answered(times), within=PATIENCE_S)

        await bot.start()
        worker = await bot.start_worker()
        try:
            for user in users:
                await people.say(user, "My friend Boris is an engineer.")
            await talked_to(1)

            for user in users:
                await people.say(user, "He lives in Lviv.")
            await bot.kill()
            await talked_to(2)
            await until(lambda: _people(store) == len(users), within=PATIENCE_S)
            await until(lambda: _states(store) == {"applied"}, within=PATIENCE_S)

            await bot.start()
            worker.kill()
            await worker.wait()
            for user in users:
                await people.say(user, "He likes bridges.")
            await talked_to(3)
            assert await bot.stop() == 0
        finally:
            if worker.returncode is None:
                worker.kill()
                await worker.wait()


async def test_worker_ends_in_order_and_leaves_nothing_behind(tmp_path: Path) -> None:
    """It is refused on a file; told to stop, it gives back its leases and returns 0."""
    own = {"LAPLACED_TELEGRAM__TOKEN": f"1:{'x' * 35}", "LAPLACED_TELEGRAM__API_BASE": "http://127.0.0.1:1"}
    async with product(tmp_path, scripted=True, own_telegram=False) as (bot, _):
        bot.settings |= own
        code, _, told = await bot.command("worker")
        assert (code, told.count("\n")) == (1, 1)
        assert "a database file belongs to one process" in told
        bot.settings["LAPLACED_STORAGE__URL"] = store = where_postgresql(tmp_path)
        worker = await bot.start_worker()
        worker.terminate()
        assert await worker.wait() == 0
        assert _all(store, "SELECT * FROM leases") == []


def _states(store: str) -> set[str]:
    return {state for (state,) in _all(store, "SELECT DISTINCT state FROM runs WHERE agent = 'archivist'")}


def _people(store: str) -> int:
    return len(_all(store, "SELECT DISTINCT user_id FROM people WHERE display_name = 'Boris'"))


def _all(store: str, query: str) -> list[tuple[str, ...]]:
    with psycopg.connect(store, options="-c laplaced.owner=*") as connection:
        return connection.execute(query).fetchall()
