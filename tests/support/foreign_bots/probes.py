"""What a plain bot does with Telegram: a table of calls, and what must come of each."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

from support.foreign_bots.libraries import Library


def _picture(width: int = 40, height: int = 30) -> bytes:
    def chunk(kind: bytes, body: bytes) -> bytes:
        return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))

    rows = b"".join(b"\0" + b"\x40\x80\xc0" * width for _ in range(height))
    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")


PICTURE = _picture()
SOUND = b"OggS" + bytes(200)


@dataclass
class Scene:
    """Where a probe plays: the library, a person, and messages that the bot sent before."""

    lib: Library
    user: int
    text: int
    photo: int
    photo_id: str
    voice_id: str
    url: str
    live: int
    poll: int
    dice: int
    theirs: int
    callback: str = ""
    inline: str = ""
    group: int = 0
    topic: int = 0
    member: int = 0

    def picture(self) -> Any:
        return self.lib.file("a.png", PICTURE)

    def sound(self) -> Any:
        return self.lib.file("a.ogg", SOUND)


Values = Callable[[Scene], dict[str, Any] | Awaitable[dict[str, Any]]]


@dataclass(frozen=True)
class Probe:
    """One call: its method in the libraries' spelling, its parameters but `chat_id`, and what its result must be."""

    name: str
    method: str
    values: Values
    expected: Callable[[Any], Any] = bool
    refused: str = ""
    to_chat: bool = True

    async def play(self, scene: Scene) -> None:
        """Makes the call; AssertionError if it did something else than it should."""
        values = self.values(scene)
        given = values if isinstance(values, dict) else await values
        call = getattr(scene.lib.bot, self.method)(**({"chat_id": scene.user} if self.to_chat else {}) | given)
        try:
            result = await call
        except Exception as error:  # each library has errors of its own
            if not self.refused or self.refused.lower() not in str(error).lower():
                raise
        else:
            assert not self.refused, result
            assert self.expected(result), result


def _sends(kind: str, **more: Any) -> list[Probe]:
    """The four ways to send a file of one kind: by upload, by id, by address, and a made-up id."""
    method = f"send_{kind}"

    def body(m: Any) -> Any:
        return m.photo[-1] if kind == "photo" else getattr(m, kind)

    name = {"photo": "a.png", "sticker": "a.webp", "voice": "a.ogg", "audio": "a.mp3"}.get(kind, "a.mp4")
    content = PICTURE if kind == "photo" else SOUND

    async def again(s: Scene) -> dict[str, Any]:
        sent = await getattr(s.lib.bot, method)(chat_id=s.user, **{s.lib.parameter(kind): s.lib.file(name, content)})
        return {s.lib.parameter(kind): body(sent).file_id}

    return [
        Probe(f"{method} by upload", method, lambda s: {s.lib.parameter(kind): s.lib.file(name, content), **more},
              lambda m: body(m).file_size == len(content) and body(m).file_unique_id),
        Probe(f"{method} by file_id", method, again, lambda m: body(m).file_size == len(content)),
        Probe(f"{method} by URL", method, lambda s: {s.lib.parameter(kind): s.url},
              lambda m: body(m).file_size == len(PICTURE)),
        Probe(f"{method} of an unknown file", method, lambda s: {s.lib.parameter(kind): "AgACnothing"},
              refused="wrong file identifier"),
    ]  # fmt: skip


