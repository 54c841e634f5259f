"""How good rankings are: recall of the evidence by turn and by session, and NDCG.

Recall@k of a question = the share of its evidence among the first k turns; of a set = the mean over its questions that
have evidence. By session: the share of the sessions of its evidence among the first k sessions, in the order of their
best turn. NDCG@k: Järvelin and Kekäläinen, "Cumulated gain-based evaluation of IR techniques", TOIS 20(4), 2002, with
gain 1 for evidence, 0 for anything else.
"""

from __future__ import annotations

import json
import math
from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import Any, Final

from internal.errors import LaplacedError
from internal.evaluation.locomo import Conversation, Question

TURN_DEPTHS: Final = (5, 10, 20, 50)
NDCG_DEPTH: Final = 10
SESSION_DEPTH: Final = 5
DEPTH: Final = 50
"""Turns ranked for a question."""
DECIMALS: Final = 4

Metrics = dict[str, float]


class RankingsUnreadable(LaplacedError):
    """The file holds no rankings, or none of these conversations."""


@dataclass(frozen=True, slots=True)
class Ranked:
    """A question with the turns that were found for it, best first."""

    conversation: Conversation
    question: Question
    ranking: Sequence[str]

    @property
    def line(self) -> dict[str, Any]:
        """As it stands in a file of rankings."""
        return {
            "file": self.conversation.file,
            "question": self.question.text,
            "category": self.question.category,
            "ranking": list(self.ranking),
        }


def recall(ranking: Sequence[Hashable], evidence: Sequence[Hashable], depth: int) -> float:
    """The share of the evidence among the first `depth`, 0 to 1. ZeroDivisionError without evidence."""
    best = set(ranking[:depth])
    return sum(one in best for one in evidence) / len(evidence)


def ndcg(ranking: Sequence[Hashable], evidence: Sequence[Hashable], depth: int) -> float:
    """What the order of the first `depth` is worth, 0 to 1. ZeroDivisionError without evidence."""
    gains = (1 / math.log2(place + 1) for place, one in enumerate(ranking[:depth], 1) if one in evidence)
    best = sum(1 / math.log2(place + 1) for place in range(1, min(depth, len(evidence)) + 1))
    return sum(gains) / best


def measured(one: Ranked) -> Metrics:
    """All metrics of one question that has evidence."""
    sessions = one.conversation.sessions
    evidence = one.question.evidence
    found = list(dict.fromkeys(sessions[turn] for turn in one.ranking if turn in sessions))
    wanted = list(dict.fromkeys(sessions[turn] for turn in evidence if turn in sessions))
    return {
        **{f"recall@{depth}": recall(one.ranking, evidence, depth) for depth in TURN_DEPTHS},
        f"ndcg@{NDCG_DEPTH}": ndcg(one.ranking, evidence, NDCG_DEPTH),
        f"session_recall@{SESSION_DEPTH}": recall(found, wanted, SESSION_DEPTH) if wanted else 0.0,
    }


def averaged(ranked: Iterable[Ranked]) -> Metrics:
    """The metrics of a set, with `questions` = how many of it have evidence; 0 everywhere if none has."""
    each = [measured(one) for one in ranked if one.question.evidence]
    names = [f"recall@{depth}" for depth in TURN_DEPTHS]
    names += [f"ndcg@{NDCG_DEPTH}", f"session_recall@{SESSION_DEPTH}"]
    means = {name: round(fmean(one[name] for one in each), DECIMALS) if each else 0.0 for name in names}
    return {"questions": len(each), **means}


def report(ranked: Sequence[Ranked], *, tags: bool = True) -> dict[str, Any]:
    """Overall, by category (its number), by file, and by tag where questions have any and `tags` are wanted."""
    tagged: dict[str, list[Ranked]] = defaultdict(list)
    for one in ranked:
        for tag in one.question.tags if tags else ():
            tagged[tag].append(one)
    return {
        "overall": averaged(ranked),
        "by_category": _by(ranked, lambda one: "" if one.question.category is None else str(one.question.category)),
        "by_file": _by(ranked, lambda one: one.conversation.file),
        **({"by_tag": {tag: averaged(tagged[tag]) for tag in sorted(tagged)}} if tagged else {}),
    }


def _by(ranked: Sequence[Ranked], key: Callable[[Ranked], str]) -> dict[str, Metrics]:
    groups: dict[str, list[Ranked]] = defaultdict(list)
    for one in ranked:
        if one.question.evidence:
            groups[key(one)].append(one)
    return {name: averaged(groups[name]) for name in sorted(groups)}


def read_rankings(path: Path, conversations: Sequence[Conversation]) -> tuple[list[Ranked], int]:
    """The questions of the conversations with their rankings, and how many have none (theirs are empty then).

    A question that is asked several times in files of one name takes the lines in their order. Lines of other files
    are passed over. Raises RankingsUnreadable for lines of another form, and if not one question is ranked.
    """
    lines = _lines(path)
    ranked, missing = [], 0
    for conversation in conversations:
        for question in conversation.questions:
            waiting = lines.get((conversation.file, question.text))
            missing += not waiting
            ranked.append(Ranked(conversation, question, waiting.pop(0) if waiting else ()))
    if missing == len(ranked):
        files = ", ".join(dict.fromkeys(one.file for one in conversations))
        raise RankingsUnreadable(f"{path} ranks no question of {files}")
    return ranked, missing


def _lines(path: Path) -> dict[tuple[str, str], list[tuple[str, ...]]]:
    lines: dict[tuple[str, str], list[tuple[str, ...]]] = defaultdict(list)
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        raise RankingsUnreadable(f"cannot read {path}: {error.strerror}") from None
    except UnicodeDecodeError:
        raise RankingsUnreadable(f"{path} is not text") from None
    for number, line in enumerate(text.split("\n"), 1):
        if line.strip():
            file, question, ranking = _line(line, f"{path}, line {number}")
            lines[file, question].append(ranking)
    return lines


def _line(line: str, place: str) -> tuple[str, str, tuple[str, ...]]:
    try:
        raw = json.loads(line)
    except (ValueError, RecursionError):
        raise RankingsUnreadable(f"{place} is not JSON") from None
    fields = (raw.get("file"), raw.get("question"), raw.get("ranking")) if isinstance(raw, dict) else (None, None, None)
    file, question, ranking = fields
    if not isinstance(file, str) or not isinstance(question, str) or not isinstance(ranking, list):
        raise RankingsUnreadable(f"{place} has no file, question or ranking")
    if not all(isinstance(one, str) for one in ranking):
        raise RankingsUnreadable(f"{place}: ranking should hold ids of turns")
    return file, question, tuple(dict.fromkeys(ranking))
