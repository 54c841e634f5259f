"""The outcome of every kind of update and every kind of message that Telegram knows."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Final


class Outcome(StrEnum):
    HANDLED = "handled"
    ANSWERED = "polite answer"
    IGNORED = "ignored"


@dataclass(frozen=True, slots=True)
class KindRule:
    """The outcome of these kinds, with the reason or the effect."""

    outcome: Outcome
    why: str
    kinds: tuple[str, ...]


def _by_kind(*stated: KindRule) -> Mapping[str, KindRule]:
    return {kind: one for one in stated for kind in one.kinds}


BUSINESS: Final = ("business_connection", "business_message", "edited_business_message", "deleted_business_messages")

UPDATES: Final = _by_kind(
    KindRule(Outcome.HANDLED, "stored, answered, and read by the archivist", ("message",)),
    KindRule(Outcome.HANDLED, "the new words replace the old ones, also in what was derived", ("edited_message",)),
    KindRule(Outcome.HANDLED, "the button does what it says", ("callback_query",)),
    KindRule(Outcome.HANDLED, "feedback on exactly that answer", ("message_reaction",)),
    KindRule(Outcome.HANDLED, "a block holds what waits; groups are greeted, channels left", ("my_chat_member",)),
    KindRule(Outcome.HANDLED, "the answer that is being written ends", ("stopped_message_generation",)),
    KindRule(Outcome.HANDLED, "a search in the asking user's memory; somebody unknown gets nothing", ("inline_query",)),
    KindRule(Outcome.IGNORED, "the bot leaves channels", ("channel_post", "edited_channel_post")),
    KindRule(
        Outcome.IGNORED, "the chats of an owner with others are not read, unless `business.enabled`", BUSINESS
    ),
    KindRule(Outcome.IGNORED, "the bot speaks only where it is a member", ("guest_message",)),
    KindRule(Outcome.IGNORED, "a count of reactions does not say whose they are", ("message_reaction_count",)),
    KindRule(Outcome.IGNORED, "the chosen result is a message of its own", ("chosen_inline_result",)),
    KindRule(
        Outcome.IGNORED, "the bot sells nothing",
        ("shipping_query", "pre_checkout_query", "purchased_paid_media", "subscription"),
    ),
    KindRule(Outcome.IGNORED, "the bot asks nothing by polls", ("poll", "poll_answer")),
    KindRule(Outcome.IGNORED, "a member becomes known by his own messages", ("chat_member",)),
    KindRule(Outcome.IGNORED, "the bot lets nobody into chats", ("chat_join_request",)),
    KindRule(Outcome.IGNORED, "boosts are nothing to remember", ("chat_boost", "removed_chat_boost")),
    KindRule(Outcome.IGNORED, "the bot manages no other bots", ("managed_bot",)),
)  # fmt: skip
"""All kinds of updates; Telegram is asked for the handled ones, and others are dropped if they come all the same."""

ALLOWED_UPDATES: Final = tuple(kind for kind, stated in UPDATES.items() if stated.outcome is Outcome.HANDLED)

CONTENTS: Final = _by_kind(
    KindRule(Outcome.HANDLED, "its words are read", ("text", "rich_message", "checklist", "poll", "venue")),
    KindRule(Outcome.HANDLED, "a person to remember", ("contact",)),
    KindRule(
        Outcome.HANDLED, "kept as a file; its words are read as far as a reader, a transcriber or a model is there",
        ("voice", "video_note", "audio", "photo", "document"),
    ),
    KindRule(
        Outcome.ANSWERED, "the caption is read; the bot says what it cannot see",
        (
            "animation", "video", "live_photo", "paid_media", "sticker", "story", "dice", "game", "location",
            "giveaway", "giveaway_winners", "invoice",
        ),
    ),
    KindRule(Outcome.ANSWERED, "newer than this program", ("unknown",)),
    KindRule(
        Outcome.IGNORED, "a service message about a chat",
        (
            "new_chat_members", "left_chat_member", "chat_owner_left", "chat_owner_changed", "new_chat_title",
            "new_chat_photo", "delete_chat_photo", "group_chat_created", "supergroup_chat_created",
            "channel_chat_created", "message_auto_delete_timer_changed", "migrate_to_chat_id", "migrate_from_chat_id",
            "pinned_message", "proximity_alert_triggered", "boost_added", "chat_background_set", "forum_topic_created",
            "forum_topic_edited", "forum_topic_closed", "forum_topic_reopened", "general_forum_topic_hidden",
            "general_forum_topic_unhidden", "video_chat_scheduled", "video_chat_started", "video_chat_ended",
            "video_chat_participants_invited", "checklist_tasks_done", "checklist_tasks_added", "poll_option_added",
            "poll_option_deleted", "community_chat_added", "community_chat_removed", "community_chat_joined",
            "giveaway_created", "giveaway_completed",
        ),
    ),
    KindRule(
        Outcome.IGNORED, "the bot neither sells nor takes anything of value",
        (
            "successful_payment", "refunded_payment", "gift", "unique_gift", "gift_upgrade_sent",
            "direct_message_price_changed", "paid_message_price_changed", "suggested_post_approved",
            "suggested_post_approval_failed", "suggested_post_declined", "suggested_post_paid",
            "suggested_post_refunded",
        ),
    ),
    KindRule(
        Outcome.IGNORED, "the bot never asks for it",
        (
            "users_shared", "user_shared", "chat_shared", "connected_website", "write_access_allowed", "passport_data",
            "web_app_data", "managed_bot_created",
        ),
    ),
)  # fmt: skip
