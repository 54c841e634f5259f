"""Who is let in, over a real database."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta

import pytest

from internal.access import repository, service
from internal.access.model import Author, AwaitedAnswer, Role, User, UserState
from internal.errors import NotFound, Refused
from internal.storage.database import Database

NOW = datetime(2026, 11, 21, 12, 0, tzinfo=UTC)
OLENA = Author(1, "Олена", "olena", "uk")
PETER = Author(2, "Peter", None, "en-GB")


async def admit(database: Database, author: Author, *, allowed: tuple[int, ...] = (), admit_all: bool = False) -> User:
    user = await database.write(lambda c: service.admit(c, author, allowed=allowed, admit_all=admit_all, now=NOW))
    assert user is not None
    return user


async def claim(database: Database, author: Author, code: str) -> User | None:
    return await database.write(lambda c: service.claim_ownership(c, author, code, NOW))


async def take_answer(database: Database, message_id: int) -> AwaitedAnswer | None:
    return await database.write(lambda c: service.take_answer(c, 1, message_id, NOW))


async def owner_of(database: Database) -> User:
    code = await database.write(service.issue_owner_code)
    assert code is not None
    owner = await database.write(lambda c: service.claim_ownership(c, OLENA, code, NOW))
    assert owner is not None
    return owner


async def test_a_stranger_leaves_no_row(database: Database) -> None:
    """An empty allow-list lets nobody in and keeps nothing of who knocked."""
    assert await database.write(lambda c: service.admit(c, OLENA, allowed=(), admit_all=False, now=NOW)) is None
    assert await database.read(repository.everybody) == []


async def test_an_allowed_id_becomes_a_member_in_his_own_language(database: Database) -> None:
    """Who is on the list is created from what Telegram says of him, with a zone guessed by language."""
    user = await admit(database, OLENA, allowed=(1,))
    assert (user.role, user.lang, user.tz, user.tz_asked, user.name) == (
        Role.MEMBER,
        "uk",
        "Europe/Kyiv",
        False,
        "Олена",
    )


async def test_the_open_door_makes_the_first_one_the_owner(database: Database) -> None:
    """In the local Telegram everybody enters, and only the first becomes the owner."""
    first = await admit(database, OLENA, admit_all=True)
    second = await admit(database, PETER, admit_all=True)
    assert (first.role, second.role) == (Role.OWNER, Role.MEMBER)


async def test_a_new_name_in_telegram_is_taken_over(database: Database) -> None:
    """A later message under another name or username brings the user up to date, not his chosen language."""
    await admit(database, OLENA, allowed=(1,))
    await database.write(lambda c: service.set_language(c, 1, "en"))
    user = await admit(database, Author(1, "Олена К.", "olena_k", "uk"), allowed=(1,))
    assert (user.name, user.username, user.lang) == ("Олена К.", "olena_k", "en")


async def test_a_paused_user_who_writes_is_active_again(database: Database) -> None:
    """403 pauses a user until his next message; a removed one is not paused back in."""
    await admit(database, OLENA, allowed=(1,))
    await database.write(lambda c: service.pause(c, 1))
    assert (await database.read(lambda c: repository.get(c, 1))).state is UserState.PAUSED
    assert (await admit(database, OLENA, allowed=(1,))).state is UserState.ACTIVE
    await database.write(lambda c: service.pause(c, 99))  # unknown: nothing to pause


async def test_the_owner_code_is_stored_as_a_hash_only(database: Database) -> None:
    """The printed code cannot be read back from the database."""
    code = await database.write(service.issue_owner_code)
    assert code is not None
    stored = str(await database.read(lambda c: repository.read_setting(c, "owner_codes")))
    assert code not in stored
    assert code.replace("-", "") not in stored


async def test_the_owner_code_works_once(database: Database) -> None:
    """The first who sends the code owns the bot, however he types it; the second gets nothing."""
    code = await database.write(service.issue_owner_code)
    assert code is not None
    typed = code.lower().replace("-", " ")
    owner = await database.write(lambda c: service.claim_ownership(c, OLENA, typed, NOW))
    assert owner is not None
    assert owner.role is Role.OWNER
    assert await database.write(lambda c: service.claim_ownership(c, PETER, code, NOW)) is None


async def test_handling_the_same_start_again_ends_the_same_way(database: Database) -> None:
    """A crash after the code was used up does not turn the owner away."""
    code = await database.write(service.issue_owner_code)
    assert code is not None
    for _ in range(2):
        owner = await database.write(lambda c: service.claim_ownership(c, OLENA, code, NOW))
        assert owner is not None
        assert owner.role is Role.OWNER


async def test_a_wrong_code_changes_nothing(database: Database) -> None:
    """Guessing neither opens the door nor uses up the code."""
    code = await database.write(service.issue_owner_code)
    assert code is not None
    assert await database.write(lambda c: service.claim_ownership(c, PETER, "AAAA-BBBB-CCCC", NOW)) is None
    assert await database.write(lambda c: service.claim_ownership(c, OLENA, code, NOW)) is not None


async def test_an_earlier_code_stays_good_until_one_is_used(database: Database) -> None:
    """A restart prints another code without spoiling the first, and no code is issued once there is an owner."""
    first = await database.write(service.issue_owner_code)
    second = await database.write(service.issue_owner_code)
    assert first is not None
    assert second is not None
    assert await database.write(lambda c: service.claim_ownership(c, OLENA, first, NOW)) is not None
    assert await database.write(lambda c: service.claim_ownership(c, PETER, second, NOW)) is None
    assert await database.write(service.issue_owner_code) is None


async def test_two_claims_at_once_make_one_owner(database: Database) -> None:
    """The code is used up atomically: both claims run, one wins."""
    code = await database.write(service.issue_owner_code)
    assert code is not None
    claims = await asyncio.gather(claim(database, OLENA, code), claim(database, PETER, code))
    assert len([claim for claim in claims if claim is not None]) == 1


async def test_an_invited_user_gets_his_own_language_when_he_comes(database: Database) -> None:
    """The owner invites an id; the first message brings the name, the language and the zone."""
    owner = await owner_of(database)
    invited = await database.write(lambda c: service.invite(c, 2, "", NOW, by=owner))
    assert (invited.name, invited.lang) == ("2", "uk")
    arrived = await admit(database, PETER)
    assert (arrived.name, arrived.lang, arrived.role, arrived.settings) == ("Peter", "en", Role.MEMBER, {})


async def test_a_removed_user_stays_out_until_invited_again(database: Database) -> None:
    """Removal beats the allow-list, the open door and a pause; the row stays, and an invitation brings him back."""
    owner = await owner_of(database)
    await admit(database, PETER, allowed=(2,))
    await database.write(lambda c: service.remove(c, 2, NOW, by=owner))
    await database.write(lambda c: service.pause(c, 2))
    assert await database.write(lambda c: service.admit(c, PETER, allowed=(2,), admit_all=True, now=NOW)) is None
    assert [user.user_id for user in await database.read(service.members)] == [1]
    again = await database.write(lambda c: service.invite(c, 2, "Peter", NOW, by=owner))
    assert again.state is UserState.ACTIVE


async def test_only_the_owner_decides_who_is_in(database: Database) -> None:
    """A member can neither invite nor remove, and the owner cannot be removed."""
    owner = await owner_of(database)
    member = await admit(database, PETER, allowed=(2,))
    with pytest.raises(Refused, match="only the owner"):
        await database.write(lambda c: service.invite(c, 3, "", NOW, by=member))
    with pytest.raises(Refused, match="only the owner"):
        await database.write(lambda c: service.remove(c, 1, NOW, by=member))
    with pytest.raises(Refused, match="cannot be removed"):
        await database.write(lambda c: service.remove(c, 1, NOW, by=owner))
    with pytest.raises(NotFound):
        await database.write(lambda c: service.remove(c, 77, NOW, by=owner))


async def test_a_question_is_answered_by_one_message(database: Database) -> None:
    """The next message answers; the one after it does not; the same one, handled again, still does."""
    await admit(database, OLENA, allowed=(1,))
    question = AwaitedAnswer("bio", {"person": 7})
    await database.write(lambda c: service.await_answer(c, 1, question, NOW))
    for message_id, answers in ((10, question), (11, None), (10, question)):
        assert await take_answer(database, message_id) == answers
    user = await database.read(lambda c: repository.get(c, 1))
    assert service.awaited(user, NOW, 10) == question
    assert service.awaited(user, NOW, 12) is None


async def test_a_question_expires(database: Database) -> None:
    """After ten minutes the next message is just a message."""
    await admit(database, OLENA, allowed=(1,))
    await database.write(lambda c: service.await_answer(c, 1, AwaitedAnswer("bio"), NOW))
    user = await database.read(lambda c: repository.get(c, 1))
    assert service.awaited(user, NOW + timedelta(minutes=9, seconds=59)) is not None
    assert service.awaited(user, NOW + timedelta(minutes=10)) is None


async def test_a_question_can_be_withdrawn(database: Database) -> None:
    """/cancel tells whether there was anything to cancel."""
    await admit(database, OLENA, allowed=(1,))
    await database.write(lambda c: service.await_answer(c, 1, AwaitedAnswer("bio"), NOW))
    assert await database.write(lambda c: service.stop_awaiting(c, 1))
    assert not await database.write(lambda c: service.stop_awaiting(c, 1))


async def test_choosing_a_zone_settles_the_question(database: Database) -> None:
    """A chosen zone is kept, and nobody asks again."""
    await admit(database, PETER, allowed=(2,))
    user = await database.write(lambda c: service.set_zone(c, 2, "Europe/London"))
    assert (user.tz, user.tz_asked) == ("Europe/London", True)
