"""`laplaced key` and `laplaced logout`, over the data of a stopped bot."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from support.stores.ready_stores import ready

from bot.cli.main import main
from internal.access.api_keys import ApiKeys
from internal.access.console import service as console
from internal.scheduling.clock import SystemClock
from internal.storage.database import Database
from internal.storage.migration import migrate

NOW = SystemClock().now()


def laplaced(folder: Path, *words: str) -> Result:
    return CliRunner().invoke(main, list(words), env={"LAPLACED_DATA_DIR": str(folder)})


def test_a_key_is_printed_once_listed_and_revoked(tmp_path: Path) -> None:
    """In a folder where no bot has run yet; a name that is taken or unknown is told in one line."""
    made = laplaced(tmp_path / "data", "key", "add", "notebook", "--user", "42", "--read-only")
    assert (made.exit_code, made.stderr) == (0, "")
    other = laplaced(tmp_path / "data", "key", "add", "backup.job")
    key, keys = made.stdout.strip(), ApiKeys(tmp_path / "data")
    found = keys.find(key)
    assert found is not None
    assert (found.name, found.user_id, found.read_only) == ("notebook", 42, True)
    assert keys.find(other.stdout.strip()) is not None
    listed = laplaced(tmp_path / "data", "key", "list").stdout.splitlines()
    assert [line.rsplit("  ", 1)[0] for line in listed] == [
        "notebook  user 42  reads",
        "backup.job  everybody  reads and writes",
    ]
    again = laplaced(tmp_path / "data", "key", "add", "notebook")
    assert (again.exit_code, again.stdout) == (1, "")
    assert again.stderr == "laplaced: there is a key notebook already; revoke it first\n"
    assert laplaced(tmp_path / "data", "key", "revoke", "notebook").stdout == "key notebook is revoked\n"
    assert keys.find(key) is None
    assert laplaced(tmp_path / "data", "key", "revoke", "notebook").stderr == "laplaced: there is no key notebook\n"


@pytest.mark.parametrize(("words", "ended"), [(("--user", "7"), 1), ((), 3)])
def test_all_sessions_are_ended(tmp_path: Path, words: tuple[str, ...], ended: int) -> None:
    """Those of one user, or everybody's with the admin's."""

    async def opened() -> None:
        async with Database.open(ready(tmp_path)) as database:
            await database.exclusive(migrate)
            for user_id in (7, 8, None):
                await database.write(
                    lambda c, user_id=user_id: console.open_session(
                        c, user_id, lifetime=timedelta(days=1), now=NOW, key="the-key"
                    )
                )

    asyncio.run(opened())
    done = laplaced(tmp_path, "logout", *words)
    assert (done.exit_code, done.stdout, done.stderr) == (0, f"{ended} sessions are ended\n", "")
    assert laplaced(tmp_path, "logout", *words).stdout == "0 sessions are ended\n"
