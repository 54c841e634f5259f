"""A busy bot that a real Prometheus scrapes, told by `deploy/` what and how, and what Prometheus then knows."""

from __future__ import annotations

import asyncio
import json
import re
import shutil
from collections.abc import AsyncIterator, Collection, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import httpx
import yaml
from support.patience import PATIENCE_S
from support.product.running_product import ARCHIVIST, ENRICHER, RERANKER, RESPONDER, ROOT, Product, product, until

from bot.simulator.client import ControlClient
from internal.testing import Asked, Step

DEPLOY = ROOT / "deploy"
SCRAPES = 4
"""So many at least: a rise needs two samples of a series, and the youngest series begins in the middle."""


@dataclass(frozen=True, slots=True)
class Observed:
    """`series`: label names by metric name, as Prometheus stores them; `answers`: its answer to each expression."""

    series: Mapping[str, set[str]]
    answers: Mapping[str, dict[str, Any]]
    rules: list[dict[str, Any]]
    targets: list[dict[str, Any]]


async def observe(folder: Path, expressions: Collection[str]) -> Observed:
    async with product(folder, scripted=True, LAPLACED_DIALOGUE__IDLE_TIMEOUT="0.3s") as (bot, people):
        assert people is not None
        async with _prepared(bot, people) as user, prometheus(folder, bot.url) as asked:
            await _converse(bot, people, user)
            await until(lambda: _scraped(asked), PATIENCE_S)
            return Observed(
                series=_labels(await _ask(asked, "series", **{"match[]": '{__name__!=""}'})),
                answers={one: await _ask(asked, "query", query=one) for one in expressions},
                rules=(await _ask(asked, "rules"))["groups"][0]["rules"],
                targets=(await _ask(asked, "targets"))["activeTargets"],
            )


@asynccontextmanager
async def _prepared(bot: Product, people: ControlClient) -> AsyncIterator[int]:
    """The bot runs; its models err once each, and Telegram once sends it away."""
    assert bot.model is not None
    user = await people.add_user("Alex", language_code="en")
    bot.settings["LAPLACED_ACCESS__ALLOWED_USER_IDS"] = str(user)
    bot.model.always(RESPONDER, "An answer.")
    bot.model.script(ENRICHER, "no JSON at all")
    bot.model.always(ENRICHER, {"query": "Maria the teacher"})
    bot.model.script(RERANKER, {"people": [{"id": "Person:999999", "reason": "nobody"}]})
    bot.model.always(RERANKER, lambda asked: {"people": [{"id": f"Person:{_ids(asked)[0]}", "reason": "meant"}]})
    bot.model.script(
        ARCHIVIST,
        {
            "people_operations": [
                {"type": "Added", "person": {"display_name": "Maria", "bio": "Friend."}},
                {"type": "Added", "person": {"display_name": "Maria Smith", "bio": "Teacher."}},
                {"type": "Added", "person": {"display_name": "", "bio": "nobody"}},
            ],
            "facts": [
                {
                    "source": "Maria",
                    "relation": "WORKS_FOR",
                    "target": "a school",
                    "fact": "Maria works for a school",
                    "evidence": [1],
                }
            ],
            "memories": [
                {"label": "Memory", "properties": {"content": "Maria called"}, "evidence": [1]},
            ],
        },
        Step(
            lambda asked: {
                "people_operations": [
                    {"type": "Merged", "source_id": _ids(asked)[1], "target_id": _ids(asked)[0], "reason": "the same"}
                ]
            },
            match="her school",
        ),
        Step({"people_operations": []}, times=None),
    )
    await bot.start()
    await people.fault("flood", "sendMessage", retry_after=1)
    yield user


async def _converse(bot: Product, people: ControlClient, user: int) -> None:
    """Two people are learned and become one; then one question fails to be helped, and the next is helped."""
    await people.say(user, "Maria and Maria Smith called.")
    await until(lambda: _known(bot, user, 2), PATIENCE_S)
    vectors = "SELECT count(*) FROM vectors WHERE item LIKE 'person:%' HAVING count(*) = 2"
    await until(lambda: bot.rows(vectors), PATIENCE_S)
    after = 0
    for text in ("What did Maria say?", "And what about her school?"):
        answer = await people.wait_for_message(user, lambda m: True, after=after, within=PATIENCE_S)
        await people.say(user, text)
        after = answer["message_id"]
    await until(lambda: _known(bot, user, 1), PATIENCE_S)
    await until(lambda: _counted(bot, "laplaced_people_reranker_selected_count"), PATIENCE_S)
    await _be_reminded(bot, people, user)


