"""An export read back into another store is the same memory, row by row, and can be gone on with."""

import copy
import json
from collections.abc import AsyncIterator, Callable
from datetime import time, timedelta
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Connection, delete, insert, select, update
from support.flows.chronicle_stage import check_line
from support.flows.erase_stage import ErasingStage
from support.flows.flow_stage import OTHER, OWNER, Talk, add_user
from support.stores.store_hash import owner_hashes
from support.stores.stored_values import firings
from support.stores.stores import where

from internal.dialogue.notifications import repository as notifications
from internal.dialogue.snapshots import repository as snapshots
from internal.dialogue.snapshots.model import Snapshot, SnapshotItem
from internal.errors import Conflict, Refused
from internal.events import agent_state_repository as kept_state
from internal.events.bus import EventTopic, Subscription
from internal.flows.forgetting import requests
from internal.flows.indexing.messages import MessageBackfill
from internal.flows.merging import people as merging_people
from internal.flows.notifications.reminders import ReminderScheduler
from internal.flows.transfer.export import export_document
from internal.flows.transfer.restore_export import ReadExport, read_back
from internal.flows.visibility.pending_forgettings import messages_to_forget
from internal.knowledge import service as knowledge
from internal.knowledge.model import FactFilter
from internal.people import repository as people, service as people_service
from internal.people.service import TelegramAccount
from internal.storage.database import Database
from internal.storage.forgetting import forgettings
from internal.storage.migration import migrate
from internal.storage.tables import agent_state, messages, outbox, search_items, turns, users
from internal.storage.transfer import owner_export
from internal.tasks import repository as tasks, service as tasking
from internal.tasks.model import Schedule
from internal.tasks.teams import repository as teams, service as teaming
from internal.testing import FIRST_MOMENT


@pytest.fixture
def stage(talk: Talk) -> ErasingStage:
    return ErasingStage(talk)


@pytest.fixture
async def elsewhere(tmp_path: Path) -> AsyncIterator[Database]:
    """Another instance's store, in which nobody is known."""
    async with Database.open(where(tmp_path / "elsewhere")) as database:
        await database.exclusive(migrate)
        yield database


async def test_an_export_of_before_the_chronicle_gets_one(stage: ErasingStage, elsewhere: Database) -> None:
    """Its messages are cut into sessions by silence; an export that has a chronicle keeps the one it has."""
    await stage.talk.exchange("One")
    stage.talk.clock.advance(31 * 60)
    await stage.talk.publication().publish_due()
    await stage.talk.exchange("Two")
    now = stage.talk.clock.now()
    document = json.loads(await stage.talk.read(lambda c: export_document(c, OWNER, now=now)))
    del document["tables"]["chronicle"], document["tables"]["sessions"]
    await elsewhere.write(lambda c: read_back(c, document, user_id=OWNER))
    events = await elsewhere.read(lambda c: check_line(c, OWNER))
    assert [one.label.value for one in events] == ["Request", "Response", "Request", "Response"]


def added(name: str, **fields: Any) -> dict[str, Any]:
    return {"type": "Added", "person": {"display_name": name, **fields}, "evidence": [1]}


