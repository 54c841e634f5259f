"""Admission of users, and their settings."""

import hashlib
import hmac
import secrets
from collections.abc import Collection
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import Connection

from internal.access import repository
from internal.access.model import CALLED, Author, AwaitedAnswer, Language, Role, User, UserState, nearest_language
from internal.access.zones import guess_zone
from internal.errors import Refused
from internal.events import repository as events
from internal.storage.engine.row_policies import across_owners

AWAITING_LASTS = timedelta(minutes=10)
"""The time for which a question waits for its answer; later the next message is an ordinary one."""

_AWAITING = "awaiting"
_INVITED = "invited"
_QUIET_HOURS = "quiet_hours"
_NAMES_KEPT = 5

_CODE_KEY = "owner_codes"
_CODE_ALPHABET = (
    "23456789ABCDEFGHJKLMNPQRSTUVWXYZ"  # no 0/O, 1/I: the code is read from a terminal and typed on a phone
)
_CODE_LENGTH = 12  # 60 bits
_CODES_KEPT = 8
"""Most owner codes that are valid at once: every start without an owner prints a new one."""


def admit(
    connection: Connection, author: Author, *, allowed: Collection[int], admit_all: bool, now: datetime
) -> User | None:
    """Creates or updates the user of an update and returns it; None for a stranger, of whom nothing is stored.

    `allowed` are the configured ids; `admit_all` (local Telegram) admits everybody and makes the first one the owner.
    Removed users stay out. A paused user who writes is active again.
    """
    user = repository.find(connection, author.user_id)
    if user is not None:
        return None if user.state is UserState.REMOVED else _refresh(connection, user, author)
    if not (admit_all or author.user_id in allowed):
        return None
    role = Role.OWNER if admit_all and not repository.has_owner(connection) else Role.MEMBER
    return _create(connection, author, role, now)


def expect(connection: Connection, user_id: int, *, admit_all: bool, now: datetime) -> User:
    """Creates an admitted user who has not written yet. A known user is returned unchanged.

    The caller has checked the admission. Name, language and zone become known with the first message; with `admit_all`
    the first user is the owner, like in `admit`.
    """
    known = repository.find(connection, user_id)
    if known is not None:
        return known
    role = Role.OWNER if admit_all and not repository.has_owner(connection) else Role.MEMBER
    return _create(connection, Author(user_id, str(user_id)), role, now, {_INVITED: True})


def up_to_date(user: User, author: Author) -> bool:
    """Whether `admit` would change nothing of a known user."""
    same = (user.name, user.username) == (author.name, author.username)
    return same and user.state is UserState.ACTIVE and not user.settings.get(_INVITED)


def issue_owner_code(connection: Connection) -> str | None:
    """Creates a one-time code for `/start CODE`, such as `K7QF-9M2X-4HTA`; None once there is an owner.

    Only its hash is stored, so it can be printed only now.
    """
    if repository.has_owner(connection):
        return None
    code = "".join(secrets.choice(_CODE_ALPHABET) for _ in range(_CODE_LENGTH))
    stored = _stored_codes(connection)
    repository.write_setting(connection, _CODE_KEY, {**stored, "open": [*stored["open"], _hash(code)][-_CODES_KEPT:]})
    return "-".join(code[start : start + 4] for start in range(0, _CODE_LENGTH, 4))


def looks_like_code(text: str) -> bool:
    """Whether the words after /start could be an owner code; links carry other words there."""
    bare = "".join(text.split()).replace("-", "")
    return len(bare) == _CODE_LENGTH and bare.isalnum()


def claim_ownership(connection: Connection, author: Author, code: str, now: datetime) -> User | None:
    """Makes the author the owner if the code is valid, and voids every open code; None if it is not.

    Case and hyphens do not matter. The same author succeeds again with the same code, so that an update that is
    processed again after a crash has the same result.
    """
    offered = _hash(code)
    stored = _stored_codes(connection)
    used = stored["used"]
    if used is not None and used["by"] == author.user_id and hmac.compare_digest(used["hash"], offered):
        return repository.find(connection, author.user_id)
    matches = [hmac.compare_digest(known, offered) for known in stored["open"]]  # a list: no early return
    if not any(matches) or repository.has_owner(connection):
        return None
    repository.write_setting(connection, _CODE_KEY, {"open": [], "used": {"hash": offered, "by": author.user_id}})
    events.append(connection, "owner_claimed", source=f"user:{author.user_id}", now=now, user_id=author.user_id)
    return _make_owner(connection, author, now)


