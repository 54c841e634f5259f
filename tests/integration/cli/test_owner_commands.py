"""`laplaced export`, `forget` and the import of an export, as their user meets them, over a stopped bot's data."""

from __future__ import annotations

import asyncio
import json
import stat
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from sqlalchemy import Connection, insert
from support.stores.store_hash import owner_hashes

from bot.cli.main import main
from internal.chronicle import service as chronicle
from internal.chronicle.service import ChronicleMessage
from internal.dialogue import repository as dialogue
from internal.graph import store
from internal.knowledge import service as knowledge
from internal.knowledge.claims.changes import ClaimLine, NewClaim
from internal.people import repository as known, service as people
from internal.storage.database import Database
from internal.storage.migration import migrate
from internal.storage.tables import users
from internal.storage.types import new_id
from internal.testing.clock import FIRST_MOMENT

OWNER = 500
SECRET = "разводит канареек"


def owner(connection: Connection) -> None:
    row = {"user_id": OWNER, "role": "owner", "state": "active", "name": "Олена", "lang": "uk", "tz": "Europe/Kyiv"}
    connection.execute(insert(users).values(**row, settings={}, created_at=FIRST_MOMENT))


def talked(connection: Connection) -> None:
    owner(connection)
    for text in (f"Петров {SECRET}", "Хороший день"):
        said = dialogue.add(connection, OWNER, "user", text, now=FIRST_MOMENT)
        chronicle.hear(connection, ChronicleMessage(OWNER, said.id, said.content, said.timestamp), tz="Europe/Kyiv")
    people.from_metadata(
        connection, OWNER, people.TelegramAccount(77, "Петров"), seen_at=FIRST_MOMENT, now=FIRST_MOMENT
    )


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of an installation whose bot does not run and knows one user and some of his life."""
    monkeypatch.chdir(tmp_path)
    made(tmp_path / "data", talked)
    return tmp_path


def made(data: Path, work: Any) -> Any:
    async def make() -> Any:
        async with Database.open(data / "laplaced.db") as database:
            await database.exclusive(migrate)
            return await database.write(work)

    return asyncio.run(make())


def read(data: Path, work: Any) -> Any:
    async def look() -> Any:
        async with Database.open(data / "laplaced.db") as database:
            return await database.read(work)

    return asyncio.run(look())


def laplaced(*words: str, data: Path | str = "data", asked: str | None = None) -> Result:
    return CliRunner().invoke(main, list(words), input=asked, env={"LAPLACED_DATA_DIR": str(data)})


def test_an_export_is_for_its_owners_eyes_and_never_over_another_file(folder: Path) -> None:
    """A file of mode 0600 that must not exist yet; without --out it goes to standard output."""
    target = folder / "olena.json"
    told = laplaced("export", "--user", str(OWNER), "--out", str(target))
    assert (told.exit_code, told.stdout) == (0, f"{target} (0.0 MB)\n")
    assert stat.S_IMODE(target.stat().st_mode) == 0o600
    exported = json.loads(target.read_text(encoding="utf-8"))
    assert [row["content"] for row in exported["tables"]["messages"]] == [f"Петров {SECRET}", "Хороший день"]
    again = laplaced("export", "--user", str(OWNER), "--out", str(target))
    assert again.exit_code == 1
    assert "File exists" in again.stderr
    plain = laplaced("export", "--user", str(OWNER))
    assert json.loads(plain.stdout)["tables"] == exported["tables"]


@pytest.mark.parametrize("there", [True, False], ids=["an installation", "an empty folder"])
def test_an_export_is_known_by_its_beginning_and_read_back(folder: Path, there: bool) -> None:
    """Into a store where nobody is known, or that is only made by it: the same rows; a second time nothing changes."""
    target = folder / "olena.json"
    laplaced("export", "--user", str(OWNER), "--out", str(target))
    elsewhere = folder / "elsewhere"
    if there:
        made(elsewhere, lambda connection: None)
    words = ("import", "--user", str(OWNER), str(target))
    would = laplaced(*words, "--dry-run", data=elsewhere)
    assert "would be read back" in would.stdout
    done = laplaced(*words, data=elsewhere)
    assert (done.exit_code, done.stderr) == (0, "")
    assert done.stdout.startswith("read back: 2 messages, 0 episodes, 1 people, 0 facts, 0 claims;")
    assert read(elsewhere, lambda c: owner_hashes(c, OWNER)) == read(folder / "data", lambda c: owner_hashes(c, OWNER))
    assert "nothing was changed" in laplaced(*words, data=elsewhere).stdout


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("--user", "7", "olena.json"), "this is the export of user 500"),
        (("--user", "500", "olena.json", "olena.json"), "read back alone"),
        (("--user", "500", "--format", "laplaced", "cut.json"), "was cut"),
        (("--user", "500", "--format", "laplaced", "absent.json"), "cannot be read"),
        (("--user", "500", "--format", "laplaced", "other.json"), "laplaced-export/2 is expected"),
    ],
)
def test_what_cannot_be_read_back_is_told_in_one_line(folder: Path, words: tuple[str, ...], told: str) -> None:
    """Another user's export, several files, a file that was cut, is not there, or is something else."""
    laplaced("export", "--user", str(OWNER), "--out", "olena.json")
    (folder / "cut.json").write_text(Path("olena.json").read_text(encoding="utf-8")[:500], encoding="utf-8")
    (folder / "other.json").write_text("{}", encoding="utf-8")
    answer = laplaced("import", *words)
    assert (answer.exit_code, answer.stdout) == (1, "")
    assert answer.stderr.count("\n") == 1
    assert told in answer.stderr


