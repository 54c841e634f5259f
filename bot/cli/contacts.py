"""`laplaced import contacts.vcf`: shows the outcome for each contact, and imports them."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from bot.cli.base import command, command_group, load
from internal.import_formats.google_contacts import is_google_csv
from internal.import_formats.vcard import decoded, is_vcard

if TYPE_CHECKING:
    from internal.config.settings import Config
    from internal.flows.contacts.review import ImportReport, Reviewed
    from internal.flows.contacts.sync import SyncReport

_BEGINNING: Final = 4096


@command_group("laplaced carddav sync --config config.yaml")
def carddav() -> None:
    """The address book on a CardDAV server."""


@command("laplaced carddav sync --config config.yaml", carddav)
def sync(config_path: Path | None) -> None:
    """Compare the people with the configured address book now, both ways. Nothing is deleted on either side."""
    report = asyncio.run(_sync(load(config_path)))
    if report.failed:
        raise click.ClickException(f"the server of the address book cannot be used: {report.failed}")
    names = {
        "came": "new here", "updated": "completed here", "sent": "new there", "rewritten": "completed there",
        "conflicts": "changed on both sides, again at the next time", "gone": "removed there, kept here",
    }  # fmt: skip
    counted = [f"{count} {words}" for name, words in names.items() if (count := getattr(report, name))]
    click.echo(", ".join(counted) or "nothing has changed")


async def _sync(config: Config) -> SyncReport:
    from bot.application.rest import open_rest
    from bot.web.people.contacts import SYNC_PATH
    from internal.flows.contacts.sync import SyncReport

    async with open_rest(config) as rest:
        return await rest.post(SYNC_PATH, {}, SyncReport)


def is_contacts(path: Path) -> bool:
    """Whether a file begins as vCards or Google's CSV of contacts do."""
    try:
        with path.open("rb") as file:
            head = decoded(file.read(_BEGINNING))
    except OSError:
        return False
    return is_vcard(head) or is_google_csv(head)


async def run_import(config: Config, user_id: int, paths: Sequence[Path], *, dry_run: bool) -> list[str]:
    """Imports files of contacts. Returns the lines to print. Raises Unreadable, NotFound and Refused."""
    from bot.application.rest import open_rest
    from bot.web.people.contacts import IMPORT_PATH
    from internal.errors import Refused
    from internal.flows.contacts.review import ImportReport

    lines: list[str] = []
    async with open_rest(config, "started") as rest:
        for path in paths:
            try:
                content = decoded(path.read_bytes())
            except OSError as error:
                raise Refused("paths", f"{path} cannot be read: {error.strerror}") from None
            order = {"user_id": user_id, "content": content, "source": path.name, "dry_run": dry_run}
            lines += report_lines(await rest.post(IMPORT_PATH, order, ImportReport))
    return lines


def report_lines(report: ImportReport) -> list[str]:
    """A line for each contact that changes something, then the counts."""
    width = max((len(one.name) for one in report.reviewed), default=0)
    shown = [one for one in report.reviewed if one.outcome != "same"] if report.dry_run else []
    counts = {"new": report.count("new"), "updated": report.count("updated"), "known already": report.count("same")}
    counts["left out"] = report.count("forgotten", "self", "nameless", "refused")
    counted = ", ".join(f"{count} {what}" for what, count in counts.items() if count) or "no contacts"
    lines = [f"{one.name:<{min(width, 40)}}  {_becomes(one)}" for one in shown]
    return [*lines, f"would be: {counted}" if report.dry_run else counted]


def _becomes(one: Reviewed) -> str:
    match one.outcome:
        case "new":
            perhaps = f" (perhaps {', '.join(one.perhaps)}: you will be asked)" if one.perhaps else ""
            return f"new{perhaps}{': ' * bool(one.adds)}{'; '.join(one.adds)}"
        case "updated":
            return f"adds to {one.person} (same {one.reason}): {'; '.join(one.adds) or one.name}"
        case "forgotten":
            return "left out: you had it forgotten"
        case "self":
            return "left out: it is you"
        case "nameless":
            return "left out: a company, a group, or nobody's name"
    return one.outcome
