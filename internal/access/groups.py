"""Groups: a group is a user with the negative id of its chat; its members speak in it.

So the isolation of owners separates messages in a group from private ones. A group that became a supergroup keeps its
first id: `owner_of` finds it by the present id of its chat.
"""

from dataclasses import asdict, dataclass, replace
from datetime import datetime
from typing import Any, Final, Literal
from zoneinfo import ZoneInfo

from sqlalchemy import Connection

from internal.access import repository
from internal.access.model import Language, Role, User, UserState
from internal.errors import Refused
from internal.storage.engine.row_policies import across_owners

_ENABLED, _MOVED, _SETTINGS = "groups_enabled", "group_chats", "group"


@dataclass(frozen=True, slots=True)
class GroupSettings:
    """`on`: a user of the bot wants it there. `listens`: messages to others are stored too, until `stop_word`.

    A budget of None is the configured one, 0 is none.
    """

    on: bool = False
    listens: bool = False
    stop_word: str = ""
    messages_per_day: int | None = None
    tokens_per_day: int | None = None


@dataclass(frozen=True, slots=True)
class Budgets:
    """Most answers and tokens of one group in a day; 0 is no limit."""

    messages: int
    tokens: int


@dataclass(frozen=True, slots=True)
class GroupAccess:
    """The data for deciding about a group's update: whether groups are on, its owner's id, and its user if known."""

    enabled: bool
    owner_id: int
    user: User | None

    @property
    def active(self) -> bool:
        return (
            self.enabled and self.user is not None and self.user.state is UserState.ACTIVE and settings_of(self.user).on
        )


def is_group(user_id: int) -> bool:
    return user_id < 0


def settings_of(user: User) -> GroupSettings:
    """The settings of a group; the defaults for other users."""
    return GroupSettings(**user.settings.get(_SETTINGS, {}))


def standing_of(connection: Connection, chat_id: int, *, configured: bool) -> GroupAccess:
    owner_id = owner_of(connection, chat_id)
    return GroupAccess(enabled(connection, configured=configured), owner_id, repository.find(connection, owner_id))


def enabled(connection: Connection, *, configured: bool) -> bool:
    """Whether groups are on: by the last choice of the bot owner, else as configured."""
    said = repository.read_setting(connection, _ENABLED)
    return configured if said is None else bool(said)


def enable(connection: Connection, on: bool, *, by: User) -> None:
    _require_owner(by)
    repository.write_setting(connection, _ENABLED, on)


def owner_of(connection: Connection, chat_id: int) -> int:
    """The owner's id of the group whose present chat this is."""
    return int((repository.read_setting(connection, _MOVED) or {}).get(str(chat_id), chat_id))


def chat_of(connection: Connection, owner_id: int) -> int:
    """The present chat of a group."""
    moved = repository.read_setting(connection, _MOVED) or {}
    return next((int(chat) for chat, owner in reversed(moved.items()) if owner == owner_id), owner_id)


def move_to_supergroup(connection: Connection, old_chat: int, new_chat: int) -> None:
    """Connects the memory of a group with the supergroup that it became."""
    moved = repository.read_setting(connection, _MOVED) or {}
    if str(new_chat) not in moved:
        owner_id = int(moved.get(str(old_chat), old_chat))
        repository.write_setting(connection, _MOVED, {**moved, str(new_chat): owner_id})


def join(
    connection: Connection, owner_id: int, title: str, lang: Language, tz: str, now: datetime, *, on: bool
) -> User:
    """Stores or updates the group to which the bot was added; `on` can only switch it on."""
    known = repository.find(connection, owner_id)
    if known is None:
        settings = {_SETTINGS: asdict(GroupSettings(on=on))}
        user = User(owner_id, Role.MEMBER, UserState.ACTIVE, title, None, lang, tz, True, now, settings)
        return repository.add(connection, user)
    if known.state is UserState.PAUSED:
        known = repository.change(connection, owner_id, state=UserState.ACTIVE.value)
    return change(connection, owner_id, on=True) if on and not settings_of(known).on else known


def rename(connection: Connection, user: User, title: str) -> User:
    return user if user.name == title else repository.change(connection, user.user_id, name=title)


def change(connection: Connection, owner_id: int, **values: Any) -> User:
    """Sets some of a group's settings."""
    user = repository.get(connection, owner_id)
    settings = {**user.settings, _SETTINGS: asdict(replace(settings_of(user), **values))}
    return repository.change(connection, owner_id, settings=settings)


def all_groups(connection: Connection, *, by: User) -> list[User]:
    """All groups, for the bot owner."""
    _require_owner(by)
    with across_owners(connection):
        return [one for one in repository.everybody(connection) if is_group(one.user_id)]


def switch(connection: Connection, owner_id: int, on: bool, *, by: User) -> User:
    """Switches one group on or off. Raises NotFound."""
    _require_owner(by)
    with across_owners(connection):
        return change(connection, owner_id, on=on)


def budget(connection: Connection, owner_id: int, messages: int, tokens: int, *, by: int) -> User:
    """Sets the daily budget of a group, by the bot owner, who pays for it."""
    with across_owners(connection):
        _require_owner(repository.get(connection, by))
    return change(connection, owner_id, messages_per_day=messages, tokens_per_day=tokens)


def budgets(user: User, configured: Budgets) -> Budgets:
    own = settings_of(user)
    return Budgets(
        configured.messages if own.messages_per_day is None else own.messages_per_day,
        configured.tokens if own.tokens_per_day is None else own.tokens_per_day,
    )


def exceeded(
    connection: Connection, user: User, now: datetime, configured: Budgets
) -> Literal["messages", "tokens"] | None:
    """The budget that the group has used up today, by the day in the group's time zone."""
    limits, local = budgets(user, configured), now.astimezone(ZoneInfo(user.tz))
    if limits.messages:
        begun = local.replace(hour=0, minute=0, second=0, microsecond=0).astimezone(now.tzinfo)
        if repository.turns_since(connection, user.user_id, begun) >= limits.messages:
            return "messages"
    used = repository.tokens_on(connection, user.user_id, local.date().isoformat()) if limits.tokens else 0
    return "tokens" if limits.tokens and used >= limits.tokens else None


def _require_owner(user: User) -> None:
    if user.role is not Role.OWNER:
        raise Refused("not_owner", "only the owner of the bot decides about groups")


STOP_WORDS: Final[dict[Language, str]] = {"en": "stop listening", "ru": "не слушай", "uk": "не слухай"}
"""The stop words of groups that chose none of their own."""
