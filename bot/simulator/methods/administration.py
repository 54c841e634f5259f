"""The bot's methods as an administrator of a group: members and their rights, invite links, topics, the chat itself."""

import secrets
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Final

from bot.simulator.methods.chats import member_of
from bot.simulator.methods.files import media_object
from bot.simulator.methods.registry import ChatId, JsonObject, MethodCall, Number, method
from bot.simulator.methods.sending import Captioned
from bot.simulator.repository import Json
from bot.simulator.server.errors import bad_request
from bot.simulator.telegram import ADMIN_RIGHTS

_FREE_RIGHTS: Final = (
    "can_send_messages", "can_send_audios", "can_send_documents", "can_send_photos", "can_send_videos",
    "can_send_video_notes", "can_send_voice_notes", "can_send_polls", "can_send_other_messages",
    "can_add_web_page_previews", "can_react_to_messages", "can_edit_tag", "can_change_info", "can_invite_users",
    "can_pin_messages", "can_manage_topics",
)  # fmt: skip
_RESTRICT: Final = "restrict/unrestrict chat member"
_IS_ADMIN: Final = "user is an administrator of the chat"
_OUT: Final = ("left", "kicked")
_MEMBER: Final = {"status": "member"}
_LEFT: Final = {"status": "left"}
_OF_LINK: Final = (
    "name", "expire_date", "member_limit", "creates_join_request", "subscription_period", "subscription_price",
)  # fmt: skip


class OfGroup(Captioned):
    chat_id: ChatId = None
    user_id: int = 0
    message_thread_id: int = 0
    permissions: JsonObject = None
    until_date: Number = 0
    only_if_banned: bool = False
    expire_date: Number = 0
    member_limit: Number = 0
    creates_join_request: bool = False
    icon_color: int = 7322096


Answer = Callable[[MethodCall, OfGroup, Json], Awaitable[Any]]


def _administers(names: str, right: str, answer: Answer, *, private: bool = False) -> None:
    """Registers methods for administrators only; others get Telegram's refusal."""

    async def checked(call: MethodCall, wanted: OfGroup) -> Any:
        chat = call.telegram.reachable_chat(wanted.chat_id)
        if chat["type"] == "private" and not private:
            raise bad_request("method is available for supergroup and channel chats only")
        if not call.telegram.is_admin(chat):
            raise bad_request(f"not enough rights{right and ' to '}{right}")
        with call.telegram.repository.transaction():
            return await answer(call, wanted, chat)

    for name in names.split():
        method(name, OfGroup)(checked)


async def _agree(call: MethodCall, wanted: OfGroup, chat: Json) -> bool:
    return True


def _changes(name: str, right: str, standing: Callable[[OfGroup, Json], Json | None]) -> None:
    """Registers a method that gives a member another `standing` (None: no change); the bot gets `chat_member`."""

    async def answer(call: MethodCall, wanted: OfGroup, chat: Json) -> bool:
        repository, user_id, number = call.telegram.repository, wanted.user_id, chat["id"]
        before = member_of(call, chat, user_id)
        member = standing(wanted, before)
        if user_id == call.telegram.bot["id"] or before["status"] == "creator":
            raise bad_request("can't restrict self" if before["status"] != "creator" else "can't remove chat owner")
        if member is None:
            return True
        if member["status"] == "restricted" and (before["status"] == "administrator" or chat["type"] != "supergroup"):
            basic = chat["type"] != "supergroup"
            raise bad_request("method is available only for supergroups" if basic else _IS_ADMIN)
        others = [one for one in repository.setting(f"admins:{number}", []) if one != user_id]
        repository.set_setting(f"admins:{number}", others + [user_id] * (member["status"] == "administrator"))
        repository.set_setting(f"member:{number}:{user_id}", member)
        (repository.remove_member if member["status"] in _OUT else repository.add_member)(number, user_id)
        news = {"chat": chat, "from": call.telegram.bot, "date": call.telegram.date(), "old_chat_member": before}
        call.telegram.updates.put("chat_member", news | {"new_chat_member": member_of(call, chat, user_id)})
        return True

    _administers(name, right, answer)


def _unbanned(wanted: OfGroup, before: Json) -> Json | None:
    return None if wanted.only_if_banned and before["status"] != "kicked" else _LEFT


def _restricted(wanted: OfGroup, before: Json) -> Json:
    allowed = dict.fromkeys(_FREE_RIGHTS, False) | (wanted.permissions or {})
    limited = {"status": "restricted", "is_member": True, "until_date": wanted.until_date, **allowed}
    return _MEMBER if all(allowed.values()) else limited


def _promoted(wanted: OfGroup, before: Json) -> Json:
    rights = {name: str(wanted.given(name)).lower() == "true" for name in ADMIN_RIGHTS}
    return (
        {"status": "administrator", **rights, "can_be_edited": True} if any(rights.values()) else {"status": "member"}
    )


def _entitled(wanted: OfGroup, before: Json) -> Json:
    if before["status"] != "administrator":
        raise bad_request("user is not an administrator")
    return before | {"custom_title": str(wanted.given("custom_title") or "")}


def _let_in(wanted: OfGroup, before: Json) -> Json:
    if before["status"] not in _OUT:
        raise bad_request("USER_ALREADY_PARTICIPANT")
    return _MEMBER


_administers("banChatSenderChat unbanChatSenderChat", _RESTRICT, _agree)
_administers("declineChatJoinRequest", "invite users", _agree)
_administers("setChatMemberTag", "edit member tags", _agree)
_administers("deleteAllMessageReactions", "delete reactions", _agree)
_changes("banChatMember", _RESTRICT, lambda wanted, _: {"status": "kicked", "until_date": wanted.until_date})
_changes("unbanChatMember", _RESTRICT, _unbanned)
_changes("restrictChatMember", _RESTRICT, _restricted)
_changes("promoteChatMember", "", _promoted)
_changes("setChatAdministratorCustomTitle", "", _entitled)
_changes("approveChatJoinRequest", "invite users", _let_in)


