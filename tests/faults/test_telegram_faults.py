"""Telegram and the way to it go wrong in every way they are known to; each message is answered once all the same."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
import pytest
import pytest_asyncio
from support.faults.fault_record import proving
from support.faults.fault_stage import OFFLINE, Played, Stage, quiet, under_faults
from support.long import LONG
from support.patience import PATIENCE_S
from support.product.running_product import RESPONDER, ProcessEnded, until

from bot.telegram.i18n import phrase
from internal.testing import Fault

pytestmark = pytest.mark.asyncio(loop_scope="module")

UNKNOWN_WAIT_S = 30
DEAF_AFTER_S = 40
WINDOW_S = 1
"""What is sent together is answered together: on a busy machine three pictures take a while to arrive."""
SHORT = {"seconds": 0.5}
"""For faults that keep a connection silent: the far end hangs up after so long, before our own timeout of a minute."""

KINDS = (
    "flood", "bad_request", "forbidden", "unauthorized", "conflict", "server_error", "bad_gateway", "reset",
    "reset_after", "hang", "no_reply", "slow", "migrate",
)  # fmt: skip
OF_PRIVATE_CHATS = tuple(kind for kind in KINDS if kind != "migrate")
LASTING = {"slow": {"seconds": 1.0}, "no_reply": SHORT, "hang": SHORT}

# -- updates, while half a minute goes by for the messages below -------------------------------------------------------


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind not in ("unauthorized", "migrate")])
async def test_a_poll_that_fails_loses_and_doubles_nothing(stage: Stage, played: Played, kind: str) -> None:
    """Messages before and after the failing poll are stored once each, in their order, and answered."""
    with proving("telegram", f"getUpdates: {kind}", "asked again after a pause; nothing lost, nothing doubled"):
        user = await stage.newcomer()
        await stage.people.fault(kind, "getUpdates", **LASTING.get(kind, {}))
        for word in ("first", "second", "third"):
            await stage.people.say(user, f"{word} {kind}")
            await asyncio.sleep(0.15)
        query = "SELECT content FROM messages WHERE user_id = ? AND role = 'user' ORDER BY seq"
        stored = [(f"{word} {kind}",) for word in ("first", "second", "third")]
        await until(lambda: stage.bot.rows(query, user) == stored)
        await stage.settled(user)
        assert stage.bot.rows(query, user) == stored
        assert set(await stage.seen(user)) == {OFFLINE}


async def test_an_update_that_cannot_be_read_holds_up_nobody(stage: Stage, played: Played) -> None:
    """It is put aside with its words, shown, counted and replayed; what comes behind it goes on."""
    with proving("telegram", "an update that cannot be parsed", "put aside, shown, replayable; later updates go on"):
        user = await stage.newcomer()
        broken = {"message": {"message_id": "?", "chat": {"id": user, "type": "private"}, "text": "unreadable 7315"}}
        await stage.people.request("POST", "/updates", broken)
        assert await stage.ask(user, "Am I heard?") == OFFLINE
        ((n, raw),) = await stage.until_rows("SELECT n, raw FROM inbox WHERE state = 'quarantined'")
        assert "unreadable 7315" in raw
        assert phrase("en", "status-quarantined", count=1) in await stage.ask(user, "/status")
        assert await stage.metric("laplaced_inbox_quarantined") == 1
        code, out, _ = await stage.laplaced("doctor")
        assert (code, "1 update could not be handled" in out) == (1, True)
        assert (await stage.laplaced("quarantine", "--replay", str(n)))[0] == 0
        await until(lambda: stage.bot.rows("SELECT state FROM inbox WHERE n = ?", n) == [("quarantined",)])
        assert await stage.metric("laplaced_updates_quarantined_total") == 2


# -- messages of the bot -----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Sending:
    """One call fails by `kind`; the answer is shown so often, `slower` seconds later, and its row ends in `state`."""

    kind: str
    outcome: str
    name: str = ""
    copies: int = 1
    slower: float = 0.0
    state: str = "sent"
    uncertain: int = 0
    plain: bool = False
    more: dict[str, Any] = field(default_factory=dict)

    @property
    def title(self) -> str:
        return self.name or self.kind


SENDS = [
    Sending("flood", "waits as long as it is told to", slower=2, more={"retry_after": 2}),
    Sending("bad_request", "sent as plain text", plain=True),
    Sending(
        "bad_request", "shown as failed, and nothing after it waits", "bad_request about the chat", copies=0,
        state="refused", more={"description": "Bad Request: chat not found"},
    ),
    Sending("forbidden", "kept until its user writes again", copies=0, state="held"),
    Sending("unauthorized", "tried again", slower=1),
    Sending("conflict", "shown as failed, and nothing after it waits", copies=0, state="refused"),
    Sending("server_error", "tried again", slower=1),
    Sending("bad_gateway", "tried again", slower=1),
    Sending("slow", "waited for", slower=1.5, more={"seconds": 1.5}),
    Sending("reset", "unknown: sent once more after 30 s, counted", slower=UNKNOWN_WAIT_S, uncertain=1),
    Sending("hang", "unknown: sent once more after 30 s, counted", slower=UNKNOWN_WAIT_S, uncertain=1, more=SHORT),
    Sending(
        "reset_after", "unknown: sent once more after 30 s, counted; here it doubles, as declared", copies=2,
        slower=UNKNOWN_WAIT_S, uncertain=1,
    ),
    Sending(
        "no_reply", "unknown: sent once more after 30 s, counted; here it doubles, as declared", copies=2,
        slower=UNKNOWN_WAIT_S, uncertain=1, more=SHORT,
    ),
    Sending(
        "reset", "given up after the second time, shown as failed", "reset, twice", copies=0, slower=UNKNOWN_WAIT_S,
        state="refused", uncertain=2, more={"times": 2},
    ),
]  # fmt: skip
if LONG:
    SENDS.append(
        Sending("hang", "given up after a minute; unknown: sent once more", "hang for ever", slower=90, uncertain=1)
    )


@dataclass(frozen=True)
class Sent:
    shown: list[dict[str, Any]]
    row: tuple[Any, ...]
    waited: float
    delivery: str
    after: list[str]


async def sending(stage: Stage, case: Sending) -> Sent:
    user, marker = await stage.newcomer(), f"({case.title})"
    stage.script(RESPONDER, marker, f"**Well**, all {marker}", "Next.")
    await stage.people.fault(case.kind, "sendMessage", chat_id=user, **case.more)
    begun = time.monotonic()
    await stage.people.say(user, f"How are they? {marker}")
    final = "SELECT state, uncertain, message_id FROM outbox WHERE user_id = ? AND state IN ('sent', 'refused', 'held')"
    [row] = await stage.until_rows(final, user, within=150)
    waited = time.monotonic() - begun
    shown = await stage.people.bot_messages(user)
    ((delivery,),) = stage.bot.rows("SELECT delivery FROM messages WHERE id = ?", row[2])
    await stage.people.say(user, f"And next? {marker}")
    await stage.heard(user, "Next.")
    return Sent(shown, row, waited, delivery, await stage.seen(user))


@pytest.mark.parametrize("case", SENDS, ids=lambda case: case.title)
async def test_an_answer_that_cannot_be_sent(played: Played, case: Sending) -> None:
    """The answer comes as the policy of its fault says, and the next one behind it."""
    with proving("telegram", f"sendMessage: {case.title}", case.outcome):
        seen: Sent = await played.outcome(f"send {case.title}")
        text = f"Well, all ({case.title})"
        assert [message["text"] for message in seen.shown] == [text] * case.copies
        assert seen.row[:2] == (case.state, case.uncertain)
        assert case.slower <= seen.waited < case.slower + PATIENCE_S
        assert all(("entities" in message) is not case.plain for message in seen.shown)
        assert seen.delivery == {"held": "pending"}.get(case.state, case.state)
        late = [text] if case.state == "held" else []
        assert seen.after == [text] * case.copies + late + ["Next."]


COSMETIC = ("sendMessageDraft", "sendChatAction")
DECORATIONS = [
    (method, kind) for n, method in enumerate(COSMETIC) for m, kind in enumerate(KINDS) if LONG or m % 2 == n
]
"""Every kind for each method; in the short form of every change in turn."""
PLACEHOLDERS = OF_PRIVATE_CHATS if LONG else OF_PRIVATE_CHATS[::2]

_AT_ONCE = asyncio.Semaphore(3)
"""Decoration is shed when much is sent at once, and then it meets no fault."""


@dataclass(frozen=True)
class Written:
    seen: list[str]
    met: list[str]
    answers: int


async def writing(stage: Stage, kind: str, method: str, *, drafts: bool = True) -> Written:
    """Answers that are shown while they are written, until a call of the method met the fault."""
    user, marker = await stage.newcomer(), f"({method} {kind})"
    text, answers, met = f"All is well {marker}", 0, []
    stage.script(RESPONDER, marker, Fault("trickle", text=text, seconds=1.5 if drafts else 4.5))
    if not drafts:
        refusal = {"times": 100, "description": "Bad Request: no drafts here"}
        await stage.people.fault("bad_request", "sendMessageDraft", chat_id=user, **refusal)
    await stage.people.fault(kind, method, chat_id=user, **LASTING.get(kind, {}))
    async with _AT_ONCE:
        while not met and answers < 6:
            said = await stage.people.say(user, f"How are they? {marker}")
            await stage.heard(user, text, after=said["message_id"])
            await stage.settled(user)
            answers += 1
            met = [call["fault"] for call in await stage.people.ledger(user, method) if call["fault"]]
    return Written(await stage.seen(user), met, answers)


@pytest.mark.parametrize(("method", "kind"), DECORATIONS)
async def test_decoration_that_fails_harms_no_answer(played: Played, method: str, kind: str) -> None:
    """Whatever becomes of a draft or of typing, the answer comes once."""
    with proving("telegram", f"{method}: every kind", "shed; the answer comes once"):
        written: Written = await played.outcome(f"{method} {kind}")
        assert written.met == [kind]
        assert written.seen == [f"All is well ({method} {kind})"] * written.answers


@pytest.mark.parametrize("kind", PLACEHOLDERS)
async def test_placeholder_whose_edit_fails(played: Played, kind: str) -> None:
    """The answer takes the placeholder's place, once, whatever becomes of an edit in between."""
    with proving("telegram", "editMessageText while an answer is written: every kind", "shed; one message in the end"):
        written: Written = await played.outcome(f"placeholder {kind}")
        assert written.met == [kind]
        assert written.seen == [f"All is well (editMessageText {kind})"] * written.answers