async def _be_reminded(bot: Product, people: ControlClient, user: int) -> None:
    """One task is asked for in the chat, and another's time comes."""
    await people.say(user, "Remind me to call Maria tomorrow at 10:00")
    await until(lambda: _counted(bot, "laplaced_tasks_changed_total{"), PATIENCE_S)
    due = datetime.now(UTC) + timedelta(seconds=1)
    await bot.post("/tasks", {"user_id": user, "title": "Water the plants", "due_at": due.isoformat()})
    await until(lambda: _counted(bot, "laplaced_notifications_decided_total{"), PATIENCE_S)


async def _known(bot: Product, user: int, count: int) -> bool:
    return len((await bot.get("/people", user_id=user))["people"]) == count


async def _counted(bot: Product, name: str) -> bool:
    return name in await bot.metrics()


def _ids(asked: Asked) -> list[int]:
    return [int(found) for found in re.findall(r"\[Person:(\d+)\]", asked.text)]


@asynccontextmanager
async def prometheus(folder: Path, target: str) -> AsyncIterator[httpx.AsyncClient]:
    """Debian's Prometheus on a free port of loopback, with what deploy/ tells it, but quicker and another target."""
    binary = shutil.which("prometheus")
    assert binary is not None, "the tests need Debian's package prometheus; make test installs it"
    settings = yaml.safe_load((DEPLOY / "prometheus.yml").read_text(encoding="utf-8"))
    settings["global"] = {"scrape_interval": "500ms", "scrape_timeout": "500ms", "evaluation_interval": "500ms"}
    settings["rule_files"] = [str(DEPLOY / name) for name in settings["rule_files"]]
    [job] = settings["scrape_configs"]
    job["static_configs"] = [{"targets": [target.removeprefix("http://")]}]
    (folder / "prometheus.yml").write_text(yaml.safe_dump(settings), encoding="utf-8")
    process = await asyncio.create_subprocess_exec(
        binary, f"--config.file={folder / 'prometheus.yml'}", f"--storage.tsdb.path={folder / 'series'}",
        "--web.listen-address=127.0.0.1:0", "--log.format=json",
        stdout=asyncio.subprocess.DEVNULL, stderr=asyncio.subprocess.PIPE,
    )  # fmt: skip
    try:
        address = await asyncio.wait_for(_address(process), PATIENCE_S)
        assert process.stderr is not None
        reading = asyncio.create_task(process.stderr.read())  # a full pipe would stop it
        async with httpx.AsyncClient(base_url=f"http://{address}", timeout=30, trust_env=False) as client:
            yield client
    finally:
        process.terminate()
        await process.wait()
    await reading


async def _address(process: asyncio.subprocess.Process) -> str:
    assert process.stderr is not None
    told = []
    while line := await process.stderr.readline():
        told.append(line.decode())
        said = json.loads(line)
        if said.get("msg") == "Listening on":
            return str(said["address"])
    raise AssertionError(f"Prometheus ended with {await process.wait()}: {''.join(told)[-2000:]}")


async def _scraped(client: httpx.AsyncClient) -> bool:
    counted = await _ask(client, "query", query="count_over_time(laplaced_notifications_decided_total[1h])")
    return any(float(one["value"][1]) >= SCRAPES for one in counted["result"])


async def _ask(client: httpx.AsyncClient, what: str, **parameters: str) -> Any:
    answer = (await client.get(f"/api/v1/{what}", params=parameters)).json()
    assert answer["status"] == "success", (parameters, answer)
    return answer["data"]


def _labels(series: list[dict[str, str]]) -> dict[str, set[str]]:
    found: dict[str, set[str]] = {}
    for one in series:
        found.setdefault(one["__name__"], set()).update(one.keys() - {"__name__"})
    return found
