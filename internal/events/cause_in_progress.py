"""What is worked for: set by a flow, read by the recorder of model calls and by events without links of their own."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar

_cause: ContextVar[dict[str, str | Sequence[str]] | None] = ContextVar("cause", default=None)


@contextmanager
def caused_by(**links: str | Sequence[str]) -> Iterator[None]:
    """Model calls and events inside, also of tasks started there, carry these links: one id, or several."""
    token = _cause.set(links)
    try:
        yield
    finally:
        _cause.reset(token)


def current_cause() -> dict[str, str | Sequence[str]] | None:
    return _cause.get()
