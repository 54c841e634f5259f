"""What a bot that moderates a group does with Telegram: a table of calls, and what must come of each."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from support.foreign_bots.probes import Probe, Scene


def _of_group(
    about: str, method: str, expected: Callable[[Any], Any] = bool, *, refused: str = "", **more: Any
) -> Probe:
    """A call about the group; `more` are parameters, where "member" and "owner" stand for people."""

    def values(scene: Scene) -> dict[str, Any]:
        people = {"member": scene.member, "owner": scene.user}
        given = {key: value(scene) if callable(value) else value for key, value in more.items()}
        return {"chat_id": scene.group} | {k: people.get(v, v) if isinstance(v, str) else v for k, v in given.items()}

    return Probe(about, method, values, expected, refused)


def _muted(scene: Scene) -> Any:
    return scene.lib("ChatPermissions", can_send_messages=False)


GROUP_PROBES: list[Probe] = [
    _of_group("the administrators", "get_chat_administrators", lambda all_: len(all_) == 2),
    _of_group("a member muted", "restrict_chat_member", user_id="member", permissions=_muted),
    _of_group("who is muted", "get_chat_member", lambda one: one.status == "restricted", user_id="member"),
    _of_group("a member promoted", "promote_chat_member", user_id="member", can_pin_messages=True),
    _of_group("who is promoted", "get_chat_member", lambda one: one.can_pin_messages is True, user_id="member"),
    _of_group("a title of an administrator", "set_chat_administrator_custom_title", user_id="member", custom_title="x"),
    _of_group("an administrator muted", "restrict_chat_member", refused="user is an administrator of the chat",
              user_id="member", permissions=_muted),
    _of_group("a ban", "ban_chat_member", user_id="member"),
    _of_group("who is banned", "get_chat_member", lambda one: one.status == "kicked", user_id="member"),
    _of_group("a ban taken back", "unban_chat_member", user_id="member", only_if_banned=True),
    _of_group("who left", "get_chat_member", lambda one: one.status == "left", user_id="member"),
    _of_group("the owner banned", "ban_chat_member", refused="can't remove chat owner", user_id="owner"),
    _of_group("somebody let in", "approve_chat_join_request", user_id="member"),
    _of_group("let in twice", "approve_chat_join_request", refused="user_already_participant", user_id="member"),
    _of_group("permissions", "set_chat_permissions", permissions=_muted),
    _of_group("a title", "set_chat_title", title="Moderated"),
    _of_group("a description", "set_chat_description", description="about"),
    _of_group("the same description", "set_chat_description", refused="chat description is not modified",
              description="about"),
    _of_group("the whole chat", "get_chat", lambda chat: (chat.title, chat.description) == ("Moderated", "about")),
    _of_group("no photo to delete", "delete_chat_photo", refused="chat_not_modified"),
    _of_group("an invite link", "create_chat_invite_link", lambda link: link.member_limit == 3, member_limit=3),
    _of_group("the first link", "export_chat_invite_link", lambda link: link.startswith("https://t.me/+")),
    _of_group("an unknown link", "revoke_chat_invite_link", refused="invite_hash_expired", invite_link="https://t.me/+x"),
    _of_group("a topic", "create_forum_topic", lambda topic: topic.name == "Tiles", name="Tiles"),
    _of_group("words in it", "send_message", lambda message: message.is_topic_message, text="!",
              message_thread_id=lambda scene: scene.topic),
    _of_group("a topic closed", "close_forum_topic", message_thread_id=lambda scene: scene.topic),
    _of_group("a topic closed twice", "close_forum_topic", refused="topic_not_modified",
              message_thread_id=lambda scene: scene.topic),
    _of_group("a topic deleted", "delete_forum_topic", message_thread_id=lambda scene: scene.topic),
    _of_group("words in no topic", "send_message", refused="message thread not found", text="!",
              message_thread_id=lambda scene: scene.topic),
    _of_group("the General topic hidden", "hide_general_forum_topic"),
    Probe("a ban in private", "ban_chat_member", lambda s: {"user_id": s.user}, refused="supergroup"),
    Probe("an invoice", "send_invoice", lambda s: {
        "title": "t", "description": "d", "currency": "XTR",
        "prices": [s.lib("LabeledPrice", label="x", amount=5)], **(
            {"invoice_payload": "p", "provider_token": None} if s.lib.name == "pyTelegramBotAPI"
            else {"payload": "p"})},
        lambda message: message.invoice.total_amount == 5),
    Probe("an end without a beginning", "send_message", lambda s: {"text": "й</b>", "parse_mode": "HTML"},
          refused="unexpected end tag at byte offset 2"),
    Probe("a wrong end", "send_message", lambda s: {"text": "й<b>x</i>", "parse_mode": "HTML"},
          refused='unmatched end tag at byte offset 6, expected "</b>", found "</i>"'),
    Probe("bold without end", "send_message", lambda s: {"text": "й *b", "parse_mode": "MarkdownV2"},
          refused="can't find end of bold entity at byte offset 3"),
]  # fmt: skip
