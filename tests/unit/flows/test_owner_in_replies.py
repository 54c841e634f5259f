"""Under which names a model writes of the owner, and what becomes of it."""

from collections.abc import Sequence
from datetime import UTC, datetime

import pytest

from internal.agents.archivist.output import ArchivistReply
from internal.agents.model import ArchivistRequest, OwnerProfile, TranscriptLine
from internal.flows.archivist.reply_guard import without_owner
from internal.knowledge.model import OWNER_NODE, ProposedEntity, ProposedFact
from internal.people.operations import Added

NOON = datetime(2026, 11, 23, 12, tzinfo=UTC)


def request(*said: str, others: Sequence[str] = ()) -> ArchivistRequest:
    owner = OwnerProfile(7, "Ира Соколова", "irasok", "ru", "UTC")
    lines = [TranscriptLine(number, "user", owner.name, NOON, text) for number, text in enumerate(said, start=1)]
    end = len(lines) + 1
    lines += [TranscriptLine(n, "user", "Олег", NOON, text, own=False) for n, text in enumerate(others, start=end)]
    return ArchivistRequest(owner, [], [], [], lines)


def fact(source: str, target: str = "кофе", evidence: int = 1) -> ProposedFact:
    return ProposedFact(source, "LIKES", target, f"{source} любит {target}", evidence=(evidence,))


@pytest.mark.parametrize("name", ["Ира Соколова", "Ирина", "Ira", "irasok", "user", "Пользователь", "я", "me"])
def test_the_owner_is_no_person_under_any_name(name: str) -> None:
    """By all that he is called, and by the words that models use for him."""
    reply = ArchivistReply(operations=(Added(name, evidence=(1,)),))
    assert without_owner(reply, request("Люблю кофе, работаю врачом")) == ([], [], 1)


@pytest.mark.parametrize(
    ("name", "said"), [("Ирина", "Моя подруга Ирина любит кофе"), ("Ира Павлова", "Ира Павлова прислала отчёт")]
)
def test_a_namesake_is_somebody_else(name: str, said: str) -> None:
    """Whom a line names as another stays a person, and the facts are that one's."""
    reply = ArchivistReply(operations=(Added(name, evidence=(1,)),), facts=(fact(name),))
    assert without_owner(reply, request(said)) == (list(reply.operations), list(reply.facts), 0)


@pytest.mark.parametrize("name", ["Ира", "Ирина Соколова", "Ira", "irasok"])
def test_what_the_owner_tells_of_himself_under_his_name_is_about_the_owner(name: str) -> None:
    """Not about a second node of that name."""
    _, [told], _ = without_owner(ArchivistReply(facts=(fact(name),)), request("Люблю кофе, работаю врачом"))
    assert told.source == OWNER_NODE


def test_what_has_that_name_besides_keeps_its_facts() -> None:
    """A thing of the reply, and what somebody else says."""
    lines = request("У меня лодка, люблю её", others=["Ира любит чай"])
    boat = ArchivistReply(entities=(ProposedEntity("Ира", ("Object",), evidence=(1,)),), facts=(fact("Ира"),))
    assert without_owner(boat, lines)[1] == list(boat.facts)
    heard = ArchivistReply(facts=(fact("Ира", "чай", evidence=2),))
    assert without_owner(heard, lines)[1] == list(heard.facts)
