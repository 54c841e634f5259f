"""The interface of the language process for its callers."""

from collections.abc import Callable
from typing import ParamSpec, Protocol, TypeVar

P = ParamSpec("P")
T = TypeVar("T")


class LanguageCalls(Protocol):
    """The language process."""

    async def run(self, function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """The result of the function. May raise ModelUnavailable or LanguageCallFailed."""
