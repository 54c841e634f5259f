"""Our own long polling against a real Telegram, and against one that says nonsense."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from datetime import timedelta
from typing import Any

import pytest
from aiohttp import web
from support.interfaces.telegram_stage import BotStage, Counted, cancelled, eventually
from support.patience import PATIENCE_S

from bot.telegram.intake import polling
from bot.telegram.intake.polling import SHORTEST_S, BadToken, Poller, RawUpdate, SecondPoller
from bot.telegram.service import webhook_update
from internal.dialogue.mailbox import repository as mailbox
from internal.errors import ConfigurationError, Refused, StorageError

pytestmark = pytest.mark.asyncio(loop_scope="module")


class Accepted:
    """What a poller handed over."""

    def __init__(self) -> None:
        self.updates: list[RawUpdate] = []
        self.failures: list[Exception] = []

    async def accept(self, updates: Sequence[RawUpdate]) -> None:
        if self.failures:
            raise self.failures.pop(0)
        self.updates += updates

    @property
    def texts(self) -> list[str]:
        return [json.loads(raw)["message"]["text"] for _, raw in self.updates]


@asynccontextmanager
async def polled(stage: BotStage, accepted: Accepted, **more: Any) -> AsyncIterator[Poller]:
    poller = Poller(f"{stage.local.url}/bot{stage.local.token}", accepted.accept, stage.observer, **more)
    running = asyncio.create_task(poller.run())
    try:
        yield poller
    finally:
        await cancelled(running)


async def pending(stage: BotStage) -> int:
    return int((await stage.request("GET", "/state"))["pending_updates"])


async def test_updates_arrive_raw_and_the_offset_follows(stage: BotStage) -> None:
    """Each once, as Telegram wrote it; what was accepted is confirmed by the next poll."""
    user = await stage.person()
    accepted = Accepted()
    async with polled(stage, accepted):
        await stage.say(user, "Їжак")
        await eventually(lambda: _count(accepted, 1))
        await stage.say(user, "two")
        await eventually(lambda: _count(accepted, 2))
        await eventually(lambda: _none_pending(stage))
    assert accepted.texts == ["Їжак", "two"]


async def _count(accepted: Accepted, count: int) -> bool:
    return len(accepted.updates) >= count


async def _many(asked: Sequence[Any], count: int) -> bool:
    return len(asked) >= count


async def _none_pending(stage: BotStage) -> bool:
    return await pending(stage) == 0


async def test_what_is_not_on_disk_is_not_confirmed(stage: BotStage) -> None:
    """Where the database refuses, the same updates come again, however often."""
    user = await stage.person()
    accepted = Accepted()
    accepted.failures = [StorageError("disk full"), StorageError("disk full")]
    await stage.say(user, "kept")
    async with polled(stage, accepted):
        await eventually(lambda: _count(accepted, 1))
    assert accepted.texts == ["kept"]
    assert stage.observer.counts["error StorageError"] == 2


async def test_a_batch_repeated_after_a_crash_is_dropped(stage: BotStage) -> None:
    """The first poll has no offset, so what was not confirmed comes again; and ids may start anywhere."""
    user = await stage.person()
    await stage.say(user, "again")
    first, second = Accepted(), Accepted()
    stopped = asyncio.Event()

    async def accept_and_die(updates: Sequence[RawUpdate]) -> None:
        await first.accept(updates)
        stopped.set()
        await asyncio.Event().wait()

    dying = Accepted()
    dying.accept = accept_and_die  # type: ignore[method-assign]
    async with polled(stage, dying):
        await asyncio.wait_for(stopped.wait(), PATIENCE_S)
    await stage.request("POST", "/update_ids", {"next": 5})
    await stage.say(user, "restarted ids")
    async with polled(stage, second):
        await eventually(lambda: _count(second, 2))
    assert second.updates[0] == first.updates[0] or second.updates[1] == first.updates[0]
    assert sorted(second.texts) == ["again", "restarted ids"]


@pytest.mark.parametrize("kind", ["flood", "server_error", "bad_gateway", "reset"])
async def test_a_failing_poll_pauses_and_goes_on(stage: BotStage, kind: str) -> None:
    """Nothing ends the loop but a wrong token, a webhook or a second poller."""
    user = await stage.person()
    accepted = Accepted()
    await stage.fault(kind, "getUpdates", times=2)
    async with polled(stage, accepted):
        await stage.say(user, "hello")
        await eventually(lambda: _count(accepted, 1))
    assert accepted.texts == ["hello"]
    assert sum(count for what, count in stage.observer.counts.items() if what.startswith("error")) == 2


async def test_a_deaf_connection_is_built_anew(stage: BotStage) -> None:
    """However open it looks: without an answer in time it is dropped."""
    user = await stage.person()
    accepted = Accepted()
    await stage.fault("hang", "getUpdates")
    async with polled(stage, accepted, deaf_after=0.3):
        await stage.say(user, "hello")
        await eventually(lambda: _count(accepted, 1))
    assert stage.observer.counts["error SocketTimeoutError"] >= 1


async def test_a_second_poller_is_told_plainly(stage: BotStage) -> None:
    """After a few tries: our own previous poll may hang for a moment after a restart."""
    await stage.fault("conflict", "getUpdates", times=100)
    accepted = Accepted()
    poller = Poller(f"{stage.local.url}/bot{stage.local.token}", accepted.accept, stage.observer)
    with pytest.raises(SecondPoller):
        await asyncio.wait_for(poller.run(), PATIENCE_S)
    assert stage.observer.counts["error 409"] == polling.CONFLICTS - 1
    await stage.request("DELETE", "/faults")
    await stage.fault("conflict", "getUpdates", times=polling.CONFLICTS - 1)
    user = await stage.person()
    await stage.say(user, "hello")
    async with polled(stage, accepted):
        await eventually(lambda: _count(accepted, 1))


_CONFLICT = {"ok": False, "error_code": 409, "description": "Conflict: terminated by other getUpdates request"}


async def test_a_second_poller_is_told_of_while_updates_come() -> None:
    """Two bots each get some of the updates: a poll that goes well between two conflicts is no peace."""
    accepted, observer = Accepted(), Counted()
    good = [{"ok": True, "result": [{"update_id": number}]} for number in range(1, polling.CONFLICTS)]
    fight = [answer for update in good for answer in (_CONFLICT, update)]
    async with strange_telegram(*fight, _CONFLICT) as (url, _):
        with pytest.raises(SecondPoller):
            await asyncio.wait_for(Poller(url, accepted.accept, observer).run(), PATIENCE_S)
    assert [number for number, _ in accepted.updates] == list(range(1, polling.CONFLICTS))


async def test_conflicts_that_lie_far_apart_are_no_second_poller(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each may be a poll of our own that a break of the network left behind."""
    monkeypatch.setattr(polling, "CONFLICT_WINDOW_S", 0.1)
    monkeypatch.setattr(polling, "RETRY_BASE", timedelta(seconds=0.05))
    accepted, observer = Accepted(), Counted()
    async with strange_telegram(*[_CONFLICT] * polling.CONFLICTS) as (url, _):
        running = asyncio.create_task(Poller(url, accepted.accept, observer).run())
        await eventually(lambda: _count(accepted, 1))
        await cancelled(running)
    assert observer.counts["error 409"] == polling.CONFLICTS


