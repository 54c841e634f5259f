"""Teams in the chat: everybody agrees for himself, in his own language, and leaves when he likes."""

from __future__ import annotations

from datetime import time
from typing import Any

import pytest
from sqlalchemy import insert, select, update
from support.interfaces.handler_stage import Said, World, only

from bot.telegram.i18n import phrase
from bot.telegram.rendering import render
from internal.access.model import LANGUAGES, Language
from internal.dialogue.notifications import repository as notifications
from internal.dialogue.notifications.model import Notification
from internal.flows.forgetting import erase, requests
from internal.flows.forgetting.erasure_run import Erasure
from internal.flows.notifications.teams import PromiseNotices, taken_back
from internal.people import service as people_service
from internal.people.model import Person
from internal.storage.tables import events, people, tasks, team_invitations, users
from internal.tasks import service as task_service
from internal.tasks.service import by_owner
from internal.tasks.teams import repository, service
from internal.tasks.teams.model import Team


def text(lang: Language, key: str, **values: str | int) -> str:
    return "".join(part.text for part in render(phrase(lang, key, **values)))


async def waiting(world: World, user_id: int) -> list[Notification]:
    return await world.read(lambda c: notifications.listing(c, user_id))


async def teams(world: World, user_id: int) -> list[Team]:
    return await world.read(lambda c: repository.teams_of(c, user_id))


async def invited(world: World, lang: str = "uk") -> dict[str, str]:
    """The buttons of Taras, whom Olena has invited to her family: yes, no."""
    await world.admit(2, "Taras", lang)
    created = only(await world.send("/team Family"))
    await world.press(created.buttons["Invite to “Family”"])
    only(await world.send("2"))
    (asked,) = await waiting(world, 2)
    return {one["text"]: one["callback_data"] for row in asked.buttons for one in row}


async def test_a_team_is_made_and_shown(world: World) -> None:
    """By a command with its name, or by a button that asks for one; the list has everybody in it."""
    assert text("en", "team-none") in only(await world.send("/team")).text
    assert only(await world.send("/team  Our \n Family ")).text == text("en", "team-created", team="Our Family")
    overview = only(await world.send("/team"))
    assert "Our Family — Olena" in overview.text
    assert only(await world.press(overview.buttons["New team"])).text == text("en", "team-name-ask")
    assert only(await world.send("Work")).text == text("en", "team-created", team="Work")
    assert [team.name for team in await teams(world, 1)] == ["Our Family", "Work"]


@pytest.mark.parametrize("lang", LANGUAGES)
async def test_an_invitation_asks_in_the_language_of_who_is_invited(world: World, lang: Language) -> None:
    """Who is invited is told who asks and to what, with buttons, once; nobody is in before he has agreed."""
    assert len(await invited(world, lang)) == 2
    (asked,) = await waiting(world, 2)
    assert asked.text == phrase(lang, "team-invitation", name="Olena", team="Family")
    assert [member.user_id for member in (await teams(world, 1))[0].members] == [1]
    assert text(lang, "team-invitation", name="Olena", team="Family") in only(await world.send("/team", 2)).text


async def test_who_agrees_is_in_and_the_others_are_told(world: World) -> None:
    """From then on each may be told of what the other takes on for him."""
    yes, _ = (await invited(world)).values()
    assert only(await world.press(yes, 2)).text == text("uk", "team-accepted", team="Family")
    (team,) = await teams(world, 1)
    assert [member.name for member in team.members] == ["Olena", "Taras"]
    assert [one.text for one in await waiting(world, 1)] == [phrase("en", "team-joined", name="Taras", team="Family")]
    assert await world.read(lambda c: service.share_a_team(c, 1, 2))
    assert only(await world.press(yes, 2)).text == text("uk", "conflict")


async def test_who_declines_is_not_in_and_is_not_asked_again_for_a_week(world: World) -> None:
    """A no is kept, and who asked is not told of it."""
    _, no = (await invited(world)).values()
    world.clock.advance(5 * 24 * 3600)
    assert only(await world.press(no, 2)).text == text("uk", "team-declined", team="Family")
    assert await teams(world, 2) == []
    assert await waiting(world, 1) == []
    world.clock.advance(3 * 24 * 3600)
    assert await again(world) == text("en", "refused-team_declined")
    world.clock.advance(4 * 24 * 3600)
    assert "Taras" in await again(world)


