"""Archival, status, forgetting, export, privacy."""

from __future__ import annotations

import json
from datetime import timedelta

import pytest
from sqlalchemy import Connection, delete, insert, update
from support.interfaces.handler_stage import World, only

from bot.telegram.i18n import label, phrase
from bot.telegram.rendering import render
from internal.access import limits, repository as known_users
from internal.access.model import LANGUAGES, Language
from internal.config.settings import Config, load
from internal.dialogue import repository as dialogue
from internal.errors import StorageError
from internal.flows.archival.archive_now import ArchivedCounts
from internal.flows.forgetting.requests import UNDO_WINDOW, ForgettingService
from internal.flows.operations.model_call_log import KEPT
from internal.flows.visibility.pending_forgettings import messages_to_forget
from internal.graph.mirror.repository import move_cursor, newest
from internal.storage.change_log import record_change
from internal.storage.tables import changes, inbox, messages, runs, users


def text(lang: Language, key: str, **values: str | int | float) -> str:
    return "".join(part.text for part in render(phrase(lang, key, **values)))


@pytest.mark.parametrize("lang", LANGUAGES)
async def test_archive_tells_what_happens(world: World, lang: Language) -> None:
    """/archive asks for the writer alone; it never says that all is done while something is tried again or at work."""
    await world.admit(2, "Taras", lang)
    started, again = text(lang, "archive-started", count=3), text(lang, "archive-again", count=2)
    for found, told in (
        (ArchivedCounts(), text(lang, "archive-nothing")),
        (ArchivedCounts(fragments=1, messages=3, unfinished=1), started),
        (ArchivedCounts(revived=2, unfinished=2), again),
        (ArchivedCounts(revived=1, hurried=1, unfinished=3), again),
        (ArchivedCounts(fragments=1, messages=3, hurried=2, unfinished=3), f"{started}\n{again}"),
        (ArchivedCounts(reread=2, unfinished=2), text(lang, "archive-reread", count=2)),
        (ArchivedCounts(unpaid=2, unfinished=2), text(lang, "archive-unpaid", count=2)),
        (ArchivedCounts(unfinished=1), text(lang, "archive-running")),
        (ArchivedCounts(answering=True), text(lang, "archive-answering")),
    ):
        world.archival.found = found
        assert only(await world.send("/archive", 2)).text == told
    assert set(world.archival.asked) == {2}


@pytest.mark.parametrize("lang", LANGUAGES)
@pytest.mark.parametrize("command", ["/people", "/facts", "/goals", "/memories"])
async def test_nobody_is_told_too_early_that_nothing_is_known(world: World, lang: Language, command: str) -> None:
    """Right after /archive it is still being read; once that is over, or was given up, there is nothing."""
    await world.admit(2, "Taras", lang)
    now = world.clock.now()
    run = {"id": "1", "user_id": 2, "agent": "archivist", "first_n": 1, "last_n": 2, "rev": 1, "created_at": now}
    await world.write(lambda c: c.execute(insert(runs).values(**run, due_at=now, state="claimed")))
    assert only(await world.send(command, 2)).text == text(lang, "still-reading")
    await world.write(lambda c: c.execute(update(runs).values(state="applied")))
    assert only(await world.send(command, 2)).text != text(lang, "still-reading")


MERELY_ASKED = {
    "en": ("Where does Petrov work", "Tell me what Petrov does"),
    "ru": ("Где работает Петров", "Расскажи, чем занят Петров"),
    "uk": ("Де працює Петренко", "Розкажи, чим зайнятий Петренко"),
}


@pytest.mark.parametrize("lang", LANGUAGES)
@pytest.mark.parametrize("command", ["/people", "/facts", "/goals"])
async def test_what_was_told_and_is_not_read_yet_is_no_proof_of_nothing(
    world: World, lang: Language, command: str
) -> None:
    """The empty list says so, and how to have it read now; mere questions, with or without their mark, tell nothing."""
    await world.admit(2, "Taras", lang)
    nothing, now = only(await world.send(command, 2)).text, world.clock.now()
    for question in MERELY_ASKED[lang]:
        await world.write(lambda c, asked=question: dialogue.add(c, 2, "user", asked, now=now))  # type: ignore[misc]
    assert only(await world.send(command, 2)).text == nothing
    assert text(lang, "status-buffered", count=0) in only(await world.send("/status", 2)).text
    await world.write(lambda c: dialogue.add(c, 2, "user", "Петров", now=now))
    assert only(await world.send(command, 2)).text == f"{nothing}\n\n{text(lang, 'not-read-yet')}"
    assert text(lang, "status-buffered", count=1) in only(await world.send("/status", 2)).text