EDITS = {
    "flood": ("sent", "tried again when it is allowed"),
    "bad_request": ("refused", "shown as failed"),
    "forbidden": ("held", "kept until its user writes again"),
    "unauthorized": ("sent", "tried again"),
    "conflict": ("refused", "shown as failed"),
    "server_error": ("sent", "tried again"),
    "bad_gateway": ("sent", "tried again"),
    "reset": ("sent", "tried again at once: an edit can be repeated"),
    "reset_after": ("sent", "tried again at once: an edit can be repeated"),
    "hang": ("sent", "tried again: an edit can be repeated"),
    "no_reply": ("sent", "tried again: an edit can be repeated"),
    "slow": ("sent", "waited for"),
}


async def editing(stage: Stage, kind: str, **more: Any) -> tuple[list[str], str]:
    """A button is pressed whose effect is an edit, which fails."""
    user = await stage.newcomer()
    await stage.people.say(user, "/language")
    shown = await stage.next_answer(user, 0)
    await stage.people.fault(kind, "editMessageText", chat_id=user, **LASTING.get(kind, {}), **more)
    await stage.people.press(user, shown["message_id"], f"l:{user}:uk")
    query = (
        "SELECT state FROM outbox WHERE user_id = ? AND n = (SELECT max(n) FROM outbox WHERE user_id = ?) "
        "AND state IN ('sent', 'refused', 'held') AND n > (SELECT min(n) FROM outbox WHERE user_id = ?)"
    )
    ((state,),) = await stage.until_rows(query, user, user, user)
    return await stage.seen(user), state


