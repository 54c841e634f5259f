"""Login links and sessions of the console, by the hash of their secret."""

from datetime import datetime

from sqlalchemy import Connection, and_, delete, insert, or_, select, true, update

from internal.access.console.model import ConsoleSession
from internal.storage.engine.row_policies import across_owners
from internal.storage.tables import console_links, console_sessions


def add_link(connection: Connection, token_hash: str, user_id: int, *, now: datetime, expires_at: datetime) -> None:
    values = {"token_hash": token_hash, "user_id": user_id, "created_at": now, "expires_at": expires_at}
    connection.execute(insert(console_links).values(values))


def link_user(connection: Connection, token_hash: str, now: datetime) -> int | None:
    """The user of a valid, unused link, else None."""
    usable = (console_links.c.token_hash == token_hash, console_links.c.used_at.is_(None))
    found = select(console_links.c.user_id).where(*usable, console_links.c.expires_at > now)
    return connection.execute(found).scalar_one_or_none()


def use_link(connection: Connection, token_hash: str, now: datetime) -> int | None:
    """Marks a valid, unused link as used. Returns its user; None for another link."""
    usable = (console_links.c.token_hash == token_hash, console_links.c.used_at.is_(None))
    used = update(console_links).where(*usable, console_links.c.expires_at > now).values(used_at=now)
    return connection.execute(used.returning(console_links.c.user_id)).scalar_one_or_none()


def add_session(connection: Connection, token_hash: str, session: ConsoleSession) -> None:
    connection.execute(
        insert(console_sessions).values(
            token_hash=token_hash,
            user_id=session.user_id,
            csrf=session.csrf,
            created_at=session.created_at,
            seen_at=session.created_at,
            expires_at=session.expires_at,
        )
    )


def session(connection: Connection, of_user: str, of_admin: str, now: datetime) -> ConsoleSession | None:
    """The unexpired session of a token: of a user by the hash `of_user`, of the admin by `of_admin`."""
    kept = or_(
        and_(console_sessions.c.token_hash == of_user, console_sessions.c.user_id.is_not(None)),
        and_(console_sessions.c.token_hash == of_admin, console_sessions.c.user_id.is_(None)),
    )
    row = connection.execute(select(console_sessions).where(kept, console_sessions.c.expires_at > now)).one_or_none()
    return None if row is None else ConsoleSession(row.user_id, row.csrf, row.created_at, row.expires_at)


def drop_session(connection: Connection, *token_hashes: str) -> None:
    connection.execute(delete(console_sessions).where(console_sessions.c.token_hash.in_(token_hashes)))


def drop_all(connection: Connection, user_id: int | None) -> int:
    """Deletes the links and sessions of a user, or (None) of all users. Returns the number of sessions."""
    with across_owners(connection):
        for table in (console_links, console_sessions):
            whose = true() if user_id is None else table.c.user_id == user_id
            dropped = connection.execute(delete(table).where(whose)).rowcount
    return dropped


def drop_expired(connection: Connection, now: datetime) -> None:
    with across_owners(connection):
        for table in (console_links, console_sessions):
            connection.execute(delete(table).where(table.c.expires_at <= now))
