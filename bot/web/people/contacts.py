"""`/contacts`: import, export and synchronisation of people with address books."""

from typing import Annotated, Any, Final

from fastapi import Response
from pydantic import BaseModel, Field, StringConstraints

from bot.web.http.fields import NUL_FREE, Owner, RequestBody, Short, UserId
from bot.web.http.owners import Owners
from bot.web.http.routers import KEYED, READING, WRITING, APIRouter
from internal.access import repository as users
from internal.errors import Refused
from internal.flows.contacts.imports import ContactBook
from internal.flows.contacts.review import BookCard, ImportReport, cards_of
from internal.flows.contacts.sync import ContactSync, SyncReport
from internal.flows.views.map_drawing import PersonOnMap, drawn, people_on_map
from internal.flows.views.people_map import PeopleMaps
from internal.import_formats.model import Unreadable
from internal.language.text.spelling import Language
from internal.storage.database import Database

IMPORT_PATH: Final = "/contacts/import"
SYNC_PATH: Final = "/contacts/sync"
_CONTACTS: Final[dict[str, Any]] = {"prefix": "/contacts", "tags": ["people"], "dependencies": KEYED}


class ContactsOrder(RequestBody):
    """Contacts to import; `content` is the text of a .vcf file or of Google's CSV. With `dry_run` nothing is stored."""

    user_id: Owner
    content: Annotated[str, StringConstraints(min_length=1, max_length=20_000_000), NUL_FREE]
    source: Short = Field("contacts", min_length=1)
    dry_run: bool = False


class TiedPerson(BaseModel):
    name: str
    relation: str
    inferred: bool
    circle: str


class MapOut(BaseModel):
    """Everybody tied to the owner, and the drawing. An inferred `relation` has the chain it follows from."""

    people: list[TiedPerson]
    svg: str


def map_router(database: Database, owners: Owners, maps: PeopleMaps) -> APIRouter:
    router = APIRouter(prefix="/people", tags=["people"], dependencies=KEYED)

    async def drawing(user_id: int) -> tuple[list[PersonOnMap], Language]:
        if not await owners.about(user_id):
            return [], "en"
        user = await database.read(lambda c: users.get(c, user_id))
        return people_on_map(*await maps.ties(user_id), user.lang), user.lang

    @router.get("/map", responses=READING)
    async def people_map(user_id: UserId) -> MapOut:
        """The ties of people to the owner, stated and inferred."""
        found, lang = await drawing(user_id)
        tied = [TiedPerson(name=p.name, relation=p.words, inferred=p.inferred, circle=p.circle) for p in found]
        return MapOut(people=tied, svg=drawn(found, lang))

    @router.get("/map.svg", responses=READING, response_class=Response)
    async def people_drawing(user_id: UserId) -> Response:
        """The same as a drawing with the owner in the middle; inferred relations are dashed."""
        found, lang = await drawing(user_id)
        return Response(drawn(found, lang), media_type="image/svg+xml")

    return router


def contacts_router(owners: Owners, book: ContactBook, sync: ContactSync | None = None) -> APIRouter:
    router = APIRouter(**_CONTACTS)

    @router.post("/import", responses=WRITING)
    async def import_contacts(order: ContactsOrder) -> ImportReport:
        """The outcome for each contact: new, updated, same (known already), or left out and why."""
        await owners.about(order.user_id)
        await book.admit(order.user_id, owners.expect)
        try:
            cards = [BookCard(card) for card in cards_of(order.content)]
        except Unreadable as error:
            raise Refused("content", f"content: {error}") from None
        return await book.take(order.user_id, cards, source=order.source, dry_run=order.dry_run)

    @router.post("/sync", responses=WRITING)
    async def sync_contacts() -> SyncReport:
        """Compares the people with the configured address book now, both ways."""
        if sync is None:
            raise Refused(
                "carddav", "no address book is configured (carddav.url; carddav.owner where users are several)"
            )
        await owners.stored(sync.owner)
        return await sync.sync()

    @router.get("/export", responses=READING, response_class=Response)
    async def export_contacts(user_id: UserId) -> Response:
        """All people as a vCard file."""
        await owners.about(user_id)
        return Response(await book.export(user_id), media_type="text/vcard; charset=utf-8")

    return router
