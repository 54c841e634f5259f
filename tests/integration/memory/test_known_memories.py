"""What of the memory graph an archivist is shown under handles, and which stored nodes are near a proposed one."""

from __future__ import annotations

from datetime import timedelta

import numpy as np
from support.knowledge.memory_stage import NOON, OWNER, STRANGER, Memories, link, ref, told

from internal.flows.archivist.known_memories import MOST_OPEN, NAMED, from_snapshot, known_memories, snapshot_of
from internal.memory.model import KnownMemory, RefKey
from internal.memory.observations import known_repository
from internal.storage import vectors
from internal.storage.vectors import Vector


def shown(memories: Memories, *texts: str, read_again: str | None = None) -> dict[str, str]:
    found = known_memories(memories.connection, OWNER, texts, read_again=read_again)
    return {one.handle: one.text for one in found}


def test_what_is_open_is_shown_whatever_is_talked_about(memories: Memories) -> None:
    """Active goals, open and partly answered questions, the oldest first; not what is reached or answered."""
    memories.tell(told(ref("Goal", "выучить испанский")), told(ref("Question", "Когда отпуск?")))
    memories.tell(told(ref("Goal", "купить дом")), told(ref("Goal", "сдать на права", status="achieved")))
    memories.tell(told(ref("Question", "Кто победил?", status="answered")))
    memories.tell(told(ref("Question", "Что подарить?", status="partial")))
    assert shown(memories, "погода") == {
        "Q1": "Когда отпуск?",
        "Q2": "Что подарить?",
        "G1": "выучить испанский",
        "G2": "купить дом",
    }


def test_the_rest_is_shown_if_the_slice_has_its_words(memories: Memories) -> None:
    """In any form; a sentence must share two words, a name all of its own."""
    memories.tell(
        told(ref("Memory", "Отчёт сдают в пятницу", summary="Срок отчёта")),
        told(ref("Memory", "Отчёт потеряли")),
        told(ref("Decision", "Продать машину летом")),
        told(ref("Preference", "зелёный чай", strength=0.5)),
        told(ref("Context", "Альфа", type="project")),
        told(ref("Goal", "отчёты и пятница без нервов", status="achieved")),
        told(ref("Concept", "отчёт")),
    )
    found = shown(memories, "Отчёты по Альфе к пятнице?", "Попил зелёного чая, машины нет")
    assert found == {"G1": "отчёты и пятница без нервов", "P1": "зелёный чай", "C1": "Альфа", "M1": "Срок отчёта"}


def test_a_contradiction_is_shown_with_both_its_sides(memories: Memories) -> None:
    """Or nobody could say which of them holds; one that is settled is not."""
    sides = [link("CONFLICTS_WITH", ref("Memory", words)) for words in ("Отчёт в четверг", "Отчёт в пятницу")]
    settled = [link("CONFLICTS_WITH", ref("Memory", words)) for words in ("Дом синий", "Дом белый")]
    memories.tell(
        told(ref("Contradiction", "Когда сдают отчёт"), *sides),
        told(ref("Contradiction", "Какого цвета дом", status="accepted"), *settled),
    )
    found = shown(memories, "погода")
    assert found.pop("X1") == "Когда сдают отчёт"
    assert sorted(found.values()) == ["Отчёт в пятницу", "Отчёт в четверг"]


def test_there_is_a_bound_to_everything(memories: Memories) -> None:
    """The newest of what is open, the likeliest of the rest; nothing of another owner's."""
    memories.tell(*(told(ref("Goal", f"цель номер {number}")) for number in range(MOST_OPEN + 5)))
    memories.tell(*(told(ref("Memory", f"купил машину марки {number}")) for number in range(NAMED + 5)))
    Memories(memories.connection, STRANGER).tell(told(ref("Goal", "чужая цель")))
    found = known_memories(memories.connection, OWNER, ["Машину купил новой марки"])
    assert sum(one.label == "Goal" for one in found) == MOST_OPEN
    assert sum(one.label == "Memory" for one in found) == NAMED
    assert "чужая цель" not in {one.text for one in found}


def test_handles_are_the_same_for_the_same_graph_and_survive_a_restart(memories: Memories) -> None:
    """A run keeps which node each handle meant, without any words."""
    memories.tell(told(ref("Goal", "выучить испанский")), told(ref("Question", "Когда отпуск?")))
    first = known_memories(memories.connection, OWNER, ["погода"])
    assert known_memories(memories.connection, OWNER, ["погода"]) == first
    kept = snapshot_of(first)
    assert "испанский" not in str(kept)
    again = from_snapshot({"memories": kept})
    assert again == [KnownMemory(one.handle, one.node_id, one.label, "") for one in first]
    assert from_snapshot({"rev": 1}) == []


def test_a_second_reading_is_not_shown_what_the_first_one_told(memories: Memories) -> None:
    """It is about to be taken back; what another episode told too stays."""
    memories.tell(told(ref("Goal", "выучить испанский")), told(ref("Goal", "купить дом")), episode="a")
    memories.tell(told(ref("Goal", "купить дом")), episode="b")
    assert shown(memories, "погода", read_again="a") == {"G1": "купить дом"}


def test_what_a_session_made_by_itself_is_not_shown(memories: Memories) -> None:
    """Nobody calls it by its name."""
    memories.tell(told(ref("Context", "Погода сегодня", type="session")))
    assert shown(memories, "погода сегодня") == {}


def vector(*numbers: float) -> Vector:
    found = np.array(numbers, dtype=np.float32)
    return found / np.linalg.norm(found)


def test_the_nearest_nodes_are_those_of_the_same_label(memories: Memories) -> None:
    """With their cosines, best first; hidden ones, other models and vectors of older texts are passed over."""
    memories.tell(*(told(ref("Goal", words)) for words in ("a1", "b1", "c1", "d1")), told(ref("Question", "a1")))
    goals = {str(node.properties["description"]): node.id for node in memories.nodes("Goal")}
    places = {"a1": vector(1, 0), "b1": vector(1, 1), "c1": vector(0, 1), "d1": vector(1, 0)}
    for due in vectors.due(memories.connection, "m", 2, limit=99):
        model = "other" if due.text == "d1" else "m"
        vectors.save_vector(memories.connection, due, model, places.get(due.text, vector(1, 0)))
    key = RefKey("Goal", "x")
    found = known_repository.nearest_nodes(memories.connection, OWNER, "m", {key: vector(1, 0)}, count=2)
    assert [node_id for node_id, _ in found[key]] == [goals["a1"], goals["b1"]]
    assert [round(cosine, 3) for _, cosine in found[key]] == [1.0, 0.707]
    assert known_repository.nearest_nodes(memories.connection, STRANGER, "m", {key: vector(1, 0)}, count=2) == {}


def test_a_decision_is_shown_with_its_own_date(memories: Memories) -> None:
    """Everything else with when it was told."""
    decided = NOON - timedelta(days=300)
    memories.tell(told(ref("Decision", "Продать машину", date=decided.isoformat())))
    (one,) = known_memories(memories.connection, OWNER, ["Продали машину"])
    assert one.at == decided
