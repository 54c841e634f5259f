"""Learns `internal/language/facts/statement_weights.json` from the lines of `examples/`, or tests it author by author.

    python -m benchmarks.life_statements.train           # writes the weights
    python -m benchmarks.life_statements.train --test    # leaves out each author in turn, and writes nothing

A line is its kind ("-" for none), its language and its text, with the person, the time and what it is about in braces.
Two authors wrote 1,332 each and had seen no rule; `lives.txt` has those of the four simulated years. What people write
in the memory set, without its part that is held back, states nothing; sentences of the program's tests are learned from
too. The test tells what the offline product reads
from the lines of the author left out: with the rules alone, and with what is learned from the others.
"""

from __future__ import annotations

import json
import random
import re
import sys
from collections import Counter
from datetime import datetime
from functools import cache
from pathlib import Path
from zoneinfo import ZoneInfo

from benchmarks.page_questions.train import everyday_messages, learn, use
from internal.agents.archivist.offline.bio_quotes import asks
from internal.agents.archivist.offline.occasions import occasion_facts
from internal.agents.archivist.offline.people import Reading
from internal.agents.model import TranscriptLine
from internal.agents.task_manager.offline import own_tasks
from internal.language.facts.occasion_names import KINDS
from internal.language.facts.statements import OCCASIONS, WEIGHTS, statement_chances
from internal.language.tasks.contacts import contacts_in
from internal.language.tasks.promises import find_promised
from internal.language.text.spelling import sentence_spans, text_language
from internal.language.worker.embedding import embed_passages

FOLDER = Path(__file__).parent
EXAMPLES = FOLDER / "examples"
AT = datetime(2026, 3, 2, 12, tzinfo=ZoneInfo("Europe/Kyiv"))
SLOT = re.compile(r"\{([ptw]):([^{}]*)\}")
KIND_OF = {relation: kind for kind, relation in KINDS.items()}
EVERYDAY = 1_500
"""Sentences of the memory set that are learned from."""


def examples(name):
    """The kind, the language, the bare text and the people of each line of a file."""
    for row in (EXAMPLES / name).read_text(encoding="utf-8").splitlines():
        kind, language, text = row.split(maxsplit=2)
        people = [one[2] for one in SLOT.finditer(text) if one[1] == "p"]
        yield kind.replace("-", "none"), language, SLOT.sub(r"\2", text), people


@cache
def sentences():
    """The language and text of each sentence of the open memory set, in a fixed disorder."""
    found = {(file[:2], text[a:b]) for file, text in everyday_messages() for a, b in sentence_spans(text)}
    kept = sorted(one for one in found if len(one[1].split()) > 3)
    random.Random(1).shuffle(kept)
    return kept


@cache
def vector(text):
    return embed_passages([text])[0]


def judged(text):
    return statement_chances(text, vector(text))


def learned(names):
    rows = [(kind, text) for name in names for kind, _, text, _ in examples(name)]
    return learn(rows, [text for _, text in sentences()[:EVERYDAY]], vector, EVERYDAY)


def read(text, language, people=(), judge=judged):
    """What the offline product finds in a line, by kind."""
    spoken, found = text_language(text, language), {}
    promised = find_promised(text, AT, spoken, judge)
    if promised:
        found["promise"] = (promised[0].title, promised[0].time and promised[0].time.moment)
    for one in own_tasks(text, AT, spoken, judge):
        if one.asked or (not promised and (one.kind == "promise" or (one.time is not None and one.time.sure))):
            rhythm = one.kind == "contact" or (one.time is not None and one.time.recurrence)
            found["rhythm" if rhythm else "mine"] = (one.title, one.time and one.time.moment)
    reading = Reading((), language)
    reading.read_all([TranscriptLine(1, "user", "", AT, text)])
    for said in reading.said:
        for fact, _ in [] if asks(said.text) else occasion_facts(said, reading, judge):
            kind = KIND_OF[fact["relation"]]
            found[kind if kind in OCCASIONS else "event"] = fact["fact"]
    if people and contacts_in([text], {number: [one] for number, one in enumerate(people)}, judge)[0]:
        found["contact"] = people
    return found


def report(rows, judge, show):
    """Counts what is found of each kind, what else is found, and what is found where nothing may be."""
    asked, right, others, needless = Counter(), Counter(), Counter(), Counter()
    for kind, language, text, people in rows:
        found = read(text, language, people, judge)
        asked[kind] += 1
        right[kind] += kind in found
        for other in found.keys() - {kind, "contact"}:
            (needless if kind in ("none", "off", "done", "contact") else others)[other] += 1
            if show:
                print("  ", kind, other, language, text, found[other])
        if show and kind not in found and kind not in ("none", "off", "done"):
            print("  ", kind, "MISSED", language, text)
    for kind, count in asked.items():
        print(f"{kind}: {right[kind]} of {count}; beside {others[kind]}, needless {needless[kind]}")


def main():
    names = sorted(file.name for file in EXAMPLES.glob("*.txt"))
    if "--test" not in sys.argv:
        WEIGHTS.write_text(
            json.dumps(learned(names), ensure_ascii=False, separators=(",", ":")) + "\n", encoding="utf-8"
        )
        return
    show = "--show" in sys.argv
    for name in ("author_1.txt", "author_2.txt"):
        for judge in (None, judged) if not show else (judged,):
            use(learned([one for one in names if one != name]))
            print(name, "with the model" if judge else "rules alone")
            report(examples(name), judge, show and name == "author_1.txt")
    for judge in (None, judged):
        rest = sentences()[EVERYDAY : EVERYDAY + 3_000]
        found = [(text, one) for language, text in rest if (one := read(text, language, (), judge))]
        print(len(found), "of", len(rest), "everyday sentences", Counter(kind for _, one in found for kind in one))
        print(*(found if show else ()), sep="\n  ")


if __name__ == "__main__":
    main()