@pytest.mark.parametrize("state", ["due", "dead"])
async def test_status_does_not_call_done_what_is_not(world: World, state: str) -> None:
    """With nothing in the buffer a run that waits or was given up is told alone, without "the whole conversation"."""
    now = world.clock.now()
    run = {"id": "1", "user_id": 1, "agent": "archivist", "first_n": 1, "last_n": 2, "rev": 1, "created_at": now}
    await world.write(lambda c: c.execute(insert(runs).values(**run, due_at=now, state=state)))
    lines = only(await world.send("/status")).text.splitlines()
    assert lines[0] == text("en", "status-waiting" if state == "due" else "status-dead", count=1)
    assert text("en", "status-buffered", count=0) not in lines


@pytest.mark.parametrize("lang", LANGUAGES)
async def test_status_of_a_quiet_bot_is_short(world: World, lang: Language) -> None:
    """Nothing waits, nothing failed, the models are the built-in ones."""
    await world.admit(2, "Taras", lang)
    assert only(await world.send("/status", 2)).text.splitlines() == [
        text(lang, "status-buffered", count=0),
        text(lang, "status-people", count=0),
        text(lang, "status-offline"),
        text(lang, "status-spent", spent=0.0, limit=5.0),
    ]


async def test_status_says_what_the_provider_refuses(world: World) -> None:
    """The owner reads the server's words and what to check; others, that only he can mend it."""
    await world.admit(2, "Taras")
    world.services.refused["qwen3"] = "model 'qwen3' not found"  # type: ignore[index]
    lines = only(await world.send("/status")).text.splitlines()
    assert text("en", "status-refused", model="qwen3", error="model 'qwen3' not found") in lines
    assert lines[-1] == text("en", "status-refused-fix")
    assert only(await world.send("/status", 2)).text.splitlines()[-1] == text("en", "model-denied")


async def test_status_counts_what_is_there(world: World) -> None:
    """Buffered messages, runs that wait or are dead, people, quarantined updates and today's cost stand in it."""
    now = world.clock.now()
    message = {"user_id": 1, "role": "user", "content": "…", "rev": 0, "timestamp": now}
    run = {"user_id": 1, "agent": "archivist", "first_n": 1, "last_n": 2, "rev": 1, "due_at": now, "created_at": now}
    await world.write(lambda c: c.execute(insert(messages), [{**message, "seq": n, "id": str(n)} for n in (1, 2, 3)]))
    states = ("due", "claimed", "dead", "applied")
    await world.write(lambda c: c.execute(insert(runs), [{**run, "id": s, "state": s} for s in states]))
    update = {"bot_id": 7, "raw": "{}", "state": "quarantined", "received_at": now}
    await world.write(lambda c: c.execute(insert(inbox), [{**update, "update_id": n} for n in range(4)]))
    billed = {"tokens": 5, "cost_usd": 0.0125, "now": now}
    await world.write(lambda c: limits.add_spend(c, known_users.get(c, 1), "responder", **billed))  # type: ignore[arg-type]
    await world.person("Пётр")
    assert only(await world.send("/status")).text.splitlines() == [
        text("en", "status-buffered", count=3),
        text("en", "status-waiting", count=2),
        text("en", "status-dead", count=1),
        text("en", "status-people", count=1),
        text("en", "status-offline"),
        text("en", "status-quarantined", count=4),
        text("en", "status-spent", spent=0.0125, limit=5.0),
    ]


def with_provider(world: World) -> Config:
    config = load(
        None,
        {
            "LAPLACED_TELEGRAM__TOKEN": "7:t",
            "LAPLACED_LLM__API_KEY": "k",
            "LAPLACED_EMBEDDING__BASE_URL": "https://embed.example/v1",
        },
    )
    world.use(config=config)
    return config


async def test_status_names_the_models_in_use(world: World) -> None:
    """With a provider, the responder's and the archivist's models stand there instead of the built-in ones."""
    config = with_provider(world)
    status = only(await world.send("/status")).text
    assert config.agents.responder.model in status
    assert config.agents.archivist.model in status