def _links(name: str, change: Mapping[str, bool]) -> None:
    async def answer(call: MethodCall, wanted: OfGroup, chat: Json) -> Any:
        key, url = f"links:{chat['id']}", str(wanted.given("invite_link") or "")
        links: Json = call.telegram.repository.setting(key, {})
        if url not in links and (url or not name.startswith(("export", "create"))):
            raise bad_request("INVITE_HASH_EXPIRED")
        said = {one: value for one in _OF_LINK if (value := getattr(wanted, one, None) or wanted.given(one))}
        url = url or f"https://t.me/+{secrets.token_urlsafe(12)}"
        kept = {"creator": call.telegram.bot, "creates_join_request": False, "is_primary": False, "is_revoked": False}
        links[url] = kept | links.get(url, {}) | {"invite_link": url} | said | change
        call.telegram.repository.set_setting(key, links)
        return url if name.startswith("export") else links[url]

    _administers(name, "manage chat invite link", answer)


_links("exportChatInviteLink", {"is_primary": True})
_links("revokeChatInviteLink", {"is_revoked": True})
for _act in ("create", "edit"):
    _links(f"{_act}ChatInviteLink", {})
    _links(f"{_act}ChatSubscriptionInviteLink", {})


def _sets(name: str, fields: str, right: str, service: str = "") -> None:
    """Registers a method that changes a property of the chat, and writes a service message about it into the chat."""

    async def answer(call: MethodCall, wanted: OfGroup, chat: Json) -> bool:
        key, body = f"full:{chat['id']}", chat
        given: Json = {one: getattr(wanted, one, None) or wanted.given(one) for one in fields.split()}
        full = call.telegram.repository.setting(key, {})
        if "title" in given:
            body = chat | given
            call.telegram.repository.save_chat(body, "member")
        if "photo" in given:
            size = await media_object(call.telegram.repository, call.uploads, "photo", given["photo"], {})
            given = {"photo": {f"{side}_{one}": size[one] for side in ("small", "big")
                               for one in ("file_id", "file_unique_id")}}  # fmt: skip
        if all((chat | full).get(one) == value for one, value in given.items()):
            raise bad_request(f"chat {fields} is not modified")
        call.telegram.repository.set_setting(key, full | given)
        if service:
            call.telegram.bot_message(body, {service: given.get("title", True)})
        return True

    _administers(name, right, answer)


_sets("setChatTitle", "title", "change chat title", "new_chat_title")
_sets("setChatDescription", "description", "set chat description")
_sets("setChatPermissions", "permissions", "change chat permissions")
_sets("setChatPhoto", "photo", "change chat photo")


async def _without_photo(call: MethodCall, wanted: OfGroup, chat: Json) -> bool:
    full = call.telegram.repository.setting(f"full:{chat['id']}", {})
    if full.pop("photo", None) is None:
        raise bad_request("CHAT_NOT_MODIFIED")
    call.telegram.repository.set_setting(f"full:{chat['id']}", full)
    call.telegram.bot_message(chat, {"delete_chat_photo": True})
    return True


async def _begin_topic(call: MethodCall, wanted: OfGroup, chat: Json) -> Json:
    if not chat.get("is_forum") and chat["type"] != "private":
        raise bad_request("the chat is not a forum")
    topic = {"name": str(wanted.given("name") or ""), "icon_color": wanted.icon_color}
    number = call.telegram.bot_message(chat, {"forum_topic_created": topic})["message_id"]
    key = f"topics:{chat['id']}"
    call.telegram.repository.set_setting(key, {**call.telegram.repository.setting(key, {}), str(number): topic["name"]})
    return {"message_thread_id": number, **topic}


def _topic(name: str, service: str = "") -> None:
    """Registers a method about a topic, or about the General one, and its service message in the topic."""

    async def answer(call: MethodCall, wanted: OfGroup, chat: Json) -> bool:
        thread = None if "General" in name else wanted.message_thread_id
        if not chat.get("is_forum") and chat["type"] != "private":
            raise bad_request("the chat is not a forum")
        if thread is not None and not call.telegram.has_thread(chat["id"], thread):
            raise bad_request("message thread not found")
        state, said = f"topic:{chat['id']}:{thread}", {"name": wanted.given("name")} if wanted.given("name") else {}
        if service and call.telegram.repository.setting(state) == [service, said]:
            raise bad_request("TOPIC_NOT_MODIFIED")
        if service:
            call.telegram.repository.set_setting(state, [service, said])
            call.telegram.bot_message(chat, {service: said}, thread_id=thread)
        elif name.startswith("delete"):
            call.telegram.delete_thread(chat["id"], wanted.message_thread_id)
        return True

    _administers(name, "edit the topic", answer, private=True)


_administers("deleteChatPhoto", "change chat photo", _without_photo)
_administers("createForumTopic", "create a topic", _begin_topic, private=True)
for _kind, _word in (("edit", "edited"), ("close", "closed"), ("reopen", "reopened")):
    _topic(f"{_kind}ForumTopic", f"forum_topic_{_word}")
    _topic(f"{_kind}GeneralForumTopic", f"forum_topic_{_word}")
for _kind in ("hide", "unhide"):
    _topic(f"{_kind}GeneralForumTopic", f"general_forum_topic_{_kind.replace('hide', 'hidden')}")
for _name in ("deleteForumTopic", "unpinAllForumTopicMessages", "unpinAllGeneralForumTopicMessages"):
    _topic(_name)
