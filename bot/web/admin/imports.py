"""The calls behind `laplaced import`: parsed conversations, some dozen at a time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Protocol

from pydantic import AwareDatetime, Field

from bot.web.http.fields import LARGEST_ID, RequestBody, filled
from bot.web.http.routers import APIRouter
from internal.flows.transfer.imports import ImportedDrafts, OwnerTerms
from internal.import_formats.model import MAX_MESSAGES, EpisodeDraft
from internal.knowledge.model import Segment

IMPORT_PATH = "/admin/import"
TERMS_PATH = "/admin/import/terms"

Owner = Annotated[int, Field(ge=-LARGEST_ID, le=LARGEST_ID)]
Short = Annotated[str, Field(max_length=2_000)]


class Importer(Protocol):
    """The port of an import."""

    async def terms(self, user_id: int) -> OwnerTerms:
        """The owner's terms. Raises NotFound for an unknown owner, Refused while all his data is being forgotten."""

    async def take(self, user_id: int, drafts: Sequence[EpisodeDraft], *, dry_run: bool) -> ImportedDrafts:
        """Stores what is new in these conversations; with `dry_run` it stores nothing."""


class TermsOrder(RequestBody):
    user_id: Owner


class ImportedLine(RequestBody):
    at: AwareDatetime
    text: Annotated[str, Field(min_length=1, max_length=20_000)]
    speaker: Short | None = None
    own: bool = False
    forwarded_from: Short | None = None
    url: Short | None = None
    key: Annotated[str, Field(min_length=1, max_length=2_000)]


class ImportedEpisode(RequestBody):
    name: Short
    source_description: Short
    source_url: Short | None = None
    place: Short
    lines: Annotated[list[ImportedLine], Field(min_length=1, max_length=MAX_MESSAGES)]

    @classmethod
    def of(cls, draft: EpisodeDraft) -> ImportedEpisode:
        lines = [ImportedLine.model_validate(segment, from_attributes=True) for segment in draft.segments]
        return filled(cls, draft, lines=lines)

    def draft(self) -> EpisodeDraft:
        segments = [Segment(n=n, message_id=None, **dict(line)) for n, line in enumerate(self.lines, start=1)]
        return EpisodeDraft(self.name, self.source_description, self.source_url, self.place, tuple(segments))


class ImportOrder(TermsOrder):
    dry_run: bool = False
    episodes: Annotated[list[ImportedEpisode], Field(max_length=200)]


def import_router(importer: Importer) -> APIRouter:
    router = APIRouter(include_in_schema=False)

    @router.post(TERMS_PATH)
    async def terms(order: TermsOrder) -> OwnerTerms:
        return await importer.terms(order.user_id)

    @router.post(IMPORT_PATH)
    async def take(order: ImportOrder) -> ImportedDrafts:
        return await importer.take(order.user_id, [one.draft() for one in order.episodes], dry_run=order.dry_run)

    return router
