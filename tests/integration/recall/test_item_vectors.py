"""Vectors follow the profiles."""

from collections.abc import Sequence
from datetime import timedelta

import numpy as np
import pytest
from sqlalchemy import Connection, func, select
from support.flows.recall_stage import DIMENSIONS, OWNER, STRANGER, Memory

from internal.errors import ModelError, ModelRefused, ModelReplyInvalid, ModelUnavailable
from internal.llm.model import Vectors
from internal.people.model import embedding_text
from internal.people.operations import Added, Updated
from internal.people.repository import get
from internal.recall.index.embed import BATCH, BATCH_CHARACTERS
from internal.storage import search_items, vectors
from internal.storage.database import Database
from internal.storage.tables import vectors as stored
from internal.storage.vectors import VectorProgress, from_blob
from internal.testing.vectors import TrigramEmbedder, trigram_vectors


class Moody(TrigramEmbedder):
    """An embedder that fails as it is told and remembers what it was asked."""

    def __init__(self, *failures: ModelError | None, poison: str = "", effect: type[ModelError] = ModelRefused) -> None:
        super().__init__(DIMENSIONS)
        self.failures, self.poison, self.effect = list(failures), poison, effect
        self.asked: list[tuple[int | None, list[str]]] = []

    async def embed_documents(self, texts: Sequence[str], *, user_id: int | None = None) -> Vectors:
        self.asked.append((user_id, list(texts)))
        if self.failures and (failure := self.failures.pop(0)):
            raise failure
        if self.poison and any(self.poison in text for text in texts):
            raise self.effect
        return await super().embed_documents(texts, user_id=user_id)


async def count(database: Database) -> int:
    return await database.read(lambda c: c.execute(select(func.count()).select_from(stored)).scalar_one())


async def test_vectors_are_stored_as_float32_of_length_one_with_model_and_size(
    memory: Memory, database: Database
) -> None:
    """Exactly the vector of the profile's text, little-endian."""
    await memory.learn(Added("Петров", ("Саша",), "petrov", bio="Коллега."))
    row = await database.read(lambda c: c.execute(select(stored)).one())
    person = await database.read(lambda c: get(c, OWNER, 1))
    assert person is not None
    assert (row.model, row.dim, len(row.vec)) == ("trigram", DIMENSIONS, 4 * DIMENSIONS)
    assert np.allclose(from_blob(row.vec), trigram_vectors([embedding_text(person)], DIMENSIONS)[0], atol=1e-6)
    assert np.linalg.norm(from_blob(row.vec)) == pytest.approx(1.0)


async def test_only_what_changed_is_embedded_again(memory: Memory, database: Database) -> None:
    """A profile whose text is the same keeps its vector; when nothing happened nobody is asked."""
    memory.embedder = moody = Moody()
    await memory.learn(Added("Петров"), Added("Мария"))
    following = memory.following()
    await memory.learn(Updated(1, bio="Коллега."), embed=False)
    assert await following.embed_due() == 1
    assert await following.embed_due() == 0
    assert [texts for _, texts in moody.asked][1:] == [["Петров   Коллега."]]


async def test_batches_are_small_and_of_one_owner(memory: Memory) -> None:
    """A call holds at most BATCH texts and is billed to whom it is for; progress is told."""
    memory.embedder = moody = Moody()
    await memory.learn(*(Added(f"Имя {n}") for n in range(BATCH + 3)), embed=False)
    await memory.learn(Added("Чужой"), user_id=STRANGER, embed=False)
    following = memory.following()
    assert await following.progress() == VectorProgress(0, BATCH + 4)
    assert await following.embed_due() == BATCH + 4
    assert await following.progress() == VectorProgress(BATCH + 4, BATCH + 4)
    assert [(user_id, len(texts)) for user_id, texts in moody.asked] == [(OWNER, BATCH), (STRANGER, 1), (OWNER, 3)]


async def test_a_call_is_full_with_many_texts_or_long_ones(memory: Memory) -> None:
    """Only calls of a few short texts wait for more to come."""
    following = memory.following()
    for profiles, full in (
        ([Added(f"Имя {n}") for n in range(BATCH)], True),
        ([Added("Петров")], False),
        ([Added(f"Длинное {n}", bio="слово " * 400) for n in range(3)], True),
    ):
        await memory.learn(*profiles, embed=False)
        await following.embed_due()
        assert following.full is full


