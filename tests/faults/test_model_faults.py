"""Models go wrong in every way they are known to, and the user, the log and the bill stay right."""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass
from typing import Any

import pytest
import pytest_asyncio
from support.faults.fault_record import proving
from support.faults.fault_stage import (
    EMBEDDER,
    MODEL_KEY,
    OFFLINE,
    Played,
    Stage,
    added,
    gaps,
    quiet,
    shown,
    told_secrets,
    under_faults,
)
from support.long import LONG
from support.product.running_product import ARCHIVIST, ENRICHER, RERANKER, RESPONDER, until

from bot.telegram.i18n import phrase
from internal.testing import Answer, Asked, Fault

pytestmark = pytest.mark.asyncio(loop_scope="module")

FAILED, REFUSED = phrase("en", "answer-failed"), phrase("en", "answer-refused")
UNREACHABLE, DENIED = phrase("en", "model-unreachable"), phrase("en", "model-denied")
DEAD, WAITING = phrase("en", "archive-dead"), phrase("en", "archive-denied")
HALF = "This is half of"
TOO_LONG = Fault("status", status=400, body={"error": {"message": "maximum context length is 4096", "code": 400}})
KEY_QUOTED = {"error": {"message": f"Incorrect API key provided: {MODEL_KEY}", "code": 401}}


# -- the answer in the chat --------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Answering:
    """The responder gives `replies` and is well from then on; the user sees `said`, after so many `calls`."""

    name: str
    replies: tuple[Answer, ...]
    said: str
    calls: int
    outcome: str
    hidden: str = ""
    slower: float = 0.0


GOOD = "All is well."
VECTORS_OF_PEOPLE = "SELECT count(*) FROM vectors WHERE item LIKE 'person:%' AND user_id = ?"
ANSWERS = [
    Answering("raw JSON", ({"people_operations": []},), OFFLINE, 2, "asked again, never shown", '"people_operations"'),
    Answering(
        "raw JSON in a fence, every time", ('```json\n{"query": "x"}\n```',) * 3, FAILED, 3,
        "told plainly after three attempts, never shown", '"query"',
    ),
    Answering(
        "thoughts before the words", (f"<think>The user is sad.</think>{GOOD}",), GOOD, 1,
        "the words without the thoughts, also in later prompts", "sad",
    ),
    Answering(
        "thoughts that never end", ("<think>The user is sad.",), OFFLINE, 2, "asked again, never shown", "sad",
    ),
    Answering(
        "a block of the prompt in the words", (f"{GOOD}\n<relevant_people>\n[Person:1] Sam\n</relevant_people>",),
        GOOD, 1, "the words without the block, also in later prompts", "Sam",
    ),
    Answering("empty: reasoning ate the budget", (Fault("empty", text="so I think"),), OFFLINE, 2, "asked again"),
    Answering(
        "empty, every time", (Fault("empty"),) * 3, FAILED, 3, "told plainly after three attempts"
    ),
    Answering(
        "cut by its length", (Fault("truncated", text=HALF),), f"{HALF} …", 1,
        "what was paid for is shown, marked as cut",
    ),
    Answering("HTTP 200 with an error body", (Fault("error_body"),), OFFLINE, 2, "asked again"),
    Answering("an error inside choices[0]", (Fault("choice_error", status=502),), OFFLINE, 2, "asked again"),
    Answering("a page of HTML with HTTP 200", (Fault("malformed"),), OFFLINE, 2, "asked again"),
    Answering("500", (Fault("status", status=500),), OFFLINE, 2, "asked again after a pause", slower=1),
    Answering("503, every time", (Fault("status"),) * 3, UNREACHABLE, 3, "told plainly after three attempts"),
    Answering("429 without Retry-After", (Fault("status", status=429),), OFFLINE, 2, "asked again after a pause",
              slower=1),
    Answering(
        "429 with Retry-After: 3", (Fault("status", status=429, retry_after="3"),), OFFLINE, 2,
        "asked again when it was allowed", slower=3,
    ),
    Answering("the connection reset", (Fault("reset"),), OFFLINE, 2, "asked again at once"),
    Answering("the stream breaks half-way", (Fault("cut", text=HALF),), OFFLINE, 2, "asked again, no half kept", HALF),
    Answering(
        "the stream falls silent half-way", (Fault("stall", text=HALF),), OFFLINE, 2,
        "given up after its timeout, asked again, no half kept", HALF, slower=3,
    ),
    Answering(
        "silence before the first word", (Fault("hang"),), OFFLINE, 2, "given up after its timeout, asked again",
        slower=3,
    ),
    Answering("a refusal", (Fault("refusal", text="I will not."),), REFUSED, 1, "told, never asked again", "I will"),
    Answering("a safety block", (Fault("content_filter"),), REFUSED, 1, "told, never asked again"),
    Answering("401", (Fault("status", status=401, body=KEY_QUOTED),), DENIED, 1, "told, and not asked again"),
    Answering("402", (Fault("status", status=402),), DENIED, 1, "told, and not asked again"),
    Answering("404: no such model", (Fault("status", status=404),), DENIED, 1, "told, and not asked again"),
    Answering("a redirect elsewhere", (Fault("redirect"),), DENIED, 1, "not followed, since the key would go along"),
    Answering("a reply without end", (Fault("oversized", megabytes=9),), OFFLINE, 2, "not read whole, asked again"),
]  # fmt: skip


