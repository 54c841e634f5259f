"""`POST /graph/search`: what is found, in which order, as of which moment, and what is refused."""

from __future__ import annotations

from typing import Any

import pytest
from support.interfaces.rest_graph_stage import ANNA, BORIS, EXPECTED, Stage

from internal.flows.merging import people


async def search(stage: Stage, query: str = "Anna", group: int | None = ANNA, **more: Any) -> Any:
    groups = {} if group is None else {"group_ids": [str(group)]}
    return await stage.client.post("/graph/search", json={"query": query, **groups, **more})


async def found(stage: Stage, query: str = "Anna", group: int | None = ANNA, **more: Any) -> list[str]:
    answer = await search(stage, query, group, **more)
    assert answer.status_code == 200, answer.text
    return [one.get("fact") or one["name"] for one in answer.json()["results"]]


@pytest.fixture
async def lives(known: Stage) -> Stage:
    """Where Anna lived: Kyiv from 2020, Lviv from 2024, told in this order; and what Boris knows."""
    anna, kyiv, lviv = await known.node("Anna"), await known.node("Kyiv"), await known.node("Lviv")
    await known.tell(anna, "LIVES_IN", kyiv, "Anna lives in Kyiv", "2020-01-01")
    await known.tell(anna, "LIVES_IN", lviv, "Anna lives in Lviv", "2024-01-01")
    boris, odesa = await known.node("Boris", BORIS), await known.node("Odesa", BORIS)
    await known.tell(boris, "LIVES_IN", odesa, "Boris lives in Odesa", user_id=BORIS)
    await known.follow()
    return known


async def test_facts_are_found_with_their_citations(lives: Stage) -> None:
    """By default what has not ended, as edges with citations; the answer counts itself."""
    told = (await search(lives, "Where does Anna live?")).json()
    assert (told["search_type"], told["count"], told["message"]) == ("facts", 1, "1 facts found")
    [fact] = told["results"]
    assert (fact["fact"], fact["name"], fact["valid_at"]) == ("Anna lives in Lviv", "LIVES_IN", "2024-01-01T00:00:00Z")
    assert [one["episode_name"] for one in fact["citations"]] == ["note of Anna lives in Lviv"]
    assert [one["quote"] for one in fact["evidence"]] == ["Anna lives in Lviv"]


async def test_both_axes_of_time_can_be_asked(lives: Stage) -> None:
    """What held then; what we knew then; both; and everything."""
    assert await found(lives, as_of="2022-06-01T00:00:00Z") == ["Anna lives in Kyiv"]
    assert await found(lives, as_of="2019-06-01") == []
    assert await found(lives, known_at="2026-02-07T12:00:30Z") == ["Anna lives in Kyiv"]
    assert await found(lives, known_at="2026-02-07T12:00:30Z", as_of="2025-01-01") == ["Anna lives in Kyiv"]
    assert await found(lives, known_at="2026-02-07T11:00:00Z") == []
    assert await found(lives, include_invalid=True) == ["Anna lives in Lviv", "Anna lives in Kyiv"]


async def test_what_was_known_then_cites_what_had_been_told_by_then(lives: Stage) -> None:
    """Not the episodes and lines that repeated it afterwards."""
    [then] = (await search(lives, known_at="2026-02-07T12:00:30Z")).json()["results"]
    ends = then["source_node_uuid"], then["target_node_uuid"]
    await lives.tell(ends[0], "LIVES_IN", ends[1], "Anna lives in Kyiv", "2020-01-01")
    await lives.follow()
    [now] = (await search(lives, as_of="2022-06-01")).json()["results"]
    assert (len(now["episodes"]), len(now["citations"]), len(now["evidence"])) == (2, 2, 2)
    assert (await search(lives, known_at="2026-02-07T12:00:30Z")).json()["results"] == [then]


