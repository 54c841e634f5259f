"""How often, or when last, somebody was called is answered by what tells of it, or not at all."""

from __future__ import annotations

import pytest
from support.agents.offline_answers import EARLIER, answer


@pytest.mark.parametrize(
    ("language", "told", "question"),
    [
        ("en", "grandma's birthday is March 3", "how often do I call grandma?"),
        ("en", "grandma's birthday is March 3", "when did I last see grandma?"),
        ("ru", "у бабушки день рождения 3 марта", "как часто я звоню бабушке?"),
        ("ru", "Вадик переехал в Тулу", "когда я последний раз видел Вадика?"),
        ("uk", "у Маркіяна завтра днюха", "як часто я бачуся з Маркіяном?"),
    ],
)
def test_it_is_not_answered_by_something_else(language: str, told: str, question: str) -> None:
    """A birthday says nothing of calls."""
    assert told.casefold() not in answer(language, question, (told, EARLIER)).casefold()


@pytest.mark.parametrize(
    ("language", "told", "question"),
    [
        ("en", "called grandma yesterday, she is fine", "when did I last call grandma?"),
        ("ru", "вчера звонил бабушке", "как давно я звонил бабушке?"),
        ("ru", "надо звонить бабушке раз в неделю", "как часто я звоню бабушке?"),
        ("uk", "бачився з Маркіяном у п'ятницю", "коли я востаннє бачив Маркіяна?"),
    ],
)
def test_what_tells_of_it_is_quoted(language: str, told: str, question: str) -> None:
    """A call that was told, or how often it is meant to be."""
    assert told.casefold() in answer(language, question, (told, EARLIER)).casefold()
