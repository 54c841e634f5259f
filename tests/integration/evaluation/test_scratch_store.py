"""Conversations on the stage: written, followed and searched by the product itself, each owner for himself."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np
import pytest

from bot.evaluation import scratch_store as stage
from bot.evaluation.locomo import Conversation, Question, Turn
from bot.evaluation.scratch_store import ScratchStore
from internal.dialogue import repository as dialogue
from internal.errors import ModelUnavailable
from internal.language.search import terms
from internal.language.search.terms import Word
from internal.llm.model import Embedder, Vectors
from internal.recall.index.embed import VectorBackfill
from internal.recall.index.terms import TermsBackfill
from internal.recall.messages.features import NAMES
from internal.recall.messages.search import MessageSearch
from internal.recall.search.knowledge import KnowledgeSearch
from internal.storage.database import Database
from internal.storage.migration import migrate
from internal.testing import FrozenClock
from internal.testing.vectors import TrigramEmbedder

NOON = datetime(2023, 5, 8, 12, tzinfo=UTC)
WAIT = timedelta(seconds=0)


class DirectTerms:
    """The term tools called in this process."""

    async def document_terms(self, texts: Sequence[str], *, urgent: bool = False) -> list[str]:
        return terms.document_terms(texts)

    async def query_terms(self, text: str) -> list[Word]:
        return terms.query_terms(text)

    async def in_cyrillic(self, text: str) -> str:
        return text


class SilentEmbedder(TrigramEmbedder):
    """A server that is down."""

    async def embed_documents(self, texts: Sequence[str], *, user_id: int | None = None) -> Vectors:
        raise ModelUnavailable("nobody there")


@dataclass(slots=True)
class Told:
    lines: list[tuple[str, int, int]] = field(default_factory=list)

    def __call__(self, what: str, done: int, total: int) -> None:
        self.lines.append((what, done, total))


def staged(database: Database, embedder: Embedder | None) -> ScratchStore:
    clock, direct = FrozenClock(), DirectTerms()
    following = None
    if embedder is not None:
        following = VectorBackfill(database, embedder, clock, retry_base=WAIT, retry_max=WAIT)
    return ScratchStore(
        database,
        TermsBackfill(database, direct),
        following,
        KnowledgeSearch(database, clock, embedder=embedder, terms=direct, names=None),
        MessageSearch(database, clock, embedder=embedder, terms=direct, names=None),
    )


@pytest.fixture
async def database(tmp_path: Path) -> AsyncIterator[Database]:
    async with Database.open(tmp_path / "scratch.db") as opened:
        await opened.exclusive(migrate)
        yield opened


def turn(n: int, speaker: str, text: str, caption: str = "", session: int = 1) -> Turn:
    return Turn(f"D{session}:{n}", session, speaker, text, caption, NOON + timedelta(days=session, minutes=n))


SAILORS = Conversation(
    "sailors.json",
    (
        turn(1, "Ann", "We went sailing on the lake."),
        turn(2, "Bob", "Look at what I found!", "an old brass compass"),
        turn(1, "Bob", "My sister moved to Lisbon.", session=2),
        turn(2, "Ann", "", "a tram on a steep street", session=2),
    ),
    (Question("Who found a compass?", 4, ("D1:2",)), Question("Where does the sister live?", 4, ("D2:1",))),
)
COOKS = Conversation(
    "cooks.json",
    (turn(1, "Eve", "The soup needs a compass of salt."), turn(2, "Dan", "Nonsense, it needs pepper.")),
    (Question("What does the soup need?", 5),),
)


async def test_turns_are_found_for_the_questions_of_their_own_conversation(database: Database) -> None:
    """By words and captions; the turn that answers stands first, and no other owner's turn is ranked."""
    stage, told = staged(database, None), Told()
    ranked = await stage.rank(await stage.write([SAILORS, COOKS], told), told)
    assert [one.ranking[0] for one in ranked] == ["D1:2", "D2:1", "D1:1"]
    assert set(ranked[2].ranking) <= {"D1:1", "D1:2"}
    assert [one.question for one in ranked] == [*SAILORS.questions, *COOKS.questions]
    written = [("turns written", 4, 6), ("turns written", 6, 6)]
    assert told.lines == [*written, *(("questions ranked", n, 3) for n in (1, 2, 3))]


async def test_turns_are_messages_that_were_forwarded_to_their_owner(database: Database) -> None:
    """Each is in the log with who said it, when, and what its picture shows; none of the questions is."""
    [kept] = await staged(database, None).write([SAILORS], Told())
    written = await database.read(lambda c: dialogue.recent(c, kept.user_id, limit=100))
    assert [(kept.turns[one.id], one.content, one.timestamp) for one in written] == [
        (said.dia_id, said.text, said.at) for said in SAILORS.turns
    ]
    assert [one.forward.name for one in written if one.forward] == ["Ann", "Bob", "Bob", "Ann"]
    assert written[1].attachments == [{"kind": "photo", "description": "an old brass compass"}]


async def test_turns_with_a_role_are_the_owners_and_the_bots(database: Database) -> None:
    """Nothing of theirs was forwarded, and an answer is one of the bot's own."""
    asked, answer = turn(1, "User", "Where is my compass?"), turn(2, "Assistant", "In the drawer.")
    talk = Conversation("talk.json", (replace(asked, role="user"), replace(answer, role="assistant")), ())
    [kept] = await staged(database, None).write([talk], Told())
    written = await database.read(lambda c: dialogue.recent(c, kept.user_id, limit=100))
    assert [(kept.turns[one.id], one.role, one.content) for one in written] == [
        ("D1:1", "user", "Where is my compass?"),
        ("D1:2", "assistant", "In the drawer."),
    ]
    assert {(one.forward, one.chat_id) for one in written} == {(None, kept.user_id)}


async def test_vectors_follow_before_anything_is_asked(database: Database) -> None:
    """Samples then hold what the vectors say, one row of features a candidate."""
    stage, told = staged(database, TrigramEmbedder()), Told()
    samples = await stage.samples(await stage.write([SAILORS], told), told)
    assert ("vectors made", 4, 4) in told.lines
    compass = samples[0]
    assert compass.matrix.shape == (len(compass.turns), len(NAMES))
    assert np.count_nonzero(compass.matrix[:, NAMES.index("dense")]) == len(compass.turns)
    assert [turn for turn, answers in zip(compass.turns, compass.answers, strict=True) if answers] == ["D1:2"]


async def test_an_embedder_that_is_down_is_told(database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    """Rankings without the vectors that were asked for would be measured as if they had them."""
    monkeypatch.setattr(stage, "_POLL_S", 0.001)
    with pytest.raises(ModelUnavailable, match="gives no vectors for 4 texts"):
        await staged(database, SilentEmbedder()).write([SAILORS], Told())
