"""Writes docs/reliability.md from what the torture run recorded. What an earlier page tells beyond that stays."""

from __future__ import annotations

import argparse
import itertools
import sys
from collections import defaultdict
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from support.faults.fault_record import records

Json = dict[str, Any]
Row = list[str]

KILLS, FLEET, FAULTS, CANARIES = "kills", "fleet", "faults", "canaries"
"""The files of records: one line a batch of kills, of one process or of several; one line a fault test; one a run."""

ALL = "all"
_SERIES = ("date", "commit", "seed", "runs", "kills", "at start", "at stop", "by webhook", "passed")

_OF_FLEET = ("date", "commit", "seed", "workers", "kills", "cuts", "restarts", "passed")

_OF_CANARIES = ("date", "commit", "chats", "turns", "prompts", "looks", "crossed")

KINDS = {
    "kill": "Kills at the commit points",
    "model": "Faults of the model",
    "telegram": "Faults of Telegram",
    "storage": "Faults of disk, database and clock",
    "load": "Load",
}

HEAD = """\
# Reliability

For everybody who wants to know whether messages get lost. `make torture` writes this page from its own records: every
figure was counted. [What happens to a message](processing.md) says how the promise is kept.
"""

RANDOM = """
## Killed at random moments

The real bot (`laplaced run`) runs between the local Telegram and a scripted model server, both of which keep running.
Twelve people write in three languages: messages, bursts, albums, edits, commands. In each run the bot is killed by
SIGKILL and started again 50 times: at a random moment of its first three seconds (where starts are slow, of four times
a start), or, a tenth of the times, while it is stopping. Then it comes to rest. Its database is compared with a ledger
that the people and the model kept, and with the messages that Telegram delivered. In a quarter of the runs Telegram
calls the bot (*by webhook*); in the others the bot polls. A kill ends the process, not the machine. That a commit
survives a power cut depends on `synchronous=FULL` and is not shown here.

A row is one series of such runs on one commit. *At start* and *at stop* are the kills before it was ready and while it
stopped. *Lost*, *doubled* and *out of order* count messages that Telegram had accepted. *Operations* are people that
the archivist named, *mentions* how often one friend of each person was counted.
"""

WINDOW = """
Between "the request is going out" and "Telegram has it" nobody can know whether a reply was delivered. If the bot is
killed there, it waits, sends once more, and gives up if that is interrupted as well. *Interrupted* counts the replies
that were being sent at a kill, *doubled in it* those that the reader got twice. *Given up* counts those that were
interrupted twice and are shown as failed, *never came* those of them that the reader never got. An *apology* replaces
an answer that was killed at each of its attempts.
"""

WORKERS = """
## Several processes on one PostgreSQL

`laplaced run` and three processes of `laplaced worker` share one store, through pgbouncer in transaction mode.
The same people write to them. At random moments one of the four is killed by SIGKILL and started again, each connection
to the database is cut with a chance of one half (*cuts*), or PostgreSQL is stopped and started again (*restarts*).
Then all processes come to rest and are stopped. `laplaced migrate-store` moves the store into a file and compares both
sides, and the file is checked as above. A row is one series on one commit.
"""

BY_HAND = """
## Faults placed by hand

Each line is a test of `tests/faults/` that drives the running bot; *cases* counts its variants. `make torture` runs
all variants, `make test` some of them. A release first runs `make test-long` ([testing.md](testing.md)).
"""

SIDES = """
## Canaries

Three people write to the real bot in three languages, in private, in groups and in topics of both (*chats*). They tell
it words that occur nowhere else, and ask for them. Another owner's word may stand in no answer (*turns*), in no request
to a model (*prompts*), and in nothing that inline search and the pages of the Mini App show (*looks*); *crossed* counts
those where one does. The test is `tests/acceptance/test_canaries_everywhere.py`; a row is one run of its long form.
"""

