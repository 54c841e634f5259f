"""/facts, /why, /asof, /correct and contradictions, over a real database, in three languages."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from sqlalchemy import Connection, select
from support.interfaces.handler_stage import NOW, Said, World, only

from bot.telegram.handlers import own_initiative
from bot.telegram.handlers.buttons import ContradictionButton, FactButton, FactsButton
from bot.telegram.i18n import day, label, phrase
from bot.telegram.rendering import render
from internal.access import repository as users
from internal.access.model import LANGUAGES, Language
from internal.agents.responder.blocks import fact_line
from internal.dialogue import reply_source_repository as sources, repository as dialogue
from internal.dialogue.mailbox import repository as mailbox
from internal.dialogue.mailbox.model import Outgoing
from internal.dialogue.model import ForwardOrigin, Incoming, ReplySource
from internal.errors import ModelUnavailable
from internal.flows.forgetting import erase, requests
from internal.flows.visibility import pending_forgettings
from internal.graph import store
from internal.knowledge import episode_repository as episodes, service as knowledge
from internal.knowledge.claims.changes import BOTH, ClaimLine, NewClaim
from internal.knowledge.model import Episode, Fact, FactFilter, Segment
from internal.language.dates.precision import DatePrecision
from internal.people import repository as people, support, support_repository
from internal.recall.prompt import facts as prompt_facts
from internal.storage.forgetting import forgettings
from internal.storage.tables import outbox
from internal.storage.types import new_id


def text(key: str, lang: Language = "en", **values: Any) -> str:
    return "".join(part.text for part in render(phrase(lang, key, **values)))


def year(number: int) -> datetime:
    return datetime(number, 1, 1, tzinfo=UTC)


class Life:
    """What the owner of a world told, as the archivist keeps it."""

    def __init__(self, world: World, user_id: int = 1) -> None:
        self.world, self.user_id = world, user_id
        self.nodes: dict[str, str] = {}
        self.told = 0

    async def node(self, name: str, kind: str = "organization") -> str:
        """The owner ("me"), a person or a thing; its id."""
        if name not in self.nodes:
            self.nodes[name] = await self._new_node(name, kind)
        return self.nodes[name]

    async def _new_node(self, name: str, kind: str) -> str:
        world, now = self.world, self.world.clock.now()
        if name == "me":
            owner = await world.write(lambda c: store.ensure_owner_node(c, self.user_id, "Olena", now))
            return owner.id
        if kind == "person":
            return (await world.person(name, owner=self.user_id)).entity_id
        made = {"name": name, "type": kind}
        return (await world.write(lambda c: store.add_node(c, self.user_id, "Entity", made, now=now))).id

    async def fact(
        self,
        source: str,
        relation: str,
        target: str,
        words: str,
        since: datetime | None = None,
        until: datetime | None = None,
        *,
        stated: bool = True,
        forward: str | None = None,
        page: tuple[str, str] | None = None,
        exact: tuple[DatePrecision | None, DatePrecision | None] = (None, None),
    ) -> str:
        """Records a fact told in a message of its own (or in an imported page: its name and URL); its id."""
        ends = await self.node(source, "person"), await self.node(target)
        self.told += 1
        number, now = self.told, self.world.clock.now()

        def work(connection: Connection) -> str:
            episode_id, message_id = self._episode(connection, words, number, now, forward, page)
            claim = NewClaim(
                source=ends[0],
                relation=relation,
                target=ends[1],
                fact=words,
                said_at=now,
                valid_at=since,
                valid_stated=stated and since is not None,
                invalid_at=until,
                episode_id=episode_id,
                lines=[ClaimLine(1, words, message_id)],
                valid_precision=exact[0],
                invalid_precision=exact[1],
            )
            outcome = knowledge.record_claims(connection, self.user_id, [claim], now=now)
            [fact_id] = outcome.facts
            assert fact_id is not None, outcome.refused
            return fact_id

        return await self.world.write(work)

    async def knows(self, name: str, bio: str, fact_id: str, *, sure: int) -> int:
        """Somebody's bio whose first `sure` sentences rest on the lines of a fact alone; his id."""
        now = self.world.clock.now()

        def work(connection: Connection) -> int:
            (line,) = knowledge.evidence_of_fact(connection, self.user_id, fact_id)
            before = next(one for one in people.listing(connection, self.user_id) if one.display_name == name)
            after = people.save(connection, before, replace(before, bio=bio), by="archivist", now=now)
            told = [part.key for part in support.parts(after).values() if part.kind == "bio"]
            for keys, episode_id in ((told[:sure], line.episode_id), (told[sure:], "elsewhere")):
                support_repository.add(connection, self.user_id, after.id, keys, episode_id, {1: None}, None)
            return after.id

        return await self.world.write(work)

    async def bio(self, person_id: int) -> str:
        known = await self.world.known(person_id, self.user_id)
        return "" if known is None else known.bio

    def _episode(
        self,
        connection: Connection,
        words: str,
        number: int,
        now: datetime,
        forward: str | None,
        page: tuple[str, str] | None,
    ) -> tuple[str, str | None]:
        message_id, episode_id = None, new_id()
        if page is None:
            origin = ForwardOrigin("hidden_user", forward) if forward else None
            said = Incoming(self.user_id, 7, self.user_id, 5_000 + number, words, now, forward=origin)
            message = dialogue.add_incoming(connection, said, metadata={}, turn_id=None)
            assert message is not None
            message_id = message.id
        name, url = page or (f"fragment {number}", None)
        episode = Episode(
            self.user_id, episode_id, "message" if page is None else "text", name, "", "notes", url, now, now
        )
        segment = Segment(1, now, words if page else None, message_id, speaker="Kate" if page else None)
        episodes.add_episode(connection, episode, [segment])
        return episode_id, message_id

    async def reply(
        self,
        words: str,
        cited: Sequence[str] = (),
        given: Sequence[str] = (),
        people: Sequence[int] = (),
        said: Sequence[str] = (),
    ) -> int:
        """An answer to a question, as C4 keeps it; the id of its first Telegram message."""
        self.told += 1
        asked, answered = 8_000 + 10 * self.told, 8_001 + 10 * self.told
        now, user_id = self.world.clock.now(), self.user_id

        def work(connection: Connection) -> None:
            turn_id = new_id()
            question = Incoming(user_id, 7, user_id, asked, "?", now)
            dialogue.add_incoming(connection, question, metadata={}, turn_id=turn_id)
            past = [dialogue.add(connection, user_id, "user", one, now=now).id for one in said]
            message = dialogue.add(
                connection, user_id, "assistant", words, now=now, turn_id=turn_id, bot_id=7, chat_id=user_id
            )
            dialogue.mark_delivery(connection, user_id, message.id, "sent", answered)
            kept = [ReplySource(n, "fact", one, one in cited) for n, one in enumerate((*cited, *given), start=1)]
            kept += [ReplySource(n, "message", one, True) for n, one in enumerate(past, start=len(kept) + 1)]
            kept += [ReplySource(n, "person", str(one)) for n, one in enumerate(people, start=len(kept) + 1)]
            sources.add(connection, user_id, message.id, kept)
            out = Outgoing(
                user_id, 7, user_id, "…", f"part:{message.id}", turn_id=turn_id, message_id=message.id, part=1
            )
            row = mailbox.enqueue(connection, out, now)
            assert row is not None
            mailbox.mark_sending(connection, user_id, row)
            mailbox.mark_sent(connection, user_id, row, answered + 1)

        await self.world.write(work)
        return answered

    async def facts(self, **wanted: Any) -> list[Fact]:
        now = self.world.clock.now()
        return await self.world.read(
            lambda c: knowledge.facts_about(c, self.user_id, FactFilter(**wanted), now=now, limit=100)
        )

    async def current(self, words: str) -> Fact:
        [found] = [one for one in await self.facts() if one.fact == words]
        return found

    async def contradiction(self) -> str:
        """Two facts of one moment that cannot both be; the id of the contradiction."""
        await self.fact("Петров", "LIVES_IN", "Киев", "Петров живёт в Киеве", year(2020))
        await self.fact("Петров", "LIVES_IN", "Львов", "Петров живёт во Львове", year(2020))
        [asked] = await self.world.read(lambda c: knowledge.open_contradictions(c, self.user_id))
        return asked.id


