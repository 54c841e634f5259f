"""Regular expressions that are compiled at their first use: a process imports many and uses few."""

import re
from typing import Any, Final, cast

_USES: Final = ("search", "match", "fullmatch", "finditer", "findall", "sub", "subn", "split")


class _Deferred:
    def __init__(self, shape: str, flags: int) -> None:
        self._shape, self._flags = shape, flags

    def __getattr__(self, name: str) -> Any:
        compiled = re.compile(self._shape, self._flags)
        # From now on the methods are found without this call.
        self.__dict__.update({use: getattr(compiled, use) for use in _USES})
        return getattr(compiled, name)


def pattern(shape: str, flags: int = 0) -> re.Pattern[str]:
    """A pattern like that of `re.compile`, for its methods; an invalid one raises an error at its first use."""
    return cast("re.Pattern[str]", _Deferred(shape, flags))


ANOTHER = pattern(r"(?<!\bс )(?<!\bсо )(?<!им )\bдругом\b|\bдруг(?:ое|ой|ую|им|ими|ие|их|ого|ому)\b", re.IGNORECASE)
"""Forms of "другой" that look like forms of "друг": "давай о другом" names no friend."""
