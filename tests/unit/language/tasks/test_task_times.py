"""Times ahead, found in sentences in three languages."""

from __future__ import annotations

from datetime import datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given, settings, strategies as st
from support.long import examples

from internal.language.tasks.times import find_time, unread_time

KYIV = ZoneInfo("Europe/Kyiv")
WEDNESDAY = datetime(2026, 11, 25, 15, 0, tzinfo=KYIV)


AHEAD: tuple[tuple[str, str, str | None], ...] = (
    ("нагадай у п'ятницю подзвонити мамі", "2026-11-27", None),
    ("нагадай у п’ятницю", "2026-11-27", None),
    ("надо позвонить Марии завтра", "2026-11-26", None),
    ("I promised Anna to send the report by Friday", "2026-11-27", None),
    ("послезавтра", "2026-11-27", None),
    ("the day after tomorrow at 8:30 am", "2026-11-27 08:30", None),
    ("напомни через полчаса выключить духовку", "2026-11-25 15:30", None),
    ("нагадай за годину про каву", "2026-11-25 16:00", None),
    ("remind me in 20 minutes", "2026-11-25 15:20", None),
    ("через неделю сдать анализы", "2026-12-02", None),
    ("in 3 days", "2026-11-28", None),
    ("через 2 дня в 10:00 созвон", "2026-11-27 10:00", None),
    ("напомни завтра в 9 утра", "2026-11-26 09:00", None),
    ("нагадай о 18:30 забрати дітей", "2026-11-25 18:30", None),
    ("remind me tonight to call mom", "2026-11-25 19:00", None),
    ("завтра ввечері", "2026-11-26 19:00", None),
    ("tomorrow morning", "2026-11-26 09:00", None),
    ("on May 15 at 3pm", "2027-05-15 15:00", None),
    ("15 мая", "2027-05-15", None),
    ("1 грудня", "2026-12-01", None),
    ("20 числа", "2026-12-20", None),
    ("on the 30th", "2026-11-30", None),
    ("25.12", "2026-12-25", None),
    ("перекинь зубного на субботу на 11", "2026-11-28 11:00", None),
    ("на п'ятницю на 10, ок?", "2026-11-27 10:00", None),
    ("move it to saturday 11", "2026-11-28 11:00", None),
    ("в субботу 11 яблок", "2026-11-28", None),
    ("до двадцатого марта", "2027-03-20", None),
    ("до двадцять першого травня", "2027-05-21", None),
    ("by the twentieth of March", "2027-03-20", None),
    ("on december third", "2026-12-03", None),
    ("до конца мая", "2027-05-31", None),
    ("вернёт до двадцатого, сказал", "2026-12-20", None),
    ("двадцять сьомого мама захищається", "2026-11-27", None),
    ("9-го придёт мастер", "2026-12-09", None),
    ("on the twenty-sixth", "2026-11-26", None),
    ("by 10th latest", "2026-12-10", None),
    ("a week tomorrow", "2026-12-03", None),
    ("friday fortnight", "2026-12-11", None),
    ("у найближчі вихідні", "2026-11-28", None),
    ("next weekend", "2026-12-05", None),
    ("twice a month", "2026-11-26", "FREQ=WEEKLY;INTERVAL=2"),
    ("два раза в неделю", "2026-11-26", "FREQ=WEEKLY;BYDAY=MO,TH"),
    ("раз на три місяці", "2026-11-26", "FREQ=MONTHLY;INTERVAL=3"),
    ("до конца месяца", "2026-11-30", None),
    ("до кінця тижня", "2026-11-29", None),
    ("by the end of the year", "2026-12-31", None),
    ("by the end of next week", "2026-12-06", None),
    ("before the end of next month", "2026-12-31", None),
    ("до конца следующей недели", "2026-12-06", None),
    ("в конце следующего месяца", "2026-12-31", None),
    ("до кінця наступного тижня", "2026-12-06", None),
    ("наприкінці наступного року", "2027-12-31", None),
    ("в понедельник на следующей неделе", "2026-11-30", None),
    ("в среду в 3 дня", "2026-12-02 15:00", None),
    ("напомни в 5", "2026-11-25 17:00", None),
    ("remind me at 9", "2026-11-25 21:00", None),
    ("2026-12-01 14:00", "2026-12-01 14:00", None),
    ("каждую неделю", "2026-11-26", "FREQ=WEEKLY"),
    ("раз в неделю", "2026-11-26", "FREQ=WEEKLY"),
    ("every Monday at 9", "2026-11-30 09:00", "FREQ=WEEKLY;BYDAY=MO"),
    ("щопонеділка о 10", "2026-11-30 10:00", "FREQ=WEEKLY;BYDAY=MO"),
    ("каждый вторник и четверг в 19:00", "2026-11-26 19:00", "FREQ=WEEKLY;BYDAY=TU,TH"),
    ("every other Friday", "2026-11-27", "FREQ=WEEKLY;INTERVAL=2;BYDAY=FR"),
    ("по будням в 7:15", "2026-11-26 07:15", "FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR"),
    ("щодня о 8", "2026-11-26 08:00", "FREQ=DAILY"),
    ("каждый день в 22:00", "2026-11-25 22:00", "FREQ=DAILY"),
    ("щоранку", "2026-11-26 09:00", "FREQ=DAILY"),
    ("every evening at 9", "2026-11-25 21:00", "FREQ=DAILY"),
    ("on the 1st of every month", "2026-12-01", "FREQ=MONTHLY;BYMONTHDAY=1"),
    ("каждое 5 число", "2026-12-05", "FREQ=MONTHLY;BYMONTHDAY=5"),
    ("every hour", "2026-11-25 16:00", "FREQ=HOURLY"),
    ("at half past four", "2026-11-25 16:30", None),
    ("at a quarter to six", "2026-11-25 17:45", None),
    ("tomorrow at seven thirty pm", "2026-11-26 19:30", None),
    ("ten past eight tonight", "2026-11-25 20:10", None),
    ("завтра в половине пятого", "2026-11-26 16:30", None),
    ("полпятого", "2026-11-25 16:30", None),
    ("без четверти шесть", "2026-11-25 17:45", None),
    ("в десять минут пятого", "2026-11-25 16:10", None),
    ("завтра в девять вечера", "2026-11-26 21:00", None),
    ("в час ночи", "2026-11-26 01:00", None),
    ("о пів на п'яту", "2026-11-25 16:30", None),
    ("за чверть шоста", "2026-11-25 17:45", None),
    ("завтра о дев'ятій", "2026-11-26 09:00", None),
    ("о 19-й", "2026-11-25 19:00", None),
    ("в птн в 10", "2026-11-27 10:00", None),
    ("каждый пн в 19", "2026-11-30 19:00", "FREQ=WEEKLY;BYDAY=MO"),
    ("щовт о 8", "2026-12-01 08:00", "FREQ=WEEKLY;BYDAY=TU"),
    ("every tue and thurs at 8am", "2026-11-26 08:00", "FREQ=WEEKLY;BYDAY=TU,TH"),
    ("по пт в 9 утра", "2026-11-27 09:00", "FREQ=WEEKLY;BYDAY=FR"),
    ("on wensday at 9", "2026-12-02 09:00", None),
    ("в пятнецу в 10", "2026-11-27 10:00", None),
    ("the parents evening on Friday", "2026-11-27", None),
)


