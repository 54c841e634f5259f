"""The chronicle as turns, commands, silence, edits and erasures write it, over a real database."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from sqlalchemy import update
from support.flows.chronicle_stage import check_line, of_type
from support.flows.erase_stage import ErasingStage
from support.flows.flow_stage import BOT, OTHER, OWNER, Talk

from internal.chronicle import repository, service, view
from internal.chronicle.model import ChronicleEvent, EventLabel, Session
from internal.dialogue.model import Message, Reaction
from internal.errors import ModelRefused
from internal.flows.archival.publication import Publication
from internal.flows.forgetting import erase as forgetting_erase
from internal.flows.sessions.lifecycle import SessionLifecycle
from internal.flows.turn.intake import Intake
from internal.scheduling import run_repository as runs
from internal.scheduling.run import Run, RunState
from internal.storage.forgetting.traces import LineTest, blank_texts
from internal.storage.tables import users

SILENCE = 31 * 60


async def line(talk: Talk, user_id: int = OWNER) -> list[tuple[str, str]]:
    """(label, words) of every event in the order of NEXT, checked whole."""
    events = await talk.read(lambda c: check_line(c, user_id))
    return [(event.label.value, event.text) for event in events]


async def events(talk: Talk) -> list[ChronicleEvent]:
    return await talk.read(lambda c: repository.events(c, OWNER))


async def sessions(talk: Talk) -> list[Session]:
    return await talk.read(lambda c: repository.listing(c, OWNER))


async def shown(talk: Talk) -> view.View:
    return await talk.read(lambda c: view.of_owner(c, OWNER))


async def erase(talk: Talk, message: Message) -> None:
    await talk.write(lambda c: forgetting_erase.erase_messages(c, OWNER, [message.id], now=talk.clock.now()))


async def analyst_runs(talk: Talk, session: Session) -> list[Run]:
    return await talk.read(lambda c: runs.of_session(c, OWNER, session.id))


async def silence(talk: Talk) -> None:
    talk.clock.advance(SILENCE)
    await talk.publication().publish_due()


async def comments(talk: Talk) -> dict[str, str]:
    """The answer that each comment is about, by its words."""
    words = {event.id: event.text for event in await events(talk)}
    return {words[edge.source]: words[edge.target] for edge in of_type(await shown(talk), "FEEDBACK_ON")}


async def telegram_ids(talk: Talk) -> dict[str, int | None]:
    """Where each message stands in Telegram, by its words."""
    sent = {row.outgoing.message_id: row.tg_id for row in await talk.outbox()}
    return {message.content: message.tg_id or sent.get(message.id) for message in await talk.messages()}


async def react(talk: Talk, tg_id: int | None, shown_as: str) -> None:
    assert tg_id is not None
    reaction = Reaction(OWNER, BOT, OWNER, tg_id, shown_as, talk.clock.now())
    await talk.intake.react(await talk.update(), reaction)


async def judged(talk: Talk, session: Session, verdict: str = "correct") -> None:
    """What the analyst writes of a session: an Analysis of each Response, and the summary."""

    def work(connection: Any) -> None:
        now = talk.clock.now()
        answers = [
            event
            for event in repository.events_of_session(connection, OWNER, session.id)
            if event.label is EventLabel.RESPONSE
        ]
        for event in answers:
            told = {"verdict": verdict, "lessons": [f"about {event.text}"]}
            service.analyse(
                connection, OWNER, session.id, "response_analysis", told, answers_n=event.n, now=now, run_id=None
            )
        told = {"verdict": verdict, "summary": "All of it"}
        service.analyse(connection, OWNER, session.id, "session_summary", told, answers_n=None, now=now, run_id=None)
        service.name_topic(connection, OWNER, session.id, "What it was about")

    await talk.write(work)


async def test_first_message_is_the_request_later_ones_feedback(talk: Talk) -> None:
    """A session opens by itself; its topic is how it begins, and each answer responds to what it answers."""
    await talk.exchange("Who is Petrov?", "A colleague.")
    await talk.exchange("Since when?", "Since May.")
    assert await line(talk) == [
        ("Request", "Who is Petrov?"),
        ("Response", "A colleague."),
        ("Feedback", "Since when?"),
        ("Response", "Since May."),
    ]
    [session] = await sessions(talk)
    assert (session.topic, session.trigger, session.status) == ("Who is Petrov?", "/db", "active")
    first, answer, second, last = await events(talk)
    graph = await shown(talk)
    pointers = {(edge.type, edge.source, edge.target) for edge in graph.edges}
    assert {
        ("RESPONDS_TO", answer.id, first.id),
        ("RESPONDS_TO", last.id, second.id),
        ("FEEDBACK_ON", second.id, answer.id),
        ("LAST_EVENT", session.id, last.id),
    } <= pointers
    assert len(of_type(graph, "FEEDBACK_ON")) == 1


async def test_silence_closes_the_session(talk: Talk) -> None:
    """In the transaction that ends the dialogue; the next message opens another, and NEXT leads across."""
    await talk.exchange("One")
    await silence(talk)
    [first] = await sessions(talk)
    assert (first.status, first.trigger, first.closed_at) == ("closed", "/db", talk.clock.now())
    await talk.exchange("Two")
    assert [label for label, _ in await line(talk)] == ["Request", "Response", "Request", "Response"]
    assert [one.status for one in await sessions(talk)] == ["closed", "active"]


async def test_silence_closes_what_was_published_before(talk: Talk) -> None:
    """/archive publishes without closing; silence then closes the session though nothing is left to publish."""
    await talk.exchange("One")
    await talk.publication().publish_now(OWNER)
    assert [one.status for one in await sessions(talk)] == ["active"]
    await silence(talk)
    assert [one.status for one in await sessions(talk)] == ["closed"]


async def test_a_full_buffer_does_not_close(talk: Talk) -> None:
    """A session holds several fragments."""
    for number in range(3):
        await talk.exchange(f"Message {number}")
    await talk.publication(max_messages=2).publish_due()
    assert [one.status for one in await sessions(talk)] == ["active"]
    assert len({message.episode_id for message in await talk.messages()}) > 1


async def test_a_turn_of_several_messages_is_answered_once(talk: Talk) -> None:
    """The answer responds to the last of them; an album and its caption are events each."""
    await talk.say("One moment")
    await talk.say("", attachments=[{"kind": "photo"}])
    turn = await talk.ask("What is it?")
    await talk.flow().answer(turn)
    assert [label for label, _ in await line(talk)] == ["Request", "Feedback", "Feedback", "Response"]
    *_, question, answer = await events(talk)
    assert answer.answers_n == question.n


async def test_a_session_that_begins_without_words_is_named_by_the_first(talk: Talk) -> None:
    """A photo opens it; its topic comes with the first words."""
    await talk.say("", attachments=[{"kind": "photo"}])
    await talk.say("My   new\ncat " + "purrs " * 40)
    [session] = await sessions(talk)
    assert session.topic.startswith("My new cat purrs")
    assert len(session.topic) <= 81


async def test_db_opens_and_closes_what_was_open(talk: Talk) -> None:
    """The words behind /db are the Request of a new session, of the type command, and open a turn of their own."""
    await talk.say("Before")
    taken = await talk.say("After", command="/db")
    assert taken.closed
    assert [label for label, _ in await line(talk)] == ["Request", "Request"]
    first, second = await sessions(talk)
    assert (first.status, second.status, second.trigger) == ("closed", "active", "/db")
    request = (await events(talk))[1]
    nodes = {node.id: node for node in (await shown(talk)).nodes}
    assert nodes[request.id].properties["type"] == "command"
    assert len(await talk.turn_states()) == 2


async def test_a_comment_is_about_the_answer_it_replies_to(talk: Talk) -> None:
    """As any part of it or as its question, also in an earlier conversation; without a reply, about the last one."""
    for question, answer in (("One?", "First."), ("Two?", "Second.")):
        await talk.exchange(question, answer)
    places = await telegram_ids(talk)
    await talk.say("not quite", reply_to=places["First."])
    await talk.say("nor that", reply_to=places["Two?"])
    await talk.say("hm")
    await talk.say("and this?", reply_to=77_777)
    await talk.publication().close_session(OWNER)
    await talk.exchange("Three?", "Third.")
    await talk.say("still wrong", reply_to=places["First."])
    assert await comments(talk) == {
        "Two?": "First.",
        "not quite": "First.",
        "nor that": "Second.",
        "hm": "Second.",
        "still wrong": "First.",
    }
    first = next(message for message in await talk.messages() if message.content == "First.")
    await erase(talk, first)
    assert await comments(talk) == {"nor that": "Second.", "hm": "Second."}
    assert (await line(talk))[-1] == ("Feedback", "still wrong")


async def test_a_reaction_is_feedback_on_exactly_its_answer(talk: Talk) -> None:
    """Another one replaces it, taking it back removes it, and it goes with its answer. Other messages get none."""
    for question, answer in (("One?", "First."), ("Two?", "Second.")):
        await talk.exchange(question, answer)
    places = await telegram_ids(talk)
    await silence(talk)
    for tg_id, shown_as in ((places["First."], "👎"), (places["First."], "👍"), (places["One?"], "🔥"), (1, "🎉")):
        await react(talk, tg_id, shown_as)
    await react(talk, places["Second."], "❤ 🔥")
    assert await comments(talk) == {"Two?": "First.", "👍": "First.", "❤ 🔥": "Second."}
    assert len(await sessions(talk)) == 1
    reacted = await talk.events("reaction_received")
    assert [event.payload["reaction"] for event in reacted] == ["👎", "👍", "❤ 🔥"]
    assert all(event.links and event.links["caused_by"] for event in reacted)
    await react(talk, places["Second."], "")
    first = next(message for message in await talk.messages() if message.content == "First.")
    await erase(talk, first)
    assert await line(talk) == [("Request", "One?"), ("Feedback", "Two?"), ("Response", "Second.")]


async def test_an_answer_joins_the_session_of_its_question(talk: Talk) -> None:
    """/db while an answer is being written: the answer comes behind the new Request, and stays where it was asked."""
    turn = await talk.ask("Before")
    await talk.say("After", command="/db")
    await talk.flow().answer(turn)
    asked, opened, answer = await events(talk)
    assert (answer.session_id, answer.answers_n) == (asked.session_id, asked.n)
    assert opened.session_id != asked.session_id
    assert await line(talk) == [("Request", "Before"), ("Request", "After"), ("Response", "Answer.")]
    last = {edge.source: edge.target for edge in of_type(await shown(talk), "LAST_EVENT")}
    assert last == {asked.session_id: answer.id, opened.session_id: opened.id}


async def test_sa_goes_on_or_opens(talk: Talk) -> None:
    """/sa leaves the session open; without one it opens one. The trigger is what opened it, whatever comes later."""
    await talk.say("First", command="/sa")
    await talk.say("Second")
    await talk.say("Third", command="/sa")
    assert [label for label, _ in await line(talk)] == ["Request", "Feedback", "Feedback"]
    assert [one.trigger for one in await sessions(talk)] == ["/sa"]
    await talk.say("Fourth", command="/db")
    await talk.say("Fifth", command="/sa")
    await talk.publication().close_session(OWNER)
    assert [one.trigger for one in await sessions(talk)] == ["/sa", "/db"]
    closings = [event.payload.get("command") for event in await talk.events("session_closed")]
    assert closings == [None, "/ss"]


async def test_ss_closes_at_once(talk: Talk) -> None:
    """What can be is published with it, and the next message opens another session."""
    await talk.exchange("One")
    closed = await talk.publication().close_session(OWNER)
    assert closed is not None
    assert (closed.trigger, closed.status) == ("/db", "closed")
    assert all(message.episode_id is not None for message in await talk.messages())
    assert await talk.publication().close_session(OWNER) is None
    await talk.exchange("Two")
    assert [label for label, _ in await line(talk)] == ["Request", "Response", "Request", "Response"]


async def test_ss_while_an_answer_is_written(talk: Talk) -> None:
    """The session is closed at once, the answer still joins it, and then the whole is published."""
    turn = await talk.ask("One")
    await talk.publication().close_session(OWNER)
    assert [message.episode_id for message in await talk.messages()] == [None]
    await talk.flow().answer(turn)
    assert await line(talk) == [("Request", "One"), ("Response", "Answer.")]
    assert [one.status for one in await sessions(talk)] == ["closed"]
    await silence(talk)
    assert all(message.episode_id is not None for message in await talk.messages())


async def test_a_fragment_ends_with_its_session(talk: Talk) -> None:
    """What /db closed is published by itself, and what goes on is not."""
    await talk.exchange("One")
    taken = await talk.say("Two", command="/db")
    publication = talk.publication()
    publication.session_ended(OWNER)
    await publication.publish_due()
    one, answer, two = await talk.messages()
    assert one.episode_id == answer.episode_id is not None
    assert two.episode_id is None
    talk.clock.advance(10)
    assert taken.turn is not None
    await talk.flow().answer(taken.turn)
    await silence(talk)
    assert len({message.episode_id for message in await talk.messages()}) == 2


async def test_without_the_signal_silence_publishes_both(talk: Talk) -> None:
    """After a crash the closed session is published when the dialogue falls silent, still by itself."""
    await talk.exchange("One")
    await talk.publication().close_session(OTHER)
    turn = await talk.ask("Two", command="/db")
    await talk.flow().answer(turn)
    await silence(talk)
    assert len({message.episode_id for message in await talk.messages()}) == 2
    assert {one.status for one in await sessions(talk)} == {"closed"}


async def test_two_threads_are_one_line(talk: Talk) -> None:
    """Messages of two threads of one chat share the chain and have sessions of their own; answers find questions."""
    one = await talk.ask("In the first", thread_id=1)
    other = await talk.ask("In the second", thread_id=2)
    await talk.flow().answer(other)
    await talk.flow().answer(one)
    assert [label for label, _ in await line(talk)] == ["Request", "Request", "Response", "Response"]
    first, second, late, last = await events(talk)
    assert (late.answers_n, last.answers_n) == (second.n, first.n)
    assert [one.thread_id for one in await sessions(talk)] == [1, 2]
    assert (late.session_id, last.session_id) == (second.session_id, first.session_id)


async def test_a_command_closes_the_session_of_its_topic(talk: Talk) -> None:
    """`/db` and `/ss` leave the other topics and the chat outside of them open; silence closes them all."""
    for thread in (None, 1, 2):
        await talk.exchange(f"In {thread}", thread_id=thread)
    turn = await talk.ask("Another matter", thread_id=1, command="/db")
    await talk.flow().answer(turn)
    assert [(one.thread_id, one.status) for one in await sessions(talk)] == [
        (0, "active"), (1, "closed"), (2, "active"), (1, "active"),
    ]  # fmt: skip
    closed = await talk.publication().close_session(OWNER, thread_id=2)
    assert closed is not None
    assert closed.topic == "In 2"
    assert await talk.publication().close_session(OWNER, thread_id=2) is None
    await silence(talk)
    assert {one.status for one in await sessions(talk)} == {"closed"}


async def test_topics_in_turn_are_one_fragment(talk: Talk) -> None:
    """The archivist reads what was said now here, now there at once; a session that a command closed ends one."""
    for text, thread in (("One", 1), ("Two", 2), ("Three", 1), ("Four", 2)):
        await talk.exchange(text, thread_id=thread)
    turn = await talk.ask("Five", thread_id=2, command="/db")
    await talk.flow().answer(turn)
    await silence(talk)
    read = [message.episode_id for message in await talk.messages()]
    assert None not in read
    assert [len(set(read)), len(set(read[:8])), len(set(read[8:]))] == [2, 1, 1]


async def test_what_the_program_says_is_no_event(talk: Talk) -> None:
    """A failed turn leaves its question in the line, and no answer; a limit reached leaves the message."""
    turn = await talk.ask("Refuse me")
    talk.responder.script.append([ModelRefused("no")])
    await talk.flow().answer(turn)
    talk.limits["messages_per_minute"] = 1
    await talk.say("Too fast")
    assert await line(talk) == [("Request", "Refuse me"), ("Feedback", "Too fast")]


async def test_owners_have_lines_of_their_own(talk: Talk) -> None:
    """Nothing of one leads to another."""
    await talk.exchange("Mine")
    await talk.exchange("Theirs", user_id=OTHER)
    assert [words for _, words in await line(talk)] == ["Mine", "Answer."]
    assert [words for _, words in await line(talk, OTHER)] == ["Theirs", "Answer."]


@pytest.mark.parametrize("closed", [False, True])
async def test_an_edit_changes_words_and_topic(talk: Talk, closed: bool) -> None:
    """The event has the message's own words; nothing moves. A topic that was made of them follows."""
    await talk.exchange("Before")
    if closed:
        await silence(talk)
    [message, _] = await talk.messages()
    await talk.edit(message, "After")
    assert await line(talk) == [("Request", "After"), ("Response", "Answer.")]
    assert [one.topic for one in await sessions(talk)] == ["After"]


