"""The offline responder answers from facts, in the language of the question, and cites them."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from internal.agents.citations import cited
from internal.agents.model import DialogueLine, OwnerProfile, RecalledFact, ResponderRequest
from internal.agents.responder.offline.agent import compose
from internal.people.model import Circle, Person

NOW = datetime(2026, 2, 7, 12, tzinfo=UTC)
SINCE = datetime(2026, 1, 31, 22, tzinfo=UTC)
FACTS = (
    RecalledFact(1, "f1", "Петров работает в ACME", SINCE, relation="WORKS_FOR", source="Петров", target="ACME"),
    RecalledFact(2, "f2", "У Петрова рыжий кот Барсик", relation="HAS_PET", source="Петров", target="Барсик"),
    RecalledFact(3, "f3", "Оля живёт в *Одессе*", relation="LIVES_IN", source="Оля", target="Одесса", about_owner=True),
    RecalledFact(4, "f4", "Катя живе у Києві", relation="LIVES_IN", source="Катя", target="Київ"),
    RecalledFact(5, "f5", "Bob moved to Boston.", SINCE, NOW, relation="LIVES_IN", source="Bob", target="Boston"),
)


def answer(question: str, facts: tuple[RecalledFact, ...] = FACTS, people: tuple[Person, ...] = ()) -> str:
    return compose(
        ResponderRequest(
            owner=OwnerProfile(1, "Оля", None, "ru", "Europe/Kyiv"),
            persona_name="Laplaced",
            persona_tone="warm",
            inner_circle=people,
            relevant_people=(),
            dialogue=(DialogueLine("assistant", "Слушаю"), DialogueLine("user", question)),
            now=NOW,
            query=question,
            facts=facts,
        )
    )


@pytest.mark.parametrize(
    ("question", "reply"),
    [
        ("where does Petrov work?", "Петров работает в ACME (since 2026-02-01) [F1]."),
        ("Где работает Петров?", "Петров работает в ACME (с 2026-02-01) [F1]."),
        ("Де працює Петров?", "Петров работает в ACME (з 2026-02-01) [F1]."),
        ("где работает петров", "Петров работает в ACME (с 2026-02-01) [F1]."),
        ("как зовут кота Петрова?", "У Петрова рыжий кот Барсик [F2]."),
        ("где я живу?", r"Оля живёт в \*Одессе\* [F3]."),
        ("where do I live?", r"Оля живёт в \*Одессе\* [F3]."),
        ("Де живе Катя?", "Катя живе у Києві [F4]."),
        ("Who does Petrov work for?", "Петров работает в ACME (since 2026-02-01) [F1]."),
        ("На кого работает Петров?", "Петров работает в ACME (с 2026-02-01) [F1]."),
        ("где живёт Боб?", "Bob moved to Boston (с 2026-02-01 до 2026-02-07) [F5]."),
    ],
)
def test_a_question_is_answered_with_its_fact(question: str, reply: str) -> None:
    """The relation and the person asked for choose the fact; its dates are days of the owner's zone."""
    assert answer(question) == reply


@pytest.mark.parametrize(
    ("language", "question", "whose", "relation", "fact", "beside"),
    [
        (
            "en",
            "where does Caleb live?",
            "Caleb",
            "LIVES_IN",
            "Caleb moved to Leeds",
            "Got a new flat, the rent is 900",
        ),
        ("en", "where does Rufus work?", "Rufus", "WORKS_FOR", "Rufus works at Barclays", "I left my job at Lidl"),
        ("ru", "где живёт Вера?", "Вера", "LIVES_IN", "Вера переехала в Тулу", "Вместе с Андреем купили лодку"),
        ("ru", "сколько я зарабатываю?", "", "", "Зарабатываю 120 тысяч", "Купил новый велосипед за 40 тысяч"),
    ],
)
def test_news_of_others_does_not_come_before_a_fact(
    language: str, question: str, whose: str, relation: str, fact: str, beside: str
) -> None:
    """Neither the owner's nor of somebody whom the question does not name, nor about another subject."""
    owner = OwnerProfile(1, "Оля", None, language, "UTC")  # type: ignore[arg-type]
    known = RecalledFact(1, "f1", fact, relation=relation, source=whose or "Оля", about_owner=not whose, said_at=SINCE)
    said = [DialogueLine("user", text, at=at) for text, at in ((fact, SINCE), (beside, NOW))]
    dialogue = (*said, DialogueLine("assistant", "…"), DialogueLine("user", question))
    answered = compose(ResponderRequest(owner, "Laplaced", "", (), (), dialogue, NOW, question, facts=[known]))
    assert answered == f"{fact} [F1]."


@pytest.mark.parametrize("question", ["Де живе мама?", "Где живёт моя мама?", "Where does my mother live?"])
def test_a_relative_is_asked_for_by_kinship(question: str) -> None:
    """The fact of whoever is called so answers, and nobody else's of the same kind."""
    mother = Person(
        7, 1, "e7", "Катя", Circle.FAMILY, "Мама Катя, мать, mother Катя живе десь.", first_seen=SINCE, last_seen=SINCE
    )
    assert answer(question, people=(mother,)) == "Катя живе у Києві [F4]."


@pytest.mark.parametrize(
    ("question", "text", "since"),
    [
        ("Где я работаю?", "Работаю в Озоне с 1 февраля", SINCE),
        ("Where do I work?", "I work at Ozon since 2019", datetime(2019, 1, 1, tzinfo=UTC)),
    ],
)
def test_a_day_that_the_words_have_is_not_said_again(question: str, text: str, since: datetime) -> None:
    """Only what the words leave open is added in brackets."""
    precision = "year" if since.year == 2019 else "day"
    fact = RecalledFact(
        *(1, "f1", text, since), relation="WORKS_FOR", about_owner=True, source="Оля", valid_precision=precision
    )
    assert answer(question, (fact,)) == f"{text} [F1]."


def test_saying_i_is_no_word_in_common() -> None:
    """A question about oneself is not answered by whatever else one said of oneself."""
    liked = RecalledFact(
        1, "f1", "I hate mushrooms", relation="DISLIKES", source="Оля", target="mushrooms", about_owner=True
    )
    assert "mushrooms" not in answer("Why did I quit smoking?", (liked,))


@pytest.mark.parametrize("question", ["где живёт Иванов?", "What's the weather like?", "Спасибо", "Петров приехал"])
def test_facts_about_something_else_are_not_offered(question: str) -> None:
    """Neither strangers nor small talk nor news are answered with what happens to be known."""
    assert cited(answer(question)) == []


@pytest.mark.parametrize(
    ("question", "beginning"),
    [
        ("Где живёт Петров?", "Знаю только"),
        ("Де живе Петров?", "Знаю лише"),
        ("Where does Petrov live?", "What I know"),
    ],
)
def test_what_is_not_known_is_said(question: str, beginning: str) -> None:
    """Other facts about the person asked for come with the word that they are all there is."""
    said = answer(question)
    assert said.startswith(beginning)
    assert cited(said) == [1, 2]


def test_without_facts_nothing_changes() -> None:
    """Nothing is cited where nothing was given."""
    assert cited(answer("Где работает Петров?", ())) == []


def test_words_of_a_fact_cannot_forge_a_citation() -> None:
    """What stands in brackets in a stored fact is shown as text."""
    forged = replace(FACTS[0], text="Петров работает в [F4] ACME")
    assert cited(answer("Где работает Петров?", (forged,))) == [1]
