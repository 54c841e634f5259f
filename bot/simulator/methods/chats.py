"""Chats: their members, and the bot's chat actions."""

from bot.simulator.methods.registry import ChatId, MethodCall, Parameters, method
from bot.simulator.repository import Json
from bot.simulator.server.errors import bad_request
from bot.simulator.telegram import ADMIN_RIGHTS, as_quoted

_ACTIONS = frozenset({
    "typing", "upload_photo", "record_video", "upload_video", "record_voice", "upload_voice", "upload_document",
    "choose_sticker", "find_location", "record_video_note", "upload_video_note",
})  # fmt: skip


class SendChatAction(Parameters):
    chat_id: ChatId = None
    message_thread_id: int | None = None
    action: str = ""


class OfChat(Parameters):
    chat_id: ChatId = None


class OfMember(Parameters):
    chat_id: ChatId = None
    user_id: int | None = None


@method("sendChatAction", SendChatAction)
async def send_chat_action(call: MethodCall, wanted: SendChatAction) -> bool:
    chat = call.telegram.reachable_chat(wanted.chat_id)
    if wanted.action not in _ACTIONS:
        raise bad_request("wrong parameter action in request")
    call.telegram.show_typing(chat["id"], wanted.action)
    return True


@method("getChat", OfChat)
async def get_chat(call: MethodCall, wanted: OfChat) -> Json:
    chat = call.telegram.reachable_chat(wanted.chat_id)
    gifts = dict.fromkeys(
        ("unlimited_gifts", "limited_gifts", "unique_gifts", "premium_subscription", "gifts_from_channels"), False
    )
    pins = call.telegram.pinned(chat["id"])[:1]
    last = {"pinned_message": as_quoted(call.telegram.repository.message(chat["id"], pins[0]) or {})} if pins else {}
    last |= call.telegram.repository.setting(f"full:{chat['id']}", {})
    return {**chat, **last, "accent_color_id": chat["id"] % 7, "max_reaction_count": 11, "accepted_gift_types": gifts}


@method("getChatMemberCount", OfChat)
async def get_chat_member_count(call: MethodCall, wanted: OfChat) -> int:
    """The number of members: two in a private chat, the people and the bot in a group."""
    chat = call.telegram.reachable_chat(wanted.chat_id)
    return 2 if chat["type"] == "private" else len(call.telegram.repository.members(chat["id"])) + 1


@method("getChatMember", OfMember)
async def get_chat_member(call: MethodCall, wanted: OfMember) -> Json:
    chat = call.telegram.reachable_chat(wanted.chat_id)
    return member_of(call, chat, wanted.user_id or 0)


def member_of(call: MethodCall, chat: Json, user_id: int) -> Json:
    """The ChatMember object. Raises Telegram's refusal for an unknown user."""
    user = call.telegram.bot if user_id == call.telegram.bot["id"] else call.telegram.repository.user(user_id)
    if user is None:
        raise bad_request("user not found")
    return {"user": user, **_standing(call, chat["id"], user_id)}


@method("getChatAdministrators", OfChat)
async def get_chat_administrators(call: MethodCall, wanted: OfChat) -> list[Json]:
    chat, repository = call.telegram.reachable_chat(wanted.chat_id), call.telegram.repository
    if chat["type"] == "private":
        raise bad_request("there are no administrators in the private chat")
    return [member_of(call, chat, one) for one in repository.setting(f"admins:{chat['id']}", [])]


def _standing(call: MethodCall, chat_id: int, user_id: int) -> Json:
    """The standing of a user in a chat: the first of its administrators is the creator."""
    repository = call.telegram.repository
    admins: list[int] = repository.setting(f"admins:{chat_id}", [])
    if user_id in admins:
        owns = user_id == admins[0]
        rights = repository.setting(f"member:{chat_id}:{user_id}", {"status": "administrator", **ADMIN_RIGHTS})
        return {"status": "creator", "is_anonymous": False} if owns else rights
    if given := repository.setting(f"member:{chat_id}:{user_id}"):
        return dict(given)
    inside = user_id in (chat_id, call.telegram.bot["id"]) or user_id in repository.members(chat_id)
    return {"status": "member" if inside else "left"}


@method("leaveChat", OfChat)
async def leave_chat(call: MethodCall, wanted: OfChat) -> bool:
    chat = call.telegram.reachable_chat(wanted.chat_id)
    if chat["type"] == "private":
        raise bad_request("chat member status can't be changed in private chats")
    call.telegram.repository.set_standing(chat["id"], "unknown")
    return True
