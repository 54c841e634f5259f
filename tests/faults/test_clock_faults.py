"""The clock jumps while the bot runs: a day back, two days forward. Nothing waits for a day, nothing is lost."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
import pytest_asyncio
from support.faults.fault_record import proving
from support.faults.fault_stage import OFFLINE, Stage, added, quiet, under_faults
from support.product.running_product import ARCHIVIST, RESPONDER, until

from internal.testing import Fault

pytestmark = pytest.mark.asyncio(loop_scope="module")

DAY = timedelta(days=1)
PROMPTLY_S = 60.0
"""Far from the day that somebody would wait who believes the clock."""


def faketime() -> Path:
    """The library that tells a process another time; the Makefile installs it."""
    found = sorted(Path("/usr/lib").glob("*/faketime/libfaketime.so.1"))
    assert found, "libfaketime is missing: apt-get install libfaketime"
    return found[0]


class Clock:
    """The clock of the bot alone; Telegram, the model and the test keep the true one."""

    def __init__(self, folder: Path) -> None:
        self._file = folder / "clock"
        self.set(timedelta(0))

    def set(self, off: timedelta) -> None:
        """Makes the bot's clock show the true time and `off`, within two seconds: whole ones are compared."""
        self._file.write_text(f"{off.total_seconds():+.0f}\n")

    @property
    def settings(self) -> dict[str, str]:
        return {
            "LD_PRELOAD": str(faketime()),
            "FAKETIME_TIMESTAMP_FILE": str(self._file),
            "FAKETIME_CACHE_DURATION": "1",
            # A clock that is set moves no timer of the kernel's.
            "FAKETIME_DONT_FAKE_MONOTONIC": "1",
            # Its remedy for another glibc makes each wait for the interpreter's lock end at once, and threads spin.
            "FAKETIME_FORCE_MONOTONIC_FIX": "0",
        }


async def shown(stage: Stage) -> datetime:
    """What the bot's clock shows, by the event that it writes."""
    ((moment,),) = stage.bot.rows("SELECT max(timestamp) FROM events WHERE seq = (SELECT max(seq) FROM events)")
    return datetime.fromtimestamp(moment / 1e6, UTC)


JUMPS = [("a day back", -DAY), ("two days forward, a day ahead of the truth", DAY), ("back to the truth", timedelta(0))]


@pytest.mark.parametrize(("name", "off"), JUMPS, ids=[name for name, _ in JUMPS])
async def test_a_clock_that_jumps_delays_nothing(stage: Stage, clock: Clock, name: str, off: timedelta) -> None:
    """What was waiting when it jumped, and what comes afterwards, is answered, archived and sent at once, in order."""
    with proving("clock", f"jumps {name}", "answers, retries and archival go on at once, in order"):
        waiting, failing, idle, later = [await stage.newcomer() for _ in range(4)]
        stage.script(RESPONDER, f"(waiting {name})", Fault("slow", text="Slow.", seconds=3.0), OFFLINE)
        stage.script(ARCHIVIST, f"(idle {name})", Fault("status"), Fault("status"), added("Tadeo"))
        await stage.people.fault("server_error", "sendMessage", chat_id=failing, times=2)
        await stage.people.say(waiting, f"One (waiting {name})")
        await stage.people.say(failing, f"One (failing {name})")
        await stage.people.say(idle, f"Tadeo came. (idle {name})")
        await stage.until_rows("SELECT 1 FROM outbox WHERE user_id = ? AND error IS NOT NULL", failing)
        clock.set(off)
        await stage.heard(waiting, "Slow.", within=PROMPTLY_S)
        await stage.heard(failing, OFFLINE, within=PROMPTLY_S)
        await stage.until_rows("SELECT 1 FROM people WHERE user_id = ?", idle, within=PROMPTLY_S)
        assert await stage.ask(waiting, f"Two (waiting {name})") == OFFLINE
        assert await stage.ask(later, f"One (later {name})") == OFFLINE
        assert abs(await shown(stage) - (datetime.now(UTC) + off)) < timedelta(minutes=1)
        for user in (waiting, failing, idle, later):
            await stage.settled(user)
        stored = "SELECT content FROM messages WHERE user_id = ? ORDER BY seq"
        assert [text for (text,) in stage.bot.rows(stored, waiting)] == [
            f"One (waiting {name})", "Slow.", f"Two (waiting {name})", OFFLINE,
        ]  # fmt: skip

        async def ready() -> bool:
            return (await stage.call("GET", "/readyz")).status_code == 200

        await until(ready, within=PROMPTLY_S)


async def test_a_wrong_clock_is_found_by_the_doctor(stage: Stage, clock: Clock) -> None:
    """Times of the future in the log are told, with what to do; nothing is refused because of them."""
    with proving("clock", "times of the future are stored", "doctor tells it, with what to do"):
        clock.set(DAY)
        await asyncio.sleep(2.1)
        user = await stage.newcomer()
        assert await stage.ask(user, "From tomorrow") == OFFLINE
        clock.set(timedelta(0))
        await asyncio.sleep(2.1)
        code, out, _ = await stage.laplaced("doctor")
        assert code == 1
        assert "finding  clock" in out
        assert await stage.ask(user, "From today") == OFFLINE


# -- the product -------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def clock(tmp_path_factory: pytest.TempPathFactory) -> Clock:
    return Clock(tmp_path_factory.mktemp("clock"))


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def stage(tmp_path_factory: pytest.TempPathFactory, clock: Clock) -> AsyncIterator[Stage]:
    folder = tmp_path_factory.mktemp("clocks")
    async with under_faults(folder, LAPLACED_AGENTS__RESPONDER__TIMEOUT="30s") as running:
        quiet(running.model)
        await running.bot.start(**clock.settings)
        yield running