@pytest.fixture
def life(world: World) -> Life:
    return Life(world)


def reply_to(tg_id: int) -> dict[str, Any]:
    """Fields of a message that replies to one of the bot's."""
    quoted = {"message_id": tg_id, "date": 0, "chat": {"id": 1, "type": "private"}, "text": "…"}
    return {"reply_to_message": quoted}


async def press(world: World, said: Said, name: str, user_id: int = 1) -> Said:
    data = next(data for shown, data in said.buttons.items() if shown.startswith(name))
    return only(await world.press(data, user_id))


async def sure(world: World, asked: Said, user_id: int = 1, lang: Language = "en") -> Said:
    """Yes to the question whether a fact is to be changed."""
    return await press(world, asked, label(lang, "correct-button-yes"), user_id)


# -- /facts


@pytest.mark.parametrize("lang", LANGUAGES)
async def test_the_owners_facts_with_since_when(world: World, lang: Language) -> None:
    """The latest first, each with its dates in the owner's zone; a date that was not said is the day it was told."""
    await world.admit(2, "Оля", lang)
    life = Life(world, 2)
    await life.fact("me", "LIVES_IN", "Київ", "Живу в Києві", year(2020))
    await life.fact("me", "LIKES", "кава", "Люблю каву.", NOW, stated=False)
    shown = only(await world.send("/facts", 2))
    first, second = shown.text.splitlines()[2:4]
    assert first == f"1. Люблю каву — {label(lang, 'when-said', since=day(lang, NOW))}"
    assert second == f"2. Живу в Києві — {label(lang, 'when-since', since=day(lang, year(2020)))}"
    assert shown.text.startswith(text("facts-title-own", lang, count=2))
    assert list(shown.buttons) == ["1", "2"]


@pytest.mark.parametrize(
    ("lang", "since", "month", "span", "until"),
    [
        ("ru", "с 2018 года", "с мая 2018", "2018 — май 2030", "до 2030 года"),
        ("uk", "з 2018 року", "з травня 2018", "2018 — травень 2030", "до 2030 року"),
        ("en", "since 2018", "since May 2018", "2018 – May 2030", "until 2030"),
    ],
)
async def test_dates_are_shown_as_exactly_as_they_were_said(
    world: World, lang: Language, since: str, month: str, span: str, until: str
) -> None:
    """A year is no first of January, a month no first day, on a screen as in a prompt."""
    await world.admit(2, "Оля", lang)
    life, may = Life(world, 2), datetime(2018, 5, 1, tzinfo=UTC)
    await life.fact("me", "LIKES", "1", "Люблю каву", year(2018), exact=("year", None))
    await life.fact("me", "LIKES", "2", "Люблю чай", may, exact=("month", None))
    await life.fact("me", "LIKES", "3", "Люблю джаз", year(2018), may.replace(year=2030), exact=("year", "month"))
    await life.fact("me", "LIKES", "4", "Люблю море", None, year(2030), exact=(None, "year"))
    lines = only(await world.send("/facts", 2)).text.splitlines()[2:6]
    assert sorted(line.partition(" — ")[2] for line in lines) == sorted([since, month, span, until])
    hits = await world.knowledge.facts(2, "Що я люблю: каву, чай, джаз, море?")
    numbered = await world.read(lambda c: prompt_facts.numbered(c, 2, hits))
    shown = {fact_line(fact, "Europe/Kyiv").partition(" | ")[2].rpartition(" | said")[0] for fact in numbered}
    assert shown == {"since 2018", "since 2018-05", "since 2018 | until 2030-05", "until 2030"}


async def test_facts_of_one_sentence_are_told_apart(world: World, life: Life) -> None:
    """Two facts in the same words show what each is about."""
    for thing in ("tea", "snow"):
        await life.fact("me", "LIKES", thing, "I like tea and snow", year(2020))
    await life.fact("me", "LIKES", "rain", "I like rain", year(2021))
    lines = only(await world.send("/facts")).text.splitlines()[2:]
    assert [line.split(". ", 1)[1].split(" — ")[0] for line in lines] == [
        "I like rain",
        "I like tea and snow (snow)",
        "I like tea and snow (tea)",
    ]


async def test_nothing_is_known_of_the_owner_yet(world: World) -> None:
    """He is told what to do about it."""
    assert only(await world.send("/facts")).text == text("facts-none-own")


async def test_many_facts_turn_in_pages(world: World, life: Life) -> None:
    """Eight on each, numbered on; a fact opened from the second page leads back to it."""
    for number in range(11):
        await life.fact("me", "LIKES", f"thing {number}", f"I like thing {number}", year(2000 + number))
    first = only(await world.send("/facts"))
    assert "1. I like thing 10" in first.text
    assert "8. I like thing 3" in first.text
    second = await press(world, first, "»")
    assert "9. I like thing 2" in second.text
    assert [name for name in second.buttons if name.isdigit()] == ["9", "10", "11"]
    card = await press(world, second, "10")
    assert card.text.startswith("I like thing 1\n")
    assert (await press(world, card, "« Back")).text == second.text


