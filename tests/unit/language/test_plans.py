"""What the owner told of days to come without asking for a task."""

from datetime import UTC, datetime, timedelta

import pytest

from internal.language.commands.plans import plans_within

NOW = datetime(2026, 3, 4, 12, tzinfo=UTC)  # a Wednesday
FRIDAY = datetime(2026, 3, 6, tzinfo=UTC)


def _on_friday(*told: str) -> list[str]:
    lines = [(line, NOW + timedelta(minutes=20 * number)) for number, line in enumerate(told)]
    return [said for said, _ in plans_within(lines, FRIDAY, FRIDAY + timedelta(days=1), "en")]


@pytest.mark.parametrize(
    "line",
    [
        "We fly to Malta on March 6",
        "On Thursday I work, on Friday the piano tuner comes",
        "Booked a table for Friday",
        "У п'ятницю їдемо до Львова",
        "Післязавтра привезуть диван",
        "Записалась на пятницу на маникюр",
        "По пятницам у меня хор",
    ],
)
def test_a_line_that_names_the_day_is_a_plan(line: str) -> None:
    """In each language, before and behind the day, once and every week."""
    assert _on_friday(line) == [line]


@pytest.mark.parametrize(
    "line",
    [
        "On Thursday we fly to Malta",
        "В пятницу ходили в кино",
        "What am I doing on Friday?",
        "Напомни в пятницу купить хлеб",
        "Bought six eggs",
    ],
)
def test_other_days_the_past_questions_and_orders_are_none(line: str) -> None:
    """They tell nothing of the day that is asked about."""
    assert _on_friday(line) == []


def test_what_was_called_off_moved_or_corrected_is_no_plan_any_more() -> None:
    """A later line takes the plan away or gives it another day."""
    assert _on_friday("On Friday we go to the planetarium", "The planetarium is cancelled") == []
    assert _on_friday("On Friday we go to the planetarium", "planetarium on Saturday instead") == []
    assert _on_friday("On Thursday we see Tom", "sorry, Friday") == ["On Friday we see Tom"]
