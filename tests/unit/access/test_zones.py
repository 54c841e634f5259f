"""Time zones as people write them."""

from __future__ import annotations

from datetime import UTC, datetime
from zoneinfo import ZoneInfo, available_timezones

import pytest
from hypothesis import given, strategies as st

from internal.access.model import LANGUAGES, Language, nearest_language
from internal.access.zones import guess_zone, parse_zone, zone_label, zones_near

WINTER = datetime(2026, 1, 15, 12, 0, tzinfo=UTC)


@pytest.mark.parametrize(
    ("text", "zone"),
    [
        ("Europe/Kyiv", "Europe/Kyiv"),
        ("europe/kiev", "Europe/Kyiv"),
        ("america/argentina/buenos aires", "America/Argentina/Buenos_Aires"),
        ("Київ", "Europe/Kyiv"),
        ("Киев", "Europe/Kyiv"),
        ("Львів", "Europe/Kyiv"),
        ("  нью-йорк ", "America/New_York"),
        ("Warsaw", "Europe/Warsaw"),
        ("UTC+3", "Etc/GMT-3"),
        ("gmt -5", "Etc/GMT+5"),
        ("UTC\u22124", "Etc/GMT+4"),
        ("+5:30", "Asia/Kolkata"),
        ("+0545", "Asia/Kathmandu"),
        ("+00:00", "UTC"),
        ("utc", "UTC"),
    ],
)
def test_zones_are_read_as_people_write_them(text: str, zone: str) -> None:
    """IANA names, cities in three languages and offsets all lead to one zone."""
    assert parse_zone(text) == zone


@pytest.mark.parametrize("text", ["", "Марс", "+25", "UTC+3:15", "3", "завтра в 5", "Etc/", "/etc/passwd"])
def test_what_is_no_zone_is_none(text: str) -> None:
    """Nothing is guessed from other words."""
    assert parse_zone(text) is None


@given(st.text(max_size=40))
def test_whatever_is_typed_ends_in_a_usable_zone_or_none(text: str) -> None:
    """A parsed zone can always be used to tell the time."""
    zone = parse_zone(text)
    assert zone is None or ZoneInfo(zone).key == zone


@given(st.integers(min_value=-12, max_value=14))
def test_whole_offsets_keep_their_sign(hours: int) -> None:
    """UTC+3 is three hours ahead of UTC, not behind it as the name Etc/GMT+3 would be."""
    zone = parse_zone(f"UTC{hours:+d}")
    assert zone is not None
    offset = WINTER.astimezone(ZoneInfo(zone)).utcoffset()
    assert offset is not None
    assert offset.total_seconds() == hours * 3600


@given(st.sampled_from(sorted(available_timezones())), st.sampled_from(LANGUAGES))
def test_every_zone_has_a_label(zone: str, lang: Language) -> None:
    """Whatever zone is set can be shown, with its offset."""
    assert "UTC" in zone_label(zone, lang, WINTER)


@pytest.mark.parametrize(
    ("place", "current", "known", "zones"),
    [
        ((50.45, 30.52), "UTC", (), ["Europe/Kyiv"]),
        ((46.48, 30.73), "Europe/Kyiv", (), ["Europe/Kyiv", "Europe/Simferopol"]),
        ((48.14, 11.58), "UTC", ("Europe/Berlin",), ["Europe/Berlin"]),
        ((48.86, 2.35), "UTC", ("Europe/Berlin",), ["Europe/Paris"]),
        ((59.93, 30.31), "Europe/Moscow", (), ["Europe/Helsinki", "Europe/Moscow"]),
        ((-33.87, 151.21), "UTC", (), ["Australia/Sydney"]),
        ((40.71, -74.01), "UTC", (), ["America/New_York"]),
    ],
)
def test_a_place_lies_in_one_of_the_zones_near(
    place: tuple[float, float], current: str, known: tuple[str, ...], zones: list[str]
) -> None:
    """One where it is plain, else all that may be; one's own zone stands for others of the same time."""
    assert zones_near(*place, WINTER, current, known) == zones


@given(st.floats(-90, 90), st.floats(-180, 180))
def test_every_place_has_a_zone(latitude: float, longitude: float) -> None:
    """At sea and at the poles too."""
    assert 1 <= len(zones_near(latitude, longitude, WINTER, "UTC")) <= 4


def test_labels_speak_the_users_language() -> None:
    """The city stands in the user's language beside today's offset."""
    assert [zone_label("Europe/Kyiv", lang, WINTER) for lang in LANGUAGES] == [
        "Киев, UTC+2",
        "Київ, UTC+2",
        "Kyiv, UTC+2",
    ]
    assert zone_label("Etc/GMT+4", "en", WINTER) == "UTC\u22124"
    assert zone_label("Asia/Kathmandu", "en", WINTER).endswith("UTC+5:45")


@pytest.mark.parametrize(
    ("code", "lang", "zone"),
    [("uk", "uk", "Europe/Kyiv"), ("ru-RU", "ru", "Europe/Moscow"), ("be", "ru", "Europe/Minsk"), (None, "en", "UTC")],
)
def test_telegrams_language_suggests_a_language_and_a_zone(code: str | None, lang: Language, zone: str) -> None:
    """The first guess comes from the language code alone."""
    assert (nearest_language(code), guess_zone(code)) == (lang, zone)