IN_LONG = {
    "thoughts that never end", "empty, every time", "an error inside choices[0]", "a page of HTML with HTTP 200",
    "429 without Retry-After", "402", "404: no such model",
}  # fmt: skip
"""Answers that differ from another one only in what the model client's own tests tell apart."""
if not LONG:
    ANSWERS = [case for case in ANSWERS if case.name not in IN_LONG]


@dataclass(frozen=True)
class Answered:
    said: str
    calls: int
    pause: float
    turns: list[tuple[Any, ...]]
    next_said: str
    next_prompt: str
    stored: str


async def answering(stage: Stage, case: Answering) -> Answered:
    user, marker = await stage.newcomer(), f"(answer {case.name})"
    stage.script(RESPONDER, marker, *case.replies, OFFLINE)
    said = await stage.ask(user, f"How are they? {marker}")
    calls = stage.asked(RESPONDER, marker)
    turns = stage.bot.rows("SELECT state FROM turns WHERE user_id = ?", user)
    next_said = await stage.ask(user, f"And now? {marker}")
    stored = stage.bot.rows("SELECT content FROM messages WHERE user_id = ? AND role = 'assistant'", user)
    return Answered(
        said=said,
        calls=len(calls),
        pause=min(gaps([one.at for one in calls]), default=0.0),
        turns=turns,
        next_said=next_said,
        next_prompt=stage.asked(RESPONDER, marker)[-1].text,
        stored="\n".join(content for (content,) in stored),
    )


@pytest.mark.parametrize("case", ANSWERS, ids=lambda case: case.name)
async def test_whatever_the_responder_does_the_user_is_answered_once(played: Played, case: Answering) -> None:
    """One message comes, after a bounded number of calls; nothing leaks into it, the log or a later prompt."""
    with proving("model", f"answer: {case.name}", case.outcome):
        seen: Answered = await played.outcome(case.name)
        assert (seen.said, seen.calls) == (case.said, case.calls)
        assert seen.pause >= case.slower
        assert seen.turns[0][0] in (("failed",) if case.said in (FAILED, UNREACHABLE, DENIED, REFUSED) else
                                    ("answered", "closed"))  # fmt: skip
        assert seen.next_said == OFFLINE
        for apology in (FAILED, UNREACHABLE, DENIED, REFUSED):
            assert apology not in seen.next_prompt
            assert apology not in seen.stored
        if case.hidden:
            assert case.hidden not in seen.next_prompt
            assert case.hidden not in seen.stored


# -- what the archivist says -------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Archiving:
    """The archivist first learns of Mira, then answers by `replies` (made for her id and a stranger's)."""

    name: str
    replies: Callable[[int, int], tuple[Answer, ...]]
    outcome: str
    people: tuple[str, ...] = ("Mira",)
    bio: str = "Mira plays chess."
    calls: int = 1
    state: str = "applied"
    refused: tuple[str, ...] = ()


def updated(person_id: object, bio: str = "Mira sails.", **more: Any) -> dict[str, Any]:
    person = {"id": person_id, "bio": bio}
    return {"people_operations": [{"type": "Updated", "person": person, "evidence": [1], **more}]}


