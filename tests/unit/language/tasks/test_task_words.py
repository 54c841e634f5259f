"""Tasks in sentences in three languages: what is one, what it is called, and what is none."""

from __future__ import annotations

from datetime import datetime
from zoneinfo import ZoneInfo

import pytest

from internal.language.tasks.completion import find_completions, find_move, same_task
from internal.language.tasks.intentions import only_requests
from internal.language.tasks.requests import TaskFound, find_tasks, may_request
from internal.language.tasks.titles import title_of
from internal.language.text.spelling import Language, text_language

AT = datetime(2026, 11, 25, 15, 0, tzinfo=ZoneInfo("Europe/Kyiv"))
SATURDAY = datetime(2026, 11, 28, 9, tzinfo=ZoneInfo("Europe/Kyiv"))


def found_in(text: str) -> list[TaskFound]:
    return find_tasks(text, AT, text_language(text))


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("нагадай у п'ятницю подзвонити мамі", "Подзвонити мамі"),
        ("Треба подзвонити Марії. Нагадай у п'ятницю.", "Подзвонити Марії"),
        ("remind me every Monday at 9 to water the plants", "Water the plants"),
        ("Напомни, что в пятницу встреча с Петром", "Встреча с Петром"),
        ("remind me about the meeting tomorrow at 3", "The meeting"),
        ("Can you remind me to buy milk?", "Buy milk"),
        ("стукни мені о восьмій вечора про ліки", "Про ліки"),
        ("звякни мне завтра в семь насчёт аренды", "Насчёт аренды"),
        ("напомни купить хлеб", "Купить хлеб"),
        ("Привет! Напомни через 20 минут выключить духовку, пожалуйста", "Выключить духовку"),
        ("Нагадай мені, будь ласка, завтра о 9 купити квитки", "Купити квитки"),
        ("set a reminder for tomorrow at 8am: gym", "Gym"),
        ("поставь напоминание на завтра в 8: спортзал", "Спортзал"),
        ("створи нагадування на 18:00 забрати дітей", "Забрати дітей"),
        ("нагадуй щодня о 8 пити воду", "Пити воду"),
        ("Don't let me forget to call Tom tomorrow", "Call Tom"),
        ("Нагадай мені 5 грудня привітати батька з днем народження", "Привітати батька з днем народження"),
        ("Напомни завтра поздравить маму с днём рождения", "Поздравить маму с днём рождения"),
        ("Remind me tomorrow to wish dad a happy birthday", "Wish dad a happy birthday"),
    ],
)
def test_a_request_to_be_reminded_is_found(text: str, title: str) -> None:
    """It is asked for, and nothing else of the text wants an answer."""
    (one,) = found_in(text)
    assert (one.kind, one.asked, one.title) == ("reminder", True, title)
    assert may_request(text)
    assert only_requests(text, [one])


@pytest.mark.parametrize(
    ("text", "kind", "title", "day"),
    [
        ("надо позвонить Марии завтра", "task", "Позвонить Марии", "2026-11-26"),
        ("мушу завтра здати звіт", "task", "Здати звіт", "2026-11-26"),
        ("I need to renew my passport by March 5", "task", "Renew my passport", "2027-03-05"),
        ("не забудь завтра купить молоко, плз", "task", "Купить молоко", "2026-11-26"),
        ("не забыть оплатить интернет до 30 числа", "task", "Оплатить интернет", "2026-11-30"),
        ("завтра позвоню Марии", "task", "Позвонить Марии", "2026-11-26"),
        ("завтра подзвоню мамі о 10", "task", "Подзвонити мамі", "2026-11-26"),
        ("завтра купить молоко", "task", "Купить молоко", "2026-11-26"),
        ("I promised Anna to send the report by Friday", "promise", "Send the report (Anna)", "2026-11-27"),
        ("I told Anna I'd fix the bike on Saturday", "promise", "Fix the bike (Anna)", "2026-11-28"),
        ("Обещал Анне отправить отчёт до пятницы", "promise", "Отправить отчёт (Анне)", "2026-11-27"),
        ("Я пообіцяв Анні надіслати звіт до п'ятниці", "promise", "Надіслати звіт (Анні)", "2026-11-27"),
        ("У меня в понедельник в 15:00 приём у стоматолога", "reminder", "Приём у стоматолога", "2026-11-30"),
        ("I have a dentist appointment tomorrow at 10", "reminder", "Dentist appointment", "2026-11-26"),
    ],
)
def test_what_somebody_has_to_do_is_found(text: str, kind: str, title: str, day: str) -> None:
    """A need, a promise, a plan, an appointment: nobody asked to be reminded of it."""
    (one,) = found_in(text)
    assert (one.kind, one.title, one.asked) == (kind, title, False)
    assert one.time is not None
    assert f"{one.time.moment:%Y-%m-%d}" == day


@pytest.mark.parametrize(
    "text",
    [
        "напомни, что я говорил в пятницу",
        "напомни, как зовут жену Петра",
        "нагадай, коли в Марії день народження",
        "remind me what Anna said on Friday",
        "remind me about project Alpha",
        "You remind me of my mother",
        "don't remind me about Friday",
        "не напоминай мне завтра",
        "не треба нагадувати завтра",
        "Ти мені нагадала маму в п'ятницю",
        "Марии надо позвонить врачу завтра",
        "Ему надо завтра на работу",
        "надо было вчера позвонить",
        "If I need to call tomorrow I will",
        "Should I call Maria tomorrow?",
        "Надо ли звонить завтра?",
        "Що мені треба зробити завтра?",
        "What do I have to do tomorrow?",
        "Мария обещала прислать отчёт в пятницу",
        "Анна обещала мне помочь завтра",
        "Я не обещал приехать в субботу",
        "I told him to come tomorrow",
        "в пятницу была встреча с Анной",
        "I should sleep more",
        "I'll call you tomorrow",
        "Завтра буде дощ",
        "На работе всё хорошо, в пятницу отдыхаю",
        "",
    ],
)
def test_what_is_no_task_is_left_alone(text: str) -> None:
    """Questions, denials, ifs, what others have to do, the past, and what one wants to know again."""
    assert found_in(text) == []


