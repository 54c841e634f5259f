"""`/docs`: Swagger UI for the calls, from files that come with the installation."""

from collections.abc import Awaitable, Callable
from importlib.resources import files
from typing import Final

from fastapi.openapi.docs import get_swagger_ui_html
from fastapi.responses import FileResponse, HTMLResponse

from bot.web.http.routers import APIRouter

PAGE: Final = "/docs"

_FILES: Final = {
    f"{PAGE}/swagger-ui.css": "text/css",
    f"{PAGE}/swagger-ui-bundle.js": "text/javascript",
    f"{PAGE}/favicon.png": "image/png",
}

DOCUMENTATION_PATHS: Final = frozenset({PAGE, *_FILES})
"""Paths without user data: a browser sends no key when it opens a page, and the calls made from it ask for one."""


def documentation_router(title: str, openapi_url: str) -> APIRouter:
    """The documentation page, which asks for the key under "Authorize" and keeps it only while it is open."""
    router = APIRouter(include_in_schema=False)
    stylesheet, script, icon = _FILES

    @router.get(PAGE)
    async def page() -> HTMLResponse:
        return get_swagger_ui_html(
            openapi_url=openapi_url,
            title=title,
            swagger_js_url=script,
            swagger_css_url=stylesheet,
            swagger_favicon_url=icon,
        )

    for path, kind in _FILES.items():
        router.get(path, name=path)(_sender(path.rpartition("/")[2], kind))
    return router


def _sender(name: str, kind: str) -> Callable[[], Awaitable[FileResponse]]:
    # Swagger UI itself: the page of its package is made for an application that the package builds.
    file = str(files("fastapi_offline") / "static" / name)

    async def send() -> FileResponse:
        return FileResponse(file, media_type=kind)

    return send
