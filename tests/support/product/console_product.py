"""The product whose console is looked at, who lives in it, and a page of it as a person sees it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Final

from axe_playwright_python.async_playwright import Axe
from playwright.async_api import ConsoleMessage, Page, Request, Response
from sqlalchemy import Connection

from bot.application.app import App
from bot.web.admin.simulator import Simulator, SimulatorOrder, SimulatorState
from internal.access import repository as users
from internal.access.model import Language, Role, User, UserState
from internal.dialogue import repository as dialogue
from internal.events import repository as events
from internal.scheduling.clock import SystemClock
from internal.telemetry import call_repository

KEY: Final = "server-key-of-the-house"
BOT_TOKEN: Final = "42:token-of-the-house"
ANNA, BORIS = 100, 200

CONVERSATION: Final = (
    ("Обедала с Петровым, мы вместе работаем.", "Запомнила: Петров, вы вместе работаете."),
    ("<img src=x onerror='document.title=\"pwned\"'> {{1+1}}", "Just text."),
)
"""What Anna said and heard. The second is hostile: it may only ever be shown."""


_BEYOND: Final = """[document.documentElement, document.querySelector(".main.wide")].filter(Boolean)
    .map((one) => [one.scrollWidth, one.clientWidth, one.scrollHeight, one.clientHeight])
    .filter(([wide, seen, high, tall]) => wide > seen || high > tall)"""


class Lodger:
    """The simulator of a house in which a simulation lives for a while: `moved_in`, or none."""

    def __init__(self) -> None:
        self.moved_in: Simulator | None = None

    def state(self) -> SimulatorState:
        return SimulatorState() if self.moved_in is None else self.moved_in.state()

    async def order(self, order: SimulatorOrder) -> None:
        assert self.moved_in is not None
        await self.moved_in.order(order)

    def report(self) -> dict[str, Any] | None:
        return None if self.moved_in is None else self.moved_in.report()


@dataclass(frozen=True, slots=True)
class House:
    """`rest` and `url` are the addresses of the API and of the console."""

    app: App
    rest: str
    url: str
    lodger: Lodger


class Opened:
    """One open page. `complaints` collects console errors, exceptions, failed answers and requests to other hosts."""

    def __init__(self, page: Page, house: House) -> None:
        self.page, self._house = page, house
        self.complaints: list[str] = []
        page.on("console", self._heard)
        page.on("pageerror", lambda error: self.complaints.append(f"exception: {error}"))
        page.on("request", self._asked)
        page.on("response", self._answered)

    def _heard(self, message: ConsoleMessage) -> None:
        if message.type in {"error", "warning"}:
            self.complaints.append(f"{message.type}: {message.text}")

    def _asked(self, request: Request) -> None:
        if not request.url.startswith((self._house.url, self._house.url.replace("http", "ws"), "data:", "blob:")):
            self.complaints.append(f"request to {request.url}")

    def _answered(self, response: Response) -> None:
        if response.status >= 400:
            self.complaints.append(f"{response.status} for {response.url}")

    async def goto(self, path: str) -> None:
        await self.page.goto(self._house.url + path)
        await self.page.locator("#main").wait_for()

    async def fits(self) -> None:
        """Fails if the window scrolls, or a page that fills it: only what lies within may scroll."""
        scrolled = await self.page.evaluate(_BEYOND)
        assert scrolled == [], f"{self.page.url}: {scrolled}"

    async def accessible(self) -> None:
        """Fails with what axe-core has to say against the page as it is now."""
        found = await Axe().run(self.page, options={"resultTypes": ["violations"]})
        told = [
            f"{fault['id']}: {fault['help']}: {[node['html'][:200] for node in fault['nodes']][:4]}"
            for fault in found.response["violations"]
        ]
        assert told == [], "\n".join(told)


OWNERS: Final[Sequence[tuple[int, str, Language]]] = ((ANNA, "Анна", "ru"), (BORIS, "Boris", "en"))


def furnish(connection: Connection) -> None:
    """Anna and Boris move in; Anna talked a little, which left events and a model call."""
    now = SystemClock().now()
    for user_id, name, lang in OWNERS:
        known = User(user_id, Role.OWNER, UserState.ACTIVE, name, None, lang, "Europe/Kyiv", True, now, {})
        users.add(connection, known)
    for n, (said, answered) in enumerate(CONVERSATION, start=1):
        at, turn = now + timedelta(seconds=n), f"turn-{n}"
        question = dialogue.add(connection, ANNA, "user", said, now=at, turn_id=turn)
        answer = dialogue.add(connection, ANNA, "assistant", answered, now=at, turn_id=turn, delivery="sent")
        links = {"turn": turn}
        for kind, source, payload in (
            ("message_received", f"user:{ANNA}", {"message": question.id}),
            ("agent_result", "agent:Responder", {"message": answer.id, "model": "a-model"}),
            ("message_sent", "system:delivery", {"message": answer.id}),
        ):
            events.append(connection, kind, source=source, now=at, user_id=ANNA, payload=payload, links=links)
    call_repository.add(
        connection,
        [
            {
                "id": "call-of-anna", "user_id": ANNA, "agent": "responder", "model": "a-model", "at": now,
                "duration_s": 1.25, "prompt_tokens": 1204, "completion_tokens": 96, "cost_usd": 0.0012,
                "prompt": [{"role": "system", "content": "You are Laplaced."}, {"role": "user", "content": "Обедала"}],
                "reply": "Запомнила.", "error": None, "links": {"turn": "turn-1"},
            }
        ],
    )  # fmt: skip
