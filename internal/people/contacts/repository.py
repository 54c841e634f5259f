"""Cards of address books in the database."""

from collections.abc import Collection
from dataclasses import asdict

from sqlalchemy import Connection, delete, select

from internal.people.contacts.model import StoredContact
from internal.storage.engine.upsert import upsert
from internal.storage.rows import reader
from internal.storage.tables import contacts

_KEY = ("user_id", "book", "person_id")


def listing(connection: Connection, user_id: int, book: str | None = None) -> list[StoredContact]:
    """The cards of an owner, of one book or of all, by book and person."""
    query = select(contacts).where(contacts.c.user_id == user_id)
    query = query if book is None else query.where(contacts.c.book == book)
    return [_contact(row) for row in connection.execute(query.order_by(contacts.c.book, contacts.c.person_id))]


def save_contact(connection: Connection, contact: StoredContact) -> None:
    """Stores a card, replacing the one that this person had in the same book."""
    values = asdict(contact)
    changes = {name: value for name, value in values.items() if name not in _KEY}
    statement = upsert(contacts).values(values)
    connection.execute(statement.on_conflict_do_update(index_elements=list(_KEY), set_=changes))


def drop(connection: Connection, user_id: int, person_ids: Collection[int]) -> None:
    of_people = (contacts.c.user_id == user_id) & contacts.c.person_id.in_(list(person_ids))
    connection.execute(delete(contacts).where(of_people))


_contact = reader(StoredContact)
