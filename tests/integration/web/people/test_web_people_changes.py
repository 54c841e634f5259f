"""What the owner does to people over REST: search, correction, merging and splitting."""

from __future__ import annotations

from typing import Any

import pytest
from sqlalchemy import Connection
from support.interfaces.rest_graph_stage import ANNA, BORIS, EXPECTED, Stage

from internal.dialogue import repository as dialogue
from internal.people.model import Person


@pytest.fixture
async def petrov(known: Stage) -> Person:
    return await known.person("Петров", aliases=("Саша",), username="petrov", bio="Коллега по проекту X.")


@pytest.fixture
async def olena(known: Stage) -> Person:
    return await known.person("Olena", bio="Plays the violin.")


async def patch(stage: Stage, person: Person, **changes: Any) -> Any:
    return await stage.client.patch(f"/people/{person.id}", json=changes)


async def test_what_is_told_is_changed_and_the_rest_stays(known: Stage, petrov: Person) -> None:
    """The answer is the profile as it is then; it is the owner's word from now on."""
    before = (await known.client.get(f"/people/{petrov.id}")).json()
    answer = await patch(known, petrov, circle="family", bio="Брат.")
    assert answer.status_code == 200
    assert answer.json() == before | {"circle": "Family", "bio": "Брат."}
    assert (await known.client.get(f"/people/{petrov.id}")).json() == answer.json()
    assert (await patch(known, petrov)).json() == answer.json()
    assert (await patch(known, petrov, username=None, aliases=["Алекс"])).json()["username"] is None


async def test_a_new_name_keeps_the_old_one_as_an_alias(known: Stage, petrov: Person) -> None:
    """He will be called by it again; facts are told under the new name."""
    acme = await known.node("ACME")
    fact, _ = await known.tell(petrov.entity_id, "WORKS_FOR", acme, "Петров работает в ACME")
    told = (await patch(known, petrov, display_name="Александр Петров")).json()
    assert (told["display_name"], told["aliases"]) == ("Александр Петров", ["Саша", "Петров"])
    node = (await known.client.get(f"/graph/facts/{fact}")).json()["source_node_uuid"]
    assert (await known.client.get(f"/graph/nodes/{node}")).json()["name"] == "Александр Петров"


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"circle": "Enemies"}, "circle"),
        ({"display_name": " "}, "display_name"),
        ({"display_name": "..."}, "display_name"),
        ({"display_name": None}, "display_name"),
        ({"username": "a b"}, "username"),
        ({"aliases": "Саша"}, "aliases"),
        ({"bio": "x" * 100_000}, "bio"),
        ({"telegram_id": 5}, "telegram_id"),
        ({"mention_count": 5}, "mention_count"),
    ],
)
async def test_what_cannot_be_changed(known: Stage, petrov: Person, changes: dict[str, Any], field: str) -> None:
    """422 by its field; a Telegram id comes from Telegram only. Nothing is changed."""
    before = (await known.client.get(f"/people/{petrov.id}")).json()
    answer = await patch(known, petrov, bio=changes.pop("bio", "Новое."), **changes)
    assert answer.status_code == 422
    assert answer.json()["detail"].startswith(f"{field}: ")
    assert (await known.client.get(f"/people/{petrov.id}")).json() == before


async def test_a_merge_and_its_undoing(known: Stage, petrov: Person, olena: Person) -> None:
    """The source's id answers with the target until they are split; facts go along and come back."""
    acme = await known.node("ACME")
    fact, _ = await known.tell(olena.entity_id, "WORKS_FOR", acme, "Olena works for ACME")
    order = {"source_id": olena.id, "target_id": petrov.id}
    merged = await known.client.post("/people/merge", json=order)
    assert (merged.status_code, merged.json()["id"], merged.json()["aliases"]) == (200, petrov.id, ["Саша", "Olena"])
    assert (await known.client.get(f"/people/{olena.id}")).json() == merged.json()
    assert (await known.client.get(f"/graph/facts/{fact}")).json()["source_node_uuid"] == petrov.entity_id
    assert (await known.client.post("/people/merge", json=order)).status_code == 422
    counted = f'laplaced_people_duplicates_merged_total{{user_id="{ANNA}"}} 1.0'
    assert counted in (await known.client.get("/metrics")).text
    split = await known.client.post(f"/people/{olena.id}/split")
    assert split.status_code == 200
    assert (split.json()["id"], split.json()["other"]["id"]) == (olena.id, petrov.id)
    assert (split.json()["display_name"], split.json()["other"]["aliases"]) == ("Olena", ["Саша"])
    assert (await known.client.get(f"/graph/facts/{fact}")).json()["source_node_uuid"] == olena.entity_id
    again = await known.client.post(f"/people/{olena.id}/split")
    assert again.status_code == 404