FENCED = f"```json\n{str(added('Nora')).replace(chr(39), chr(34))}\n```"
PLAIN = str(added("Nora")).replace("'", '"')
BOTH = ("Mira", "Nora")
SAILS = "Mira sails."
ARCHIVALS = [
    Archiving("JSON in a fence", lambda mira, other: (FENCED,), "read", BOTH),
    Archiving("JSON behind a preamble", lambda mira, other: (f"Sure! Here it is:\n{PLAIN}\nDone.",), "read", BOTH),
    Archiving("a bare array", lambda mira, other: (added("Nora")["people_operations"],), "read", BOTH),
    Archiving(
        "JSON cut in the middle", lambda mira, other: (PLAIN[:-20], added("Nora")), "nothing of it, asked again", BOTH,
        calls=2,
    ),
    Archiving(
        "cut by its length", lambda mira, other: (Fault("truncated", text=PLAIN[:-20]), added("Nora")),
        "the slice is halved, each half asked", BOTH, calls=2,
    ),
    Archiving(
        "longer than the context", lambda mira, other: (TOO_LONG, added("Nora")),
        "the slice is halved, each half asked", BOTH, calls=2,
    ),
    Archiving(
        "cut in its second item",
        lambda mira, other: (Fault("truncated", text=json.dumps(updated(mira))[:-2] + ', {"type": "Added", "per'),
                             added("Nora")),
        "the complete items stay, the rest is read on", BOTH, SAILS, calls=2,
    ),
    Archiving(
        "commas and comments that JSON has not", lambda mira, other: (
            PLAIN.replace("]}", ",], // that is all\n}"),), "read", BOTH,
    ),
    Archiving("wrapped in a result", lambda mira, other: ({"result": added("Nora")},), "read", BOTH),
    Archiving("wrapped in a list", lambda mira, other: ([added("Nora")],), "read", BOTH),
    Archiving(
        "other words for the format", lambda mira, other: ({"people_operations": [
            {"type": "Add", "person": {"name": "Nora", "circle": "Sailors"}, "evidence": "1-2"},
            {"type": "update", "person": {"id": mira, "bio": SAILS}, "evidence": [1, 77]}]},),
        "read; a number of no line is left out", BOTH, SAILS,
    ),
    Archiving(
        "prose, then JSON", lambda mira, other: (
            "Nora is new.", lambda asked: added("Nora") if "there is no JSON" in asked.text else "Nora is new."),
        "asked once more, with what was wrong with it", BOTH, calls=2,
    ),
    Archiving(
        "facts as a list of their own", lambda mira, other: (
            [{"source": "user", "relation": "KNOWS", "target": "Nora"}], added("Nora")),
        "no silent success: asked again", BOTH, calls=2,
    ),
    Archiving("an id as a number", lambda mira, other: (updated(mira),), "understood", bio=SAILS),
    Archiving("an id as a float", lambda mira, other: (updated(float(mira)),), "understood", bio=SAILS),
    Archiving("an id as text", lambda mira, other: (updated(str(mira)),), "understood", bio=SAILS),
    Archiving("an id as Person:42", lambda mira, other: (updated(f"Person:{mira}"),), "understood", bio=SAILS),
    Archiving("an id as [Person:42]", lambda mira, other: (updated(f"[Person:{mira}]"),), "understood", bio=SAILS),
    Archiving(
        "an id of another user's person", lambda mira, other: (updated(other),), "refused, that person untouched",
        refused=("unknown_id",),
    ),
    Archiving("an invented id", lambda mira, other: (updated(987_654_321),), "refused", refused=("unknown_id",)),
    Archiving(
        "an id of another kind", lambda mira, other: (updated(f"Message:{mira}"),), "refused", refused=("unknown_id",),
    ),
    Archiving(
        "a merge of somebody with himself",
        lambda mira, other: ({"people_operations": [{"type": "Merged", "source_id": mira, "target_id": mira}]},),
        "refused, nobody is lost", refused=("self_merge",),
    ),
    Archiving(
        "evidence that was not shown", lambda mira, other: ({"people_operations": [
            {"type": "Added", "person": {"display_name": "Nora"}, "evidence": [77]}]},),
        "refused", refused=("evidence_out_of_range",),
    ),
    Archiving(
        "unknown keys only", lambda mira, other: ({"persons": [{"name": "Nora"}]}, added("Nora")),
        "no silent success: asked again", BOTH, calls=2,
    ),
    Archiving(
        "nothing but nulls", lambda mira, other: ({"people_operations": None}, added("Nora")),
        "no silent success: asked again", BOTH, calls=2,
    ),
    Archiving(
        "a list as rerankers answer", lambda mira, other: ({"people": [{"id": mira, "reason": "?"}]}, added("Nora")),
        "no silent success: asked again", BOTH, calls=2,
    ),
    Archiving(
        "one bad operation among good ones", lambda mira, other: ({"people_operations": [
            *added("Nora")["people_operations"], {"type": "Deleted"}, "?"]},),
        "the good ones applied, the bad ones refused", BOTH, refused=("bad_shape", "unknown_type"),
    ),
    Archiving(
        "the owner as a person", lambda mira, other: ({"people_operations": [
            *added("Olena")["people_operations"], *added("Nora")["people_operations"]]},),
        "refused, the rest applied", BOTH, refused=("owner_as_person",),
    ),
    Archiving(
        "what nobody said", lambda mira, other: (
            {"people_operations": [{"type": "Added", "person": {"display_name": "Dr. Ruth", "bio": "Works at ACME."},
                                    "evidence": [1]}],
             "entities": [{"name": "ACME", "labels": ["Organization"], "summary": "A company", "evidence": [1]}],
             "facts": [{"source": "user", "relation": "WORKS_FOR", "target": "ACME",
                        "fact": "The owner works at ACME", "evidence": [1]}],
             "memories": [{"label": "Memory", "properties": {"content": "Works at ACME as a designer"},
                           "evidence": [1]}]},),
        "refused one by one", refused=("not_in_evidence",) * 4,
    ),
    Archiving(
        "a username that nobody wrote", lambda mira, other: ({"people_operations": [
            {"type": "Added", "person": {"display_name": "Nora", "username": "nora_k"}, "evidence": [1]}]},),
        "dropped, the person stays", BOTH, refused=("username_not_in_evidence",),
    ),
    Archiving("an empty list", lambda mira, other: ({"people_operations": []},), "nothing, and that is an answer"),
    Archiving(
        "empty: reasoning ate the budget", lambda mira, other: (Fault("empty"), added("Nora")), "asked again", BOTH,
        calls=2,
    ),
    Archiving(
        "HTTP 200 with an error body that names no code",
        lambda mira, other: (Fault("status", status=200, body={"error": {"message": "oops"}}), added("Nora")),
        "asked again", BOTH, calls=2,
    ),
    Archiving("a refusal", lambda mira, other: (Fault("refusal"),), "given up at once and told", state="dead"),
    Archiving("a safety block", lambda mira, other: (Fault("content_filter"),), "given up at once and told",
              state="dead"),
    Archiving(
        "never JSON", lambda mira, other: ("I would rather not.",), "given up after the cap and told", calls=8,
        state="dead",
    ),
    Archiving(
        "a page of HTML, every time", lambda mira, other: (Fault("malformed"),), "given up after the cap and told",
        calls=4, state="dead",
    ),
]  # fmt: skip
ARCHIVALS_IN_LONG = {
    "JSON behind a preamble", "a bare array", "commas and comments that JSON has not", "wrapped in a result",
    "wrapped in a list", "an id as a number", "an id as a float", "an id as text", "an id as [Person:42]",
    "nothing but nulls", "a list as rerankers answer", "a safety block",
}  # fmt: skip
"""Replies that differ from another one only in what the tests of reading them tell apart."""
if not LONG:
    ARCHIVALS = [case for case in ARCHIVALS if case.name not in ARCHIVALS_IN_LONG]


