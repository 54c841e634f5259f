"""Quality of rankings: recall of the evidence by turn and by session, and NDCG.

Recall@k of a question = the share of its evidence among the first k turns; of a set = the mean over its questions that
have evidence. By session: the share of the sessions of its evidence among the first k sessions, in the order of their
best turn. NDCG@k: Järvelin and Kekäläinen, "Cumulated gain-based evaluation of IR techniques", TOIS 20(4), 2002, with
gain 1 for evidence, 0 for anything else.
"""

import json
import math
from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import Any, Final

from bot.evaluation.locomo import Conversation, Question
from internal.errors import LaplacedError

TURN_DEPTHS: Final = (5, 10, 20, 50)
NDCG_DEPTH: Final = 10
SESSION_DEPTH: Final = 5
DEPTH: Final = 50
"""Turns ranked per question."""
DECIMALS: Final = 4

Metrics = dict[str, float]


class RankingsUnreadable(LaplacedError):
    """The file holds no rankings, or none of these conversations."""


@dataclass(frozen=True, slots=True)
class RankedQuestion:
    """A question with the turns found for it, best first, and for each the chance that it answers, if known."""

    conversation: Conversation
    question: Question
    ranking: Sequence[str]
    chances: Sequence[float] = ()

    @property
    def line(self) -> dict[str, Any]:
        """The question's line in a file of rankings."""
        return {
            "file": self.conversation.file,
            "question": self.question.text,
            "category": self.question.category,
            "ranking": list(self.ranking),
            "chances": [round(chance, DECIMALS) for chance in self.chances],
        }


def recall(ranking: Sequence[Hashable], evidence: Sequence[Hashable], depth: int) -> float:
    """The share of the evidence among the first `depth`, 0 to 1. Raises ZeroDivisionError without evidence."""
    best = set(ranking[:depth])
    return sum(item in best for item in evidence) / len(evidence)


def ndcg(ranking: Sequence[Hashable], evidence: Sequence[Hashable], depth: int) -> float:
    """NDCG of the first `depth`, 0 to 1. Raises ZeroDivisionError without evidence."""
    gains = (1 / math.log2(rank + 1) for rank, item in enumerate(ranking[:depth], 1) if item in evidence)
    ideal = sum(1 / math.log2(rank + 1) for rank in range(1, min(depth, len(evidence)) + 1))
    return sum(gains) / ideal


def metrics_of(ranked: RankedQuestion) -> Metrics:
    """All metrics of one question that has evidence."""
    sessions = ranked.conversation.sessions
    evidence = ranked.question.evidence
    found_sessions = list(dict.fromkeys(sessions[turn] for turn in ranked.ranking if turn in sessions))
    evidence_sessions = list(dict.fromkeys(sessions[turn] for turn in evidence if turn in sessions))
    return {
        **{f"recall@{depth}": recall(ranked.ranking, evidence, depth) for depth in TURN_DEPTHS},
        f"ndcg@{NDCG_DEPTH}": ndcg(ranked.ranking, evidence, NDCG_DEPTH),
        f"session_recall@{SESSION_DEPTH}": recall(found_sessions, evidence_sessions, SESSION_DEPTH)
        if evidence_sessions
        else 0.0,
    }


def mean_metrics(ranked: Iterable[RankedQuestion]) -> Metrics:
    """The mean metrics of a set, with `questions`, the number of its questions with evidence; 0 if none has."""
    metrics = [metrics_of(item) for item in ranked if item.question.evidence]
    names = [f"recall@{depth}" for depth in TURN_DEPTHS]
    names += [f"ndcg@{NDCG_DEPTH}", f"session_recall@{SESSION_DEPTH}"]
    means = {name: round(fmean(item[name] for item in metrics), DECIMALS) if metrics else 0.0 for name in names}
    return {"questions": len(metrics), **means}


def report(ranked: Sequence[RankedQuestion], *, tags: bool = True) -> dict[str, Any]:
    """Metrics overall, by category (its number), by file, and by tag if questions have any and `tags` is set."""
    tagged: dict[str, list[RankedQuestion]] = defaultdict(list)
    for item in ranked:
        for tag in item.question.tags if tags else ():
            tagged[tag].append(item)
    return {
        "overall": mean_metrics(ranked),
        "by_category": _by(ranked, lambda item: "" if item.question.category is None else str(item.question.category)),
        "by_file": _by(ranked, lambda item: item.conversation.file),
        **({"by_tag": {tag: mean_metrics(tagged[tag]) for tag in sorted(tagged)}} if tagged else {}),
    }


def _by(ranked: Sequence[RankedQuestion], key: Callable[[RankedQuestion], str]) -> dict[str, Metrics]:
    groups: dict[str, list[RankedQuestion]] = defaultdict(list)
    for item in ranked:
        if item.question.evidence:
            groups[key(item)].append(item)
    return {name: mean_metrics(groups[name]) for name in sorted(groups)}


def read_rankings(path: Path, conversations: Sequence[Conversation]) -> tuple[list[RankedQuestion], int]:
    """The questions with their rankings, and the number of questions without one (left empty).

    A question that occurs several times in files of one name takes the lines in their order. Lines of other files are
    skipped. Raises RankingsUnreadable for lines of another form, and if not one question is ranked.
    """
    lines = _lines(path)
    ranked, missing = [], 0
    for conversation in conversations:
        for question in conversation.questions:
            unused = lines.get((conversation.file, question.text))
            missing += not unused
            ranked.append(RankedQuestion(conversation, question, unused.pop(0) if unused else ()))
    if missing == len(ranked):
        files = ", ".join(dict.fromkeys(conversation.file for conversation in conversations))
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


def _line(line: str, where: str) -> tuple[str, str, tuple[str, ...]]:
    try:
        raw = json.loads(line)
    except (ValueError, RecursionError):
        raise RankingsUnreadable(f"{where} is not JSON") from None
    fields = (raw.get("file"), raw.get("question"), raw.get("ranking")) if isinstance(raw, dict) else (None, None, None)
    file, question, ranking = fields
    if not isinstance(file, str) or not isinstance(question, str) or not isinstance(ranking, list):
        raise RankingsUnreadable(f"{where} has no file, question or ranking")
    if not all(isinstance(turn, str) for turn in ranking):
        raise RankingsUnreadable(f"{where}: ranking should hold ids of turns")
    return file, question, tuple(dict.fromkeys(ranking))
