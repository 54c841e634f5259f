"""`/app`: the files of the Mini App. They contain no user's data, so a browser opens them without a key."""

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Final

from fastapi.responses import FileResponse

from bot.web.http.routers import APIRouter

PAGE: Final = "/app"

_FILES: Final = {
    PAGE: ("app.html", "text/html"),
    f"{PAGE}/app.css": ("app.css", "text/css"),
    f"{PAGE}/app.js": ("app.js", "text/javascript"),
    f"{PAGE}/telegram.js": ("telegram.js", "text/javascript"),
    f"{PAGE}/words.json": ("words.json", "application/json"),
}
PATHS: Final = frozenset(_FILES)

_FOLDER: Final = Path(__file__).parent / "static"

TELEGRAM: Final = ("https://web.telegram.org", "https://webk.telegram.org", "https://webz.telegram.org")
"""Pages that may show the Mini App in a frame; Telegram's native apps use none."""


def miniapp_router(chat_page: str | None) -> APIRouter:
    """The files of the Mini App; `chat_page` is the local Telegram's address, which may show it in a frame too."""
    router = APIRouter(include_in_schema=False)
    framed_by = " ".join(["'self'", *TELEGRAM, *filter(None, [chat_page])])
    headers = {
        "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
        f"img-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors {framed_by}",
        "Referrer-Policy": "no-referrer",
        "X-Content-Type-Options": "nosniff",
        "Cache-Control": "no-cache",
    }
    for path, (name, kind) in _FILES.items():
        router.get(path, name=path)(_sender(_FOLDER / name, kind, headers))
    return router


def _sender(file: Path, kind: str, headers: dict[str, str]) -> Callable[[], Awaitable[FileResponse]]:
    async def send() -> FileResponse:
        return FileResponse(file, media_type=kind, headers=headers)

    return send
