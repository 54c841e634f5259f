"""What every call may answer instead of what was asked for, and how a caller shows who he is."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from fastapi import Depends, FastAPI
from fastapi.security import HTTPBearer
from pydantic import BaseModel, ConfigDict, Field


class Refusal(BaseModel):
    """`detail` is one sentence that names the field, where it is about one."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"detail": "user_id: Field required"}]})

    detail: str = Field(description="What was wrong, naming the field.")


_MEANINGS: Final[Mapping[int, str]] = {
    400: "The body cannot be read at all.",
    401: "The key is missing or wrong.",
    403: "The Host is neither loopback nor in server.allowed_hosts.",
    404: "There is no such thing, or it is another owner's.",
    409: "It was changed in the meantime.",
    413: "The body is too large.",
    422: "A field is missing or breaks a rule.",
    429: "Too many attempts; Retry-After says when to try again.",
    503: "The database cannot be used now.",
}

KEYED = [Depends(HTTPBearer(auto_error=False, description="server.api_key; by default it is generated."))]
"""Only tells in the description of the API what the guard has already checked."""


_DESCRIBED: Final = {"application/json": {"schema": {"$ref": f"#/components/schemas/{Refusal.__name__}"}}}


class DescribedApi(FastAPI):
    """Its description names the form of a refusal once.

    Declared as a model of every call, it would be built anew for each of their statuses: a third of a start.
    """

    def openapi(self) -> dict[str, Any]:
        if self.openapi_schema is None:
            schemas = super().openapi().setdefault("components", {}).setdefault("schemas", {})
            schemas[Refusal.__name__] = Refusal.model_json_schema()
        return super().openapi()


def refusals(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """The refusals of a call in the description of the API: those of every call, and these."""
    told = sorted({401, 403, 422, 503, *statuses})
    return {status: {"content": _DESCRIBED, "description": _MEANINGS[status]} for status in told}


READING = refusals(404)
WRITING = refusals(400, 404, 413)