async def test_what_has_ended_is_shown_on_demand(world: World, life: Life) -> None:
    """In a list of its own, from which a fact leads back to it."""
    await life.fact("me", "WORKS_FOR", "Aval", "I work for Aval", year(2015))
    await life.fact("me", "WORKS_FOR", "ACME", "I work for ACME", year(2021))
    shown = only(await world.send("/facts"))
    assert "Aval" not in shown.text
    past = await press(world, shown, label("en", "facts-button-past", count=1))
    assert "1. I work for Aval — January 1, 2015 – January 1, 2021" in past.text
    card = await press(world, past, "1")
    assert (await press(world, card, "« Back")).text == past.text
    assert (await press(world, past, label("en", "facts-button-current", count=1))).text == shown.text


FORMS = (
    ("Петров", "работает"),
    ("петрова", "работает"),
    ("о Петрове", "работает"),
    ("Petrov", "работает"),
    ("ACME", "работает"),
    ("acme", "работает"),
    ("Київ", "живёт"),
    ("Киеве", "живёт"),
    ("про Київ", "живёт"),
    ("Kyiv", "живёт"),
)


async def test_somebody_or_something_is_found_in_any_form(world: World, life: Life) -> None:
    """Over declension, alphabets and the names of places, people and things alike."""
    await life.fact("Петров", "WORKS_FOR", "ACME", "Петров работает в ACME", year(2021))
    await life.node("Київ", "place")
    await life.fact("Петров", "LIVES_IN", "Київ", "Петров живёт в Киеве", year(2020))
    for typed, words in FORMS:
        assert f"Петров {words}" in only(await world.send(f"/facts {typed}")).text, typed


async def test_a_name_that_fits_several_is_asked_about(world: World, life: Life) -> None:
    """Each with what it is; the choice shows its facts."""
    await life.node("Орион")
    await world.person("Орион", 77)
    choice = only(await world.send("/facts Орион"))
    assert choice.text == text("facts-choose", name="Орион")
    assert sorted(choice.buttons) == ["Орион · organisation", "Орион · person"]
    assert (await press(world, choice, "Орион · person")).text == text("facts-none", name="Орион")


async def test_a_name_of_nobody_finds_by_words(world: World, life: Life) -> None:
    """What mentions it is offered, else nothing is known."""
    fact_id = await life.fact("me", "DRINKS", "espresso", "Every morning I drink espresso", year(2021))
    found = only(await world.send("/facts morning drink"))
    assert found.text.startswith(text("facts-found", name="morning drink"))
    assert (await press(world, found, "1")).text.startswith("Every morning I drink espresso")
    assert only(await world.send("/facts zzz")).text == text("facts-unknown", name="zzz")
    assert fact_id


async def test_the_owner_may_be_named(world: World, life: Life) -> None:
    """By "me" in his language, and by his own name where nobody else is called so."""
    await life.fact("me", "LIKES", "tea", "I like tea", year(2021))
    for typed in ("me", "about me", "обо мне", "про мене", "olena"):
        assert "I like tea" in only(await world.send(f"/facts {typed}")).text, typed


async def test_a_profile_leads_to_its_facts(world: World, life: Life) -> None:
    """/person has a button for them."""
    await life.fact("Петров", "WORKS_FOR", "ACME", "Петров работает в ACME", year(2021))
    profile = only(await world.send("/person Петров"))
    assert "Петров работает в ACME" in (await press(world, profile, label("en", "facts-button-person"))).text


# -- a fact


async def test_a_fact_tells_its_sources(world: World, life: Life) -> None:
    """The very words, whose they are and when; an imported page by its name, with a link to it."""
    url = "https://example.org/page_(1)?a=b c"
    fact_id = await life.fact("Петров", "WORKS_FOR", "ACME", "Петров работает в ACME", year(2021))
    again = "Петров работает в ACME"
    await life.fact("Петров", "WORKS_FOR", "ACME", again, year(2021), forward="Зина")
    await life.fact("Петров", "WORKS_FOR", "ACME", again, year(2021), page=("Minutes of May", url))
    card = only(await world.press(FactButton(owner=1, fact=fact_id).pack()))
    assert card.text.count(f"“{again}”") == 3
    for part in ("Since January 1, 2021", "your words, November 21, 2026", "forwarded from Зина", "Kate, November"):
        assert part in card.text
    assert "Minutes of May · open" in card.text
    assert [name for name in card.buttons if name in ("Петров", "ACME")] == ["Петров", "ACME"]


async def test_many_sources_have_a_list_of_their_own(world: World, life: Life) -> None:
    """The card shows the first ones, the list the rest, and leads back."""
    words = "I like tea"
    ids = [await life.fact("me", "LIKES", "tea", words, year(2020)) for _ in range(10)]
    assert len(set(ids)) == 1
    card = only(await world.press(FactButton(owner=1, fact=ids[0]).pack()))
    assert card.text.count(f"“{words}”") == 3
    everything = await press(world, card, label("en", "fact-button-sources", count=10))
    assert everything.text.count(f"“{words}”") == 8
    assert everything.text.endswith(text("fact-sources-more", count=2))
    assert (await press(world, everything, "« Back")).text == card.text


async def test_a_button_of_a_fact_that_is_gone(world: World, life: Life) -> None:
    """Forgotten, being forgotten or never there: it says so and breaks nothing."""
    fact_id = await life.fact("me", "LIKES", "tea", "I like tea", year(2021))
    data = FactButton(owner=1, fact=fact_id).pack()
    now = world.clock.now()
    await world.write(lambda c: requests.ask(c, 1, "fact", fact_id, now=now))
    gone = label("en", "not-found")
    for pressed in (data, FactButton(owner=1, fact=new_id()).pack(), FactsButton(owner=1, about=new_id()).pack()):
        assert [(one.how, one.text) for one in await world.press(pressed)] == [("toast", gone)]
    assert [one.text for one in await world.press("F:1:nonsense:::")] == [label("en", "button-stale")]


async def test_a_button_of_another_owner_opens_nothing(world: World, life: Life) -> None:
    """Not even where its own id was put in its place."""
    fact_id = await life.fact("me", "LIKES", "tea", "I like tea", year(2021))
    await world.admit(2, "Taras")
    foreign = FactButton(owner=1, fact=fact_id).pack()
    assert only(await world.press(foreign, 2)).text == label("en", "button-not-yours")
    forged = FactButton(owner=2, fact=fact_id).pack()
    assert only(await world.press(forged, 2)).text == label("en", "not-found")


