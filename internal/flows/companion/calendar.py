"""An owner's occasions as an iCalendar file (RFC 5545), and the secret in the calendar's address."""

import hmac
import secrets
from collections.abc import Iterable, Iterator
from datetime import datetime, timedelta
from hashlib import sha256
from typing import Final

from sqlalchemy import Connection

from internal.access import repository as users
from internal.access.model import User
from internal.flows.companion.occasions import UpcomingOccasion, title, year_ahead

PATH: Final = "/calendar.ics"
_SECRET: Final = "calendar"
"""Key in a user's settings for the hash of the secret; without it the calendar cannot be read."""
_OCTETS: Final = 73
"""The most bytes of a line before it is folded."""


def calendar(connection: Connection, user: User, *, now: datetime) -> str:
    """All occasions of the next year; repeated ones with their rule."""
    lines = ["BEGIN:VCALENDAR", "VERSION:2.0", "PRODID:-//Laplaced//Occasions//EN", "CALSCALE:GREGORIAN"]
    for one in year_ahead(connection, user, now=now):
        lines += _event(one, user.lang, now)
    return "".join(f"{part}\r\n" for line in [*lines, "END:VCALENDAR"] for part in _folded(line))


def give_secret(connection: Connection, user_id: int) -> str:
    """Makes a new secret, which replaces the old one. Only its hash is stored."""
    secret = secrets.token_urlsafe(24)
    _store(connection, user_id, sha256(secret.encode()).hexdigest())
    return secret


def revoke(connection: Connection, user_id: int) -> None:
    """Closes the address."""
    _store(connection, user_id, None)


def reader(connection: Connection, user_id: int, secret: str) -> User | None:
    """The owner of the calendar, if the secret is right."""
    user = users.find(connection, user_id)
    stored = str(user.settings.get(_SECRET) or "") if user is not None else ""
    fits = hmac.compare_digest(stored, sha256(secret.encode()).hexdigest())
    return user if fits else None


def _store(connection: Connection, user_id: int, hashed: str | None) -> None:
    settings = {key: value for key, value in users.get(connection, user_id).settings.items() if key != _SECRET}
    users.change(connection, user_id, settings=settings | ({_SECRET: hashed} if hashed else {}))


def _event(one: UpcomingOccasion, language: str, now: datetime) -> Iterable[str]:
    yield "BEGIN:VEVENT"
    yield f"UID:{one.occasion.fact_id}-{one.kind}@laplaced"
    yield f"DTSTAMP:{now:%Y%m%dT%H%M%SZ}"
    yield f"DTSTART;VALUE=DATE:{one.on:%Y%m%d}"
    yield f"DTEND;VALUE=DATE:{one.on + timedelta(days=1):%Y%m%d}"
    if one.repeats:
        leap = (one.occasion.month, one.occasion.day) == (2, 29)
        yield "RRULE:FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=-1" if leap else "RRULE:FREQ=YEARLY"
    yield f"SUMMARY:{_escaped(title(one, language))}"
    if one.occasion.year is not None:
        yield f"DESCRIPTION:{one.occasion.year}"
    yield "TRANSP:TRANSPARENT"
    yield "END:VEVENT"


def _escaped(text: str) -> str:
    plain = " ".join(text.split()).replace("\\", "\\\\")
    return plain.replace(";", "\\;").replace(",", "\\,")


def _folded(line: str) -> Iterator[str]:
    part = ""
    for character in line:
        if len((part + character).encode()) > _OCTETS:
            yield part
            part = " "
        part += character
    yield part
