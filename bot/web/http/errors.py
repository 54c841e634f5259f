"""The errors that calls answer with: their form, their status codes, and their part of the API's description."""

from collections.abc import Callable, Mapping
from typing import Any, Final

from fastapi import Depends, FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from fastapi.security import HTTPBearer
from pydantic import BaseModel, ConfigDict, Field
from starlette.exceptions import HTTPException
from starlette.routing import Match

from bot.web.http.fields import fault_words
from internal.errors import Conflict, LaplacedError, MirrorUnavailable, NotFound, Refused, StorageError

_METHODS: Final = ("DELETE", "GET", "HEAD", "PATCH", "POST", "PUT")

_STATUS: Final[Mapping[type[LaplacedError], int]] = {
    NotFound: 404,
    Conflict: 409,
    Refused: 422,
    StorageError: 503,
    MirrorUnavailable: 503,
}


class Refusal(BaseModel):
    """`detail` is one sentence that names the field, where it is about one."""

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
    """The errors of a call in the description of the API: those of every call, and these."""
    all_statuses = sorted({401, 403, 422, 503, *statuses})
    return {status: {"content": _DESCRIBED, "description": _MEANINGS[status]} for status in all_statuses}


READING = refusals(404)
WRITING = refusals(400, 404, 413)


def answer_errors_as_json(app: FastAPI) -> None:
    """Every error is answered with its status and one sentence, whatever raised it."""
    describe_invalid_requests(app)
    for kind, status in _STATUS.items():
        app.add_exception_handler(kind, _answer_with(status))

    @app.exception_handler(HTTPException)
    async def refused(request: Request, error: HTTPException) -> JSONResponse:
        headers = {"Allow": _methods_of(app, request)} if error.status_code == 405 else error.headers
        return JSONResponse({"detail": error.detail}, error.status_code, headers)

    @app.exception_handler(Exception)
    async def unexpected(_: Request, error: Exception) -> JSONResponse:
        # Starlette raises it again behind this answer, so that the server logs it with its traceback.
        return JSONResponse({"detail": "something went wrong; the log says more"}, 500)


def describe_invalid_requests(app: FastAPI) -> None:
    """A request that breaks a rule is answered with the field and what is wrong with it."""

    @app.exception_handler(RequestValidationError)
    async def invalid(_: Request, error: RequestValidationError) -> JSONResponse:
        faults = (_invalid_field(item["loc"], item["msg"]) for item in error.errors())
        return JSONResponse({"detail": "; ".join(faults)}, 422)


def _methods_of(app: FastAPI, request: Request) -> str:
    """Every method of a path: the router itself names those of the first route only."""

    def answers(method: str) -> bool:
        scope = {**request.scope, "method": method}
        return any(route.matches(scope)[0] is Match.FULL for route in app.routes)

    return ", ".join(method for method in _METHODS if answers(method))


def _answer_with(status: int) -> Callable[[Request, Exception], JSONResponse]:
    return lambda _, error: JSONResponse({"detail": str(error).encode("utf-8", "replace").decode()}, status)


def _invalid_field(place: tuple[int | str, ...], message: str) -> str:
    """`limit: Input should be less than or equal to 1000`: the field, without the part of the request it stood in."""
    unread = len(place) == 2 and isinstance(place[1], int)  # JSON that cannot be read: where it broke off, not a field
    field = "body" if unread else ".".join(str(part) for part in place[1:]) or (str(place[0]) if place else "body")
    # Half a surrogate pair in a field's name cannot be sent back.
    return f"{field}: {fault_words(message)}".encode("utf-8", "replace").decode()