@dataclass(frozen=True)
class Archived:
    people: list[tuple[Any, ...]]
    runs: list[tuple[Any, ...]]
    refused: list[str]
    pauses: list[float]
    calls: int
    seen: list[str]
    strangers: list[tuple[Any, ...]]


async def archiving(stage: Stage, case: Archiving, stranger: int) -> Archived:
    user, marker = await stage.newcomer(), f"(archival {case.name})"
    stage.script(RESPONDER, marker, OFFLINE)
    stage.script(ARCHIVIST, f"first {marker}", added("Mira"))
    await stage.ask(user, f"Mira is a friend. first {marker}")
    ((mira,),) = await stage.until_rows("SELECT id FROM people WHERE user_id = ?", user)
    await stage.settled(user)
    ((other,),) = stage.bot.rows("SELECT id FROM people WHERE user_id = ?", stranger)
    stage.script(ARCHIVIST, f"second {marker}", *case.replies(mira, other))
    await stage.ask(user, f"Mira sails, says Nora. second {marker}")
    await stage.settled(user)
    calls = stage.asked(ARCHIVIST, f"second {marker}")
    events = "SELECT json_extract(payload, '$.reason') FROM events WHERE user_id = ? AND event_type = ? ORDER BY seq"
    return Archived(
        people=stage.bot.rows("SELECT display_name, bio FROM people WHERE user_id = ? ORDER BY display_name", user),
        runs=stage.bot.rows(
            "SELECT state, attempts FROM runs WHERE user_id = ? AND agent = 'archivist' ORDER BY n", user
        )[1:],
        refused=sorted(str(reason) for (reason,) in stage.bot.rows(events, user, "operation_refused")),
        pauses=gaps([one.at for one in calls]),
        calls=len(calls),
        seen=await stage.seen(user),
        strangers=stage.bot.rows("SELECT display_name, bio FROM people WHERE user_id = ?", stranger),
    )