async def lived(stage: ErasingStage) -> None:
    """A memory with a bit of everything: people merged and edited, facts closed, corrected and contradicted."""
    works = {"source": "Петров", "relation": "WORKS_FOR", "target": "ACME", "fact": "Петров в ACME", "evidence": [1]}
    stage.reply(
        "Петров",
        people_operations=[added("Петров", bio="Коллега.", username="petrov"), added("Саша", aliases=["Шурик"])],
        entities=[{"name": "ACME", "labels": ["Organization"], "summary": "Фирма", "evidence": [1]}],
        facts=[works | {"valid_at": "2020-01-01"}],
    )
    stage.reply("Initech", facts=[works | {"target": "Initech", "fact": "Петров в Initech", "valid_at": "2023-01-01"}])
    stage.reply("Globex", facts=[works | {"target": "Globex", "fact": "Петров в Globex", "valid_at": "2023-01-01"}])
    await stage.said("Петров работает в ACME, а Саша нет")
    await stage.told("Теперь Initech")
    await stage.told("Нет, Globex")
    ids = {person.display_name: person.id for person in await stage.people()}
    now = stage.talk.clock.now()

    def touched(connection: Connection) -> None:
        merging_people.merge(connection, OWNER, ids["Саша"], ids["Петров"], now=now)
        merging_people.edit(connection, OWNER, ids["Петров"], {"circle": "Friends"}, now=now)
        [first] = knowledge.facts_about(connection, OWNER, FactFilter(as_of=now.replace(year=2021)), now=now)
        knowledge.update_fact(connection, OWNER, first.id, "Петров служит в ACME", reason="точнее", now=now)
        value = {"user_id": OWNER, "agent_id": f"a:user_{OWNER}", "key": "k", "updated_at": now}
        connection.execute(
            insert(agent_state), [value | {"value": b"\xff\x00"}, value | {"key": "t", "value": b"text"}]
        )
        requests.ask(connection, OWNER, "message", _first_message(connection), now=now)

    await stage.talk.write(touched)


def _first_message(connection: Connection) -> str:
    return connection.execute(select(messages.c.id).order_by(messages.c.seq)).scalars().first() or ""


async def document(stage: ErasingStage) -> dict[str, Any]:
    text = await stage.talk.read(lambda c: export_document(c, OWNER, now=stage.talk.clock.now()))
    parsed: dict[str, Any] = json.loads(text)
    return parsed


def items(connection: Connection) -> set[Any]:
    columns = [search_items.c[name] for name in ("item", "kind", "ref_id", "text", "text_hash")]
    return {tuple(row) for row in connection.execute(select(*columns).where(search_items.c.user_id == OWNER))}


async def test_an_export_read_back_is_the_same_memory(stage: ErasingStage, elsewhere: Database) -> None:
    """Every row of the owner, ids and versions included; what things are found by is rebuilt, equal to the letter."""
    await lived(stage)
    exported = await document(stage)
    done = await elsewhere.write(lambda c: read_back(c, exported, user_id=OWNER))
    assert done.rows["claims"] > 0
    assert done.rows["merges"] == 1
    here = await stage.talk.read(lambda c: owner_hashes(c, OWNER))
    assert await elsewhere.read(lambda c: owner_hashes(c, OWNER)) == here
    await MessageBackfill(elsewhere).follow_due()
    assert await elsewhere.read(items) == await stage.talk.read(items)
    again = owner_export.rows_by_table
    assert await elsewhere.read(lambda c: dict(again(c, OWNER)).keys()) == exported["tables"].keys()


async def test_a_memory_that_was_read_back_goes_on(stage: ErasingStage, elsewhere: Database) -> None:
    """Facts, their history and receipts answer there as here, a merge can be taken back, new messages follow."""
    await lived(stage)
    exported = await document(stage)
    await elsewhere.write(lambda c: read_back(c, exported, user_id=OWNER))
    now = stage.talk.clock.now()

    def told(connection: Connection) -> Any:
        found = knowledge.facts_about(connection, OWNER, FactFilter(include_invalid=True), now=now)
        lines = [[line.quote for line in knowledge.evidence_of_fact(connection, OWNER, one.id)] for one in found]
        return found, lines, knowledge.open_contradictions(connection, OWNER)

    assert await elsewhere.read(told) == await stage.talk.read(told)
    (petrov,) = await elsewhere.read(lambda c: people.listing(c, OWNER))
    # What is pending there hides who was merged into him; undone there, both are seen.
    for asked in await elsewhere.read(lambda c: forgettings.pending(c, OWNER)):
        await elsewhere.write(lambda c, one=asked: requests.undo(c, OWNER, one.id))
    await elsewhere.write(lambda c: merging_people.split(c, OWNER, petrov.id, now=now))
    assert len(await elsewhere.read(lambda c: people.listing(c, OWNER))) == 2
    other = ErasingStage(Talk(elsewhere))
    other.talk.tg_id = 1_000
    other.talk.clock.advance(timedelta(days=300).total_seconds())
    other.reply("чай", facts=[{"source": "Петров", "relation": "LIKES", "target": "чай", "fact": "Любит чай",
                               "evidence": [1]}])  # fmt: skip
    await other.said("Он любит чай")
    assert "Любит чай" in {one.fact for one in await other.facts()}


