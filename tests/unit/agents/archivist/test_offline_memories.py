"""Memories of the offline archivist against labelled dialogues, and against others its rules were never made for."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given, settings, strategies as st
from support.agents.memory_cases import asked, dialogues, memories_of, scored
from support.long import examples

from internal.agents.archivist.offline.date_phrases import past_in
from internal.agents.model import Language, TranscriptLine
from internal.memory.model import NodeRef

SET, HELD_OUT = "offline/memories.yaml", "offline/memories_held_out.yaml"


@pytest.mark.parametrize("language", ["ru", "uk", "en"])
def test_what_is_kept_is_right_in_each_language(language: str) -> None:
    """Precision before recall: a goal nobody has is asked about for years. Links are told where the set tells them."""
    score = scored(SET, [language])
    assert score.precision >= 0.96, "\n".join(score.wrong)
    assert score.recall >= 0.88, "\n".join(score.wrong)
    assert score.links == score.links_wanted, "\n".join(score.wrong)


def test_what_it_is_worth_on_dialogues_it_was_not_made_for() -> None:
    """Written after the rules and never used to better them: what is kept is right, a third is missed."""
    score = scored(HELD_OUT)
    assert score.precision >= PRECISION, "\n".join(score.wrong)
    assert score.recall >= RECALL, "\n".join(score.wrong)


PRECISION, RECALL = 0.9, 0.6


def test_the_set_is_large_and_has_traps() -> None:
    """Each language, each kind, and dialogues of which nothing may be kept."""
    for language in ("ru", "uk", "en"):
        of_it = [one for one in dialogues(SET) if one["lang"] == language]
        labels = {row["label"] for one in of_it for row in one["memories"]}
        assert {"Goal", "Decision", "Question", "Preference", "Memory", "G1"} <= labels
        assert sum(not one["memories"] for one in of_it) >= 6
    assert len(dialogues(SET)) >= 60
    assert len(dialogues(HELD_OUT)) >= 25


TRAPS = [one for one in dialogues(SET) if not one["memories"]]


@pytest.mark.parametrize("dialogue", TRAPS, ids=lambda one: one["say"][0][:40])
def test_traps(dialogue: dict[str, Any]) -> None:
    """Errands, wishes of the moment, hearsay, suppositions, forwards, the assistant's words, small talk."""
    assert memories_of(asked(dialogue)) == ()


def say(language: str, *lines: str, kept: tuple[tuple[str, str, str], ...] = ()) -> dict[str, Any]:
    return {"lang": language, "say": list(lines), "kept": kept}


def test_a_memory_says_where_it_stands() -> None:
    """Its line, its words as they were said, who and what it names."""
    (memory,) = memories_of(asked(say("ru", "Привет", "Вчера я познакомился с Олегом Ивановым.")))
    assert memory.evidence == (2,)
    assert memory.node == NodeRef("Memory", {"content": "Вчера я познакомился с Олегом Ивановым."})
    assert [(link.type, link.other.properties) for link in memory.links] == [("MENTIONS", {"name": "Олег Иванов"})]


def test_a_decision_follows_from_the_one_before_it() -> None:
    """Only if it says so."""
    first, second = memories_of(asked(say("uk", "Вирішив звільнитися. Тому вирішив продати машину.")))
    assert [(link.type, link.other) for link in first.links] == [("LED_TO", second.node)]
    assert second.links == ()
    told = memories_of(asked(say("uk", "Вирішив звільнитися. Вирішив продати машину.")))
    assert [memory.links for memory in told] == [(), ()]


@pytest.mark.parametrize(
    ("language", "line", "reversible"),
    [
        ("ru", "Мы решили пока пожить у родителей.", True),
        ("ru", "Я окончательно решил уйти из банка.", False),
        ("uk", "Вирішила остаточно переїхати до Одеси.", False),
        ("en", "I decided to rent for now.", True),
        ("en", "I decided to sell the car.", None),
    ],
)
def test_whether_a_decision_can_be_undone_is_told_only_if_said(
    language: str, line: str, reversible: bool | None
) -> None:
    """Nobody's decisions are final because a rule thinks so."""
    (decision,) = memories_of(asked(say(language, line)))
    assert decision.node.properties.get("reversible") is reversible