@pytest.mark.parametrize("case", ARCHIVALS, ids=lambda case: case.name)
async def test_whatever_the_archivist_says_nothing_wrong_is_believed(played: Played, case: Archiving) -> None:
    """What can be understood is applied once, the rest is refused, tried again or given up, and told."""
    with proving("model", f"archival: {case.name}", case.outcome):
        seen: Archived = await played.outcome(f"archival {case.name}")
        assert [name for name, _ in seen.people] == list(case.people)
        assert seen.people[0][1] == case.bio
        assert seen.calls == case.calls
        assert {state for state, _ in seen.runs} == {case.state}
        assert tuple(seen.refused) == case.refused
        assert seen.seen.count(DEAD) == (1 if case.state == "dead" else 0)
        assert seen.strangers == [("Zoya", "Zoya plays chess.")]


async def test_failed_run_is_tried_with_growing_pauses_up_to_the_cap(played: Played) -> None:
    """Four attempts and no fifth, each pause at least twice the one before: 0.2, 0.4, 0.8 s."""
    with proving("model", "a run that fails every time", "pauses double, bounded calls, given up at the cap"):
        seen: Archived = await played.outcome("archival a page of HTML, every time")
        assert seen.runs == [("dead", 4)]
        assert [pause >= wanted for pause, wanted in zip(seen.pauses, (0.2, 0.4, 0.8), strict=True)] == [True] * 3


# -- what recall asks for ----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Recalling:
    """The user knows three people, and asks; one of recall's models answers by `reply`."""

    name: str
    model: str
    reply: Callable[[Asked, int], Any]
    outcome: str
    people: tuple[str, ...]
    calls: int = 1


KNOWN = ("Boris", "Nina", "Tomas")
RECALLS = [
    Recalling("nothing is relevant", RERANKER, lambda asked, other: {"people": []}, "nobody, no top ten instead", ()),
    Recalling(
        "ids in every form", RERANKER, lambda asked, other: {"people": [
            {"id": f"Person:{shown(asked)['Boris']}"}, str(shown(asked)["Tomas"])]}, "understood", ("Boris", "Tomas"),
    ),
    Recalling(
        "a fence and a preamble", RERANKER,
        lambda asked, other: f'Of course:\n```json\n{{"people": [{{"id": {shown(asked)["Nina"]}}}]}}\n```',
        "understood", ("Nina",),
    ),
    Recalling(
        "ids of another user's people", RERANKER, lambda asked, other: {"people": [{"id": other, "reason": "x"}]},
        "the nearest are taken, the stranger never", KNOWN,
    ),
    Recalling("invented ids", RERANKER, lambda asked, other: {"people": [{"id": 987_654}]}, "the nearest are taken",
              KNOWN),
    Recalling("prose", RERANKER, lambda asked, other: "Nobody, I think.", "the nearest are taken", KNOWN),
    Recalling("cut by its length", RERANKER, lambda asked, other: Fault("truncated", text='{"people": [{'),
              "the nearest are taken", KNOWN),
    Recalling("503", RERANKER, lambda asked, other: Fault("status"), "the nearest are taken", KNOWN),
    Recalling("silence", RERANKER, lambda asked, other: Fault("hang"), "the nearest are taken in time", KNOWN),
    Recalling("a safety block", RERANKER, lambda asked, other: Fault("content_filter"), "the nearest are taken", KNOWN),
    Recalling("no question in the reply", ENRICHER, lambda asked, other: {"answer": 42},
              "the question is searched as it was written", KNOWN),
    Recalling("503", ENRICHER, lambda asked, other: Fault("status"), "the question is searched as it was written",
              KNOWN),
    Recalling("silence", ENRICHER, lambda asked, other: Fault("hang"),
              "the question is searched as it was written, after its timeout", KNOWN),
]  # fmt: skip


