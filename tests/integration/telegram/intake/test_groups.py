"""Groups: who is answered there, what is kept, and what never crosses between a group and a private chat."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pytest
from support.interfaces.telegram_stage import MODEL, BotStage, eventually, whole_bot

from bot.telegram.i18n import phrase
from internal.access import disclosure_repository as disclosures, groups, repository as users
from internal.chronicle import repository as chronicle
from internal.config.settings import GroupsConfig
from internal.dialogue import repository as dialogue
from internal.dialogue.model import Message
from internal.testing import ScriptedModel

pytestmark = pytest.mark.asyncio(loop_scope="module")

ON = GroupsConfig(enabled=True)


@dataclass
class Group:
    """A group of the local Telegram with the bot in it."""

    stage: BotStage
    id: int
    name: str
    members: list[int]

    async def say(self, number: int, text: str, *, called: bool = True, **more: Any) -> int:
        """A member's message, with the bot's name before it if it is `called`."""
        words = f"{self.name} {text}" if called else text
        sent = await self.stage.say(self.members[number], words, chat_id=self.id, **more)
        return int(sent["message_id"])

    async def said(self, count: int) -> list[dict[str, Any]]:
        """The bot's messages once there are so many."""

        async def enough() -> list[dict[str, Any]] | None:
            found = await self.stage.bot_messages(self.id)
            return found if len(found) >= count else None

        found: list[dict[str, Any]] = await eventually(enough)
        return found

    async def kept(self) -> list[Message]:
        return await self.stage.read(lambda c: dialogue.recent(c, groups.owner_of(c, self.id), limit=1000))


async def group_of(stage: BotStage, *people: int, **more: Any) -> Group:
    """A new group; its first member made it and is its administrator."""
    body = {"title": "Dacha", "members": list(people), "privacy": False} | more
    chat = await stage.request("POST", "/chats", body)
    bot = (await stage.request("GET", "/state"))["bot"]["username"]
    return Group(stage, chat["id"], f"@{bot}", list(people))


async def quiet(stage: BotStage) -> None:
    """Waits until no update is left to handle."""

    async def none() -> bool:
        pending = (await stage.request("GET", "/state"))["pending_updates"]
        return not pending and all(state != "received" for state, _ in await stage.inbox())

    await eventually(none)


async def test_a_group_is_answered_when_it_calls(stage: BotStage, model: ScriptedModel) -> None:
    """By its name or a reply to it, with a reply; what people say to each other is not kept. Prompts say who speaks."""
    model.always(MODEL, "By the lake.")
    owner, guest = await stage.person(known=False), await stage.add_user("Taras")
    async with whole_bot(stage, model, groups=ON, admit_all=False, allowed=[owner]):
        group = await group_of(stage, owner, guest)
        [hello] = await group.said(1)
        assert group.name in hello["text"]
        await group.say(1, "The keys are under the mat", called=False)
        asked = await group.say(1, "where do we meet?")
        _, answer = await group.said(2)
        await group.say(0, "and when?", called=False, reply_to=answer["message_id"])
        await group.said(3)
        await quiet(stage)
        kept = await group.kept()
    assert (answer["text"], answer["reply_to_message"]["message_id"]) == ("By the lake.", asked)
    assert [m.content for m in kept if m.role == "user"] == ["where do we meet?", "and when?"]
    assert [(m.speaker, m.sender_id) for m in kept if m.role == "user"] == [("Taras", guest), ("Olena", owner)]
    first = model.asked(MODEL)[0].text
    assert "speaker: Taras" in first
    assert "group chat" in first
    assert await stage.read(lambda c: users.find(c, guest)) is None


async def test_a_guest_of_a_group_is_a_stranger_in_private(stage: BotStage, model: ScriptedModel) -> None:
    """Who may ask in a group is no user of the bot, and a group that no user wants gets one line."""
    model.always(MODEL, "Yes.")
    owner, guest = await stage.person(known=False), await stage.add_user("Taras")
    async with whole_bot(stage, model, groups=ON, admit_all=False, allowed=[owner]):
        group = await group_of(stage, owner, guest)
        await group.say(1, "are you there?")
        await group.said(2)
        await stage.say(guest, "Who am I?")
        strangers = await group_of(stage, guest)
        await strangers.say(0, "and here?")
        await strangers.say(0, "hello?")
        [refused] = await strangers.said(1)
        await quiet(stage)
        assert await stage.texts(guest) == [phrase("en", "stranger")]
    assert refused["text"] == phrase("en", "group-not-invited")
    assert len(model.asked(MODEL)) == 1


