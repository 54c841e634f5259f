"""Messages are found right after every write: by words, neighbours, meaning, senders and dates."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta

import pytest
from support.flows.message_stage import Talk
from support.flows.recall_stage import NOON, OWNER, STRANGER

from internal.dialogue import removal_repository, repository as dialogue
from internal.flows.forgetting import requests
from internal.llm.model import Vectors
from internal.recall.messages.features import NAMES
from internal.recall.messages.search import MessageSearch
from internal.recall.search.query import Query
from internal.storage.database import Database
from internal.testing.vectors import TrigramEmbedder


@pytest.fixture
def talk(database: Database) -> Talk:
    return Talk.of(database)


async def test_new_lines_are_found_at_once(talk: Talk) -> None:
    """What was just written is found by its words, though nothing has followed yet."""
    await talk.say("We bought a kayak in spring")
    assert await talk.found("kayak") == ["We bought a kayak in spring"]
    await talk.say("The second kayak leaks")
    assert set(await talk.found("kayak")) == {"We bought a kayak in spring", "The second kayak leaks"}


async def test_late_terms_change_nothing(talk: Talk) -> None:
    """Terms that were analysed on the spot and then stored are not analysed again, and find the same."""
    await talk.say("The lighthouse keeper waved")
    before = await talk.found("lighthouse")
    await talk.follow()
    analysed = talk.terms.analysed
    assert await talk.found("lighthouse") == before
    assert talk.terms.analysed == analysed


async def test_edited_lines_are_found_by_what_they_say_now(talk: Talk) -> None:
    """An edit takes the old words away and keeps the place between the neighbours."""
    await talk.say("Which animal did you see?")
    message = await talk.say("A badger")
    await talk.say("How lovely")
    assert await talk.found("badger", 1) == ["A badger"]
    await talk.database.write(lambda c: dialogue.edit(c, message, "An otter", NOON))
    hits = {hit.message.content: hit.reasons for hit in await talk.hits("otter")}
    assert hits["An otter"].words > 0
    assert hits["How lovely"].context > 0, "it still stands behind the edited line"
    assert all(hit.reasons.words == 0 for hit in await talk.hits("badger"))


async def test_deleted_lines_are_found_no_more(talk: Talk) -> None:
    """A line that is gone is gone from the search, and its neighbours stand beside each other."""
    await talk.say("Which animal did you see?")
    message = await talk.say("A badger")
    await talk.say("How lovely")
    assert "A badger" in await talk.found("badger")

    await talk.database.write(lambda c: removal_repository.drop(c, OWNER, [message.id]))
    assert "A badger" not in await talk.found("badger")
    hits = {hit.message.content: hit.reasons for hit in await talk.hits("animal")}
    assert hits["How lovely"].context > 0


async def test_lines_about_to_be_forgotten_are_not_shown(talk: Talk) -> None:
    """From the moment it is asked for."""
    message = await talk.say("My secret orchard")
    assert await talk.found("orchard")
    await talk.database.write(lambda c: requests.ask(c, OWNER, "message", message.id, now=NOON))
    assert await talk.found("orchard") == []


async def test_owners_do_not_see_each_other(talk: Talk) -> None:
    """A search finds one owner's lines only."""
    await talk.say("My telescope", user_id=STRANGER)
    assert await talk.found("telescope") == []
    assert await talk.found("telescope", user_id=STRANGER) == ["My telescope"]


async def test_a_named_sender_comes_first(talk: Talk) -> None:
    """ "Что Катя" means Екатерина's lines, over declension and short forms; the name is no word to look for."""
    await talk.say("Я купил велосипед", name="Иван")
    await talk.say("Я купила велосипед", name="Екатерина")
    hits = await talk.hits("Что про велосипед говорила Катя?")
    assert hits[0].message.forward is not None
    assert hits[0].message.forward.name == "Екатерина"
    assert [hit.reasons.sender for hit in hits] == [1.0, 0.0]


async def test_the_owner_names_himself(talk: Talk) -> None:
    """ "Where did I" asks for what the owner said."""
    await talk.say("Bought a bicycle", name="Ivan")
    await talk.say("Bought a bicycle")
    hits = await talk.hits("Where did I buy a bicycle?")
    assert hits[0].message.forward is None
    assert hits[0].reasons.sender == 1