def test_a_time_ahead_is_read() -> None:
    """A day without an hour is a whole day; a weekday is the next one, and today's only before its hour."""
    assert tuple((text, *read(text)) for text, _, _ in AHEAD) == AHEAD


@pytest.mark.parametrize("text", ["at the weekend", "на выходных", "на вихідних", "this weekend"])
def test_on_saturday_the_rest_of_the_weekend_is_sunday(text: str) -> None:
    """A whole day that is nearly over is no time to do anything."""
    assert read(text, WEDNESDAY + timedelta(days=3)) == ("2026-11-29", None)


def read(text: str, at: datetime = WEDNESDAY) -> tuple[str | None, str | None]:
    """Day, or day and hour, and how it recurs."""
    if (found := find_time(text, at)) is None:
        return None, None
    shown = f"{found.moment:%Y-%m-%d}" if found.whole_day else f"{found.moment:%Y-%m-%d %H:%M}"
    return shown, found.recurrence


@pytest.mark.parametrize(
    ("text", "moment"),
    [
        ("Dentist on Friday at 10:00, remind me an hour before", "2026-11-27 09:00"),
        ("В пятницу в 10:00 к стоматологу, напомни за час", "2026-11-27 09:00"),
        ("У п'ятницю о 10:00 треба до стоматолога, нагадай мені за годину", "2026-11-27 09:00"),
        ("Meeting tomorrow at 2pm, remind me 30 minutes in advance", "2026-11-26 13:30"),
        ("15 мая день рождения мамы, напомни за 2 дня", "2027-05-13"),
        ("сегодня в 15:20 созвон, напомни за час", "2026-11-25 15:20"),
        ("напомни за час до встречи", None),
        ("remind me two days before the trip", None),
        ("нагадай за годину про каву", "2026-11-25 16:00"),
    ],
)
def test_so_long_before_a_time_is_counted_back_from_it(text: str, moment: str | None) -> None:
    """Not from now, as "за годину" alone would be in Ukrainian; before what has no time nothing is guessed."""
    found = find_time(text, WEDNESDAY)
    shown = None if found is None else f"{found.moment:{'%Y-%m-%d' if found.whole_day else '%Y-%m-%d %H:%M'}}"
    assert shown == moment


@pytest.mark.parametrize(
    "text",
    [
        "у меня 2 кота",
        "remind me to buy milk",
        "вчера было хорошо",
        "I ran 5 km",
        "",
        "in at two shops",
        "в пять раз",
        "третього разу не буде",
        "половина девятого",
        "двадцать первого века",
        "the second time",
        "первого взгляда",
        "finished first, second",
    ],
)
def test_what_names_no_time_ahead_is_none(text: str) -> None:
    """Numbers are no hours, and the past is no time ahead."""
    assert find_time(text, WEDNESDAY) is None


@pytest.mark.parametrize(
    ("text", "unread"),
    [
        ("remind me tomorrow every blue moon to call", "every blue"),
        ("напомни завтра, пятнецу, про отчет", "пятнецу"),
        ("remind me at 9 about the half past four meeting", ""),
        ("напомни в 9 купить завтрак", ""),
    ],
)
def test_a_time_that_cannot_be_read_is_said(text: str, unread: str) -> None:
    """Another time that can be read belongs to what is to be done."""
    assert unread_time(text, find_time(text, WEDNESDAY), WEDNESDAY) == unread


def test_a_vague_time_is_not_sure() -> None:
    """ "Next week" is some day of it."""
    found = find_time("на следующей неделе записаться к врачу", WEDNESDAY)
    assert found is not None
    assert not found.sure


@settings(max_examples=examples(40))
@given(st.text(max_size=80), st.datetimes(datetime(2020, 1, 1), datetime(2035, 1, 1), timezones=st.just(KYIV)))
def test_whatever_is_found_lies_ahead(text: str, at: datetime) -> None:
    """Or today, for a whole day; and its characters are in the text."""
    found = find_time(text, at)
    if found is not None:
        assert found.moment >= at - timedelta(days=1) or "20" in text
        assert all(0 <= start <= end <= len(text) for start, end in found.spans)
