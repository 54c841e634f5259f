"""Server-sent events, cut anywhere by the network."""

from __future__ import annotations


class EventStream:
    """Turns bytes into the data of events.

    Lines end with LF, CR LF or CR only: the other line breaks of Unicode may stand inside the JSON. Comments
    (keep-alives) and fields other than `data` are passed over.
    """

    def __init__(self) -> None:
        self._rest = b""
        self._data: list[bytes] = []

    def feed(self, chunk: bytes) -> list[str]:
        """The data of every event that is complete with this chunk."""
        buffer = self._rest + chunk
        # A CR at the very end may be half of a CR LF.
        held = b"\r" if buffer.endswith(b"\r") else b""
        lines = buffer[: len(buffer) - len(held)].replace(b"\r\n", b"\n").replace(b"\r", b"\n").split(b"\n")
        self._rest = lines.pop() + held
        return [event for line in lines if (event := self._line(line)) is not None]

    def finish(self) -> list[str]:
        """The event that the end of the stream leaves without its empty line, if there is one."""
        lines = (self._rest.rstrip(b"\r"), b"")
        self._rest = b""
        return [event for line in lines if (event := self._line(line)) is not None]

    def _line(self, line: bytes) -> str | None:
        if line.startswith(b"data:"):
            self._data.append(line[5:].removeprefix(b" "))
        if line or not self._data:
            return None
        data, self._data = b"\n".join(self._data), []
        return data.decode("utf-8", "replace")