_BROKEN = "Not as promised:"
_MEASURES = (
    ("messages", "messages"),
    ("lost", "lost"),
    ("doubled", "doubled"),
    ("out_of_order", "out of order"),
    ("replies", "replies"),
    ("replies_lost", "lost"),
    ("replies_doubled_outside", "doubled"),
    ("operations", "operations"),
    ("operations_lost", "lost"),
    ("operations_doubled", "doubled"),
    ("mentions", "mentions"),
    ("mentions_wrong", "wrong"),
)
_IN_WINDOW = (
    ("sends_unknown", "interrupted"),
    ("replies_doubled", "doubled in it"),
    ("given_up", "given up"),
    ("never_came", "never came"),
    ("apologies", "apologies"),
    ("edits", "edits"),
    ("commands", "commands"),
    ("fragments", "fragments"),
)


def page(folder: Path, before: str = "") -> str:
    """The whole page, from the records in the folder.

    Series, notes and faults placed by hand that only the page as it was `before` tells of stay.
    """
    kills, faults = records(KILLS, folder), records(FAULTS, folder)
    runs = _fleet(records(FLEET, folder), before) + _canaries(records(CANARIES, folder), before)
    return HEAD + _random(kills, before) + runs + (_by_hand(faults) if faults else _chapter(before, BY_HAND))


def write_page(folder: Path, path: Path) -> None:
    before = path.read_text(encoding="utf-8") if path.exists() else ""
    path.write_text(page(folder, before), encoding="utf-8")


def _random(batches: Sequence[Json], before: str) -> str:
    series: dict[tuple[int, str], list[Json]] = defaultdict(list)
    for batch in batches:
        series[batch["seed"], batch["commit"]].append(batch)
    head = [*_SERIES, *(title for _, title in _MEASURES)]
    of_window = [*_SERIES[1:5], *(title for _, title in _IN_WINDOW)]
    rows = [[*_name(of), *_counts(of, _MEASURES)] for of in series.values()]
    window = [[*_name(of)[1:5], *_counts(of, _IN_WINDOW)] for of in series.values()]
    rows = _with_all(_only_before(before, head, rows, (1, 2)) + rows, 3)
    window = _with_all(_only_before(before, of_window, window, (0, 1)) + window, 2)
    if not rows:
        return ""
    notes = _notes(batches, _chapter(before, RANDOM))
    return RANDOM + "\n" + _table(head, rows) + WINDOW + "\n" + _table(of_window, window) + notes


def _fleet(batches: Sequence[Json], before: str) -> str:
    series: dict[tuple[int, str], list[Json]] = defaultdict(list)
    for batch in batches:
        series[batch["seed"], batch["commit"]].append(batch)
    head = [*_OF_FLEET, *(title for _, title in _MEASURES), *(title for _, title in _IN_WINDOW)]
    rows = [[*_fleet_name(of), *_counts(of, _MEASURES), *_counts(of, _IN_WINDOW)] for of in series.values()]
    rows = _only_before(before, head, rows, (1, 2)) + rows
    if not rows:
        return ""
    return WORKERS + "\n" + _table(head, rows) + _notes(batches, _chapter(before, WORKERS))


def _fleet_name(batches: Sequence[Json]) -> list[str]:
    last, runs = batches[-1], len(batches)
    blows = [str(sum(batch[key] for batch in batches)) for key in ("kills", "cuts", "restarts")]
    passed = sum(not batch["verdict"]["violations"] for batch in batches)
    return [str(last["at"])[:10], last["commit"], str(last["seed"]), str(last["workers"]), *blows, f"{passed}/{runs}"]


def _canaries(runs: Sequence[Json], before: str) -> str:
    rows = [[str(run["at"])[:10], *(str(run[key]) for key in _OF_CANARIES[1:])] for run in runs]
    rows = _only_before(before, _OF_CANARIES, rows, (1, 3)) + rows
    return SIDES + "\n" + _table(_OF_CANARIES, rows) + _notes([], _chapter(before, SIDES)) if rows else ""


def _chapter(before: str, now: str) -> str:
    """The chapter of the earlier page under the heading with which `now` begins, with its heading; else empty."""
    _, heading, rest = before.partition(f"\n{now.splitlines()[1]}\n")
    return heading + rest.partition("\n## ")[0].rstrip("\n") + "\n" if heading else ""