async def test_an_edit_leaves_a_topic_that_was_given(talk: Talk) -> None:
    """What the analyst or the owner called it stays."""
    await talk.exchange("Before")
    [session] = await sessions(talk)
    await talk.write(lambda c: service.name_topic(c, OWNER, session.id, "Mine", "owner"))
    await talk.write(lambda c: service.name_topic(c, OWNER, session.id, "The analyst's"))
    [message, _] = await talk.messages()
    await talk.edit(message, "After")
    assert [one.topic for one in await sessions(talk)] == ["Mine"]


async def test_an_erased_request_hands_on_its_place(talk: Talk) -> None:
    """The next word of the user is the Request then; the answer to what is gone points at nothing."""
    await talk.exchange("First")
    await talk.exchange("Second")
    await erase(talk, (await talk.messages())[0])
    assert await line(talk) == [("Response", "Answer."), ("Request", "Second"), ("Response", "Answer.")]
    assert (await events(talk))[0].answers_n is None
    assert [one.topic for one in await sessions(talk)] == ["Second"]


async def test_an_answer_to_an_erased_part_of_a_turn_points_at_the_rest(talk: Talk) -> None:
    """Of a turn of several messages the last that is left is what was answered."""
    await talk.say("First")
    await talk.flow().answer(await talk.ask("Second"))
    [_, second, _] = await talk.messages()
    await erase(talk, second)
    first, answer = await events(talk)
    assert answer.answers_n == first.n
    await line(talk)


