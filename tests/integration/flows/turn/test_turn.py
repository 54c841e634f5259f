"""A turn gets one answer: through edits, stops, outages, crashes and limits."""

from __future__ import annotations

import asyncio
from contextlib import suppress

import pytest
from sqlalchemy import Connection, update
from support.flows.flow_stage import OTHER, OWNER, Talk, until
from support.patience import PATIENCE_S

from internal.access.model import Role
from internal.agents.prompts import with_metadata
from internal.artifacts.model import ARTIFACT, FAILED, READ
from internal.dialogue import repository as dialogue, turn_repository as turns
from internal.dialogue.mailbox import repository as mailbox
from internal.dialogue.mailbox.model import Outgoing
from internal.dialogue.model import HIDDEN_MARK, Quoted, Turn
from internal.errors import (
    ModelAccessDenied,
    ModelContextExceeded,
    ModelRefused,
    ModelReplyInvalid,
    ModelReplyTruncated,
    ModelUnavailable,
    ModelUnknown,
    StorageError,
)
from internal.flows.forgetting.requests import UNDO_WINDOW, ForgettingService, ask, ask_forget
from internal.flows.turn.attempts import MAX_FAILURES, MAX_STARTS
from internal.llm.tokens import count_tokens
from internal.people.service import TelegramAccount, from_metadata
from internal.storage import tables

DOWN = ModelUnavailable("no connection")


async def test_an_answer_is_in_the_log_and_owed_in_parts(talk: Talk) -> None:
    """One message of the assistant, all its parts owed in one order, the turn answered."""
    turn = await talk.ask("Tell me everything")
    talk.responder.script.append(["word " * 1000])
    await talk.flow().answer(turn)
    question, answer = await talk.messages()
    assert (answer.role, answer.delivery, answer.turn_id) == ("assistant", "pending", turn.id)
    rows = await talk.outbox()
    assert [row.outgoing.part for row in rows] == [0, 1]
    assert {row.outgoing.message_id for row in rows} == {answer.id}
    assert "".join(row.outgoing.text for row in rows).split() == ["word"] * 1000
    assert await talk.turn_states() == ["answered"]
    assert talk.buffers.of(OWNER) == [question.seq, answer.seq]
    assert (talk.ended.outcomes, talk.ended.woken) == (["answered"], 1)


async def test_an_answered_turn_is_not_answered_again(talk: Talk) -> None:
    """A lane that is woken once too often asks no model."""
    turn = await talk.ask("Hi")
    await talk.flow().answer(turn)
    await talk.flow().answer(turn)
    assert len(talk.responder.asked) == 1
    assert len(await talk.outbox()) == 1


async def test_a_grouped_question_is_answered_whole(talk: Talk) -> None:
    """Both messages stand in the prompt, and one answer follows."""
    await talk.say("One thing.")
    turn = await talk.ask("And another.")
    await talk.flow().answer(turn)
    assert [line.text for line in talk.responder.asked[0].dialogue] == ["One thing.", "And another."]
    assert len(await talk.outbox()) == 1


async def test_an_edit_while_the_answer_is_written_makes_it_anew(talk: Talk) -> None:
    """The answer to the old words is thrown away; one to the new ones is given."""
    taken = await talk.say("Where is Kyiv?")
    assert taken.turn is not None
    message = taken.message
    assert message is not None
    talk.responder.script = [["Old.", lambda: talk.edit(message, "Where is Lviv?")], ["New."]]
    await talk.flow().answer(taken.turn)
    assert talk.responder.questions == ["Where is Kyiv?", "Where is Lviv?"]
    assert await talk.owed() == ["New."]
    assert talk.drafts.showing == set()


async def test_edits_take_no_attempt_from_the_model(talk: Talk) -> None:
    """A model that stumbles after two edits is asked again."""
    taken = await talk.say("0")
    assert taken.turn is not None
    message = taken.message
    assert message is not None
    edited = [["Old.", lambda n=n: talk.edit(message, str(n))] for n in (1, 2)]
    talk.responder.script = [*edited, [DOWN], [DOWN], ["New."]]
    await talk.flow().answer(taken.turn)
    assert await talk.owed() == ["New."]


