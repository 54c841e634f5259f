"""A session within the budget of one prompt, and which of its answers are judged first."""

from __future__ import annotations

from datetime import UTC, datetime

from hypothesis import given, settings, strategies as st
from support.long import examples

from internal.agents.model import TranscriptLine
from internal.flows.analyst.transcript import fitted, responses_to_judge
from internal.llm.tokens import count_tokens

NOON = datetime(2026, 2, 7, 12, tzinfo=UTC)


def talk(*said: str) -> list[TranscriptLine]:
    return [
        TranscriptLine(n, "assistant" if n % 2 == 0 else "user", "Анна", NOON, text) for n, text in enumerate(said, 1)
    ]


def cost(lines: list[TranscriptLine]) -> int:
    return sum(count_tokens(line.text) + 25 for line in lines)


def test_a_session_that_fits_is_shown_as_it_is() -> None:
    """Word for word."""
    lines = talk("Где он?", "В Туле. " * 300)
    assert fitted(lines) == lines


def test_long_lines_are_cut_in_their_middle_before_any_is_left_out() -> None:
    """What is asked stands at the beginning or at the end."""
    lines = talk("Начало " + "слово " * 3_000 + "конец?", "Ответ.")
    first, second = fitted(lines, budget=1_000)
    assert first.text.startswith("Начало ")
    assert first.text.endswith(" конец?")
    assert " … " in first.text
    assert second == lines[1]


def test_of_a_session_without_end_the_beginning_and_the_end_are_shown() -> None:
    """With their own numbers."""
    lines = talk(*(f"line {n} " + "слово " * 10 for n in range(2_000)))
    shown = [line.number for line in fitted(lines, budget=4_000)]
    assert shown[:10] == list(range(1, 11))
    assert shown[-1] == 2_000
    assert shown[10:] == list(range(shown[10], 2_001))


@settings(max_examples=examples(40))
@given(st.lists(st.text(max_size=600), max_size=30), st.integers(1_000, 4_000))
def test_whatever_was_said_it_keeps_to_the_budget(said: list[str], budget: int) -> None:
    """In order, each line once, none that was not said; only the head may cost more than there is."""
    lines = talk(*said)
    shown = fitted(lines, budget)
    numbers = [line.number for line in shown]
    assert numbers == sorted(set(numbers))
    assert set(numbers) <= {line.number for line in lines}
    assert cost(shown) <= budget or len(shown) <= 10


def test_answers_that_were_complained_about_are_judged_first() -> None:
    """Then the latest; no more than there is room for."""
    lines = talk("Где он?", "В Туле.", "Не так.", "Понял.", "Спасибо!", "Пожалуйста.", "А она?", "Там же.")
    assert responses_to_judge(lines, 9) == [2, 8, 6, 4]
    assert responses_to_judge(lines, 2) == [2, 8]
    assert responses_to_judge([], 2) == []