async def test_a_session_without_a_message_goes_whole(talk: Talk) -> None:
    """With its Analyses; NEXT closes over the gap."""
    await talk.exchange("One")
    await silence(talk)
    await talk.exchange("Two")
    [session, _] = await sessions(talk)
    await judged(talk, session)
    for message in (await talk.messages())[:2]:
        await erase(talk, message)
    assert await line(talk) == [("Request", "Two"), ("Response", "Answer.")]


async def test_erasing_an_answer_takes_its_analysis_and_the_summary(talk: Talk) -> None:
    """Both tell what was said, and so does the topic the analyst gave; Analyses of other answers stay."""
    await talk.exchange("One", "First answer.")
    await talk.exchange("Two", "Second answer.")
    await silence(talk)
    [session] = await sessions(talk)
    await judged(talk, session)
    await erase(talk, (await talk.messages())[1])
    assert [label for label, _ in await line(talk)] == ["Request", "Feedback", "Response", "Analysis"]
    [left] = [event for event in await events(talk) if event.label is EventLabel.ANALYSIS]
    assert left.attrs["lessons"] == ["about Second answer."]
    assert [(one.topic, one.topic_by) for one in await sessions(talk)] == [("One", "words")]


async def test_an_analysis_whose_words_were_wiped_is_none(talk: Talk) -> None:
    """What an erasure empties elsewhere is taken out of the line; it is not shown before that either."""
    await talk.exchange("One", "First answer.")
    await silence(talk)
    [session] = await sessions(talk)
    await judged(talk, session)
    await talk.write(lambda c: blank_texts(c, OWNER, LineTest(["about First answer."])))
    assert len([node for node in (await shown(talk)).nodes if node.label == "Analysis"]) == 1
    assert await talk.write(lambda c: service.drop_emptied(c, OWNER)) == 1
    assert [label for label, _ in await line(talk)] == ["Request", "Response", "Analysis"]


