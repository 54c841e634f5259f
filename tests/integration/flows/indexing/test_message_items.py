"""Messages as search items: written with the message, and gone with it from every byte that told it."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import numpy as np
from sqlalchemy import Connection, delete, select
from support.flows.flow_stage import OTHER, OWNER, Talk

from internal.dialogue import repository as dialogue, search_item_repository
from internal.dialogue.model import HIDDEN_MARK, ForwardOrigin, Message
from internal.flows.forgetting import erase, requests
from internal.flows.indexing.messages import BATCH, MessageBackfill
from internal.language.search.message_traits import ENDS_AS_QUESTION, PICTURE
from internal.storage import vectors
from internal.storage.search_items import text_hash
from internal.storage.tables import search_items, turns, vectors as stored

MODEL = "m"


async def said(talk: Talk, text: str, **more: Any) -> Message:
    taken = await talk.say(text, **more)
    assert taken.message is not None
    return taken.message


async def found(talk: Talk, user_id: int = OWNER) -> dict[str, tuple[str, str | None]]:
    """The text and the context of each message item, by the message's id."""
    query = select(search_items).where(search_items.c.user_id == user_id, search_items.c.kind == "message")
    rows = await talk.read(lambda c: c.execute(query).all())
    return {row.ref_id: (row.text, row.context) for row in rows}


async def texts(talk: Talk) -> list[str]:
    return sorted(text for text, _ in (await found(talk)).values())


def embed(connection: Connection) -> list[str]:
    """Stores a vector for all that is due; the texts of those."""
    due = vectors.due(connection, MODEL, 4, limit=500)
    for one in due:
        vectors.save_vector(connection, one, MODEL, np.ones(4, dtype=np.float32))
    return [one.text for one in due]


async def with_vectors(talk: Talk) -> set[str]:
    rows = await talk.read(lambda c: c.execute(select(stored.c.item)).scalars().all())
    return {item.removeprefix("message:") for item in rows}


async def test_a_message_is_found_by_its_words_and_embedded_with_the_line_before(talk: Talk) -> None:
    """Who said it stands before it where that is known; a told picture is part of it; the text before is cut."""
    await said(talk, "long " * 100 + "end")
    origin = ForwardOrigin("hidden_user", "Petro")
    photo = [{"kind": "photo", "description": "two red boats"}]
    second = await said(talk, "Where is it?", forward=origin, attachments=photo)
    text, context = (await found(talk))[second.id]
    assert text == "Where is it? [photo: two red boats]"
    assert context == f"Olena: {('long ' * 100 + 'end')[-300:]}\nPetro:"
    row = await talk.read(lambda c: c.execute(select(search_items).where(search_items.c.ref_id == second.id)).one())
    assert row.traits & PICTURE
    assert not row.traits & ENDS_AS_QUESTION
    assert row.text_hash == text_hash(text, context)
    assert f"{context} {text}" in await talk.write(embed)


async def test_a_page_is_no_context(talk: Talk) -> None:
    """How a long answer ends tells nothing of what is written after it."""
    await said(talk, "page " * 300)
    after = await said(talk, "Thanks, I will")
    assert (await found(talk))[after.id] == ("Thanks, I will", "Olena:")


async def test_a_context_is_of_the_same_lane_and_not_old(talk: Talk) -> None:
    """Another thread, or a line of more than three hours ago, is none."""
    await said(talk, "first")
    other = await said(talk, "elsewhere", thread_id=5)
    second = await said(talk, "second")
    talk.clock.advance(3 * 3600 + 1)
    late = await said(talk, "late")
    items = await found(talk)
    assert [items[one.id][1] for one in (other, second, late)] == ["Olena:", "Olena: first\nOlena:", "Olena:"]


async def test_what_nobody_is_shown_has_no_item(talk: Talk) -> None:
    """Hidden instructions, system messages, empty ones; an answer from when it was refused."""
    now = talk.clock.now()
    hidden = {HIDDEN_MARK: True}
    await talk.write(lambda c: dialogue.add(c, OWNER, "user", "do it", now=now, user_metadata=hidden))
    await talk.write(lambda c: dialogue.add(c, OWNER, "system", "rules", now=now))
    await said(talk, "", attachments=[{"kind": "voice"}])
    answer = await talk.write(lambda c: dialogue.add(c, OWNER, "assistant", "Yes.", now=now, delivery="pending"))
    after = await talk.write(lambda c: dialogue.add(c, OWNER, "assistant", "More.", now=now))
    assert await found(talk) == {answer.id: ("Yes.", None), after.id: ("More.", "Yes.")}
    await talk.write(lambda c: dialogue.mark_delivery(c, OWNER, answer.id, "refused", None))
    assert await found(talk) == {after.id: ("More.", None)}