async def test_private_commands_stay_private(stage: BotStage, model: ScriptedModel) -> None:
    """A group exports nothing and opens no console; its settings belong to its administrators."""
    owner, guest = await stage.person(known=False), await stage.add_user("Taras")
    async with whole_bot(stage, model, groups=ON):
        group = await group_of(stage, owner, guest)
        await group.said(1)
        for command in ("/export", "/console", "/access"):
            await group.say(0, command, called=False)
        *_, export, console, access = await group.said(4)
        await group.say(1, "/language", called=False)
        refused = (await group.said(5))[-1]
        await group.say(0, "/language", called=False)
        offered = (await group.said(6))[-1]
        await group.say(0, "/export@other_bot", called=False)
        await quiet(stage)
        assert len(await group.said(6)) == 6
    assert {export["text"], console["text"], access["text"]} == {phrase("en", "group-command-private")}
    assert refused["text"] == phrase("en", "group-admins-only")
    assert "reply_markup" in offered


async def test_a_group_keeps_its_memory_as_a_supergroup(stage: BotStage, model: ScriptedModel) -> None:
    """And the bot goes on there, though chat and message ids begin again."""
    model.always(MODEL, "Noted.")
    owner = await stage.person(known=False)
    async with whole_bot(stage, model, groups=ON):
        group = await group_of(stage, owner, type="group")
        await group.say(0, "the gate code is 4711")
        await group.said(2)
        await quiet(stage)
        grown = await stage.request("POST", f"/chats/{group.id}/upgrade", {"user_id": owner})
        moved = Group(stage, grown["id"], group.name, group.members)
        await moved.say(0, "what is the gate code?")
        await moved.said(1)
        kept = await moved.kept()
    assert {message.user_id for message in kept} == {group.id}
    assert "4711" in model.asked(MODEL)[-1].text


async def test_a_removed_bot_is_silent_until_it_is_back(stage: BotStage, model: ScriptedModel) -> None:
    """What it knew is there again."""
    model.always(MODEL, "Noted.")
    owner = await stage.person(known=False)
    async with whole_bot(stage, model, groups=ON):
        group = await group_of(stage, owner)
        await group.said(1)
        await stage.request("POST", f"/chats/{group.id}/remove_bot", {"user_id": owner})
        await quiet(stage)
        assert (await stage.read(lambda c: users.get(c, group.id))).state == "paused"
        await stage.request("POST", f"/chats/{group.id}/add_bot", {"user_id": owner})
        await group.said(2)
        await group.say(0, "are you back?")
        assert (await group.said(3))[-1]["text"] == "Noted."


async def test_a_group_listens_only_as_its_administrators_say(stage: BotStage, model: ScriptedModel) -> None:
    """Everybody sees when it begins, and anybody's stop word ends it; what is only heard gets no answer."""
    model.always(MODEL, "Noted.")
    owner, guest = await stage.person(known=False), await stage.add_user("Taras")
    async with whole_bot(stage, model, groups=ON):
        group = await group_of(stage, owner, guest)
        await group.said(1)
        await group.say(1, "/groups listen on", called=False)
        refused = (await group.said(2))[-1]
        await group.say(0, "/groups listen on тихо", called=False)
        public = (await group.said(3))[-1]
        await group.say(1, "the barbecue is on Saturday", called=False)
        await group.say(1, "Так, Тихо!", called=False)
        ended = (await group.said(4))[-1]
        await group.say(1, "nobody may know this", called=False)
        await quiet(stage)
        kept = await group.kept()
    assert refused["text"] == phrase("en", "group-admins-only")
    assert "тихо" in public["text"]
    assert ended["text"] == phrase("en", "group-listens-not")
    assert [(one.content, one.speaker) for one in kept] == [("the barbecue is on Saturday", "Taras")]
    assert not model.asked(MODEL)


async def test_a_group_has_a_budget_and_a_language(stage: BotStage, model: ScriptedModel) -> None:
    """The bot's owner sets what it may ask in a day; beyond it there is one line, in the language of the group."""
    model.always(MODEL, "Noted.")
    owner, guest = await stage.person(known=False, language="uk"), await stage.add_user("Taras", language_code="en")
    async with whole_bot(stage, model, groups=ON):
        await stage.say(owner, "/start")
        group = await group_of(stage, owner, guest)
        await group.said(1)
        await group.say(1, "/groups budget 9 9", called=False)
        await group.said(2)
        await group.say(0, "/groups budget 1 0", called=False)
        card = (await group.said(3))[-1]
        await group.say(1, "one?")
        await group.said(4)
        await group.say(1, "two?")
        used_up = (await group.said(5))[-1]
        await group.say(0, "three?")
        await quiet(stage)
        assert len(await group.said(5)) == 5
    assert "Запитань на день: 1" in card["text"]
    assert used_up["text"] == phrase("uk", "group-budget-messages")


