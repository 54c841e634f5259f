"""Fits the calibration of search scores: the chance that a fact or person found is the right one.

    python -m benchmarks.search.fit_calibration [--vectors FOLDER] [--json]

Facts: the labelled set of tests/data/fact_search.json with the offline embedder; every hit of every question is one
case (right or wrong), those of questions that mean nothing are wrong. People: tests/data/people_search.json; every
person who is found at the threshold is one case. Imports: the sessions of six of our own conversations, sixty questions
each; a hit is right if one of the lines that would be shown of it is evidence. For each a logistic of the score is
fitted by Newton's method with a weak prior (the slope's weight 0.01), and its log loss is compared with that of the
bare rate. The constants stand in internal/recall/search/calibration.py.
"""

from __future__ import annotations

import argparse
import asyncio
import json
from collections.abc import Sequence
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import Connection

from benchmarks.search.calibrate_people import score as score_people
from benchmarks.search.knowledge_search import IN_PROMPT, OWNER, SET, _asked, _embed, _tell, scratch
from bot.evaluation import locomo
from bot.runtime.evaluation import ProgressLine, open_stage, vectors_folder
from internal.access import repository as users
from internal.access.model import Role, User, UserState
from internal.config.settings import load
from internal.knowledge import episode_repository as episodes
from internal.knowledge.model import Episode
from internal.language.names.person_names import NAME_WEIGHT, NAMED
from internal.language.worker.process_pool import LanguageWorker
from internal.llm.offline.embedder import PEOPLE_THRESHOLD, OfflineEmbedder
from internal.recall.index.terms import TermsBackfill, WorkerTerms
from internal.recall.prompt.passages import best_match
from internal.recall.search.knowledge import KnowledgeSearch
from internal.recall.search.names import WorkerNames
from internal.storage import search_items
from internal.testing import FrozenClock

NOW = datetime(2026, 2, 7, 12, tzinfo=UTC)
CONVERSATIONS = Path(__file__).parents[1] / "memory_set/conversations"
IMPORTED = ("en-01", "en-07", "ru-01", "ru-03", "uk-01", "uk-02")
QUESTIONS, IMPORTS_IN_PROMPT = 60, 4
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
            await TermsBackfill(database, terms).analyse_due()
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


async def imports(vectors: Path) -> Cases:
    """The score of every import that was found, and whether one of the lines that would be shown answers."""
    conversations = locomo.read([CONVERSATIONS / f"{name}.json" for name in IMPORTED])
    cases: Cases = []
    async with open_stage(load(None), OfflineEmbedder.name, vectors) as stage:
        sessions: dict[str, list[locomo.Turn]] = {}
        for user_id, one in enumerate(conversations, 1):
            await stage.database.write(partial(users.add, user=_owner(user_id)))
            for number in sorted({turn.session for turn in one.turns}):
                said = [turn for turn in one.turns if turn.session == number]
                sessions[f"{user_id}-{number}"] = said
                await stage.database.write(partial(_import, user_id=user_id, number=number, said=said))
        await stage.index(ProgressLine())
        for user_id, one in enumerate(conversations, 1):
            for question in one.questions[:QUESTIONS]:
                asked = await stage.knowledge.prepare_query(user_id, question.text)
                for hit in await stage.knowledge.episodes(user_id, asked, IMPORTS_IN_PROMPT):
                    if hit.reasons.relevant(stage.knowledge.threshold):
                        said = sessions[hit.episode.id]
                        best = best_match([turn.text for turn in said], asked.words)
                        shown = {turn.dia_id for turn in said[max(0, best - 1) : best + 2]}
                        cases.append((hit.score, not shown.isdisjoint(question.evidence)))
    return cases


def _import(connection: Connection, user_id: int, number: int, said: Sequence[locomo.Turn]) -> None:
    text, at = "\n".join(f"{turn.speaker}: {turn.text}" for turn in said), said[0].at
    episode = Episode(user_id, f"{user_id}-{number}", "text", str(number), text, "", None, at, at)
    episodes.add_episode(connection, episode, [])
    search_items.save_search_item(connection, user_id, "episode", episode.id, text, 1)


def _owner(user_id: int) -> User:
    return User(user_id, Role.MEMBER, UserState.ACTIVE, "", None, "en", "UTC", tz_asked=True, created_at=NOW)


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
    parser.add_argument("--vectors", type=Path, default=vectors_folder(), help="keeps the vectors of imports")
    parser.add_argument("--json", action="store_true")
    asked = parser.parse_args()
    found = {"facts": fitted(await facts()), "people": fitted(await people())}
    found["imports"] = fitted(await imports(asked.vectors))
    if asked.json:
        print(json.dumps(found, indent=2))
        return
    for kind, one in found.items():
        print(f"{kind}: {', '.join(f'{name} {value:.3f}' for name, value in one.items())}")


if __name__ == "__main__":
    asyncio.run(_main())
