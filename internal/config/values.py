"""The types of settings: durations, addresses, secrets, lists, and the section that refuses unknown keys."""

import json
import re
from datetime import timedelta
from fractions import Fraction
from ipaddress import ip_network
from pathlib import Path
from typing import Annotated
from urllib.parse import parse_qs, unquote, urlsplit

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, SecretStr

_DURATION = re.compile(r"([0-9]+(?:\.[0-9]+)?)(ms|s|m|h|d)")
_MICROSECONDS = {"ms": 1_000, "s": 1_000_000, "m": 60_000_000, "h": 3_600_000_000, "d": 86_400_000_000}


def duration(value: object) -> object:
    if isinstance(value, timedelta):
        return value
    match = _DURATION.fullmatch(value.strip()) if isinstance(value, str) else None
    if match is None:  # also for a bare number: 30 could mean seconds or minutes
        raise ValueError("a duration is a number and a unit, such as 0.2s, 45s, 30m or 1h")
    try:
        return timedelta(microseconds=round(Fraction(match[1]) * _MICROSECONDS[match[2]]))
    except OverflowError:
        raise ValueError("this duration is longer than time itself") from None


def listing(value: object) -> object:
    if not isinstance(value, str):
        return value
    text = value.strip()
    return json.loads(text) if text.startswith("[") else [part.strip() for part in text.split(",") if part.strip()]


def named_types(value: object) -> object:
    items = listing(value)
    return [{"name": item} if isinstance(item, str) else item for item in items] if isinstance(items, list) else items


def _address(value: str) -> str:
    text = value.strip().rstrip("/")
    if text and not text.startswith(("http://", "https://")):
        raise ValueError("an address begins with http:// or https://")
    return text


def _network(value: str) -> str:
    try:
        return str(ip_network(value.strip()))
    except ValueError:
        raise ValueError("an IP address or a network such as 10.0.0.0/8") from None


def _given(value: str) -> str:
    if not value:
        raise ValueError("an address is needed here")
    return value


def _stripped(value: object) -> object:
    """The secret without a line break at its end, which would break the header in which it is sent."""
    return value.strip() if isinstance(value, str) else value


def off_word(value: object) -> object:
    return "off" if value is False else value  # YAML reads a bare off as false


def passwords_of(address: str) -> list[str]:
    """The passwords in a server's address, as written and decoded."""
    parts = urlsplit(address)
    written = parts.password or ""
    return [word for word in (written, unquote(written), *parse_qs(parts.query).get("password", [])) if word]


def unset(value: object) -> object:
    return None if value == "" else value  # environment variables have no null


def _optional_duration(value: object) -> object:
    return None if value is None or value == "" else duration(value)


def folder(value: object) -> object:
    if value == "":
        raise ValueError("a folder is needed here")
    return Path(value).expanduser() if isinstance(value, str) else value


Duration = Annotated[timedelta, BeforeValidator(duration), Field(ge=timedelta(0))]
PositiveDuration = Annotated[timedelta, BeforeValidator(duration), Field(gt=timedelta(0))]
OptionalDuration = Annotated[timedelta | None, BeforeValidator(_optional_duration)]
OptionalAddress = Annotated[str, AfterValidator(_address)]
Address = Annotated[str, AfterValidator(_address), AfterValidator(_given)]
Secret = Annotated[SecretStr, BeforeValidator(_stripped)]
Network = Annotated[str, AfterValidator(_network)]
Port = Annotated[int, Field(ge=0, le=65535)]
"""A port; 0 lets the system choose a free one."""


class Section(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, hide_input_in_errors=True)
