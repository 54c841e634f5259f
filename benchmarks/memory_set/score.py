"""Scores what a memory found for the questions of this set. Needs Python 3.10 or newer and nothing else.

    python score.py bm25 > bm25.jsonl                  writes the rankings of the baseline
    python score.py rankings.jsonl [--part held-back]  prints the scores as a table
    python score.py learning                           prints the files that may be learned from

A ranking is a line of JSON: {"file": "uk-03.json", "question": "...", "ranking": ["D4:12", "D1:7"]}, the best turn
first, at most 50. "chances" may stand beside it: for each turn the chance in [0, 1] that it answers.
"""

import argparse
import json
import math
import re
import sys
from collections import Counter, defaultdict
from pathlib import Path

FOLDER = Path(__file__).resolve().parent / "conversations"
HELD_BACK = {f"{language}-{number}.json" for language in ("en", "ru", "uk") for number in ("05", "bot-02")}
HELD_BACK = HELD_BACK - {"en-05.json"} | {"en-15.json"}
"""Never to be learned from."""

KINDS = {1: "multi-hop", 2: "temporal", 3: "open-domain", 4: "single-hop", 5: "adversarial"}
DEPTHS = (5, 10, 20, 50)
SESSIONS = 5
SURE = 0.5
"""The chance from which a turn counts as called an answer."""

WORD = re.compile(r"\w+")
K1, B = 1.2, 0.75


def turns_of(conversation):
    """The turns in order, each with its id, its session, its text and the description of its picture."""
    numbers = sorted(int(key[8:]) for key in conversation if re.fullmatch(r"session_\d+", key))
    return [
        (turn["dia_id"], number, " ".join((turn["text"], turn.get("blip_caption", ""))))
        for number in numbers
        for turn in conversation[f"session_{number}"]
    ]


def read(part):
    """The conversations of a part by file: "all", "learning" or "held-back"."""
    files = sorted(FOLDER.glob("*.json"))
    if part != "all":
        files = [file for file in files if (file.name in HELD_BACK) == (part == "held-back")]
    return {file.name: json.loads(file.read_text(encoding="utf-8")) for file in files}


def bm25(conversations):
    """The baseline: Okapi BM25 over single turns, words in lower case as they are written."""
    for file, conversation in conversations.items():
        turns = turns_of(conversation)
        words = [Counter(WORD.findall(text.lower())) for _, _, text in turns]
        lengths = [sum(counts.values()) for counts in words]
        mean = sum(lengths) / len(lengths)
        holding = Counter(word for counts in words for word in counts)
        for question in conversation["qa"]:
            scores = [0.0] * len(turns)
            for word in set(WORD.findall(question["question"].lower())):
                idf = math.log1p((len(turns) - holding[word] + 0.5) / (holding[word] + 0.5))
                for n, counts in enumerate(words):
                    if counts[word]:
                        norm = K1 * (1 - B + B * lengths[n] / mean)
                        scores[n] += idf * counts[word] * (K1 + 1) / (counts[word] + norm)
            best = sorted(range(len(turns)), key=lambda n: -scores[n])[: max(DEPTHS)]
            yield {"file": file, "question": question["question"], "ranking": [turns[n][0] for n in best if scores[n]]}


def measures(ranking, evidence, session_of):
    """Recall by turn and by session of one question, and NDCG at ten."""
    found = list(dict.fromkeys(session_of[turn] for turn in ranking if turn in session_of))[:SESSIONS]
    wanted = {session_of[turn] for turn in evidence}
    gain = sum(1 / math.log2(rank + 1) for rank, turn in enumerate(ranking[:10], 1) if turn in evidence)
    best = sum(1 / math.log2(rank + 1) for rank in range(1, min(10, len(evidence)) + 1))
    recalls = [len(evidence & set(ranking[:depth])) / len(evidence) for depth in DEPTHS]
    return [*recalls, gain / best, len(wanted & set(found)) / len(wanted)]


def table(conversations, rankings):
    """The lines of the table: all questions, then by language, kind and tag, then what was called an answer."""
    rows, sure = defaultdict(list), defaultdict(list)
    for file, conversation in conversations.items():
        session_of = {turn: session for turn, session, _ in turns_of(conversation)}
        for question in conversation["qa"]:
            line = rankings.get((file, question["question"]), {"ranking": []})
            evidence = set(question["evidence"])
            if "chances" in line:
                sure[bool(evidence)].append(max(line["chances"], default=0) >= SURE)
            if evidence:
                kind = KINDS.get(question["category"], question["category"])
                talk = "with a bot" if "-bot-" in file else "between two people"
                groups = ["all", file[:2], talk, kind, *(f"#{tag}" for tag in question.get("tags", ()))]
                values = measures(line["ranking"], evidence, session_of)
                for group in groups:
                    rows[group].append(values)
    yield ("", "questions", *(f"recall@{depth}" for depth in DEPTHS), "NDCG@10", f"sessions@{SESSIONS}")
    for group, values in sorted(rows.items(), key=lambda row: (row[0] != "all", row[0])):
        yield (group, str(len(values)), *(f"{sum(column) / len(values):.3f}" for column in zip(*values, strict=True)))
    for answerable, called in sorted(sure.items()):
        name = "answerable called answered" if answerable else "unanswerable called answered (false recall)"
        yield (name, str(len(called)), f"{sum(called) / len(called):.3f}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("rankings", help='a file of rankings, or "bm25", or "learning"')
    parser.add_argument("--part", choices=("all", "learning", "held-back"), default="all")
    asked = parser.parse_args()
    if asked.rankings == "learning":
        print(*(FOLDER / name for name in read("learning")))
        return
    conversations = read(asked.part)
    if asked.rankings == "bm25":
        for line in bm25(conversations):
            print(json.dumps(line, ensure_ascii=False))
        return
    lines = [json.loads(line) for line in Path(asked.rankings).read_text(encoding="utf-8").splitlines() if line.strip()]
    rankings = {(line["file"], line["question"]): line for line in lines}
    missing = sum((file, q["question"]) not in rankings for file, c in conversations.items() for q in c["qa"])
    if missing:
        print(f"{missing} questions have no ranking and count as not found", file=sys.stderr)
    for row in table(conversations, rankings):
        print(row[0].ljust(46), *(cell.rjust(10) for cell in row[1:]))


if __name__ == "__main__":
    main()