async def test_a_bare_date_is_midnight_where_the_owner_lives(lives: Stage) -> None:
    """In Kyiv the first of July begins three hours before it does in UTC."""
    boris, lviv = await lives.node("Boris B", BORIS), await lives.node("Lviv", BORIS)
    await lives.tell(boris, "WORKS_FOR", lviv, "Boris works in Lviv", "2024-06-30T21:00:00", user_id=BORIS)
    await lives.follow()
    assert "Boris works in Lviv" in await found(lives, "Boris", BORIS, as_of="2024-07-01")
    assert "Boris works in Lviv" not in await found(lives, "Boris", BORIS, as_of="2024-06-30T20:59:59Z")


async def test_one_owners_search_sees_nothing_of_another(lives: Stage) -> None:
    """In any kind, however well it fits; several groups named are searched together."""
    for kind in ("facts", "nodes", "episodes"):
        told = await found(lives, "Boris lives in Odesa", search_type=kind)
        assert not [one for one in told if "Boris" in one or "Odesa" in one]
    both = await found(lives, "Odesa", None, group_ids=[str(ANNA), str(BORIS), str(ANNA)])
    assert both == ["Boris lives in Odesa", "Anna lives in Lviv"]


async def test_without_a_group_there_must_be_one_user(lives: Stage) -> None:
    """Never all of them; an empty list is no group either."""
    for groups in (None, []):
        answer = await search(lives, group=None, group_ids=groups)
        assert answer.status_code == 422
        assert answer.json()["detail"].startswith("group_ids: there are 2 users")


async def test_the_sole_users_memory_is_searched_unnamed(sole: Stage) -> None:
    """With one user it is clear whose is meant."""
    await sole.tell(await sole.node("Anna"), "LIKES", await sole.node("tea"), "Anna likes tea")
    await sole.follow()
    assert await found(sole, "tea", None) == ["Anna likes tea"]


async def test_nodes_are_found_and_filtered_by_type(lives: Stage) -> None:
    """As entities; the filter takes types in any case and in their usual synonyms."""
    await lives.node("ACME", labels=["Organization"], type="organization")
    await lives.person("Annette", bio="Colleague")
    await lives.follow()
    assert (await found(lives, "ACME", search_type="nodes"))[0] == "ACME"
    assert await found(lives, "ACME", search_type="nodes", entity_types=["company"]) == ["ACME"]
    assert await found(lives, "Anna", search_type="nodes", entity_types=["Person"]) == ["Annette"]
    [node] = (await search(lives, "ACME", search_type="nodes", max_results=1)).json()["results"]
    assert (node["labels"], node["group_id"]) == (["Organization"], str(ANNA))


async def test_episodes_are_found(lives: Stage) -> None:
    """With their content."""
    told = (await search(lives, "Lviv", search_type="episodes", max_results=1)).json()
    assert [one["content"] for one in told["results"]] == ["Anna lives in Lviv"]
    assert told["results"][0]["source_description"] == "notes"


async def test_what_is_near_the_centre_comes_first(lives: Stage) -> None:
    """Whatever fits better; a merged node's id stands for its target."""
    globex, mark = await lives.person("Globex"), await lives.node("Mark")
    old = await lives.person("Globe X")
    await lives.tell(mark, "WORKS_FOR", globex.entity_id, "Mark works for Globex")
    await lives.follow()
    assert (await found(lives, "Anna lives"))[0] == "Anna lives in Lviv"
    near = await found(lives, "Anna lives", center_node_uuid=globex.entity_id)
    assert near == ["Mark works for Globex", "Anna lives in Lviv"]
    await lives.database.write(lambda c: people.merge(c, ANNA, old.id, globex.id, now=lives.clock.now()))
    assert await found(lives, "Anna lives", center_node_uuid=old.entity_id) == near


async def test_a_centre_is_a_node_of_the_group(lives: Stage) -> None:
    """Another owner's and nobody's are 404, by the field."""
    foreign = await lives.node("Foreign", BORIS)
    for uuid in (foreign, "nothing"):
        answer = await search(lives, center_node_uuid=uuid)
        assert (answer.status_code, answer.json()) == (404, {"detail": f"center_node_uuid: there is no node {uuid}"})


