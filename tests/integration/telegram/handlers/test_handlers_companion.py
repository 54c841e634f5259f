"""/today, /week, /digest, /brief and /birthdays in three languages, with their buttons."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import time, timedelta

import pytest
from sqlalchemy import Connection
from support.interfaces.handler_stage import World, only

from bot.telegram.i18n import label
from internal.access.model import LANGUAGES, Language
from internal.dialogue import repository as dialogue
from internal.flows.companion.scheduler import DIGEST
from internal.graph import store
from internal.knowledge import episode_repository as episodes, service as knowledge
from internal.knowledge.claims.changes import NewClaim
from internal.knowledge.facts import occasions
from internal.knowledge.model import AUDIENCE, Episode, FactFilter, Segment
from internal.people import repository as people_repository, service as people
from internal.people.model import Person
from internal.people.service import TelegramAccount
from internal.storage.types import new_id
from internal.tasks import repository as tasks
from internal.tasks.model import Schedule, TaskKind
from internal.tasks.service import NewTask, by_owner, open_task


async def anna(world: World, user_id: int = 2) -> Person:
    """Anna, who has her birthday tomorrow and likes peonies."""
    now = world.clock.now()
    tomorrow = now + timedelta(days=1)

    def work(connection: Connection) -> Person:
        found = people.from_metadata(connection, user_id, TelegramAccount(77, "Anna"), seen_at=now, now=now)
        node = store.add_node(connection, user_id, "Entity", {"name": "peonies", "type": "concept"}, now=now)
        likes = NewClaim(found.entity_id, "LIKES", node.id, "Anna likes peonies", now, set_by="owner")
        knowledge.record_claims(connection, user_id, [likes], now=now)
        occasions.add_occasion(
            connection,
            user_id,
            found.entity_id,
            "birthday",
            tomorrow.month,
            tomorrow.day,
            text="Anna: birthday",
            now=now,
        )
        return found

    return await world.database.write(work)


@pytest.mark.parametrize("lang", LANGUAGES)
async def test_a_day_and_a_week_name_what_they_hold_and_offer_the_brief(world: World, lang: Language) -> None:
    """A free day says so; of a person who is named, the brief is a tap away, and each fact opens its sources."""
    await world.admit(2, "Taras", lang)
    assert label(lang, "agenda-nothing") in only(await world.send("/today", 2)).text
    await anna(world)
    week = only(await world.send("/week", 2))
    assert "Anna" in week.text
    assert label(lang, "agenda-occasions") in week.text
    known = (await world.press(week.buttons[label(lang, "brief-button", name="Anna")], 2))[-1]
    assert "[1] Anna likes peonies" in known.text
    source = (await world.press(known.buttons["1"], 2))[-1]
    assert "Anna likes peonies" in source.text


@pytest.mark.parametrize("lang", LANGUAGES)
async def test_a_brief_is_asked_for_by_name(world: World, lang: Language) -> None:
    """Also in the answer to the question whom one meets; of nobody, that is said."""
    await world.admit(2, "Taras", lang)
    await anna(world)
    assert "Anna likes peonies" in only(await world.send("/brief Anna", 2)).text
    assert only(await world.send("/brief", 2)).force_reply
    assert "Anna likes peonies" in only(await world.send("Anna", 2)).text
    assert "Zed" in only(await world.send("/brief Zed", 2)).text


@pytest.mark.parametrize(
    ("bio", "asked", "other"),
    [
        ("Anna is my sister.", ("my sister", "sister", "My sister."), "my brother"),
        ("Моя мама Анна.", ("мама", "мамы", "моей маме"), "папа"),
        ("Анна — моя сестра.", ("моя сестра", "моей сестры", "сестру"), "бывшая сестра"),
        ("Анна — моя сестра.", ("моя сестра", "моєї сестри"), "мій брат"),
        ("Anna is my sister.", ("моя сестра", "сестру"), "мамина сестра"),
    ],
)
async def test_a_brief_is_asked_for_by_a_relation(world: World, bio: str, asked: Sequence[str], other: str) -> None:
    """In any case, also in the answer to the question; a relation that nobody has is said to be unknown."""
    await world.admit(2, "Taras")
    found, now = await anna(world), world.clock.now()
    await world.write(lambda c: people.edit(c, 2, found.id, {"bio": bio}, now=now))
    for words in asked:
        assert "Anna likes peonies" in only(await world.send(f"/brief {words}", 2)).text, words
        assert "Anna" in only(await world.send(f"/person {words}", 2)).text.splitlines()[0]
        assert "Anna likes peonies" in only(await world.send(f"/facts {words}", 2)).text
    await world.send("/brief", 2)
    assert "Anna likes peonies" in only(await world.send(asked[0], 2)).text
    assert other in only(await world.send(f"/brief {other}", 2)).text


@pytest.mark.parametrize("lang", LANGUAGES)
async def test_each_line_of_a_brief_opens_where_it_comes_from(world: World, lang: Language) -> None:
    """The profile its lines, a fact and an occasion their sources, a promise its card with the words that make it.

    The promise is older than the profile: only its line names the person.
    """
    await world.admit(2, "Taras", lang)
    found, now = await anna(world), world.clock.now()
    lines = ("My sister Anna lives here.", "Promised Anna to bring the tent")

    def said(connection: Connection) -> None:
        ids = [dialogue.add(connection, 2, "user", line, now=now).id for line in lines]
        episode = Episode(2, new_id(), "message", "dialogue", "", "", None, now, now)
        episodes.add_episode(connection, episode, [Segment(n, now, None, one) for n, one in enumerate(ids, 1)])
        people.note_mentions(connection, 2, episode.id, {found.id: [now]}, now=now)
        sources = dict(enumerate(ids, 1))
        people_repository.add_evidence(connection, 2, found.id, episode.id, sources, operation="Added", run_id=None)
        people.edit(connection, 2, found.id, {"bio": "Anna is my sister."}, now=now)
        made = NewTask("Bring the tent", Schedule(), TaskKind.PROMISE, message_id=ids[1])
        open_task(connection, 2, made, by_owner(2, now, time(9)))

    await world.write(said)
    brief = only(await world.send("/brief Anna", 2))
    numbers = {
        line.split("] ", 1)[1]: line.split("]")[0].strip("• [") for line in brief.text.splitlines() if "] " in line
    }
    opened = {words: (await world.press(brief.buttons[number], 2))[-1] for words, number in numbers.items()}
    assert len(numbers) == 4
    assert lines[0].rstrip(".") in opened.pop("Anna is my sister.").text.partition("\n\n")[2]
    assert "Anna likes peonies" in opened.pop("Anna likes peonies").text
    card = opened.pop("Bring the tent")
    assert lines[1] in card.text
    assert label(lang, "task-button-done") in card.buttons
    assert [one.text.startswith("Anna: ") for one in opened.values()] == [True]
    day = only(await world.send("/today", 2))
    assert lines[1] in (await world.press(day.buttons["1"], 2))[-1].text


async def test_a_brief_quotes_what_was_said_and_not_what_was_asked(world: World) -> None:
    """A question beside a statement stays with it."""
    await world.admit(2, "Taras")
    found, now = await anna(world), world.clock.now()
    lines = ("Who is Anna's son to me?", "а кто такая Анна", "Anna moved to Lviv. Where did she live before?")

    def said(connection: Connection) -> None:
        ids = [dialogue.add(connection, 2, "user", line, now=now).id for line in lines]
        episode = Episode(2, new_id(), "message", "dialogue", "", "", None, now, now)
        episodes.add_episode(connection, episode, [Segment(n, now, None, one) for n, one in enumerate(ids, 1)])
        people.note_mentions(connection, 2, episode.id, {found.id: [now]}, now=now)
        sources = dict(enumerate(ids, 1))
        people_repository.add_evidence(connection, 2, found.id, episode.id, sources, operation="created", run_id=None)

    await world.write(said)
    text = only(await world.send("/brief Anna", 2)).text
    assert [line for line in lines if line in text] == [lines[-1]]


@pytest.mark.parametrize(("lang", "wedding"), [("en", "wedding"), ("ru", "свадьба"), ("uk", "весілля")])
async def test_a_brief_names_every_occasion_of_the_year(world: World, lang: Language, wedding: str) -> None:
    """Also one that is months away, and each once."""
    await world.admit(2, "Taras", lang)
    found = await anna(world)
    now = world.clock.now()
    far = now + timedelta(days=200)
    await world.database.write(
        lambda c: occasions.add_occasion(
            c, 2, found.entity_id, "wedding", far.month, far.day, text="Anna: wedding", now=now
        )
    )
    text = only(await world.send("/brief Anna", 2)).text
    assert text.count(f"Anna: {wedding}") == 1


async def test_occasions_are_listed_sent_as_a_file_and_behind_a_secret_address(world: World) -> None:
    """The address can be closed again."""
    await world.admit(1, "Olena")
    assert label("en", "birthdays-none").split(".")[0] in only(await world.send("/birthdays")).text
    assert world.archival.asked == [1]  # what was told a moment ago is read first
    await anna(world, 1)
    listed = only(await world.send("/birthdays"))
    assert "Anna: birthday" in listed.text
    sent = (await world.press(listed.buttons[label("en", "birthdays-button-file")]))[-1]
    assert "BEGIN:VCALENDAR" in sent.content
    link = (await world.press(listed.buttons[label("en", "birthdays-button-link")]))[-1]
    assert "/calendar.ics?user_id=1&key=" in link.text
    closed = (await world.press(link.buttons[label("en", "birthdays-button-revoke")]))[-1]
    assert closed.text == label("en", "birthdays-revoked")
    assert "calendar" not in (await world.user(1)).settings


async def test_the_morning_overview_is_off_until_its_hour_is_named(world: World) -> None:
    """And off again by a word."""
    await world.admit(1, "Olena")
    assert "off" in only(await world.send("/digest")).text
    await world.send("/digest 8")
    assert (await world.user(1)).settings[DIGEST] == "08:00"
    await world.send("/digest off")
    assert DIGEST not in (await world.user(1)).settings


async def test_the_morning_overview_is_chosen_by_buttons_of_the_settings(world: World) -> None:
    """Its hour, or none."""
    await world.admit(1, "Olena")
    settings = only(await world.send("/settings"))
    asked = only(await world.press(settings.buttons[label("en", "menu-digest")]))
    await world.press(asked.buttons["07:00"])
    assert (await world.user(1)).settings[DIGEST] == "07:00"
    await world.press(asked.buttons["off"])
    assert DIGEST not in (await world.user(1)).settings


async def test_a_rhythm_is_chosen_on_the_card_and_replaces_the_one_before(world: World) -> None:
    """One rhythm for a person."""
    await world.admit(1, "Olena")
    person = await anna(world, 1)
    for every in ("week", "month"):
        card = only(await world.send("/person Anna"))
        asked = (await world.press(card.buttons[label("en", "rhythm-button")]))[-1]
        await world.press(asked.buttons[label("en", f"rhythm-{every}")])
    found = await world.read(lambda c: tasks.pending(c, 1))
    assert [(one.kind, one.person_id, one.recurrence) for one in found] == [
        (TaskKind.CONTACT, person.id, "FREQ=MONTHLY")
    ]


@pytest.mark.parametrize("lang", LANGUAGES)
async def test_for_whom_a_fact_is_is_chosen_on_its_card(world: World, lang: Language) -> None:
    """Whom it is about, its owner alone, or again as the rules decide; the words stay."""
    await world.admit(2, "Taras", lang)
    found = await anna(world)
    brief = only(await world.send("/brief Anna", 2))
    for choice, audience in (
        ("Anna", f"person:{found.id}"),
        (label(lang, "audience-private"), "private"),
        (label(lang, "audience-rules"), None),
    ):
        card = (await world.press(brief.buttons["1"], 2))[-1]
        newest = label(lang, "fact-button-newest")
        card = (await world.press(card.buttons[newest], 2))[-1] if newest in card.buttons else card
        asked = (await world.press(card.buttons[label(lang, "audience-button")], 2))[-1]
        kept = (await world.press(asked.buttons[choice], 2))[-1]
        back = (await world.press(kept.buttons[label(lang, "button-back")], 2))[-1]
        assert "Anna likes peonies" in back.text
        wanted = FactFilter(node_id=found.entity_id, relations=["LIKES"])
        [fact] = await world.database.read(
            lambda c, it=wanted: knowledge.latest_facts(c, 2, it, now=world.clock.now(), limit=9)
        )
        assert fact.attributes.get(AUDIENCE) == audience
