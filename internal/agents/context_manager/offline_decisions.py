"""Decides about notifications by rules: sent as they come, several in one message, the same one never twice. Pure.

The rules do not know what goes on: not whether a thing is done, nor whether the moment is a bad one. Their reasons
are keys with phrases in the reader's language; a model's are sentences.
"""

from collections.abc import Mapping
from datetime import timedelta
from typing import Final

from internal.agents.context_manager.output import Choice, Decision
from internal.agents.model import WeighingRequest
from internal.notifications.model import Notification

QUESTIONS_AT_ONCE: Final = 3
"""Messages with buttons sent at once; the others wait."""

BETWEEN_QUESTIONS: Final = timedelta(minutes=30)


def weigh(request: WeighingRequest) -> dict[str, Decision]:
    """The decision about each notification, by its id."""
    made: dict[str, Decision] = {}
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
            made[one.id] = Decision(one.id, "later", "many", until=until, by_rules=True)
        else:
            made[one.id] = _decided(one, "now", "now")
    return _together(request, made)


def _together(request: WeighingRequest, made: Mapping[str, Decision]) -> dict[str, Decision]:
    """Merges what needs no answer into one message where there are several."""
    plain = [one for one in request.notifications if not one.kind.fixed and made[one.id].choice == "now"]
    if len(plain) < 2:
        return dict(made)
    return {**made, **{one.id: Decision(one.id, "merge", "merged", by_rules=True) for one in plain}}


def _decided(one: Notification, choice: Choice, reason: str) -> Decision:
    return Decision(one.id, choice, reason, by_rules=True)
