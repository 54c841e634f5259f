"""What a model call is made for: set by a flow, read by the recorder of calls."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_cause: ContextVar[dict[str, str] | None] = ContextVar("cause", default=None)


@contextmanager
def caused_by(**links: str) -> Iterator[None]:
    """Model calls made inside, also by tasks started there, carry these links, such as turn="..."."""
    token = _cause.set(links)
    try:
        yield
    finally:
        _cause.reset(token)


def current_cause() -> dict[str, str] | None:
    return _cause.get()
