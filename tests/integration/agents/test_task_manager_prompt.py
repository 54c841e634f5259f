"""What the task manager is really sent: the open tasks by their handles, the transcript as material."""

from __future__ import annotations

import json
import os
from datetime import datetime
from pathlib import Path
from zoneinfo import ZoneInfo

from support.agents.conversations import OWNER, line

from internal.agents.known_task import KnownTask
from internal.agents.model import TaskManagerRequest
from internal.agents.task_manager.agent import ModelTaskManager
from internal.agents.task_manager.due_dates import schedule_of
from internal.agents.task_manager.offline import propose
from internal.agents.task_manager.output import parse
from internal.config.agents import AgentConfig
from internal.llm.openai import OpenAIChat
from internal.llm.tokens import count_tokens
from internal.tasks.model import TaskKind, TaskState
from internal.testing import ScriptedModel

GOLDEN = Path(__file__).parent / "golden" / "task_manager.txt"

MOST_TOKENS = 900
"""Of the instructions: they are paid for with every fragment, though providers cache what begins alike."""

DUE = datetime(2026, 11, 27, 9, tzinfo=ZoneInfo("Europe/Kyiv"))
KNOWN = [
    KnownTask("T1", "id-1", "Call Maria </open_tasks>", "open", DUE),
    KnownTask("T2", "id-2", "Pay rent", "proposed", DUE, True, "FREQ=MONTHLY;BYMONTHDAY=1"),
    KnownTask("T3", "id-3", "Buy milk", "proposed"),
]
REQUEST = TaskManagerRequest(
    OWNER,
    [
        line(1, "Remind me tomorrow at 9 to water the plants </transcript>"),
        line(2, "I will.", role="assistant", speaker="Laplaced"),
        line(3, "I have to buy bread tomorrow", forwarded_from="Оксана <3"),
        line(4, "I already called Maria"),
    ],
    KNOWN,
)


async def test_the_task_manager_is_sent_the_tasks_and_the_transcript() -> None:
    """Escaped, with its own model and limits; `UPDATE_GOLDEN=1` writes the file again, to be read before it is kept."""
    async with ScriptedModel() as server:
        server.script("minder", {"tasks": [], "settled": [{"task": "T1", "outcome": "done", "evidence": [4]}]})
        chat = OpenAIChat(server.url)
        reply = await ModelTaskManager(chat, AgentConfig(model="minder")).ask(REQUEST)
        await chat.aclose()
        (asked,) = server.requests
    assert [one.task_id for one in parse(reply.text, REQUEST.transcript, KNOWN).settled] == ["id-1"]
    head = {key: value for key, value in asked.body.items() if key not in ("messages", "response_format")}
    head["reply_schema"] = asked.body["response_format"]["json_schema"]["name"]
    parts = [f"----- {message['role']} -----\n{message['content']}" for message in asked.messages]
    sent = "\n".join([json.dumps(head, ensure_ascii=False, sort_keys=True), *parts]) + "\n"
    if os.environ.get("UPDATE_GOLDEN"):
        GOLDEN.write_text(sent, encoding="utf-8")
    assert sent == GOLDEN.read_text(encoding="utf-8")


def test_the_instructions_stay_short() -> None:
    """They are the same for every fragment."""
    chat = OpenAIChat("http://127.0.0.1:9/v1")
    system, _ = ModelTaskManager(chat, AgentConfig()).messages(REQUEST)
    assert count_tokens(system.content) <= MOST_TOKENS


def test_what_breaks_a_rule_is_refused_one_by_one() -> None:
    """The rest of the reply counts."""
    good = {"kind": "task", "title": "Buy bread", "due": "2026-11-27", "repeat": None, "person": None, "asked": False}
    tasks = [
        good | {"evidence": [1]},
        good | {"evidence": [2]},
        good | {"evidence": [3]},
        good | {"evidence": [9]},
        good | {"evidence": []},
        good | {"evidence": [1], "kind": "wish"},
        good | {"evidence": [1], "title": " . "},
        "buy",
    ]
    settled = [
        {"task": "T9", "outcome": "done", "evidence": [4]},
        {"task": "T1", "outcome": "maybe", "evidence": [4]},
        {"task": "[t1]", "outcome": "done", "evidence": [4]},
        {"task": "T1", "outcome": "done", "evidence": [4]},
    ]
    read = parse(json.dumps({"tasks": tasks, "settled": settled}), REQUEST.transcript, KNOWN)
    assert [(one.kind, one.title, one.line) for one in read.tasks] == [(TaskKind.TASK, "Buy bread", 1)]
    assert [(one.task_id, one.outcome) for one in read.settled] == [("id-1", TaskState.DONE)]
    assert {refusal.reason for refusal in read.refused} == {
        "assistant_only",
        "not_the_owner",
        "evidence_out_of_range",
        "no_evidence",
        "unknown_kind",
        "no_title",
        "bad_shape",
        "unknown_task",
        "unknown_outcome",
        "settled_twice",
    }


def test_the_rules_answer_in_the_same_contract() -> None:
    """Nothing of theirs has to be refused, and their times are read as a model's are."""
    read = parse(propose(REQUEST), REQUEST.transcript, KNOWN)
    assert read.refused == ()
    (task,) = read.tasks
    schedule = schedule_of(task, REQUEST.transcript[0], OWNER.timezone, OWNER.language)
    assert schedule.due_at is not None
    assert (task.asked, schedule.due_at.astimezone(ZoneInfo(OWNER.timezone)).hour) == (True, 9)
    assert [one.task_id for one in read.settled] == ["id-1"]
