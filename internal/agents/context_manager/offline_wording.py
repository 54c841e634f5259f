"""The wording of notifications, and the decisions about them, without a model. Pure."""

from collections.abc import Mapping, Sequence
from datetime import date, datetime, timedelta
from functools import partial
from textwrap import shorten
from typing import Final
from zoneinfo import ZoneInfo

from internal.agents.context_manager.output import Choice, NotificationDecision
from internal.agents.model import Language, WeighingRequest
from internal.agents.offline_phrases import phrase as offline_phrase
from internal.dialogue.notifications.model import Notification, NotificationKind

phrase = partial(offline_phrase, "internal.agents.context_manager")

LATE: Final = timedelta(minutes=10)
"""The delay from which a message states when something was due."""

_QUOTE: Final = 120
"""The most characters of the line in which the owner named a promise."""


def notification_text(one: Notification, language: Language, timezone: str, now: datetime) -> str:
    """The plain text of one notification; a reminder of a promise quotes the line that names it."""
    if one.kind is not NotificationKind.REMINDER:
        return one.text
    text = _with_due("reminder", one, language, timezone, now)
    if (said := one.payload.get("said")) is None:
        return text
    at, quote = (
        datetime.fromisoformat(said[0]).astimezone(ZoneInfo(timezone)),
        shorten(said[1], _QUOTE, placeholder="…"),
    )
    return f"{text}\n{phrase(language, 'said', quote=quote, day=day(at.date(), language))}"


def together_text(several: Sequence[Notification], language: Language, timezone: str, now: datetime) -> str:
    """The text of several notifications in one message, a line each; plain text."""
    lines = [_with_due("line", one, language, timezone, now) for one in several]
    return "\n".join([phrase(language, "together"), *(f"• {line}" for line in lines)])


def clock(moment: datetime, language: Language, timezone: str, now: datetime) -> str:
    """A moment in the form of this language, without the day if that is today."""
    zone = ZoneInfo(timezone)
    local = moment.astimezone(zone)
    if local.date() == now.astimezone(zone).date():
        return f"{local:%H:%M}"
    return f"{day(local.date(), language)}, {local:%H:%M}"


def day(found: date, language: Language) -> str:
    return f"{found:%d.%m}" if language != "en" else f"{found.day} {found:%b}"


def _with_due(key: str, one: Notification, language: Language, timezone: str, now: datetime) -> str:
    due = _due(one, language, timezone, now)
    text = " ".join(one.text.split())
    return phrase(language, f"{key}-late", text=text, due=due) if due else phrase(language, key, text=text)


def _due(one: Notification, language: Language, timezone: str, now: datetime) -> str:
    """The time at which it was due; empty if that is now."""
    due = one.due_at
    if due is None or now - due < LATE:
        return ""
    if one.payload.get("whole_day"):
        local = due.astimezone(ZoneInfo(timezone)).date()
        return "" if local == now.astimezone(ZoneInfo(timezone)).date() else day(local, language)
    return clock(due, language, timezone, now)


QUESTIONS_AT_ONCE: Final = 3
"""Most messages with buttons that are sent at once; the others wait."""

BETWEEN_QUESTIONS: Final = timedelta(minutes=30)


def weigh(request: WeighingRequest) -> dict[str, NotificationDecision]:
    """The decision about each notification, by its id."""
    made: dict[str, NotificationDecision] = {}
    sent: set[tuple[str, str]] = set()
    questions = 0
    for one in request.notifications:
        same = (one.kind.value, " ".join(one.text.casefold().split()))
        if same in sent and not one.kind.fixed:
            made[one.id] = _decided(one, "drop", "twice")
            continue
        sent.add(same)
        questions += one.kind.fixed
        if one.kind.fixed and questions > QUESTIONS_AT_ONCE:
            until = request.now + BETWEEN_QUESTIONS
            made[one.id] = NotificationDecision(one.id, "later", "many", until=until, by_rules=True)
        else:
            made[one.id] = _decided(one, "now", "now")
    return _together(request, made)


def _together(request: WeighingRequest, made: Mapping[str, NotificationDecision]) -> dict[str, NotificationDecision]:
    """Merges several notifications that need no answer into one message."""
    plain = [one for one in request.notifications if not one.kind.fixed and made[one.id].choice == "now"]
    if len(plain) < 2:
        return dict(made)
    return {**made, **{one.id: NotificationDecision(one.id, "merge", "merged", by_rules=True) for one in plain}}


def _decided(one: Notification, choice: Choice, reason: str) -> NotificationDecision:
    return NotificationDecision(one.id, choice, reason, by_rules=True)
