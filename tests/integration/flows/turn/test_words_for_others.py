"""An answer that somebody else will read: its owner alone sees what kind of private things stayed out of it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

import pytest
from support.flows.flow_stage import OWNER, Talk

from internal.agents.prompts import newest_lines
from internal.flows.turn.discretion import Discretion, OrderText
from internal.language.worker.process_pool import LanguageWorker
from internal.llm.offline.embedder import OfflineEmbedder
from internal.people.service import TelegramAccount, from_metadata

LINE = "🔒 Left out as private: health. If it should be in, name it in the order itself."


class LanguageHere:
    """The language process, in this process."""

    async def run(self, function: Callable[..., Any], *args: Any) -> Any:
        return function(*args)

    run_bulk = run


@pytest.fixture
async def discreet(talk: Talk) -> Talk:
    await talk.user()
    here = cast(LanguageWorker, LanguageHere())
    talk.discretion = Discretion(talk.database, OfflineEmbedder(here))
    for said in ("Tom has diabetes and takes insulin", "Tom fixes old motorbikes in his garage"):
        await talk.exchange(said, "I will remember that.")
        for row in await talk.outbox():
            await talk.delivered(row)
    return talk


@pytest.mark.parametrize(
    ("order", "owed", "shown"),
    [
        ("Write my boss why Tom must not miss his injections", ["Answer.", LINE], [False, True]),
        ("What do I know about Tom?", ["Answer."], [True, True]),
        ("Write a note to my boss that Tom has diabetes", ["Answer."], [True, True]),
        ("ok", ["Answer."], [True, True]),
        ("Отвечай мне всегда без лишних слов", ["Answer."], [True, True]),
        ("Answer aloud: what does Tom have?", ["Answer."], [True, True]),
        ("Please read page three of insurance.pdf", ["Answer."], [True, True]),
    ],
)
async def test_the_owner_sees_what_stayed_out(discreet: Talk, order: str, owed: list[str], shown: list[bool]) -> None:
    """In a message of its own, which is no part of the answer; nothing is said where nothing was kept back."""
    before = len(await discreet.outbox())
    await discreet.flow().answer(await discreet.ask(order))
    rows = (await discreet.outbox())[before:]
    prompt = "\n".join(line.text for line in discreet.responder.asked[-1].dialogue[:-1])
    assert [word in prompt for word in ("diabetes", "motorbikes")] == shown
    assert [row.outgoing.text for row in rows] == owed
    answer = (await discreet.messages())[-1]
    assert (answer.role, answer.content) == ("assistant", "Answer.")
    [*_, processed] = await discreet.events("agent_result")
    assert processed.payload.get("kept_back") == (["health"] if LINE in owed else None)


async def test_a_wish_about_an_order_is_for_the_same_reader(discreet: Talk) -> None:
    """A few words, or how it is to be written, change an order; by themselves they order nothing."""
    await discreet.exchange("Write my boss why Tom must not miss his injections")
    for wish in ("shorter", "Answer without emojis, please"):
        await discreet.flow().answer(await discreet.ask(wish))
        prompt = "\n".join(line.text for line in discreet.responder.asked[-1].dialogue[:-1])
        assert "diabetes" not in prompt


@pytest.mark.parametrize(
    ("text", "ordered"), [("что задержка", False), ("роману что задержка", True), ("Hello", False)]
)
async def test_a_few_words_order_something_only_where_they_name_somebody(
    discreet: Talk, text: str, ordered: bool
) -> None:
    """Of others their vector cannot tell what they mean."""
    now = discreet.clock.now()
    await discreet.write(lambda c: from_metadata(c, OWNER, TelegramAccount(77, "Роман"), seen_at=now, now=now))
    assert discreet.discretion is not None
    assert (await discreet.discretion.order(OWNER, OrderText(text, text)) is not None) is ordered


@pytest.mark.parametrize(
    ("text", "certain"),
    [
        ("Let's talk about something else", False),
        ("помоги выбрать подарок на юбилей", False),
        ("Write me a haiku about an autumn evening", False),
        ("юркові щось підбадьорливе на завтра", False),
        ("a couple of kind words for walter", True),
    ],
)
async def test_what_names_no_reader_is_no_certain_order(discreet: Talk, text: str, certain: bool) -> None:
    """Of such a message only private things stay out of what is recalled: the latest lines are its dialogue."""
    assert discreet.discretion is not None
    order = await discreet.discretion.order(OWNER, OrderText(text, text))
    assert (order is not None and order.certain) is certain


async def test_a_wish_reaches_an_order_behind_questions_of_the_owner(discreet: Talk) -> None:
    """It may be about either: in doubt what is private stays out, the latest lines of the dialogue stay."""
    assert discreet.discretion is not None
    before = ["Write my boss why Tom must not miss his injections", "what do I know about Tom?"]
    order = await discreet.discretion.order(OWNER, OrderText("shorter", "shorter", before))
    assert order is not None
    assert (order.said, order.certain) == (before[0], False)
    assert await discreet.discretion.order(OWNER, OrderText("shorter", "shorter", before[1:])) is None


async def test_the_latest_lines_stay_where_nobody_and_no_text_is_named(discreet: Talk) -> None:
    """They are what the message goes on from, private or not."""
    await discreet.flow().answer(await discreet.ask("Let's talk about something else for a while"))
    dialogue = " ".join(line.text for line in discreet.responder.asked[-1].dialogue)
    assert ("diabetes" in dialogue, "motorbikes" in dialogue) == (True, True)


async def test_a_line_whose_answer_is_left_out_is_no_part_of_the_question(discreet: Talk) -> None:
    """The model would answer it once more, together with the order."""
    for _ in range(3):  # beyond the latest lines, which an order may lean on
        await discreet.exchange("Tom fixes old motorbikes in his garage", "His insulin keeps him going, you said.")
    order = "Write my boss which motorbikes Tom has fixed"
    await discreet.flow().answer(await discreet.ask(order))
    dialogue = discreet.responder.asked[-1].dialogue
    assert [line.text for line in dialogue].count("Tom fixes old motorbikes in his garage") >= 3
    assert not any("keeps him going" in line.text for line in dialogue)
    assert [line.text for line in newest_lines(dialogue)] == [order]
