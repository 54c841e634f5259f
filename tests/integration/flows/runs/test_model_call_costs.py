"""What model calls leave behind: a price with the user they were made for, and a receipt."""

from __future__ import annotations

from sqlalchemy import select
from support.flows.flow_stage import OWNER, Talk

from internal.access import limits, repository as users
from internal.errors import ModelAccessDenied, ModelReplyTruncated, ModelUnavailable, ModelUnknown
from internal.events.trigger import caused_by
from internal.flows.operations.model_call_log import CallRecorder
from internal.llm.model import ChatMessage, ChatReply, ChatRequest, EmbeddingReply, EmbeddingRequest, Usage
from internal.storage import tables


def asked(agent: str, user_id: int | None = OWNER) -> ChatRequest:
    return ChatRequest(agent, "some/model", [ChatMessage("user", "Кто такой Петров?")], user_id=user_id)


def reply(cost_usd: float) -> ChatReply:
    return ChatReply("Коллега.", "some/model-1", Usage(90, 10, cost_usd))


async def test_every_agents_calls_are_on_the_bill_failed_ones_and_embeddings_too(talk: Talk) -> None:
    """What the provider charged is charged, whoever asked and however it ended."""
    recorder = CallRecorder(talk.database, talk.clock)
    recorder.finished(asked("responder"), reply(0.5), None, 1.0)
    recorder.finished(asked("enricher"), reply(0.1), None, 1.0)
    recorder.finished(asked("archivist"), reply(0.2), ModelReplyTruncated("length"), 1.0)
    recorder.finished(EmbeddingRequest("e", 8, 1, OWNER), EmbeddingReply("e", Usage(5, 0, 0.01)), None, 0.1)
    recorder.finished(asked("responder", None), reply(9.0), None, 1.0)
    await recorder.flush()
    rows = await talk.read(lambda c: c.execute(select(tables.spend.c.agent, tables.spend.c.cost_usd)).all())
    assert {(agent, cost) for agent, cost in rows} == {
        ("responder", 0.5),
        ("enricher", 0.1),
        ("archivist", 0.2),
        ("embedder", 0.01),
    }


async def test_what_a_provider_refuses_is_known_until_the_model_answers(talk: Talk) -> None:
    """Embeddings too; an outage says nothing about the settings."""
    recorder = CallRecorder(talk.database, talk.clock)
    recorder.finished(asked("responder"), None, ModelUnknown("no such model"), 1.0)
    recorder.finished(EmbeddingRequest("e", 8, 1, OWNER), None, ModelAccessDenied("bad key"), 0.1)
    recorder.finished(asked("archivist"), None, ModelUnavailable("down"), 1.0)
    assert recorder.refused == {"some/model": "no such model", "e": "bad key"}
    recorder.finished(asked("archivist"), reply(0.1), None, 1.0)
    assert recorder.refused == {"e": "bad key"}


async def test_a_call_that_was_broken_off_leaves_its_tokens(talk: Talk) -> None:
    """Counted by ourselves, and the receipt says so, whoever broke it off."""
    recorder = CallRecorder(talk.database, talk.clock)
    half = ChatReply("Кол", "some/model", Usage(90, 1, estimated=True))
    recorder.finished(asked("responder"), half, None, 1.0)
    recorder.finished(asked("responder"), half, ModelUnavailable("the reply was cut off"), 1.0)
    recorder.finished(asked("responder"), None, None, 1.0)
    await recorder.flush()
    [spent] = await talk.read(lambda c: c.execute(select(tables.spend.c.tokens)).scalars().all())
    assert spent == 182
    query = select(tables.model_calls.c.error, tables.model_calls.c.completion_tokens).order_by(tables.model_calls.c.n)
    assert [tuple(row) for row in await talk.read(lambda c: c.execute(query).all())] == [
        ("stopped (its tokens are estimated)", 1),
        ("the reply was cut off (its tokens are estimated)", 1),
        (None, 0),
    ]


async def test_bills_go_to_the_owners_own_day(talk: Talk) -> None:
    """Midnight is his, not Greenwich's."""
    await talk.write(lambda c: users.change(c, OWNER, tz="Pacific/Auckland"))
    recorder = CallRecorder(talk.database, talk.clock)
    recorder.finished(asked("responder"), reply(1.0), None, 1.0)
    await recorder.flush()
    days = await talk.read(lambda c: c.execute(select(tables.spend.c.day)).scalars().all())
    assert days == ["2026-02-08"]
    assert await talk.read(lambda c: limits.spent_today(c, OWNER, talk.clock.now())) == 1.0


async def test_a_receipt_holds_the_exact_prompt_and_what_it_was_for(talk: Talk) -> None:
    """Somebody who wants to see what was sent about him finds it, with the turn it belonged to."""
    recorder = CallRecorder(talk.database, talk.clock)
    with caused_by(turn="t1"):
        recorder.finished(asked("responder"), reply(0.0), None, 1.5)
    await recorder.flush()
    row = await talk.read(lambda c: c.execute(select(tables.model_calls)).one())
    assert row.prompt == [{"role": "user", "content": "Кто такой Петров?"}]
    assert (row.reply, row.model, row.links, row.duration_s) == ("Коллега.", "some/model-1", {"turn": "t1"}, 1.5)
