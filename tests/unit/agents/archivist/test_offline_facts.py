"""The facts of the offline archivist against labelled dialogues: nearly nothing wrong, and most of what is plain."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cache
from typing import Any

import pytest
import yaml
from support.agents.offline_cases import NOW, request_of
from support.paths import DATA

from internal.agents.archivist.offline.agent import propose
from internal.agents.archivist.output import parse
from internal.agents.model import ArchivistRequest, TranscriptLine
from internal.knowledge.model import OWNER_NODE, ProposedFact
from internal.language.dates.parse import resolve_plainly
from internal.language.kinship.kinds import kin_of_relation
from internal.people.model import Circle
from internal.people.operations import Added

SET = DATA / "offline" / "facts.yaml"
PLAIN = SET.with_name("facts_plain.yaml")
LIVES = SET.with_name("facts_lives.yaml")
SPEAKERS = SET.with_name("facts_speakers.yaml")
Row = tuple[str | None, ...]


@cache
def dialogues() -> tuple[dict[str, Any], ...]:
    return tuple(yaml.safe_load(SET.read_text(encoding="utf-8")))


def facts_of(request: ArchivistRequest) -> tuple[ProposedFact, ...]:
    """What the product reads out of the reply, without who is what to whom; nothing of it is refused."""
    reply = parse(propose(request), request.transcript, {person.id for person in request.people})
    assert reply.refused == ()
    return tuple(fact for fact in reply.facts if kin_of_relation(fact.relation) is None)


def row(fact: ProposedFact) -> Row:
    """As the set writes facts; the day of birth is the target itself."""
    ends = [None if fact.relation == "BORN_ON" else day(fact.valid_at), day(fact.invalid_at)]
    source = "user" if fact.source == OWNER_NODE else fact.source
    return (source, fact.relation, fact.target, *ends)


def day(written: str | None) -> str | None:
    found = resolve_plainly(written, NOW) if written else None
    return None if found is None else f"{found.moment:%Y-%m-%d}"


def expected(dialogue: dict[str, Any]) -> list[Row]:
    rows = [[str(part) if part is not None else None for part in told] for told in dialogue["facts"]]
    return [(*told, *[None] * (5 - len(told))) for told in rows]


@dataclass(slots=True)
class Score:
    right: int = 0
    stated: int = 0
    wanted: int = 0
    wrong: list[str] = field(default_factory=list)

    def add(self, dialogue: dict[str, Any]) -> None:
        missing = expected(dialogue)
        self.wanted += len(missing)
        for found in map(row, facts_of(request_of(dialogue))):
            self.stated += 1
            if found in missing:
                missing.remove(found)
                self.right += 1
            else:
                self.wrong.append(f"{dialogue['say']}: stated {found}")
        self.wrong += [f"{dialogue['say']}: missed {told}" for told in missing]


def test_plain_sentences_about_people_of_rarer_names_are_facts() -> None:
    """A set written before the rules: it had 21 of its 28 facts then, and one wrong; its traps state nothing."""
    score = Score()
    for dialogue in yaml.safe_load(PLAIN.read_text(encoding="utf-8")):
        score.add(dialogue)
    assert (score.right, score.stated, score.wanted) == (28, 28, 28), "\n".join(score.wrong)


def test_what_lives_tell_of_moves_work_and_kin() -> None:
    """Days, cases, denials, relatives and pronouns as they stand in simulated lives: each is read rightly."""
    score = Score()
    for dialogue in yaml.safe_load(LIVES.read_text(encoding="utf-8")):
        score.add(dialogue)
    assert score.wrong == []


def test_other_speakers_tell_of_themselves_and_a_second_clause_of_its_subject() -> None:
    """A set written before the rules: they had 12 of its 31 facts then; its traps state nothing."""
    score = Score()
    for dialogue in yaml.safe_load(SPEAKERS.read_text(encoding="utf-8")):
        score.add(dialogue)
    assert (score.right, score.stated, score.wanted) == (31, 31, 31), "\n".join(score.wrong)


@pytest.mark.parametrize("language", ["ru", "uk", "en"])
def test_what_is_stated_is_right_in_each_language(language: str) -> None:
    """Precision before recall: a wrong fact is believed for years."""
    score = Score()
    for dialogue in dialogues():
        if dialogue["lang"] == language:
            score.add(dialogue)
    assert score.right / score.stated >= 0.96, "\n".join(score.wrong)
    assert score.right / score.wanted >= 0.93, "\n".join(score.wrong)


def test_the_set_is_large_and_has_traps() -> None:
    """Every kind of fact, each language, and dialogues in which nothing may be stated."""
    assert len(dialogues()) >= 100
    relations = {told[1] for dialogue in dialogues() for told in dialogue["facts"]}
    assert relations == {
        *("LIVES_IN", "WORKS_FOR", "STUDIES_AT", "BORN_ON", "BORN_IN", "LIKES", "DISLIKES", "PREFERS"),
    }
    traps = [dialogue for dialogue in dialogues() if not dialogue["facts"]]
    assert all(sum(dialogue["lang"] == one for dialogue in traps) >= 8 for one in ("ru", "uk", "en"))


TRAPS = [dialogue for dialogue in dialogues() if not dialogue["facts"]]


@pytest.mark.parametrize("dialogue", TRAPS, ids=lambda dialogue: dialogue["say"][0][:40])
def test_traps(dialogue: dict[str, Any]) -> None:
    """Denials, wishes, hedges, questions, hearsay, quotations, forwards, the past, people who are no things."""
    assert facts_of(request_of(dialogue)) == ()


def test_a_fact_says_where_it_stands_and_can_be_understood_alone() -> None:
    """Its line, its words, the types of its ends; a pronoun gives way to the name."""
    first, second = facts_of(
        request_of({"lang": "ru", "say": ["Привет", "Видел Сашу. Он живёт в Туле.", "Работаю в МТС"]})
    )
    assert (first.fact, first.evidence, first.entity_types) == ("Саша живёт в Туле.", (2,), {"тула": "Location"})
    assert (second.fact, second.evidence, second.entity_types) == ("Работаю в МТС.", (3,), {"мтс": "Organization"})


def test_another_speaker_is_a_person_of_his_own_line() -> None:
    """He is added by his name, known only by what he told; his sister is nobody's here, and the owner nothing."""
    request = request_of({"lang": "en", "say": ["Hi", "speaker Bob Stone: My sister Anna is here. I work for Acme."]})
    reply = parse(propose(request), request.transcript, set())
    (added,) = reply.operations
    assert isinstance(added, Added)
    assert (added.display_name, added.circle, added.evidence) == ("Bob Stone", Circle.OTHER, (2,))
    (fact,) = reply.facts
    assert (fact.source, fact.fact, fact.evidence) == ("Bob Stone", "I work for Acme.", (2,))