def test_every_button_fits_the_longest_telegram_id() -> None:
    """64 bytes hold two UUIDs beside an id of 52 bits."""
    longest = 2**52 - 1
    FactButton(owner=longest, fact=new_id(), origin=new_id(), back_to="p99").pack()
    FactsButton(owner=longest, about=new_id(), page=10_000, past=True).pack()
    data = ContradictionButton(owner=longest, contradiction=new_id(), answer="1", fact=new_id())
    assert ContradictionButton.unpack(data.pack()) == data


# -- forgetting


@pytest.mark.parametrize("lang", LANGUAGES)
async def test_a_fact_is_forgotten_and_brought_back(world: World, lang: Language) -> None:
    """Asked first, hidden at once, back on demand; pressed twice it is one request."""
    await world.admit(2, "Оля", lang)
    life = Life(world, 2)
    await life.fact("me", "LIKES", "чай", "Люблю чай", year(2021))
    card = await press(world, only(await world.send("/facts", 2)), "1", 2)
    asked = await press(world, card, label(lang, "fact-button-forget"), 2)
    assert asked.text == text("forget-fact-confirm", lang, text="Люблю чай")
    assert (await press(world, asked, label(lang, "button-cancel"), 2)).text == card.text
    done = await press(world, asked, label(lang, "forget-button-yes"), 2)
    assert done.text == text("forget-fact-done", lang, text="Люблю чай", minutes=10)
    assert await press(world, asked, label(lang, "forget-button-yes"), 2) == done
    assert await life.facts() == []
    back = await press(world, done, label(lang, "forget-button-undo"), 2)
    assert back.text == text("forget-undone", lang)
    assert [fact.fact for fact in await life.facts()] == ["Люблю чай"]


@pytest.mark.parametrize("lang", LANGUAGES)
async def test_a_sentence_that_may_tell_a_forgotten_fact_is_offered(world: World, lang: Language) -> None:
    """What names the other end goes with the fact; what cannot be decided is shown with a button, and goes with it."""
    await world.admit(2, "Оля", lang)
    life = Life(world, 2)
    fact_id = await life.fact("Катажина", "WORKS_FOR", "Zalando", "Катажина працює в Zalando", year(2021))
    person_id = await life.knows("Катажина", "Працює в Zalando. Продає одяг у Берліні. Сестра.", fact_id, sure=2)
    card = await press(world, only(await world.send("/facts Катажина", 2)), "1", 2)
    asked = await press(world, card, label(lang, "fact-button-forget"), 2)
    done = await press(world, asked, label(lang, "forget-button-yes"), 2)
    assert await life.bio(person_id) == "Продає одяг у Берліні. Сестра."
    assert done.text == text("forget-fact-done", lang, text="Катажина працює в Zalando", minutes=10)

    back = await press(world, done, label(lang, "forget-button-undo"), 2)
    assert back.text == text("forget-undone", lang)
    assert await life.bio(person_id) == "Працює в Zalando. Продає одяг у Берліні. Сестра."
    await life.knows("Катажина", "Продає одяг у Берліні. Сестра.", fact_id, sure=1)
    done = await press(world, asked, label(lang, "forget-button-yes"), 2)
    left = text("forget-fact-left", lang, name="Катажина", text="Продає одяг у Берліні.")
    assert done.text.splitlines()[-2:] == [text("forget-fact-remaining", lang, count=1), f"1. {left}"]
    dropped = await press(world, done, label(lang, "forget-button-sentence", n=1), 2)
    assert dropped.text == text("forget-fact-done", lang, text="Катажина працює в Zalando", minutes=10)
    assert await life.bio(person_id) == "Сестра."
    await press(world, dropped, label(lang, "forget-button-undo"), 2)
    assert await life.bio(person_id) == "Продає одяг у Берліні. Сестра."


async def test_the_offer_outlives_the_time_to_undo(world: World, life: Life) -> None:
    """Pressed after the fact was erased, the button erases the sentence at once."""
    fact_id = await life.fact("Anna", "WORKS_FOR", "ACME", "Anna works for ACME", year(2021))
    person_id = await life.knows("Anna", "Sells rubber boots.", fact_id, sure=1)
    card = await press(world, only(await world.send("/facts Anna")), "1")
    asked = await press(world, card, label("en", "fact-button-forget"))
    done = await press(world, asked, label("en", "forget-button-yes"))
    await world.write(lambda c: erase.erase_fact(c, 1, fact_id, key=b"k", now=world.clock.now()))
    await world.write(lambda c: c.exec_driver_sql("UPDATE forgettings SET state = 'done'"))
    assert (await press(world, done, label("en", "forget-button-sentence", n=1))).text == text("forget-sentence-done")
    assert await life.bio(person_id) == "Anna"


@pytest.mark.parametrize("lang", LANGUAGES)
async def test_the_message_that_told_a_fact_is_offered_too(world: World, lang: Language) -> None:
    """It goes with the fact, by the same undo, and takes what only it told along."""
    await world.admit(2, "Оля", lang)
    life = Life(world, 2)
    await life.fact("me", "LIKES", "чай", "Люблю чай", year(2021))
    card = await press(world, only(await world.send("/facts", 2)), "1", 2)
    asked = await press(world, card, label(lang, "fact-button-forget"), 2)
    done = await press(world, asked, label(lang, "forget-button-yes"), 2)
    offer = label(lang, "forget-button-messages", count=1)
    gone = await press(world, done, offer, 2)
    fact_told = text("forget-fact-done", lang, text="Люблю чай", minutes=10)
    assert gone.text == f"{fact_told}\n{text('forget-messages-done', lang, count=1)}"
    assert list(gone.buttons) == [label(lang, "forget-button-undo")]

    async def waiting() -> list[str]:
        return [one.kind for one in await world.write(lambda c: forgettings.pending(c, 2))]

    assert await waiting() == ["fact"]
    assert len(await world.write(lambda c: pending_forgettings.messages_to_forget(c, 2))) == 1
    await press(world, gone, label(lang, "forget-button-undo"), 2)
    assert (await waiting(), [fact.fact for fact in await life.facts()]) == ([], ["Люблю чай"])

    await press(world, asked, label(lang, "forget-button-yes"), 2)
    await world.write(lambda c: c.exec_driver_sql("UPDATE forgettings SET state = 'done'"))
    assert (await press(world, done, offer, 2)).text == text("forget-messages-late", lang)


