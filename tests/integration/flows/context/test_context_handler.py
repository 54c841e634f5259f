"""The snapshot of an owner: brought up to date by fragments, in every prompt, in versions, and gone with its words."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any

import pytest
from support.flows.erase_stage import ErasingStage, LanguageHere, Nobody
from support.flows.flow_stage import OWNER, Talk
from support.stores.stored_values import agent_value

from internal.agents.context_manager.offline import OfflineContextManager
from internal.agents.model import AgentReply, ContextManager, ContextRequest, WeighingRequest
from internal.config.settings import RunsConfig
from internal.dialogue.model import ForwardOrigin
from internal.dialogue.snapshots import repository as snapshots
from internal.dialogue.snapshots.model import Snapshot
from internal.errors import NotFound
from internal.flows.context.handler import ContextHandler
from internal.flows.forgetting import requests
from internal.flows.runs.loop import RunLoop
from internal.flows.visibility.snapshot import restored, shown_snapshot
from internal.llm.model import Usage
from internal.people import repository as people
from internal.people.model import Circle, Person
from internal.scheduling import run_repository as runs
from internal.storage.types import new_id
from internal.testing import FIRST_MOMENT

Told = dict[str, Sequence[dict[str, Any]]]


class Scripted:
    """A ContextManager that tells what the test wants of each slice; called with the request first."""

    def __init__(self) -> None:
        self.script: list[Told | Callable[[ContextRequest], Told]] = []
        self.asked: list[ContextRequest] = []

    async def update(self, request: ContextRequest) -> AgentReply:
        self.asked.append(request)
        told = self.script.pop(0)
        told = told(request) if callable(told) else told
        return AgentReply(json.dumps({"snapshot": told}, ensure_ascii=False), "scripted", Usage(10, 5))

    async def weigh(self, request: WeighingRequest) -> AgentReply:
        raise NotImplementedError


def item(text: str, *evidence: int, goes_on: Sequence[int] = ()) -> dict[str, Any]:
    return {"text": text, "evidence": list(evidence), "from": list(goes_on)}


class Stage(ErasingStage):
    """Dialogues that a context manager reads."""

    def __init__(self, talk: Talk, manager: ContextManager | None = None) -> None:
        super().__init__(talk)
        self.manager = Scripted()
        self.watcher = Nobody()
        handler = ContextHandler(
            talk.database, manager or self.manager, self.watcher, persona_name="Laplaced", wake=lambda: None
        )
        self.runs = RunLoop(talk.database, talk.clock, [handler], RunsConfig(), Nobody(), 0.0, lambda *owed: None)

    async def said(self, *texts: str, **more: Any) -> str:
        for text in texts:
            await self.talk.exchange(text, **more)
        await self.talk.publication(agents=("context_manager",)).publish_now(OWNER)
        await self.archive()
        return (await self.talk.messages())[-1].episode_id or ""

    async def shown(self) -> Snapshot:
        return await self.talk.read(lambda c: shown_snapshot(c, OWNER))

    async def texts(self) -> list[str]:
        return [one.text for one in (await self.shown()).items]

    async def message(self, text: str) -> str:
        return next(one.id for one in await self.talk.messages() if one.content == text)


@pytest.fixture
async def stage(talk: Talk) -> Stage:
    return Stage(talk)


async def test_each_fragment_goes_on_from_the_last_snapshot(stage: Stage) -> None:
    """A version a fragment, the latest in the agent's state with its cursor, and in the next prompt."""
    stage.manager.script = [
        {"who": [item("Works at ACME", 1)], "now": [], "threads": [item("Looks for a flat", 1)]},
        {"who": [item("Works at ACME", goes_on=[1])], "now": [item("Has found a flat", 1, goes_on=[2])], "threads": []},
    ]
    await stage.said("I work at ACME and look for a flat")
    episode_id = await stage.said("Found one!")
    assert [[one.text for one in asked.snapshot.items] for asked in stage.manager.asked] == [
        [],
        ["Works at ACME", "Looks for a flat"],
    ]
    assert await stage.texts() == ["Works at ACME", "Has found a flat"]
    first, second = await stage.message("I work at ACME and look for a flat"), await stage.message("Found one!")
    assert [one.sources for one in (await stage.shown()).items] == [(first,), (first, second)]
    versions = await stage.talk.read(lambda c: snapshots.listing(c, OWNER))
    assert [one.version for one in versions] == [2, 1]
    kept = await stage.talk.read(lambda c: agent_value(c, "context_manager:user_1", "context_snapshot"))
    cursor = await stage.talk.read(lambda c: agent_value(c, "context_manager:user_1", "cursor"))
    assert kept is not None
    assert cursor is not None
    assert (kept["version"], cursor["fragment"]) == (2, episode_id)
    [_, result] = [one for one in await stage.talk.events("agent_result") if one.source == "agent:ContextManager"]
    assert (result.payload["version"], result.payload["by"]) == (2, "model")
    await stage.talk.exchange("Hi")
    assert stage.talk.responder.asked[-1].snapshot == await stage.shown()