async def test_long_texts_of_one_owner_are_few_to_a_call_and_others_have_their_turn(memory: Memory) -> None:
    """Cost counts, not number: a call has at most BATCH_CHARACTERS, and after it another owner's texts come."""
    memory.embedder = moody = Moody()
    await memory.learn(*(Added(f"Имя {n}", bio="слово " * 500) for n in range(12)), embed=False)
    await memory.learn(Added("Чужой"), user_id=STRANGER, embed=False)
    assert await memory.following().embed_due() == 13
    assert all(sum(map(len, texts)) <= BATCH_CHARACTERS for _, texts in moody.asked)
    assert [user_id for user_id, _ in moody.asked][:3] == [OWNER, STRANGER, OWNER]


async def test_an_outage_is_waited_out_with_growing_pauses(memory: Memory) -> None:
    """People are stored meanwhile; nothing is asked before the pause is over, nothing is lost."""
    memory.embedder = moody = Moody(ModelUnavailable(), ModelUnavailable())
    await memory.learn(Added("Петров"), embed=False)
    following = memory.following()
    assert await following.embed_due() == 0
    assert await following.embed_due() == 0
    assert len(moody.asked) == 1
    memory.clock.advance(timedelta(seconds=2))
    assert await following.embed_due() == 0
    memory.clock.advance(timedelta(seconds=3))
    assert await following.embed_due() == 0
    assert len(moody.asked) == 2
    memory.clock.advance(timedelta(seconds=1))
    assert await following.embed_due() == 1


async def test_a_provider_that_says_when_is_believed(memory: Memory) -> None:
    """Retry-After is kept, up to the longest pause."""
    memory.embedder = moody = Moody(ModelUnavailable(retry_after=60))
    await memory.learn(Added("Петров"), embed=False)
    following = memory.following()
    await following.embed_due()
    memory.clock.advance(timedelta(seconds=59))
    assert await following.embed_due() == 0
    memory.clock.advance(timedelta(seconds=1))
    assert await following.embed_due() == 1
    assert len(moody.asked) == 2


async def test_a_text_the_provider_refuses_does_not_hold_up_the_others(memory: Memory) -> None:
    """The rest is embedded; the refused one is asked again only when it has changed."""
    memory.embedder = moody = Moody(poison="яд")
    await memory.learn(Added("Петров"), Added("Мария", bio="яд"), Added("Анна"), embed=False)
    following = memory.following()
    assert await following.embed_due() == 2
    asked = len(moody.asked)
    assert await following.embed_due() == 0
    assert len(moody.asked) == asked
    await memory.learn(Updated(2, bio="Сестра."), embed=False)
    moody.poison = ""
    assert await following.embed_due() == 1


@pytest.mark.parametrize("effect", [ModelRefused, ModelReplyInvalid, ModelUnavailable])
async def test_texts_of_one_owner_never_hold_up_anothers(memory: Memory, effect: type[ModelError]) -> None:
    """Whatever an embedder does with them, and however often, the others' turn comes after one pause."""
    memory.embedder = moody = Moody(poison="яд", effect=effect)
    first, second = sorted((OWNER, STRANGER))
    await memory.learn(Added("Мария", bio="яд"), user_id=first, embed=False)
    await memory.learn(Added("Петров"), Added("Анна"), user_id=second, embed=False)
    following = memory.following()
    assert await following.embed_due() == 0
    memory.clock.advance(timedelta(hours=1))
    assert await following.embed_due() == 2
    assert [user for user, _ in moody.asked] == [first, second, first]


async def test_one_text_without_a_vector_leaves_the_others_theirs(memory: Memory) -> None:
    """A vector of zeros for one text among many: the many get theirs."""
    memory.embedder = Moody(poison="яд", effect=ModelReplyInvalid)
    await memory.learn(Added("Петров"), Added("Мария", bio="яд"), Added("Анна"), embed=False)
    assert await memory.following().embed_due() == 2


async def test_an_embedder_that_is_no_good_is_not_asked_for_each_text(memory: Memory) -> None:
    """A batch of which nothing comes back well costs four calls, not one for each of its texts."""
    memory.embedder = moody = Moody(poison=" ", effect=ModelReplyInvalid)
    await memory.learn(*(Added(f"Person number {n}") for n in range(10)), embed=False)
    assert await memory.following().embed_due() == 0
    assert len(moody.asked) == 4


async def test_a_bad_key_is_not_taken_for_bad_texts(memory: Memory) -> None:
    """When everything is refused all of it stays due."""
    memory.embedder = Moody(*[ModelRefused()] * 3)
    await memory.learn(Added("Петров"), Added("Мария"), embed=False)
    following = memory.following()
    assert await following.embed_due() == 0
    memory.clock.advance(timedelta(hours=1))
    assert await following.embed_due() == 2