async def test_a_member_takes_back_what_he_said(stage: BotStage, model: ScriptedModel) -> None:
    """/forget me hides his messages, and what quotes them, at once; the others' stay."""
    model.always(MODEL, "Noted.")
    owner, guest = await stage.person(known=False), await stage.add_user("Taras Bulba")
    async with whole_bot(stage, model, groups=ON):
        group = await group_of(stage, owner, guest)
        await group.say(1, "my safe is behind the picture")
        await group.said(2)
        await group.say(0, "we meet at nine")
        await group.said(3)
        await group.say(1, "/forget me", called=False)
        done = (await group.said(4))[-1]
        await group.say(0, "where is the safe?")
        await group.said(5)
        last = model.asked(MODEL)[-1].text
        [[undo]] = done["reply_markup"]["inline_keyboard"]
        body = {"message_id": done["message_id"], "data": undo["callback_data"], "chat_id": group.id}
        for who in (owner, guest):
            assert (await group.said(5))[3]["text"] == done["text"]
            await stage.request("POST", f"/users/{who}/press", body)
            await quiet(stage)

        async def undone() -> bool:
            return bool((await group.said(5))[3]["text"] == phrase("en", "forget-undone"))

        await eventually(undone)
        await stage.say(owner, f"/people{group.name}", chat_id=group.id)
        people = (await group.said(6))[-1]
    assert "Taras Bulba" in done["text"]
    assert "we meet at nine" in last
    assert "behind the picture" not in last
    assert "2 members" in people["text"]


async def test_a_share_is_explicit_and_logged(stage: BotStage, model: ScriptedModel) -> None:
    """From the private chat to a group in which one is a member, and back; nothing else goes along."""
    model.always(MODEL, "Noted.")
    owner, guest = await stage.person(known=False), await stage.add_user("Taras")
    async with whole_bot(stage, model, groups=ON):
        group, alien = await group_of(stage, owner, guest), await group_of(stage, guest, title="Aliens")
        await alien.said(1)
        await stage.say(owner, "Secret: the cake is a lie")
        told = await stage.say(owner, "Petrenko brings the tent")
        await stage.wait_for_message(owner, lambda one: one["text"] == "Noted.")
        await stage.say(owner, "/share", reply_to=told["message_id"])
        offer = await stage.wait_for_message(owner, lambda one: "reply_markup" in one)
        [[button]] = offer["reply_markup"]["inline_keyboard"]
        assert button["text"] == "Dacha"
        await stage.press(owner, offer["message_id"], button["callback_data"])
        shared = (await group.said(2))[-1]
        heard = await group.say(1, "who brings the tent?")
        answer = (await group.said(3))[-1]
        await group.say(0, "/share", called=False, reply_to=heard)
        home = await stage.wait_for_message(owner, lambda one: "Dacha" in one["text"], after=offer["message_id"])
        await stage.say(owner, "/shared")
        listed = await stage.wait_for_message(owner, lambda one: "“" in one["text"], after=home["message_id"])
        logged = await stage.read(lambda c: disclosures.listing(c, owner, limit=9))
        of_the_group = await stage.read(lambda c: disclosures.listing(c, group.id, limit=9))
    assert shared["text"] == "Olena shares: Petrenko brings the tent"
    assert listed["text"].endswith(" · Dacha: “Petrenko brings the tent”")
    assert answer["text"] == "Noted."
    assert "Petrenko" in model.asked(MODEL)[-1].text
    assert "cake" not in model.asked(MODEL)[-1].text
    assert "who brings the tent?" in home["text"]
    assert [(one.kind, one.audience) for one in logged] == [("message", f"group:{group.id}")]
    assert [one.audience for one in of_the_group] == [f"user:{owner}"]


async def test_a_long_share_arrives_whole(stage: BotStage, model: ScriptedModel) -> None:
    """In two messages where Telegram's limit, which counts an emoji twice, asks for it."""
    model.always(MODEL, "Noted.")
    owner, long = await stage.person(known=False), "🎂" * 2_045
    async with whole_bot(stage, model, groups=ON):
        group = await group_of(stage, owner)
        told = await stage.say(owner, long)
        await stage.wait_for_message(owner, lambda one: one["text"] == "Noted.")
        await stage.say(owner, "/share", reply_to=told["message_id"])
        offer = await stage.wait_for_message(owner, lambda one: "reply_markup" in one)
        [[button]] = offer["reply_markup"]["inline_keyboard"]
        await stage.press(owner, offer["message_id"], button["callback_data"])
        shared = (await group.said(3))[-2:]
    assert sum(one["text"].count("🎂") for one in shared) == 2_045