def invite(connection: Connection, user_id: int, name: str, now: datetime, *, by: User) -> User:
    """Admits a user by Telegram id, also after a removal. Language and zone become known with the first message."""
    _require_owner(by)
    with across_owners(connection):
        known = repository.find(connection, user_id)
        if known is not None and known.state is not UserState.REMOVED:
            return known
        events.append(
            connection, "user_admitted", source=f"user:{by.user_id}", now=now, user_id=user_id, payload={"id": user_id}
        )
        if known is not None:
            return repository.change(connection, user_id, state=UserState.ACTIVE.value)
        invited = Author(user_id, name or str(user_id), language_code=by.lang)
        return _create(connection, invited, Role.MEMBER, now, {_INVITED: True})


def remove(connection: Connection, user_id: int, now: datetime, *, by: User) -> User:
    """Withdraws the admission; the user's memory stays. Refused("owner") for the owner."""
    _require_owner(by)
    with across_owners(connection):
        if repository.get(connection, user_id).role is Role.OWNER:
            raise Refused("owner", "the owner cannot be removed")
        events.append(
            connection, "user_removed", source=f"user:{by.user_id}", now=now, user_id=user_id, payload={"id": user_id}
        )
        return repository.change(connection, user_id, state=UserState.REMOVED.value)


def member(connection: Connection, user_id: int, *, by: User) -> User:
    """An admitted user, for the bot owner. Raises NotFound."""
    _require_owner(by)
    with across_owners(connection):
        return repository.get(connection, user_id)


def members(connection: Connection) -> list[User]:
    """All admitted people, the owner first."""
    with across_owners(connection):
        known = repository.everybody(connection)
    present = [user for user in known if user.state is not UserState.REMOVED and user.user_id > 0]
    return sorted(present, key=lambda user: user.role is not Role.OWNER)


def pause(connection: Connection, user_id: int) -> bool:
    """Pauses a user who blocked the bot (403): nothing is sent or scheduled until the user writes again.

    Returns False for a stranger and for a removed user, who stays removed.
    """
    user = repository.find(connection, user_id)
    if user is None or user.state is UserState.REMOVED:
        return False
    if user.state is UserState.ACTIVE:
        repository.change(connection, user_id, state=UserState.PAUSED.value)
    return True


def set_language(connection: Connection, user_id: int, lang: Language) -> User:
    return repository.change(connection, user_id, lang=lang)


def set_zone(connection: Connection, user_id: int, zone: str) -> User:
    """Sets a user's time zone. `zone` is an IANA name, as `zones.parse_zone` returns it."""
    return repository.change(connection, user_id, tz=zone, tz_asked=True)


def quiet_hours(user: User, default: str) -> str:
    """A user's quiet hours like `22:00-08:00` on the user's clock, "" for none; `default` if the user set none."""
    return str(user.settings.get(_QUIET_HOURS, default))


def set_quiet_hours(connection: Connection, user_id: int, hours: str | None) -> User:
    """Sets a user's quiet hours in the form of `quiet_hours`; None = as configured."""
    settings = {
        key: value for key, value in repository.get(connection, user_id).settings.items() if key != _QUIET_HOURS
    }
    if hours is not None:
        settings[_QUIET_HOURS] = hours
    return repository.change(connection, user_id, settings=settings)


def call(connection: Connection, user_id: int, name: str | None, now: datetime) -> User:
    """Sets the name by which a user is called instead of Telegram's; None = the name before the last change."""
    user = repository.get(connection, user_id)
    before = user.settings.get(CALLED, [])
    names = [*before, name][-_NAMES_KEPT:] if name is not None else before[:-1]
    _set(connection, user_id, CALLED, names or None)
    events.append(connection, "user_called", source=f"user:{user_id}", now=now, user_id=user_id)
    return repository.get(connection, user_id)


