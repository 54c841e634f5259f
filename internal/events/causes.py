"""Finds the cause of an event by their common turn, run or fragment, which a flow names as a link."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from sqlalchemy import Connection

from internal.events import link_repository
from internal.events.link_repository import CAUSED_BY, refs


@dataclass(frozen=True, slots=True)
class _Step:
    """A rule: earlier events of these types whose link `theirs` equals this event's link `ours` are causes.

    `every`: all of them are causes; otherwise only the newest.
    """

    ours: str
    theirs: str
    types: tuple[str, ...]
    every: bool = False


_SAID: Final = ("message_received", "agent_result", "agent_run_failed", "notification_sent")
_PUBLISHED: Final = ("dialogue_fragment_published", "episode_added")
_BEGUN: Final = ("agent_activity_start",)

_TO_BEGIN: Final = (
    _Step("turn", "turn", ("message_received",), every=True),
    _Step("fragment", "fragment", _PUBLISHED),
    _Step("session", "session", ("session_closed",)),
)
_TO_SEND: Final = (
    _Step("turn", "turn", ("agent_result", "agent_run_failed")),
    _Step("turn", "turn", ("message_received",), every=True),
    _Step("message", "message", _SAID),
    _Step("update", "update", ("command_received", "message_received")),
    _Step("run", "run", ("agent_result", "agent_run_failed")),
    _Step("session", "session", ("session_closed",)),
)
_TO_PUBLISH: Final = (_Step("messages", "message", _SAID, every=True),)
_TO_FORGET: Final = (_Step("forgetting", "forgetting", ("forgetting_asked",)),)
_TO_REACT: Final = (_Step("message", "message", _SAID),)
_TO_EDIT: Final = (_Step("message", "message", ("message_received",)),)
_TO_RESULT: Final = (
    *_TO_FORGET,
    _Step("run", "run", _BEGUN),
    _Step("turn", "turn", _BEGUN),
    _Step("turn", "turn", ("message_received",), every=True),
    _Step("fragment", "fragment", _PUBLISHED),
)

_BEFORE: Final[Mapping[str, tuple[_Step, ...]]] = {
    "message_received": (),
    "message_edited": _TO_EDIT,
    "reaction_received": _TO_REACT,
    "message_sent": _TO_SEND,
    "message_refused": _TO_SEND,
    "agent_activity_start": _TO_BEGIN,
    "dialogue_fragment_published": _TO_PUBLISH,
    "session_closed": _TO_PUBLISH,
    "episode_added": (),
    "command_received": (),
    "forgetting_asked": (),
    "forgetting_undone": _TO_FORGET,
    "forgotten": _TO_FORGET,
}


def with_cause(
    connection: Connection, user_id: int, event_type: str, links: Mapping[str, Any], about: Mapping[str, Any]
) -> dict[str, Any]:
    """The links, with the cause of the event added if it was not given and can be found. `about` helps to find it.

    Steps are tried in order; the first that finds an event decides.
    """
    if links.get(CAUSED_BY):
        return dict(links)
    known = {**about, **links}
    for step in _BEFORE.get(event_type, _TO_RESULT):
        held = [str(ref) for ref in refs(known.get(step.ours))]
        found = link_repository.linking_to(connection, user_id, step.theirs, held, step.types) if held else []
        if found:
            return {**links, CAUSED_BY: _one_or_all(found if step.every else found[-1:])}
    return dict(links)


def also_caused_by(links: Mapping[str, Any], cause: str) -> dict[str, Any]:
    """The links with one more cause, which may be among them already."""
    causes = [str(ref) for ref in refs(links.get(CAUSED_BY))]
    return {**links, CAUSED_BY: _one_or_all(list(dict.fromkeys([*causes, cause])))}


def _one_or_all(found: list[str]) -> str | list[str]:
    return found[0] if len(found) == 1 else found