@pytest.mark.parametrize("kind", EDITS)
async def test_an_edit_that_cannot_be_made(played: Played, kind: str) -> None:
    """A button's effect is shown in its message once the fault is over, never twice, or is known to have failed."""
    state, outcome = EDITS[kind]
    with proving("telegram", f"editMessageText: {kind}", outcome):
        seen, found = await played.outcome(f"edit {kind}")
        assert found == state
        wanted = phrase("uk", "language-set") if state == "sent" else phrase("en", "language-ask")
        assert seen == [wanted]


async def test_an_edit_of_a_message_that_is_gone(stage: Stage, played: Played) -> None:
    """What cannot be edited any more is said again."""
    with proving("telegram", "editMessageText: the message is gone", "said again"):
        seen, state = await editing(stage, "bad_request", description="Bad Request: message to edit not found")
        assert state == "sent"
        assert seen == [phrase("en", "language-ask"), phrase("uk", "language-set")]


# -- more updates ------------------------------------------------------------------------------------------------------


async def test_what_people_send_arrives_as_they_meant_it(stage: Stage, played: Played) -> None:
    """An album, a text cut by the app, a hidden user's forward and an edit: one turn each, every word in the log."""
    with proving("telegram", "albums, cut texts, hidden forwards, edits", "one turn each, every word stored once"):
        user, marker = await stage.newcomer(), "(as meant)"
        stage.script(RESPONDER, marker, Fault("slow", text="Slow.", seconds=1.0), OFFLINE)
        said = await stage.people.say(user, f"I meen this {marker}")
        await asyncio.sleep(WINDOW_S + 0.5)
        await stage.people.edit(user, said["message_id"], f"I mean this {marker}")
        await stage.next_answer(user, said["message_id"])
        assert f"I mean this {marker}" in stage.asked(RESPONDER, marker)[-1].text
        assert len(await stage.people.bot_messages(user)) == 1

        captions = [f"Three pictures {marker}", "", ""]
        pictures = [stage.people.say(user, media="photo", caption=c, media_group_id="album") for c in captions]
        await asyncio.gather(*pictures)  # as an app sends them: one after another, the window could close in between
        await stage.settled(user)
        await stage.people.say(user, "long " * 1500 + marker)
        await stage.settled(user)
        origin = {"type": "hidden_user", "date": 1_795_000_000, "sender_user_name": "Hidden Harry"}
        await stage.people.say(user, f"Forwarded {marker}", forward_origin=origin)
        await stage.settled(user)

        turns = "SELECT count(*) FROM turns WHERE user_id = ?"
        assert stage.bot.rows(turns, user) == [(4,)]
        assert len(await stage.people.bot_messages(user)) == 4
        stored = "SELECT content, forward FROM messages WHERE user_id = ? AND role = 'user' ORDER BY seq"
        texts = stage.bot.rows(stored, user)
        assert [text for text, _ in texts[:4]] == [f"I mean this {marker}", f"Three pictures {marker}", "", ""]
        assert "".join(text for text, _ in texts[4:-1]).replace(" ", "").count("long") == 1500
        assert (texts[-1][0], "Hidden Harry" in texts[-1][1]) == (f"Forwarded {marker}", True)