async def test_no_more_than_asked_for(lives: Stage) -> None:
    """`max_results` is kept, over several groups too."""
    everybody = [str(ANNA), str(BORIS)]
    assert len(await found(lives, "lives", None, group_ids=everybody, max_results=1)) == 1
    assert len(await found(lives, "lives", search_type="nodes", max_results=2)) == 2


@pytest.mark.parametrize(
    ("changes", "status", "field"),
    [
        ({"max_results": 101}, 422, "max_results"),
        ({"max_results": 0}, 422, "max_results"),
        ({"query": " "}, 422, "query"),
        ({"query": "x" * 2_001}, 422, "query"),
        ({"search_type": "edges"}, 422, "search_type"),
        ({"group_ids": ["x"]}, 422, "group_ids.0"),
        ({"group_ids": [str(n) for n in range(51)]}, 422, "group_ids"),
        ({"group_ids": [str(ANNA), "7"]}, 404, "there is no user 7"),
        ({"entity_types": ["Spaceship"]}, 422, "entity_types"),
        ({"as_of": "2025-13-01"}, 422, "as_of"),
        ({"as_of": "last May"}, 422, "as_of"),
        ({"known_at": 5}, 422, "known_at: an ISO 8601"),
        ({"asof": "2025-01-01"}, 422, "asof"),
    ],
)
async def test_what_cannot_be_searched(lives: Stage, changes: dict[str, Any], status: int, field: str) -> None:
    """Refused by its field, a misspelt one too: it would silently find something else."""
    answer = await search(lives, **changes)
    assert answer.status_code == status
    assert answer.json()["detail"].startswith(field)


@pytest.mark.parametrize("moment", ["0001-01-01", "9999-12-31", "0001-01-01T00:00:00Z", "9999-12-31T23:59:59Z"])
async def test_the_ends_of_the_calendar(lives: Stage, moment: str) -> None:
    """Long ago and far ahead nothing breaks; where midnight would lie before the first year it is told so."""
    for group in (ANNA, BORIS):
        for name in ("as_of", "known_at"):
            answer = await search(lives, "lives", group, **{name: moment})
            assert answer.status_code in {200, 422}
            assert answer.status_code == 200 or answer.json()["detail"].startswith(f"{name}: ")


async def test_who_has_not_written_has_nothing_to_find(lives: Stage) -> None:
    """An empty result, not an error."""
    for kind in ("facts", "nodes", "episodes"):
        assert (await search(lives, group=EXPECTED, search_type=kind)).json()["results"] == []


async def test_messages_are_found_with_their_chances(lives: Stage) -> None:
    """What was said, word for word, with why it was found; from and to a moment, each owner's own."""
    await lives.say("The train to Odesa leaves at six", days=-3)
    await lives.say("I bought bread and milk", days=-1)
    await lives.say("The train to Odesa is late", days=-1, user_id=BORIS)
    await lives.follow()
    told = (await search(lives, "When does the train to Odesa leave?", search_type="messages")).json()
    assert told["search_type"] == "messages"
    best = told["results"][0]
    assert (best["content"], best["role"], best["speaker"]) == ("The train to Odesa leaves at six", "user", None)
    assert 0 < best["chance"] <= 1
    assert set(best["reasons"]) == {"meaning", "words", "context", "sender", "dated"}
    assert "The train to Odesa is late" not in [one["content"] for one in told["results"]]
    later = (await search(lives, "train to Odesa", search_type="messages", since="2026-02-06")).json()
    assert "The train to Odesa leaves at six" not in [one["content"] for one in later["results"]]
    earlier = (await search(lives, "train to Odesa", search_type="messages", until="2026-02-05")).json()
    assert [one["content"] for one in earlier["results"]] == ["The train to Odesa leaves at six"]