def mark_zone_asked(connection: Connection, user_id: int) -> User:
    return repository.change(connection, user_id, tz_asked=True)


def await_answer(connection: Connection, user_id: int, awaiting: AwaitedAnswer, now: datetime) -> None:
    """Makes the user's next message the answer to this question, for ten minutes."""
    asked = {"kind": awaiting.kind, "details": awaiting.details, "until": (now + AWAITING_LASTS).isoformat()}
    _set(connection, user_id, _AWAITING, asked)


def awaited(user: User, now: datetime, message_id: int | None = None) -> AwaitedAnswer | None:
    """The question that the user's next message answers; None if none was asked, or too long ago.

    An answered question still counts for the message that answered it, so that processing that message again after a
    crash has the same result.
    """
    asked = user.settings.get(_AWAITING)
    if not asked:
        return None
    answered_by = asked.get("answered_by")
    if answered_by is not None:
        return _question(asked) if answered_by == message_id else None
    return _question(asked) if now < datetime.fromisoformat(asked["until"]) else None


def take_answer(connection: Connection, user_id: int, message_id: int, now: datetime) -> AwaitedAnswer | None:
    """Marks the question that this message answers as answered, and returns it; None if it answers none.

    If two messages follow each other, only the first is the answer.
    """
    user = repository.get(connection, user_id)
    question = awaited(user, now, message_id)
    if question is not None:
        _set(connection, user_id, _AWAITING, {**user.settings[_AWAITING], "answered_by": message_id})
    return question


def stop_awaiting(connection: Connection, user_id: int) -> bool:
    """Withdraws the question. Returns whether there was one."""
    return _set(connection, user_id, _AWAITING, None)


def _refresh(connection: Connection, user: User, author: Author) -> User:
    values: dict[str, Any] = {}
    if (user.name, user.username) != (author.name, author.username):
        values |= {"name": author.name, "username": author.username}
    if user.state is UserState.PAUSED:
        values["state"] = UserState.ACTIVE.value
    if user.settings.get(_INVITED):
        values["lang"] = nearest_language(author.language_code)
        values["tz"] = guess_zone(author.language_code)
        values["settings"] = {key: value for key, value in user.settings.items() if key != _INVITED}
    return repository.change(connection, user.user_id, **values) if values else user


def _create(
    connection: Connection, author: Author, role: Role, now: datetime, settings: dict[str, Any] | None = None
) -> User:
    user = User(
        user_id=author.user_id,
        role=role,
        state=UserState.ACTIVE,
        name=author.name,
        username=author.username,
        lang=nearest_language(author.language_code),
        tz=guess_zone(author.language_code),
        tz_asked=False,
        created_at=now,
        settings=settings or {},
    )
    return repository.add(connection, user)


def _make_owner(connection: Connection, author: Author, now: datetime) -> User:
    if repository.find(connection, author.user_id) is None:
        return _create(connection, author, Role.OWNER, now)
    return repository.change(connection, author.user_id, role=Role.OWNER.value, state=UserState.ACTIVE.value)


def _require_owner(user: User) -> None:
    if user.role is not Role.OWNER:
        raise Refused("not_owner", "only the owner admits and removes users")


def _set(connection: Connection, user_id: int, key: str, value: Any | None) -> bool:
    """Sets or (None) removes one setting of a user. Returns whether there was one before."""
    settings = dict(repository.get(connection, user_id).settings)
    before = settings.pop(key, None)
    if value is not None:
        settings[key] = value
    repository.change(connection, user_id, settings=settings)
    return before is not None


def _question(asked: dict[str, Any]) -> AwaitedAnswer:
    return AwaitedAnswer(asked["kind"], dict(asked["details"]))


def _stored_codes(connection: Connection) -> dict[str, Any]:
    return repository.read_setting(connection, _CODE_KEY) or {"open": [], "used": None}


def _hash(code: str) -> str:
    """The hash of a code; 60 random bits need no salt and no slow hash."""
    plain = "".join(code.split()).replace("-", "").upper()
    return hashlib.sha256(plain.encode()).hexdigest()
