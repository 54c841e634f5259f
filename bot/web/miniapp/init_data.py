"""Verifies Telegram's data about who opened a Mini App (core.telegram.org/bots/webapps, "Validating data")."""

import hmac
import json
from datetime import datetime, timedelta
from hashlib import sha256
from typing import Final
from urllib.parse import parse_qsl

MAX_AGE: Final = timedelta(hours=1)
"""The greatest age of data that opens a session: they are made when the Mini App is opened."""

EARLY: Final = timedelta(minutes=5)
"""The most by which Telegram's clock may be ahead of ours."""


def signed(fields: dict[str, str], token: str) -> str:
    """The hash of all fields but `hash`, in hex digits, as Telegram computes it with this token."""
    lines = "\n".join(f"{name}={value}" for name, value in sorted(fields.items()) if name != "hash")
    secret = hmac.new(b"WebAppData", token.encode(), sha256).digest()
    return hmac.new(secret, lines.encode(), sha256).hexdigest()


def opened_by(init_data: str, token: str, now: datetime) -> int | None:
    """The user id of the person who opened the Mini App; None if the data are old or not signed for this bot."""
    fields = dict(parse_qsl(init_data, keep_blank_values=True))
    given = fields.get("hash", "").encode("utf-8", "replace")
    if not token or not hmac.compare_digest(signed(fields, token).encode(), given):
        return None
    try:
        at, user_id = int(fields["auth_date"]), json.loads(fields["user"])["id"]
    except (KeyError, TypeError, ValueError):
        return None
    age = now.timestamp() - at
    fresh = -EARLY.total_seconds() <= age <= MAX_AGE.total_seconds()
    return user_id if fresh and type(user_id) is int else None
