"""The calls behind `laplaced import`: parsed conversations, some dozen at a time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Protocol

from fastapi import APIRouter, HTTPException, Request
from fastapi.exceptions import RequestValidationError
from pydantic import AwareDatetime, BaseModel, ConfigDict, Field, ValidationError

from bot.web.http.fields import LARGEST_ID
from internal.flows.transfer.imports import ImportedDrafts, OwnerTerms
from internal.import_formats.model import Draft
from internal.import_formats.split import MAX_MESSAGES
from internal.knowledge.model import Segment

IMPORT_PATH = "/admin/import"
TERMS_PATH = "/admin/import/terms"

LARGEST_ORDER = 4 << 20
"""Bytes of one request; the command sends a sixteenth of that."""

Owner = Annotated[int, Field(ge=-LARGEST_ID, le=LARGEST_ID)]
Short = Annotated[str, Field(max_length=2_000)]


class Importer(Protocol):
    """The port of an import."""

    async def terms(self, user_id: int) -> OwnerTerms:
        """Raises NotFound for an unknown owner, Refused while everything of his is about to be forgotten."""
        ...

    async def take(self, user_id: int, drafts: Sequence[Draft], *, dry_run: bool) -> ImportedDrafts:
        """Stores what is new of these conversations; with `dry_run` it only looks."""
        ...


class _Order(BaseModel):
    model_config = ConfigDict(extra="forbid")

    user_id: Owner


class TermsOrder(_Order):
    pass


class ImportedLine(BaseModel):
    model_config = ConfigDict(extra="forbid")

    at: AwareDatetime
    text: Annotated[str, Field(min_length=1, max_length=20_000)]
    speaker: Short | None = None
    own: bool = False
    forwarded_from: Short | None = None
    url: Short | None = None
    key: Annotated[str, Field(min_length=1, max_length=2_000)]


class ImportedEpisode(BaseModel):
    model_config = ConfigDict(extra="forbid")

    name: Short
    source_description: Short
    source_url: Short | None = None
    place: Short
    lines: Annotated[list[ImportedLine], Field(min_length=1, max_length=MAX_MESSAGES)]

    @classmethod
    def of(cls, draft: Draft) -> ImportedEpisode:
        return cls(
            name=draft.name,
            source_description=draft.source_description,
            source_url=draft.source_url,
            place=draft.place,
            lines=[_line(segment) for segment in draft.segments],
        )

    def draft(self) -> Draft:
        segments = [
            Segment(
                n=n,
                at=line.at,
                text=line.text,
                message_id=None,
                speaker=line.speaker,
                own=line.own,
                forwarded_from=line.forwarded_from,
                url=line.url,
                key=line.key,
            )
            for n, line in enumerate(self.lines, start=1)
        ]
        return Draft(self.name, self.source_description, self.source_url, self.place, tuple(segments))


class ImportOrder(_Order):
    dry_run: bool = False
    episodes: Annotated[list[ImportedEpisode], Field(max_length=200)]


def import_router(importer: Importer) -> APIRouter:
    router = APIRouter(include_in_schema=False)

    @router.post(TERMS_PATH)
    async def terms(order: TermsOrder) -> OwnerTerms:
        return await importer.terms(order.user_id)

    @router.post(IMPORT_PATH)
    async def take(request: Request) -> ImportedDrafts:
        order = _order(await _body(request))
        return await importer.take(order.user_id, [one.draft() for one in order.episodes], dry_run=order.dry_run)

    return router


async def _body(request: Request) -> bytes:
    """The body, read no further than LARGEST_ORDER."""
    parts, size = [], 0
    async for part in request.stream():
        size += len(part)
        if size > LARGEST_ORDER:
            raise HTTPException(413, f"body: at most {LARGEST_ORDER} bytes at a time")
        parts.append(part)
    return b"".join(parts)


def _order(body: bytes) -> ImportOrder:
    try:
        return ImportOrder.model_validate_json(body)
    except ValidationError as error:
        faults = error.errors(include_url=False, include_context=False, include_input=False)
        raise RequestValidationError([{**fault, "loc": ("body", *fault["loc"])} for fault in faults]) from None


def _line(segment: Segment) -> ImportedLine:
    return ImportedLine(
        at=segment.at,
        text=segment.text or "",
        speaker=segment.speaker,
        own=segment.own,
        forwarded_from=segment.forwarded_from,
        url=segment.url,
        key=segment.key or "",
    )