async def recalling(stage: Stage, case: Recalling, stranger: int) -> tuple[str, list[str], int]:
    """The answer's text, the people in its prompt, and how often the model was asked."""
    user, marker = await stage.newcomer(), f"({case.model} {case.name})"
    ((other,),) = stage.bot.rows("SELECT id FROM people WHERE user_id = ?", stranger)
    stage.script(ARCHIVIST, marker, added(*KNOWN), {"people_operations": []})
    stage.script(RESPONDER, marker, OFFLINE)
    if case.model != ENRICHER:
        stage.script(ENRICHER, marker, {"query": f"Boris Nina Tomas plays chess {marker}"})
    if case.model != RERANKER:
        stage.script(RERANKER, marker, lambda asked: {"people": list(shown(asked).values())})
    stage.script(case.model, marker, lambda asked: case.reply(asked, other))
    await stage.ask(user, f"Boris, Nina and Tomas came. {marker}")
    await stage.until_rows(VECTORS_OF_PEOPLE + " HAVING count(*) = 3", user)
    await stage.settled(user)  # what changes memory while the next answer is prepared has it prepared again
    before = len(stage.asked(case.model, marker))
    said = await stage.ask(user, f"Which of them plays chess? {marker}")
    prompt = stage.asked(RESPONDER, marker)[-1].text
    block = re.search(r"<relevant_people>\n(.*?)\n</relevant_people>", prompt, re.DOTALL)
    names = re.findall(r"\[Person:\d+\] (\w+)", block[1] if block else "")
    return said, sorted(names), len(stage.asked(case.model, marker)) - before


@pytest.mark.parametrize("case", RECALLS, ids=lambda case: f"{case.model} {case.name}")
async def test_recall_does_without_whatever_fails(played: Played, case: Recalling) -> None:
    """The user is answered; the prompt holds whom it may hold, and nobody asks the broken part twice."""
    kind = "reranker" if case.model == RERANKER else "enricher"
    with proving("model", f"{kind}: {case.name}", case.outcome):
        said, people, calls = await played.outcome(f"recall {case.model} {case.name}")
        assert said == OFFLINE
        assert calls == case.calls
        assert people == list(case.people)


# -- what the whole product feels --------------------------------------------------------------------------------------


async def archival_under(stage: Stage, name: str, *replies: Answer) -> tuple[list[float], list[tuple[Any, ...]]]:
    """A fragment is archived while the provider does this to everybody: the pauses between calls, and the run."""
    user, marker = await stage.newcomer(), f"({name})"
    stage.script(ARCHIVIST, marker, *replies, added("Oskar"))
    await stage.ask(user, f"Oskar came. {marker}")
    await stage.until_rows("SELECT 1 FROM people WHERE user_id = ?", user)
    await stage.settled(user)
    run = stage.bot.rows("SELECT state, attempts FROM runs WHERE user_id = ? AND agent = 'archivist'", user)
    return gaps([one.at for one in stage.asked(ARCHIVIST, marker)]), run


OUTAGES = [
    ("503", (Fault("status"),) * 3, (0.2, 0.4, 0.8), "pauses double, no attempt is charged, then archived"),
    ("429 without Retry-After", (Fault("status", status=429),), (0.2,), "waited for, no attempt is charged"),
    (
        "429 with Retry-After: 1.5", (Fault("status", status=429, retry_after="1.5"),), (1.5,),
        "not asked before, no attempt is charged",
    ),
    ("402", (Fault("status", status=402),), (1.5,), "asked again after the longest pause, no attempt is charged"),
    ("silence", (Fault("hang"),), (5.0,), "given up after its timeout, no attempt is charged"),
    ("silence half-way", (Fault("stall"),), (5.0,), "given up after its timeout, no attempt is charged"),
]  # fmt: skip


