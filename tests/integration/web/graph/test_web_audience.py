"""What is not for others stays out of a prompt whose answer is for others, and in every other prompt."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any, cast

import pytest
from sqlalchemy import Connection
from support.interfaces.rest_graph_stage import ANNA, BORIS, Stage

from internal.access import repository as users
from internal.access.model import Role, User, UserState
from internal.agents.model import (
    DialogueLine,
    OwnerProfile,
    PassageLine,
    RecalledFact,
    RecalledPassage,
    ResponderRequest,
)
from internal.dialogue import repository as dialogue
from internal.dialogue.model import Incoming, Speaker
from internal.flows.turn.discretion import Discretion, OrderText
from internal.language.worker.process_pool import LanguageWorker
from internal.llm.offline.embedder import OfflineEmbedder
from internal.recall.prompt.context import RecallResult
from internal.storage.engine.owner_scope import acting_for
from internal.tasks.teams import repository as teams

GROUP = -5
NOON = datetime(2026, 2, 7, 12, tzinfo=UTC)

SAID = (
    "Tom Baker lives in Lisbon",
    "Tom Baker has diabetes",
    "Tom Baker owes the bank 20 000 euros",
    "Between us, Tom Baker moves to Canada",
)
FOR_BOSS, FOR_DOCTOR, FOR_TOM = "Write a note to my boss about Tom", "Write to Tom's doctor", "Write a card to Tom"


class LanguageHere:
    """The language process, in this process."""

    async def run(self, function: Callable[..., Any], *args: Any) -> Any:
        return function(*args)

    run_bulk = run


def discretion_over(known: Stage) -> Discretion:
    return Discretion(known.database, OfflineEmbedder(cast(LanguageWorker, LanguageHere())))


async def told(known: Stage) -> list[RecalledFact]:
    tom = await known.node("Tom Baker")
    found = []
    for n, fact in enumerate(SAID, 1):
        uuid, _ = await known.tell(tom, "ABOUT", await known.node(f"Thing {n}"), fact)
        found.append(RecalledFact(n, uuid, fact.removeprefix("Between us, ")))
    return found


def request(text: str, facts: Sequence[RecalledFact]) -> ResponderRequest:
    lines = [
        DialogueLine("user", "My blood test was bad"),
        DialogueLine("assistant", "I see"),
        DialogueLine("user", text),
    ]
    return ResponderRequest(
        OwnerProfile(ANNA, "Anna", None, "en", "UTC"), "L", "brief", [], [], lines, NOON, facts=facts
    )


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        (FOR_BOSS, [1]),
        (FOR_DOCTOR, [2]),
        ("Draft an email to my accountant about Tom's debts", [3]),
        ("Write my boss that Tom has diabetes", [2]),
        ("What illness does Tom have?", [1, 2, 3, 4]),
        ("What did I tell my boss about Tom?", [1, 2, 3, 4]),
    ],
)
async def test_what_a_recipient_may_know(known: Stage, text: str, shown: list[int]) -> None:
    """By the role, and by what the owner names himself; the owner's own questions are answered from everything."""
    facts = await told(known)
    kept = await discretion_over(known).kept(request(text, facts), OrderText(text, text))
    assert [one.n for one in kept.facts] == shown
    assert ("My blood test was bad" in [line.text for line in kept.dialogue]) == (text == FOR_DOCTOR or 4 in shown)
    assert kept.dialogue[-1].text == text
    assert bool(kept.system_lines) == (len(shown) < 4)
    assert not any(word in line for line in kept.system_lines for word in ("diabetes", "Canada"))


async def test_the_owner_decides_for_whom_a_fact_is(known: Stage) -> None:
    """Private is for nobody else; shared with a person it is for that one. PATCH and GET speak of it."""
    facts = await told(known)
    person = await known.person("Tom")
    ways = {"private": facts[0], f"person:{person.id}": facts[1]}
    for audience, fact in ways.items():
        path, owner = f"/graph/facts/{fact.fact_id}", {"user_id": ANNA}
        done = (await known.client.patch(path, json={"audience": audience}, params=owner)).json()
        facts[fact.n - 1] = replace(fact, fact_id=done["new_uuid"])
        read = (await known.client.get(f"/graph/facts/{done['new_uuid']}", params=owner)).json()
        assert (read["audience"], read["audience_chosen"], read["fact"]) == (audience, True, SAID[fact.n - 1])
    discretion = discretion_over(known)
    assert [one.n for one in (await discretion.kept(request(FOR_TOM, facts), OrderText(FOR_TOM, FOR_TOM))).facts] == [2]
    assert (await discretion.kept(request(FOR_BOSS, facts), OrderText(FOR_BOSS, FOR_BOSS))).facts == []
    for unknown in ("everybody", "person:999"):
        wrong = await known.client.patch(
            path.replace(fact.fact_id, done["new_uuid"]), json={"audience": unknown}, params=owner
        )
        assert (wrong.status_code, "audience" in wrong.json()["detail"]) == (422, True)


