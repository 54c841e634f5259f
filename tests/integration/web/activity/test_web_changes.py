"""What changed within a week, and taking each kind of change back."""

from __future__ import annotations

from datetime import time, timedelta

import pytest
from support.interfaces.rest_graph_stage import ANNA, BORIS, Stage

from internal.events import repository as events
from internal.flows.correcting.changes import ChangeKind
from internal.flows.forgetting import requests
from internal.flows.merging import people as merging_people
from internal.flows.tasks import actions
from internal.graph import store
from internal.tasks import service as tasks
from internal.tasks.model import Schedule


async def changes(known: Stage, user_id: int = ANNA, **query: int) -> list[dict[str, str]]:
    answer = await known.client.get("/changes", params={"user_id": user_id, **query})
    assert answer.status_code == 200
    found: list[dict[str, str]] = answer.json()["changes"]
    return found


async def undo(known: Stage, change: dict[str, str], user_id: int = ANNA) -> int:
    answer = await known.client.post(f"/changes/{change['id']}/undo", params={"user_id": user_id})
    return answer.status_code


async def test_a_fact_that_was_learned_is_taken_back(known: Stage) -> None:
    """It expires, stays in the history, and is not listed any more; nobody else can take it back."""
    mira, lisbon = await known.node("Mira"), await known.node("Lisbon")
    uuid, _ = await known.tell(mira, "LIVES_IN", lisbon, "Mira lives in Lisbon")
    [learned] = await changes(known)
    assert (learned["kind"], learned["text"], learned["by_owner"]) == ("fact_learned", "Mira lives in Lisbon", False)
    assert await changes(known, BORIS) == []
    assert await undo(known, learned, BORIS) == 404
    assert await undo(known, learned) == 200
    assert await changes(known) == []
    assert await undo(known, learned) == 404
    kept = (await known.client.get(f"/graph/facts/{uuid}", params={"user_id": ANNA})).json()
    assert kept["expired_at"] is not None


async def test_a_newer_state_is_reopened_with_the_one_before(known: Stage) -> None:
    """Facts follow from what was said: without the move, the home before it holds again."""
    mira, lisbon, porto = [await known.node(name) for name in ("Mira", "Lisbon", "Porto")]
    await known.tell(mira, "LIVES_IN", lisbon, "Mira lives in Lisbon", "2026-01-01")
    await known.tell(mira, "LIVES_IN", porto, "Mira lives in Porto", "2026-02-01")
    [newest, _] = await changes(known)
    assert newest["text"] == "Mira lives in Porto"
    assert await undo(known, newest) == 200
    [held] = (await known.client.get("/graph/facts", params={"user_id": ANNA})).json()["facts"]
    assert (held["fact"], held["invalid_at"]) == ("Mira lives in Lisbon", None)


async def test_a_correction_is_taken_back(known: Stage) -> None:
    """The words before it hold again; what is then on top can be taken back too."""
    mira, lisbon = await known.node("Mira"), await known.node("Lisbon")
    uuid, _ = await known.tell(mira, "LIKES", lisbon, "Mira likes Lisbon")
    said = {"fact": "Mira loves Lisbon"}
    assert (await known.client.patch(f"/graph/facts/{uuid}", json=said, params={"user_id": ANNA})).status_code == 200
    corrected = (await changes(known))[0]
    assert (corrected["kind"], corrected["by_owner"]) == ("fact_corrected", True)
    assert await undo(known, corrected) == 200
    [held] = (await known.client.get("/graph/facts", params={"user_id": ANNA})).json()["facts"]
    assert held["fact"] == "Mira likes Lisbon"


async def test_a_fact_that_was_ended_holds_again(known: Stage) -> None:
    """What was said of its end goes, and it stays as it was learned; a fact that gave way is no change of its own."""
    mira, june = await known.node("Mira"), await known.node("June 5")
    await known.tell(mira, "WEDDING_ON", june, "Mira: wedding, June 5")
    await known.tell(mira, "WEDDING_ON", june, "Mira: wedding, June 5", until="2026-02-07")
    [ended, learned] = await changes(known)
    assert [(one["kind"], one["text"]) for one in (ended, learned)] == [
        ("fact_ended", "Mira: wedding, June 5"),
        ("fact_learned", "Mira: wedding, June 5"),
    ]
    assert await undo(known, ended, BORIS) == 404
    assert await undo(known, ended) == 200
    [held] = (await known.client.get("/graph/facts", params={"user_id": ANNA})).json()["facts"]
    assert (held["fact"], held["invalid_at"]) == ("Mira: wedding, June 5", None)
    assert await changes(known) == [learned]
    assert await undo(known, ended) == 404


async def test_merged_people_part_again(known: Stage) -> None:
    """The merge is gone from the list and both people are there."""
    one, other = await known.person("Anna Petrova"), await known.person("Anya")
    now = known.clock.now()
    await known.database.write(lambda c: merging_people.merge(c, ANNA, other.id, one.id, now=now))
    [merged] = await changes(known)
    assert (merged["kind"], merged["text"]) == ("people_merged", "Anna Petrova")
    assert await undo(known, merged) == 200
    assert len((await known.client.get("/people", params={"user_id": ANNA})).json()["people"]) == 2
    assert await changes(known) == []