@pytest.mark.parametrize(("name", "replies", "pauses", "outcome"), OUTAGES, ids=[each[0] for each in OUTAGES])
async def test_archival_waits_for_a_provider_that_is_out(
    stage: Stage, played: Played, name: str, replies: tuple[Answer, ...], pauses: tuple[float, ...], outcome: str
) -> None:
    """An outage is no failure of the run: it is applied in the end, with one attempt on its account."""
    await played.all()
    with proving("model", f"archival: {name}", outcome):
        found, run = await archival_under(stage, f"outage {name}", *replies)
        assert run == [("applied", 1)]
        assert len(found) == len(pauses)
        assert [gap >= wanted for gap, wanted in zip(found, pauses, strict=True)] == [True] * len(pauses)


async def test_an_unknown_model_keeps_what_is_to_be_archived(stage: Stage, played: Played) -> None:
    """It is told, in /status too, while nothing is given up; once the server knows the model, all goes on by itself."""
    await played.all()
    with proving("model", "archival: 400, not a valid model", "told and kept, no attempt is charged, then archived"):
        body, known = {"error": {"message": f"{ARCHIVIST} is not a valid model ID", "code": 400}}, False
        user, marker = await stage.newcomer(), "(unknown model)"
        fault = Fault("status", status=400, body=body)
        stage.script(ARCHIVIST, marker, lambda asked: added("Oskar") if known else fault)
        said = await stage.people.say(user, f"Oskar came. {marker}")
        await stage.heard(user, WAITING, after=said["message_id"])
        assert DENIED in await stage.ask(user, "/status")
        known = True
        ended = "SELECT attempts FROM runs WHERE user_id = ? AND agent = 'archivist' AND state IN ('applied', 'dead')"
        assert await stage.until_rows(ended, user) == [(1,)]
        assert stage.bot.rows("SELECT display_name FROM people WHERE user_id = ?", user) == [("Oskar",)]
        assert DENIED not in await stage.ask(user, "/status")


async def test_a_question_is_asked_with_less_where_the_context_is_short(stage: Stage, played: Played) -> None:
    """Half of the dialogue goes with it; what the server says is never shown."""
    await played.all()
    with proving("model", "answer: longer than the context", "asked again with half of what was said before"):
        user, marker = await stage.newcomer(), "(short context)"
        stage.script(ARCHIVIST, marker, {"people_operations": []})
        await stage.ask(user, f"First. {marker}")
        await stage.ask(user, f"Second. {marker}")
        before = len(stage.asked(RESPONDER, marker))
        stage.script(RESPONDER, f"Third. {marker}", TOO_LONG, OFFLINE)
        assert await stage.ask(user, f"Third. {marker}") == OFFLINE
        long, short = stage.asked(RESPONDER, marker)[before:]
        assert len(short.messages) < len(long.messages)
        assert "Third." in short.text


