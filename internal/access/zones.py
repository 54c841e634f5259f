"""Finds time zones by the names that people use: `Europe/Kyiv`, `Київ`, `UTC+3`, `+5:30`."""

import math
import re
from collections.abc import Sequence
from datetime import datetime, timedelta
from functools import cache
from importlib.resources import files
from zoneinfo import ZoneInfo, available_timezones

from babel import Locale

from internal.access.model import LANGUAGES, Language

_OFFSET = re.compile(r"(?:utc|gmt)?\s*([+\-\u2212])\s*(\d{1,2})(?::?(00|30|45))?", re.IGNORECASE)

_DOUBT, _DOUBT_KM, _MOST_NEAR = 2, 100, 4
"""Limits of `zones_near`: a place may lie in a zone whose main city is up to twice as far as the nearest one, plus
100 km (St Petersburg is twice as far from Moscow as from Helsinki), and in at most four zones.
"""

_PLACE = re.compile(r"([+-])(\d{2}|\d{3})(\d{2})(\d{2})?(?=[+-]|$)")
"""A latitude or longitude of IANA's table: "+5026", "-0740023"."""

_BROKEN_OFFSETS = {
    # IANA has names for whole hours only (Etc/GMT-3); other offsets use a place that keeps them all year.
    "+3:30": "Asia/Tehran",
    "+4:30": "Asia/Kabul",
    "+5:30": "Asia/Kolkata",
    "+5:45": "Asia/Kathmandu",
    "+6:30": "Asia/Yangon",
    "+8:45": "Australia/Eucla",
    "+9:30": "Australia/Darwin",
    "-9:30": "Pacific/Marquesas",
}

_BY_LANGUAGE = {"uk": "Europe/Kyiv", "ru": "Europe/Moscow", "be": "Europe/Minsk", "kk": "Asia/Almaty"}

_RENAMED = {
    "Europe/Kiev": "Europe/Kyiv",
    "Asia/Calcutta": "Asia/Kolkata",
    "Asia/Katmandu": "Asia/Kathmandu",
    "Asia/Rangoon": "Asia/Yangon",
    "Asia/Saigon": "Asia/Ho_Chi_Minh",
}
"""Names that IANA replaced and CLDR still keeps."""

_KEPT_BY_CLDR = {new: old for old, new in _RENAMED.items()}

_SPELLINGS = {
    **dict.fromkeys(
        ("киев", "львів", "львов", "харків", "харьков", "одеса", "одесса", "дніпро", "днепр"), "Europe/Kyiv"
    ),
    **dict.fromkeys(("kiev", "lviv", "kharkiv", "odesa", "odessa", "dnipro"), "Europe/Kyiv"),
    **dict.fromkeys(("спб", "питер", "санкт-петербург", "st petersburg", "казань", "kazan"), "Europe/Moscow"),
}
"""Cities that have no zone of their own, and spellings that CLDR does not know."""


def guess_zone(language_code: str | None) -> str:
    """The likeliest IANA zone for a Telegram language; `UTC` if the language suggests none."""
    return _BY_LANGUAGE.get((language_code or "").split("-")[0].lower(), "UTC")


def parse_zone(text: str) -> str | None:
    """The IANA name for a zone, a city (Russian, Ukrainian, English) or an offset; None if it is none of these."""
    wanted = " ".join(text.split()).casefold()
    if wanted in {"utc", "gmt"}:
        return "UTC"
    match = _OFFSET.fullmatch(wanted)
    if match is not None:
        return _by_offset("-" if match[1] != "+" else "+", int(match[2]), match[3] or "00")
    found = _names().get(wanted.replace(" ", "_")) or _cities().get(wanted)
    return _RENAMED.get(found, found) if found else None


