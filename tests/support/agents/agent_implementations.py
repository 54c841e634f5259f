"""The two forms of each agent, over a model and by rules, for suites that hold both to the same port."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, Literal

from internal.agents.analyst.agent import ModelAnalyst
from internal.agents.analyst.offline import OfflineAnalyst
from internal.agents.archivist.agent import ModelArchivist
from internal.agents.archivist.offline.agent import OfflineArchivist
from internal.agents.context_manager.agent import ModelContextManager
from internal.agents.context_manager.offline import OfflineContextManager
from internal.agents.enricher.agent import ModelEnricher
from internal.agents.enricher.offline import OfflineEnricher
from internal.agents.model import (
    Analyst,
    Archivist,
    ContextManager,
    Enricher,
    OwnerProfile,
    Reranker,
    Responder,
    TaskManager,
    TranscriptLine,
)
from internal.agents.reranker.agent import ModelReranker
from internal.agents.reranker.offline import OfflineReranker
from internal.agents.responder.agent import ModelResponder
from internal.agents.responder.offline.agent import OfflineResponder
from internal.agents.task_manager.agent import ModelTaskManager
from internal.agents.task_manager.offline import OfflineTaskManager
from internal.config.agents import AgentConfig, ArchivistConfig, RerankerConfig, ResponderConfig
from internal.language.worker.process_pool import LanguageWorker
from internal.llm.openai import OpenAIChat
from internal.people.model import Circle, Person
from internal.testing import Asked, Fault, ScriptedModel

NOON = datetime(2026, 2, 7, 12, tzinfo=UTC)
OWNER = OwnerProfile(user_id=7, name="Анна", username="anna", language="ru", timezone="Europe/Kyiv")
FORMS = ("model", "rules")

_ARCHIVIST, _ENRICHER, _RERANKER, _RESPONDER = "archivist", "enricher", "reranker", "responder"
_ANALYST, _CONTEXT_MANAGER, _TASK_MANAGER = "analyst", "context_manager", "task_manager"
_LINE = re.compile(r"^(\d+)\. \[[^\]]+\] ([^:]+?)(?: \(assistant\))?: (.*)$", re.MULTILINE)
_PERSON = re.compile(r"^\[Person:(\d+)\] ([^|]+?) \| \w+ \| \d+ mentions \| (.*?)(?: \| also.*)?$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Agents:
    """All agents in one form."""

    analyst: Analyst
    archivist: Archivist
    enricher: Enricher
    reranker: Reranker
    responder: Responder
    context_manager: ContextManager
    task_manager: TaskManager


@dataclass(frozen=True, slots=True)
class Side:
    """One form: at work, and with what stands behind it (the server, the language process) gone."""

    agents: Agents
    broken: Agents


@asynccontextmanager
async def side(form: Literal["model", "rules"]) -> AsyncIterator[Side]:
    async with AsyncExitStack() as stack:
        if form == "rules":
            worker, closed = LanguageWorker(), LanguageWorker()
            stack.push_async_callback(worker.close)
            await closed.close()
            yield Side(_by_rules(worker), _by_rules(closed))
            return
        server, down = [await stack.enter_async_context(ScriptedModel()) for _ in range(2)]
        teach(server)
        down.always("*", Fault("status", status=503))
        chats = [OpenAIChat(each.url) for each in (server, down)]
        for chat in chats:
            stack.push_async_callback(chat.aclose)
        yield Side(*(_over(chat) for chat in chats))


def _by_rules(worker: LanguageWorker) -> Agents:
    return Agents(
        OfflineAnalyst(worker),
        OfflineArchivist(worker),
        OfflineEnricher(worker),
        OfflineReranker(worker),
        OfflineResponder(worker),
        OfflineContextManager(worker),
        OfflineTaskManager(worker),
    )


def _over(chat: OpenAIChat) -> Agents:
    return Agents(
        ModelAnalyst(chat, AgentConfig(model=_ANALYST)),
        ModelArchivist(chat, ArchivistConfig(model=_ARCHIVIST)),
        ModelEnricher(chat, AgentConfig(model=_ENRICHER)),
        ModelReranker(chat, RerankerConfig(model=_RERANKER)),
        ModelResponder(chat, ResponderConfig(model=_RESPONDER)),
        ModelContextManager(chat, AgentConfig(model=_CONTEXT_MANAGER)),
        ModelTaskManager(chat, AgentConfig(model=_TASK_MANAGER)),
    )


def teach(server: ScriptedModel) -> None:
    """Has the scripted model answer from what it is shown, as a good model would, about Петров and ACME alone."""
    server.always(_ANALYST, _judge)
    server.always(_ARCHIVIST, _archive)
    server.always(_ENRICHER, _rewrite)
    server.always(_RERANKER, _rank)
    server.always(_RESPONDER, _respond)
    server.always(_CONTEXT_MANAGER, _keep)
    server.always(_TASK_MANAGER, _mind)


def _mind(asked: Asked) -> dict[str, Any]:
    """A reminder for each line of the owner's that asks for one, and the end of T1 where he says that he called."""
    said = [(int(number), text) for number, who, text in _LINE.findall(asked.text) if who == OWNER.name]
    task = {"kind": "reminder", "title": "Позвонить Марии", "due": "2026-02-08", "repeat": None, "person": "Мария"}
    tasks = [task | {"asked": True, "evidence": [number]} for number, text in said if "апомни" in text]
    ends = [{"task": "T1", "outcome": "done", "evidence": [number]} for number, text in said if "позвонила" in text]
    return {"tasks": tasks, "settled": ends}