@pytest.mark.parametrize(
    ("language", "line", "decided"),
    [
        ("en", "I decided to quit smoking because my doctor told me so.", "Quit smoking"),
        ("ru", "Решил продать дачу, потому что брат сказал, что цены упадут.", "Продать дачу"),
        ("en", "My doctor said I decided to quit because it was bad.", None),
        ("ru", "Мы решили с женой Олей летом поехать в Грузию.", "С женой Олей летом поехать в Грузию"),
        ("ru", "Я решил с братом задачу, которую нельзя решить.", None),
    ],
)
def test_who_advised_a_decision_makes_it_no_hearsay(language: str, line: str, decided: str | None) -> None:
    """What somebody said may be the reason, and somebody may decide with the owner; hearsay itself is no decision."""
    told = [memory.node for memory in memories_of(asked(say(language, line))) if memory.node.label == "Decision"]
    assert [node.properties["description"] for node in told] == ([decided] if decided else [])


def test_what_came_of_a_known_decision() -> None:
    """Under its handle, in the owner's words."""
    line = "В итоге машину мы продали, и денег хватило на ремонт."
    told = memories_of(asked(say("ru", line, kept=(("D1", "Decision", "Продать машину"),))))
    assert told[0].node == NodeRef("Decision", {"outcome": line}, "id-D1")


@pytest.mark.parametrize(
    ("question", "line", "completeness"),
    [
        ("Когда сдают отчёт?", "Отчёт сдают в пятницу.", 1.0),
        ("Когда сдают отчёт?", "Наверное, отчёт сдают в пятницу.", 0.5),
        ("Когда сдают отчёт?", "Отчёт сдают в бухгалтерию.", None),
        ("Сколько стоит ремонт крыши?", "Ремонт крыши стоит 90 тысяч.", 1.0),
        ("Сколько стоит ремонт крыши?", "Ремонт крыши стоит дорого.", None),
        ("Куда едем в отпуск?", "В отпуск едем в Грузию.", 1.0),
        ("Кто посидит с собакой?", "С собакой посидит Оля Смирнова.", 1.0),
        ("Кто посидит с собакой?", "Кто посидит с собакой?", None),
        ("Стоит ли менять работу?", "Решил менять работу.", 1.0),
        ("Стоит ли менять работу?", "Опять менял работу.", None),
    ],
)
def test_an_open_question_is_answered_by_what_it_asks_for(question: str, line: str, completeness: float | None) -> None:
    """By a date, a number, a place, a person or a decision; "perhaps" answers half of it."""
    told = memories_of(asked(say("ru", line, kept=(("Q1", "Question", question),))))
    links = [link for memory in told for link in memory.links if link.type == "PARTIALLY_ANSWERS"]
    assert [link.properties["completeness"] for link in links] == ([completeness] if completeness else [])


def test_a_project_with_its_task() -> None:
    """A task is part of its project; a project that is finished is completed."""
    (task,) = memories_of(asked(say("ru", "Я взял задачу «Отчёты» в проекте «Альфа».")))
    assert task.node.properties == {"name": "Отчёты", "type": "task", "status": "active"}
    assert [(one.type, one.other) for one in task.links] == [
        ("PART_OF", NodeRef("Context", {"name": "Альфа", "type": "project"}))
    ]
    (done,) = memories_of(asked(say("en", "We finished our Project Alpha.")))
    assert done.links[0].other == NodeRef("Context", {"name": "Alpha", "type": "project", "status": "completed"})


def test_another_speakers_words_are_no_memories_of_the_owner() -> None:
    """Of an imported chat only the owner's own lines are read."""
    request = asked(say("ru", "..."))
    lines = [TranscriptLine(1, "user", "Оксана", request.transcript[0].at, "Хочу выучить испанский.", own=False)]
    assert memories_of(replace(request, transcript=lines)) == ()


