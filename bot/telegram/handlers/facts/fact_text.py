"""Facts as text: a line in a list, a card with sources, versions. Markdown in the owner's language."""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import NamedTuple, Protocol
from urllib.parse import quote
from zoneinfo import ZoneInfo

from sqlalchemy import Connection

from bot.telegram.handlers.buttons import Button
from bot.telegram.i18n import day, label, phrase
from bot.telegram.rendering import escape
from internal.access.model import User
from internal.dialogue.model import Message
from internal.knowledge import service as knowledge
from internal.knowledge.model import Citation, Episode, EvidenceLine, Fact
from internal.language.text.spelling import with_signs, without_attachments

LINE = 220
"""The most characters of a fact in a list: eight of them fit one message."""

QUOTE = 400
"""The most characters of a quote: the words that support a fact, not the whole of a long message."""

SHOWN_SOURCES = 3
LISTED_SOURCES = 8
"""The most quotes on a card, and in the list of all sources; either fits one message."""

LISTED_VERSIONS = 8

_UNSAFE = ":/?#[]@!&'*+,;=%~._-"
"""Characters that stay unchanged in a link; brackets and spaces would end it in Markdown."""


@dataclass(frozen=True, slots=True)
class Card:
    """A fact with everything shown about it."""

    fact: Fact
    lines: Sequence[EvidenceLine]
    citations: Sequence[Citation]
    versions: Sequence[Fact]
    disputed: bool

    @property
    def newest(self) -> Fact:
        return self.versions[-1]


def read_card(connection: Connection, user_id: int, fact_id: str) -> Card:
    """The card of a fact. Raises NotFound if it is gone or being forgotten."""
    fact = knowledge.fact(connection, user_id, fact_id)
    return Card(
        fact=fact,
        lines=knowledge.evidence_of_fact(connection, user_id, fact_id),
        citations=knowledge.citations_of_facts(connection, user_id, [fact_id]).get(fact_id, []),
        versions=knowledge.history(connection, user_id, fact_id),
        disputed=any(fact_id in one.facts for one in knowledge.open_contradictions(connection, user_id)),
    )


def local(user: User, moment: datetime) -> datetime:
    return moment.astimezone(ZoneInfo(user.tz))


def period_text(user: User, fact: Fact) -> str:
    """The period in which a fact is true, in words that need no escaping; empty if neither end is known."""
    spans = fact.valid_at is not None and fact.valid_stated and fact.invalid_at is not None
    until = fact.invalid_at and day(user.lang, local(user, fact.invalid_at), fact.invalid_precision, alone=spans)
    if fact.valid_at is None:
        return label(user.lang, "when-open-until", until=until) if until else ""
    key = "when-since" if fact.valid_stated else "when-said"
    since = day(user.lang, local(user, fact.valid_at), fact.valid_precision, alone=spans)
    if until is None:
        return label(user.lang, key, since=since)
    return label(user.lang, f"{key}-until", since=since, until=until)


def fact_line(user: User, fact: Fact, *, apart: bool = False) -> str:
    """One line: the fact and its dates. `apart` adds the other end, if another fact has the same text."""
    dates, words = period_text(user, fact), escape(quotable(fact.fact))
    if apart and fact.target_name:
        words = f"{words} ({escape(shorten(fact.target_name, LINE))})"
    return f"{words} — {dates}" if dates else words


def fact_lines(user: User, facts: Sequence[Fact]) -> list[str]:
    """A line for each fact; if one sentence states several, each line ends with what it is about."""
    count = Counter(fact.fact for fact in facts)
    return [fact_line(user, fact, apart=count[fact.fact] > 1) for fact in facts]


def quotable(text: str) -> str:
    """The text shortened and without a final full stop, for use inside a sentence."""
    return shorten(text, LINE).removesuffix(".")