async def test_somebody_elses_webhook_is_told_plainly(stage: BotStage) -> None:
    """With whose it is and what to do about it; it is left as it is."""
    await stage.bot.set_webhook("https://127.0.0.1:9/hook")
    poller = Poller(
        f"{stage.local.url}/bot{stage.local.token}",
        Accepted().accept,
        stage.observer,
        own_webhooks=["https://own/hook"],
    )
    with pytest.raises(ConfigurationError, match=r"not by this program: Telegram calls 127\.0\.0\.1;"):
        await asyncio.wait_for(poller.run(), PATIENCE_S)
    assert (await stage.bot.get_webhook_info()).url == "https://127.0.0.1:9/hook"


async def test_a_webhook_of_ones_own_ends_when_polling_begins(stage: BotStage) -> None:
    """What came meanwhile is not lost."""
    accepted, hook = Accepted(), "https://127.0.0.1:9/hook"
    await stage.bot.set_webhook(hook)
    await stage.say(await stage.person(), "meanwhile")
    async with polled(stage, accepted, own_webhooks=[hook]):
        await eventually(lambda: _count(accepted, 1))
    assert accepted.texts == ["meanwhile"]
    assert (await stage.bot.get_webhook_info()).url == ""


@pytest.mark.parametrize("answer", [[], [{"update_id": 9, "message": {"text": "good"}}]])
async def test_a_server_that_answers_at_once_is_not_asked_without_a_pause(answer: list[Any]) -> None:
    """Whether it has nothing, or goes on sending what it was told to have been received."""
    async with strange_telegram(*[{"ok": True, "result": answer}] * 100) as (url, asked):
        running = asyncio.create_task(Poller(url, Accepted().accept, Counted()).run())
        began = asyncio.get_running_loop().time()
        await eventually(lambda: _many(asked, 4))
        took = asyncio.get_running_loop().time() - began
        await cancelled(running)
    assert took >= 2 * SHORTEST_S


async def test_a_wrong_token_is_told_plainly(stage: BotStage) -> None:
    """Without repeating it."""
    poller = Poller(f"{stage.local.url}/bot42:not-this-one", Accepted().accept, stage.observer)
    with pytest.raises(BadToken) as raised:
        await asyncio.wait_for(poller.run(), PATIENCE_S)
    assert "not-this-one" not in str(raised.value)


