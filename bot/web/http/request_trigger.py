"""Makes a call the trigger of the events that are appended while it is answered."""

from collections.abc import Collection

from starlette.types import ASGIApp, Receive, Scope, Send

from internal.events.trigger import UpdateTrigger
from internal.events.trigger_events import triggered_by
from internal.scheduling.clock import Clock
from internal.storage.types import new_id

READING = frozenset({"GET", "HEAD", "OPTIONS"})


class RequestTrigger:
    """Sets the trigger of each call that may change something, except on `exempt` paths, whose updates have their own.

    Its event holds method and path, which contain ids and no words; a call without changes leaves no event.
    """

    def __init__(self, app: ASGIApp, *, clock: Clock, exempt: Collection[str]) -> None:
        self._app, self._clock, self._exempt = app, clock, frozenset(exempt)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["method"] in READING or scope["path"] in self._exempt:
            await self._app(scope, receive, send)
            return
        payload = {"request": f"{scope['method']} {scope['path']}"}
        with triggered_by(UpdateTrigger(None, f"request:{new_id()}", payload, self._clock.now())):
            await self._app(scope, receive, send)