async def test_a_topic_that_named_a_forgotten_person_is_made_of_other_words(talk: Talk) -> None:
    """The first words of the session without the person; those of a session that is about nobody else are none."""
    stage = ErasingStage(talk)
    maria = {"type": "Added", "person": {"display_name": "Maria", "bio": "A vet."}, "evidence": [1]}
    stage.reply("Maria", people_operations=[maria])
    await stage.said("Maria is a vet", "It rains in Lviv", "Maria called")
    await talk.say("Who is Maria?", command="/db")
    assert [one.topic for one in await sessions(talk)] == ["Maria is a vet", "Who is Maria?"]
    (person,) = await stage.people()
    await stage.forget("person", str(person.id))
    assert [one.topic for one in await sessions(talk)] == ["It rains in Lviv", ""]


async def test_an_analysis_joins_the_line_when_it_is_written(talk: Talk) -> None:
    """Also behind the events of a newer session; it is part of its own, and last in it."""
    await talk.exchange("One")
    await silence(talk)
    [session] = await sessions(talk)
    await talk.exchange("Two")
    await judged(talk, session)
    assert [label for label, _ in await line(talk)] == ["Request", "Response"] * 2 + ["Analysis", "Analysis"]
    graph = await shown(talk)
    assert [edge.target for edge in of_type(graph, "SUMMARIZES")] == [session.id]
    assert len(of_type(graph, "ANALYZES")) == 1
    last = {edge.source: edge.target for edge in of_type(graph, "LAST_EVENT")}
    assert last[session.id] == (await events(talk))[-1].id