async def test_who_edits_for_ever_is_answered_all_the_same(talk: Talk) -> None:
    """After the last attempt the answer stands, instead of an apology."""
    taken = await talk.say("0")
    assert taken.turn is not None
    message = taken.message
    assert message is not None
    edits = iter(range(1, 100))
    talk.responder.always = ["Answer.", lambda: talk.edit(message, str(next(edits)))]
    await talk.flow().answer(taken.turn)
    assert len(talk.responder.asked) == 3
    assert await talk.owed() == ["Answer."]


async def test_an_edit_after_the_answer_changes_the_log_only(talk: Talk) -> None:
    """What was answered is answered."""
    taken = await talk.say("Befoer")
    assert taken.turn is not None
    assert taken.message is not None
    flow = talk.flow()
    await flow.answer(taken.turn)
    await talk.edit(taken.message, "Before")
    await flow.answer(taken.turn)
    assert len(talk.responder.asked) == 1
    assert [message.content for message in await talk.messages()] == ["Before", "Answer."]


async def _stopped(talk: Talk, turn: Turn, *before: str) -> None:
    """Answers a turn whose responder hangs after some words, and stops it there."""
    hanging = asyncio.Event()
    talk.responder.script = [[*before, hanging.set, asyncio.Event().wait]]
    flow = talk.flow()
    answering = asyncio.create_task(flow.answer(turn))
    await asyncio.wait_for(hanging.wait(), PATIENCE_S)
    assert flow.stop(turn.id)
    await asyncio.wait_for(answering, PATIENCE_S)
    assert not flow.stop(turn.id)


async def test_a_stop_keeps_what_was_written(talk: Talk) -> None:
    """Half an answer is sent and remembered as it is."""
    turn = await talk.ask("Tell me a story")
    await _stopped(talk, turn, "Once ", "upon")
    assert await talk.owed() == ["Once upon"]
    assert [message.content for message in await talk.messages()] == ["Tell me a story", "Once upon"]
    assert await talk.turn_states() == ["cancelled"]


async def test_an_empty_stop_says_nothing(talk: Talk) -> None:
    """Stopped before the first word, nothing is sent and nothing remembered."""
    turn = await talk.ask("Tell me a story")
    await _stopped(talk, turn)
    assert await talk.owed() == []
    assert [message.role for message in await talk.messages()] == ["user"]
    assert await talk.turn_states() == ["cancelled"]


async def test_an_empty_stop_settles_its_placeholder(talk: Talk) -> None:
    """Where a message stands for the answer already, it does not go on waiting."""
    talk.drafts.placeholder = "placeholder"
    turn = await talk.ask("Tell me a story")
    await _stopped(talk, turn)
    [row] = await talk.outbox()
    assert (row.outgoing.kind, row.outgoing.replaces, row.outgoing.text) == ("edit", "placeholder", "⏹")


async def test_a_stop_during_recall_ends_at_once(talk: Talk) -> None:
    """The user need not wait until the people are found."""
    turn = await talk.ask("Who is Petro?")
    talk.embedder.open.clear()
    flow = talk.flow()
    answering = asyncio.create_task(flow.answer(turn))
    await until(lambda: talk.embedder.questions)
    flow.stop(turn.id)
    await asyncio.wait_for(answering, PATIENCE_S)
    assert await talk.turn_states() == ["cancelled"]
    assert talk.responder.asked == []


async def test_a_stop_between_attempts_apologises_for_nothing(talk: Talk) -> None:
    """Whoever stopped does not want to read that the model could not be reached."""
    turn = await talk.ask("Hi")
    flow = talk.flow()
    talk.responder.always = [lambda: flow.stop(turn.id) and None, DOWN]
    await flow.answer(turn)
    assert await talk.owed() == []
    assert await talk.turn_states() == ["cancelled"]


