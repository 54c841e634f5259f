"""The messages about a person, which stay when the person is forgotten unless they are forgotten too."""

from datetime import datetime
from functools import partial

from sqlalchemy import Connection

from internal.access import repository as users
from internal.dialogue import removal_repository as dialogue_erasure
from internal.dialogue.model import Message
from internal.dialogue.reply_source_repository import citing
from internal.dialogue.search_item_repository import words_of
from internal.flows.forgetting.erasure_preview import preview
from internal.flows.forgetting.requested_messages import with_quotations
from internal.flows.forgetting.shared_support_repository import supporting_messages
from internal.language.names.forms import holds_any, sentence_forms
from internal.people import removal_repository, repository as people, service as people_service
from internal.storage.database import Database
from internal.storage.forgetting.forgettings import Forgetting


async def messages_about(database: Database, user_id: int, person_id: int, *, now: datetime) -> set[str]:
    """The ids of the messages that name a person in any form, or support what is erased with the person.

    Also the answers that quote one of these. Raises NotFound. Reading a long log does not block writers.
    """
    supporting = await database.write(partial(_supporting, user_id=user_id, person_id=person_id, now=now))
    return await database.read(partial(_with_naming, user_id=user_id, person_id=person_id, supporting=supporting))


def _supporting(connection: Connection, *, user_id: int, person_id: int, now: datetime) -> set[str]:
    person = people_service.person(connection, user_id, person_id)
    asked = Forgetting(user_id, "", "person", str(person.id), now, now)
    return supporting_messages(connection, user_id, preview(connection, user_id, [asked], now=now)[asked.id])


def _with_naming(connection: Connection, *, user_id: int, person_id: int, supporting: set[str]) -> set[str]:
    ids = {person_id} | people.sources_of(connection, user_id, person_id)
    profiles = removal_repository.profiles(connection, user_id, ids)
    others = [name for one in people.listing(connection, user_id) if one.id not in ids for name in one.names]
    others.append(users.get(connection, user_id).name)
    names = [name for one in profiles for name in (*one.names, one.username or "")]
    forms = sentence_forms(names, others)
    accounts = {one.telegram_id for one in profiles} - {None}

    def names_him(message: Message) -> bool:
        said_by = message.forward.user_id if message.forward else None
        shown = {attachment.get("telegram_id") for attachment in message.attachments}
        said = f"{words_of(message)} {message.content}"
        return not accounts.isdisjoint({said_by, *shown}) or holds_any(said, forms)

    named = {one.id for one in dialogue_erasure.every(connection, user_id) if names_him(one)}
    # An answer that quotes one of them contains the name itself; one that only cites it need not.
    found = named | with_quotations(connection, user_id, supporting - named)
    new = found
    while new:
        new = citing(connection, user_id, new) - found
        found = found | new
    return found
