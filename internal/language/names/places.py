"""Names of one place in three languages that neither declension nor sound relates: Київ, Киев, Kyiv, Kiev.

Countries and a city of each time zone come from CLDR by babel; missing cities are in `places.json`.
"""

from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any

from internal.language.text.spelling import name_key
from internal.language.text.tables import table

_LANGUAGES = ("en", "ru", "uk")


@cache
def place_ids() -> Mapping[str, str]:
    """Maps the folded name of a place in any of the languages to the place's id; some 1,500 names, 0.2 s once."""
    ids: dict[str, str] = {}
    for place, name in (*_listed(), *_countries(), *_zone_cities()):
        ids.setdefault(name_key(name), ids.get(name_key(place), place))
    return ids


def _listed() -> Iterator[tuple[str, str]]:
    for place, names in table(__package__, "places").items():
        yield from ((place, name) for name in names)


def _countries() -> Iterator[tuple[str, str]]:
    from babel import Locale

    for language in _LANGUAGES:
        for code, name in Locale(language).territories.items():
            if len(code) == 2 and code.isalpha():
                yield code.lower(), name


def _zone_cities() -> Iterator[tuple[str, str]]:
    """Cities by the id of their zone; if English has no entry, the zone's own name is the English one."""
    from babel import Locale

    zones: dict[str, Any] = {language: Locale(language).time_zones for language in _LANGUAGES}
    for zone in map(str, zones["ru"]):
        if "/" not in zone or zone.startswith("Etc"):
            continue
        yield zone, zone.rsplit("/", 1)[1].replace("_", " ")
        for known in zones.values():
            if city := known.get(zone, {}).get("city"):
                yield zone, str(city)
