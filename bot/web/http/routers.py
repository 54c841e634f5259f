"""Routers that prepare each call only when it is first made, and a way to join them."""

from collections.abc import Callable, Mapping
from typing import Any, Final

import fastapi
from fastapi import Depends, FastAPI
from fastapi.routing import APIRoute
from fastapi.security import HTTPBearer
from pydantic import BaseModel, ConfigDict, Field
from starlette.routing import compile_path


class Refusal(BaseModel):
    """A refusal; `detail` is one sentence that names the field, if it is about one."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"detail": "user_id: Field required"}]})

    detail: str = Field(description="What was wrong, naming the field.")


_MEANINGS: Final[Mapping[int, str]] = {
    400: "The body cannot be read at all.",
    401: "The key is missing or wrong.",
    403: "The Host is neither loopback nor in server.allowed_hosts, or a read-only key would change something.",
    404: "There is no such thing, or it is another owner's.",
    409: "It was changed in the meantime.",
    413: "The body is too large.",
    422: "A field is missing or breaks a rule.",
    429: "Too many attempts; Retry-After says when to try again.",
    503: "The database cannot be used now.",
}


KEYED = [
    Depends(
        HTTPBearer(
            auto_error=False,
            description="server.api_key; by default it is generated. Or a named key, made by `laplaced key add`.",
        )
    )
]
"""Describes the key in the API; the guard has already checked it."""


_DESCRIBED: Final = {"application/json": {"schema": {"$ref": f"#/components/schemas/{Refusal.__name__}"}}}


def refusals(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """The errors of a call in the description of the API: those of every call, and these."""
    all_statuses = sorted({401, 403, 422, 503, *statuses})
    return {status: {"content": _DESCRIBED, "description": _MEANINGS[status]} for status in all_statuses}


READING = refusals(404)


WRITING = refusals(400, 404, 413)


class _Call(APIRoute):
    """A call whose parameters are examined when it is first made or described.

    Examining all calls at the start takes a tenth of a second.
    """

    def __init__(self, path: str, endpoint: Callable[..., Any], **described: Any) -> None:
        self.path, self.endpoint, self._described = path, endpoint, described
        self.methods, self.name = {*(described["methods"] or ["GET"])}, described["name"] or endpoint.__name__
        self.include_in_schema = described["include_in_schema"]
        self.path_regex, self.path_format, self.param_convertors = compile_path(path)

    def __getattr__(self, name: str) -> Any:
        described = self.__dict__.pop("_described", None)
        if described is None:
            raise AttributeError(name)
        super().__init__(self.path, self.endpoint, **described)
        return getattr(self, name)


class APIRouter(fastapi.APIRouter):
    """FastAPI's router with such calls."""

    def __init__(self, **options: Any) -> None:
        super().__init__(route_class=_Call, **options)


def join(to: FastAPI | fastapi.APIRouter, *routers: fastapi.APIRouter) -> None:
    """Adds the calls of these routers as they are.

    `include_router` would build each of them a second time, to merge in options of the inclusion, although there are
    none here. That is half of the time that all calls take.
    """
    routes = to.router.routes if isinstance(to, FastAPI) else to.routes
    for router in routers:
        routes.extend(router.routes)
