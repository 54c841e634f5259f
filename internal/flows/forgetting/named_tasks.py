"""Tasks that only name a person in their words, which are erased with the person like tasks about the person."""

from datetime import datetime

from sqlalchemy import Connection

from internal.language.names.forms import holds_any, sentence_forms
from internal.people import removal_repository, repository as people
from internal.tasks import repository as tasks


def assign(connection: Connection, user_id: int, person_id: int, now: datetime) -> None:
    """Assigns tasks about nobody yet to this person, if their words name the person and nobody else who is known."""
    ids = {person_id} | people.sources_of(connection, user_id, person_id)
    profiles = removal_repository.profiles(connection, user_id, ids)
    others = [name for one in people.listing(connection, user_id) if one.id not in ids for name in one.names]
    forms = sentence_forms((name for one in profiles for name in one.names), others)
    for task in tasks.about_nobody(connection, user_id):
        if holds_any(f"{task.title} {task.details or ''}", forms):
            tasks.change(connection, task, now, person_id=person_id)