async def test_nothing_said_by_the_owner_asks_nobody(stage: Stage) -> None:
    """A slice of a forward alone costs no call and makes no version."""
    await stage.said("Listen to this", forward=ForwardOrigin("hidden_user", "Bob"))
    assert stage.manager.asked == []
    assert await stage.talk.read(lambda c: snapshots.count(c, OWNER)) == 0


async def test_a_snapshot_that_changed_meanwhile_is_asked_for_anew(stage: Stage) -> None:
    """What was restored while the model read is not overwritten by what it made of the older one."""
    stage.manager.script = [{"who": [item("One", 1)], "now": [], "threads": []}]
    await stage.said("First")
    second: Told = {"who": [item("Two", 1)], "now": [], "threads": []}
    stage.manager.script = [second]
    await stage.said("Second")
    third: Told = {"who": [item("Three", 1)], "now": [], "threads": []}

    async def between() -> None:
        await stage.talk.write(lambda c: restored(c, OWNER, 1, FIRST_MOMENT))

    ask = stage.manager.update

    async def update(request: ContextRequest) -> AgentReply:
        if len(stage.manager.asked) == 2:
            await between()
        return await ask(request)

    stage.manager.update = update  # type: ignore[method-assign]
    stage.manager.script = [third, third]
    await stage.said("Third")
    assert [one.text for one in stage.manager.asked[-1].snapshot.items] == ["One"]
    assert await stage.texts() == ["Three"]


async def test_an_earlier_version_comes_back_as_a_new_one(stage: Stage) -> None:
    """It names the version that it repeats; one that is not there cannot be restored."""
    stage.manager.script = [
        {"who": [item("One", 1)], "now": [], "threads": []},
        {"who": [item("Two", 1)], "now": [], "threads": []},
    ]
    await stage.said("First")
    await stage.said("Second")
    again = await stage.talk.write(lambda c: restored(c, OWNER, 1, FIRST_MOMENT))
    assert (again.version, again.restored_from) == (3, 1)
    assert await stage.texts() == ["One"]
    with pytest.raises(NotFound):
        await stage.talk.write(lambda c: restored(c, OWNER, 9, FIRST_MOMENT))


async def test_an_edited_message_is_read_again(stage: Stage) -> None:
    """What rested on it is told again; what was said later stays as it is."""
    stage.manager.script = [
        {"who": [item("Lives in Lviv", 1)], "now": [], "threads": []},
        {"who": [item("Lives in Lviv", goes_on=[1])], "now": [item("Is ill", 1)], "threads": []},
        {"who": [item("Lives in Kyiv", 1)], "now": [], "threads": []},
    ]
    await stage.said("I live in Lviv")
    await stage.said("I am ill")
    message = next(one for one in await stage.talk.messages() if one.content == "I live in Lviv")
    await stage.talk.edit(message, "I live in Kyiv")
    await stage.archive()
    assert [one.text for one in stage.manager.asked[-1].snapshot.items] == []
    assert await stage.texts() == ["Lives in Kyiv", "Is ill"]