def _notes(batches: Sequence[Json], chapter: str) -> str:
    """What stands below the last table of the earlier chapter, and what else was broken in these batches."""
    kept = chapter[chapter.rfind("\n| ") + 1 :].partition("\n")[2].strip("\n") if "\n| " in chapter else ""
    broken = (
        f"- seed {b['seed']}, batch {b['number']}: {_shortened(' '.join(text.split()))}"
        for b in batches
        for text in b["verdict"]["violations"]
    )
    if new := [line for line in broken if line not in kept]:
        kept = "\n\n".join(filter(None, (kept, "" if _BROKEN in kept else _BROKEN, "\n".join(new))))
    return f"\n{kept}\n" if kept else ""


def _shortened(violation: str) -> str:
    """What broke and the last words about it: between them stands the log of a process."""
    return violation if len(violation) <= 200 else f"{violation[:60]} … {violation[-140:]}"


def _only_before(before: str, head: Sequence[str], rows: Sequence[Row], key: tuple[int, int]) -> list[Row]:
    """The rows of the page's table with this head whose series (commit and seed) is not among `rows`."""
    lines = before.splitlines()
    title = _table([*head], []).splitlines()[0]
    if title not in lines:
        return []
    table = itertools.takewhile(lambda line: line.startswith("|"), lines[lines.index(title) + 2 :])
    known = {tuple(row[place] for place in key) for row in rows}
    found = [[cell.strip() for cell in line.strip("|").split("|")] for line in table]
    return [row for row in found if row[0] != ALL and tuple(row[place] for place in key) not in known]


def _with_all(rows: list[Row], first: int) -> list[Row]:
    """The rows, and where there are several one more with the sums of the columns from `first` on."""
    if len(rows) < 2:
        return rows
    sums = [_sum(column) for column in zip(*(row[first:] for row in rows), strict=True)]
    return [*rows, [ALL, *[""] * (first - 1), *sums]]


def _sum(column: Sequence[str]) -> str:
    """The sum of numbers, or of such as "20/20"."""
    parts = zip(*(map(int, cell.split("/")) for cell in column), strict=True)
    return "/".join(str(sum(part)) for part in parts)


def _name(batches: Sequence[Json]) -> list[str]:
    last = batches[-1]
    passed = sum(not batch["verdict"]["violations"] for batch in batches)
    counts = [str(sum(batch[key] for batch in batches)) for key in ("kills", "before_ready", "stopping")]
    counts.append(str(sum(batch["kills"] for batch in batches if batch["webhook"])))
    day, runs = str(last["at"])[:10], len(batches)
    return [day, last["commit"], str(last["seed"]), str(runs), *counts, f"{passed}/{runs}"]


def _counts(batches: Sequence[Json], measures: Iterable[tuple[str, str]]) -> list[str]:
    return [str(sum(batch["verdict"][key] for batch in batches)) for key, _ in measures]


def _by_hand(faults: Sequence[Json]) -> str:
    rows: dict[tuple[str, str, str], list[Json]] = defaultdict(list)
    for fault in faults:
        rows[fault["kind"], fault["case"], fault["outcome"]].append(fault)
    total, passed = len(faults), sum(fault["passed"] for fault in faults)
    told = f"\n{total} cases, {passed} passed; {str(faults[-1]['at'])[:10]}, commit {_commits(faults)}.\n"
    return BY_HAND + told + "".join(_kind(kind, rows) for kind in _kinds(rows))


def _commits(faults: Sequence[Json]) -> str:
    return ", ".join(dict.fromkeys(str(fault["commit"]) for fault in faults))


def _kinds(rows: Iterable[tuple[str, str, str]]) -> list[str]:
    found = dict.fromkeys(kind for kind, _, _ in rows)
    return [kind for kind in KINDS if kind in found] + [kind for kind in found if kind not in KINDS]


def _kind(kind: str, rows: dict[tuple[str, str, str], list[Json]]) -> str:
    lines = [
        [case, outcome, str(len(cases)), str(sum(one["passed"] for one in cases))]
        for (of, case, outcome), cases in rows.items()
        if of == kind
    ]
    return f"\n### {KINDS.get(kind, kind.capitalize())}\n\n" + _table(["fault", "outcome", "cases", "passed"], lines)


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "".join("| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |\n" for line in lines)


def main(arguments: Sequence[str]) -> None:
    """Writes the page again from the records."""
    parser = argparse.ArgumentParser(prog="reliability", description=main.__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("page", type=Path)
    options = parser.parse_args(arguments)
    write_page(options.folder, options.page)


if __name__ == "__main__":
    main(sys.argv[1:])