@asynccontextmanager
async def strange_telegram(*answers: Any) -> AsyncIterator[tuple[str, list[dict[str, Any]]]]:
    """A Bot API that gives these answers in turn, and then one good update without end; and what it was asked."""
    waiting, asked = list(answers), list[dict[str, Any]]()

    async def answer(request: web.Request) -> web.Response:
        asked.append(await request.json())
        if not waiting:
            await asyncio.sleep(0.02)
            good = {"update_id": 9, "message": {"text": "good"}}
            return web.json_response({"ok": True, "result": [good]})
        said = waiting.pop(0)
        return web.Response(text=said if isinstance(said, str) else json.dumps(said), content_type="application/json")

    app = web.Application()
    app.router.add_post("/bot1:x/getUpdates", answer)
    runner = web.AppRunner(app)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    try:
        yield f"http://127.0.0.1:{runner.addresses[0][1]}/bot1:x", asked
    finally:
        await runner.cleanup()


@pytest.mark.parametrize(
    "nonsense",
    [
        "<html>",
        "[]",
        '"text"',
        {"ok": True},
        {"ok": True, "result": None},
        {"ok": True, "result": {"update_id": 1}},
        {"ok": True, "result": [{"message": {}}]},
        {"ok": True, "result": ["x", None, {"update_id": "1"}, {"update_id": True}]},
        {"ok": True, "result": [{"update_id": 2**70}]},
        {"ok": False, "error_code": 500, "description": "x", "parameters": None},
        {"ok": False, "error_code": None, "parameters": []},
        {"ok": False, "error_code": "many", "parameters": {"retry_after": "soon"}},
    ],
)
async def test_nonsense_is_survived_without_a_tight_loop(nonsense: Any) -> None:
    """An answer that holds no update pauses the loop; the next good one is taken."""
    accepted, observer = Accepted(), Counted()
    async with strange_telegram(nonsense) as (url, asked):
        running = asyncio.create_task(Poller(url, accepted.accept, observer).run())
        await eventually(lambda: _count(accepted, 1))
        await cancelled(running)
    if nonsense == {"ok": True, "result": {"update_id": 1}}:
        assert accepted.updates[0][0] == 1
    else:
        assert accepted.updates[0][0] == 9
        assert sum(count for what, count in observer.counts.items() if what.startswith("error")) == 1
    assert len(asked) < 50


async def test_what_is_no_update_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """The others are taken, in order, and confirmed."""
    accepted, observer = Accepted(), Counted()
    mixed = {"ok": True, "result": [{"update_id": 3}, {"no": "number"}, {"update_id": 4}]}
    async with strange_telegram(mixed) as (url, asked):
        running = asyncio.create_task(Poller(url, accepted.accept, observer).run())
        await eventually(lambda: _count(accepted, 3))
        await cancelled(running)
    assert [number for number, _ in accepted.updates[:3]] == [3, 4, 9]
    assert [one.get("offset") for one in asked[:2]] == [None, 5]


async def test_after_a_long_silence_the_offset_is_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    """Telegram may have restarted its ids; what is repeated is dropped when it is stored."""
    monkeypatch.setattr(polling, "QUIET_S", 0.0)
    accepted, observer = Accepted(), Counted()
    update, nothing = {"ok": True, "result": [{"update_id": 3}]}, {"ok": True, "result": []}
    async with strange_telegram(update, nothing, nothing) as (url, asked):
        running = asyncio.create_task(Poller(url, accepted.accept, observer).run())
        await eventually(lambda: _count(accepted, 2))
        await cancelled(running)
    assert [one.get("offset") for one in asked[:4]] == [None, 4, None, None]


async def test_half_a_surrogate_pair_can_be_stored(stage: BotStage) -> None:
    """JSON can say it and no database takes it: written so that one update cannot block those behind it."""
    accepted = Accepted()
    strange = '{"ok": true, "result": [{"update_id": 3, "message": {"text": "\\ud83d"}}]}'
    async with strange_telegram(strange) as (url, _):
        running = asyncio.create_task(Poller(url, accepted.accept, Counted()).run())
        await eventually(lambda: _count(accepted, 1))
        await cancelled(running)
    fresh = await stage.write(lambda c: mailbox.receive(c, stage.bot.id, accepted.updates[:1], stage.clock.now()))
    assert [row.update_id for row in fresh] == [3]
    assert accepted.texts[0] == "\ud83d"


@pytest.mark.parametrize("body", [b"", b"{", b"[]", b"\xff", b'{"update_id": "1"}', b'{"update_id": true}'])
async def test_a_webhooks_body_that_is_no_update_is_refused(body: bytes) -> None:
    """It can be neither stored nor told from a repeated one."""
    with pytest.raises(Refused):
        webhook_update(body)
