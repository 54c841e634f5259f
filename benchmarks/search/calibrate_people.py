"""Chooses the people threshold of an embedder on the labelled set in tests/data/people_search.json.

    python -m benchmarks.search.calibrate_people [--weight W] [--threshold T] [--table | --json]

For each query every person's score is the cosine of its vectors plus W times `name_boost`. A person who is named
outright (a boost of NAMED or more) is found at any threshold, as in the search; without names (W = 0) nobody is. The
report has, for each threshold, recall@1 and recall@5 over queries that mean somebody (the person is among the first k
found), and the false-accept rate: the share of queries that mean nobody for which somebody is found.

The choice is the highest threshold whose recall@5 is within two points of that without a threshold. A person who is not
offered is lost to the answer, while the reranker still leaves out one who is offered wrongly. So recall comes first,
and the threshold only cuts what costs almost none of it.
"""

from __future__ import annotations

import argparse
import asyncio
import json
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from internal.language.names.person_names import NAME_WEIGHT, NAMED, name_boosts
from internal.language.worker.process_pool import LanguageWorker
from internal.llm.model import Embedder
from internal.llm.offline.embedder import PEOPLE_THRESHOLD, OfflineEmbedder
from internal.people.model import Circle, Person, embedding_text

SET = Path(__file__).parents[2] / "tests/data" / "people_search.json"
RECALL_GIVEN_UP = 0.02


@dataclass(frozen=True, slots=True)
class Query:
    """One labelled query; `person` is None when it means nobody."""

    text: str
    language: str
    kind: str
    person: int | None


@dataclass(frozen=True, slots=True)
class Measured:
    """Rates in [0, 1] at one threshold."""

    threshold: float
    recall_at_1: float
    recall_at_5: float
    false_accepts: float


@dataclass(frozen=True, slots=True)
class Scores:
    """Cosines and boosts of every query (rows) with every person (columns, in the order of `ids`)."""

    queries: list[Query]
    ids: list[int]
    cosines: NDArray[np.float32]
    boosts: NDArray[np.float32]

    def measure(
        self, threshold: float, weight: float, kind: str | None = None, language: str | None = None
    ) -> Measured:
        scores = self.cosines + weight * self.boosts
        found = scores >= threshold
        if weight:
            found |= self.boosts >= NAMED
        places: list[int | None] = []
        accepted: list[bool] = []
        for row, hits, query in zip(scores, found, self.queries, strict=True):
            if query.person is None:
                accepted.append(bool(hits.any()))
            elif kind in (None, query.kind) and language in (None, query.language):
                own = self.ids.index(query.person)
                places.append(int((row[hits] > row[own]).sum()) if hits[own] else None)
        return Measured(
            threshold,
            float(np.mean([place == 0 for place in places])),
            float(np.mean([place is not None and place < 5 for place in places])),
            float(np.mean(accepted)),
        )

    def choose(self, weight: float) -> Measured:
        """The highest threshold, in steps of 0.005, that gives up at most two points of recall@5."""
        floor = self.measure(-1.0, weight).recall_at_5 - RECALL_GIVEN_UP
        steps = [self.measure(float(step), weight) for step in np.arange(0.6, 1.1, 0.005)]
        return max((step for step in steps if step.recall_at_5 >= floor), key=lambda step: step.threshold)


def load() -> tuple[list[Person], list[Query]]:
    """The labelled people and queries."""
    content = json.loads(SET.read_text(encoding="utf-8"))
    now = datetime(2026, 1, 1, tzinfo=UTC)
    people = [
        Person(
            id=row["id"],
            user_id=1,
            entity_id=str(row["id"]),
            display_name=row["display_name"],
            circle=Circle(row["circle"]),
            bio=row["bio"],
            first_seen=now,
            last_seen=now,
            aliases=tuple(row["aliases"]),
            username=row["username"],
        )
        for row in content["people"]
    ]
    return people, [Query(row["text"], row["language"], row["kind"], row["person"]) for row in content["queries"]]


async def score(embedder: Embedder) -> Scores:
    """Every query against every person."""
    people, queries = load()
    documents = await embedder.embed_documents([embedding_text(person) for person in people])
    vectors = await embedder.embed_queries([query.text for query in queries])
    names = {person.id: searched_names(person) for person in people}
    boosts = np.zeros((len(queries), len(people)), dtype=np.float32)
    for row, query in enumerate(queries):
        found = name_boosts(query.text, names)
        boosts[row] = [found.get(person.id, 0.0) for person in people]
    return Scores(queries, [person.id for person in people], vectors @ documents.T, boosts)


def searched_names(person: Person) -> list[str]:
    """Names and username of a person as `name_boosts` takes them."""
    return [*person.names, *([f"@{person.username}"] if person.username else [])]


def report(scores: Scores, weight: float) -> None:
    """The chosen threshold, what every kind of query gets there, and the same without names."""
    kinds = sorted({query.kind for query in scores.queries if query.person is not None})
    for title, used in (("cosine alone", 0.0), (f"cosine + {weight:g} x name boost", weight)):
        chosen = scores.choose(used)
        print(f"{title}: threshold {chosen.threshold:.3f}")
        print(f"  {'all':18}{_rates(chosen)} false accepts {chosen.false_accepts:.3f}")
        for kind in kinds:
            print(f"  {kind:18}{_rates(scores.measure(chosen.threshold, used, kind=kind))}")
        for language in ("ru", "uk", "en"):
            print(f"  {language:18}{_rates(scores.measure(chosen.threshold, used, language=language))}")


def _rates(measured: Measured) -> str:
    return f"recall@1 {measured.recall_at_1:.3f} recall@5 {measured.recall_at_5:.3f}"


def table(scores: Scores, weight: float) -> None:
    """Recall and false accepts over thresholds."""
    for threshold in np.arange(0.74, 1.0, 0.01):
        measured = scores.measure(float(threshold), weight)
        print(f"  {threshold:.2f} {_rates(measured)} false accepts {measured.false_accepts:.3f}")


async def main() -> None:
    """Measures the offline embedder and prints the report."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--weight", type=float, default=NAME_WEIGHT, help="what a whole name adds to a cosine")
    parser.add_argument("--threshold", type=float, default=PEOPLE_THRESHOLD, help="where --json measures")
    parser.add_argument("--table", action="store_true", help="print the rates over thresholds too")
    parser.add_argument("--json", action="store_true", help="only the rates at one threshold, as JSON")
    arguments = parser.parse_args()
    worker = LanguageWorker()
    try:
        scores = await score(OfflineEmbedder(worker))
    finally:
        await worker.close()
    if arguments.json:
        print(json.dumps(asdict(scores.measure(arguments.threshold, arguments.weight))))
        return
    report(scores, arguments.weight)
    if arguments.table:
        table(scores, arguments.weight)


if __name__ == "__main__":
    asyncio.run(main())
