"""Fits what makes a score a chance: how likely a fact, or a person, that was found is the one that was asked for.

    python benchmarks/recall_chances.py [--json]

Facts: the labelled set of tests/data/fact_search.json with the offline embedder; every hit of every question is one
case (right or wrong), those of questions that mean nothing are wrong. People: tests/data/people_search.json; every
person who is found at the threshold is one case. For both a logistic of the score is fitted by Newton's method with a
weak prior (the slope's weight 0.01), and its log loss is compared with that of the bare rate. The constants stand in
internal/recall/chances.py.
"""

from __future__ import annotations

import argparse
import asyncio
import json
from datetime import UTC, datetime
from typing import Any

import numpy as np
from calibrate_people import score as score_people
from knowledge_search import IN_PROMPT, OWNER, SET, _asked, _embed, _tell, scratch
from numpy.typing import NDArray

from internal.language.names import NAME_WEIGHT, NAMED
from internal.language.worker import LanguageWorker
from internal.llm.offline.embedder import PEOPLE_THRESHOLD, OfflineEmbedder
from internal.recall.knowledge import KnowledgeSearch
from internal.recall.names import WorkerNames
from internal.recall.terms import TermsFollowing, WorkerTerms
from internal.testing import FrozenClock

NOW = datetime(2026, 2, 7, 12, tzinfo=UTC)
ROUNDS = 50
PRIOR = 0.01

Cases = list[tuple[float, bool]]


async def facts() -> Cases:
    """The score of every fact that was found, and whether it is the one."""
    labelled = json.loads(SET.read_text(encoding="utf-8"))
    worker, clock = LanguageWorker(), FrozenClock(NOW)
    embedder, terms = OfflineEmbedder(worker), WorkerTerms(worker)
    try:
        async with scratch() as database:
            ids = await database.write(lambda connection: _tell(connection, labelled))
            await TermsFollowing(database, terms).follow_due()
            await _embed(database, embedder, clock)
            asked = await _asked(embedder, terms, labelled)
            search = KnowledgeSearch(database, clock, embedder=embedder, terms=terms, names=WorkerNames(worker))
            means = {question: {ids[one] for one in wanted} for question, wanted in labelled["queries"]}
            cases: Cases = []
            for text, question in asked.items():
                hits = await search.facts(OWNER, question, IN_PROMPT)
                kept = [hit for hit in hits if hit.reasons.relevant(search.threshold)]
                cases += [(hit.score, hit.fact.id in means.get(text, set())) for hit in kept]
            return cases
    finally:
        await worker.close()


async def people() -> Cases:
    """How far above the threshold every person stood who was found, and whether it is the one."""
    worker = LanguageWorker()
    try:
        scores = await score_people(OfflineEmbedder(worker))
    finally:
        await worker.close()
    found: Cases = []
    for row, query in enumerate(scores.queries):
        total = np.minimum(scores.cosines[row] + NAME_WEIGHT * scores.boosts[row], 1.0)
        passed = (total >= PEOPLE_THRESHOLD) | (scores.boosts[row] >= NAMED)
        found += [
            (float(total[at]) - PEOPLE_THRESHOLD, scores.ids[at] == query.person) for at in np.flatnonzero(passed)
        ]
    return found


def fitted(cases: Cases) -> dict[str, float]:
    """slope and intercept of the logistic, its log loss, that of the bare rate, and how many cases there were."""
    score = np.array([one for one, _ in cases])
    right = np.array([float(one) for _, one in cases])
    inputs = np.stack([score, np.ones_like(score)], axis=1)
    weights: NDArray[Any] = np.zeros(2)
    prior = np.diag([PRIOR, 0.0])
    for _ in range(ROUNDS):
        chance = 1 / (1 + np.exp(-inputs @ weights))
        slope = inputs.T @ (chance - right) + prior @ weights
        curve = (inputs * (chance * (1 - chance))[:, None]).T @ inputs + prior
        weights = weights - np.linalg.solve(curve, slope)
    chance = 1 / (1 + np.exp(-inputs @ weights))
    return {
        "slope": float(weights[0]),
        "intercept": float(weights[1]),
        "log_loss": _log_loss(chance, right),
        "log_loss_of_rate": _log_loss(np.full_like(right, right.mean()), right),
        "cases": len(cases),
        "right": float(right.sum()),
    }


def _log_loss(chance: NDArray[Any], right: NDArray[Any]) -> float:
    likely = np.clip(chance, 1e-9, 1 - 1e-9)
    return float(-(right * np.log(likely) + (1 - right) * np.log(1 - likely)).mean())


async def _main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", action="store_true")
    asked = parser.parse_args()
    found = {"facts": fitted(await facts()), "people": fitted(await people())}
    if asked.json:
        print(json.dumps(found, indent=2))
        return
    for kind, one in found.items():
        print(f"{kind}: {', '.join(f'{name} {value:.3f}' for name, value in one.items())}")


if __name__ == "__main__":
    asyncio.run(_main())
