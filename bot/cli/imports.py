"""`laplaced import`: reads exports in this process and sends their messages to the store in batches."""

from __future__ import annotations

import contextlib
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING
from zoneinfo import ZoneInfo

import click

from bot.application.owner_data import import_agents
from bot.web.admin.imports import IMPORT_PATH, TERMS_PATH, ImportedEpisode, ImportOrder
from internal.errors import NotFound, Refused
from internal.flows.transfer.imports import ImportedDrafts, OwnerTerms
from internal.import_formats import formats
from internal.import_formats.model import EpisodeDraft, ReadOptions, Unreadable
from internal.import_formats.sources import ReportBytes, open_export

if TYPE_CHECKING:
    from bot.web.client import RestClient
    from internal.config.settings import Config
    from internal.flows.transfer.import_estimate import Forecast

BATCH_EPISODES = 20
"""Episodes sent at a time: they are stored in some 50 ms, so that messages do not wait long."""

BATCH_CHARACTERS = 64 << 10

SHOWN_NAMES = 8
"""The most chats and people that are named; the rest are counted."""


@dataclass(frozen=True, slots=True)
class ImportOptions:
    """The options of the command. `price` is US dollars a million tokens."""

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

    def add(self, taken: ImportedDrafts) -> None:
        self.episodes += taken.episodes
        self.messages += taken.messages
        self.known += taken.known
        self.changed += taken.changed


async def run_import(config: Config, options: ImportOptions, rest: RestClient) -> list[str]:
    """Imports, or only counts, and returns the lines to print.

    Raises Unreadable, NotFound and Refused; what was stored before that stays.
    """
    try:
        owner = await rest.post(TERMS_PATH, {"user_id": options.user_id}, OwnerTerms)
    except NotFound as error:
        raise NotFound(f"{error}: name him in access.allowed_user_ids, or let him write to the bot first") from None
    format_ = options.format or _guess_format(options.paths)
    terms = _terms(options, owner)
    done, forecast = _Done(), _forecast(terms) if options.dry_run else None
    with _progress(format_, options.paths) as tell, contextlib.ExitStack() as stack:
        exports = [stack.enter_context(open_export(path, tell)) for path in options.paths]
        try:
            for batch in _batches(formats.drafts(format_, exports, terms)):
                episodes = [ImportedEpisode.of(draft) for draft in batch]
                order = ImportOrder(user_id=options.user_id, dry_run=options.dry_run, episodes=episodes)
                taken = await rest.post(IMPORT_PATH, order.model_dump_json().encode(), ImportedDrafts)
                done.add(taken)
                if forecast is not None:
                    for draft, new in zip(batch, taken.new, strict=True):
                        forecast.add(draft, set(new))
        except Unreadable as error:
            if done.messages and not options.dry_run:
                raise Unreadable(f"{error}; {done.messages} messages before that are imported") from None
            raise
    if forecast is None:
        return _done_lines(config, done, terms)
    return _dry_run_lines(config, options, owner, forecast, done, terms)


def _terms(options: ImportOptions, owner: OwnerTerms) -> ReadOptions:
    zone = ZoneInfo(owner.tz)
    start = options.start
    return ReadOptions(
        owner=options.user_id,
        me=frozenset(name.strip().casefold() for name in options.me),
        zone=zone,
        own_bot=owner.own_bot,
        chats=frozenset(name.strip().casefold() for name in options.chats),
        start=start.replace(tzinfo=zone) if start is not None and start.tzinfo is None else start,
        workspace=options.workspace,
    )


def _guess_format(paths: Sequence[Path]) -> str:
    """The format of all paths. Raises Refused if they have several."""
    found_formats = []
    for path in paths:
        with open_export(path) as export:
            found_formats.append(formats.detect_format(export))
    if len(set(found_formats)) > 1:
        raise Refused(
            "formats", f"these are of several formats ({', '.join(found_formats)}): import one after the other"
        )
    return found_formats[0]


