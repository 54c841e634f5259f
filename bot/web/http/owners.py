"""Finds the owner that a call is about: users by id, groups by the user's id as text, things by their own ids."""

from collections.abc import Awaitable, Callable, Collection
from datetime import datetime
from zoneinfo import ZoneInfo

from sqlalchemy import Connection

from bot.web.http.sessions import expect_visible, sole_owner
from internal.access import repository as users, service as access
from internal.access.model import UserState
from internal.errors import NotFound, Refused
from internal.storage.database import Database
from internal.storage.engine.owner_scope import acting_for, acting_for_everyone, narrow_to

Allows = Callable[[int], Awaitable[bool]]
"""Whether a user who has never written is admitted: his memory is empty, not unknown."""

OwnerOf = Callable[[Connection, str], int | None]
"""Returns the owner of a thing by its id, or None."""


class Owners:
    """Checks owners; `allowed` are configured ids; `admit_all` admits every user, the first one as the bot owner."""

    def __init__(
        self, database: Database, allows: Allows, *, allowed: Collection[int] = (), admit_all: bool = False
    ) -> None:
        self._database, self._allows = database, allows
        self._allowed, self._admit_all = frozenset(allowed), admit_all

    async def stored(self, user_id: int) -> bool:
        """Whether a known or allowed user can have anything stored. Raises NotFound for any other user, and for a user
        outside the call's session.
        """
        expect_visible(user_id)
        with acting_for(user_id):
            known = await self._database.read(lambda c: users.find(c, user_id))
        if known is not None:
            return True
        if not await self._allows(user_id):
            raise NotFound(f"there is no user {user_id}")
        return False

    async def about(self, user_id: int) -> bool:
        """Like `stored`, and limits the rest of the call to this user's rows."""
        there = await self.stored(user_id)
        narrow_to(user_id)
        return there

    async def of_group(self, group_id: str | None, *, field: str = "group_id") -> int:
        """The user whose id a group's is, or (None) the only one; limits the rest of the call to his rows.

        Raises NotFound, and Refused(`field`) naming it.
        """
        user_id = await self._of_group(group_id, field)
        narrow_to(user_id)
        return user_id

    async def _of_group(self, group_id: str | None, field: str) -> int:
        if group_id is not None:
            user_id = int(group_id)
            await self.stored(user_id)
            return user_id
        owner = sole_owner()
        if owner is not None:
            return owner
        with acting_for_everyone():
            known = await self._database.read(users.everybody)
        sole = self._allowed | {user.user_id for user in known if user.state is not UserState.REMOVED}
        if len(sole) != 1:
            raise Refused(field, f"{field}: there are {len(sole)} users, so one must be named")
        return min(sole)

    async def of_groups(self, group_ids: Collection[str] | None) -> list[int]:
        """The users of several groups, each once; without a group the only user. Raises what `of_group` raises.

        If there is one user, the rest of the call is limited to his rows.
        """
        named = list(group_ids) if group_ids else [None]
        found = list(dict.fromkeys([await self._of_group(one, "group_ids") for one in named]))
        if len(found) == 1:
            narrow_to(found[0])
        return found

    def expect(self, connection: Connection, user_id: int, now: datetime) -> None:
        """Creates the row of a user who passed `stored`."""
        access.expect(connection, user_id, admit_all=self._admit_all, now=now)


def owner_of(connection: Connection, find: OwnerOf, kind: str, one_id: str, user_filter: int | None) -> int:
    """The owner of a thing. Raises NotFound if it has none, or not the requested one."""
    owner = find(connection, one_id)
    if owner is None or user_filter not in {None, owner}:
        raise NotFound(f"there is no {kind} {one_id}")
    return owner


def zone_of(connection: Connection, user_id: int) -> ZoneInfo:
    """The time zone of a user's bare dates."""
    user = users.find(connection, user_id)
    return ZoneInfo(user.tz if user is not None else "UTC")