async def test_the_owner_turns_groups_on(stage: BotStage, model: ScriptedModel) -> None:
    """They are off by default; /groups lists them, and switches all or one of them."""
    model.always(MODEL, "Noted.")
    owner, other = await stage.person(known=False), await stage.person(known=False)
    async with whole_bot(stage, model):
        await stage.say(owner, "/start")
        await stage.say(other, "/start")
        await stage.wait_for_message(other, lambda one: True)
        await stage.say(other, "/groups")
        await stage.wait_for_message(other, lambda one: one["text"] == phrase("en", "refused-not_owner"))
        await stage.say(owner, "/groups on")
        listed = await stage.wait_for_message(owner, lambda one: "Groups are on" in one["text"])
        group = await group_of(stage, owner)
        await group.said(1)
        await stage.say(owner, "/groups")
        listed = await stage.wait_for_message(owner, lambda one: "Dacha" in one["text"])
        [_, [off]] = listed["reply_markup"]["inline_keyboard"]
        await stage.press(owner, listed["message_id"], off["callback_data"])
        await stage.say(owner, "/access")
        members = await stage.wait_for_message(owner, lambda one: "Olena" in one["text"], after=listed["message_id"])
        assert "Dacha" not in members["text"]

        async def switched() -> bool:
            return not groups.settings_of(await stage.read(lambda c: users.get(c, group.id))).on

        await eventually(switched)
        await group.say(0, "are you there?")
        await quiet(stage)
    assert not model.asked(MODEL)


async def test_each_member_reacts_for_himself(stage: BotStage, model: ScriptedModel) -> None:
    """In a group the bot hears of reactions as an administrator; one taken back leaves the others'."""
    model.always(MODEL, "By the lake.")
    owner, guest = await stage.person(known=False), await stage.add_user("Taras")
    async with whole_bot(stage, model, groups=ON):
        group = await group_of(stage, owner, guest)
        await stage.request("POST", f"/chats/{group.id}/promote", {"user_id": stage.bot.id})
        await group.say(1, "where do we meet?")
        answer = (await group.said(2))[-1]["message_id"]
        await stage.react(owner, answer, "👍", group.id)
        await stage.react(guest, answer, "👎", group.id)

        async def feedback() -> list[str]:
            sessions = await stage.read(lambda c: chronicle.listing(c, group.id, limit=1))
            found = await stage.read(lambda c: chronicle.events_of_session(c, group.id, sessions[0].id))
            return [one.text for one in found if one.is_reaction]

        async def both() -> bool:
            return await feedback() == ["👍", "👎"]

        await eventually(both)
        await stage.react(owner, answer, "", group.id)

        async def one() -> bool:
            return await feedback() == ["👎"]

        await eventually(one)


async def test_who_listens_shows_it(stage: BotStage, model: ScriptedModel) -> None:
    """The first message that is heard gets 👀, the next ones nothing."""
    owner = await stage.person(known=False)
    async with whole_bot(stage, model, groups=ON):
        group = await group_of(stage, owner)
        await group.said(1)
        await group.say(0, "/groups listen on", called=False)
        await group.said(2)
        first = await group.say(0, "the tent is blue", called=False)
        second = await group.say(0, "and big", called=False)

        async def seen() -> dict[str, str]:
            return await stage.reactions(group.id, first)

        assert await eventually(seen) == {str(stage.bot.id): "👀"}
        await quiet(stage)
        assert await stage.reactions(group.id, second) == {}


@pytest.mark.parametrize("private", [True, False])
async def test_topics_are_dialogues_of_their_own(stage: BotStage, model: ScriptedModel, private: bool) -> None:
    """In a forum and in a private chat: each is answered in its place, from its own talk, over one memory."""
    model.always(MODEL, "Noted.")
    owner = await stage.person(known=False)
    async with whole_bot(stage, model, groups=ON):
        group = await group_of(stage, owner)
        await group.said(1)
        chat, name = (owner, "") if private else (group.id, group.name)
        if private:
            await stage.say(owner, "hello there")
            await stage.wait_for_message(owner, lambda one: True)
        made = [await stage.request("POST", f"/chats/{chat}/topics/new", {"user_id": owner, "name": n}) for n in "AB"]
        first, second = (one["message_thread_id"] for one in made)
        before = len(model.asked(MODEL))
        for thread, text in ((first, "the boat is red"), (second, "which colour?"), (first, "and now?")):
            await stage.say(owner, f"{name} {text}", chat_id=chat, message_thread_id=thread)
            before += 1
            await model.wait_for(MODEL, before)
            await stage.wait_for_message(chat, lambda one, at=thread: one.get("message_thread_id") == at)  # type: ignore[misc]
        *_, in_second, in_first = model.asked(MODEL)
        kept = await stage.read(lambda c: dialogue.recent(c, chat, limit=99))
    assert "the boat is red" not in in_second.text
    assert "the boat is red" in in_first.text
    assert "which colour?" not in in_first.text
    assert {message.thread_id for message in kept if "?" in message.content} == {first, second}
