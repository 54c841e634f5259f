"""Memories as text: a line in a list, a card with sources. Markdown in the owner's language."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from bot.telegram.handlers.buttons import (
    FROM_REPLY,
    AnsweredButton,
    Button,
    CorrectMemoryButton,
    ForgetMemoryButton,
    GivenUpButton,
    MemoriesButton,
    MemoryButton,
    MemorySourcesButton,
    ReachedButton,
    ReopenedButton,
    Rows,
    WhyButton,
    button,
)
from bot.telegram.handlers.facts.fact_text import SHOWN_SOURCES, local, quotable, sources_text
from bot.telegram.i18n import label, phrase
from bot.telegram.rendering import escape
from internal.access.model import User
from internal.flows.views.memory import MemoryView, naming_text
from internal.graph.model import Node
from internal.memory.model import INSTRUCTION, NAMING
from internal.recall.prompt.memories import status_of


@dataclass(frozen=True, slots=True)
class MemoryKind:
    """A kind of memory with a command. `current` and `past` are states ("" = none); without them all are listed."""

    letter: str
    command: str
    label: str
    current: tuple[str, ...] = ()
    past: tuple[str, ...] = ()


KINDS: Final[Mapping[str, MemoryKind]] = {
    kind.letter: kind
    for kind in (
        MemoryKind("g", "goals", "Goal", ("active",), ("achieved", "abandoned")),
        MemoryKind("d", "decisions", "Decision"),
        MemoryKind("q", "questions", "Question", ("open", "partial"), ("answered",)),
        MemoryKind("p", "preferences", "Preference", ("",)),
        MemoryKind("i", "instructions", "Preference", ("active",), ("ended",)),
        MemoryKind("m", "memories", "Memory"),
    )
}

_OPEN: Final = ("active", "open")
"""States that a list of open memories does not show."""

_ACTIONS: Final[Mapping[tuple[str, bool], tuple[tuple[str, type[MemoryButton]], ...]]] = {
    ("Goal", True): (("memory-button-reached", ReachedButton), ("memory-button-given-up", GivenUpButton)),
    ("Goal", False): (("memory-button-reopen", ReopenedButton),),
    ("Question", True): (("memory-button-answered", AnsweredButton),),
    ("Question", False): (("memory-button-reopen", ReopenedButton),),
    ("Instruction", True): (("memory-button-ended", GivenUpButton),),
    ("Instruction", False): (("memory-button-holds", ReopenedButton),),
}
"""The actions on an open goal, question or instruction, and on a closed one."""


def _kind_of(node: Node) -> str:
    return "Instruction" if node.properties.get("category") == INSTRUCTION else node.label


def memory_line(user: User, node: Node, *, kind: bool = False) -> str:
    """One line: the text, its state unless obvious, its due date, its date.

    With `kind` also its kind, for lists of several kinds.
    """
    status = status_of(node)
    known = [
        *([label(user.lang, "memory-kind", kind=_kind_of(node))] if kind and node.label != "Memory" else []),
        *([label(user.lang, "memory-status", status=status)] if status and status not in (*_OPEN, "liked") else []),
        *_dates(user, node),
    ]
    return " — ".join((escape(quotable(naming_text(node))), " · ".join(known)))


def memory_text(user: User, card: MemoryView) -> str:
    """A memory with everything known about it."""
    node, lang, properties = card.node, user.lang, card.node.properties
    kind = _kind_of(node)
    status = None if kind == "Instruction" and status_of(node) == "active" else status_of(node)
    standing = [label(lang, "memory-status", status=status)] if status else []
    named = label(lang, "memory-kind", kind=kind)
    lines = [f"**{escape(naming_text(node))}**", " · ".join([named, *standing, *_dates(user, node)])]
    said = [name for name in _SAID if properties.get(name) and (name, kind) != ("category", "Instruction")]
    lines += [phrase(lang, f"memory-{name}", text=quotable(str(properties[name]))) for name in said]
    if kind == "Preference" and properties.get("observations", 1) > 1:
        lines.append(phrase(lang, "memory-observed", count=int(properties["observations"])))
    if not card.held:
        lines.append(phrase(lang, "memory-superseded"))
    if node.owner_set(NAMING[node.label]):
        lines.append(phrase(lang, "fact-owners-word"))
    return "\n".join(lines) + "\n\n" + sources_text(user, card, SHOWN_SOURCES)


_SAID: Final = ("rationale", "outcome", "category", "resolution")


def memory_rows(user: User, card: MemoryView, data: MemoryButton) -> Rows:
    """The actions on a memory, and the way back to where it was opened."""
    lang, node = user.lang, card.node
    way = {"owner": user.user_id, "node": node.id, "origin": data.origin, "back_to": data.back_to}
    is_open = str(node.properties.get("status", "")) in ("active", "open", "partial")
    actions = _ACTIONS.get((_kind_of(node), is_open), ())
    rows: Rows = [[button(label(lang, key), made(**way)) for key, made in actions]] if actions else []
    correct, forget = CorrectMemoryButton(**way), ForgetMemoryButton(**way)
    rows.append(
        [button(label(lang, "fact-button-correct"), correct), button(label(lang, "fact-button-forget"), forget)]
    )
    if len(card.lines) > SHOWN_SOURCES:
        text = label(lang, "fact-button-sources", count=len(card.lines))
        rows.append([button(text, MemorySourcesButton(**way))])
    return [*rows, *_back_button(user, data)]


def back_to_memory(user: User, data: MemoryButton) -> list[Button]:
    to = MemoryButton(owner=user.user_id, node=data.node, origin=data.origin, back_to=data.back_to)
    return [button(label(user.lang, "button-back"), to)]


def _back_button(user: User, data: MemoryButton) -> Rows:
    text = label(user.lang, "button-back")
    if data.back_to == FROM_REPLY and data.origin is not None:
        return [[button(text, WhyButton(owner=user.user_id, reply=data.origin))]]
    kind, rest = data.back_to[:1], data.back_to[1:]
    if kind not in KINDS:
        return []
    page = rest.removeprefix("p")
    number = int(page) if page.isdigit() else 0
    return [[button(text, MemoriesButton(owner=user.user_id, kind=kind, page=number, past=rest.startswith("p")))]]


def _dates(user: User, node: Node) -> list[str]:
    """When a goal is due, and when the memory was decided, answered or said."""
    due, decided = _moment(node, "targetDate"), _moment(node, "date")
    answered = _moment(node, "answeredDate")
    return [
        *([label(user.lang, "memory-due", at=local(user, due))] if due else []),
        *([label(user.lang, "memory-answered-at", at=local(user, answered))] if answered else []),
        label(user.lang, "memory-said-at", at=local(user, decided or node.dated)),
    ]


def _moment(node: Node, name: str) -> datetime | None:
    properties = node.properties.get(name)
    return None if properties is None else datetime.fromisoformat(str(properties))