def zones_near(latitude: float, longitude: float, now: datetime, current: str, known: Sequence[str] = ()) -> list[str]:
    """The zones in which a place may lie, at most four, one for each time on the clock, the likeliest first.

    They are found by the main cities of the zones, so near a border there are several. Between zones with the same time
    the `current` one wins, then near ones in `known`, then the nearest.
    """
    ranked = sorted((_distance(latitude, longitude, *place), zone) for zone, place in _city_coordinates().items())
    near = [(away, zone) for away, zone in ranked if away <= _DOUBT * ranked[0][0] + _DOUBT_KM]
    by_clock: dict[tuple[timedelta | None, ...], tuple[float, str]] = {}
    for away, zone in sorted(near, key=lambda one: one[1] not in known):
        by_clock.setdefault(_clock(zone, now), (away, zone))
    if _clock(current, now) in by_clock:
        by_clock[_clock(current, now)] = (by_clock[_clock(current, now)][0], current)
    return [zone for _, zone in sorted(by_clock.values())][:_MOST_NEAR]


def _clock(zone: str, now: datetime) -> tuple[timedelta | None, ...]:
    """The offsets of a zone now and in half a year."""
    return tuple(moment.astimezone(ZoneInfo(zone)).utcoffset() for moment in (now, now + timedelta(days=182)))


def zone_label(zone: str, lang: Language, now: datetime) -> str:
    """The zone as people call it, with today's offset: `Київ, UTC+2`."""
    offset = now.astimezone(ZoneInfo(zone)).utcoffset() or timedelta()
    numbers = _offset_label(offset)
    return numbers if zone == "UTC" or zone.startswith("Etc/") else f"{_city(zone, lang)}, {numbers}"


def _distance(latitude: float, longitude: float, other_latitude: float, other_longitude: float) -> float:
    """The distance of two places in kilometres."""
    one, other = math.radians(latitude), math.radians(other_latitude)
    turn = math.radians(longitude - other_longitude)
    cosine = math.sin(one) * math.sin(other) + math.cos(one) * math.cos(other) * math.cos(turn)
    return 6371 * math.acos(max(-1.0, min(1.0, cosine)))


@cache
def _city_coordinates() -> dict[str, tuple[float, float]]:
    """The main city of each zone: its latitude and longitude in degrees, from IANA's own table."""
    lines = files("tzdata.zoneinfo").joinpath("zone1970.tab").read_text(encoding="utf-8").splitlines()
    rows = [line.split("\t") for line in lines if not line.startswith("#")]
    places = {row[2]: [_degrees(*part) for part in _PLACE.findall(row[1])] for row in rows}
    return {zone: (latitude, longitude) for zone, (latitude, longitude) in places.items()}


def _degrees(sign: str, whole: str, minutes: str, seconds: str) -> float:
    size = int(whole) + int(minutes) / 60 + int(seconds or 0) / 3600
    return -size if sign == "-" else size


def _by_offset(sign: str, hours: int, minutes: str) -> str | None:
    if minutes != "00":
        return _BROKEN_OFFSETS.get(f"{sign}{hours}:{minutes}")
    if hours == 0:
        return "UTC"
    # The names of the Etc area count westwards: Etc/GMT-3 is three hours ahead of UTC.
    name = f"Etc/GMT{'-' if sign == '+' else '+'}{hours}"
    return _names().get(name.casefold())


def _offset_label(offset: timedelta) -> str:
    minutes = round(offset.total_seconds() / 60)
    if minutes == 0:
        return "UTC"
    sign = "+" if minutes > 0 else "\u2212"
    hours, rest = divmod(abs(minutes), 60)
    return f"UTC{sign}{hours}" + (f":{rest:02d}" if rest else "")


def _city(zone: str, lang: Language) -> str:
    name = Locale(lang).time_zones.get(_KEPT_BY_CLDR.get(zone, zone), {}).get("city")
    return str(name) if name else zone.rsplit("/", 1)[-1].replace("_", " ")


@cache
def _names() -> dict[str, str]:
    return {name.casefold(): name for name in available_timezones() if "/" in name}


@cache
def _cities() -> dict[str, str]:
    """Cities by their name in each language; the tail of an IANA name counts as its English name."""
    cities: dict[str, str] = {}
    known = available_timezones()
    for name in sorted(known):
        area, _, city = name.rpartition("/")
        if area and area not in {"Etc", "SystemV"}:
            cities.setdefault(city.replace("_", " ").casefold(), name)
    for lang in LANGUAGES:
        for name, forms in Locale(lang).time_zones.items():
            if "city" in forms and name in known:
                cities[str(forms["city"]).casefold()] = name
    return cities | _SPELLINGS
