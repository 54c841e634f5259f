"""Expands the abbreviations of chats: "tmrw" becomes tomorrow, "щас" becomes сейчас. Loads no dictionary."""

import re
from typing import Final

from internal.language.text.tables import table

_MEANT: Final = {short: meant for meant, shorts in table(__package__, "slang").items() for short in shorts.split()}
_SHORT: Final = re.compile(
    rf"(?<![\w'’@/.-])(?:{'|'.join(sorted(map(re.escape, _MEANT), key=len, reverse=True))})(?![\w'’@-]|\.\w)",
    re.IGNORECASE,
)
_UKRAINIAN: Final = re.compile("[іїєґ]", re.IGNORECASE)
_SURELY: Final = 2
"""The most letters of abbreviations that are recognised in lower case only: "R" and "UR" are names."""


def spell_out(text: str) -> str:
    """The text with abbreviations expanded, in the same case and with the same marks."""

    def written_out(match: re.Match[str]) -> str:
        short = match[0].lower()
        if len(short) <= _SURELY and not match[0].islower() and not (match.start() == 0 and match[0].istitle()):
            return match[0]
        meant = "що" if short == "шо" and _UKRAINIAN.search(text) else _MEANT[short]
        return meant[0].upper() + meant[1:] if match[0][0].isupper() else meant

    return _SHORT.sub(written_out, text)