async def test_an_outage_is_waited_out(talk: Talk) -> None:
    """Two failures and an answer are an answer."""
    turn = await talk.ask("Hi")
    talk.responder.script = [["Ha", DOWN], [DOWN], ["Hello."]]
    await talk.flow().answer(turn)
    assert await talk.owed() == ["Hello."]
    assert talk.drafts.showing == set()


async def test_a_prompt_that_is_too_long_for_the_model_is_halved(talk: Talk) -> None:
    """Earlier words go first, half of them each time; the question stays whole and is one attempt."""
    for number in range(6):
        await talk.exchange(f"Message {number}")
    before = len(talk.responder.asked)
    talk.responder.script = [[ModelContextExceeded("too long")], [ModelContextExceeded("too long")]]
    await talk.flow().answer(await talk.ask("Where?"))
    lengths = [len(request.dialogue) for request in talk.responder.asked[before:]]
    assert lengths == [lengths[0], (lengths[0] + 1) // 2, ((lengths[0] + 1) // 2 + 1) // 2]
    assert set(talk.responder.questions[before:]) == {"Where?"}
    assert (await talk.turn_states())[-1] == "answered"


@pytest.mark.parametrize(
    ("failure", "attempts", "sentence"),
    [
        (DOWN, 3, "can't reach the language model"),
        (ModelReplyInvalid("empty"), 3, "couldn't answer"),
        (ModelRefused("safety"), 1, "declined to answer"),
        (ModelAccessDenied("bad key"), 1, "refusing my requests"),
        (ModelUnknown("no such model"), 1, "refusing my requests"),
        (ModelContextExceeded("too long"), 1, "Send it in parts"),
    ],
)
async def test_a_lasting_failure_is_told_plainly(talk: Talk, failure: Exception, attempts: int, sentence: str) -> None:
    """After so many attempts one sentence is owed; it is not part of the dialogue, the question is."""
    turn = await talk.ask("Hi")
    talk.responder.always = [failure]
    await talk.flow().answer(turn)
    assert len(talk.responder.asked) == attempts
    [said] = await talk.owed()
    assert sentence in said
    assert [message.role for message in await talk.messages()] == ["user"]
    assert (await talk.turn_states(), talk.ended.outcomes) == (["failed"], ["failed"])


async def test_an_answer_that_was_cut_is_kept(talk: Talk) -> None:
    """It was paid for and most of it is there; an ellipsis says that there was more."""
    turn = await talk.ask("Hi")
    talk.responder.script = [["Once upon ", "a time", ModelReplyTruncated("length")]]
    await talk.flow().answer(turn)
    assert await talk.owed() == ["Once upon a time …"]
    assert (await talk.turn_states(), len(talk.responder.asked)) == (["answered"], 1)


async def test_attempts_at_one_question_recall_once(talk: Talk) -> None:
    """Recall costs model calls too: what it found stands for the next attempt."""
    turn = await talk.ask("Hi")
    talk.responder.script = [[ModelReplyInvalid("empty")], ["Hello."]]
    await talk.flow().answer(turn)
    assert talk.responder.questions == ["Hi", "Hi"]
    assert talk.embedder.questions == ["Hi"]


async def test_an_answer_without_anything_to_see_is_a_failed_attempt(talk: Talk) -> None:
    """Nobody is left without a word because the model wrote blanks."""
    turn = await talk.ask("Hi")
    talk.responder.script = [[" \n\x00"], ["Hello."]]
    await talk.flow().answer(turn)
    assert await talk.owed() == ["Hello."]


async def test_attempts_survive_crashes(talk: Talk) -> None:
    """A turn that killed the process again and again gets an apology instead of one attempt more."""
    turn = await talk.ask("Hi")
    await talk.write(lambda c: [turns.start(c, turn) for _ in range(MAX_STARTS)])
    await talk.flow().answer(turn)
    assert talk.responder.asked == []
    assert "couldn't answer" in (await talk.owed())[0]


async def test_crashes_take_no_attempt_from_the_model(talk: Talk) -> None:
    """A program that was killed often may still ask a model that stumbles as often as any other."""
    turn = await talk.ask("Hi")
    await talk.write(lambda c: [turns.start(c, turn) for _ in range(MAX_FAILURES + 1)])
    talk.responder.script = [[DOWN], [DOWN], ["Hello."]]
    await talk.flow().answer(turn)
    assert await talk.owed() == ["Hello."]


async def test_all_attempts_together_have_an_end(talk: Talk) -> None:
    """The last start of all asks once: if the model fails then, its user is told."""
    turn = await talk.ask("Hi")
    await talk.write(lambda c: [turns.start(c, turn) for _ in range(MAX_STARTS - 1)])
    talk.responder.always = [DOWN]
    await talk.flow().answer(turn)
    assert len(talk.responder.asked) == 1
    assert "can't reach the language model" in (await talk.owed())[0]


async def test_an_orderly_stop_is_no_attempt(talk: Talk) -> None:
    """However often the program is stopped while it writes, the answer comes in the end, once."""
    turn = await talk.ask("Hi")
    for _ in range(5):
        hanging = asyncio.Event()
        talk.responder.script = [["Ha", hanging.set, asyncio.Event().wait]]
        answering = asyncio.create_task(talk.flow().answer(turn))
        await asyncio.wait_for(hanging.wait(), PATIENCE_S)
        answering.cancel()
        with suppress(asyncio.CancelledError):
            await answering
        assert talk.drafts.showing == set()
    await talk.flow().answer(turn)
    assert await talk.owed() == ["Answer."]


async def test_a_broken_database_leaves_the_turn_open_and_nothing_shown(talk: Talk) -> None:
    """What is no fault of the model's is raised, and the turn is answered when it is asked for again."""
    turn = await talk.ask("Hi")
    talk.responder.script = [[StorageError("disk full")]]
    with pytest.raises(StorageError):
        await talk.flow().answer(turn)
    assert talk.drafts.showing == set()
    await talk.flow().answer(turn)
    assert await talk.owed() == ["Answer."]


async def test_unreadable_messages_get_an_honest_answer(talk: Talk) -> None:
    """No model is asked about a voice note; an album is told of once."""
    await talk.say("", attachments=[{"kind": "photo"}])
    turn = await talk.ask("", attachments=[{"kind": "photo"}])
    await talk.flow().answer(turn)
    assert talk.responder.asked == []
    [said] = await talk.owed()
    assert "photos" in said
    assert await talk.turn_states() == ["answered"]


async def test_words_in_a_picture_are_said_and_the_owner_is_told_the_setting(talk: Talk) -> None:
    """What nobody saw is not spoken of as seen by a model; guests have no settings."""
    seen = {"kind": "photo", ARTIFACT: "a", READ: "[photo] | BUY MILK 42", FAILED: "unseen"}
    for role in (Role.OWNER, Role.MEMBER):
        await talk.database.write(lambda c, it=role: c.execute(update(tables.users).values(role=it.value)))
        turn = await talk.ask("What is it?\n[photo] | BUY MILK 42", attachments=[seen])
        await talk.flow().answer(turn)
    told, guest = await talk.owed()
    assert "“BUY MILK 42”. (This is switched on by the setting media.vision.)" in told
    assert "media.vision" not in guest


async def test_a_captioned_photo_is_answered_and_the_model_told_of_it(talk: Talk) -> None:
    """The words are answered; the model knows that there was something it was not shown."""
    turn = await talk.ask("My sister", attachments=[{"kind": "photo"}])
    await talk.flow().answer(turn)
    [line] = talk.responder.asked[0].dialogue
    assert line.metadata is not None
    assert line.metadata["came_with_unread"] == "photo"


async def test_the_context_is_the_dialogue_that_took_place(talk: Talk) -> None:
    """Hidden instructions and answers nobody got stay out; other system messages stand apart."""
    await talk.exchange("First", "Delivered.")
    turn = await talk.ask("Second")
    await talk.flow().answer(turn)
    refused = (await talk.messages())[-1]
    now = talk.clock.now()

    def work(connection: Connection) -> None:
        dialogue.mark_delivery(connection, OWNER, refused.id, "refused", None)
        marked = {HIDDEN_MARK: True}
        dialogue.add(connection, OWNER, "user", "[hidden instruction] greet", now=now, user_metadata=marked)
        dialogue.add(connection, OWNER, "user", "[hidden instruction] typed by hand", now=now)
        dialogue.add(connection, OWNER, "system", "Note.", now=now)

    await talk.write(work)
    await talk.flow().answer(await talk.ask("Third"))
    request = talk.responder.asked[-1]
    said = [line.text for line in request.dialogue]
    assert said == ["First", "Delivered.", "Second", "[hidden instruction] typed by hand", "Third"]
    assert request.system_lines == ["Note."]


async def test_what_a_message_answers_stands_in_its_metadata(talk: Talk) -> None:
    """With its author: whole where the question answers it, shorter once it is past."""
    long, part = "We meet at nine. " * 50, "at nine"
    await talk.flow().answer(await talk.ask("Who comes?", quoted=Quoted("other", "Marko Vovk", long, part)))
    [line] = talk.responder.asked[-1].dialogue
    assert line.text == "Who comes?"
    assert line.metadata is not None
    assert line.metadata["in_reply_to"] == f"Marko Vovk (not the owner): {long}"
    assert line.metadata["quoted_part"] == part
    await talk.flow().answer(await talk.ask("And you?", quoted=Quoted("assistant", "", "Answer.")))
    first, _, last = talk.responder.asked[-1].dialogue
    assert first.metadata is not None
    assert last.metadata is not None
    assert len(first.metadata["in_reply_to"]) < 350
    assert last.metadata["in_reply_to"] == "you: Answer."
    assert "quoted" not in first.metadata


async def test_a_quote_of_what_is_to_be_forgotten_is_not_shown(talk: Talk) -> None:
    """The message that answers it stays, without it."""
    await talk.exchange("The key lies under the blue flowerpot")
    told = (await talk.messages())[0]
    await talk.exchange("Still?", quoted=Quoted("owner", "", told.content, "blue flowerpot"))
    await talk.write(lambda c: ask(c, OWNER, "message", told.id, now=talk.clock.now()))
    await talk.flow().answer(await talk.ask("Now?", quoted=Quoted("owner", "", told.content)))
    assert "flowerpot" not in str(talk.responder.asked[-1].dialogue)
    assert "Still?" in [line.text for line in talk.responder.asked[-1].dialogue]


async def test_a_quote_does_not_name_who_is_forgotten(talk: Talk) -> None:
    """However new the message is that answers it; what the owner himself says again may."""
    now = talk.clock.now()
    one = await talk.write(lambda c: from_metadata(c, OWNER, TelegramAccount(5, "Oksana"), seen_at=now, now=now))
    await talk.write(lambda c: ask(c, OWNER, "person", str(one.id), now=talk.clock.now()))
    talk.clock.advance(60)
    for text in ("Who was it?", "Really?"):
        await talk.exchange(text, quoted=Quoted("assistant", "", "It was Oksana who rang."))
        assert "Oksana" not in str(talk.responder.asked[-1].dialogue)
    await talk.exchange("Oksana rang again", quoted=Quoted("assistant", "", "Somebody rang."))
    assert "Somebody rang." in str(talk.responder.asked[-1].dialogue[-1].metadata)


async def test_a_hidden_instruction_is_seen_in_the_turn_it_causes(talk: Talk) -> None:
    """Its mark goes nowhere."""
    turn = await talk.ask("[hidden instruction] Say good morning")
    hidden = update(tables.messages).values(user_metadata={HIDDEN_MARK: True})
    await talk.write(lambda c: c.execute(hidden))
    await talk.flow().answer(turn)
    [line] = talk.responder.asked[0].dialogue
    assert (line.text, line.metadata) == ("[hidden instruction] Say good morning", None)


async def test_recent_dialogue_stays_within_its_tokens(talk: Talk) -> None:
    """The latest messages whole, as they are sent with their metadata, and the question whatever its length."""
    talk.history_tokens = 300
    for number in range(12):
        await talk.exchange(f"Question {number} " + "about the weather " * 5, f"Answer {number}.")
    await talk.flow().answer(await talk.ask("Long " * 400))
    *recent, question = talk.responder.asked[-1].dialogue
    assert question.text.strip() == ("Long " * 400).strip()
    used = sum(count_tokens(with_metadata(line.text, line.metadata)) for line in recent)
    assert 150 < used <= 300
    assert recent[-1].text == "Answer 11."


async def test_other_owners_are_other_worlds(talk: Talk) -> None:
    """Nothing of one owner stands in the prompt of another."""
    await talk.exchange("Mine", user_id=OTHER)
    await talk.flow().answer(await talk.ask("Yours?"))
    assert [line.text for line in talk.responder.asked[-1].dialogue] == ["Yours?"]


async def test_a_placeholder_is_replaced(talk: Talk) -> None:
    """Where drafts are refused the answer is an edit of the message that stands for it."""
    talk.drafts.placeholder = "p"
    placeholder = Outgoing(OWNER, 7, OWNER, "…", "p")
    await talk.write(lambda c: mailbox.enqueue(c, placeholder, talk.clock.now()))
    turn = await talk.ask("Hi")
    talk.responder.script.append(["word " * 1000])
    await talk.flow().answer(turn)
    kinds = [(row.outgoing.kind, row.outgoing.replaces) for row in await talk.outbox()]
    assert kinds == [("send", None), ("edit", "p"), ("send", None)]


async def test_everything_forgotten_in_the_middle_of_a_turn_stays_forgotten(talk: Talk) -> None:
    """The answer that was being written is finished first; then nothing is left of it, and nothing comes back."""
    turn = await talk.ask("My secret")
    eraser = ForgettingService(talk.database, talk.clock, b"k" * 32, [talk.buffers])
    erased: list[int] = []

    async def forget() -> None:
        await talk.write(lambda c: ask_forget(c, OWNER, None, now=talk.clock.now()))
        talk.clock.advance(UNDO_WINDOW * 2)
        erased.append(await eraser.erase_due())

    talk.responder.script = [["Half ", forget, "and half."]]
    await talk.flow().answer(turn)
    assert erased == [0]
    assert await eraser.erase_due() == 1
    assert (await talk.messages(), await talk.outbox(), await talk.turn_states()) == ([], [], [])
    assert talk.buffers.of(OWNER) == []


async def test_what_was_asked_to_be_forgotten_stands_in_no_later_prompt(talk: Talk) -> None:
    """From the moment of asking on, also while it could be undone."""
    await talk.exchange("My secret")
    await talk.write(lambda c: ask_forget(c, OWNER, None, now=talk.clock.now()))
    await talk.flow().answer(await talk.ask("Hello again"))
    assert [line.text for line in talk.responder.asked[-1].dialogue] == ["Hello again"]


async def test_nothing_is_left_running(talk: Talk) -> None:
    """Answered, stopped or failed: no task outlives its turn."""
    before = asyncio.all_tasks()
    await talk.flow().answer(await talk.ask("Hi"))
    await _stopped(talk, await talk.ask("Hi"), "Half")
    talk.responder.always = [DOWN]
    await talk.flow().answer(await talk.ask("Hi"))
    await until(lambda: asyncio.all_tasks() <= before | {task for task in asyncio.all_tasks() if task.done()})