BROKEN_VECTORS = {
    "503, a reset connection": (Fault("status"), Fault("reset")),
    "too few, another size, not a number, zeros": (
        Fault("wrong_count"), Fault("wrong_size"), Fault("not_a_number"), Fault("zero"),
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", BROKEN_VECTORS)
async def test_people_are_known_before_their_vectors(stage: Stage, played: Played, name: str) -> None:
    """Without an embedder people are stored and found by their names; the vectors follow once it is well."""
    await played.all()
    with proving("model", f"embeddings: {name}", "people stored and found by name, vectors follow"):
        user, marker, faults = await stage.newcomer(), f"(vectors {name})", BROKEN_VECTORS[name]
        stage.script(ARCHIVIST, marker, added("Pelle"), {"people_operations": []})
        stage.script(ENRICHER, marker, {"query": "Pelle"})
        stage.script(RERANKER, "Pelle", lambda asked: {"people": list(shown(asked).values())})
        turn, before = itertools.cycle(faults), len(stage.model.asked(EMBEDDER))
        stage.model.always(EMBEDDER, lambda asked: next(turn))
        await stage.ask(user, f"Pelle came. {marker}")
        await stage.until_rows("SELECT 1 FROM people WHERE user_id = ?", user)
        await stage.ask(user, f"What of Pelle? {marker}")
        prompt = stage.asked(RESPONDER, marker)[-1].text
        assert re.search(r"<relevant_people>\n\[Person:\d+\] Pelle", prompt)
        await until(lambda: len(stage.model.asked(EMBEDDER)) - before > len(faults))
        assert stage.bot.rows("SELECT 1 FROM vectors WHERE user_id = ?", user) == []
        stage.model.forget(EMBEDDER)
        await stage.until_rows(VECTORS_OF_PEOPLE + " HAVING count(*) = 1", user)


async def test_provider_that_cannot_be_reached_is_waited_for(stage: Stage, played: Played) -> None:
    """Nobody listens at the provider's address: the user is told, his message is archived when it listens again."""
    await played.all()
    with proving("model", "connection refused", "told plainly after three attempts; archived once it is there again"):
        user, marker = await stage.newcomer(), "(refused connection)"
        stage.script(RESPONDER, marker, OFFLINE)
        stage.script(ARCHIVIST, marker, added("Quinn"))
        await stage.model.__aexit__(None, None, None)
        try:
            assert await stage.ask(user, f"Quinn came. {marker}") == UNREACHABLE
        finally:
            await stage.model.__aenter__()
        await stage.until_rows("SELECT 1 FROM people WHERE user_id = ?", user)
        await stage.settled(user)
        assert stage.bot.rows("SELECT state, attempts FROM runs WHERE user_id = ? AND agent = 'archivist'", user) == [
            ("applied", 1)
        ]
        assert await stage.ask(user, f"And now? {marker}") == OFFLINE


async def test_the_key_is_quoted_nowhere(stage: Stage, played: Played) -> None:
    """A provider that quotes the key back in its error finds no echo: not in the run's error, event or command."""
    await played.all()
    with proving("model", "the provider quotes the key in its error", "hidden in rows, events, log and commands"):
        ((error,),) = stage.bot.rows("SELECT error FROM turns WHERE error LIKE '%Incorrect API key%'")
        assert "[key]" in error
        assert told_secrets(error) == []


async def test_every_fault_was_counted(stage: Stage, played: Played) -> None:
    """The page of metrics knows of each kind of failure, so that an operator sees it."""
    await played.all()
    with proving("model", "metrics", "every kind of failure is counted by its name"):
        for outcome in ("ModelUnavailable", "ModelRefused", "ModelReplyInvalid", "ModelAccessDenied"):
            series = f'laplaced_llm_requests_total{{agent="responder",model="{RESPONDER}",outcome="{outcome}"}}'
            assert await stage.metric(series) >= 1
        fallbacks = {
            reason: await stage.metric(f'laplaced_reranker_fallbacks_total{{reason="{reason}"}}')
            for reason in ("unknown_ids", "failed", "timeout")
        }
        assert fallbacks["unknown_ids"] >= 2
        assert fallbacks["failed"] + fallbacks["timeout"] >= 5
        assert await stage.metric('laplaced_recall_degraded_total{reason="enricher"}') >= 3
        ((dead,),) = stage.bot.rows("SELECT count(*) FROM runs WHERE state = 'dead' AND agent = 'archivist'")
        assert dead >= 3
        assert await stage.metric('laplaced_agent_runs_total{agent="archivist",outcome="dead"}') == dead
        ((all_dead,),) = stage.bot.rows("SELECT count(*) FROM runs WHERE state = 'dead'")
        assert await stage.metric("laplaced_runs_dead") == all_dead


# -- the product they share --------------------------------------------------------------------------------------------


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def stage(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Stage]:
    async with under_faults(tmp_path_factory.mktemp("models")) as running:
        quiet(running.model)
        await running.bot.start()
        yield running


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def played(stage: Stage) -> AsyncIterator[Played]:
    """Every case has begun, each with a user of its own."""
    cases = Played()
    stranger = await stage.newcomer()
    stage.script(ARCHIVIST, "(stranger)", added("Zoya"))
    stage.script(RESPONDER, "(stranger)", OFFLINE)
    await stage.ask(stranger, "Zoya came. (stranger)")
    await stage.until_rows("SELECT 1 FROM people WHERE user_id = ?", stranger)

    def begin(name: str, case: Callable[[], Awaitable[Any]]) -> None:
        cases.begin(name, case)

    for one in ANSWERS:
        begin(one.name, lambda one=one: answering(stage, one))  # type: ignore[misc]
    for two in ARCHIVALS:
        begin(f"archival {two.name}", lambda two=two: archiving(stage, two, stranger))  # type: ignore[misc]
    for three in RECALLS:
        name = f"recall {three.model} {three.name}"
        begin(name, lambda three=three: recalling(stage, three, stranger))  # type: ignore[misc]
    yield cases
    await cases.stop()