PROBES: list[Probe] = [
    # What is sent
    *_sends("photo", caption="*b*", parse_mode="Markdown"), *_sends("audio"), *_sends("document"), *_sends("video"),
    *_sends("animation"), *_sends("voice"), *_sends("video_note"), *_sends("sticker"),
    Probe("an album", "send_media_group", lambda s: {"media": [
        s.lib("InputMediaPhoto", media=s.picture(), caption="one"), s.lib("InputMediaPhoto", media=s.photo_id),
        s.lib("InputMediaPhoto", media=s.url)]},
        lambda sent: len({m.media_group_id for m in sent}) == 1 and [m.caption for m in sent] == ["one", None, None]),
    Probe("a mixed album", "send_media_group", lambda s: {"media": [
        s.lib("InputMediaPhoto", media=s.photo_id), s.lib("InputMediaDocument", media=s.url)]}, refused="can't"),
    Probe("a place", "send_location", lambda s: {"latitude": 50.45, "longitude": 30.52},
          lambda m: abs(m.location.latitude - 50.45) < 1e-5),
    Probe("a place that moves", "send_location", lambda s: {"latitude": 1, "longitude": 2, "live_period": 900},
          lambda m: m.location.latitude == 1),
    Probe("a venue", "send_venue", lambda s: {"latitude": 1, "longitude": 2, "title": "Cafe", "address": "Main 1"},
          lambda m: m.venue.title == "Cafe" and m.location.longitude == 2),
    Probe("a contact", "send_contact", lambda s: {"phone_number": "+380", "first_name": "Іра"},
          lambda m: m.contact.first_name == "Іра"),
    Probe("a dice", "send_dice", lambda s: {"emoji": "🎲"}, lambda m: 1 <= m.dice.value <= 6),
    Probe("a poll", "send_poll", lambda s: {"question": "Tea?", "options": ["yes", "no"], "is_anonymous": False},
          lambda m: [o.text for o in m.poll.options] == ["yes", "no"] and m.poll.is_anonymous is False),
    Probe("a poll with equal options", "send_poll", lambda s: {"question": "Tea?", "options": ["yes", "yes"]},
          refused="POLL_OPTION_DUPLICATE"),
    # Text
    Probe("HTML", "send_message", lambda s: {"text": "<b>a</b> <i>b</i>", "parse_mode": "HTML"},
          lambda m: [e.type for e in m.entities] == ["bold", "italic"]),
    Probe("MarkdownV2", "send_message", lambda s: {"text": "*a* ||b||", "parse_mode": "MarkdownV2"},
          lambda m: [e.type for e in m.entities] == ["bold", "spoiler"]),
    Probe("legacy Markdown", "send_message",
          lambda s: {"text": "*a* _b_ `c` [d](https://e.org)", "parse_mode": "Markdown"},
          lambda m: [e.type for e in m.entities] == ["bold", "italic", "code", "text_link"]),
    Probe("broken Markdown", "send_message", lambda s: {"text": "a *b", "parse_mode": "Markdown"},
          refused="can't parse entities: can't find end of the entity starting at byte offset 2"),
    Probe("a reply keyboard", "send_message", lambda s: {"text": "?", "reply_markup": s.lib.reply_keyboard("Yes")}),
    Probe("a forced reply", "send_message", lambda s: {"text": "?", "reply_markup": s.lib("ForceReply")}),
    Probe("a keyboard taken away", "send_message", lambda s: {
        "text": "?", "reply_markup": s.lib("ReplyKeyboardRemove", **s.lib.flag("remove_keyboard"))}),
    Probe("no link preview", "send_message",
          lambda s: {"text": "https://e.org", "link_preview_options": s.lib("LinkPreviewOptions", is_disabled=True)},
          lambda m: m.link_preview_options.is_disabled),
    Probe("a quote", "send_message",
          lambda s: {"text": "!", "reply_parameters": s.lib("ReplyParameters", message_id=s.theirs, quote="чай")},
          lambda m: m.quote.text == "чай" and m.quote.position == 8 and m.reply_to_message),
    Probe("a quote of other words", "send_message",
          lambda s: {"text": "!", "reply_parameters": s.lib("ReplyParameters", message_id=s.theirs, quote="кава")},
          refused="quote"),
    Probe("protected and silent", "send_message",
          lambda s: {"text": "!", "protect_content": True, "disable_notification": True},
          lambda m: m.has_protected_content),
    Probe("a text that is too long", "send_message", lambda s: {"text": "a" * 4097}, refused="message is too long"),
    Probe("a caption that is too long", "send_photo", lambda s: {"photo": s.photo_id, "caption": "a" * 1025},
          refused="caption is too long"),
    Probe("an unknown chat", "send_message", lambda s: {"text": "?", "chat_id": 987_654}, refused="chat not found"),
    # What is there already
    Probe("a forward", "forward_message", lambda s: {"from_chat_id": s.user, "message_id": s.theirs},
          lambda m: m.forward_origin.sender_user.first_name == "Марія"),
    Probe("forwards", "forward_messages", lambda s: {"from_chat_id": s.user, "message_ids": sorted([s.text, s.photo])},
          lambda ids: len(ids) == 2),
    Probe("a forward of nothing", "forward_message", lambda s: {"from_chat_id": s.user, "message_id": 999_999},
          refused="message to forward not found"),
    Probe("a copy", "copy_message", lambda s: {"from_chat_id": s.user, "message_id": s.photo, "caption": "c"},
          lambda m: m.message_id),
    Probe("copies", "copy_messages", lambda s: {"from_chat_id": s.user, "message_ids": sorted([s.text, s.photo])},
          lambda ids: len(ids) == 2),
    Probe("a pin", "pin_chat_message", lambda s: {"message_id": s.text}),
    Probe("a pin taken off", "unpin_chat_message", lambda s: {"message_id": s.text}),
    Probe("all pins taken off", "unpin_all_chat_messages", lambda s: {}),
    Probe("a reaction", "set_message_reaction",
          lambda s: {"message_id": s.theirs, "reaction": [s.lib("ReactionTypeEmoji", emoji="👍")]}),
    Probe("an unknown reaction", "set_message_reaction",
          lambda s: {"message_id": s.theirs, "reaction": [s.lib("ReactionTypeEmoji", emoji="🥔")]}, refused="reaction"),
    Probe("a text edited", "edit_message_text", lambda s: {"text": "new", "message_id": s.text},
          lambda m: m.text == "new" and m.edit_date),
    Probe("the same text again", "edit_message_text", lambda s: {"text": "new", "message_id": s.text},
          refused="message is not modified"),
    Probe("somebody's text edited", "edit_message_text", lambda s: {"text": "new", "message_id": s.theirs},
          refused="message can't be edited"),
    Probe("a caption edited", "edit_message_caption", lambda s: {"message_id": s.photo, "caption": "new"},
          lambda m: m.caption == "new"),
    Probe("a caption of a text", "edit_message_caption", lambda s: {"message_id": s.text, "caption": "new"},
          refused="there is no caption"),
    Probe("a picture replaced", "edit_message_media", lambda s: {
        "message_id": s.photo, "media": s.lib("InputMediaDocument", media=s.lib.file("b.txt", b"b"), caption="doc")},
        lambda m: m.document.file_name == "b.txt" and not m.photo),
    Probe("buttons replaced", "edit_message_reply_markup", lambda s: {
        "message_id": s.text,
        "reply_markup": s.lib.keyboard([s.lib("InlineKeyboardButton", text="a", callback_data="a")])},
        lambda m: m.reply_markup),
    Probe("a place moved on", "edit_message_live_location",
          lambda s: {"latitude": 3.0, "longitude": 4.0, "message_id": s.live}, lambda m: m.location.latitude == 3.0),
    Probe("a place that stops", "stop_message_live_location", lambda s: {"message_id": s.live}),
    Probe("a poll stopped", "stop_poll", lambda s: {"message_id": s.poll}, lambda poll: poll.is_closed),
    Probe("a poll stopped twice", "stop_poll", lambda s: {"message_id": s.poll}, refused="already been closed"),
    Probe("a text as a poll", "stop_poll", lambda s: {"message_id": s.text}, refused="message is not a poll"),
    Probe("deletion", "delete_message", lambda s: {"message_id": s.theirs}),
    Probe("deletion of nothing", "delete_message", lambda s: {"message_id": 999_999},
          refused="message to delete not found"),
    Probe("deletion of a fresh dice", "delete_message", lambda s: {"message_id": s.dice}, refused="can't be deleted"),
    Probe("deletion of several", "delete_messages", lambda s: {"message_ids": [s.live, 999_999]}),
    Probe("typing", "send_chat_action", lambda s: {"action": "typing"}),
    # Questions and buttons
    Probe("a button answered", "answer_callback_query",
          lambda s: {"callback_query_id": s.callback, "text": "ok", "show_alert": True}, to_chat=False),
    Probe("a button answered too late", "answer_callback_query", lambda s: {"callback_query_id": "1"},
          refused="query is too old", to_chat=False),
    Probe("an inline question answered", "answer_inline_query", lambda s: {
        "inline_query_id": s.inline, "cache_time": 0, "is_personal": True, "results": [
            s.lib("InlineQueryResultArticle", id="1", title="One",
                  input_message_content=s.lib("InputTextMessageContent", message_text="*one*", parse_mode="Markdown")),
            s.lib("InlineQueryResultPhoto", id="2", photo_url=s.url, thumbnail_url=s.url)]}, to_chat=False),
    Probe("an inline question unknown", "answer_inline_query", lambda s: {"inline_query_id": "1", "results": []},
          refused="query is too old", to_chat=False),
    # Chats
    Probe("a chat", "get_chat", lambda s: {}, lambda chat: chat.first_name == "Марія"),
    Probe("a member", "get_chat_member", lambda s: {"user_id": s.user}, lambda one: one.status == "member"),
    Probe("a stranger", "get_chat_member", lambda s: {"user_id": 987_654}, refused="user not found"),
    Probe("how many", "get_chat_member_count", lambda s: {}, lambda count: count == 2),
    Probe("photos of a person", "get_user_profile_photos", lambda s: {"user_id": s.user},
          lambda found: found.total_count == 0, to_chat=False),
    Probe("a file", "get_file", lambda s: {"file_id": s.voice_id}, lambda file: file.file_size == len(SOUND),
          to_chat=False),
    Probe("a file that is none", "get_file", lambda s: {"file_id": "x"}, refused="invalid file_id", to_chat=False),
    # The bot itself
    Probe("itself", "get_me", lambda s: {}, lambda me: me.is_bot and me.supports_inline_queries, to_chat=False),
    Probe("commands set", "set_my_commands", lambda s: {
        "commands": [s.lib("BotCommand", command="go", description="Goes")], "language_code": "uk",
        "scope": s.lib("BotCommandScopeChat", chat_id=s.user)}, to_chat=False),
    Probe("commands", "get_my_commands", lambda s: {
        "language_code": "uk", "scope": s.lib("BotCommandScopeChat", chat_id=s.user)},
        lambda commands: [c.command for c in commands] == ["go"], to_chat=False),
    Probe("commands deleted", "delete_my_commands", lambda s: {
        "language_code": "uk", "scope": s.lib("BotCommandScopeChat", chat_id=s.user)}, to_chat=False),
    Probe("a name", "set_my_name", lambda s: {"name": "Bot"}, to_chat=False),
    Probe("the name", "get_my_name", lambda s: {}, lambda given: given.name == "Bot", to_chat=False),
    Probe("a description", "set_my_description", lambda s: {"description": "d"}, to_chat=False),
    Probe("the description", "get_my_description", lambda s: {}, lambda g: g.description == "d", to_chat=False),
    Probe("a short description", "set_my_short_description", lambda s: {"short_description": "s"}, to_chat=False),
    Probe("the short description", "get_my_short_description", lambda s: {}, lambda g: g.short_description == "s",
          to_chat=False),
    Probe("a menu button", "set_chat_menu_button", lambda s: {"menu_button": s.lib(
        "MenuButtonWebApp", text="Open", web_app=s.lib("WebAppInfo", url="https://e.org"), **(
            {"type": "web_app"} if s.lib.name == "pyTelegramBotAPI" else {}))}),
    Probe("the menu button", "get_chat_menu_button", lambda s: {}, lambda button: button.text == "Open"),
    # What nobody has here
    Probe("stars", "get_my_star_balance", lambda s: {}, lambda stars: stars.amount == 0, to_chat=False),
    Probe("a star refunded", "refund_star_payment", lambda s: {"user_id": s.user, "telegram_payment_charge_id": "x"},
          refused="charge", to_chat=False),
    Probe("a business connection", "get_business_connection", lambda s: {"business_connection_id": "x"},
          refused="business_connection_invalid", to_chat=False),
    # Webhooks, last: they end polling
    Probe("a plain webhook", "set_webhook", lambda s: {"url": "http://e.org/hook"}, refused="https url", to_chat=False),
    Probe("a webhook on a closed port", "set_webhook", lambda s: {"url": "https://e.org:9000/"},
          refused="only on ports", to_chat=False),
    Probe("a webhook with a bad secret", "set_webhook", lambda s: {"url": "https://e.org/", "secret_token": "a b"},
          refused="unallowed characters", to_chat=False),
    Probe("a webhook", "set_webhook", lambda s: {"url": "https://127.0.0.1:9/", "secret_token": "s"}, to_chat=False),
    Probe("updates beside a webhook", "get_updates", lambda s: {}, refused="webhook is active", to_chat=False),
    Probe("the webhook", "get_webhook_info", lambda s: {}, lambda info: info.url.endswith(":9/"), to_chat=False),
    Probe("no webhook", "delete_webhook", lambda s: {"drop_pending_updates": True}, to_chat=False),
    Probe("updates", "get_updates", lambda s: {"timeout": 0}, lambda updates: not updates, to_chat=False),
]  # fmt: skip