PARTS = (
    *(
        "Хочу выучить",
        "Моя цель —",
        "решил",
        "Мы вирішили",
        "I decided to",
        "не знаю, стоит ли",
        "I don't know whether",
    ),
    *(
        "обожаю",
        "I prefer tea to",
        "купили дачу",
        "до конца года",
        "торік",
        "проект «Альфа»",
        "потому что",
        "бо",
        "«",
        "»",
    ),
    *(
        ",",
        ".",
        "?",
        "—",
        "\n",
        "Оля",
        "OAuth2",
        "испанский",
        "\u0301",
        "x" * 200,
        "в мае",
        "2026",
        "'",
        "мені",
        "of 2027",
    ),
)


@given(st.lists(st.sampled_from(PARTS), max_size=12).map(" ".join), st.sampled_from(["ru", "uk", "en"]))
@settings(max_examples=examples(40))
def test_whatever_is_said_the_product_takes_what_is_kept(text: str, language: str) -> None:
    """Nothing is raised and nothing of the reply refused, with known nodes that the words may mean."""
    kept = (("G1", "Goal", "выучить испанский"), ("Q1", "Question", "Стоит ли купить дачу?"), ("D1", "Decision", "—"))
    for memory in memories_of(asked(say(language, text, kept=kept))):
        assert memory.evidence == (1,)


@pytest.mark.parametrize(
    ("lang", "goal", "said", "reached"),
    [
        ("ru", "Выучить испанский", "Я выучил испанский.", True),
        ("ru", "Выучить испанский", "Испанский я выучил!", True),
        ("ru", "Выучить испанский", "Олег выучил испанский.", False),
        ("ru", "Выучить испанский", "Наконец-то мой брат выучил испанский!", False),
        ("ru", "Выучить испанский", "Я так и не выучил испанский.", False),
        ("uk", "Купити квартиру", "Ми нарешті купили квартиру!", True),
        ("uk", "Купити квартиру", "Ще не купила квартиру.", False),
        ("uk", "Купити квартиру", "Моя сестра нарешті купила квартиру.", False),
        ("en", "Run a marathon", "I finally ran the marathon!", True),
        ("en", "Learn Spanish", "I have not learned Spanish.", False),
        ("en", "Learn Spanish", "My brother finally learned Spanish!", False),
        ("en", "Buy a house", "We bought a house.", True),
    ],
)
def test_a_goal_is_reached_by_its_owner_alone(lang: str, goal: str, said: str, reached: bool) -> None:
    """What somebody else did, and what was not done, reaches nothing."""
    found = memories_of(asked({"lang": lang, "say": [said], "facts": [], "kept": [["G1", "Goal", goal]]}))
    assert [one for one in found if one.node.node_id == "id-G1"] == [one for one in found if reached]


@pytest.mark.parametrize(
    ("text", "language", "phrase"),
    [
        ("Подписал договор 1004 с банком", "ru", None),
        ("Signed contract 2004", "en", None),
        ("В 2004 году мы жили в Туле", "ru", "В 2004 году"),
        ("Влітку 2019 року їздив у Карпати", "uk", "Влітку 2019 року"),
        ("In 2015 I moved to Berlin", "en", "In 2015"),
    ],
)
def test_a_number_alone_is_no_year(text: str, language: Language, phrase: str | None) -> None:
    """It may be that of a contract; a year stands with its preposition or its word."""
    assert past_in(text, datetime(2026, 11, 22, tzinfo=UTC), language) == phrase


@pytest.mark.parametrize(
    ("language", "sentence", "concept"),
    [
        ("uk", "Вчора ми придбали нову пральну машину.", "машина"),
        ("uk", "Ми нарешті підписали договір.", "договір"),
        ("uk", "Я загубив свій старий гаманець.", "гаманець"),
        ("ru", "Мы купили нашу первую квартиру.", "квартира"),
        ("ru", "Я сломала левую руку.", "рука"),
        ("uk", "Ми купили нову.", None),
    ],
)
def test_what_an_event_is_about_stands_behind_its_adjectives(language: str, sentence: str, concept: str | None) -> None:
    """As its concept, in the nominative."""
    [memory] = memories_of(asked(say(language, sentence)))
    named = [one.other.properties["name"] for one in memory.links if one.type == "HAS_CONCEPT"]
    assert named == ([] if concept is None else [concept])
