"""Names of one place in three languages that neither declension nor sound connects: Київ, Киев, Kyiv, Kiev.

Countries and a city of each time zone come from CLDR by babel; missing cities are listed here.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any

from internal.language.text.spelling import name_key

_LANGUAGES = ("en", "ru", "uk")

_LISTED = """
    kyiv: Київ, Киев, Kyiv, Kiev
    lviv: Львів, Львов, Lviv, Lvov, Lwów
    kharkiv: Харків, Харьков, Kharkiv, Kharkov
    odesa: Одеса, Одесса, Odesa, Odessa
    dnipro: Дніпро, Днепр, Днепропетровск, Дніпропетровськ, Dnipro
    zaporizhzhia: Запоріжжя, Запорожье, Zaporizhzhia
    mykolaiv: Миколаїв, Николаев, Mykolaiv
    chernihiv: Чернігів, Чернигов, Chernihiv
    chernivtsi: Чернівці, Черновцы, Chernivtsi
    vinnytsia: Вінниця, Винница, Vinnytsia
    rivne: Рівне, Ровно, Rivne
    ternopil: Тернопіль, Тернополь, Ternopil
    poltava: Полтава, Poltava
    ivano-frankivsk: Івано-Франківськ, Ивано-Франковск, Ivano-Frankivsk, Франківськ, Франковск
    petersburg: Санкт-Петербург, Петербург, Питер, Пітер, Saint Petersburg, St. Petersburg, St Petersburg
    krakow: Краків, Краков, Kraków, Krakow, Cracow
    wroclaw: Вроцлав, Wrocław, Wroclaw
    gdansk: Гданськ, Гданьск, Gdańsk, Gdansk
    lodz: Лодзь, Łódź, Lodz
    munich: Мюнхен, Munich, München
    cologne: Кельн, Кёльн, Cologne, Köln
    hague: Гаага, The Hague, Den Haag
    geneva: Женева, Geneva, Genève
    florence: Флоренція, Флоренция, Florence, Firenze
    venice: Венеція, Венеция, Venice, Venezia
    milan: Мілан, Милан, Milan, Milano
    naples: Неаполь, Naples, Napoli
    lisbon: Лісабон, Лиссабон, Lisbon, Lisboa
    porto: Порту, Porto
    seville: Севілья, Севилья, Seville, Sevilla
    telaviv: Тель-Авів, Тель-Авив, Tel Aviv, Tel-Aviv
    haifa: Хайфа, Haifa
    beijing: Пекін, Пекин, Beijing
    mexicocity: Мехіко, Мехико, Mexico City
    us: США, USA, US, U.S., United States, United States of America, Америка
    gb: Великобритания, Велика Британія, Британія, Британия, UK, Britain, Great Britain
    cz: Чехия, Чехія, Czechia, Czech Republic
    nl: Голландия, Голландія, Holland, Нидерланды, Netherlands
    ae: ОАЭ, ОАЕ, Эмираты, Емірати, UAE, Emirates
    by: Беларусь, Білорусь, Белоруссия, Belarus
    md: Молдова, Молдавия, Moldova
"""


@cache
def places() -> Mapping[str, str]:
    """Maps the folded name of a place in any of the languages to the place's id; some 1,500 names, 0.2 s once."""
    ids: dict[str, str] = {}
    for place, name in (*_listed(), *_countries(), *_zone_cities()):
        ids.setdefault(name_key(name), ids.get(name_key(place), place))
    return ids


def _listed() -> Iterator[tuple[str, str]]:
    for line in _LISTED.strip().splitlines():
        place, names = line.split(":")
        yield from ((place.strip(), name.strip()) for name in names.split(","))


def _countries() -> Iterator[tuple[str, str]]:
    from babel import Locale

    for language in _LANGUAGES:
        for code, name in Locale(language).territories.items():
            if len(code) == 2 and code.isalpha():
                yield code.lower(), name


def _zone_cities() -> Iterator[tuple[str, str]]:
    """Cities by the id of their zone; where English has no entry, the zone's own name is the English one."""
    from babel import Locale

    zones: dict[str, Any] = {language: Locale(language).time_zones for language in _LANGUAGES}
    for zone in map(str, zones["ru"]):
        if "/" not in zone or zone.startswith("Etc"):
            continue
        yield zone, zone.rsplit("/", 1)[1].replace("_", " ")
        for known in zones.values():
            if city := known.get(zone, {}).get("city"):
                yield zone, str(city)
