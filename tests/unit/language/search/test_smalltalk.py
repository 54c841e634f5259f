"""Which messages tell nothing: what was only asked, and what was only not known."""

from __future__ import annotations

import pytest

from internal.language.search.smalltalk import asks_about_talk, asks_again, asks_of_bot, knows_nothing


@pytest.mark.parametrize(
    ("text", "asked"),
    [
        ("Когда у Маши день рождения?", "Когда день рождения Маши?"),
        ("А напомни, пожалуйста, когда у Маши день рождения", "Когда день рождения Маши?"),
        ("Привет! Помнишь, где ключ от гаража?", "Где лежит ключ от гаража?"),
        ("Слушай, в каком году я купил машину?", "Когда я купил машину?"),
        ("Коли в Марійки день народження?", "Коли народилася Марійка?"),
        ("Нагадай, де ключ від гаража?", "Де лежить ключ від гаража?"),
        ("Чи пам'ятаєш, скільки коштував квиток?", "Скільки коштував квиток?"),
        ("When is Masha's birthday?", "What day was Masha born on?"),
        ("Do you remember where the garage key is?", "Where is the key of the garage?"),
        ("Remind me where the garage key is", "Where is the key of the garage?"),
    ],
)
def test_a_question_asked_again_tells_nothing(text: str, asked: str) -> None:
    """In other words too, with a greeting or as a request."""
    assert asks_again(text, asked)


@pytest.mark.parametrize(
    ("text", "asked"),
    [
        ("Я завтра лечу в Рим, что взять?", "Куда я лечу?"),
        ("Купил машину. Когда менять масло?", "Когда я купил машину?"),
        ("Что подарить моей жене Анне на годовщину в пятницу?", "Что подарить жене?"),
        ("Когда я был в Риме, потерял паспорт", "Когда я был в Риме?"),
        ("Поїзд о шостій, так?", "Коли поїзд?"),
        ("What should I give my wife Anna for our wedding on Friday?", "What should I give my wife?"),
        ("Where the key is? Under the red pot.", "Where is the key?"),
        ("👍", "Где ключ?"),
        ("", "Где ключ?"),
    ],
)
def test_a_question_may_tell_something(text: str, asked: str) -> None:
    """Before its comma, in another sentence, or by what it takes for granted."""
    assert not asks_again(text, asked)


@pytest.mark.parametrize(
    "text",
    [
        "Не знаю, когда у Маши день рождения.",
        "Об этом у меня ничего нет: я помню только то, что слышу от тебя.",
        "К сожалению, я этого не помню. Расскажи, и я запомню!",
        "Ты мне об этом не рассказывал. А когда он?",
        "Про це в мене нічого немає: я пам’ятаю лише те, що чую від тебе.",
        "На жаль, не знаю. Розкажеш?",
        "I have nothing on that: I only remember what you tell me.",
        "Sorry, I don't know. Tell me and I'll remember.",
        "You haven't told me that.",
        "I couldn't find anything about it.",
    ],
)
def test_an_answer_that_knows_nothing_tells_nothing(text: str) -> None:
    """With an excuse, a question back, or asking to be told."""
    assert knows_nothing(text)


@pytest.mark.parametrize(
    "text",
    [
        "Точно не знаю, но ты говорил, что поезд в шесть.",
        "Не знаю, когда у Маши день рождения. У Пети он в мае.",
        "Я не знаю, во сколько поезд: записал только 12 мая.",
        "Маша не знала, что ключ под горшком.",
        "I don't know the date, but Masha was born in spring.",
        "The key lies under the red pot.",
        "Понятно.",
    ],
)
def test_an_answer_that_knows_something_tells_it(text: str) -> None:
    """Beside what it does not know."""
    assert not knows_nothing(text)


@pytest.mark.parametrize(
    ("text", "about"),
    [
        ("Что я спрашивал о Маше?", True),
        ("Що ти мені відповіла?", True),
        ("What did I ask you?", True),
        ("Где ключ?", False),
    ],
)
def test_a_question_may_be_about_questions(text: str, about: bool) -> None:
    """Then what was asked is the answer."""
    assert asks_about_talk(text) is about


@pytest.mark.parametrize(
    ("text", "about"),
    [
        ("Что ты мне посоветовал про печь?", True),
        ("Какой был твой последний совет?", True),
        ("Ти радила мені щось про піч?", True),
        ("What did you recommend?", True),
        ("How did you help me with the budget?", True),
        ("Ты помнишь, что говорил Иван?", False),
        ("Do you know who said that?", False),
        ("What would you suggest?", False),
        ("What did I say?", False),
    ],
)
def test_a_question_may_be_about_what_the_bot_said(text: str, about: bool) -> None:
    """Not one that only addresses it."""
    assert asks_of_bot(text) is about