async def test_only_the_owners_own_messages_are_offered(world: World, life: Life) -> None:
    """A forward, or a page that was read, told this one."""
    await life.fact("Anna", "WORKS_FOR", "ACME", "Anna works for ACME", year(2021), forward="Bob")
    await life.fact("Anna", "LIKES", "tea", "Anna likes tea", year(2021), page=("About Anna", "https://a.example/"))
    listed = only(await world.send("/facts Anna"))
    for number in ("1", "2"):
        card = await press(world, listed, number)
        asked = await press(world, card, label("en", "fact-button-forget"))
        done = await press(world, asked, label("en", "forget-button-yes"))
        assert list(done.buttons) == [label("en", "forget-button-undo")]


# -- /why


@pytest.mark.parametrize("lang", LANGUAGES)
async def test_an_answer_tells_what_it_rests_on(world: World, lang: Language) -> None:
    """What it cites under its own numbers, then the rest it was given; each can be opened, corrected, forgotten."""
    await world.admit(2, "Оля", lang)
    life = Life(world, 2)
    works = await life.fact("Петров", "WORKS_FOR", "ACME", "Петров работает в ACME", year(2021))
    lives = await life.fact("Петров", "LIVES_IN", "Київ", "Петров живёт в Києві", year(2020))
    likes = await life.fact("me", "LIKES", "чай", "Люблю чай", year(2019))
    petrov = await world.read(lambda c: c.exec_driver_sql("SELECT id FROM people").scalar_one())
    at = await life.reply("В **ACME**, а живёт в Києві.", (lives, works), (likes,), [petrov])
    shown = only(await world.send("/why", 2, **reply_to(at)))
    lines = shown.text.splitlines()
    assert lines[:2] == [text("why-title", lang), "В ACME, а живёт в Києві."]
    since = label(lang, "when-since", since=day(lang, year(2020)))
    assert f"1. Петров живёт в Києві — {since}" in lines
    assert [line[:8] for line in lines if line[:1].isdigit()] == ["1. Петро", "2. Петро", "3. Люблю"]
    assert text("why-people", lang, names="Петров") in lines
    opened = await press(world, shown, label(lang, "fact-button-open", n=2), 2)
    assert opened.text.startswith("Петров работает в ACME\n")
    assert (await press(world, opened, label(lang, "button-back"), 2)).text == shown.text
    correcting = await press(world, shown, label(lang, "fact-button-correct"), 2)
    assert correcting.text == text("correct-ask", lang, text="Петров живёт в Києві")
    asked = await press(world, shown, label(lang, "fact-button-forget"), 2)
    assert asked.text == text("forget-fact-confirm", lang, text="Петров живёт в Києві")
    assert (await press(world, shown, "3", 2)).text.startswith("Люблю чай\n")


async def test_an_answer_is_found_by_any_part_of_it(world: World, life: Life) -> None:
    """Its first message, a later one, the question that it answers, or nothing: then it is the latest."""
    fact_id = await life.fact("me", "LIKES", "tea", "I like tea", year(2021))
    at = await life.reply("You like tea.", (fact_id,))
    await life.reply("Just so.")
    expected = only(await world.send("/why", **reply_to(at)))
    assert "1. I like tea" in expected.text
    for place in (at + 1, at - 1):
        assert only(await world.send("/why", **reply_to(place))) == expected
    latest = only(await world.send("/why"))
    assert latest.text.endswith(text("why-none"))
    assert only(await world.send("/why", **reply_to(4_444))).text == text("why-not-answer")


async def test_there_is_no_answer_to_explain(world: World) -> None:
    """Before the first one."""
    assert only(await world.send("/why")).text == text("why-no-answer")
    assert only(await world.send("/correct")).text == text("why-no-answer")


async def test_a_source_that_is_gone_keeps_its_number(world: World, life: Life) -> None:
    """The answer still shows it; the numbers behind it stay right."""
    tea = await life.fact("me", "LIKES", "tea", "I like tea", year(2021))
    jam = await life.fact("me", "LIKES", "jam", "I like jam", year(2021))
    await life.reply("Tea and jam.", (tea, jam))
    await world.write(lambda c: knowledge.erase_fact(c, 1, tea, now=world.clock.now()))
    shown = only(await world.send("/why"))
    assert f"1. {text('why-gone')}" in shown.text
    assert "2. I like jam" in shown.text
    assert "Open 1" not in shown.buttons


async def test_an_answer_without_citations_shows_what_was_at_hand(world: World, life: Life) -> None:
    """And says that it cites nothing."""
    tea = await life.fact("me", "LIKES", "tea", "I like tea", year(2021))
    await life.reply("Hm.", (), (tea,))
    shown = only(await world.send("/why"))
    assert text("why-uncited") in shown.text
    assert "1. I like tea" in shown.text


# -- /correct


@pytest.mark.parametrize("lang", LANGUAGES)
async def test_the_owner_says_how_it_is(world: World, lang: Language) -> None:
    """His words stand and are his; the old ones stay as a version, with the messages they came from."""
    await world.admit(2, "Оля", lang)
    life = Life(world, 2)
    old = await life.fact("Петров", "WORKS_FOR", "ACME", "Петров работает в ACME", year(2021))
    await life.reply("В ACME.", (old,))
    asked = only(await world.send("/correct", 2))
    assert asked.text == text("correct-ask", lang, text="Петров работает в ACME")
    assert asked.force_reply
    shown = only(await world.send("Петров давно работает в ACME", 2))
    told = {"old": "Петров работает в ACME", "new": "Петров давно работает в ACME"}
    assert shown.text == text("correct-sure", lang, how="changed", **told)
    assert [fact.fact for fact in await life.facts()] == ["Петров работает в ACME"]
    done = await sure(world, shown, 2, lang)
    assert done.text.startswith(text("correct-done", lang))
    assert text("fact-owners-word", lang) in done.text
    assert text("fact-before", lang, text="Петров работает в ACME") in done.text
    own, earlier = done.text.split(text("fact-sources-before", lang))
    assert text("source-quote", lang, text="Петров давно работает в ACME") in own.split(text("fact-sources", lang))[1]
    assert text("source-quote", lang, text="Петров работает в ACME") in earlier
    new = await life.current("Петров давно работает в ACME")
    assert (new.set_by, new.supersedes) == ("owner", old)
    versions = await press(world, done, label(lang, "fact-button-versions", count=2), 2)
    assert [line.split(" — ")[0] for line in versions.text.splitlines() if " — " in line] == [
        "Петров работает в ACME", "Петров давно работает в ACME",
    ]  # fmt: skip
    undone = await press(world, done, label(lang, "correct-button-undo"), 2)
    assert undone.text.startswith(text("correct-undone", lang))
    [fact] = await life.facts()
    assert (fact.fact, fact.set_by, fact.episodes) == ("Петров работает в ACME", "archivist", new.episodes)