async def again(world: World) -> str:
    overview = only(await world.send("/team"))
    await world.press(overview.buttons["Invite to “Family”"])
    return only(await world.send("2")).text


async def test_who_leaves_shares_nothing_any_more(world: World) -> None:
    """After being asked whether he means it; those who stay are told, and nothing of his is."""
    yes, _ = (await invited(world, "en")).values()
    await world.press(yes, 2)
    overview = only(await world.send("/team", 2))
    sure = only(await world.press(overview.buttons["Leave “Family”"], 2))
    assert await world.read(lambda c: service.share_a_team(c, 1, 2))
    assert only(await world.press(sure.buttons["Yes, leave"], 2)).text == text(
        "en", "team-left-yourself", team="Family"
    )
    assert not await world.read(lambda c: service.share_a_team(c, 1, 2))
    assert (await waiting(world, 1))[0].text == phrase("en", "team-left", name="Taras", team="Family")


async def test_an_invitation_ends_with_who_sent_it(world: World) -> None:
    """Who leaves takes his invitations with him: they cannot be accepted any more."""
    yes, _ = (await invited(world, "en")).values()
    (team,) = await teams(world, 1)
    await world.write(lambda c: service.leave_team(c, 1, team.id, world.clock.now()))
    assert only(await world.press(yes, 2)).text == text("en", "conflict")
    assert await teams(world, 2) == []


@pytest.mark.parametrize(
    ("named", "key"),
    [("1", "team_member"), ("3", "team_stranger"), ("@nobody", "team_stranger"), ("4", "team_stranger")],
)
async def test_who_cannot_be_invited(world: World, named: str, key: str) -> None:
    """Who is in already, who is unknown, and who was removed."""
    await world.admit(4, "Gone")
    await world.write(lambda c: c.execute(update(users).where(users.c.user_id == 4).values(state="removed")))
    created = only(await world.send("/team Family"))
    await world.press(created.buttons["Invite to “Family”"])
    assert only(await world.send(named)).text == text("en", f"refused-{key}")


async def test_a_username_is_enough(world: World) -> None:
    """In any case, with or without its sign."""
    await world.admit(2, "Taras")
    await world.write(lambda c: c.execute(update(users).where(users.c.user_id == 2).values(username="TarasUA")))
    created = only(await world.send("/team Family"))
    await world.press(created.buttons["Invite to “Family”"])
    assert only(await world.send("@tarasua")).text == text("en", "team-invited", name="Taras", team="Family")


async def test_a_stranger_to_a_team_neither_invites_nor_leaves(world: World) -> None:
    """Buttons made up for another's team or another's invitation do nothing."""
    yes, _ = (await invited(world, "en")).values()
    await world.admit(3, "Eve")
    created: list[Said] = await world.send("/team Family")
    forged = [data.replace(":1:", ":3:", 1) for data in created[0].buttons.values()]
    forged.append(yes.replace(":2:", ":3:", 1))
    for data in forged:
        assert only(await world.press(data, 3)).text == text("en", "not-found")
    assert await teams(world, 3) == []


async def test_no_event_tells_one_owner_of_another(world: World) -> None:
    """Events of teams hold the team's id and nobody's name; each is of the owner who acted or was asked."""
    yes, _ = (await invited(world, "en")).values()
    await world.press(yes, 2)
    told = await world.read(lambda c: c.execute(select(events).where(events.c.event_type.like("team_%"))).all())
    assert {(row.user_id, row.event_type) for row in told} == {
        (1, "team_created"),
        (1, "team_invited"),
        (2, "team_invitation_received"),
        (2, "team_joined"),
    }
    assert all(row.payload == {} for row in told)
    (state,) = await world.read(lambda c: c.execute(select(team_invitations.c.state)).scalars().all())
    assert state == "accepted"


async def promised(world: World, title: str, telegram_id: int | None = 2, **more: Any) -> Person:
    """A task of Olena's about somebody."""
    person = await world.person(f"Somebody of {title}", telegram_id=telegram_id)
    now = world.clock.now()
    row = {
        "user_id": 1,
        "kind": "promise",
        "state": "open",
        "title": title,
        "tz": "UTC",
        "origin": "fragment",
        "rev": 1,
    }
    values = row | {"id": title, "person_id": person.id, "created_at": now, "updated_at": now} | more
    await world.write(lambda c: c.execute(insert(tasks).values(values)))
    return person