async def test_a_split_by_the_target_undoes_the_last_merge(known: Stage, petrov: Person, olena: Person) -> None:
    """The person asked for comes first, the other beside him."""
    await known.client.post("/people/merge", json={"source_id": olena.id, "target_id": petrov.id})
    split = (await known.client.post(f"/people/{petrov.id}/split")).json()
    assert (split["id"], split["other"]["id"]) == (petrov.id, olena.id)


async def test_who_cannot_be_merged(known: Stage, petrov: Person, olena: Person) -> None:
    """A person with himself, two usernames, two owners' people, and nobody."""
    other, foreign = await known.person("Sidorov", username="sidorov"), await known.person("Ben", BORIS)
    for source, target, status, detail in (
        (petrov.id, petrov.id, 422, "source_id: a person cannot be merged into himself"),
        (petrov.id, other.id, 422, "source_id: two usernames are two people"),
        (olena.id, foreign.id, 404, f"target_id: there is no person {foreign.id}"),
        (olena.id, 999, 404, "there is no person 999"),
        (0, olena.id, 422, "source_id: "),
    ):
        answer = await known.client.post("/people/merge", json={"source_id": source, "target_id": target})
        assert answer.status_code == status
        assert answer.json()["detail"].startswith(detail)


async def test_another_owners_people_are_not_found(known: Stage, petrov: Person, olena: Person) -> None:
    """With another's user_id nothing can be done to them."""
    order = {"source_id": olena.id, "target_id": petrov.id}
    for answer in (
        await known.client.patch(f"/people/{petrov.id}?user_id={BORIS}", json={"bio": "x"}),
        await known.client.post(f"/people/merge?user_id={BORIS}", json=order),
        await known.client.post("/people/merge", json=order | {"user_id": BORIS}),
        await known.client.post(f"/people/{petrov.id}/split?user_id={BORIS}"),
    ):
        assert answer.status_code == 404
    assert (await known.client.patch(f"/people/{petrov.id}?user_id={ANNA}", json={"bio": "x"})).status_code == 200


async def test_people_are_found_by_meaning_and_by_name(known: Stage, petrov: Person, olena: Person) -> None:
    """Best first with their scores; who has no vector yet is found by his name."""
    late = await known.person("Olga", bio="")
    answer = await known.client.get("/people/search", params={"user_id": ANNA, "query": "Olga"})
    assert [one["id"] for one in answer.json()["people"]] == [late.id]
    await known.follow()
    found = (await known.client.get(f"/people/search?user_id={ANNA}&query=plays the violin&limit=1")).json()
    assert (found["people"][0]["id"], found["count"]) == (olena.id, 1)
    assert 0.3 < found["people"][0]["score"] <= 1
    assert (await known.client.get(f"/people/search?user_id={BORIS}&query=violin")).json() == {"people": [], "count": 0}
    assert (await known.client.get(f"/people/search?user_id={EXPECTED}&query=violin")).json()["count"] == 0
    for query, status in (
        (f"user_id={ANNA}", 422),
        ("user_id=7&query=x", 404),
        (f"user_id={ANNA}&query=x&limit=101", 422),
    ):
        assert (await known.client.get(f"/people/search?{query}")).status_code == status


async def test_a_person_is_deleted_and_the_messages_only_if_asked(known: Stage, petrov: Person, olena: Person) -> None:
    """How many are about the person is asked before; they stay, unless they are to go too."""

    def said(connection: Connection) -> None:
        for text in ("Видела Петрова", "Met Olena", "Хороший день"):
            dialogue.add(connection, ANNA, "user", text, now=known.clock.now())

    await known.database.write(said)
    assert (await known.client.get(f"/people/{petrov.id}/messages")).json() == {"count": 1, "backup_days": 7}
    assert (await known.client.delete(f"/people/{petrov.id}?user_id={BORIS}")).status_code == 404
    assert (await known.client.delete(f"/people/{petrov.id}")).status_code == 204
    assert (await known.client.get(f"/people/{petrov.id}")).status_code == 404
    assert (await known.client.delete(f"/people/{olena.id}?messages=true")).status_code == 204
    left = await known.database.read(lambda c: dialogue.recent(c, ANNA, limit=9))
    assert [one.content for one in left] == ["Видела Петрова", "Хороший день"]
    assert (await known.client.get(f"/people/{olena.id}/messages")).status_code == 404
