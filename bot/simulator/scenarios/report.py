"""The result of a simulation, as JSON for programs and Markdown for people."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, replace
from datetime import datetime
from pathlib import Path
from typing import Any

from bot.simulator.scenarios.judge import KINDS, Outcome as Judged, Verdict
from bot.simulator.scenarios.plan import Plan

OUTCOMES: tuple[Judged, ...] = ("right", "wrong", "missed", "beside")

_TITLES = {
    "people": "People",
    "facts": "Facts and since when they hold",
    "memories": "Goals, decisions, preferences, open questions",
    "tasks": "Tasks and reminders",
    "notices": "Lines of the bot's own accord, on their days",
    "forgotten": "What must not be known",
    "answers": "Questions asked in the chat",
}


@dataclass(frozen=True, slots=True)
class AgentCalls:
    """The model calls of one agent: their number, tokens sent, received and cached, and seconds waited."""

    agent: str
    calls: int
    prompt_tokens: int
    completion_tokens: int
    cached_tokens: int
    seconds: float

    def __str__(self) -> str:
        tokens = f"{self.prompt_tokens} tokens in ({self.cached_tokens} cached), {self.completion_tokens} out"
        return f"{self.agent}: {self.calls} calls, {tokens}, {self.seconds:.1f} s"


@dataclass(frozen=True, slots=True)
class ScenarioOutcome:
    """The outcome of a run. `took_s` are real seconds; `notes` name acts that could not be played as written."""

    plan: Plan
    finished_at: datetime
    took_s: float
    messages: int
    replies: int
    models: str
    verdicts: Sequence[Verdict]
    notes: Sequence[str] = field(default_factory=tuple)
    calls: Sequence[AgentCalls] = ()

    def with_notes(self, notes: Sequence[str], took_s: float, restless: int) -> ScenarioOutcome:
        """Adds what only the player knows; `restless` is how often the bot did not become idle in time."""
        late = [f"the bot did not come to rest in time, {restless} times"] if restless else []
        return replace(self, notes=(*self.notes, *notes, *late), took_s=took_s)

    def summary(self) -> str:
        """A line for each kind and each agent that asked a model, for a terminal."""
        rows = self.counts().items()
        lines = [f"{kind:<10}" + "  ".join(f"{row[one]} {one}" for one in OUTCOMES) for kind, row in rows]
        return "\n".join([*lines, *map(str, self.calls), f"{self.took_s:.0f} seconds in all"])

    def counts(self) -> dict[str, dict[Judged, int]]:
        """The number of verdicts by kind and outcome, for kinds that have any."""
        found = Counter((verdict.kind, verdict.outcome) for verdict in self.verdicts)
        table: dict[str, dict[Judged, int]] = {
            kind: {outcome: found[kind, outcome] for outcome in OUTCOMES} for kind in KINDS
        }
        return {kind: row for kind, row in table.items() if any(row.values())}

    def as_json(self) -> dict[str, Any]:
        plan = self.plan
        return {
            "scenario": plan.scenario.name,
            "title": plan.scenario.title,
            "seed": plan.seed,
            "start": plan.start.isoformat(),
            "days": plan.scenario.days,
            "finished_at": self.finished_at.isoformat(),
            "took_s": round(self.took_s, 1),
            "messages": self.messages,
            "replies": self.replies,
            "models": self.models,
            "counts": self.counts(),
            "verdicts": [asdict(verdict) for verdict in self.verdicts],
            "notes": list(self.notes),
            "calls": [asdict(one) for one in self.calls],
        }

    def as_markdown(self) -> str:
        plan = self.plan
        lines = [
            f"# {plan.scenario.title}",
            "",
            f"Scenario `{plan.scenario.name}`, seed {plan.seed}, {plan.scenario.days} days from {plan.start}: "
            f"{self.messages} messages of {len(plan.scenario.users)} people, {self.replies} of the bot's, "
            f"in {self.took_s / 60:.1f} minutes. Models: {self.models}.",
            "",
            *_table(self.counts()),
        ]
        for kind in KINDS:
            lines += _section(_TITLES[kind], [one for one in self.verdicts if one.kind == kind])
        if self.calls:
            lines += ["", "## Calls of the model", "", *(f"- {one}" for one in self.calls)]
        if self.notes:
            lines += ["", "## Notes", "", *(f"- {note}" for note in self.notes)]
        return "\n".join(lines) + "\n"

    def write(self, folder: Path) -> tuple[Path, Path]:
        """Writes both forms. Returns their paths."""
        name = f"{self.plan.scenario.name}-{self.plan.seed}"
        as_json, as_markdown = folder / f"{name}.json", folder / f"{name}.md"
        folder.mkdir(parents=True, exist_ok=True)
        as_json.write_text(json.dumps(self.as_json(), ensure_ascii=False, indent=2) + "\n", encoding="utf-8")
        as_markdown.write_text(self.as_markdown(), encoding="utf-8")
        return as_json, as_markdown


def _table(counts: dict[str, dict[Judged, int]]) -> list[str]:
    lines = ["| | right | wrong | missed | beside the truth |", "|---|---|---|---|---|"]
    lines += [f"| {_TITLES[kind]} | {' | '.join(str(row[one]) for one in OUTCOMES)} |" for kind, row in counts.items()]
    return lines


def _section(title: str, verdicts: Sequence[Verdict]) -> list[str]:
    if not verdicts:
        return []
    lines = ["", f"## {title}", "", "| | whose | wanted | found |", "|---|---|---|---|"]
    for one in verdicts:
        lines.append(f"| {one.outcome} | {one.who} | {_cell(one.wanted)} | {_cell(one.found)} |")
    return lines


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")