@pytest.mark.parametrize("question", ["How did my greenhouse progress?", "Sum up my greenhouse"])
async def test_an_order_and_a_summary_are_told_by_what_opened_each_talk(talk: Talk, question: str) -> None:
    """Each talk is about one thing, and its details follow; a question for a detail still finds the detail first."""
    subjects = ["frame", "glass", "stove"]
    for subject in subjects:
        await talk.say(f"Today I began the {subject} of my greenhouse", after=timedelta(days=1))
        for n in range(8):
            await talk.reply("Well done.")
            await talk.say(f"And the {subject} of my greenhouse, is screw {n} painted?", after=timedelta(minutes=5))
    opened = {f"Today I began the {subject} of my greenhouse" for subject in subjects}
    assert set(await talk.found(question, 3)) == opened
    detail = "And the stove of my greenhouse, is screw 5 painted?"
    assert await talk.found("Was screw 5 of the stove painted?", 1) == [detail]


async def test_sessions_take_turns(talk: Talk) -> None:
    """Of two talks that say the same, both are among the first lines, not the later one alone."""
    for day in range(2):
        for n in range(5):
            await talk.say("The kayak was painted", after=timedelta(days=1) if day and not n else timedelta(minutes=1))
    hits = await talk.hits("Which kayak was painted?", 4)
    assert len({hit.message.timestamp.date() for hit in hits}) == 2


async def test_only_a_part_of_the_log_is_searched(talk: Talk) -> None:
    """Before a message, since a time, until a time: each bound holds."""
    lines = [await talk.say(f"kayak {n}", after=timedelta(days=1)) for n in range(4)]
    asked = await talk.ask("kayak")
    found = await talk.search.search(
        OWNER, asked, before_seq=lines[3].seq, since=lines[1].timestamp, until=lines[2].timestamp
    )
    assert [hit.message.id for hit in found] == [lines[1].id]


async def test_dates_of_a_question_prefer_their_days(talk: Talk) -> None:
    """A month that is named puts its lines first, and shuts no other out."""
    await talk.say("We planted tulips", after=timedelta(days=1))
    late = await talk.say("We planted tulips", after=timedelta(days=90))
    hits = await talk.hits("Where did we plant tulips in May?")
    assert [hit.reasons.dated for hit in hits if hit.message.id == late.id] == [True]
    assert hits[0].message.id == late.id
    assert len(hits) == 2


async def test_meaning_finds_what_words_do_not(database: Database) -> None:
    """With vectors a line that shares no word is found, and says its cosine."""
    talk = Talk.of(database, TrigramEmbedder(512))
    await talk.say("photographs of the coast")
    await talk.say("quite another thing")
    await talk.follow()
    hits = await talk.hits("photographer")
    assert hits[0].message.content == "photographs of the coast"
    assert hits[0].reasons.meaning is not None
    assert hits[0].reasons.meaning > 0.3
    assert 0 <= hits[0].chance <= 1


async def test_a_name_in_a_question_does_not_ask_for_lines_like_the_name(database: Database) -> None:
    """Who is asked about is told by the sender: the embedder reads the name once, however often it is named."""
    asked = list[Sequence[str]]()

    class Counting(TrigramEmbedder):
        async def embed_queries(self, texts: Sequence[str], *, user_id: int | None = None) -> Vectors:
            asked.append(texts)
            return await super().embed_queries(texts, user_id=user_id)

    talk = Talk.of(database, Counting(512))
    for text in ("Anna Annabel Annette", "walked along the harbour wall"):
        await talk.say(text, name="Annabelle")
    await talk.follow()
    for _ in range(2):
        hits = await talk.hits("Annabelle harbourmaster")
        assert hits[0].message.content == "walked along the harbour wall"
    assert asked.count(["Annabelle"]) == 1


async def test_an_empty_log_and_an_empty_question_find_nothing(talk: Talk) -> None:
    """Nothing to search, or nothing to search for: no hits, no error."""
    assert await talk.found("kayak") == []
    await talk.say("kayak")
    assert await talk.search.search(OWNER, Query("?", None, [])) == []


async def test_training_rows_are_what_is_ranked(talk: Talk) -> None:
    """Each candidate's id with a value for each feature."""
    line = await talk.say("a kayak")
    rows = await talk.search.training_rows(OWNER, await talk.ask("kayak"))
    assert (rows.names, rows.message_ids, rows.matrix.shape) == (NAMES, [line.id], (1, len(NAMES)))


async def test_a_small_cache_reads_anew(talk: Talk) -> None:
    """What is dropped from memory is found all the same."""
    small = MessageSearch(talk.database, talk.clock, embedder=None, terms=talk.terms, names=None, cache_bytes=1)
    await talk.say("kayak")
    await talk.say("kayak", user_id=STRANGER)
    for owner in (OWNER, STRANGER, OWNER):
        assert len(await small.search(owner, await talk.ask("kayak"))) == 1
    small.forget(OWNER)
    assert len(await small.search(OWNER, await talk.ask("kayak"))) == 1