def test_each_request_of_a_sentence_has_its_own_time() -> None:
    """Two in one sentence are two."""
    both = found_in("Remind me to call mom tonight and remind me tomorrow morning to take pills")
    assert [one.title for one in both] == ["Call mom", "Take pills"]


def test_what_else_is_said_beside_a_request_wants_an_answer() -> None:
    """The question behind it does."""
    text = "Напомни завтра позвонить маме. И как дела у Петра?"
    assert not only_requests(text, found_in(text))


TITLES = [
    "Подзвонити Марії",
    "Call Maria",
    "Отправить отчёт (Анне)",
    "Buy milk",
    "Позвонить маме",
    "Купити квитки",
    "Оплатить воду",
]


@pytest.mark.parametrize(
    ("text", "title", "outcome"),
    [
        ("я вже подзвонив Марії", "Подзвонити Марії", "done"),
        ("I already called Maria", "Call Maria", "done"),
        ("отчёт отправил", "Отправить отчёт (Анне)", "done"),
        ("отчет готов", "Отправить отчёт (Анне)", "done"),
        ("Звонил маме вчера", "Позвонить маме", "done"),
        ("bought the milk", "Buy milk", "done"),
        ("квитки куплено", "Купити квитки", "done"),
        ("не надо звонить маме", "Позвонить маме", "cancelled"),
        ("Cancel the milk", "Buy milk", "cancelled"),
        ("за воду рассчитался", "Оплатить воду", "done"),
    ],
)
def test_what_is_said_to_be_done_or_called_off_is_found(text: str, title: str, outcome: str) -> None:
    """The same verb in any form and aspect, with a thing in common."""
    (one,) = find_completions(text, TITLES)
    assert (TITLES[one.index], one.outcome) == (title, outcome)


@pytest.mark.parametrize(
    "text",
    [
        "I didn't buy milk",
        "я не звонил маме",
        "Have you called Maria?",
        "Мама звонила",
        "Мне звонила мама",
        "воду закрыли",
        "вода уже неважна",
        "было весело",
    ],
)
def test_what_is_not_said_to_be_done_stays_open(text: str) -> None:
    """Denials, questions, and what others did."""
    assert find_completions(text, TITLES) == []


@pytest.mark.parametrize(
    ("text", "title", "outcome"),
    [
        ("paint's off", "Buy paint", "cancelled"),
        ("physio's been called off", "physio", "cancelled"),
        ("гвозди больше не актуально", "купить гвозди", "cancelled"),
        ("фарба відпадає", "купити фарбу", "cancelled"),
    ],
)
def test_what_is_no_longer_on_is_called_off(text: str, title: str, outcome: str) -> None:
    """By any word that says so."""
    (one,) = find_completions(text, [title])
    assert one.outcome == outcome


@pytest.mark.parametrize(
    ("text", "title", "language", "day", "sure"),
    [
        ("do the lawn on sunday instead", "mow the lawn", "en", 29, True),
        ("see ann on monday instead", "visit Ann", "en", 30, True),
        ("the dentist can wait til monday", "dentist", "en", 30, True),
        ("стоматолога хай буде в понеділок", "стоматолог", "uk", 30, True),
        ("окна в воскресенье помою", "помыть окна", "ru", 29, True),
        ("ковёр в понедельник", "забрать ковёр", "ru", 30, False),
    ],
)
def test_a_time_beside_a_task_moves_it(text: str, title: str, language: Language, day: int, sure: bool) -> None:
    """With its own verb or a word that proposes surely, else it is asked."""
    found = find_move(text, ["call Kim", title], SATURDAY, language)
    assert found is not None
    assert (found[0], found[1].moment.day, found[2]) == (1, day, sure)


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("the vet is on holiday until monday", "book the vet"),
        ("paint the fence on sunday", "buy paint"),
        ("мама приедет в субботу", "позвонить маме"),
        ("окна в субботу будут грязные", "помыть окна"),
        ("shall we do the lawn on sunday?", "mow the lawn"),
    ],
)
def test_what_tells_more_than_a_time_moves_nothing(text: str, title: str) -> None:
    """It tells of the thing, or asks."""
    assert find_move(text, [title], SATURDAY, text_language(text)) is None


def test_two_titles_of_one_thing_are_one_task() -> None:
    """Another person is another task."""
    assert same_task("Позвонить Марии", "Позвонить Марии вечером")
    assert same_task("Send the report (Anna)", "Send report to Anna")
    assert not same_task("Позвонить Марии", "Позвонить Анне")
    assert not same_task("Call mom", "Buy milk")


def test_a_long_gap_in_a_sentence_is_no_riddle() -> None:
    """The words of a time are blanked out in place; what is left around them is read at once, however long the gap."""
    (one,) = found_in("Dentist on Friday at 10:00, remind me in the morning please")
    assert one.title.startswith("Dentist")
    assert title_of("Dentist" + " " * 400 + "visit", ()) == "Dentist visit"