async def test_a_text_that_changes_while_it_is_embedded_is_not_stored(memory: Memory, database: Database) -> None:
    """The vector of the old text is dropped, the new text is due."""

    class Slow(TrigramEmbedder):
        async def embed_documents(self, texts: Sequence[str], *, user_id: int | None = None) -> Vectors:
            found = await super().embed_documents(texts, user_id=user_id)
            if not self.seen:
                self.seen.append(texts)
                await memory.learn(Updated(1, bio="Новое."), embed=False)
            return found

        seen: list[Sequence[str]] = []  # noqa: RUF012 - one instance, one test

    memory.embedder = Slow(DIMENSIONS)
    await memory.learn(Added("Петров"), embed=False)
    assert await memory.following().embed_due() == 1
    left = await database.read(lambda c: vectors.due(c, "trigram", DIMENSIONS, limit=10))
    assert left == []
    row = await database.read(lambda c: c.execute(select(stored.c.vec)).scalar_one())
    assert np.allclose(from_blob(row), trigram_vectors(["Петров   Новое."], DIMENSIONS)[0], atol=1e-6)


@pytest.mark.parametrize(
    "wrong", [np.ones((1, 3)), np.ones((2, DIMENSIONS)), np.zeros((1, DIMENSIONS)), np.full((1, DIMENSIONS), np.nan)]
)
async def test_vectors_that_are_none_are_not_stored(memory: Memory, database: Database, wrong: np.ndarray) -> None:
    """A wrong size or number, zeros, no numbers: asked again later."""

    class Broken(TrigramEmbedder):
        async def embed_documents(self, texts: Sequence[str], *, user_id: int | None = None) -> Vectors:
            return wrong.astype(np.float32)

    memory.embedder = Broken(DIMENSIONS)
    await memory.learn(Added("Петров"))
    assert await count(database) == 0


async def test_a_new_model_embeds_everything_and_then_removes_the_old_vectors(
    memory: Memory, database: Database
) -> None:
    """Until it is done the old vectors stay (a way back); afterwards only the new ones are there."""
    await memory.learn(Added("Петров"), Added("Мария"))
    new = Memory(database, TrigramEmbedder(32, name="new"))
    assert await new.following().progress() == VectorProgress(0, 2)
    assert await new.follow() == 2
    models = await database.read(lambda c: c.execute(select(stored.c.model, stored.c.dim).distinct()).all())
    assert models == [("new", 32)]


async def test_going_back_to_a_model_costs_only_what_it_has_not_embedded(memory: Memory, database: Database) -> None:
    """Vectors that are still there are acknowledged, not made again."""
    await memory.learn(Added("Петров"), Added("Мария"))
    other = Moody(None, ModelUnavailable())
    other.name = "new"
    new = Memory(database, other)
    await memory.learn(*(Added(f"Имя {n}") for n in range(BATCH)))
    assert await new.follow() == BATCH
    memory.embedder = moody = Moody()
    await memory.learn(Added("Анна"))
    assert [texts for _, texts in moody.asked] == [["Анна   Анна"]]
    assert await memory.following().progress() == VectorProgress(BATCH + 3, BATCH + 3)


async def test_messages_come_last_and_a_few_at_a_time(memory: Memory, database: Database) -> None:
    """Whoever waits for other work asks for some calls only, and is told that there is more."""

    def say(connection: Connection) -> None:
        for n in range(BATCH + 1):
            search_items.save_search_item(connection, OWNER, "message", f"{n:03}", f"said {n}", 1, context="before:")

    await database.write(say)
    await memory.learn(Added("Петров"), embed=False)
    memory.embedder = moody = Moody()
    following = memory.following()
    assert await following.embed_due(calls_for_messages=0) == 1
    assert not following.more
    assert await following.embed_due(calls_for_messages=1) == BATCH
    assert following.more
    assert await following.embed_due(calls_for_messages=1) == 1
    assert not following.more
    told = [texts for _, texts in moody.asked]
    assert (told[0], told[1][0], told[2]) == (["Петров   Петров"], f"before: said {BATCH}", ["before: said 0"])


async def test_a_vector_of_nothing_cannot_be_stored(memory: Memory, database: Database) -> None:
    """The repository itself refuses what is no direction."""
    await memory.learn(Added("Петров"), embed=False)
    (due,) = await database.read(lambda c: vectors.due(c, "m", 2, limit=1))
    with pytest.raises(ValueError):
        await database.write(lambda c: vectors.save_vector(c, due, "m", np.zeros(2, dtype=np.float32)))