def analysed(talk: Talk) -> tuple[Intake, Publication]:
    """Intake and publication of a product whose analyst works."""
    lifecycle = SessionLifecycle(["analyst"])
    intake, publication = talk.intake, talk.publication()
    intake._lifecycle = publication._lifecycle = lifecycle
    return intake, publication


async def test_a_closed_session_gets_one_run_of_the_analyst(talk: Talk) -> None:
    """At the closing by silence; without an analyst there is none."""
    await talk.exchange("One")
    _, publication = analysed(talk)
    talk.clock.advance(SILENCE)
    await publication.publish_due()
    [session] = await sessions(talk)
    [run] = await analyst_runs(talk, session)
    assert (run.agent, run.session_id, run.episode_id, run.state) == ("analyst", session.id, "", RunState.DUE)
    assert run.due_at == talk.clock.now()
    await talk.exchange("Two")
    await silence(talk)
    assert await analyst_runs(talk, (await sessions(talk))[1]) == []


async def test_the_analyst_waits_for_an_answer_that_is_written(talk: Talk) -> None:
    """/ss in the middle of an answer: its run is due a minute later, or when the answer is there."""
    turn = await talk.ask("One")
    _, publication = analysed(talk)
    await publication.close_session(OWNER)
    [session] = await sessions(talk)
    [run] = await analyst_runs(talk, session)
    assert run.due_at == talk.clock.now() + timedelta(minutes=1)
    talk.lifecycle = SessionLifecycle(["analyst"])
    await talk.flow().answer(turn)
    [run] = await analyst_runs(talk, session)
    assert run.due_at == talk.clock.now()


