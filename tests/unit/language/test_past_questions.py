"""Questions about what was told so far: how often something is, what led to something, and the lines that answer."""

from __future__ import annotations

import pytest

from internal.language.chronicle.past_questions import answering, past_question

NAMES = {1: ["Олег", "Oleh"], 2: ["Аня", "Ганна", "Anna"], 3: ["Tom"]}

LINES = (
    "Saw Oleh today",
    "Oleh likes tea",
    "How often do I see Oleh?",
    "how many times have I met Oleh",
    "Went to the gym",
    "Gym again, my legs hurt",
    "Called grandma",
    "The landlord sold the flat, so we moved",
    "The move led to a quarrel",
    "Вчера виделась с Олегом",
    "Сходила в бассейн",
    "Аня развелась, потому что муж уехал",
    "Хозяин продал квартиру. Поэтому мы переехали.",
    "После переезда мы поссорились",
    "Подзвонила бабусі",
    "Ми переїхали через шум",
    "Swam with Anna this morning",
    "packed in running for good, my knee's been murder since the race",
    "кинула я ті нічні чергування, бо спина не витримувала",
)


@pytest.mark.parametrize(
    ("question", "answers"),
    [
        ("How often do I see Oleh?", [0, 9]),
        ("how many times have I mentioned Oleh", [0, 1, 9]),
        ("How often do I go to the gym?", [4, 5]),
        ("How often do I call grandma?", [6]),
        ("What led to the move?", [7]),
        ("what caused our quarrel", [8]),
        ("Как часто я вижусь с Олегом?", [0, 9]),
        ("сколько раз я ходила в бассейн", [10]),
        ("Из-за чего Аня развелась?", [11]),
        ("Что привело к переезду?", [12]),
        ("Як часто я бачуся з Олегом?", [0, 9]),
        ("Як часто я дзвоню бабусі?", [14]),
        ("Через що ми переїхали?", [15]),
        ("How many times have I been swimming?", [16]),
        ("how come I gave up running?", [17]),
        ("через що я пішла з нічних?", [18]),
        ("How often do I see Tom?", []),
        ("Что привело к нашей свадьбе?", []),
        ("How often do trains go to Leeds?", None),
        ("What led to the French revolution?", None),
        ("Через що почалася війна?", None),
    ],
)
def test_the_lines_that_answer(question: str, answers: list[int] | None) -> None:
    """In any form of the words; none where nothing was told; None of what is nobody's own."""
    asked = past_question(question)
    assert asked is not None
    assert answering(*asked, LINES, NAMES) == answers


@pytest.mark.parametrize(
    "text",
    ["How often should I water the plants?", "Как часто нужно менять масло?", "Чи часто ти помиляєшся?", "Saw Oleh"],
)
def test_advice_is_no_question_about_the_past(text: str) -> None:
    """Nor is what asks of the bot, or no question at all."""
    assert past_question(text) is None
