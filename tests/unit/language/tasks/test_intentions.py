"""Whether a line asks for something, intends or promises it at all."""

from datetime import UTC, datetime

import pytest

from internal.language.tasks.intentions import without_request

AT = datetime(2026, 11, 23, 12, tzinfo=UTC)


@pytest.mark.parametrize(
    "line",
    [
        "Купи молока", "Надо позвонить маме", "Завтра иду к врачу в 9", "Я обещал Лене помочь", "Позвонить маме",
        "Отправлю отчёт", "Мені треба купити хліб", "Нагадай про ліки", "Подзвоню бабусі", "Buy milk and eggs",
        "Call mum", "I'll send the report by Friday", "Don't forget the keys", "dentist tomorrow at 10",
        "I promised Anna the report", "We should fix the roof",
    ],
)  # fmt: skip
def test_requests_promises_and_plans_are_seen_without_a_rule_of_their_own(line: str) -> None:
    """An imperative, an infinitive, a future of the first person, a word of need, or a time to come."""
    assert without_request([(line, AT)], "ru") == []


@pytest.mark.parametrize(
    "line",
    [
        "Вчера ходили в кино", "Петров работает в ACME", "Жена работает врачом", "Смотрел фильм про космос",
        "Сегодня хорошая погода", "Ми вчора були в кіно", "Борис переехал в Киев", "We went to the cinema yesterday",
        "Petrov works at ACME", "My mother is a doctor", "I love coffee", "Boris moved to Kyiv",
    ],
)  # fmt: skip
def test_what_only_tells_is_no_request(line: str) -> None:
    """A model that makes a task of it has made it up."""
    assert without_request([(line, AT)], "ru") == [0]
