"""`/contacts`: people from and to address books."""

from typing import Annotated, Any, Final

from fastapi import Response
from pydantic import Field, StringConstraints

from bot.web.http.errors import KEYED, READING, WRITING
from bot.web.http.fields import NUL_FREE, Owner, Short, UserId
from bot.web.http.owners import Owners
from bot.web.http.routers import APIRouter
from bot.web.http.schemas import Request
from internal.errors import Refused
from internal.flows.contacts.imports import ContactBook
from internal.flows.contacts.review import ImportReport, Placed, cards_of
from internal.import_formats.model import Unreadable

IMPORT_PATH: Final = "/contacts/import"
_CONTACTS: Final[dict[str, Any]] = {"prefix": "/contacts", "tags": ["people"], "dependencies": KEYED}


class ContactsOrder(Request):
    """`content` is the text of a .vcf file or of Google's CSV. With `dry_run` nothing is stored."""

    user_id: Owner
    content: Annotated[str, StringConstraints(min_length=1, max_length=20_000_000), NUL_FREE]
    source: Short = Field("contacts", min_length=1)
    dry_run: bool = False


def contacts_router(owners: Owners, book: ContactBook) -> APIRouter:
    router = APIRouter(**_CONTACTS)

    @router.post("/import", responses=WRITING)
    async def import_contacts(order: ContactsOrder) -> ImportReport:
        """What becomes of each contact: new, updated, same (known already), or left out and why."""
        await owners.about(order.user_id)
        await book.admit(order.user_id, owners.expect)
        try:
            cards = [Placed(card) for card in cards_of(order.content)]
        except Unreadable as error:
            raise Refused("content", f"content: {error}") from None
        return await book.take(order.user_id, cards, source=order.source, dry_run=order.dry_run)

    @router.get("/export", responses=READING, response_class=Response)
    async def export_contacts(user_id: UserId) -> Response:
        """Everybody as a vCard file."""
        await owners.about(user_id)
        return Response(await book.export(user_id), media_type="text/vcard; charset=utf-8")

    return router
