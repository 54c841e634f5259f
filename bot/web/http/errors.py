"""Error answers of calls: their form, their status codes, and their part of the API's description."""

from collections.abc import Callable, Mapping
from typing import Any, Final

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from starlette.exceptions import HTTPException
from starlette.routing import Match

from bot.web.http.fields import fault_words
from bot.web.http.routers import Refusal
from internal.errors import Conflict, LaplacedError, MirrorUnavailable, NotFound, Refused, StorageError

_METHODS: Final = ("DELETE", "GET", "HEAD", "PATCH", "POST", "PUT")

_STATUS: Final[Mapping[type[LaplacedError], int]] = {
    NotFound: 404,
    Conflict: 409,
    Refused: 422,
    StorageError: 503,
    MirrorUnavailable: 503,
}


class DescribedApi(FastAPI):
    """An application whose description contains the form of a refusal once.

    Declared as a model of every call, it would be rebuilt for each status: a third of the start-up time.
    """

    def openapi(self) -> dict[str, Any]:
        if self.openapi_schema is None:
            schemas = super().openapi().setdefault("components", {}).setdefault("schemas", {})
            schemas[Refusal.__name__] = Refusal.model_json_schema()
        return super().openapi()


def answer_errors_as_json(app: FastAPI) -> None:
    """Answers every error with its status and one sentence, whatever raised it."""
    describe_invalid_requests(app)
    for kind, status in _STATUS.items():
        app.add_exception_handler(kind, _answer_with(status))

    @app.exception_handler(HTTPException)
    async def refused(request: Request, error: HTTPException) -> JSONResponse:
        headers = {"Allow": _methods_of(app, request)} if error.status_code == 405 else error.headers
        return JSONResponse({"detail": error.detail}, error.status_code, headers)

    @app.exception_handler(Exception)
    async def unexpected(_: Request, error: Exception) -> JSONResponse:
        # Starlette raises it again after this answer, so that the server logs it with its traceback.
        return JSONResponse({"detail": "something went wrong; the log says more"}, 500)


def describe_invalid_requests(app: FastAPI) -> None:
    """Answers an invalid request with the name of the field and the reason."""

    @app.exception_handler(RequestValidationError)
    async def invalid(_: Request, error: RequestValidationError) -> JSONResponse:
        faults = (_invalid_field(item["loc"], item["msg"]) for item in error.errors())
        return JSONResponse({"detail": "; ".join(faults)}, 422)


def _methods_of(app: FastAPI, request: Request) -> str:
    """All methods of a path: the router itself names only those of the first route."""

    def answers(method: str) -> bool:
        scope = {**request.scope, "method": method}
        return any(route.matches(scope)[0] is Match.FULL for route in app.routes)

    return ", ".join(method for method in _METHODS if answers(method))


def _answer_with(status: int) -> Callable[[Request, Exception], JSONResponse]:
    return lambda _, error: JSONResponse({"detail": str(error).encode("utf-8", "replace").decode()}, status)


def _invalid_field(location: tuple[int | str, ...], message: str) -> str:
    """A reason as `limit: Input should be less than or equal to 1000`: the field without its part of the request."""
    # for unreadable JSON, the location is where the text broke off, not a field
    unread = len(location) == 2 and isinstance(location[1], int)
    field = (
        "body" if unread else ".".join(str(part) for part in location[1:]) or (str(location[0]) if location else "body")
    )
    # Half a surrogate pair in a field's name cannot be sent back.
    return f"{field}: {fault_words(message)}".encode("utf-8", "replace").decode()