NEWS = {
    "en": ("I like tea", "My sister is called Anna", "I like green tea"),
    "ru": ("Люблю чай", "Мою сестру зовут Анна", "Люблю зелёный чай"),
    "uk": ("Люблю чай", "Мою сестру звати Анна", "Люблю зелений чай"),
}


@pytest.mark.parametrize("lang", LANGUAGES)
async def test_a_correction_touches_only_what_it_is_about(world: World, lang: Language) -> None:
    """A sentence about something else is news. No leaves everything; a fact that only stood by is never taken."""
    await world.admit(2, "Оля", lang)
    life, (tea, news, green) = Life(world, 2), NEWS[lang]
    fact_id = await life.fact("me", "LIKES", "tea" if lang == "en" else "чай", tea, year(2021))
    for cited, given in (((fact_id,), ()), ((), (fact_id,))):
        await life.reply("Чай.", cited, given)
        assert only(await world.send(f"/correct {news}", 2)).how == "unhandled"
        assert only(world.said).text == text("correct-news", lang)
        asked = only(await world.send(f"/correct {green}", 2))
        assert asked.text == text("correct-sure", lang, how="changed", old=tea, new=green)
        assert (await press(world, asked, label(lang, "correct-button-no"), 2)).text == text("kept", lang)
    assert (await sure(world, asked, 2, lang)).text.startswith(text("correct-lapsed", lang))
    assert [fact.fact for fact in await life.facts()] == [tea]


REPLACED = (
    ("Соломія", "Приватбанк", "Соломія працює в Приватбанку менеджеркою по роботі з великими клієнтами",
     "Соломія працює в Монобанку"),
    ("Тарас", "Львів", "Мій брат Тарас живе у Львові разом із дружиною та двома котами", "Тарас живе в Одесі"),
    ("Гелий", "Газпром", "Мой старый друг Гелий работает в Газпроме инженером по трубам",
     "Гелий работает в Роснефти с 2020"),
    ("Pete", "Nokia", "My cousin Pete works at Nokia as a radio engineer in Espoo", "Pete works at Ericsson"),
    ("me", "Bosch", "I work at Bosch as a test engineer for brakes", "I work at Siemens"),
)  # fmt: skip


async def test_a_correction_names_a_long_fact_by_whom_and_what_it_says(world: World) -> None:
    """However much else the sentence of the fact says, and though no answer cites it; about somebody else it is not."""
    await world.admit(2, "Оля", "en")
    life = Life(world, 2)
    for who, where, told, _ in REPLACED:
        await life.fact(who, "WORKS_FOR", where, told, year(2021))
    await life.reply("Hm.")
    for _, _, told, words in REPLACED:
        asked = only(await world.send(f"/correct {words}", 2))
        assert asked.text == text("correct-sure", how="changed", old=told, new=words)
    assert only(await world.send("/correct Зинаида работает в Роснефти", 2)).how == "unhandled"
    assert only(world.said).text == text("correct-news")


async def test_a_sentence_waits_for_its_button_only(world: World, life: Life) -> None:
    """What is written meanwhile is a message like any other; of several facts the sentence goes to the chosen one."""
    tea = await life.fact("me", "LIKES", "tea", "I like tea", year(2021))
    jam = await life.fact("me", "LIKES", "jam", "I like jam", year(2021))
    await life.reply("Tea and jam.", (tea, jam))
    choice = only(await world.send("/correct I like honey"))
    assert choice.text.startswith(text("correct-choose"))
    asked = await press(world, choice, "2")
    assert asked.text == text("correct-sure", how="changed", old="I like jam", new="I like honey")
    assert (await world.send("What's the weather?"))[0].how == "unhandled"
    assert (await sure(world, asked)).text.startswith(text("correct-lapsed"))
    assert sorted(fact.fact for fact in await life.facts()) == ["I like jam", "I like tea"]


@pytest.mark.parametrize(
    ("lang", "words", "outcome"),
    [
        ("ru", "Больше не люблю чай", "correct-ended"),
        ("uk", "Вже не люблю чай", "correct-ended"),
        ("en", "I no longer like tea", "correct-ended"),
        ("ru", "Я не люблю чай", "correct-denied"),
        ("uk", "Я не люблю чай", "correct-denied"),
        ("en", "I don't like tea", "correct-denied"),
    ],
)
async def test_a_denial_closes_or_takes_back(world: World, lang: Language, words: str, outcome: str) -> None:
    """What is over ends, what was never so is held no more, and the owner is told which."""
    await world.admit(2, "Оля", lang)
    life = Life(world, 2)
    told = "I like tea" if lang == "en" else "Люблю чай"
    await life.fact("me", "LIKES", "tea" if lang == "en" else "чай", told, year(2021))
    card = await press(world, only(await world.send("/facts", 2)), "1", 2)
    await press(world, card, label(lang, "fact-button-correct"), 2)
    said = await sure(world, only(await world.send(words, 2)), 2, lang)
    assert said.text.startswith(f"{text(outcome, lang)}\n\n{told}")
    assert (label(lang, "correct-button-undo") in said.buttons) == (outcome == "correct-ended")
    assert await life.facts() == []
    assert len(await life.facts(ended=True)) == (outcome == "correct-ended")
    if outcome == "correct-ended":
        await press(world, said, label(lang, "correct-button-undo"), 2)
        assert [(fact.fact, fact.invalid_at) for fact in await life.facts()] == [(told, None)]


async def test_several_facts_are_chosen_among(world: World, life: Life) -> None:
    """An answer that rests on one fact needs no choice, and may be put right in one go."""
    tea = await life.fact("me", "LIKES", "tea", "I like tea", year(2021))
    jam = await life.fact("me", "LIKES", "jam", "I like jam", year(2021))
    await life.reply("Tea and jam.", (tea, jam))
    choice = only(await world.send("/correct"))
    assert choice.text.startswith(text("correct-choose"))
    await press(world, choice, "2")
    assert "I love jam" in (await sure(world, only(await world.send("I love jam")))).text
    at = await life.reply("Tea.", (tea,))
    asked = only(await world.send("/correct I like green tea", **reply_to(at)))
    assert (await sure(world, asked)).text.startswith(text("correct-done"))
    assert sorted(fact.fact for fact in await life.facts()) == ["I like green tea", "I love jam"]
    await life.reply("Hello.")
    assert only(await world.send("/correct")).text == text("correct-nothing")