async def owed(stage: ErasingStage) -> None:
    """A daily task that was told of once and waits to be delivered, one proposed, two snapshots, two teams."""
    await stage.talk.exchange("Напоминай мне пить чай")
    now = stage.talk.clock.now()
    [first, *_] = await stage.talk.messages()

    def given(connection: Connection) -> None:
        teller = tasking.by_owner(OWNER, now, time(9))
        daily = Schedule(now, recurrence="FREQ=DAILY", tz="Europe/Kyiv")
        told = tasking.NewTask("Пить чай", daily, message_id=first.id)
        told_of = tasking.open_task(connection, OWNER, told, teller)
        tasking.open_task(connection, OWNER, tasking.NewTask("Позвонить", Schedule(), proposed=True), teller)
        assert told_of.next_at is not None
        thought = Snapshot(now=(SnapshotItem("Пьёт чай", now, (first.id,)),))
        snapshots.add(connection, OWNER, thought, now=now)
        snapshots.add(connection, OWNER, Snapshot(), now=now)
        snapshots.restore(connection, OWNER, 1, now)
        teaming.create(connection, OWNER, "Семья", now)
        theirs = teaming.create(connection, OTHER, "Работа", now)
        teaming.invite(connection, OTHER, theirs.id, str(OWNER), now)

    await stage.talk.write(given)
    stage.talk.clock.advance(timedelta(days=1).total_seconds())
    assert await ReminderScheduler(stage.talk.database, stage.talk.clock, "09:00").fire_due() == 1


async def test_who_is_met_afterwards_gets_a_number_of_his_own(stage: ErasingStage, elsewhere: Database) -> None:
    """The numbers of people that came with an export are not given again."""
    await lived(stage)
    exported = await document(stage)
    await elsewhere.write(lambda c: read_back(c, exported, user_id=OWNER))
    came = [row["id"] for row in exported["tables"]["people"]]
    now, stranger = stage.talk.clock.now(), TelegramAccount(501, "Tom")
    met = await elsewhere.write(lambda c: people_service.from_metadata(c, OWNER, stranger, seen_at=now, now=now))
    assert met.id > max(came)


async def test_what_is_owed_is_read_back(stage: ErasingStage, elsewhere: Database) -> None:
    """Tasks and when they were told of, what waits to be told, snapshots and teams go on there as they stood here."""
    await owed(stage)
    exported = await document(stage)
    done = await elsewhere.write(lambda c: read_back(c, exported, user_id=OWNER))
    names = ("tasks", "task_firings", "notifications", "context_snapshots", "team_members", "team_invitations")
    assert [done.rows[name] for name in names] == [2, 1, 1, 3, 1, 1]
    assert await elsewhere.read(lambda c: owner_hashes(c, OWNER)) == await stage.talk.read(
        lambda c: owner_hashes(c, OWNER)
    )

    def told(connection: Connection) -> Any:
        [daily] = [one for one in tasks.pending(connection, OWNER) if one.recurrence]
        waiting = Subscription("context_manager", EventTopic.NOTIFICATION, OWNER).waiting(connection)
        return (
            tasks.pending(connection, OWNER),
            firings(connection, OWNER, daily.id),
            kept_state.get(connection, kept_state.agent_id(tasking.AGENT, OWNER), tasking.PENDING),
            notifications.due(connection, OWNER, stage.talk.clock.now()),
            [delivery.event.id for delivery in waiting],
            snapshots.listing(connection, OWNER),
            [(team.id, team.name) for team in teams.teams_of(connection, OWNER)],
            teams.pending(connection, OWNER),
        )

    assert await elsewhere.read(told) == await stage.talk.read(told)
    assert await ReminderScheduler(elsewhere, stage.talk.clock, "09:00").fire_due() == 0
    stage.talk.clock.advance(timedelta(days=1).total_seconds())
    assert await ReminderScheduler(elsewhere, stage.talk.clock, "09:00").fire_due() == 1