def _archive(asked: Asked) -> dict[str, Any]:
    said = [(int(number), speaker, text) for number, speaker, text in _LINE.findall(asked.text)]
    facts = [fact for number, speaker, text in said if speaker == OWNER.name and (fact := _stated(number, text))]
    evidence = [number for number, speaker, text in said if "Петров" in text and speaker != "Laplaced"]
    if not evidence:
        return {"people_operations": [], "facts": facts}
    known = next((found for found, name, _ in _PERSON.findall(asked.text) if name == "Петров"), None)
    person = {"display_name": "Петров", "circle": "Work_Inner"} if known is None else {"id": known, "bio": "Переехал."}
    operation = {"type": "Updated" if known else "Added", "person": person, "evidence": evidence}
    return {"people_operations": [operation], "facts": [_by_id(fact, known) for fact in facts]}


def _judge(asked: Asked) -> dict[str, Any]:
    """An answer behind which the owner says that it is not so was wrong."""
    said = [(int(number), speaker, text) for number, speaker, text in _LINE.findall(asked.text)]
    wanted = [int(number) for number in asked.text.split("<responses>")[1].split("</responses>")[0].split(",")]
    wrong = {number - 1 for number, speaker, text in said if speaker == OWNER.name and "не так" in text}
    lesson = {"verdict": "incorrect", "errors": ["Не так."], "lessons": ["Не утверждать того, чего не знаешь."]}
    judged = [{"message": one, **(lesson if one in wrong else {"verdict": "correct"})} for one in wanted]
    verdict = "partially_correct" if wrong else "correct"
    return {"topic": "Петров", "responses": judged, "session_summary": {"verdict": verdict, "summary": "О Петрове."}}


def _keep(asked: Asked) -> dict[str, Any]:
    """What the owner has to do is open; what waits is told."""
    if "<notifications>" in asked.text:
        return {"notifications": [{"id": 1, "decision": "now", "text": "", "until": None, "reason": "Пора."}]}
    said = [(int(number), text) for number, speaker, text in _LINE.findall(asked.text) if speaker == OWNER.name]
    threads = [{"text": text, "from": [], "evidence": [number]} for number, text in said if "надо" in text.casefold()]
    return {"snapshot": {"who": [], "now": [], "threads": threads}}


def _stated(number: int, text: str) -> dict[str, Any] | None:
    """Who works or worked for ACME, by the words of one line of the owner's."""
    match = re.search(r"(Я|Петров) (работает|работаю|вчера уволил\S+) (?:в|из) ACME(?: (с \d{4} года))?", text)
    if match is None:
        return None
    return {
        "source": "user" if match[1] == "Я" else match[1],
        "relation": "works at",
        "target": "ACME",
        "fact": text,
        "valid_at": match[3],
        "invalid_at": "вчера" if match[2].startswith("вчера") else None,
        "entity_types": {"ACME": "Organization"},
        "evidence": [number],
    }


def _by_id(fact: dict[str, Any], known: str | None) -> dict[str, Any]:
    return {**fact, "source": f"Person:{known}"} if known and fact["source"] == "Петров" else fact


def _rewrite(asked: Asked) -> dict[str, Any]:
    question = asked.text.split("<question>")[1].split("</question>")[0].strip()
    return {"query": question.replace("он", "Петров") if "Петров" in asked.text else question}


def _rank(asked: Asked) -> dict[str, Any]:
    query = asked.text.split("<query>")[1].split("</query>")[0]
    return {
        "people": [{"id": int(n), "reason": "named"} for n, name, _ in _PERSON.findall(asked.text) if name in query]
    }


def _respond(asked: Asked) -> str:
    question = asked.messages[-1]["content"]
    bios = [bio for _, name, bio in _PERSON.findall(asked.text) if name in question]
    return " ".join(bios) or "Не знаю."


def person(number: int, name: str, circle: Circle = Circle.OTHER, bio: str = "", **more: Any) -> Person:
    fields = {"user_id": OWNER.user_id, "entity_id": str(number), "first_seen": NOON, "last_seen": NOON, **more}
    return Person(id=number, display_name=name, circle=circle, bio=bio, **fields)


def line(number: int, text: str, role: Literal["user", "assistant"] = "user", **more: Any) -> TranscriptLine:
    fields = {"speaker": "Анна" if role == "user" else "Laplaced", "at": NOON + timedelta(minutes=number), **more}
    return TranscriptLine(number=number, role=role, text=text, **fields)