def test_what_is_forgotten_is_asked_about_and_told(folder: Path) -> None:
    """A no leaves everything; a yes erases to the last byte and names the backups that still hold it."""
    laplaced("backup")
    [first, _] = read(folder / "data", lambda c: dialogue.recent(c, OWNER, limit=9))
    words = ("forget", "--user", str(OWNER), "--message", first.id)
    kept = laplaced(*words, asked="n\n")
    assert kept.exit_code == 1
    assert SECRET.encode() in (folder / "data/laplaced.db").read_bytes()

    gone = laplaced(*words, asked="y\n")
    assert gone.exit_code == 0
    assert f"forgotten: message {first.id} (1 messages)" in gone.stdout
    assert "backups that still hold it: laplaced-" in gone.stdout
    assert "a running bot replaces and deletes them in 7 days" in gone.stdout
    for file in sorted((folder / "data").glob("laplaced.db*")):
        assert SECRET.encode() not in file.read_bytes()
    twice = laplaced(*words, "--yes")
    assert (twice.exit_code, twice.stderr) == (1, f"laplaced: there is no message {first.id}\n")


def test_a_fact_is_forgotten_with_the_messages_that_said_it(folder: Path) -> None:
    """Only when they are asked for; the other message stays."""

    def told(connection: Connection) -> str:
        first, _ = dialogue.recent(connection, OWNER, limit=9)
        me = store.ensure_owner_node(connection, OWNER, "Олена", FIRST_MOMENT)
        made = {"name": "канарейки", "type": "concept"}
        birds = store.add_node(connection, OWNER, "Entity", made, now=FIRST_MOMENT)
        line = ClaimLine(1, first.content, first.id)
        claim = NewClaim(me.id, "LIKES", birds.id, "Люблю канареек", FIRST_MOMENT, episode_id=new_id(), lines=[line])
        return str(knowledge.record_claims(connection, OWNER, [claim], now=FIRST_MOMENT).facts[0])

    fact_id = made(folder / "data", told)
    gone = laplaced("forget", "--user", str(OWNER), "--fact", fact_id, "--messages", "--yes")
    assert gone.exit_code == 0
    assert gone.stdout.startswith(f"forgotten: fact {fact_id} with its messages (1 messages, 1 facts")
    assert [one.content for one in read(folder / "data", lambda c: dialogue.recent(c, OWNER, limit=9))] == [
        "Хороший день"
    ]
    assert SECRET.encode() not in (folder / "data/laplaced.db").read_bytes()


def test_a_person_is_forgotten_with_the_messages_about_him(folder: Path) -> None:
    """How many there are is asked about first; without the option they stay."""
    [known_person] = read(folder / "data", lambda c: known.listing(c, OWNER))
    words = ("forget", "--user", str(OWNER), "--person", str(known_person.id))
    assert "Messages about it: 1; they stay." in laplaced(*words, asked="n\n").stdout
    gone = laplaced(*words, "--messages", asked="y\n")
    assert "Messages about it: 1; they go too." in gone.stdout
    assert f"forgotten: person {known_person.id} with its messages" in gone.stdout
    assert SECRET.encode() not in (folder / "data/laplaced.db").read_bytes()


def test_what_nothing_explains_is_named_and_shown_again(folder: Path) -> None:
    """Migration 0008 hid some things for no request: `doctor` names the command that shows them."""
    person = "SELECT entity_id FROM people WHERE user_id = 500"
    hide = f"INSERT INTO hidings (user_id, forgetting_id, kind, target) SELECT 500, 'unknown', 'node', ({person})"
    made(folder / "data", lambda c: c.exec_driver_sql(hide).rowcount)
    found = laplaced("doctor").stdout
    assert "1 row of user 500" in found
    command = (
        next(line for line in found.splitlines() if "hidden" in line).split("Fix: laplaced ")[1].split(" shows")[0]
    )
    assert read(folder / "data", lambda c: known.listing(c, OWNER)) == []
    assert laplaced(*command.split()).exit_code == 0
    assert len(read(folder / "data", lambda c: known.listing(c, OWNER))) == 1
    assert laplaced(*command.split()).stderr == "laplaced: there is nothing to undo any more\n"
    assert "hidden" not in laplaced("doctor").stdout


def test_everything_is_forgotten_by_command(folder: Path) -> None:
    """Nothing is left but the admission."""
    assert laplaced("forget", "--user", str(OWNER), "--everything", "--yes").stdout == "forgotten: everything\n"
    exported = json.loads(laplaced("export", "--user", str(OWNER)).stdout)
    assert exported["tables"].keys() == {"users", "forgettings"}


@pytest.mark.parametrize(
    "words",
    [
        ("--yes",),
        ("--everything", "--person", "1"),
        ("--fact", "a", "--entity", "b"),
        ("--person",),
        ("--message", "a", "--messages", "--yes"),
        ("--message", "a", "--undo", "b"),
    ],
)
def test_exactly_one_thing_is_forgotten(folder: Path, words: tuple[str, ...]) -> None:
    """Anything else is wrong usage, and nothing is asked."""
    assert laplaced("forget", "--user", str(OWNER), *words).exit_code == 2


@pytest.mark.parametrize("command", [("export",), ("forget", "--everything", "--yes")])
def test_an_unknown_user_is_told(folder: Path, command: tuple[str, ...]) -> None:
    """In one line, and nothing is written."""
    answer = laplaced(*command, "--user", "7")
    assert (answer.exit_code, answer.stdout, answer.stderr) == (1, "", "laplaced: there is no user 7\n")
