"""The offline responder answers from typed memories, in the language of the question, and cites them."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from internal.agents.citations import marks_in, with_numbers
from internal.agents.model import (
    DialogueLine,
    OwnerProfile,
    PassageLine,
    RecalledFact,
    RecalledMemory,
    RecalledPassage,
    ResponderRequest,
)
from internal.agents.responder.offline.agent import compose

NOW = datetime(2026, 2, 7, 12, tzinfo=UTC)
TOLD = datetime(2026, 1, 31, 22, tzinfo=UTC)
MEMORIES = (
    RecalledMemory(1, "m1", "Goal", "сдать на права", "achieved", TOLD),
    RecalledMemory(2, "m2", "Goal", "выучить испанский", "active", TOLD, due=datetime(2026, 12, 31, 12, tzinfo=UTC)),
    RecalledMemory(3, "m3", "Decision", "продать машину; дорогой бензин", None, TOLD),
    RecalledMemory(4, "m4", "Decision", "завести собаку", None, TOLD),
    RecalledMemory(5, "m5", "Preference", "tea with milk", "liked", TOLD),
    RecalledMemory(6, "m6", "Preference", "созвоны по утрам", "disliked", TOLD),
    RecalledMemory(7, "m7", "Question", "Стоит ли менять работу?", "open", TOLD),
    RecalledMemory(8, "m8", "Memory", "Купили дачу под *Тверью*.", None, TOLD),
    RecalledMemory(9, "m9", "Goal", "посадить лес", "active", TOLD, associated=True),
)
GOALS_RU = (
    "Вот что я помню:\n"
    "- выучить испанский, до 2026-12-31 (впереди, 2026-02-01) [M2]\n"
    "- сдать на права (достигнуто, 2026-02-01) [M1]"
)


def said(n: int, *lines: PassageLine) -> RecalledPassage:
    return RecalledPassage(n, "message", f"p{n}", lines)


def answer(
    question: str,
    memories: tuple[RecalledMemory, ...] = MEMORIES,
    facts: tuple[RecalledFact, ...] = (),
    passages: tuple[RecalledPassage, ...] = (),
    dialogue: tuple[DialogueLine, ...] = (DialogueLine("assistant", "Слушаю"),),
) -> str:
    return compose(
        ResponderRequest(
            owner=OwnerProfile(1, "Оля", None, "ru", "Europe/Kyiv"),
            persona_name="Laplaced",
            persona_tone="warm",
            inner_circle=(),
            relevant_people=(),
            dialogue=(*dialogue, DialogueLine("user", question)),
            now=NOW,
            query=question,
            facts=facts,
            memories=memories,
            passages=passages,
        )
    )


@pytest.mark.parametrize(
    ("question", "reply"),
    [
        ("Какие у меня цели?", GOALS_RU),
        ("Що я вирішив про машину?", "продать машину; дорогой бензин (2026-02-01) [M3]."),
        ("Что я решил насчёт собаки?", "завести собаку (2026-02-01) [M4]."),
        ("What do I prefer with milk?", "tea with milk (you like it, 2026-02-01) [M5]."),
        ("Что с дачей?", r"Купили дачу под \*Тверью\* (2026-02-01) [M8]."),
        ("Какие вопросы остались открытыми?", "Стоит ли менять работу? (пока без ответа, 2026-02-01) [M7]."),
    ],
)
def test_a_question_is_answered_with_its_memories(question: str, reply: str) -> None:
    """By the kind it asks for, what is open first, or by its words; what only came along is left out."""
    assert answer(question) == reply


def test_likes_and_dislikes_are_told_apart() -> None:
    """A dislike is no preference for the thing."""
    assert "созвоны по утрам (не нравится, 2026-02-01) [M6]" in answer("Что я люблю?")


@pytest.mark.parametrize("question", ["Какие у меня мечты?", "Где мой велосипед?", "What did I decide?"])
def test_nothing_is_made_up(question: str) -> None:
    """Without a memory that fits, none is cited."""
    assert marks_in(answer(question, MEMORIES[7:8])) == []


def test_a_fact_that_answers_comes_first() -> None:
    """A question for a relation is answered with its fact, though a memory shares its words."""
    fact = RecalledFact(1, "f1", "Петров работает в ACME", relation="WORKS_FOR", source="Петров", target="ACME")
    told = RecalledMemory(1, "m1", "Memory", "Петров работает без выходных", None, TOLD)
    assert answer("Где работает Петров?", (told,), (fact,)) == "Петров работает в ACME [F1]."


@pytest.mark.parametrize(
    ("question", "reply"),
    [
        ("Когда уходит поезд в Одессу?", "Твои слова от 2026-02-01: «Поезд в Одессу уходит в шесть» [S1]"),
        ("О котрій відходить поїзд до Одеси?", "Твої слова від 2026-02-01: «Поїзд до Одеси відходить о шостій» [S1]"),
        ("When does the train to Odesa leave?", "Masha *I*, 2026-02-01: “The train to Odesa leaves at six” [S2]"),
    ],
)
def test_what_was_said_answers_where_nothing_else_does(question: str, reply: str) -> None:
    """With who said it and when; a question, and what the bot said itself, are no answer."""
    lines = [
        PassageLine(TOLD, "Оля", "Когда уходит поезд в Одессу?"),
        PassageLine(TOLD, "", "Поезд в Одессу уходит когда захочет", "assistant"),
        PassageLine(TOLD, "Оля", "Поезд в Одессу уходит в шесть"),
        PassageLine(TOLD, "Оля", "Поїзд до Одеси відходить о шостій"),
    ]
    english = said(2, PassageLine(TOLD, "Masha *I*", "The train to Odesa leaves at six", "other"))
    assert answer(question, (), (), (said(1, *lines), english)) == reply.replace("*", r"\*")
    assert marks_in(answer("Где мой велосипед?", (), (), (said(1, *lines), english))) == []


def test_of_equal_words_those_that_still_hold_are_quoted() -> None:
    """What is outdated answers only where nothing else does."""
    old = PassageLine(TOLD, "Оля", "Поезд в Одессу уходит в пять", outdated=NOW)
    new = PassageLine(TOLD, "Оля", "Поезд в Одессу уходит в шесть")
    assert "в шесть" in answer("Когда уходит поезд в Одессу?", passages=(said(1, old, new),))
    assert "в пять" in answer("Когда уходит поезд в Одессу?", passages=(said(1, old),))


def test_the_owner_sees_small_numbers() -> None:
    """As for facts, in the order in which they are cited."""
    assert "[M" not in with_numbers(answer("Какие у меня цели?"))
    assert with_numbers(answer("Какие у меня цели?")).endswith("(достигнуто, 2026-02-01)²")


def test_what_this_dialogue_holds_is_quoted_from_it() -> None:
    """No passage repeats what the dialogue shows; the owner's questions and the assistant's replies tell nothing."""
    dialogue = (
        DialogueLine("user", "The landlord wants 900 euros deposit for the flat."),
        DialogueLine("assistant", "I see, a deposit for the landlord."),
        DialogueLine("user", "What deposit did the landlord want?"),
        DialogueLine("assistant", "Nothing on that."),
    )
    told = "From our conversation: “The landlord wants 900 euros deposit for the flat.”"
    assert answer("How much deposit does the landlord want?", (), dialogue=dialogue) == told
    assert "From our conversation" not in answer("Where is my umbrella?", (), dialogue=dialogue)
    chatter = tuple(DialogueLine("user", f"Number {number} came up.") for number in range(200))
    chatter += (DialogueLine("assistant", "I see."),)
    assert answer("How much deposit does the landlord want?", (), dialogue=(*dialogue, *chatter)) == told


def test_a_memory_that_only_names_the_thing_gives_way_to_what_was_said_of_it() -> None:
    """A project's name is no answer to when it is released, if a message tells."""
    project = RecalledMemory(1, "m1", "Project", "Маяк", "active", TOLD)
    message = PassageLine(TOLD, "Оля", "Релиз Маяка перенесли на март")
    assert "на март" in answer("Когда релиз Маяка?", (project,), (), (said(1, message),))
    dialogue = (DialogueLine("user", "Релиз Маяка перенесли на март"), DialogueLine("assistant", "Понятно."))
    assert "на март" in answer("Когда релиз Маяка?", (project,), dialogue=dialogue)
    assert answer("Что с Маяком?", (project,)).startswith("Маяк")


def test_the_dialogue_and_what_was_said_before_compete_by_words() -> None:
    """An earlier message that shares more words with the question is quoted before a line of this dialogue."""
    earlier = said(1, PassageLine(NOW, "Оля", "The key of the garage lies under the red pot", "own", True))
    dialogue = (DialogueLine("user", "I sold the garage"), DialogueLine("assistant", "I see."))
    question = "Where lies the key of the garage?"
    assert answer(question, (), passages=(earlier,), dialogue=dialogue).endswith("[S1]")
    newer = (DialogueLine("user", "The key of the garage lies in the drawer"), DialogueLine("assistant", "I see."))
    assert "drawer" in answer(question, (), passages=(earlier,), dialogue=newer)
