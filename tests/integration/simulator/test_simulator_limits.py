"""Telegram's limits and rights: what is too old, too much, unknown or not allowed; and faults in every method."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from support.foreign_bots.probes import PICTURE
from support.interfaces.simulator_stage import Stage

from bot.simulator.methods import METHODS

pytestmark = pytest.mark.asyncio(loop_scope="module")


async def refusal(stage: Stage, method: str, **values: Any) -> str:
    """Telegram's reason without its beginning; empty if the call went well."""
    answer = (await stage.call(method, **values)).json()
    return str(answer.get("description", "")).removeprefix("Bad Request: ")


async def test_faults_can_be_ordered_for_every_method(stage: Stage) -> None:
    """Each method of the Bot API that is offered fails when it is told to."""
    for method in METHODS.values():
        await stage.fault("server_error", method.name)
    answers = [(await stage.call(method.name)).status_code for method in METHODS.values()]
    assert set(answers) == {500}
    assert len(answers) > 110
    assert (await stage.request("GET", "/faults"))["faults"] == []


async def test_after_two_days_nothing_is_deleted(stage: Stage) -> None:
    """A message can be taken back for 48 hours, a dice only after 24, as Telegram has it."""
    user = await stage.person()
    begun = datetime.now(UTC)
    await stage.request("PUT", "/clock", {"now": begun.isoformat()})
    old, dice = await stage.bot.send_message(user, "?"), await stage.bot.send_dice(user)
    gone = {"chat_id": user, "message_id": old.message_id}
    assert await refusal(stage, "deleteMessage", **gone | {"message_id": dice.message_id}) != ""
    await stage.request("PUT", "/clock", {"now": (begun + timedelta(hours=25)).isoformat()})
    assert await refusal(stage, "deleteMessage", **gone | {"message_id": dice.message_id}) == ""
    await stage.request("PUT", "/clock", {"now": (begun + timedelta(hours=48)).isoformat()})
    assert await refusal(stage, "deleteMessage", **gone) == "message can't be deleted for everyone"
    assert await refusal(stage, "editMessageText", **gone, text="!") == ""
    await stage.request("DELETE", "/clock")


async def test_a_thread_must_be_there(stage: Stage) -> None:
    """A bot writes into a thread that somebody began, and into no other."""
    user = await stage.person()
    begun = await stage.say(user, "привіт")
    to = {"chat_id": user, "text": "!"}
    assert await refusal(stage, "sendMessage", **to, message_thread_id=begun["message_id"]) == ""
    assert await refusal(stage, "sendMessage", **to, message_thread_id=999_999) == "message thread not found"


async def test_in_a_group_pins_and_deletions_need_rights(stage: Stage) -> None:
    """A plain member pins nothing and takes back only its own words; an administrator both."""
    user = await stage.person()
    group = int((await stage.request("POST", "/chats", {"title": "Дача", "members": [user], "privacy": False}))["id"])
    said = await stage.say(user, "хто їде?", chat_id=group)
    place = {"chat_id": group, "message_id": said["message_id"]}
    assert "not enough rights" in await refusal(stage, "pinChatMessage", **place)
    assert await refusal(stage, "deleteMessage", **place) == "message can't be deleted"
    bot = (await stage.bot.get_me()).id
    await stage.request("POST", f"/chats/{group}/promote", {"user_id": bot})
    assert await refusal(stage, "pinChatMessage", **place) == ""
    assert (await stage.call("getChat", chat_id=group)).json()["result"]["pinned_message"]["text"] == "хто їде?"
    assert await refusal(stage, "deleteMessage", **place) == ""


async def test_inline_results_become_messages(stage: Stage) -> None:
    """A picture by address is fetched when it is chosen; a message with buttons can be edited by the bot."""
    user = await stage.person()
    upload = await stage.http.post(
        f"/bot{stage.local.token}/sendPhoto", data={"chat_id": user}, files={"photo": ("a.png", PICTURE, "image/png")}
    )
    file_id = upload.json()["result"]["photo"][-1]["file_id"]
    path = (await stage.call("getFile", file_id=file_id)).json()["result"]["file_path"]
    url = f"{stage.local.url}/file/bot{stage.local.token}/{path}"
    content = {"latitude": 50.4, "longitude": 30.5, "live_period": 900}
    buttons = {"inline_keyboard": [[{"text": "далі", "callback_data": "x"}]]}
    place = {"type": "location", "id": "2", "title": "Київ", **content, "reply_markup": buttons}
    photo = {"type": "photo", "id": "1", "photo_url": url, "thumbnail_url": url, "caption": "*сад*"}
    results = [photo | {"parse_mode": "Markdown"}, place]
    query = await stage.ask_inline(user, "сад")
    assert await refusal(stage, "answerInlineQuery", inline_query_id=query, results=[place, place]) == (
        "RESULT_ID_DUPLICATE"
    )
    assert await refusal(stage, "answerInlineQuery", inline_query_id=query, results=results) == ""
    first = await stage.request("POST", f"/inline/{query}/1")
    assert (first["caption"], first["photo"][-1]["width"]) == ("сад", 40)
    await stage.request("POST", f"/inline/{query}/2")
    updates = await stage.take_updates()
    chosen = [update.chosen_inline_result for update in updates if update.chosen_inline_result]
    assert [one.result_id for one in chosen] == ["1", "2"]
    moved = {"inline_message_id": chosen[1].inline_message_id, "latitude": 51, "longitude": 31}
    assert await refusal(stage, "editMessageLiveLocation", **moved) == ""
    assert (await stage.messages(user))[-1]["location"]["latitude"] == 51
    assert await refusal(stage, "editMessageCaption", inline_message_id="eHg=", caption="?") == "MESSAGE_ID_INVALID"


async def test_votes_are_counted(stage: Stage) -> None:
    """Each person has one vote, which can be changed; the bot hears who voted where the poll is open."""
    user = await stage.person()
    asked = {"chat_id": user, "question": "Чай?", "options": ["так", "ні"], "is_anonymous": False}
    poll = (await stage.call("sendPoll", **asked)).json()["result"]
    for option in (0, 1):
        vote = {"message_id": poll["message_id"], "options": [option]}
        counted = await stage.request("POST", f"/users/{user}/vote", vote)
    assert [one["voter_count"] for one in counted["options"]] == [0, 1]
    answers = [update.poll_answer for update in await stage.take_updates() if update.poll_answer]
    assert [one.option_ids for one in answers] == [[0], [1]]


async def test_the_menu_of_a_group_is_its_own(stage: Stage) -> None:
    """The nearest scope wins: administrators, then all of this group, then all groups."""
    user, other = await stage.person(), await stage.person()
    members = {"title": "Дача", "members": [user, other]}
    group = int((await stage.request("POST", "/chats", members))["id"])

    async def menu(who: int) -> list[str]:
        screen = await stage.request("GET", f"/users/{who}/screen", chat_id=group)
        return [one["command"] for one in screen["commands"]]

    for scope, name in (
        ({"type": "all_group_chats"}, "all"),
        ({"type": "chat", "chat_id": group}, "here"),
        ({"type": "chat_administrators", "chat_id": group}, "admin"),
    ):
        await stage.call("setMyCommands", scope=scope, commands=[{"command": name, "description": "d"}])
    assert (await menu(user), await menu(other)) == (["admin"], ["here"])
