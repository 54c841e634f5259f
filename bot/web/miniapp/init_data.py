"""Checks what Telegram tells a Mini App about who opened it (core.telegram.org/bots/webapps, "Validating data")."""

import hmac
import json
from datetime import datetime, timedelta
from hashlib import sha256
from typing import Final
from urllib.parse import parse_qsl

MAX_AGE: Final = timedelta(hours=1)
"""How old the data may be that opens a session: they are made when the Mini App is opened."""

EARLY: Final = timedelta(minutes=5)
"""How far Telegram's clock may be ahead of ours."""


def signed(fields: dict[str, str], token: str) -> str:
    """The hash of all fields but `hash`, in hex digits, as the bot with this token expects it."""
    lines = "\n".join(f"{name}={value}" for name, value in sorted(fields.items()) if name != "hash")
    secret = hmac.new(b"WebAppData", token.encode(), sha256).digest()
    return hmac.new(secret, lines.encode(), sha256).hexdigest()


def opened_by(init_data: str, token: str, now: datetime) -> int | None:
    """The id of the user who opened the Mini App; None where Telegram did not sign it for this bot, or long ago."""
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
