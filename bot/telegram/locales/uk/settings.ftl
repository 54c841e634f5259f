# Мова, часовий пояс, доступ, меню.

settings =
    Мова: { $language }
    Часовий пояс: { $zone }
    Тихі години: { $quiet }
    Що змінити?
more = Що ще я вмію:

language-ask = Якою мовою говорити?
language-set = Гаразд, далі українською.

zone-ask = Підкажи, у якому ти часовому поясі? Вибери, напиши місто або надішли геопозицію. Так я правильно зрозумію «вчора» і «в п’ятницю». Зараз у мене записано: { $zone }.
zone-set = Записав: { $zone }.
zone-unknown = Не впізнаю такого поясу: «{ $text }». Підійде місто, назва на зразок Europe/Kyiv або зсув на зразок UTC+3.
zone-type = Напиши місто, надішли геопозицію, назву на зразок Europe/Kyiv або зсув на зразок UTC+3.
zone-near = Там поруч сходяться кілька часових поясів. Який твій?
zone-button-other = Інший…

access-not-owner = Вирішувати, кого впускати, може лише власник бота.
access-members =
    Зараз я відповідаю:
    { $members }
    Щоб впустити ще когось, надішли контакт, переслане повідомлення або числовий Telegram ID.
access-member = • { $name } ({ $id })
access-member-owner = • { $name } ({ $id }) — власник
access-button-remove = Прибрати: { $name }
access-remove-confirm = { $name } більше не зможе мені писати. Пам’ять цієї людини лишиться, доки її не зітруть. Прибрати?
access-button-yes = Так, прибрати
access-admitted = Готово: { $name } ({ $id }) тепер може мені писати.
access-removed = Готово: { $name } більше не зможе мені писати.
access-unreadable = Із цього повідомлення не зрозуміти, кого впустити: в автора прихований профіль або це не числовий ID. Надішли контакт, переслане повідомлення або ID.
refused-owner = Власника прибрати не можна.
refused-not_owner = Вирішувати, кого впускати, може лише власник бота.

menu-start = Познайомитися
menu-button = Пам'ять
menu-help = Що я вмію
menu-people = Кого я знаю
menu-person = Одна людина: /person Ім’я
menu-map = Хто є хто навколо тебе: карта
menu-facts = Що я знаю напевно: /facts Ім’я
menu-why = На чому ґрунтується моя відповідь
menu-asof = Як було тоді: /asof 2023 питання
menu-correct = Виправити те, на чому ґрунтується відповідь
menu-goals = Мої цілі
menu-decisions = Мої рішення
menu-questions = Питання без відповіді
menu-preferences = Що мені подобається, а що ні
menu-instructions = Чого ти дотримуєшся завжди
menu-memories = Що ти запам’ятав: /memories слова
menu-files = Твої файли
menu-sessions = Наші розмови, слово в слово
menu-db = Почати нову розмову: /db питання
menu-sa = Продовжити цю розмову: /sa слова
menu-ss = Закінчити розмову
menu-team = Команди: хто що робить для інших
menu-archive = Розібрати розмову зараз
menu-console = Переглянути все в браузері
menu-status = Що в роботі
menu-forget = Забути людину або все
menu-undo = Скасувати зміну
menu-export = Завантажити все, що я зберігаю
menu-settings = Налаштування
menu-more = Усі інші команди
menu-language = Мова
menu-timezone = Часовий пояс
menu-privacy = Що зберігається і хто це бачить
menu-cancel = Зняти моє питання
menu-access = Кого впускати

console-link = Твоя консоль — сторінка в браузері. Посилання діє один раз, упродовж { $minutes } хв, і показує лише твоє — нікому його не передавай:
console-off = Консоль вимкнено (console.enabled).

called = Тепер зватиму тебе { $name }.
called-undone = Добре, знову { $name }.
