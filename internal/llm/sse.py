"""A parser of server-sent events that arrive in arbitrary chunks."""


class EventStream:
    """Turns bytes into the data of events.

    Only LF, CR LF and CR end a line: other line breaks of Unicode may occur inside the JSON. Comments (keep-alives) and
    fields other than `data` are skipped.
    """

    def __init__(self) -> None:
        self._rest = b""
        self._data: list[bytes] = []

    def feed(self, chunk: bytes) -> list[str]:
        """The data of every event completed by this chunk."""
        buffer = self._rest + chunk
        # A CR at the very end may be half of a CR LF.
        held = b"\r" if buffer.endswith(b"\r") else b""
        lines = buffer[: len(buffer) - len(held)].replace(b"\r\n", b"\n").replace(b"\r", b"\n").split(b"\n")
        self._rest = lines.pop() + held
        return [event for line in lines if (event := self._line(line)) is not None]

    def finish(self) -> list[str]:
        """The last event if the stream ended without the empty line after it."""
        lines = (self._rest.rstrip(b"\r"), b"")
        self._rest = b""
        return [event for line in lines if (event := self._line(line)) is not None]

    def _line(self, line: bytes) -> str | None:
        if line.startswith(b"data:"):
            self._data.append(line[5:].removeprefix(b" "))
        if line or not self._data:
            return None
        data, self._data = b"\n".join(self._data), []
        return data.decode("utf-8", "replace").strip()


def events_in(body: bytes) -> list[str]:
    """The data of all events of a whole body, none where it is no stream of events."""
    stream = EventStream()
    return [*stream.feed(body), *stream.finish()]