async def test_a_late_answer_is_judged_with_a_run_of_its_own(talk: Talk) -> None:
    """When the analyst had finished before the answer came, it judges the session once more in place of the first."""
    turn = await talk.ask("One")
    _, publication = analysed(talk)
    await publication.close_session(OWNER)
    [session] = await sessions(talk)
    [first] = await analyst_runs(talk, session)
    await talk.write(lambda c: runs.finish(c, first, talk.clock.now()))
    talk.lifecycle = SessionLifecycle(["analyst"])
    await talk.flow().answer(turn)
    _, second = await analyst_runs(talk, session)
    assert (second.replaces, second.state) == (first.id, RunState.DUE)


async def test_erasing_from_a_judged_session_has_it_judged_anew(talk: Talk) -> None:
    """What the run answered is emptied, and another takes its place; a session that goes whole takes its runs along."""
    await talk.exchange("One")
    await talk.exchange("Two")
    _, publication = analysed(talk)
    await publication.close_session(OWNER)
    [session] = await sessions(talk)
    [first] = await analyst_runs(talk, session)
    await talk.write(lambda c: runs.finish(c, first, talk.clock.now()))
    one, answer, two, last = await talk.messages()
    await erase(talk, one)
    done, again = await analyst_runs(talk, session)
    assert (done.state, done.reply, again.state, again.replaces) == (RunState.APPLIED, None, RunState.DUE, first.id)
    for message in (answer, two, last):
        await erase(talk, message)
    assert await analyst_runs(talk, session) == []


KYIV = "Europe/Kyiv"


async def in_zone(talk: Talk, zone: str) -> None:
    await talk.write(lambda c: c.execute(update(users).where(users.c.user_id == OWNER).values(tz=zone)))


def days(graph: view.View) -> dict[str, tuple[str, str, int]]:
    """(date, time, month) of each event and session by its id."""
    dates = {node.id: node.properties["date"] for node in graph.nodes if node.label == "Day"}
    months = {edge.target: edge.properties["number"] for edge in of_type(graph, "MONTH")}
    return {
        edge.source: (dates[edge.target], edge.properties["time"], months[edge.target])
        for edge in of_type(graph, "HAPPENED_AT")
    }