async def test_a_forgotten_message_leaves_no_word_in_any_version(stage: Stage) -> None:
    """Told in other words it is out of sight at once, comes back with an undo, and is in no byte after the erasure."""
    stage.manager.script = [
        {"who": [item("Works at ACME", 1)], "now": [item("Breeds zebrafinches", 3)], "threads": []},
        {
            "who": [item("Works at ACME", goes_on=[1])],
            "now": [item("Sells zebrafinches", 1, goes_on=[2])],
            "threads": [],
        },
        {"who": [item("Works at ACME", goes_on=[1])], "now": [], "threads": [item("Zebrafinches? Later", goes_on=[2])]},
    ]
    await stage.talk.exchange("I work at ACME")
    await stage.said("I have small birds")
    await stage.said("I sell them")
    await stage.said("Later")
    birds = await stage.message("I have small birds")
    now = stage.talk.clock.now
    asked = await stage.talk.write(lambda c: requests.ask(c, OWNER, "message", birds, now=now()))
    assert await stage.texts() == ["Works at ACME"]
    await stage.talk.write(lambda c: requests.undo(c, OWNER, asked.id))
    assert await stage.texts() == ["Works at ACME", "Zebrafinches? Later"]
    await stage.forget("message", birds)
    assert await stage.tables_with("zebrafinch") == set()
    assert stage.files_with("zebrafinch") == []
    versions = await stage.talk.read(lambda c: snapshots.listing(c, OWNER))
    assert [[one.text for one in version.snapshot.items] for version in versions] == [["Works at ACME"]] * 3


async def test_a_forgotten_person_is_named_in_no_version(stage: Stage) -> None:
    """By name in any ending, whichever message told of him."""
    stage.manager.script = [
        {"who": [item("Работает в ACME", 1)], "now": [item("Едет с Канарейкиным в горы", 1)], "threads": []},
        {"who": [item("Работает в ACME", goes_on=[1])], "now": [item("Вернулся с гор", 1)], "threads": []},
    ]
    known = Person(0, OWNER, new_id(), "Канарейкин", Circle.FRIENDS, "Друг", FIRST_MOMENT, FIRST_MOMENT)
    person = await stage.talk.write(lambda c: people.create(c, known, by="archivist", now=FIRST_MOMENT))
    await stage.said("Еду в горы")
    await stage.said("Вернулся")
    await stage.forget("person", str(person.id))
    assert await stage.tables_with("канарейкин") == set()
    versions = await stage.talk.read(lambda c: snapshots.listing(c, OWNER))
    assert [[one.text for one in version.snapshot.items] for version in versions] == [
        ["Работает в ACME", "Вернулся с гор"],
        ["Работает в ACME"],
    ]


@pytest.mark.parametrize(
    ("first", "second", "who", "closed"),
    [
        ("Я живу в Киеве. Надо позвонить Марии завтра.", "Позвонил Марии вчера вечером", "Киеве", "Марии"),
        ("Я живу у Львові. Треба купити подарунок мамі.", "Купив подарунок мамі, нарешті", "Львові", "подарунок"),
        ("I live in Oslo. I have to renew the passport.", "The passport is done, finally", "Oslo", "renew"),
    ],
)
async def test_without_a_model_the_owner_is_quoted(talk: Talk, first: str, second: str, who: str, closed: str) -> None:
    """Who he is, what is open and that it is over, in three languages; the snapshot says that rules made it."""
    stage = Stage(talk, OfflineContextManager(LanguageHere()))
    await stage.said(first)
    before = await stage.shown()
    assert (len(before.who), len(before.threads)) == (1, 1)
    assert who in before.who[0].text
    assert closed in before.threads[0].text
    assert before.by_rules
    await stage.said(second)
    after = await stage.shown()
    assert after.who == before.who
    assert after.threads == ()
    assert second in [one.text for one in after.now]
    states = await talk.read(lambda c: {run.state.value for run in runs.of_agent(c, OWNER, "context_manager")})
    assert states == {"applied"}
