"""A closed session is judged: what the analyst is shown, what becomes of its reply, and of what changes meanwhile."""

from __future__ import annotations

from typing import Any

import pytest
from support.flows.analyst_stage import AnalysisStage
from support.flows.chronicle_stage import check_line
from support.flows.flow_stage import OWNER, Talk

from internal.access import limits, repository as users
from internal.agents.responder.rules import rules
from internal.chronicle import audit, service
from internal.chronicle.model import EventLabel
from internal.errors import ModelReplyTruncated, ModelUnavailable
from internal.events import repository as events
from internal.flows.forgetting import erase as forgetting_erase, requests
from internal.people import repository as people
from internal.people.model import Circle, Person
from internal.scheduling.run import DAILY_COST, EDITING, RunState

ASKED = ("Where is the office?", "In Lviv, as far as I know.")
WRONG = ("No, that is not true.", "Noted.")
THANKED = ("Thanks! And the phone?", "I do not know it.")


@pytest.fixture
def stage(talk: Talk) -> AnalysisStage:
    return AnalysisStage(talk)


def ruling(number: int, verdict: str = "correct", **more: Any) -> dict[str, Any]:
    return {"message": number, "verdict": verdict, **more}


async def coverage(stage: AnalysisStage) -> float:
    found = await stage.talk.read(lambda c: audit.examine(c, OWNER))
    assert found.orphans == 0
    return found.analysis_coverage


async def test_each_response_gets_an_analysis_and_the_session_a_summary(stage: AnalysisStage) -> None:
    """As the reply tells it; a response that it left out is judged by the rules, and marked so."""
    session = await stage.conversation(ASKED, WRONG, THANKED)
    stage.analyst.script.append(
        {
            "topic": "The office",
            "responses": [
                ruling(4, "partially_correct", rules_ignored=[1], lessons="Say where you know it from."),
                ruling(6, summary="It knows no phone."),
            ],
            "session_summary": {"verdict": "partially_correct", "summary": "About the office."},
        }
    )
    await stage.judge()
    (request,) = stage.analyst.asked
    assert [(one.number, one.role, one.text) for one in request.transcript][:2] == [
        (1, "user", ASKED[0]),
        (2, "assistant", ASKED[1]),
    ]
    assert (request.rules, sorted(request.to_judge)) == (rules(), [2, 4, 6])
    run = await stage.run(session)
    assert stage.analyst.causes == [{"run": run.id, "session": session.id}]

    first, second, third, summary = await stage.events(session)
    responses = await stage.events(session, EventLabel.RESPONSE)
    assert [one.answers_n for one in (first, second, third, summary)] == [*(one.n for one in responses), None]
    assert (first.attrs["verdict"], first.attrs["by"]) == ("incorrect", "rules")
    assert second.attrs == {
        "type": "response_analysis",
        "verdict": "partially_correct",
        "rules_used": [],
        "rules_ignored": [rules()[0].split(". ")[0] + "."],
        "errors": [],
        "lessons": ["Say where you know it from."],
    }
    assert (summary.attrs["type"], summary.attrs["summary"]) == ("session_summary", "About the office.")
    assert [one.attrs.get("summary") for one in responses] == [None, None, "It knows no phone."]
    named = await stage.session(session)
    assert named is not None
    assert (named.topic, named.topic_by) == ("The office", "analyst")
    assert stage.watched.verdicts == {"incorrect": 1, "partially_correct": 1, "correct": 1}
    assert await coverage(stage) == 1.0
    await stage.talk.read(lambda c: check_line(c, OWNER))
    told = await stage.talk.read(lambda c: events.listing(c, user_id=OWNER, event_type="agent_result", limit=100))
    assert [one.payload for one in told if one.links and "session" in one.links] == [
        {"verdicts": {"incorrect": 1, "partially_correct": 1, "correct": 1}, "by_rules": 1, "refused": 0}
    ]


async def test_a_session_in_which_nothing_speaks_against_an_answer_is_judged_by_rules(stage: AnalysisStage) -> None:
    """No call; the Analyses are there all the same. A correction, or a close by the owner, has the analyst asked."""
    session = await stage.conversation(ASKED, THANKED, tapped="")
    await stage.judge()
    assert stage.analyst.asked == []
    assert await stage.verdicts(session) == ["correct", "correct", "correct"]
    await stage.conversation(ASKED, WRONG, tapped="")
    stage.analyst.script.append({"responses": []})
    await stage.judge()
    assert len(stage.analyst.asked) == 1
    await stage.talk.exchange(*ASKED)
    session = await stage.close("/ss")
    stage.analyst.script.append({"responses": [{"message": 2, "verdict": "partially_correct"}]})
    await stage.judge()
    assert len(stage.analyst.asked) == 2
    assert (await stage.verdicts(session))[0] == "partially_correct"