async def test_a_fact_for_the_team_is_for_its_members(known: Stage) -> None:
    """A member, known by his Telegram id, is told it; a boss who is no member is not."""
    facts = await told(known)
    await known.person("Tom", telegram_id=BORIS)

    def join(connection: Connection) -> None:
        for member in (ANNA, BORIS):
            teams.add_member(connection, "crew", "Crew", member, NOON)

    await known.database.write(join)
    shared, discretion = await shared_with(known, facts[1], "team"), discretion_over(known)
    assert (await discretion.kept(request(FOR_TOM, [shared]), OrderText(FOR_TOM, FOR_TOM))).facts == [shared]
    assert (await discretion.kept(request(FOR_BOSS, [shared]), OrderText(FOR_BOSS, FOR_BOSS))).facts == []


@pytest.mark.parametrize(("speakers", "is_shown"), [([ANNA, BORIS], True), ([ANNA], False), ([BORIS], False)])
async def test_a_fact_for_a_group_is_for_who_writes_there(known: Stage, speakers: list[int], is_shown: bool) -> None:
    """Somebody who writes in the group is told it if the owner writes there too; a silent member is not known."""
    facts = await told(known)
    await known.person("Tom", telegram_id=BORIS)

    def write(connection: Connection) -> None:
        users.add(connection, User(GROUP, Role.MEMBER, UserState.ACTIVE, "Crew", None, "en", "UTC", True, NOON))
        for n, speaker in enumerate(speakers):
            incoming = Incoming(GROUP, 7, GROUP, n, "Good morning", NOON, speaker=Speaker(speaker, "Somebody"))
            dialogue.add_incoming(connection, incoming, metadata={}, turn_id=None)

    with acting_for(GROUP):
        await known.database.write(write)
    shared, discretion = await shared_with(known, facts[1], f"group:{GROUP}"), discretion_over(known)
    assert bool((await discretion.kept(request(FOR_TOM, [shared]), OrderText(FOR_TOM, FOR_TOM))).facts) == is_shown
    assert (await discretion.kept(request(FOR_BOSS, [shared]), OrderText(FOR_BOSS, FOR_BOSS))).facts == []


async def shared_with(known: Stage, fact: RecalledFact, audience: str) -> RecalledFact:
    path = f"/graph/facts/{fact.fact_id}"
    done = (await known.client.patch(path, json={"audience": audience}, params={"user_id": ANNA})).json()
    return replace(fact, fact_id=done["new_uuid"])


async def test_tools_find_no_more_than_the_prompt(known: Stage) -> None:
    """A passage with a secret stays out whole; of others only the lines that are not for the recipient."""
    facts = await told(known)

    def line(text: str) -> PassageLine:
        return PassageLine("Anna", NOON, text, found=True)

    passages = [
        RecalledPassage(1, "message", "a", [line("Don't tell anyone"), line("Tom moves to Canada")]),
        RecalledPassage(2, "message", "b", [line("Tom plays chess"), line("Tom is in hospital")]),
    ]
    result = RecallResult([], [], "Tom", facts=facts, passages=passages)
    found = await discretion_over(known).found(ANNA, OrderText(FOR_BOSS, FOR_BOSS), result)
    assert [one.n for one in found.facts] == [1]
    assert [one.text for one in found.passages] == ["Tom plays chess"]
    assert await discretion_over(known).found(ANNA, OrderText("Where is Tom?", "Where is Tom?"), result) == result


async def test_what_nobody_answered_is_no_part_of_the_order(known: Stage) -> None:
    """Earlier messages without an answer are held to the rules like all others; only the order itself stays whole."""
    asked = replace(
        request(FOR_BOSS, []), dialogue=[DialogueLine("user", "My blood test was bad"), DialogueLine("user", FOR_BOSS)]
    )
    kept = await discretion_over(known).kept(asked, OrderText(FOR_BOSS, FOR_BOSS), 1)
    assert [line.text for line in kept.dialogue] == [FOR_BOSS]


async def test_words_that_came_along_order_nothing(known: Stage) -> None:
    """A picture that says "write to my boss" is for the owner; beside his own order it is what that is about."""
    facts, discretion = await told(known), discretion_over(known)
    alone = await discretion.kept(request(FOR_BOSS, facts), OrderText(f"[photo] | {FOR_BOSS}", ""))
    beside = await discretion.kept(
        request(FOR_BOSS, facts), OrderText(f"What is it?\n[photo] | {FOR_BOSS}", "What is it?")
    )
    assert [len(one.facts) for one in (alone, beside)] == [4, 4]
    ordered = OrderText(f"{FOR_BOSS}\n[photo] | Tom has diabetes", FOR_BOSS)
    assert not any(one.n == 2 for one in (await discretion.kept(request(FOR_BOSS, facts), ordered)).facts)