@pytest.mark.parametrize("lang", LANGUAGES)
async def test_status_tells_the_bots_owner_how_far_the_mirror_is_behind(world: World, lang: Language) -> None:
    """Where one is configured, and to nobody else: it is of all users."""
    await world.write(lambda c: c.execute(update(users).where(users.c.user_id == 1).values(lang=lang)))
    await world.admit(2, "Taras", lang)
    world.use(config=load(None, {"LAPLACED_GRAPH__MIRROR_URL": "falkor://:secret@mirror.example:6379"}))
    await world.write(lambda c: c.execute(delete(changes)))
    await world.write(lambda c: record_change(c, 2, "node", "x"))
    assert text(lang, "status-mirror", count=1) in only(await world.send("/status", 1)).text.splitlines()
    assert text(lang, "status-mirror", count=1) not in only(await world.send("/status", 2)).text
    target = "falkor://mirror.example:6379"
    await world.write(lambda c: move_cursor(c, 2, target, newest(c, 2), world.clock.now()))
    assert text(lang, "status-mirror", count=0) in only(await world.send("/status", 1)).text.splitlines()


@pytest.mark.parametrize("lang", LANGUAGES)
async def test_privacy_says_who_sees_the_words(world: World, lang: Language) -> None:
    """Local and offline nobody sees them; a real Telegram is named, and so is the host of a provider."""
    await world.admit(2, "Taras", lang)
    told = only(await world.send("/privacy", 2)).text
    assert text(lang, "privacy-local") in told
    assert text(lang, "privacy-offline") in told
    with_provider(world)
    told = only(await world.send("/privacy", 2)).text
    assert text(lang, "privacy-telegram") in told
    assert text(lang, "privacy-provider", hosts="openrouter.ai, embed.example") in told


@pytest.mark.parametrize(("lang", "days"), [("ru", "7 дней"), ("uk", "7 днів"), ("en", "7 days")])
async def test_privacy_says_how_long_prompts_are_kept(world: World, lang: Language, days: str) -> None:
    """What the model was shown is kept for a while, and the text says for how long it really is."""
    await world.admit(2, "Taras", lang)
    assert KEPT.days == 7
    assert days in only(await world.send("/privacy", 2)).text


async def test_export_is_a_document(world: World) -> None:
    """The whole memory comes as a JSON file named by the day."""
    said = only(await world.send("/export"))
    assert (said.how, said.text) == ("document", "laplaced-2026-11-21.json")
    assert json.loads(said.content)["user_id"] == 1


async def test_export_says_that_what_is_being_forgotten_is_still_in_it(world: World) -> None:
    """As long as forgetting can be undone nothing is erased, and the caption does not hide that."""
    peter = await world.person("Пётр")
    note = text("en", "export-caption-forgetting")
    assert note not in (await world.send("/export"))[0].caption
    undo = only(await world.press(f"f:1:{peter.id}:1")).buttons["Undo"]
    assert note in (await world.send("/export"))[0].caption
    await world.press(undo)
    assert note not in (await world.send("/export"))[0].caption


async def test_export_brings_everybody_as_vcards_too(world: World) -> None:
    """For any address book; without people there is no such file."""
    assert [one.text for one in await world.send("/export")] == ["laplaced-2026-11-21.json"]
    await world.person("Пётр")
    _, cards = await world.send("/export")
    assert cards.text == "people.vcf"
    assert "FN:Пётр" in (cards.content or "")


@pytest.mark.parametrize("lang", LANGUAGES)
async def test_a_person_is_forgotten_and_brought_back(world: World, lang: Language) -> None:
    """Confirmed, a person is gone at once; the undo button brings him back unchanged."""
    await world.admit(2, "Taras", lang)
    peter = await world.person("Пётр", owner=2)
    asked = only(await world.send("/forget пётр", 2))
    assert asked.text == text(lang, "forget-person-confirm", name="Пётр", count=0, days=7)
    done = only(await world.press(asked.buttons[label(lang, "forget-button-yes")], 2))
    assert done.text == text(lang, "forget-person-done", name="Пётр", minutes=10)
    assert await world.known(peter.id, 2) is None
    undone = only(await world.press(done.buttons[label(lang, "forget-button-undo")], 2))
    assert undone.text == text(lang, "forget-undone")
    assert only(await world.press(done.buttons[label(lang, "forget-button-undo")], 2)) == undone
    back = await world.known(peter.id, 2)
    assert back is not None
    assert back.display_name == "Пётр"


