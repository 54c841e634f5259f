"""The Grafana dashboards, as code: `python -m deploy.dashboards` writes them, `--check` names those that differ."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path

from grafana_foundation_sdk.cog.encoder import JSONEncoder
from grafana_foundation_sdk.models import units

from deploy.drawing import Page, Panel, dashboard, number
from deploy.queries import Query, counts, each, mean, quantiles, since

FOLDER = Path(__file__).parent / "grafana" / "dashboards"

HOUR, DAY = 3600, 86400
USER, AGENT = 'user_id=~"$user"', 'agent=~"$agent"'
COST = "laplaced_llm_cost_usd_total"
FAILURES, ANSWERABLE = (
    f"sum by (agent) (increase(laplaced_llm_requests_total{{{AGENT}, {outcome}}}[1h]))"
    for outcome in ('outcome!~"ok|cancelled"', 'outcome!="cancelled"')
)

CIRCLES = [Query(f"sum by (circle) (laplaced_people_total{{{USER}}})", "{{circle}}")]
PEOPLE = Page(
    "People graph",
    "Who is known, what the archivist adds, and how people are found.",
    ["user"],
    {
        "Known people": [
            number("People", f"sum(laplaced_people_total{{{USER}}})", "Profiles, without merged and forgotten ones."),
            number(
                "Added",
                f'sum(increase(laplaced_people_extracted_total{{{USER}, op_type="Added"}}[$__range]))',
                "Within the time shown.",
            ),
            number(
                "Merged",
                f"sum(increase(laplaced_people_duplicates_merged_total{{{USER}}}[$__range]))",
                "Duplicates that became one profile within the time shown.",
            ),
            Panel(
                "Most mentioned",
                [Query("topk(10, laplaced_people_mentions_total)", "person {{person_id}}")],
                "Of all users: mentions are counted by person. Ids are written as metrics.identity says.",
                look="ranking",
                width=12,
            ),
            Panel("People by circle", CIRCLES, "Profiles of each circle.", width=12),
            Panel(
                "Operations applied",
                counts("laplaced_people_extracted_total", "op_type", USER),
                "What the archivist did, counted after the commit.",
                look="bars",
                width=12,
            ),
        ],
        "Search": [
            Panel(
                "Time of a search",
                quantiles("laplaced_people_search_duration_seconds", USER),
                "From the question's vector to the nearest people.",
                units.Seconds,
            ),
            Panel(
                "People found and picked",
                [
                    mean("laplaced_people_search_results", USER, "found"),
                    mean("laplaced_people_reranker_selected", USER, "picked"),
                ],
                "On average: found by search, and picked from them by the reranker.",
            ),
            Panel(
                "Searches without their helpers",
                [
                    *counts("laplaced_reranker_fallbacks_total", "reason"),
                    *counts("laplaced_recall_degraded_total", "reason"),
                ],
                "The reranker's reasons for failing, and the parts of recall that were left out.",
                look="bars",
            ),
        ],
        "Recall": [
            Panel(
                "Time of recall",
                quantiles("laplaced_recall_duration_seconds"),
                "From the question's vector to what stands in the prompt, the reranker's choice included.",
                units.Seconds,
                width=12,
            ),
            Panel(
                "What prompts were given",
                counts("laplaced_recall_hits_total", "kind"),
                "People, facts, memories, earlier messages and imports that were recalled for questions.",
                look="bars",
                width=12,
            ),
        ],
    },
)

TURN = "laplaced_turn_duration_seconds"
CONVERSATIONS = Page(
    "Conversations and latency",
    "How many questions are answered, and how long users wait.",
    ["agent"],
    {
        "Answers": [
            number(
                "Answered", f'sum(increase({TURN}_count{{outcome="answered"}}[$__range]))', "Within the time shown."
            ),
            number(
                "Failed",
                f'sum(increase({TURN}_count{{outcome="failed"}}[$__range]))',
                "Users who got an apology within the time shown.",
                warn=1,
                alarm=10,
            ),
            number(
                "Half wait",
                f'histogram_quantile(0.5, sum by (le) (rate({TURN}_bucket{{outcome="answered"}}[$__range])))',
                "at most, from the first message of a question to its answer.",
                units.Seconds,
            ),
            Panel(
                "Ends of turns",
                counts(f"{TURN}_count", "outcome"),
                "Answered, cancelled or failed.",
                look="bars",
                width=12,
            ),
            Panel(
                "Time to an answer",
                quantiles(TURN, 'outcome="answered"'),
                "From the first message of a question to its answer; telegram.group_window is part of it.",
                units.Seconds,
                width=12,
            ),
            Panel(
                "Times to an answer",
                [Query(f'sum by (le) (increase({TURN}_bucket{{outcome="answered"}}[$__rate_interval]))', "{{le}}")],
                "Each column is a moment, each row a waiting time.",
                units.Seconds,
                "heat",
                width=12,
            ),
        ],
        "Where the time goes": [
            Panel(
                "Model calls",
                quantiles("laplaced_llm_request_duration_seconds", AGENT, "agent")[1:2],
                "95 % of an agent's calls take no longer.",
                units.Seconds,
            ),
            Panel(
                "Calls of the Bot API",
                counts("laplaced_telegram_requests_total", "method"),
                "Messages sent, edited and uploaded.",
                look="bars",
            ),
            Panel(
                "Errors of the Bot API",
                each("laplaced_telegram_errors_total", "method", "kind"),
                "What Telegram refused, and connections that broke.",
                look="bars",
            ),
        ],
    },
)

MODELS = Page(
    "Model cost",
    "What the models cost, how much they are asked, and how well they answer.",
    ["agent"],
    {
        "Money": [
            number("Last day", f"sum(increase({COST}{{{AGENT}}}[1d]))", "As reported by the provider.", units.Dollars),
            number(
                "Last 30 days", f"sum(increase({COST}{{{AGENT}}}[30d]))", "As reported by the provider.", units.Dollars
            ),
            number(
                "One answer",
                f'sum(increase({COST}[1d])) / sum(increase({TURN}_count{{outcome="answered"}}[1d]))',
                "Everything spent in the last day, archival included, for each answer given in it.",
                units.Dollars,
            ),
            Panel("Cost by agent", counts(COST, "agent", AGENT), "Who spends it.", units.Dollars, "bars", width=12),
            Panel(
                "Cost by model", counts(COST, "model", AGENT), "On what it is spent.", units.Dollars, "bars", width=12
            ),
            Panel(
                "Tokens", counts("laplaced_llm_tokens_total", "kind", AGENT), "Read and written.", look="bars", width=12
            ),
        ],
        "Calls": [
            Panel(
                "Calls by outcome",
                counts("laplaced_llm_requests_total", "outcome", AGENT),
                "ok, cancelled (a user pressed stop or wrote on) or the name of the error.",
                look="bars",
            ),
            Panel(
                "Share of failures",
                [Query(f"({FAILURES} or 0 * {ANSWERABLE}) / {ANSWERABLE}", "{{agent}}")],
                "Over the hour before; above 20 % LaplacedModelErrors fires.",
                units.PercentUnit,
                warn=0.05,
                alarm=0.2,
            ),
            Panel(
                "Time of a call",
                quantiles("laplaced_llm_request_duration_seconds", AGENT),
                "All agents chosen above together.",
                units.Seconds,
            ),
        ],
    },
)

ARCHIVAL = Page(
    "Archival lag",
    "How far the archivist is behind, and what became of its runs.",
    ["user", "agent"],
    {
        "Lag": [
            number(
                "Oldest message not archived",
                f"max({since('laplaced_oldest_unarchived_timestamp_seconds')})",
                "A lively dialogue waits for a pause of dialogue.idle_timeout first.",
                units.Seconds,
                width=6,
                warn=2 * HOUR,
                alarm=6 * HOUR,
            ),
            number(
                "Runs given up",
                "sum(laplaced_runs_dead)",
                "laplaced runs names them, laplaced runs --revive tries again.",
                width=6,
                warn=1,
                alarm=5,
            ),
            Panel(
                "Lag over time",
                [Query(f"max({since('laplaced_oldest_unarchived_timestamp_seconds')})", "oldest message")],
                "It rises while people talk and falls to nothing once a dialogue is archived.",
                units.Seconds,
                width=12,
            ),
        ],
        "Runs": [
            Panel(
                "Attempts by outcome",
                each("laplaced_agent_runs_total", "agent", "outcome", AGENT),
                "applied; halved: the reply was cut, so half as much is asked; stale: what it read had changed; "
                "outage: the provider was down; failed; dead: given up.",
                look="bars",
                width=12,
            ),
            Panel(
                "Time of an archivist's run",
                quantiles("laplaced_people_extraction_duration_seconds", USER),
                "From the fragment to the proposal of people.",
                units.Seconds,
                width=12,
            ),
            Panel(
                "Operations applied",
                counts("laplaced_people_extracted_total", "op_type", USER),
                "People added, updated and merged.",
                look="bars",
                width=12,
            ),
            Panel(
                "Operations refused",
                counts("laplaced_operations_refused_total", "reason", AGENT),
                "Proposals of a model that were not applied.",
                look="bars",
                width=12,
            ),
        ],
    },
)

QUEUES = Page(
    "Queues and faults",
    "Whether the bot hears, works, delivers and has room; what was lost from sight.",
    [],
    {
        "Now": [
            number(
                "Alerts firing",
                'sum(ALERTS{alertstate="firing", job="laplaced"}) or vector(0)',
                "Prometheus lists them.",
                warn=1,
                alarm=3,
            ),
            Panel(
                "Version", [Query("laplaced_build_info", "{{version}}")], "The running program.", look="name", width=4
            ),
            number(
                "Runs since",
                'time() - min(process_start_time_seconds{job="laplaced"})',
                "Time since its start.",
                units.Seconds,
            ),
            number(
                "Last poll",
                since("laplaced_last_poll_timestamp_seconds"),
                "Time since Telegram answered; 0 with a webhook, or when it never did.",
                units.Seconds,
                warn=60,
                alarm=120,
            ),
            number(
                "Quarantined updates", "sum(laplaced_inbox_quarantined)", "They wait for a human.", warn=1, alarm=10
            ),
            number(
                "Last backup",
                f"max({since('laplaced_last_backup_timestamp_seconds')})",
                "Its age; 0 when there has been none.",
                units.Seconds,
                warn=DAY + HOUR,
                alarm=2 * DAY,
            ),
        ],
        "Queues": [
            Panel(
                "Waiting",
                [
                    Query("laplaced_inbox_depth", "updates to handle"),
                    Query("laplaced_outbox_depth", "messages to send"),
                    Query("laplaced_notifications_waiting", "notifications to tell"),
                ],
                "Empty most of the time; what is put off waits among the notifications.",
            ),
            Panel(
                "Tasks",
                [
                    Query("laplaced_tasks_open", "to be done"),
                    Query("laplaced_tasks_proposed", "waiting for a yes"),
                ],
                "Of all users. What waits for a yes is asked about once.",
            ),
            Panel(
                "Oldest waiting",
                [
                    Query(since("laplaced_oldest_inbox_timestamp_seconds"), "update to handle"),
                    Query(since("laplaced_oldest_outbox_timestamp_seconds"), "message to send"),
                    Query(since("laplaced_oldest_notification_timestamp_seconds"), "notification to tell"),
                ],
                "How long it has been waiting.",
                units.Seconds,
            ),
            Panel(
                "Faults",
                [
                    Query("increase(laplaced_updates_quarantined_total[$__rate_interval])", "updates quarantined"),
                    Query("increase(laplaced_sends_unknown_total[$__rate_interval])", "sends of unknown end"),
                    Query("laplaced_runs_dead", "runs given up"),
                ],
                "Each of them is worth a look; docs/operations.md says where.",
                look="bars",
            ),
        ],
        "Machine": [
            Panel(
                "Disk",
                [
                    Query("laplaced_disk_free_bytes", "free"),
                    Query("laplaced_disk_size_bytes", "size"),
                    Query("laplaced_database_bytes", "database"),
                ],
                "A backup and a migration need as much room as the database has.",
                units.BytesIEC,
            ),
            Panel(
                "Memory",
                [Query('process_resident_memory_bytes{job="laplaced"}', "resident")],
                "Of the bot's main process.",
                units.BytesIEC,
            ),
            Panel(
                "Processor",
                [Query('rate(process_cpu_seconds_total{job="laplaced"}[$__rate_interval])', "cores")],
                "Of the bot's main process.",
            ),
            Panel("Mirror's lag", [Query("laplaced_mirror_lag_changes", "changes")], "0 without a mirror.", width=24),
        ],
    },
)

PAGES = {"people": PEOPLE, "conversations": CONVERSATIONS, "models": MODELS, "archival": ARCHIVAL, "queues": QUEUES}


def written() -> dict[Path, str]:
    """Each dashboard's file and its text, the same whenever and wherever it is made."""
    return {
        FOLDER / f"{name}.json": json.dumps(dashboard(name, page), cls=JSONEncoder, indent=1, sort_keys=True) + "\n"
        for name, page in PAGES.items()
    }


def main(arguments: Sequence[str]) -> int:
    """Writes the files; with `--check` writes nothing, names what differs and returns 1 if anything does."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="write nothing, name the files that differ")
    checking = parser.parse_args(arguments).check
    made = written()
    there = {path: path.read_text(encoding="utf-8") for path in FOLDER.glob("*.json")}
    differing = sorted(path for path in made.keys() | there.keys() if made.get(path) != there.get(path))
    if checking:
        print(*[path.name for path in differing], sep="\n", end="")
        return int(bool(differing))
    for path in there.keys() - made.keys():
        path.unlink()
    for path, text in made.items():
        path.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
