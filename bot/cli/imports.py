"""`laplaced import`: reads exports in this process, and has what is new in them stored, a batch at a time."""

from __future__ import annotations

import contextlib
import sys
from collections import Counter
from collections.abc import AsyncIterator, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Protocol
from zoneinfo import ZoneInfo

import click

from internal.errors import NotFound, Refused
from internal.import_formats import formats
from internal.import_formats.model import Draft, Terms, Unreadable
from internal.import_formats.sources import Tell, opened
from internal.storage.engine.data_lock import Holder

if TYPE_CHECKING:
    from internal.config import Config
    from internal.flows.transfer.import_estimate import Forecast
    from internal.flows.transfer.imports import OwnerTerms, Taken

BATCH_EPISODES = 20
"""Episodes sent at a time: stored in some 50 ms, so that nobody's message waits long."""

BATCH_CHARACTERS = 64 << 10

SHOWN_NAMES = 8
"""Chats and people named one by one; of the rest the number is told."""


class Importer(Protocol):
    """Stores conversations: the running server, or this process over a stopped one's data."""

    async def terms(self, user_id: int) -> OwnerTerms: ...

    async def take(self, user_id: int, drafts: Sequence[Draft], *, dry_run: bool) -> Taken: ...


@dataclass(frozen=True, slots=True)
class ImportOrder:
    """What the user asked for; see the command's options. `price` is US dollars a million tokens."""

    user_id: int
    paths: tuple[Path, ...]
    format: str | None
    dry_run: bool
    me: tuple[str, ...] = ()
    chats: tuple[str, ...] = ()
    start: datetime | None = None
    workspace: str | None = None
    price: float | None = None


@dataclass(slots=True)
class _Done:
    episodes: int = 0
    messages: int = 0
    known: int = 0
    changed: int = 0

    def add(self, taken: Taken) -> None:
        self.episodes += taken.episodes
        self.messages += taken.messages
        self.known += taken.known
        self.changed += taken.changed


def importing_agents(config: Config) -> list[str]:
    """The agents that work on what is imported."""
    return ["archivist"] if config.agents.archivist.enabled else []


@contextlib.asynccontextmanager
async def open_importing(config: Config, server: Holder | None, *, dry_run: bool = False) -> AsyncIterator[Importer]:
    """Through the running server, or over the data of a stopped one. Raises what `open_as_started` raises.

    `dry_run`: where there is no database none is made; what is asked of it is asked of an empty one.
    """
    if server is not None:
        from bot.web.client import RemoteImporter

        yield RemoteImporter(config, server)
        return
    from bot.application.operations import open_as_started
    from bot.web.http.owners import Owners
    from internal.access import repository as users
    from internal.flows.transfer.imports import Importer as LocalImporting
    from internal.scheduling.store_clock import clock_of

    allowed, open_door = config.access.allowed_user_ids, config.local_telegram

    async def allows(user_id: int) -> bool:
        """Of the local Telegram, which is not there to be asked, the first user is believed to be one of it."""
        return user_id in allowed or (open_door and not await database.read(users.everybody))

    async with open_as_started(config, only_look=dry_run) as database:
        owners = Owners(database, allows, allowed=allowed, open_door=open_door)
        yield LocalImporting(database, await clock_of(database), importing_agents(config), owners)


async def run_import(config: Config, order: ImportOrder, importing: Importer) -> list[str]:
    """Does what was asked, and says what was done. Raises Unreadable, NotFound and Refused; what was stored stays."""
    try:
        owner = await importing.terms(order.user_id)
    except NotFound as error:
        raise NotFound(f"{error}: name him in access.allowed_user_ids, or let him write to the bot first") from None
    format_ = order.format or _guessed(order.paths)
    terms = _terms(order, owner)
    done, forecast = _Done(), _forecast(terms) if order.dry_run else None
    with _progress(format_, order.paths) as tell, contextlib.ExitStack() as stack:
        exports = [stack.enter_context(opened(path, tell)) for path in order.paths]
        try:
            for batch in _batches(formats.drafts(format_, exports, terms)):
                taken = await importing.take(order.user_id, batch, dry_run=order.dry_run)
                done.add(taken)
                if forecast is not None:
                    for draft, new in zip(batch, taken.new, strict=True):
                        forecast.add(draft, set(new))
        except Unreadable as error:
            if done.messages and not order.dry_run:
                raise Unreadable(f"{error}; {done.messages} messages before that are imported") from None
            raise
    if forecast is None:
        return _told(config, done, terms)
    return _foretold(config, order, owner, forecast, done, terms)


def _terms(order: ImportOrder, owner: OwnerTerms) -> Terms:
    zone = ZoneInfo(owner.tz)
    start = order.start
    return Terms(
        owner=order.user_id,
        me=frozenset(name.strip().casefold() for name in order.me),
        zone=zone,
        own_bot=owner.own_bot,
        chats=frozenset(name.strip().casefold() for name in order.chats),
        start=start.replace(tzinfo=zone) if start is not None and start.tzinfo is None else start,
        workspace=order.workspace,
    )