async def test_reading_back_twice_changes_nothing(stage: ErasingStage, elsewhere: Database) -> None:
    """The second time it is known; also after the owner has gone on."""
    await lived(stage)
    exported = await document(stage)
    await elsewhere.write(lambda c: read_back(c, exported, user_id=OWNER))
    before = await elsewhere.read(lambda c: owner_hashes(c, OWNER))
    assert await elsewhere.write(lambda c: read_back(c, exported, user_id=OWNER)) == ReadExport(OWNER, {}, known=True)
    assert await elsewhere.read(lambda c: owner_hashes(c, OWNER)) == before


async def test_what_was_forgotten_since_is_not_brought_back(stage: ErasingStage) -> None:
    """An old export over a memory from which something was erased is refused."""
    await lived(stage)
    exported = await document(stage)
    (first, *_) = await stage.talk.messages()
    await stage.forget("message", first.id)
    with pytest.raises(Conflict):
        await stage.talk.write(lambda c: read_back(c, exported, user_id=OWNER))


async def test_who_was_only_just_admitted_keeps_his_admission(stage: ErasingStage, elsewhere: Database) -> None:
    """His role here stays, his words, zone and counters are those of the export."""
    await lived(stage)
    await stage.talk.write(lambda c: c.execute(update(users).where(users.c.user_id == OWNER).values(role="owner")))
    exported = await document(stage)
    await elsewhere.write(lambda c: add_user(c, OWNER, "uk"))
    await elsewhere.write(lambda c: read_back(c, exported, user_id=OWNER))
    row = await elsewhere.read(lambda c: c.execute(select(users).where(users.c.user_id == OWNER)).one())
    assert (row.role, row.lang) == ("member", "en")
    assert await elsewhere.read(lambda c: owner_hashes(c, OWNER)) == await stage.talk.read(
        lambda c: owner_hashes(c, OWNER)
    )


@pytest.mark.parametrize(("there", "role"), [(True, "member"), (False, "owner")])
async def test_an_instance_has_one_owner(stage: ErasingStage, elsewhere: Database, there: bool, role: str) -> None:
    """Whoever ran the bot elsewhere is a member where somebody runs it already."""
    await stage.talk.exchange("Привет")
    await stage.talk.write(lambda c: c.execute(update(users).values(role="owner")))
    exported = await document(stage)
    if there:
        await elsewhere.write(lambda c: (add_user(c, OTHER), c.execute(update(users).values(role="owner"))))
    await elsewhere.write(lambda c: read_back(c, exported, user_id=OWNER))
    assert await elsewhere.read(
        lambda c: c.execute(select(users.c.role).where(users.c.user_id == OWNER)).scalar_one()
    ) == role  # fmt: skip


async def test_what_is_on_its_way_is_not_sent_twice(stage: ErasingStage, elsewhere: Database) -> None:
    """Open turns and messages that are owed stay with the instance that owes them."""
    turn = await stage.talk.ask("Привет")
    await stage.talk.flow().answer(turn)
    await stage.talk.ask("И ещё")
    exported = await document(stage)
    assert {"outbox", "turns"} <= exported["tables"].keys()
    await elsewhere.write(lambda c: read_back(c, exported, user_id=OWNER))
    assert await elsewhere.read(lambda c: c.execute(select(outbox)).all()) == []
    assert [row.state for row in await elsewhere.read(lambda c: c.execute(select(turns)).all())] == ["answered"]
    assert len(await elsewhere.read(lambda c: c.execute(select(messages)).all())) == 3


async def test_ids_of_somebody_else_are_not_taken(stage: ErasingStage, elsewhere: Database) -> None:
    """Person 1 is somebody else's here: nothing at all is stored, and it is said which table stands in the way."""
    await lived(stage)
    exported = await document(stage)

    def another(connection: Connection) -> None:
        add_user(connection, OTHER)
        told = copy.deepcopy(exported)
        rows = {name: told["tables"][name] for name in ("people",)}
        for row in rows["people"]:
            row["user_id"] = OTHER
        owner_export.put_rows(connection, owner_export.decoded(OTHER, rows))

    await elsewhere.write(another)
    with pytest.raises(Refused, match="people"):
        await elsewhere.write(lambda c: read_back(c, exported, user_id=OWNER))
    assert await elsewhere.read(lambda c: c.execute(select(users.c.user_id)).scalars().all()) == [OTHER]