async def test_a_second_judgement_takes_the_place_of_the_first(stage: AnalysisStage) -> None:
    """All of it, the summary of a response too; a topic that the owner gave stays."""
    session = await stage.conversation(ASKED, WRONG)
    stage.analyst.script.append({"topic": "Old", "responses": [ruling(2, summary="Lviv.")]})
    await stage.judge()
    await stage.talk.write(lambda c: service.name_topic(c, OWNER, session.id, "Mine", by="owner"))
    assert await stage.judge_again(session)
    assert (await stage.run(session)).replaces is not None
    stage.analyst.script.append({"topic": "New", "responses": [ruling(2, "incorrect"), ruling(4)]})
    await stage.judge()
    assert await stage.verdicts(session) == ["incorrect", "correct", "partially_correct"]
    named = await stage.session(session)
    assert named is not None
    assert named.topic == "Mine"
    assert "summary" not in (await stage.events(session, EventLabel.RESPONSE))[0].attrs
    await stage.talk.read(lambda c: check_line(c, OWNER))


async def test_what_changes_while_the_analyst_reads_is_judged_anew(stage: AnalysisStage) -> None:
    """An edit: asked once more, with the new words, without charging an attempt."""
    session = await stage.conversation(ASKED)
    (asked, _) = await stage.talk.messages()

    async def edit() -> None:
        await stage.talk.edit(asked, "Where is the new office?")

    stage.analyst.script += [edit, {"responses": [ruling(2, "incorrect")]}, {"responses": [ruling(2)]}]
    await stage.judge()
    assert [one.transcript[0].text for one in stage.analyst.asked] == [ASKED[0], "Where is the new office?"]
    assert stage.watched.outcomes == ["stale", "applied"]
    assert (await stage.run(session)).attempts == 1
    assert await stage.verdicts(session) == ["correct", "correct"]


async def test_an_edit_after_the_judgement_is_judged_anew(stage: AnalysisStage) -> None:
    """Once, however often its words change before the analyst looks; what is said meanwhile is judged before it."""
    session = await stage.conversation(ASKED)
    stage.analyst.script.append({"responses": [ruling(2, "incorrect")]})
    await stage.judge()
    (asked, _) = await stage.talk.messages()
    await stage.talk.edit(asked, "Where is the old office?")
    await stage.talk.edit(asked, "Where is the new office?")
    again = await stage.run(session)
    assert (again.state, again.due_at) == (RunState.DUE, stage.talk.clock.now() + EDITING)
    assert again.rev > (await stage.run(await stage.conversation(THANKED))).rev
    stage.analyst.script += [{"responses": [ruling(2)]}, {"responses": [ruling(2, "partially_correct")]}]
    await stage.judge()
    assert [one.transcript[0].text for one in stage.analyst.asked[1:]] == [THANKED[0], "Where is the new office?"]
    assert (await stage.run(session)).replaces == again.replaces
    assert await stage.verdicts(session) == ["partially_correct", "partially_correct"]
    await stage.talk.read(lambda c: check_line(c, OWNER))


async def test_what_is_erased_while_the_analyst_reads_is_not_judged(stage: AnalysisStage) -> None:
    """Of a session with something left, the rest is; of one that went whole nothing comes back."""
    session = await stage.conversation(ASKED, WRONG)
    messages = await stage.talk.messages()

    async def erase() -> None:
        now = stage.talk.clock.now()
        for message in messages[:2]:
            await stage.talk.write(lambda c, m=message: forgetting_erase.erase_messages(c, OWNER, [m.id], now=now))  # type: ignore[misc]

    stage.analyst.script += [erase, {"topic": "Lviv", "responses": [ruling(2, "incorrect"), ruling(4)]}]
    await stage.judge()
    assert await stage.verdicts(session) == ["correct", "correct"]
    assert "Lviv" not in str([event.attrs for event in await stage.events(session)])

    other = await stage.conversation(THANKED)
    messages = await stage.talk.messages()
    messages = messages[-2:] + messages[-2:]
    stage.analyst.script += [erase, {"responses": [ruling(2)]}]
    await stage.judge()
    assert await stage.session(other) is None
    assert await stage.events(other) == []
    assert await coverage(stage) == 1.0