async def test_long_answers_are_cut_where_telegram_counts(stage: Stage, played: Played) -> None:
    """4096 UTF-16 units a part, no character and no word lost, bold stays bold over the cut, no 400."""
    with proving("telegram", "an answer of 12,000 UTF-16 units with emoji", "cut into parts, nothing lost, no 400"):
        user, marker = await stage.newcomer(), "(long answer)"
        words = " ".join(f"🎈word{number}" for number in range(1300))
        stage.script(RESPONDER, marker, f"**{words}**")
        said = await stage.people.say(user, f"Tell me. {marker}")
        last = await stage.people.wait_for_message(
            user, lambda m: m["text"].endswith("word1299"), after=said["message_id"]
        )
        parts = [m for m in await stage.people.bot_messages(user) if m["message_id"] <= last["message_id"]]
        assert len(parts) > 3
        assert " ".join(part["text"] for part in parts) == words
        assert max(len(part["text"].encode("utf-16-le")) // 2 for part in parts) <= 4096
        assert {entity["type"] for part in parts for entity in part["entities"]} == {"bold"}
        assert [call["status"] for call in await stage.people.ledger(user, "sendMessage")] == [200] * len(parts)


async def test_group_that_moves_is_followed(stage: Stage, played: Played) -> None:
    """What is owed to a group that became a supergroup arrives there, once."""
    with proving("telegram", "sendMessage: migrate", "sent to the new chat, once"):
        user, old = await stage.newcomer(), -1_002_000_000_777
        group = {"title": "Us", "members": [user]}
        new = (await stage.people.request("POST", "/chats", group))["id"]
        first = await stage.next_answer(new, 0)
        await stage.people.fault("migrate", "sendMessage", chat_id=old, migrate_to_chat_id=new)
        await stage.people.request("POST", "/chats", group | {"id": old})
        second = await stage.next_answer(new, first["message_id"])
        assert [first["text"], second["text"]] == [phrase("en", "works-in-private")] * 2
        assert await stage.people.bot_messages(old) == []
        assert len(await stage.people.bot_messages(new)) == 2


async def test_button_presses_whose_answer_fails(stage: Stage, played: Played) -> None:
    """The effect of a button comes whatever becomes of the little answer to its press."""
    await played.all()
    with proving("telegram", "answerCallbackQuery: every kind", "shed; the button's effect comes"):
        people = [await stage.newcomer() for _ in KINDS]
        asked = {}
        for user in people:
            await stage.people.say(user, "/language")
        for user in people:
            asked[user] = (await stage.next_answer(user, 0))["message_id"]
        for kind in KINDS:
            await stage.people.fault(kind, "answerCallbackQuery", **LASTING.get(kind, {}))
        for user in people:
            await stage.people.press(user, asked[user], f"l:{user}:uk")
        for user in people:
            await stage.heard(user, phrase("uk", "language-set"))

        async def every_kind_met() -> bool:
            calls = await stage.people.request("GET", "/ledger", method="answerCallbackQuery")
            return {call["fault"] for call in calls["calls"]} >= set(KINDS)

        await until(every_kind_met)  # a press is answered after its effect is written


async def test_nobody_meets_the_flood_limits(stage: Stage, played: Played) -> None:
    """Twenty people write at once while Telegram counts strictly: all are answered, and hardly a call is refused."""
    await played.all()
    with proving("telegram", "strict flood limits, 20 people at once", "all answered within the limits"):
        people = [await stage.newcomer() for _ in range(20)]
        stage.model.script(RESPONDER, *[Fault("trickle", text=OFFLINE, seconds=2.0)] * 20)
        await stage.people.request("PUT", "/flood", {"enabled": True})
        try:
            for user in people:
                await stage.people.say(user, "Hello")
            for user in people:
                await stage.heard(user, OFFLINE)
        finally:
            await stage.people.request("PUT", "/flood", {"enabled": False})
        calls = [call for user in people for call in await stage.people.ledger(user)]
        assert len(calls) > 20
        assert [call["method"] for call in calls if call["status"] == 429] == []


async def test_unknown_sends_were_counted(stage: Stage, played: Played) -> None:
    """Each send whose outcome nobody knew stands in the metrics, and no other."""
    await played.all()
    with proving("telegram", "metrics", "unknown sends are counted, each once"):
        unknown = sum(case.more.get("times", 1) for case in SENDS if case.uncertain)
        assert await stage.metric("laplaced_sends_unknown_total") == unknown
        for kind in ("TelegramRetryAfter", "TelegramForbiddenError", "TelegramNetworkError", "TelegramServerError"):
            assert await stage.metric(f'laplaced_telegram_errors_total{{kind="{kind}",method="send"}}') >= 1


# -- ends --------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Deaf:
    """What became of a poll that was never answered: the answer after it, how long that took, what the log says."""

    said: str
    waited: float
    log: str
    ends: dict[str, tuple[int, str]]


async def growing_deaf(folder: Path) -> Deaf:
    """A poll is never answered again, nor ended; later another bot polls, and then somebody sets a webhook."""
    async with under_faults(folder) as stage:
        quiet(stage.model)
        await stage.bot.start()
        user = await stage.newcomer()
        await stage.people.fault("hang", "getUpdates")
        begun = time.monotonic()
        assert await stage.ask(user, "Wakes the poll that hangs") == OFFLINE
        said = await stage.ask(user, "Is anybody there?")
        waited, log, ends = time.monotonic() - begun, stage.bot.log.read_text(), {}
        await stage.people.fault("conflict", "getUpdates", times=20)
        await stage.people.say(user, "Wakes the poll that hangs")
        ends["conflict"] = await end_of(stage)
        await stage.people.request("DELETE", "/faults")
        async with httpx.AsyncClient(base_url=stage.telegram.url, timeout=PATIENCE_S) as client:
            await client.post(f"/bot{stage.telegram.token}/setWebhook", json={"url": "http://127.0.0.1:9/nobody"})
        with contextlib.suppress(ProcessEnded):
            await stage.bot.start()
        ends["webhook"] = await end_of(stage)
        return Deaf(said, waited, log, ends)


async def end_of(stage: Stage) -> tuple[int, str]:
    """Exit code and last words of the process."""
    return await stage.bot.ended(), stage.bot.log.read_text().splitlines()[-1]


async def test_a_deaf_poll_is_built_anew(deaf: Played) -> None:
    """After forty seconds without a word on an open connection the poll is made on a new one, and nothing is lost."""
    with proving("telegram", "getUpdates: silence for ever", "the poll is rebuilt after 40 s, nothing lost"):
        seen: Deaf = await deaf.outcome("deaf")
        assert seen.said == OFFLINE
        assert DEAF_AFTER_S - 2 <= seen.waited < DEAF_AFTER_S + PATIENCE_S
        assert "poll_failed" in seen.log


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("conflict", "Another program polls with this bot token (409)"),
        ("webhook", "a webhook is set for this bot"),
    ],
)
async def test_a_second_reader_of_the_updates_ends_the_program(deaf: Played, name: str, words: str) -> None:
    """Exit code 1, and one line that says what to do."""
    with proving("telegram", f"getUpdates: {name}, for good", "exit code 1 and one line that says why"):
        code, said = (await deaf.outcome("deaf")).ends[name]
        assert code == 1
        assert said.startswith(f"laplaced: {words}")


