"""Tracks code in Markdown that is still being written."""

_FENCE = "```"


class Code:
    """Whether the text so far ends inside code: in a fence, or in backticks that are still open in its last line.

    An odd backtick does not affect other lines: some write м`ята.
    """

    def __init__(self) -> None:
        self._fenced = False
        self._line = ""

    @property
    def inside(self) -> bool:
        return self._fenced or self._line.count("`") % 2 == 1

    @property
    def line_has_words(self) -> bool:
        """Whether the last line has more than the mark of a list or quotation."""
        return any(map(str.isalnum, self._line))

    def take(self, text: str) -> None:
        *ended, last = text.split("\n")
        for part in ended:
            self._end(self._line + part)
        self._line += last

    def _end(self, line: str) -> None:
        mark = line.strip()
        if mark.startswith(_FENCE) and "`" not in mark.lstrip("`"):
            self._fenced = not self._fenced
        self._line = ""