@pytest.mark.parametrize("lang", LANGUAGES)
async def test_messages_about_a_person_are_offered_too(world: World, lang: Language) -> None:
    """How many there are is said before; one undo brings all of it back, and without the offer they stay."""
    await world.admit(2, "Taras", lang)
    peter = await world.person("Пётр", owner=2)

    def said(connection: Connection) -> list[str]:
        lines = ("Видел Петра", "Пётр заболел", "Хороший день")
        return [dialogue.add(connection, 2, "user", line, now=world.clock.now()).id for line in lines]

    first, second, _ = await world.write(said)
    asked = only(await world.send("/forget пётр", 2))
    assert asked.text == text(lang, "forget-person-confirm", name="Пётр", count=2, days=7)
    done = only(await world.press(asked.buttons[label(lang, "forget-button-about", count=2)], 2))
    assert done.text.endswith(text(lang, "forget-person-messages-done", count=2))
    assert await world.known(peter.id, 2) is None
    assert await world.write(lambda c: messages_to_forget(c, 2)) == {first, second}
    assert text(lang, "status-buffered", count=1) in only(await world.send("/status", 2)).text
    await world.press(done.buttons[label(lang, "forget-button-undo")], 2)
    assert await world.write(lambda c: messages_to_forget(c, 2)) == set()
    assert text(lang, "status-buffered", count=3) in only(await world.send("/status", 2)).text
    await world.press(asked.buttons[label(lang, "forget-button-yes")], 2)
    assert await world.write(lambda c: messages_to_forget(c, 2)) == set()


async def test_confirming_twice_forgets_once(world: World) -> None:
    """A second press, or the same update after a crash, gives the same answer with the same undo button."""
    await world.person("Пётр")
    yes = only(await world.send("/forget Пётр")).buttons["Yes, forget"]
    assert only(await world.press(yes)) == only(await world.press(yes))


async def test_undo_comes_too_late(world: World) -> None:
    """After ten minutes, once erased, the person cannot be brought back, and the bot says so."""
    peter = await world.person("Пётр")
    done = only(await world.press(f"f:1:{peter.id}:1"))
    world.clock.advance(UNDO_WINDOW + timedelta(seconds=1))
    assert await ForgettingService(world.database, world.clock, b"key").erase_due() == 1
    assert only(await world.press(done.buttons["Undo"])).text == text("en", "forget-too-late")


async def test_cancelling_forgets_nothing(world: World) -> None:
    """The other button leaves everything as it is."""
    peter = await world.person("Пётр")
    asked = only(await world.press(f"p:1:{peter.id}:f"))
    assert only(await world.press(asked.buttons["Cancel"])).text == text("en", "kept")
    assert await world.known(peter.id) == peter


@pytest.mark.parametrize("way", ["/forget", "/forget everything", "/forget всё", "/forget усе"])
async def test_everything_is_forgotten_only_after_a_confirmation(world: World, way: str) -> None:
    """Asked by button or in words, "everything" is confirmed, done, and can be undone."""
    peter = await world.person("Пётр")
    asked = only(await world.send(way))
    if way == "/forget":
        asked = only(await world.press(asked.buttons["Forget everything"]))
    assert asked.text == text("en", "forget-everything-confirm", days=7)
    assert await world.known(peter.id) == peter
    done = only(await world.press(asked.buttons["Yes, forget"]))
    assert done.text == text("en", "forget-everything-done", minutes=10)
    assert await world.known(peter.id) is None
    assert only(await world.press(done.buttons["Undo"])).text == text("en", "forget-undone")
    assert await world.known(peter.id) is not None


async def test_whom_to_forget_may_be_told_afterwards(world: World) -> None:
    """/forget alone asks; a name answers, an unknown one is said to be so, and namesakes are chosen between."""
    await world.person("Ivan")
    await world.person("Ivan")
    await world.send("/forget")
    choice = only(await world.send("ivan"))
    assert len(choice.buttons) == 2
    assert only(await world.press(choice.buttons["Ivan"])).text == text(
        "en", "forget-person-confirm", name="Ivan", count=0, days=7
    )
    await world.send("/forget")
    assert only(await world.send("Зинаида")).text == text("en", "person-unknown", name="Зинаида")


class BrokenArchival:
    async def archive_soon(self, user_id: int) -> ArchivedCounts:
        raise StorageError("the disk is full")


async def test_what_is_no_refusal_goes_on_to_whoever_runs_the_update(world: World) -> None:
    """A fault is not told as a refusal: it reaches the ingest, which records it and tries again."""
    world.use(archival=BrokenArchival())
    with pytest.raises(StorageError, match="disk is full"):
        await world.send("/archive")