@pytest.mark.parametrize(
    ("zone", "at", "wanted"),
    [
        ("UTC", datetime(2026, 2, 22, 23, 59, 59, tzinfo=UTC), ("2026-02-22", "23:59:59", 2)),
        (KYIV, datetime(2026, 2, 22, 23, 59, 59, tzinfo=UTC), ("2026-02-23", "01:59:59", 2)),
        (KYIV, datetime(2025, 12, 31, 22, 0, tzinfo=UTC), ("2026-01-01", "00:00:00", 1)),
        (KYIV, datetime(2026, 3, 29, 1, 30, tzinfo=UTC), ("2026-03-29", "04:30:00", 3)),
        (KYIV, datetime(2026, 10, 25, 0, 30, tzinfo=UTC), ("2026-10-25", "03:30:00", 10)),
        (KYIV, datetime(2026, 10, 25, 1, 30, tzinfo=UTC), ("2026-10-25", "03:30:00", 10)),
        ("America/Los_Angeles", datetime(2026, 1, 1, 7, 0, tzinfo=UTC), ("2025-12-31", "23:00:00", 12)),
    ],
)
async def test_days_are_the_owners_own(talk: Talk, zone: str, at: datetime, wanted: tuple[str, str, int]) -> None:
    """Midnight, the end of the year and both changes of the clock are those of the owner's zone."""
    await in_zone(talk, zone)
    await talk.say("Now", sent=at)
    graph = await shown(talk)
    assert set(days(graph).values()) == {wanted}
    [year] = [node for node in graph.nodes if node.label == "Year"]
    assert (year.properties["name"], year.properties["value"]) == (wanted[0][:4], int(wanted[0][:4]))


async def test_a_session_over_midnight_leads_to_two_days(talk: Talk) -> None:
    """One year node, two day nodes, whose ids are the same wherever they are derived."""
    await talk.say("Late", sent=datetime(2026, 5, 31, 23, 59, tzinfo=UTC))
    await talk.say("Early", sent=datetime(2026, 6, 1, 0, 1, tzinfo=UTC))
    graph = await shown(talk)
    assert sorted(days(graph).values()) == [
        ("2026-05-31", "23:59:00", 5),
        ("2026-05-31", "23:59:00", 5),
        ("2026-06-01", "00:01:00", 6),
    ]
    [session] = await sessions(talk)
    alone = await talk.read(lambda c: view.of_session(c, OWNER, session.id))
    assert alone is not None
    assert {node.id for node in alone.nodes} == {node.id for node in graph.nodes}


async def test_another_zone_moves_the_open_session_only(talk: Talk) -> None:
    """/timezone: where the owner is now decides the days of what goes on, not of what is over."""
    at = datetime(2026, 5, 31, 23, 0, tzinfo=UTC)
    await talk.say("Before", sent=at)
    await talk.say("After", sent=at, command="/db")
    await talk.write(lambda c: service.move_zone(c, OWNER, KYIV))
    before, after = await events(talk)
    found = days(await shown(talk))
    assert (found[before.id][:2], found[after.id][:2]) == (("2026-05-31", "23:00:00"), ("2026-06-01", "02:00:00"))


async def test_one_session_shows_the_steps_that_lead_out_of_it(talk: Talk) -> None:
    """The graph of one session has NEXT into and out of it, over what is hidden just now."""
    await talk.exchange("One")
    await silence(talk)
    await talk.exchange("Two")
    await silence(talk)
    await talk.say("Three")
    middle = (await sessions(talk))[1]
    line_ = await events(talk)
    graph = await talk.read(lambda c: view.of_session(c, OWNER, middle.id))
    assert graph is not None
    steps = [(edge.source, edge.target) for edge in of_type(graph, "NEXT")]
    assert steps == [(line_[n].id, line_[n + 1].id) for n in (1, 2, 3)]
    hidden = view.HiddenMessages(frozenset({line_[1].message_id or ""}))
    without_hidden = await talk.read(lambda c: view.of_session(c, OWNER, middle.id, hidden=hidden))
    assert without_hidden is not None
    assert next((edge.source, edge.target) for edge in of_type(without_hidden, "NEXT")) == (line_[0].id, line_[2].id)
