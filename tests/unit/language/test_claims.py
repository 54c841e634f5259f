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
    "Your dentist appointment is now on Tuesday instead.",
    "Consider it done – Vadik is gone from my memory.",
    "Reminder for 9am tomorrow: buy milk ✅",
    "Хорошо, больше не буду об этом напоминать.",
    "Добре, більше не нагадуватиму.",
    "I won't remind you about it any more.",
    "I've added it to your calendar.",
    "Внёс встречу в календарь.",
    "Додав зустріч до календаря.",
    "I've emailed Vadik.",
    "Я отправил письмо Вадику.",
    "Забронировал столик на двоих.",
    "I called the clinic for you.",
    "Стоматолог теперь в пятницу.",
    "Всё, стоматолог перенесён на пятницу.",
    "Your dentist appointment is off the list.",
    "Вадика больше нет в моей памяти.",
    "✅ Нагадування на завтра о 9: купити молоко",
    "Разбужу тебя в 7.",
)
NONE = (
    "I can set a reminder for you.",
    "Shall I set a reminder?",
    "If you tell me when, I'll remind you.",
    "I haven't deleted anything about Vadik.",
    "Vadik moved to Berlin.",
    "Vadik is now a doctor.",
    "I can't send emails.",
    "You could add it to your calendar.",
    "Your dentist appointment is on Tuesday at 10.",
    "Стоматолог у тебя в пятницу в 10.",
    "Вадик теперь живёт в Берлине.",
    "Вот текст письма для Вадика.",
    "I wrote a short poem for you.",
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
    "Бачу, переслано від: Погода.",
    "Твои слова от 2026-11-27: «Вадик теперь вдовец, отменил встречу»",
    "You wrote: “I moved the dentist to Friday”",
    "Вижу, письмо переслали.",
)


def test_claims_are_found() -> None:
    """Of reminders, of tasks and of forgetting."""
    assert [one for one in CLAIMS if not find_claims(one, KNOWN)] == []


def test_what_claims_nothing_is_left() -> None:
    """Offers, questions, denials, other people's doings and work on a text."""
    assert [one for one in NONE if find_claims(one, KNOWN)] == []
