"""Claims of actions are told from offers, questions and what others did, in three languages."""

from __future__ import annotations

from internal.language.commands.claims import find_claims

KNOWN = ("Вадик Соколов", "Купить молоко", "Стоматолог", "Vadik", "Dentist appointment", "Buy milk")
CLAIMS = (
    "I've set a reminder for tomorrow at 9.",
    "Я удалил всё о Вадике.",
    "Reminder set!",
    "I'll remind you tomorrow at 9.",
    "Done! I've deleted everything about Vadik.",
    "Напомню завтра в 9.",
    "Готово, перенёс стоматолога на пятницу.",
    "Стоматолога отменила.",
    "Всё про Вадика видалено.",
    "Я забыл всё, что знал о Вадике.",
    "Нагадаю тобі завтра.",
    "Напоминание создано.",
    "Поставил напоминание на завтра.",
    "I've moved your dentist appointment to Friday.",
    "Your dentist appointment has been cancelled.",
    "Done: marked milk as bought.",
    "Задачу видалив.",
    "Ок, I have erased all information about Vadik from my memory.",
    "Я створила нагадування на завтра.",
    "Данные о Вадике удалены.",
)
NONE = (
    "I can set a reminder for you.",
    "Shall I set a reminder?",
    "If you tell me when, I'll remind you.",
    "I haven't deleted anything about Vadik.",
    "Vadik moved to Berlin.",
    "Вадик удалил свой аккаунт.",
    "Ты забыл про стоматолога.",
    "I moved the comma and removed the second sentence.",
    "Я убрал лишние слова из письма.",
    "Анна отменила встречу.",
    "You told me that you cancelled the dentist appointment.",
    "Не забудь про стоматолога.",
    "У тебя завтра стоматолог.",
    "Maria created the reminder app.",
    "Хочешь, напомню завтра?",
    "I'm glad that everything went well with the dentist.",
    "Мне нечего сказать о Вадике.",
    "I was reminded of the task.",
    "Могу поставить напоминание.",
    "Ты уже купил молоко.",
    "The meeting was moved by your boss, you said.",
)


def test_claims_are_found() -> None:
    """Of reminders, of tasks and of forgetting."""
    assert [one for one in CLAIMS if not find_claims(one, KNOWN)] == []


def test_what_claims_nothing_is_left() -> None:
    """Offers, questions, denials, other people's doings and work on a text."""
    assert [one for one in NONE if find_claims(one, KNOWN)] == []