async def test_a_promise_is_told_to_who_is_in_the_team(world: World) -> None:
    """Once, in his language, and nothing but promises to him: not what is proposed, and not before he has joined."""
    yes, _ = (await invited(world, "uk")).values()
    telling = PromiseNotices(world.database, world.clock, phrase)
    await promised(world, "bring the book")
    assert await telling.notify_due() == 0
    await world.press(yes, 2)
    assert (await telling.notify_due(), await telling.notify_due()) == (1, 0)
    told = phrase("uk", "team-taken-on", name="Olena", title="bring the book")
    assert [one.text for one in await waiting(world, 2)].count(told) == 1


async def test_a_promise_to_a_name_follows_its_merges(world: World) -> None:
    """Who it was made to by name turns out to be the one in the team, over two merges: now he is told."""
    yes, _ = (await invited(world)).values()
    await world.press(yes, 2)
    named = await promised(world, "bring the book", telegram_id=None)
    between, member = await world.person("Taras Sh."), await world.person("Taras", telegram_id=2)
    nameless = update(people).where(people.c.id.in_([named.id, between.id])).values(telegram_id=None)
    await world.write(lambda c: c.execute(nameless))
    telling = PromiseNotices(world.database, world.clock, phrase)
    for source, target in ((named.id, between.id), (between.id, member.id)):
        assert await telling.notify_due() == 0
        await world.write(lambda c: people_service.merge(c, 1, source, target, now=world.clock.now()))  # noqa: B023
    assert (await telling.notify_due(), await telling.notify_due()) == (1, 0)


@pytest.mark.parametrize("more", [{"kind": "task"}, {"state": "proposed"}, {"state": "done"}])
async def test_nothing_else_is_told(world: World, more: dict[str, Any]) -> None:
    """What is no promise, waits for a yes or is done stays its owner's."""
    yes, _ = (await invited(world)).values()
    await world.press(yes, 2)
    await promised(world, "bring the book", **more)
    assert await PromiseNotices(world.database, world.clock, phrase).notify_due() == 0


async def test_who_has_left_is_told_of_nothing(world: World) -> None:
    """A promise made while both were in the team is not told after one of them left it."""
    yes, _ = (await invited(world)).values()
    await world.press(yes, 2)
    await promised(world, "bring the book")
    (team,) = await teams(world, 2)
    await world.write(lambda c: service.leave_team(c, 2, team.id, world.clock.now()))
    assert await PromiseNotices(world.database, world.clock, phrase).notify_due() == 0


@pytest.mark.parametrize("ends", ["leaves", "done", "forgets", "erased", "dropped"])
async def test_a_promise_that_waits_is_taken_back(world: World, ends: str) -> None:
    """What was to be told while they shared a team is not told after its giver left, did it or had it forgotten."""
    yes, _ = (await invited(world)).values()
    await world.press(yes, 2)
    await promised(world, "bring the book")
    assert await PromiseNotices(world.database, world.clock, phrase).notify_due() == 1
    told = (await waiting(world, 2))[0]
    assert not await world.read(lambda c: taken_back(c, told))
    (team,), now = await teams(world, 1), world.clock.now()
    if ends == "leaves":
        await world.write(lambda c: service.leave_team(c, 1, team.id, now))
    elif ends == "done":
        await world.write(lambda c: task_service.mark_done(c, 1, "bring the book", by_owner(1, now, time(9))))
    elif ends == "forgets":
        await world.write(lambda c: requests.ask(c, 1, "everything", None, now=now))
    elif ends == "erased":
        await world.write(lambda c: erase.erase_everything(c, 1, "2026-01-01"))
        assert told not in await waiting(world, 2)
    else:
        task = await world.read(lambda c: task_service.task(c, 1, "bring the book"))
        await world.write(lambda c: Erasure(c, 1, now).drop_tasks([task]))
        assert told not in await waiting(world, 2)
    assert await world.read(lambda c: taken_back(c, told))
