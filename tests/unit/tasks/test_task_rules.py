"""When tasks are told of: across changes of the clock, never twice for one day and never none."""

from __future__ import annotations

from datetime import UTC, date, datetime, time, timedelta
from itertools import pairwise
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given, settings, strategies as st
from support.long import examples

from internal.errors import Refused
from internal.tasks.model import (
    Schedule,
    Task,
    TaskKind,
    TaskState,
    after_contact,
    first_firing,
    next_firing,
    postponed,
    recurrence_of,
    whole_day,
)

NINE = time(9)
ZONES = ("Europe/Kyiv", "America/New_York", "Africa/Cairo", "Australia/Lord_Howe", "America/Sao_Paulo", "UTC")

walls = st.datetimes(datetime(2024, 1, 1), datetime(2027, 12, 31)).map(
    lambda wall: wall.replace(second=0, microsecond=0)
)
zones = st.sampled_from(ZONES)


def firings(schedule: Schedule, count: int, after: datetime) -> list[datetime]:
    found = []
    for _ in range(count):
        moment = next_firing(schedule, NINE, after)
        assert moment is not None
        found.append(moment)
        after = moment
    return found


@settings(max_examples=examples(20))
@given(walls, zones, st.integers(1, 4))
def test_a_daily_task_is_told_of_once_a_day_over_every_change_of_the_clock(
    wall: datetime, zone: str, every: int
) -> None:
    """Each day has its one moment, by the clock on the wall; an hour left out in spring is told of by its own day."""
    place = ZoneInfo(zone)
    due = wall.replace(tzinfo=place)
    schedule = Schedule(due.astimezone(UTC), False, recurrence_of(f"FREQ=DAILY;INTERVAL={every}", due, zone), zone)
    found = firings(schedule, 200, due.astimezone(UTC) - timedelta(minutes=1))
    days = [moment.astimezone(place).date() for moment in found]
    assert {(after - before).days for before, after in pairwise(days)} == {every}
    normal = due.astimezone(UTC).astimezone(place).replace(tzinfo=None, fold=0).time()
    shown = [moment.astimezone(place).time() for moment in found]
    assert sum(one != normal for one in shown) <= 5


@settings(max_examples=examples(15))
@given(walls, zones, st.sets(st.sampled_from(("MO", "TU", "WE", "TH", "FR", "SA", "SU")), min_size=1))
def test_a_whole_day_of_a_week_is_told_of_at_its_hour(wall: datetime, zone: str, days: set[str]) -> None:
    """No weekday that is named is passed over, none is told of twice."""
    place = ZoneInfo(zone)
    due = whole_day(wall.date(), zone)
    rule = recurrence_of(f"FREQ=WEEKLY;BYDAY={','.join(sorted(days))}", due, zone)
    found = firings(Schedule(due, True, rule, zone), 60, due - timedelta(days=1))
    local = [moment.astimezone(place) for moment in found]
    assert len({moment.date() for moment in local}) == 60
    assert {("MO", "TU", "WE", "TH", "FR", "SA", "SU")[moment.weekday()] for moment in local} <= days
    span = (local[-1].date() - local[0].date()).days + 1
    assert abs(span / 7 * len(days) - 60) <= len(days)
    assert all(moment.time() == NINE for moment in local)


@settings(max_examples=examples(30))
@given(walls, zones, st.integers(0, 400))
def test_the_next_time_does_not_hang_on_when_one_looks(wall: datetime, zone: str, minutes: int) -> None:
    """Looked at any moment between two times, the later one is next."""
    due = wall.replace(tzinfo=ZoneInfo(zone)).astimezone(UTC)
    schedule = Schedule(due, False, recurrence_of("FREQ=DAILY", due, zone), zone)
    one, other = firings(schedule, 2, due)
    between = min(one + timedelta(minutes=minutes), other - timedelta(microseconds=1))
    assert next_firing(schedule, NINE, between) == other