async def test_a_revoked_token_ends_the_program(stage: Stage, played: Played) -> None:
    """Exit code 1, and one line that names the setting."""
    await played.all()
    with proving("telegram", "getUpdates: unauthorized", "exit code 1 and one line that says why"):
        await stage.people.fault("unauthorized", "getUpdates")
        await stage.people.say(await stage.newcomer(), "Wakes the poll that hangs")
        words = "laplaced: Telegram does not know this bot token; check telegram.token."
        assert await end_of(stage) == (1, words)


# -- the products ------------------------------------------------------------------------------------------------------


@pytest_asyncio.fixture(scope="module", loop_scope="module", autouse=True)
async def deaf(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Played]:
    """A product of its own, whose fault is the whole process's; it goes on while the other cases are played."""
    cases = Played()
    cases.begin("deaf", lambda: growing_deaf(tmp_path_factory.mktemp("deaf")))
    yield cases
    await cases.stop()


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def stage(tmp_path_factory: pytest.TempPathFactory, deaf: Played) -> AsyncIterator[Stage]:
    folder = tmp_path_factory.mktemp("telegrams")
    async with under_faults(
        folder, LAPLACED_AGENTS__RESPONDER__TIMEOUT="30s", LAPLACED_TELEGRAM__GROUP_WINDOW=f"{WINDOW_S}s"
    ) as running:
        quiet(running.model)
        await running.bot.start()
        yield running


@pytest_asyncio.fixture(scope="module", loop_scope="module", autouse=True)
async def played(stage: Stage) -> AsyncIterator[Played]:
    """Every case has begun, each with a user of its own."""
    cases = Played()
    for one in SENDS:
        cases.begin(f"send {one.title}", lambda one=one: sending(stage, one))  # type: ignore[misc]
    for method, kind in DECORATIONS:
        cases.begin(f"{method} {kind}", lambda m=method, k=kind: writing(stage, k, m))  # type: ignore[misc]
    for kind in PLACEHOLDERS:
        answering = lambda k=kind: writing(stage, k, "editMessageText", drafts=False)  # noqa: E731
        cases.begin(f"placeholder {kind}", answering)  # type: ignore[misc]
    for kind in EDITS:
        cases.begin(f"edit {kind}", lambda k=kind: editing(stage, k))  # type: ignore[misc]
    yield cases
    await cases.stop()