async def test_an_edit_takes_the_old_words_out_of_the_next_line_too(talk: Talk) -> None:
    """Both vectors told them: they go at once."""
    first, second, third = [await said(talk, text) for text in ("secret", "second", "third")]
    await talk.write(embed)
    await talk.edit(first, "harmless")
    items = await found(talk)
    assert (items[first.id], items[second.id]) == (
        ("harmless", "Olena:"),
        ("second", "Olena: harmless\nOlena:"),
    )
    assert await with_vectors(talk) == {third.id}


async def test_an_erased_message_leaves_the_line_behind_it(talk: Talk) -> None:
    """The item, its vector, and its words in the context and vector of the next, which gets the line before."""
    first, second, third = [await said(talk, text) for text in ("first", "secret", "third")]
    await talk.write(embed)
    await talk.write(lambda c: c.execute(delete(turns)))  # nothing is being answered
    await talk.write(lambda c: erase.erase_messages(c, OWNER, [second.id], now=talk.clock.now()))
    assert await found(talk) == {first.id: ("first", "Olena:"), third.id: ("third", "Olena: first\nOlena:")}
    assert await with_vectors(talk) == {first.id}


async def test_what_waits_to_be_forgotten_is_not_found_and_comes_back(talk: Talk) -> None:
    """Neither by itself nor through the next line; after an undo its vector is there still."""
    first, second = await said(talk, "secret"), await said(talk, "second")
    await talk.write(embed)
    before = await found(talk)
    asked = await talk.write(lambda c: requests.ask(c, OWNER, "message", first.id, now=talk.clock.now()))
    await talk.edit(first, "secret too")
    assert await found(talk) == {second.id: ("second", "Olena:")}
    await talk.edit(first, "secret")
    await talk.write(lambda c: requests.undo(c, OWNER, asked.id))
    assert await found(talk) == before
    due = await talk.read(lambda c: vectors.due(c, MODEL, 4, limit=9))
    assert {(one.item, one.known) for one in due} == {(f"message:{first.id}", True), (f"message:{second.id}", False)}


async def test_everything_is_hidden_but_what_is_said_after_it(talk: Talk) -> None:
    """An undo brings all of it back in the background, with its vectors."""
    await said(talk, "first")
    await said(talk, "not mine", user_id=OTHER)
    await talk.write(embed)
    asked = await talk.write(lambda c: requests.ask(c, OWNER, "everything", None, now=talk.clock.now()))
    talk.clock.advance(1)
    await said(talk, "after")
    assert await found(talk) == {(await talk.messages())[-1].id: ("after", "Olena:")}
    assert len(await found(talk, OTHER)) == 1
    following = MessageBackfill(talk.database)
    await talk.write(lambda c: search_item_repository.put_later(c, OWNER))
    await following.follow_due()
    assert await texts(talk) == ["after"]
    await talk.write(lambda c: requests.undo(c, OWNER, asked.id))
    assert await following.follow_due() == 2
    assert await texts(talk) == ["after", "first"]
    assert await following.follow_due() == 0


async def test_messages_of_older_databases_get_what_a_new_one_has(talk: Talk) -> None:
    """In batches, the earliest first; where nothing is left it costs one look."""
    now = talk.clock.now()

    def fill(connection: Connection) -> None:
        for n in range(BATCH + 1):
            dialogue.add(connection, OWNER, "user", f"line {n}", now=now + timedelta(minutes=n))

    await talk.write(fill)
    await talk.write(embed)
    before = await found(talk)
    await talk.write(lambda c: c.execute(delete(search_items).where(search_items.c.user_id == OWNER)))
    await talk.write(lambda c: search_item_repository.put_later(c, OWNER))
    following = MessageBackfill(talk.database)
    assert await following.follow_due() == BATCH + 1
    assert await found(talk) == before
    assert len(before) == BATCH + 1
    commits = talk.database.commits_seen
    assert await following.follow_due() == 0
    assert talk.database.commits_seen == commits