def test_an_hour_that_comes_twice_is_told_of_the_first_time() -> None:
    """03:30 on the night in which Kyiv sets its clocks back."""
    due = datetime(2026, 10, 24, 3, 30, tzinfo=ZoneInfo("Europe/Kyiv"))
    schedule = Schedule(due, False, "FREQ=DAILY", "Europe/Kyiv")
    assert firings(schedule, 2, due) == [
        datetime(2026, 10, 25, 0, 30, tzinfo=UTC),
        datetime(2026, 10, 26, 1, 30, tzinfo=UTC),
    ]


def test_an_hour_that_is_left_out_is_told_of_all_the_same() -> None:
    """03:30 on the night in which Kyiv sets its clocks forward is 04:30."""
    due = datetime(2026, 3, 28, 3, 30, tzinfo=ZoneInfo("Europe/Kyiv"))
    schedule = Schedule(due, False, "FREQ=DAILY", "Europe/Kyiv")
    assert firings(schedule, 1, due) == [datetime(2026, 3, 29, 1, 30, tzinfo=UTC)]


def test_the_last_day_of_a_month_is_that_of_every_month() -> None:
    """The 31st of February is its 28th."""
    due = datetime(2026, 1, 31, 9, tzinfo=UTC)
    rule = recurrence_of("rrule:freq=monthly", due, "UTC")
    found = firings(Schedule(due, False, rule, "UTC"), 4, due)
    assert [moment.date() for moment in found] == [
        date(2026, 2, 28),
        date(2026, 3, 31),
        date(2026, 4, 30),
        date(2026, 5, 31),
    ]


@pytest.mark.parametrize(
    "rule",
    [
        "",
        "x",
        "FREQ=SECONDLY",
        "FREQ=MINUTELY",
        "FREQ=DAILY;BYHOUR=3",
        "FREQ=DAILY;INTERVAL=0",
        "FREQ=DAILY;INTERVAL=x",
        "FREQ=WEEKLY;BYDAY=XX",
        "FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=30",
        "FREQ=DAILY;FREQ=WEEKLY",
        "FREQ=HOURLY;BYDAY=MO",
        "FREQ=DAILY;INTERVAL=7;BYDAY=MO",
        "FREQ=DAILY;BYSETPOS=2",
        "FREQ=MONTHLY;BYDAY=9MO",
        "FREQ=MONTHLY;BYMONTHDAY=0",
        "FREQ=DAILY;UNTIL=never",
    ],
)
def test_a_rule_that_cannot_be_kept_is_refused(rule: str) -> None:
    """Told too often, on no day, or not at all readable."""
    with pytest.raises(Refused) as refused:
        recurrence_of(rule, datetime(2026, 1, 31, tzinfo=UTC), "UTC")
    assert refused.value.reason == "recurrence"


def test_a_recurrence_ends_where_it_says() -> None:
    """After its count, and after its last day."""
    due = datetime(2026, 1, 1, 9, tzinfo=UTC)
    twice = Schedule(due, False, recurrence_of("FREQ=DAILY;COUNT=2", due, "UTC"), "UTC")
    assert next_firing(twice, NINE, due + timedelta(days=1)) is None
    until = Schedule(due, False, recurrence_of("FREQ=DAILY;UNTIL=20260103T230000Z", due, "UTC"), "UTC")
    assert next_firing(until, NINE, due + timedelta(days=2)) is None
    by_day = Schedule(due, False, recurrence_of("FREQ=DAILY;UNTIL=20260103", due, "UTC"), "UTC")
    assert next_firing(by_day, NINE, due + timedelta(days=1)) == due + timedelta(days=2)
    assert next_firing(by_day, NINE, due + timedelta(days=2)) is None


def test_hours_are_counted_as_they_pass() -> None:
    """Also while the clock is set."""
    due = datetime(2026, 3, 29, 0, 0, tzinfo=UTC)
    schedule = Schedule(due, False, recurrence_of("FREQ=HOURLY;INTERVAL=2", due, "Europe/Kyiv"), "Europe/Kyiv")
    assert [moment - due for moment in firings(schedule, 3, due)] == [timedelta(hours=n) for n in (2, 4, 6)]


