"""Without a model an answer holds no secret that stands beside what was asked for."""

from __future__ import annotations

import pytest
from support.agents.offline_answers import EARLIER, answer

MARK = "Mark's birthday is June 5 and he is secretly in rehab. Mark lives in Leeds."
MASHA = "У Маши день рождения 5 июня. Маша беременна, только никому не говори. Маша работает в аптеке."
MARKIAN = "Маркіян народився 3 березня, він таємно лікується від алкоголізму."


@pytest.mark.parametrize(
    ("language", "told", "question", "holds", "secret"),
    [
        ("en", MARK, "when's Mark's bday?", "June 5", "rehab"),
        ("en", MARK, "where does Mark live?", "Leeds", "rehab"),
        ("ru", MASHA, "когда днюха у Маши?", "5 июня", "беремен"),
        ("ru", MASHA, "где работает Маша?", "аптек", "беремен"),
        ("uk", MARKIAN, "коли днюха у Маркіяна?", "3 березня", "алкогол"),
        ("en", "My neighbour Bill moved to Oslo, he has huge debts", "where does Bill live?", "Oslo", "debts"),
        ("uk", "Сусідка Ніна переїхала до Львова, бо в неї борги", "де живе Ніна?", "Львова", "борги"),
        ("ru", "Лёша работает в Озоне, между нами — он весь в долгах", "где работает Лёша?", "Озоне", "долгах"),
    ],
)
def test_a_secret_beside_what_is_asked_is_not_quoted(
    language: str, told: str, question: str, holds: str, secret: str
) -> None:
    """Neither a sentence nor a clause."""
    said = answer(language, question, (told, EARLIER))
    assert holds in said
    assert secret not in said


@pytest.mark.parametrize(
    ("language", "told", "question", "holds"),
    [
        ("en", MARK, "is Mark in rehab?", "rehab"),
        ("en", MARK, "tell me about Mark", "rehab"),
        ("ru", MASHA, "Маша беременна?", "беремен"),
        ("uk", MARKIAN, "від чого лікується Маркіян?", "алкогол"),
        ("uk", MARKIAN, "що ти знаєш про Маркіяна?", "алкогол"),
    ],
)
def test_what_is_asked_for_is_quoted_secret_or_not(language: str, told: str, question: str, holds: str) -> None:
    """The owner may ask for all that he told."""
    assert holds in answer(language, question, (told, EARLIER))


@pytest.mark.parametrize(
    ("language", "told", "question", "holds"),
    [
        ("uk", "Надя покинула садочок, сидить у кол-центрі", "де працює Надя?", "кол-центрі"),
        ("ru", "Толя бросил стройку, теперь сидит в офисе", "где работает Толя?", "офисе"),
    ],
)
def test_where_people_work_and_study_is_no_secret(language: str, told: str, question: str, holds: str) -> None:
    """Though words of it are said of prisons too."""
    assert holds in answer(language, question, (told, EARLIER))