async def test_exports_of_earlier_versions_are_read(stage: ErasingStage, elsewhere: Database) -> None:
    """They said in columns of their own what is hidden, and had no rows about messages: what waits is hidden still."""
    await lived(stage)
    [said, *_] = [one for one in await stage.talk.messages() if one.role == "user"]
    now = stage.talk.clock.now()
    await stage.talk.write(lambda c: requests.ask(c, OWNER, "message", said.id, now=now))
    exported = await document(stage)
    exported["tables"].pop("hidings")
    for table in ("people", "graph_nodes", "graph_edges"):
        for row in exported["tables"][table]:
            row["hidden_until"] = now.isoformat()
    await elsewhere.write(lambda c: read_back(c, exported, user_id=OWNER))
    assert said.id in await elsewhere.read(lambda c: messages_to_forget(c, OWNER))
    assert len(await elsewhere.read(lambda c: people.listing(c, OWNER))) > 0


def _first(told: Any) -> Any:
    return told["tables"]["messages"][0]


BREAKING: dict[str, Callable[[Any], object]] = {
    "format": lambda told: told.update(format="laplaced-export/1"),
    "owner": lambda told: told.update(user_id=OTHER),
    "tables": lambda told: told.update(tables=[]),
    "row": lambda told: told["tables"].update(messages=["x"]),
    "rows": lambda told: told["tables"].update(messages={}),
    "table": lambda told: told["tables"].update(spells=[]),
    "column": lambda told: _first(told).update(colour="red"),
    "missing": lambda told: _first(told).pop("content"),
    "null": lambda told: _first(told).update(content=None),
    "type": lambda told: _first(told).update(seq="one"),
    "bool": lambda told: _first(told).update(seq=True),
    "time": lambda told: _first(told).update(timestamp="2026-01-01T00:00:00"),
    "stranger": lambda told: _first(told).update(user_id=OTHER),
    "nobody": lambda told: told["tables"].pop("users"),
    "twice": lambda told: told["tables"]["messages"].append(dict(_first(told), seq=99)),
}


@pytest.mark.parametrize("change", BREAKING)
async def test_what_is_no_export_of_his_is_refused_whole(stage: ErasingStage, elsewhere: Database, change: str) -> None:
    """With the place that is wrong, and without a row of it stored."""
    await stage.talk.exchange("Привет")
    broken = await document(stage)
    BREAKING[change](broken)
    with pytest.raises(Refused):
        await elsewhere.write(lambda c: read_back(c, broken, user_id=OWNER))
    assert await elsewhere.read(lambda c: c.execute(select(users)).all()) == []


async def test_an_export_of_before_a_column_is_read_with_its_default(stage: ErasingStage, elsewhere: Database) -> None:
    """A nullable column, or one with a default, may be missing."""
    await stage.talk.exchange("Привет")
    exported = await document(stage)
    for row in exported["tables"]["messages"]:
        del row["forward"]
    for row in exported["tables"]["users"]:
        del row["tz_asked"]
    await elsewhere.write(lambda c: read_back(c, exported, user_id=OWNER))
    assert len(await elsewhere.read(lambda c: c.execute(select(messages)).all())) == 2


async def test_everything_forgotten_can_be_read_back(stage: ErasingStage) -> None:
    """Whoever kept his export has his memory again, in the same store."""
    await lived(stage)
    await stage.talk.write(lambda c: c.execute(delete(outbox)))
    before = await stage.talk.read(lambda c: owner_hashes(c, OWNER))
    exported = await document(stage)
    await stage.forget("everything", None)
    await stage.talk.write(lambda c: read_back(c, exported, user_id=OWNER))
    after = await stage.talk.read(lambda c: owner_hashes(c, OWNER))
    assert {name for name in before if before[name] != after[name]} == {"forgettings"}
    assert stage.talk.clock.now() > FIRST_MOMENT