def _guessed(paths: Sequence[Path]) -> str:
    """The one format of all paths. Raises Refused when they are of several."""
    found = []
    for path in paths:
        with opened(path) as export:
            found.append(formats.guess(export))
    if len(set(found)) > 1:
        raise Refused("formats", f"these are of several formats ({', '.join(found)}): import one after the other")
    return found[0]


@contextlib.contextmanager
def _progress(format_: str, paths: Sequence[Path]) -> Iterator[Tell]:
    """A bar on stderr, by the bytes read, where somebody looks at it."""
    total = sum(_size(format_, path) for path in paths)
    hidden = not sys.stderr.isatty()
    with click.progressbar(length=max(total, 1), label=f"reading {format_}", file=sys.stderr, hidden=hidden) as bar:
        yield bar.update


def _size(format_: str, path: Path) -> int:
    with opened(path) as export:
        return formats.bytes_to_read(format_, export)


def _batches(drafts: Iterator[Draft]) -> Iterator[list[Draft]]:
    """Some drafts at a time. Where reading breaks off, what was read before comes first."""
    batch: list[Draft] = []
    size = 0
    try:
        for draft in drafts:
            batch.append(draft)
            size += sum(len(segment.text or "") for segment in draft.segments)
            if len(batch) >= BATCH_EPISODES or size >= BATCH_CHARACTERS:
                yield batch
                batch, size = [], 0
    except Unreadable:
        if batch:
            yield batch
        raise
    if batch:
        yield batch


def _forecast(terms: Terms) -> Forecast:
    from internal.flows.transfer.import_estimate import Forecast

    return Forecast(terms.zone)


def _told(config: Config, done: _Done, terms: Terms) -> list[str]:
    lines = [f"{done.messages} messages imported in {done.episodes} episodes", *_beside(done, terms)]
    if done.episodes and importing_agents(config):
        lines.append(f"the archivist reads them in the background, after what is said meanwhile: {done.episodes} calls")
    return lines


def _beside(done: _Done, terms: Terms) -> list[str]:
    lines = []
    if done.known:
        other = f", {done.changed} of them with other words, which stay as they were" if done.changed else ""
        lines.append(f"{done.known} messages were there before{other}")
    if terms.skipped:
        reasons = ", ".join(f"{count} {reason}" for reason, count in terms.skipped.most_common())
        lines.append(f"{terms.skipped.total()} left out: {reasons}")
    return lines


def _foretold(
    config: Config, order: ImportOrder, owner: OwnerTerms, forecast: Forecast, done: _Done, terms: Terms
) -> list[str]:
    lines = [f"{done.messages} messages would be imported in {done.episodes} episodes", *_beside(done, terms)]
    if forecast.first is None or forecast.last is None:
        return lines
    first, last = (f"{at.astimezone(terms.zone):%Y-%m-%d}" for at in (forecast.first, forecast.last))
    lines.append(f"from {first} to {last}; {forecast.own} messages of {owner.name}'s own")
    lines.append(f"chats: {_named(forecast.places)}")
    if forecast.people:
        lines.append(f"people: {_named(forecast.people)}")
    if not forecast.own:
        lines.append("none of it is the owner's own word: tell with --me what he is called there")
    if importing_agents(config):
        lines.append(f"the archivist: about {forecast.calls} calls and {_rounded(forecast.tokens)} tokens")
        lines.append(_cost(config, order, owner, forecast))
    return lines


def _named(counts: Counter[str]) -> str:
    shown = [f"{name} {count}" for name, count in counts.most_common(SHOWN_NAMES)]
    rest = len(counts) - len(shown)
    return ", ".join(shown) + (f" and {rest} more" if rest > 0 else "")


def _rounded(tokens: int) -> str:
    return f"{tokens / 1e6:.1f} million" if tokens >= 1e6 else f"{round(tokens, -3):,}"


def _cost(config: Config, order: ImportOrder, owner: OwnerTerms, forecast: Forecast) -> str:
    """By the price given, or by what a token of the archivist's has cost so far."""
    if order.price is not None:
        price, source = order.price, "at the price given"
    elif config.offline_models:
        return "cost: none, the offline models answer"
    elif owner.tokens and owner.cost_usd:
        price = owner.cost_usd / owner.tokens * 1e6
        source = f"by its {owner.calls} calls so far (${price:.2f} a million tokens)"
    else:
        return "cost: not known, the archivist has cost nothing yet; --price gives dollars a million tokens"
    cost, limit = forecast.tokens / 1e6 * price, config.access.daily_cost_usd
    days = f"; with access.daily_cost_usd {limit:g} that takes {-(-cost // limit):.0f} days" if 0 < limit < cost else ""
    return f"cost: about ${cost:.2f} {source}{days}"