async def test_a_correction_is_cancelled_cleanly(world: World, life: Life) -> None:
    """By /cancel, by another command or any button: what is said next is no correction."""
    tea = await life.fact("me", "LIKES", "tea", "I like tea", year(2021))
    card = only(await world.press(FactButton(owner=1, fact=tea).pack()))
    for leaving in ("/cancel", "/status"):
        await press(world, card, "Correct")
        await world.send(leaving)
        assert (await world.send("I hate tea"))[0].how == "unhandled"
    await press(world, card, "Correct")
    await press(world, card, "Forget")
    assert (await world.send("I hate tea"))[0].how == "unhandled"
    assert [fact.fact for fact in await life.facts()] == ["I like tea"]


async def test_a_correction_handled_again_is_one_correction(world: World, life: Life) -> None:
    """After a crash between the words and the question, or the button and the answer to it."""
    tea = await life.fact("me", "LIKES", "tea", "I like tea", year(2021))
    await world.press(f"C:1:{FactButton(owner=1, fact=tea).pack().split(':', 2)[2]}")
    message = {"text": "I love tea", "message_id": 1_000_000}
    first = only(await world.message(message))
    assert only(await world.message(message)).text == first.text
    await sure(world, first)
    assert "I love tea" in only(await world.again()).text
    fact = await life.current("I love tea")
    assert len(await world.read(lambda c: knowledge.history(c, 1, fact.id))) == 2


async def test_what_an_answer_rests_on_is_offered_as_it_stands_now(world: World, life: Life) -> None:
    """An answer that cites a version which was corrected since: the correction is asked about, once."""
    tea = await life.fact("me", "LIKES", "tea", "I like tea", year(2021))
    await life.reply("You like tea.", (tea,))
    await sure(world, only(await world.send("/correct I like green tea")))
    assert only(await world.send("/correct")).text == text("correct-ask", text="I like green tea")
    await world.send("/cancel")
    newer = await life.current("I like green tea")
    await life.reply("Tea, green tea.", (tea, newer.id))
    assert only(await world.send("/correct")).text == text("correct-ask", text="I like green tea")


async def test_the_same_words_and_too_many_change_nothing(world: World, life: Life) -> None:
    """And a fact that was replaced since the question is corrected in its newest version."""
    tea = await life.fact("me", "LIKES", "tea", "I like tea", year(2021))
    correcting = f"C:1:{FactButton(owner=1, fact=tea).pack().split(':', 2)[2]}"
    await world.press(correcting)
    assert only(await world.send("I  like tea")).text.startswith(text("correct-same"))
    await world.press(correcting)
    await sure(world, only(await world.send("tea " * 2000)))
    await world.press(correcting)
    asked = only(await world.send("I like green tea"))
    await world.write(lambda c: knowledge.update_fact(c, 1, tea, "I like black tea", now=world.clock.now()))
    await sure(world, asked)
    assert [fact.fact for fact in await life.facts()] == ["I like green tea"]


@pytest.mark.parametrize(("known", "made"), [(True, "Ромашка"), (False, "Ромашка")])
async def test_a_correction_moves_the_other_end(world: World, life: Life, known: bool, made: str) -> None:
    """A fact about ACME becomes one about what is named now, known or new; the next word about it fits."""
    fact_id = await life.fact("Петров", "WORKS_FOR", "ACME", "Петров работает в ACME", year(2021))
    if known:
        await life.node("Ромашка")
    await life.reply("В ACME.", (fact_id,))
    done = await sure(world, only(await world.send("/correct Петров работает в Ромашке")))
    assert done.text.startswith(text("correct-done"))
    fact = await life.current("Петров работает в Ромашке")
    assert fact.target_name == made
    assert only(await world.send("/facts ACME")).text.startswith(text("facts-none", name="ACME"))
    assert "Петров работает в Ромашке" in only(await world.send("/facts Ромашка")).text
    chain = await world.read(lambda c: knowledge.citation_chain(c, 1, fact.target))
    assert len(chain) == 1
    await press(world, done, label("en", "correct-button-undo"))
    assert (await life.current("Петров работает в ACME")).target_name == "ACME"


@pytest.mark.parametrize("lang", LANGUAGES)
async def test_why_quotes_messages_and_forgets_them(world: World, lang: Language) -> None:
    """With who wrote them and when; asked once more, gone at once, and back again on demand."""
    await world.admit(2, "Оля", lang)
    at = await Life(world, 2).reply("В шесть.", said=["Поезд уходит в шесть"])
    shown = only(await world.send("/why", 2, **reply_to(at)))
    when = text("source-own", lang, at=world.clock.now())
    assert f"1. {text('source-quote', lang, text='Поезд уходит в шесть')} — {when}" in shown.text
    asked = await press(world, shown, label(lang, "said-button-forget", n=1), 2)
    assert asked.text == text("forget-said-confirm", lang, text="Поезд уходит в шесть")
    assert (await press(world, asked, label(lang, "button-cancel"), 2)).text == shown.text
    gone = await press(world, asked, label(lang, "forget-button-yes"), 2)
    assert gone.text == text("forget-said-done", lang, minutes=10)
    assert text("why-gone", lang) in only(await world.send("/why", 2, **reply_to(at))).text
    await press(world, gone, label(lang, "forget-button-undo"), 2)
    assert only(await world.send("/why", 2, **reply_to(at))).text == shown.text


# -- /asof


@pytest.mark.parametrize(
    ("lang", "asked", "period"),
    [
        ("ru", "май 2016 где я работаю в Авале?", "1 мая 2016 г. — 31 мая 2016 г."),
        ("uk", "у 2016 році де я працюю? Аваль?", "1 січня 2016 р. — 31 грудня 2016 р."),
        ("en", "15 May 2016 where do I work? Aval?", "May 15, 2016"),
    ],
)
async def test_what_held_then(world: World, lang: Language, asked: str, period: str) -> None:
    """Answered from the facts of that time, which are shown under the numbers of the answer."""
    await world.admit(2, "Оля", lang)
    life = Life(world, 2)
    await life.fact("me", "WORKS_FOR", "Аваль", "Работаю: Aval, Аваль", year(2015))
    await life.fact("me", "WORKS_FOR", "ACME", "Работаю: ACME", year(2021))
    world.responder.script.append("Aval[F1].")
    shown = only(await world.send(f"/asof {asked}", 2))
    lines = shown.text.splitlines()
    assert (" ".join(lines[0].split()), lines[2]) == (period, "Aval¹.")
    assert lines[-1].startswith("1. Работаю: Aval, Аваль — ")
    assert (await press(world, shown, "1", 2)).how == "say"
    [request] = world.responder.asked
    assert request.now.year == 2016
    assert "ACME" not in {fact.target for fact in request.facts}