async def test_a_task_goes_back_and_forth(known: Stage) -> None:
    """Of a task only the newest change can be taken back."""
    author = tasks.by_owner(ANNA, known.clock.now(), time(9))
    new = tasks.NewTask("Call mum", Schedule(None))
    task = await known.database.write(lambda c: tasks.open_task(c, ANNA, new, author))
    await known.database.write(lambda c: actions.mark_done(c, ANNA, task.id, author))
    [closed] = await changes(known)
    assert (closed["kind"], closed["text"]) == ("task_closed", "Call mum")
    assert await undo(known, closed) == 200
    [opened] = await changes(known)
    assert opened["kind"] == "task_opened"
    assert await undo(known, opened) == 200
    [closed] = await changes(known)
    assert closed["kind"] == "task_closed"


async def test_a_forgetting_is_called_off_in_time(known: Stage) -> None:
    """While it can be undone it is a change like others; its words are not shown."""
    person = await known.person("Viktor")
    now = known.clock.now()
    await known.database.write(lambda c: requests.ask_forget(c, ANNA, person.id, now=now))
    [asked] = await changes(known)
    assert (asked["kind"], asked["text"]) == ("forgetting", "person")
    assert await undo(known, asked) == 200
    assert await changes(known) == []
    assert (await known.client.get(f"/people/{person.id}", params={"user_id": ANNA})).status_code == 200


async def test_a_task_that_only_names_the_person_goes_along(known: Stage) -> None:
    """Opened before the person was known: it is out of sight with the rest, comes back with the undo, or is erased.

    So is one that names the person in the other alphabet, as the search finds it.
    """
    author = tasks.by_owner(ANNA, known.clock.now(), time(9))
    titles = ("Костя: прислать фотки", "Ask Kostya's sister", "Call the plumber")
    news = [tasks.NewTask(title, Schedule(None)) for title in titles]
    await known.database.write(lambda c: [tasks.open_task(c, ANNA, new, author) for new in news])
    person = await known.person("Костя")
    now = known.clock.now()
    await known.database.write(lambda c: requests.ask_forget(c, ANNA, person.id, now=now))
    shown = [one["text"] for one in await changes(known)]
    assert shown == ["person", "Call the plumber"]
    assert await undo(known, (await changes(known))[0]) == 200
    assert len((await known.client.get("/tasks", params={"user_id": ANNA})).json()["tasks"]) == 3
    assert (await known.client.delete(f"/people/{person.id}", params={"user_id": ANNA})).status_code == 204
    left = (await known.client.get("/tasks", params={"user_id": ANNA})).json()["tasks"]
    assert [one["title"] for one in left] == ["Call the plumber"]


async def test_the_same_words_are_one_change(known: Stage) -> None:
    """Of a sentence that holds two facts; both are taken back with it."""
    mira = await known.node("Mira")
    words = "Mira lives in Riga and works at Bosch"
    targets = [await known.node("Riga"), await known.node("Bosch")]
    ids = [(await known.tell(mira, "ABOUT", target, words))[0] for target in targets]
    now = known.clock.now()
    await known.database.write(
        lambda c: events.append(
            c, "fact_created", source="agent:Archivist", now=now, user_id=ANNA, payload={"ids": ids}
        )
    )
    [both] = await changes(known)
    assert await undo(known, both) == 200
    assert (await known.client.get("/graph/facts", params={"user_id": ANNA})).json()["facts"] == []


async def test_what_goes_along_with_memories_is_no_change_of_its_own(known: Stage) -> None:
    """The source and the day of a memory are not listed; the memory is."""
    now = known.clock.now()
    nodes = (
        ("Source", {"reference": "episode:1", "type": "conversation"}),
        ("TemporalMarker", {"description": "June 5 (2026-06-05)", "type": "point"}),
        ("Goal", {"description": "Learn to sail"}),
    )
    for kind, properties in nodes:
        node = await known.database.write(lambda c, k=kind, p=properties: store.add_node(c, ANNA, k, p, now=now))
        await known.database.write(
            lambda c, id=node.id: events.append(
                c, "memory_created", source="agent:Archivist", now=now, user_id=ANNA, payload={"ids": [id]}
            )
        )
    assert [one["text"] for one in await changes(known)] == ["Learn to sail"]


async def test_pages_and_a_week(known: Stage) -> None:
    """Newest first, in pages; what is older than a week is neither listed nor taken back."""
    mira = await known.node("Mira")
    for number in range(5):
        await known.tell(mira, "LIKES", await known.node(f"Book {number}"), f"Mira likes book {number}")
    listed = await changes(known)
    assert [one["text"][-1] for one in listed] == ["4", "3", "2", "1", "0"]
    assert await changes(known, limit=2, offset=3) == listed[3:]
    known.clock.advance(timedelta(days=8))
    assert await changes(known) == []
    assert await undo(known, listed[0]) == 404


@pytest.mark.parametrize("change_id", ["", ".", "x.0", "01a20aae.99999999999999999999", "%00"])
async def test_an_unknown_change_is_not_found(known: Stage, change_id: str) -> None:
    """Whatever stands in its place."""
    answer = await known.client.post(f"/changes/{change_id}/undo", params={"user_id": ANNA})
    assert answer.status_code in {404, 405, 422}


def test_each_kind_has_its_words() -> None:
    """Every kind of change is named in the chat."""
    from bot.telegram.i18n import label
    from internal.access.model import LANGUAGES

    assert all(label(lang, f"undo-{kind.value}", what="x") for lang in LANGUAGES for kind in ChangeKind)