@contextlib.contextmanager
def _progress(format_: str, paths: Sequence[Path]) -> Iterator[ReportBytes]:
    """A progress bar on stderr, by the bytes read, if stderr is a terminal."""
    total = sum(_size(format_, path) for path in paths)
    hidden = not sys.stderr.isatty()
    with click.progressbar(length=max(total, 1), label=f"reading {format_}", file=sys.stderr, hidden=hidden) as bar:
        yield bar.update


def _size(format_: str, path: Path) -> int:
    with open_export(path) as export:
        return formats.bytes_to_read(format_, export)


def _batches(drafts: Iterator[EpisodeDraft]) -> Iterator[list[EpisodeDraft]]:
    """Groups drafts. If reading breaks off, what was read before comes first."""
    batch: list[EpisodeDraft] = []
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


def _forecast(terms: ReadOptions) -> Forecast:
    from internal.flows.transfer.import_estimate import Forecast

    return Forecast(terms.zone)


def _done_lines(config: Config, done: _Done, terms: ReadOptions) -> list[str]:
    lines = [f"{done.messages} messages imported in {done.episodes} episodes", *_left_out_lines(done, terms)]
    if done.episodes and import_agents(config):
        lines.append(f"the archivist reads them in the background, after what is said meanwhile: {done.episodes} calls")
    return lines


def _left_out_lines(done: _Done, terms: ReadOptions) -> list[str]:
    lines = []
    if done.known:
        other = f", {done.changed} of them with other words, which stay as they were" if done.changed else ""
        lines.append(f"{done.known} messages were there before{other}")
    if terms.skipped:
        reasons = ", ".join(f"{count} {reason}" for reason, count in terms.skipped.most_common())
        lines.append(f"{terms.skipped.total()} left out: {reasons}")
    return lines


def _dry_run_lines(
    config: Config, options: ImportOptions, owner: OwnerTerms, forecast: Forecast, done: _Done, terms: ReadOptions
) -> list[str]:
    lines = [f"{done.messages} messages would be imported in {done.episodes} episodes", *_left_out_lines(done, terms)]
    if forecast.first is None or forecast.last is None:
        return lines
    first, last = (f"{at.astimezone(terms.zone):%Y-%m-%d}" for at in (forecast.first, forecast.last))
    lines.append(f"from {first} to {last}; {forecast.own} messages of {owner.name}'s own")
    lines.append(f"chats: {_named(forecast.places)}")
    if forecast.people:
        lines.append(f"people: {_named(forecast.people)}")
    if not forecast.own:
        lines.append("none of it is the owner's own word: tell with --me what he is called there")
    if import_agents(config):
        lines.append(f"the archivist: about {forecast.calls} calls and {_rounded(forecast.tokens)} tokens")
        lines.append(_cost(config, options, owner, forecast))
    return lines


def _named(counts: Counter[str]) -> str:
    shown = [f"{name} {count}" for name, count in counts.most_common(SHOWN_NAMES)]
    rest = len(counts) - len(shown)
    return ", ".join(shown) + (f" and {rest} more" if rest > 0 else "")


def _rounded(tokens: int) -> str:
    return f"{tokens / 1e6:.1f} million" if tokens >= 1e6 else f"{round(tokens, -3):,}"


def _cost(config: Config, options: ImportOptions, owner: OwnerTerms, forecast: Forecast) -> str:
    """The cost at the price given, or at what a token of the archivist has cost so far."""
    if options.price is not None:
        price, source = options.price, "at the price given"
    elif config.offline_models or config.llm.local:
        return f"cost: none, the {'model file answers' if config.llm.local else 'offline models answer'}"
    elif owner.tokens and owner.cost_usd:
        price = owner.cost_usd / owner.tokens * 1e6
        source = f"by its {owner.calls} calls so far (${price:.2f} a million tokens)"
    else:
        return "cost: not known, the archivist has cost nothing yet; --price gives dollars a million tokens"
    cost, limit = forecast.tokens / 1e6 * price, config.access.daily_cost_usd
    days = f"; with access.daily_cost_usd {limit:g} that takes {-(-cost // limit):.0f} days" if 0 < limit < cost else ""
    return f"cost: about ${cost:.2f} {source}{days}"