def test_another_speakers_words_are_no_facts_of_the_owner() -> None:
    """Of an imported chat only the owner's own lines are read; of a text without a speaker, all."""
    request = request_of({"lang": "ru", "say": ["..."]})
    told = [
        TranscriptLine(1, "user", "Оксана", NOW, "Я живу в Одессе.", own=False),
        TranscriptLine(2, "user", "", NOW, "Мой друг Саша живёт в Туле."),
    ]
    (fact,) = facts_of(ArchivistRequest(request.owner, [], [], [], told))
    assert (fact.source, fact.target) == ("Саша", "Тула")


@pytest.mark.parametrize(
    ("lang", "said", "liked"),
    [
        ("uk", "Люблю каву без цукру.", "кава без цукру"),
        ("uk", "Люблю борщ зі сметаною.", "борщ зі сметаною"),
        ("ru", "Люблю чай с сахаром.", "чай с сахаром"),
    ],
)
def test_what_stands_behind_a_preposition_keeps_its_case(lang: str, said: str, liked: str) -> None:
    """The thing itself stands in its basic form, what tells it apart as it was said."""
    dialogue = {"lang": lang, "say": [said], "facts": []}
    assert [fact.target for fact in facts_of(request_of(dialogue))] == [liked]


def test_a_preference_is_the_owners_alone() -> None:
    """What another person dislikes is a thing of which a fact tells, and nothing that the owner likes."""
    (hers,) = facts_of(request_of({"lang": "ru", "say": ["Катя не любит кинзу"]}))
    assert (hers.source, hers.relation, hers.entity_types) == ("Катя", "DISLIKES", {})
    (ours,) = facts_of(request_of({"lang": "ru", "say": ["Не люблю кинзу"]}))
    assert (ours.relation, ours.entity_types) == ("DISLIKES", {"кинза": "Preference"})


@pytest.mark.parametrize(
    ("lang", "said", "stated"),
    [
        ("uk", "Мені подобається плавання, а біг я не люблю", [("LIKES", "плавання"), ("DISLIKES", "біг")]),
        ("ru", "Мне очень нравится плавание, но бег я ненавижу.", [("LIKES", "плавание"), ("DISLIKES", "бег")]),
        ("ru", "Мне не нравится бег.", [("DISLIKES", "бег")]),
        ("ru", "Кинзу я не люблю.", [("DISLIKES", "Кинза")]),
        ("ru", "Очень я люблю.", []),
        ("ru", "Больше я не люблю.", []),
    ],
)
def test_what_pleases_and_what_stands_before_its_verb(lang: str, said: str, stated: list[tuple[str, str]]) -> None:
    """A liking may be said of the thing, and the thing may come first."""
    assert [(fact.relation, fact.target) for fact in facts_of(request_of({"lang": lang, "say": [said]}))] == stated