def numbered(lines: Sequence[str], first: int = 1) -> str:
    """The lines with the numbers of the buttons below."""
    return "\n".join(f"{number}\\. {line}" for number, line in enumerate(lines, start=first))


def card_text(user: User, card: Card) -> str:
    fact, lang = card.fact, user.lang
    lines = [f"**{escape(fact.fact)}**", _sentence(period_text(user, fact) or label(lang, "when-open"))]
    lines += _warnings(user, card)
    if fact.set_by == "owner":
        lines.append(phrase(lang, "fact-owners-word"))
    if fact.original_fact and fact.original_fact != fact.fact:
        lines.append(phrase(lang, "fact-before", text=quotable(fact.original_fact)))
    if fact.update_reason:
        lines.append(phrase(lang, "fact-reason", reason=shorten(fact.update_reason, LINE)))
    return "\n".join(lines) + "\n\n" + fact_sources(user, card, SHOWN_SOURCES)


def _warnings(user: User, card: Card) -> list[str]:
    """What a reader must know before believing the fact."""
    if card.disputed:
        return [phrase(user.lang, "fact-disputed")]
    if card.fact.expired_at is None:
        return []
    key = "fact-withdrawn" if card.newest.id == card.fact.id else "fact-replaced"
    return [phrase(user.lang, key, at=local(user, card.fact.expired_at))]


class Sourced(Protocol):
    """Something that is supported by lines of episodes."""

    @property
    def lines(self) -> Sequence[EvidenceLine]: ...

    @property
    def citations(self) -> Sequence[Citation]: ...


class SourceLines(NamedTuple):
    """The lines that support something without citations."""

    lines: Sequence[EvidenceLine]
    citations: Sequence[Citation] = ()


def fact_sources(user: User, card: Card, limit: int) -> str:
    """Like `sources_text`, but a corrected fact begins with the correction; older lines are marked as the earlier
    version's, as they may contradict it.
    """
    fact = card.fact
    if fact.set_by != "owner" or fact.original_fact in (None, fact.fact):
        return sources_text(user, card, limit)
    said = phrase(user.lang, "source-quote", text=shorten(fact.fact, QUOTE))
    own = f"> {said}\n> — {phrase(user.lang, 'source-own', at=local(user, fact.created_at))}"
    since = [line for line in card.lines if line.at > fact.created_at]
    again = {line.episode_id for line in since}
    cited = [one for one in card.citations if one.episode_uuid not in again]
    earlier = replace(card, lines=[line for line in card.lines if line not in since], citations=cited)
    own = "\n\n".join([own, *(_source(user, line, None) for line in since[:limit])])
    before = [sources_text(user, earlier, limit, "fact-sources-before")] if earlier.lines or cited else []
    return "\n\n".join([f"{phrase(user.lang, 'fact-sources')}\n{own}", *before])


def sources_text(user: User, card: Sourced, limit: int, title: str | None = None) -> str:
    """The first quotes with speaker, time and link; a source without lines is named by its episode."""
    names = {one.episode_uuid: one for one in card.citations if one.source != "message"}
    quoted = [_source(user, line, names.get(line.episode_id)) for line in card.lines[:limit]]
    shown = {line.episode_id for line in card.lines}
    quoted += [_episode_text(user, one) for one in names.values() if one.episode_uuid not in shown][
        : limit - len(quoted)
    ]
    if not quoted:
        return phrase(user.lang, "fact-sources-none")
    heading = phrase(user.lang, title or ("fact-sources-all" if limit > SHOWN_SOURCES else "fact-sources"))
    more = len(card.lines) - limit
    rest = [phrase(user.lang, "fact-sources-more", count=more)] if more > 0 else []
    return "\n".join([heading, "\n\n".join(quoted), *rest])


def _source(user: User, line: EvidenceLine, episode: Citation | None) -> str:
    url = line.telegram_link or line.url or (episode.source_url if episode else None)
    named = [escape(episode.episode_name)] if episode else []
    said = phrase(user.lang, "source-quote", text=shorten(line.quote, QUOTE))
    return f"> {said}\n> — {' · '.join([_speaker_text(user, line), *named, *_link(user, url)])}"


