"""The address book on a CardDAV server, if one is configured."""

from __future__ import annotations

from typing import TYPE_CHECKING

from internal.config.settings import Config
from internal.flows.contacts.imports import ContactBook
from internal.scheduling.clock import Clock
from internal.storage.database import Database

if TYPE_CHECKING:
    from internal.flows.contacts.sync import ContactSync, SyncObserver


def contact_sync(
    config: Config, database: Database, clock: Clock, book: ContactBook, observer: SyncObserver
) -> ContactSync | None:
    """The synchronisation with the configured book, or None. Its owner is configured, or the only user admitted."""
    settings, allowed = config.carddav, config.access.allowed_user_ids
    owner = settings.owner or (next(iter(allowed)) if len(allowed) == 1 else 0)
    if not settings.url or not owner:
        return None
    from internal.flows.contacts.carddav import CardDavBook  # imported only if a server is configured
    from internal.flows.contacts.sync import ContactSync

    server = CardDavBook(settings.url, settings.user, settings.password.get_secret_value())
    return ContactSync(database, clock, book, server, owner, settings.every, observer)