async def test_a_date_alone_is_asked_about(world: World, life: Life) -> None:
    """The next message is the question."""
    await life.fact("me", "WORKS_FOR", "ACME", "I work for ACME", year(2021))
    assert only(await world.send("/asof 2022")).text == text("asof-ask", period="January 1, 2022 – December 31, 2022")
    world.responder.script.append("ACME[F1].")
    assert "ACME¹." in only(await world.send("where do I work?")).text


@pytest.mark.parametrize("lang", LANGUAGES)
async def test_what_cannot_be_answered_about_another_time(world: World, lang: Language) -> None:
    """No date, a date ahead, nothing known, no words from the model: each has its sentence, with an example."""
    await world.admit(2, "Оля", lang)
    life = Life(world, 2)
    await life.fact("me", "LIKES", "чай", "чай", year(2021))
    assert only(await world.send("/asof", 2)).text == text("asof-usage", lang)
    unreadable = only(await world.send("/asof somewhen чай", 2))
    assert unreadable.text == text("asof-unreadable", lang, text="somewhen чай")
    assert "/asof" in unreadable.text
    ahead = only(await world.send("/asof 2031 чай", 2)).text
    assert "2031" in ahead
    assert "2019" in only(await world.send("/asof 2019 чай", 2)).text
    assert world.responder.asked == []
    world.responder.script.append(ModelUnavailable("down"))
    plain = only(await world.send("/asof 2022 чай", 2))
    assert text("asof-without-words", lang) in plain.text
    assert "1. чай" in plain.text


async def test_the_daily_limit_holds_for_the_past_too(world: World, life: Life) -> None:
    """No model is asked beyond it."""
    await life.fact("me", "LIKES", "tea", "I like tea", year(2021))
    await world.write(lambda c: users.add_spend(c, 1, "2026-11-21", "responder", tokens=1, cost_usd=100.0))
    assert only(await world.send("/asof 2022 tea")).text == text("daily-cost-reached", limit=5)
    assert world.responder.asked == []


# -- contradictions


async def owed(world: World, user_id: int = 1) -> list[dict[str, Any]]:
    """What the background owes the owner."""

    def work(connection: Connection) -> list[dict[str, Any]]:
        users.write_setting(connection, "bot_id", 7)
        own_initiative.ask_first(connection, user_id, {}, NOW)
        query = select(outbox.c.payload).where(outbox.c.dedupe.startswith("suggestion:"))
        return list(connection.execute(query).scalars())

    return await world.write(work)


@pytest.mark.parametrize("lang", LANGUAGES)
async def test_a_contradiction_is_asked_once_and_decided(world: World, lang: Language) -> None:
    """With a button for each side; the choice becomes the owner's word, and pressing again changes nothing."""
    await world.admit(2, "Оля", lang)
    life = Life(world, 2)
    await life.contradiction()
    assert len(await owed(world, 2)) == 1
    assert len(await owed(world, 2)) == 1
    shown = only(await world.send("/facts Петров", 2))
    question = await press(world, shown, label(lang, "people-suggestions-button", count=1), 2)
    assert question.text.startswith(text("contradiction-ask", lang))
    assert [name.split(" · ")[-1] for name in question.buttons][:2] == ["Киев", "Львов"]
    lviv = next(name for name in question.buttons if name.endswith("Львов"))
    done = await press(world, question, lviv, 2)
    assert done.text == text("contradiction-one", lang, fact="Петров живёт во Львове")
    assert await press(world, question, lviv, 2) == done
    kyiv = next(name for name in question.buttons if name.endswith("Киев"))
    assert await press(world, question, kyiv, 2) == done
    [left] = await life.facts()
    assert (left.fact, left.set_by) == ("Петров живёт во Львове", "owner")
    assert label(lang, "people-suggestions-button", count=1) not in only(await world.send("/facts Петров", 2)).buttons


@pytest.mark.parametrize(("answer", "left"), [("both", 2), ("neither", 0)])
async def test_both_sides_or_neither(world: World, life: Life, answer: str, left: int) -> None:
    """Both may stand beside one another, and neither is given up."""
    await life.contradiction()
    question = await press(world, only(await world.send("/facts Петров")), "Questions for you")
    assert len(await life.facts()) == 2
    done = await press(world, question, label("en", f"contradiction-button-{answer}", count=2))
    assert done.text == text(f"contradiction-{answer}")
    assert len(await life.facts()) == left


async def test_a_question_that_has_lapsed_says_so(world: World, life: Life) -> None:
    """One side was forgotten since, or the sides are others now: nothing is decided by an old button."""
    contradiction_id = await life.contradiction()
    question = await press(world, only(await world.send("/facts Петров")), "Questions for you")
    kyiv = next(name for name in question.buttons if name.endswith("Киев"))
    fact = await life.current("Петров живёт в Киеве")
    await world.write(lambda c: knowledge.update_fact(c, 1, fact.id, "Петров с женой живёт в Киеве", now=NOW))
    again = await press(world, question, kyiv)
    assert "Петров с женой живёт в Киеве" in again.text
    assert len(await life.facts()) == 2
    await world.write(lambda c: knowledge.resolve_contradiction(c, 1, contradiction_id, BOTH, now=NOW + timedelta(1)))
    assert (await press(world, question, kyiv)).text == text("contradiction-both")
    foreign = ContradictionButton(owner=1, contradiction=new_id(), answer="b").pack()
    assert only(await world.press(foreign)).text == text("contradiction-gone")


async def test_a_card_says_that_it_is_disputed(world: World, life: Life) -> None:
    """As long as the question is open."""
    await life.contradiction()
    fact = await life.current("Петров живёт в Киеве")
    assert text("fact-disputed") in only(await world.press(FactButton(owner=1, fact=fact.id).pack())).text


async def test_questions_follow_one_another(world: World, life: Life) -> None:
    """The next contradiction is asked when one is decided, not before."""
    await life.contradiction()
    await life.fact("Зина", "LIVES_IN", "Киев", "Зина живёт в Киеве", year(2020))
    await life.fact("Зина", "LIVES_IN", "Львов", "Зина живёт во Львове", year(2020))
    shown = only(await world.send("/facts Зина"))
    question = await press(world, shown, label("en", "people-suggestions-button", count=2))
    assert "Петров" in question.text
    said = await world.press(question.buttons[next(iter(question.buttons))])
    assert [one.how for one in said if one.text] == ["edit", "say"]
    assert "Зина" in said[-1].text
