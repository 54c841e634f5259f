"""The bot's messages in Russian, Ukrainian and English: Fluent files under `locales/`."""

import re
from collections.abc import Iterable, Mapping
from datetime import date
from pathlib import Path
from typing import Final

from babel.dates import format_date

from bot.shared.phrases import bundle
from bot.telegram.rendering import escape
from internal.access.model import Language
from internal.language.dates.precision import DatePrecision

LOCALES = Path(__file__).parent / "locales"

LONG = 2_000
"""Characters after which a value is replaced by a stand-in: the library refuses more than 2,500."""

Value = str | int | float | date


class Markdown(str):
    """A value that is already Markdown and is inserted as it is."""

    __slots__ = ()


def phrase(lang: Language, key: str, **values: Value) -> str:
    """The message with that key as Markdown; values are escaped, numbers and dates are formatted for the language.

    Raises KeyError for an unknown key or a missing value: both are mistakes of the program.
    """
    shown = {name: escape(v) if isinstance(v, str) and not isinstance(v, Markdown) else v for name, v in values.items()}
    return _format(lang, key, shown)


def label(lang: Language, key: str, **values: Value) -> str:
    """The message as plain text, for buttons, toasts and the menu."""
    return _format(lang, key, values)


def day(lang: Language, local: date, precision: DatePrecision | None = None, *, alone: bool = False) -> str:
    """A date with the precision that was stated: a year, a month or a day. `alone`: no preposition precedes it."""
    forms, exact = _ALONE if alone else _AFTER_PREPOSITION, precision or ""
    return format_date(local, forms.get((exact, lang)) or forms.get((exact, "")) or "long", locale=lang)


_ALONE: Final = {("year", ""): "y", ("month", ""): "LLLL y"}
_AFTER_PREPOSITION: Final = {
    ("year", ""): "y",
    ("year", "ru"): "y 'года'",
    ("year", "uk"): "y 'року'",
    ("month", ""): "MMMM y",
}


def has_phrase(key: str) -> bool:
    return bundle(LOCALES, "en").has_message(key)


def _format(lang: Language, key: str, values: dict[str, Value]) -> str:
    messages = bundle(LOCALES, lang)
    pattern = messages.get_message(key).value if messages.has_message(key) else None
    if pattern is None:
        raise KeyError(f"{lang}: there is no message {key}")
    # Stand-ins are formatted in place of long values: characters of Unicode's private use area, which nobody types.
    stand_ins = {value: f"\uf8f0{n}\uf8f1" for n, value in enumerate(values.values()) if _is_long(value)}
    text, errors = messages.format_pattern(pattern, {name: stand_ins.get(v, v) for name, v in values.items()})
    if errors:
        raise KeyError(f"{lang}: {key}: {errors[0]}")
    meant = {stand_in: str(value) for value, stand_in in stand_ins.items()}
    return _stopped_once(_replaced(str(text), meant), values.values())


def _is_long(value: Value) -> bool:
    return isinstance(value, str) and len(value) > LONG


def _replaced(text: str, meant: Mapping[str, str]) -> str:
    """Replaces all stand-ins at once, so that inserted values are not searched again."""
    return re.sub("|".join(meant), lambda found: meant[found[0]], text) if meant else text


def _stopped_once(text: str, values: Iterable[Value]) -> str:
    """Removes the second of two full stops, if a value such as an initial ends with one."""
    for value in values:
        if isinstance(value, str) and value.endswith((".", "…")):
            text = text.replace(f"{value}.", value)
    return text
