"""The analyst without a model: an answer is as good as the owner found it, in three languages."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

import pytest

from internal.agents.analyst.offline import analyse, judge, sum_up
from internal.agents.analyst.output import name_of_rule, parse
from internal.agents.analyst.reactions import reactions
from internal.agents.model import AnalystRequest, Language, OwnerProfile, TranscriptLine
from internal.agents.responder.rules import rules

NOON = datetime(2026, 2, 7, 12, tzinfo=UTC)


def talk(*said: str) -> list[TranscriptLine]:
    """The owner and the assistant by turns."""
    return [
        TranscriptLine(n, "assistant" if n % 2 == 0 else "user", "Анна", NOON, text) for n, text in enumerate(said, 1)
    ]


def reply(language: Language, *said: str) -> dict[str, Any]:
    request = AnalystRequest(OwnerProfile(7, "Анна", None, language, "UTC"), "", talk(*said), rules())
    text = analyse(request)
    assert parse(text, request.transcript, rules()).refused == ()
    found: dict[str, Any] = json.loads(text)
    return found


@pytest.mark.parametrize(
    ("said", "taken"),
    [
        ("Нет, не так, он в Киеве", "corrected"),
        ("не так", "corrected"),
        ("Это неправда!", "corrected"),
        ("ты путаешь его с братом", "corrected"),
        ("Нет же, это не он", "corrected"),
        ("Я не про это", "corrected"),
        ("Ні, не так.", "corrected"),
        ("Ні, він у Києві", "corrected"),
        ("Ти помиляєшся", "corrected"),
        ("це неправильно", "corrected"),
        ("That's wrong", "corrected"),
        ("that is not true", "corrected"),
        ("No, he lives in Kyiv", "corrected"),
        ("not quite", "corrected"),
        ("I didn't ask that", "corrected"),
        ("я же говорил, что он в Киеве", "said-before"),
        ("я ж казала, що він у Києві", "said-before"),
        ("I told you he is in Kyiv", "said-before"),
        ("Не понял", "unclear"),
        ("Що ти маєш на увазі?", "unclear"),
        ("what do you mean?", "unclear"),
        ("А где же живёт Петров?", "repeated"),
        ("можно покороче?", "shorter"),
        ("занадто довго", "shorter"),
        ("more detail please", "longer"),
        ("українською, будь ласка", "language"),
        ("in English please", "language"),
        ("Дякую!", "thanked"),
        ("ok thanks", "thanked"),
        ("Отлично!", "thanked"),
        ("Сегодня не так холодно", "none"),
        ("Нет, спасибо", "none"),
        ("Ні, дякую", "none"),
        ("no worries, thanks", "none"),
        ("Ошибка в коде на строке 5", "none"),
        ("Wrong number called me yesterday", "none"),
        ("Короче, я пошёл домой и там встретил его", "none"),
        ("Я говорю по-русски", "none"),
        ("Погода сегодня хорошая", "none"),
        ("нет", "none"),
    ],
)
def test_how_an_answer_was_taken_is_told_by_what_is_said_next(said: str, taken: str) -> None:
    """Words that only look like a complaint are none."""
    assert reactions(talk("Где живёт Петров?", "Он живёт в Туле.", said)) == {2: taken}


def test_a_no_to_a_question_of_the_assistant_is_no_correction() -> None:
    """It had asked."""
    assert reactions(talk("Завтра врач", "Напомнить тебе утром?", "Нет, лучше вечером")) == {2: "none"}


def test_only_the_owners_own_words_judge() -> None:
    """A forward of somebody's "wrong!" is about something else, and the last answer of all got no reaction."""
    forward = TranscriptLine(3, "user", "Анна", NOON, "Это неправда!", forwarded_from="Олег")
    assert reactions([*talk("Где он?", "В Туле."), forward]) == {2: "none"}
    assert reactions(talk("Где он?", "В Туле.")) == {2: "none"}
    assert reactions([]) == {}