async def test_what_tells_nothing_takes_no_place_before_what_does(talk: Talk) -> None:
    """The same question asked before, and an answer that knew nothing; unless they are what is asked for."""
    for _ in range(4):
        await talk.say("Когда у Маши день рождения?", after=timedelta(hours=9))
        await talk.reply("Не знаю, когда у Маши день рождения. Расскажи, и я запомню!")
        await talk.say("А напомни, когда день рождения у Маши")
    await talk.say("У Маши торт на день рождения, четырнадцатого", after=timedelta(days=1))
    hits = await talk.hits("Когда день рождения у Маши?")
    assert hits[0].message.content == "У Маши торт на день рождения, четырнадцатого"
    assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)
    assert hits[0].chance > 10 * hits[1].chance
    assert "торт" not in (await talk.found("Что я спрашивал про день рождения Маши?"))[0]


async def test_an_echo_leaves_its_place_to_who_told_it(talk: Talk) -> None:
    """An answer that repeats what was told, however often, stands behind the owner's own words."""
    told = await talk.say("My colleague Tom Baker moved the Beacon release to March")
    for _ in range(3):
        await talk.say("Tell me a joke", after=timedelta(hours=9))
        await talk.reply("About the release of Beacon: your colleague Tom Baker moved the Beacon release to March.")
    hits = await talk.hits("When is the Beacon release of Tom Baker?")
    assert hits[0].message.id == told.id
    assert hits[0].chance > 10 * hits[1].chance


async def test_what_others_ask_is_no_question_asked_before(talk: Talk) -> None:
    """A conversation that was forwarded is as it is."""
    asked = await talk.say("Когда у Маши день рождения?", name="Иван")
    own = await talk.say("Когда у Маши день рождения?", after=timedelta(days=1))
    found = [hit.message.id for hit in await talk.hits("Когда день рождения у Маши?")]
    assert found == [asked.id, own.id]


_FILLER = (
    "Start slowly and choose a quiet place where nobody walks past. Check the weather in the evening, pack warm clothes"
    " and bring enough water for everybody. Ask a neighbour to look after the plants and remember the tickets.\n\n"
)


async def test_a_long_answer_does_not_win_by_its_length(talk: Talk) -> None:
    """A bot that touches on everything stands behind the line in which the owner says it; asked for, it is found."""
    for place in ("lake", "forest", "castle"):
        await talk.say(f"How do we spend a day at the {place}?", after=timedelta(minutes=20))
        await talk.reply(_FILLER * 4 + f"At the {place} a kayak is rented by the hour. " + _FILLER * 4)
    told = await talk.say("Our kayak has a hole", after=timedelta(minutes=20))
    hits = await talk.hits("What is wrong with my kayak?")
    assert hits[0].message.id == told.id
    answers = [hit.message.content for hit in await talk.hits("What did you say about a kayak at the castle?", 3)]
    assert any("At the castle a kayak" in answer for answer in answers)


async def test_a_standing_wish_stands_beside_every_answer(talk: Talk) -> None:
    """Of the owner's wishes the one that fits best, behind what answers; others' are no wishes of his."""
    wish = await talk.say("Always give distances in miles when I ask about trips.")
    await talk.say("Never use abbreviations when I ask about medicine.")
    await talk.say("Always call when I ask for soup", name="Ivan")
    for n in range(30):
        await talk.say(f"We drove to the castle of Trip {n} and back", after=timedelta(hours=9))
    hits = await talk.hits("How far was our drive to the castle of Trip 7?")
    assert "Trip 7 " in hits[0].message.content
    assert [hit.message.id for hit in hits if "when I ask" in hit.message.content] == [wish.id]


async def test_a_long_text_is_found_by_its_best_passage(talk: Talk) -> None:
    """A page that says it in one place is as good as a line; what stands around takes nothing from it."""
    page = await talk.say(_FILLER * 10 + "The meter in the cellar has the number 4711. " + _FILLER * 10)
    await talk.say("The cellar is damp, I looked at it.", after=timedelta(hours=9))
    await talk.say("No meter is running there.", after=timedelta(hours=9))
    assert (await talk.hits("Which number has the meter in the cellar?"))[0].message.id == page.id
    await talk.database.write(lambda c: dialogue.edit(c, page, "Nothing of that", NOON))
    assert all(hit.reasons.words == 0 for hit in await talk.hits("4711"))