@given(st.text("FREQ=DAILYWKMONTHBUC;,-0123456789SETPOS", max_size=60))
def test_whatever_a_rule_says_it_is_read_or_refused(rule: str) -> None:
    """With no other error, and what is read has its times."""
    due = datetime(2026, 1, 31, 9, tzinfo=UTC)
    try:
        text = recurrence_of(rule, due, "UTC")
    except Refused:
        return
    next_firing(Schedule(due, False, text, "UTC"), NINE, due)


def test_what_is_due_today_is_told_of_later_today() -> None:
    """Its hour is past: three hours from now, but no later than eight in the evening, if that is still ahead."""
    today = Schedule(whole_day(date(2026, 11, 25), "Europe/Kyiv"), True, None, "Europe/Kyiv")
    place = ZoneInfo("Europe/Kyiv")

    def told_at(hour: int, minute: int = 0) -> str:
        found = first_firing(today, NINE, datetime(2026, 11, 25, hour, minute, tzinfo=place))
        assert found is not None
        return f"{found.astimezone(place):%d %H:%M}"

    assert [told_at(7), told_at(12), told_at(18), told_at(22)] == ["25 09:00", "25 15:00", "25 20:00", "25 22:15"]
    assert first_firing(today, NINE, datetime(2026, 11, 26, 8, tzinfo=place)) is None


def test_putting_off_leads_to_the_hour_of_days() -> None:
    """Tomorrow and next week are told of at that hour by the clock on the wall; an hour is an hour."""
    now = datetime(2026, 10, 24, 12, tzinfo=UTC)
    assert postponed("hour", now, "Europe/Kyiv", NINE) == now + timedelta(hours=1)
    assert postponed("tomorrow", now, "Europe/Kyiv", NINE) == datetime(2026, 10, 25, 7, tzinfo=UTC)
    assert postponed("week", now, "Europe/Kyiv", NINE) == datetime(2026, 10, 31, 7, tzinfo=UTC)


def test_a_deadline_is_told_of_on_its_eve_and_on_its_day() -> None:
    """Where the eve's hour is over, later that day; what is due on a day, on that day alone."""
    friday = datetime(2026, 11, 27, tzinfo=UTC)
    deadline = Schedule(friday, True, None, "UTC", until=True)
    monday, afternoon = friday - timedelta(days=4), friday - timedelta(hours=10)
    eve = first_firing(deadline, NINE, monday)
    assert eve == friday - timedelta(hours=15)
    assert next_firing(deadline, NINE, eve) == friday + timedelta(hours=9)
    assert first_firing(deadline, NINE, afternoon) == afternoon + timedelta(hours=3)
    assert first_firing(Schedule(friday, True, None, "UTC"), NINE, monday) == friday + timedelta(hours=9)


@pytest.mark.parametrize(
    ("rule", "again"),
    [
        ("FREQ=MONTHLY;BYMONTHDAY=28,29;BYSETPOS=-1", date(2026, 6, 18)),
        ("FREQ=MONTHLY;INTERVAL=2;BYMONTHDAY=1", date(2026, 7, 18)),
        ("FREQ=WEEKLY;INTERVAL=3", date(2026, 6, 8)),
        ("FREQ=WEEKLY;BYDAY=SU", date(2026, 5, 24)),
    ],
)
def test_a_rhythm_goes_on_a_whole_interval_after_a_contact(rule: str, again: date) -> None:
    """Whatever day of the month it began on; a named day of the week stays."""
    at = datetime(2026, 5, 18, 12, tzinfo=UTC)
    state, kind = TaskState.OPEN, TaskKind.CONTACT
    task = Task(1, "t", kind, state, "See Tom", "UTC", "chat", at, at, 1, recurrence=rule)
    assert after_contact(task, at).date() == again