@pytest.mark.parametrize(
    ("language", "said", "lesson"),
    [
        ("ru", ("Какой адрес у офиса?", "Садовая, 5.", "Нет, не так.", "Понял."), "«адрес, офис»"),
        ("uk", ("Яка погода буде у Львові?", "Сонячно.", "Ні, не так.", "Гаразд."), "«погода»"),
        ("en", ("Do museum tickets sell?", "Yes.", "That's wrong.", "Sorry."), "museum, ti"),
    ],
)  # fmt: skip
def test_a_correction_teaches_what_to_be_careful_with(language: Language, said: tuple[str, ...], lesson: str) -> None:
    """In the owner's language and in common words: names belong to facts, not to lessons."""
    told = reply(language, *said)
    first, second = told["responses"]
    assert (first["message"], first["verdict"], second["verdict"]) == (2, "incorrect", "correct")
    assert len(first["errors"]) == len(first["lessons"]) == 1
    assert lesson in first["lessons"][0]
    assert "Льв" not in first["lessons"][0]
    assert second["lessons"] == second["errors"] == []
    assert told["topic"] == said[0]
    assert told["session_summary"]["verdict"] == "partially_correct"
    assert told["session_summary"]["summary"].startswith(said[0])


@pytest.mark.parametrize(
    ("language", "said", "topic"),
    [
        ("en", ("I run a marathon in May.", "I see.", "I hate long meetings.", "I see."), "I run a marathon in May"),
        ("ru", ("Продали машину.", "Запомню этот ответ.", "Машина старая.", "Хороший ответ."), "Продали машину"),
        ("uk", ("Зима холодна.", "Яка ж відповідь.", "Отже, зима.", "Така відповідь."), "Зима холодна"),
        (
            "en",
            (
                "Hi!",
                "Hi.",
                "Long day, three meetings.",
                "I see.",
                "Kate moved to Leeds, and the wedding in Leeds is on"
                " Friday, with Tom and Willow and all of their friends from the club",
                "Noted.",
            ),
            "Kate moved to Leeds, and the wedding in Leeds is on Friday…",
        ),
    ],
)
def test_a_session_is_called_by_what_the_owner_said_of_its_subject(
    language: Language, said: tuple[str, ...], topic: str
) -> None:
    """In his own words, one phrase of them; what the assistant alone keeps saying is no topic."""
    assert reply(language, *said)["topic"] == topic


def test_an_answer_in_another_language_broke_the_rule_of_languages() -> None:
    """Also where the owner let it pass; where nothing speaks against an answer it is right."""
    of_language = name_of_rule(next(rule for rule in rules() if "language" in rule))
    found = judge(talk("Где сейчас живёт мой брат?", "I have no idea about that, sorry."), rules(), "ru")
    assert (found[2].verdict, found[2].rules_ignored) == ("partially_correct", (of_language,))
    kept = judge(talk("Где сейчас живёт мой брат?", "Он сейчас живёт в Туле."), rules(), "ru")
    assert (kept[2].verdict, kept[2].rules_used, kept[2].errors) == ("correct", (of_language,), ())


@pytest.mark.parametrize("language", ["ru", "uk", "en"])
def test_every_phrase_of_the_rules_is_there_in_every_language(language: Language) -> None:
    """With a subject and without one, and for any number of answers."""
    complaints = (
        "Ні, не так.",
        "я ж казала",
        "не понял",
        "Где он живёт теперь, брат?",
        "покороче",
        "подробнее",
        "in English",
    )
    for complaint in complaints:
        lines = talk("Где он живёт теперь, брат?", "Там.", complaint)
        for subjects in ({}, {2: "адрес"}):
            ruling = judge(lines, rules(), language, subjects)[2]
            assert ruling.verdict != "correct"
            assert all(ruling.errors)
            assert all(ruling.lessons)
    for count in (0, 1, 2, 5, 21):
        rulings = {n: judge(talk("Где?", "Там."), (), language)[2] for n in range(count)}
        assert sum_up(rulings, "Тема", language).summary.startswith("Тема — ")