async def test_what_is_about_to_be_forgotten_is_not_shown(stage: AnalysisStage) -> None:
    """It may still be brought back; until then nobody judges it."""
    session = await stage.conversation(ASKED, THANKED)
    messages, now = await stage.talk.messages(), stage.talk.clock.now()
    await stage.talk.write(lambda c: requests.ask(c, OWNER, "message", messages[1].id, now=now))
    await stage.judge()
    (request,) = stage.analyst.asked
    assert [one.text for one in request.transcript] == [ASKED[0], *THANKED]
    assert len(await stage.events(session)) == 2


async def test_a_lesson_that_tells_of_somebody_is_not_kept(stage: AnalysisStage) -> None:
    """Facts about people are kept as facts, where they can be corrected and forgotten."""
    now = stage.talk.clock.now()
    petrov = Person(0, OWNER, "petrov", "Petrov", Circle.FRIENDS, "", now, now)
    await stage.talk.write(lambda c: people.create(c, petrov, by="archivist", now=now))
    session = await stage.conversation(ASKED)
    lessons = ["Petrov works in Lviv.", "Give the source."]
    stage.analyst.script.append({"responses": [ruling(2, lessons=lessons)]})
    await stage.judge()
    first, _ = await stage.events(session)
    assert first.attrs["lessons"] == ["Give the source."]
    assert stage.watched.refused == ["names_somebody"]


async def test_a_reply_that_is_cut_costs_half_of_the_answers(stage: AnalysisStage) -> None:
    """Those the owner complained about are asked first; the others are judged by rules, and nothing is lost."""
    session = await stage.conversation(ASKED, WRONG, THANKED)
    stage.analyst.script += [ModelReplyTruncated("cut"), {"responses": [ruling(2, "partially_correct")]}]
    await stage.judge()
    assert [list(one.to_judge) for one in stage.analyst.asked] == [[2, 6, 4], [2]]
    assert await stage.verdicts(session) == ["partially_correct", "correct", "correct", "partially_correct"]
    assert await coverage(stage) == 1.0


async def test_an_outage_waits_and_a_reply_that_cannot_be_read_costs_an_attempt(stage: AnalysisStage) -> None:
    """As every agent's runs do; nothing is written of either."""
    session = await stage.conversation(ASKED)
    stage.analyst.script += [ModelUnavailable("down"), {"verdict": "correct"}, {"responses": [ruling(2)]}]
    for attempts in (0, 1):
        await stage.judge()
        assert (await stage.run(session)).attempts == attempts
        assert await stage.events(session) == []
    await stage.judge()
    assert stage.watched.outcomes == ["outage", "failed", "applied"]
    assert await stage.verdicts(session) == ["correct", "correct"]


async def test_beyond_the_daily_cost_a_session_waits(talk: Talk) -> None:
    """Like archival: it is judged on another day, and no attempt is charged."""
    stage = AnalysisStage(talk, daily_cost_usd=1.0)
    session = await stage.conversation(ASKED)
    now = talk.clock.now()
    await talk.write(lambda c: limits.add_spend(c, users.get(c, OWNER), "responder", tokens=1, cost_usd=2.0, now=now))
    await stage.judge()
    run = await stage.run(session)
    assert (run.state, run.error, run.attempts) == (RunState.DUE, DAILY_COST, 0)
    assert stage.analyst.asked == []
    talk.clock.advance(24 * 3600)
    await stage.judge()
    assert (await stage.run(session)).state is RunState.APPLIED


async def test_a_newly_enabled_analyst_gets_old_sessions_only_when_it_is_told_to(stage: AnalysisStage) -> None:
    """Those it never had, once; with `again` all of them, and what it found before is replaced."""
    talk = stage.talk
    for turn in (ASKED, THANKED):
        await talk.exchange(*turn)
        await talk.exchange("No, that is not true.", "Noted.")
        talk.clock.advance(31 * 60)
        await talk.publication().publish_due()
    publication = talk.publication(lifecycle=stage.lifecycle)
    await stage.judge()
    assert stage.analyst.asked == []
    assert [await publication.backfill("analyst", [OWNER]) for _ in range(2)] == [2, 0]
    await stage.judge()
    assert await publication.backfill("analyst", [OWNER], again=True) == 2
    await stage.judge()
    assert len(stage.analyst.asked) == 4
    assert await coverage(stage) == 1.0