def _episode_text(user: User, episode: Citation) -> str:
    dated = [phrase(user.lang, "source-text", at=local(user, episode.created_at))] if episode.created_at else []
    return f"> {' · '.join([escape(episode.episode_name), *dated, *_link(user, episode.source_url)])}"


def message_line(user: User, said: Message) -> str:
    """One line: a past message in quotation marks, with its author and time."""
    words, (key, whose) = phrase(user.lang, "source-quote", text=quotable(said.content)), source_of(said)
    return f"{words} — {phrase(user.lang, key, at=local(user, said.timestamp), **whose)}"


def source_of(said: Message) -> tuple[str, dict[str, str]]:
    """The key of the phrase for the author of a message, and its values except `at`."""
    if said.role == "assistant":
        return "source-assistant", {}
    if said.forward is not None:
        return "source-forward", {"from": said.forward.name}
    if said.speaker:
        return "source-speaker", {"speaker": said.speaker}
    return _own_source(said.content), {}


def _own_source(text: str) -> str:
    """The name of the owner's message as a source: his words, or what he sent without any."""
    return "source-own" if without_attachments(text).strip() else "source-sent"


def episode_line(user: User, episode: Episode) -> str:
    """One line: the name of an imported text, its date and a link."""
    dated = phrase(user.lang, "source-text", at=local(user, episode.reference_time))
    return " · ".join([escape(episode.name), dated, *_link(user, episode.source_url)])


def _speaker_text(user: User, line: EvidenceLine) -> str:
    at = local(user, line.at)
    if line.message_id is not None and line.forwarded_from is None and line.speaker in (None, user.name):
        return phrase(user.lang, _own_source(line.quote), at=at)
    if line.forwarded_from is not None:
        if line.message_id is not None or line.speaker is None:
            return phrase(user.lang, "source-forward", **{"from": line.forwarded_from}, at=at)
        return phrase(user.lang, "source-speaker-forward", speaker=line.speaker, **{"from": line.forwarded_from}, at=at)
    if line.speaker is not None:
        return phrase(user.lang, "source-speaker", speaker=line.speaker, at=at)
    return phrase(user.lang, "source-text", at=at)


def _link(user: User, url: str | None) -> list[str]:
    if url is None or not re.match(r"https?://", url):
        return []
    return [f"[{label(user.lang, 'source-open')}]({quote(url, safe=_UNSAFE)})"]


def versions_text(user: User, card: Card) -> str:
    """The versions with when and by whom each was recorded, oldest first; of very many, the newest."""
    lines = [_version(user, one) for one in card.versions[-LISTED_VERSIONS:]]
    return phrase(user.lang, "fact-versions") + "\n" + "\n\n".join(lines)


def _version(user: User, fact: Fact) -> str:
    key = "version-owners" if fact.set_by == "owner" else "version-recorded"
    lines = [f"{escape(quotable(fact.fact))} — {phrase(user.lang, key, at=local(user, fact.created_at))}"]
    if fact.update_reason:
        lines.append(phrase(user.lang, "fact-reason", reason=shorten(fact.update_reason, LINE)))
    return "\n".join(lines)


def number_rows(buttons: Sequence[Button], width: int = 4) -> list[list[Button]]:
    """Numbered buttons in rows of one length."""
    return [list(buttons[start : start + width]) for start in range(0, len(buttons), width)]


def shorten(text: str, length: int) -> str:
    """The first `length` characters at most, cut at the end of a word if one is near."""
    text = " ".join(with_signs(text).split())
    if len(text) <= length:
        return text
    short = text[: length - 1]
    return short[: max(short.rfind(" "), length // 2)].rstrip(" ,;:.—-") + "…"


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:]
