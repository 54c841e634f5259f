# Язык, часовой пояс, доступ, меню.

settings =
    Язык: { $language }
    Часовой пояс: { $zone }
    Тихие часы: { $quiet }
    Что поменять?
more = Что ещё я умею:

language-ask = На каком языке говорить?
language-set = Хорошо, дальше по-русски.

zone-ask = Подскажи, в каком ты часовом поясе? Выбери, напиши город или пришли геопозицию. Так я верно пойму «вчера» и «в пятницу». Сейчас у меня записано: { $zone }.
zone-set = Записал: { $zone }.
zone-unknown = Не узнаю такой пояс: «{ $text }». Подойдёт город, название вроде Europe/Kyiv или смещение вроде UTC+3.
zone-type = Напиши город, пришли геопозицию, название вроде Europe/Kyiv или смещение вроде UTC+3.
zone-near = Там рядом сходятся несколько часовых поясов. Какой твой?
zone-button-other = Другой…

access-not-owner = Решать, кого впускать, может только владелец бота.
access-members =
    Сейчас я отвечаю:
    { $members }
    Чтобы впустить ещё кого-то, пришли контакт, пересланное сообщение или числовой Telegram ID.
access-member = • { $name } ({ $id })
access-member-owner = • { $name } ({ $id }) — владелец
access-button-remove = Убрать: { $name }
access-remove-confirm = { $name } больше не сможет мне писать. Память этого человека останется, пока её не сотрут. Убрать?
access-button-yes = Да, убрать
access-admitted = Готово: { $name } ({ $id }) теперь может мне писать.
access-removed = Готово: { $name } больше не сможет мне писать.
access-unreadable = По этому сообщению не понять, кого впустить: у автора скрыт профиль или это не числовой ID. Пришли контакт, пересланное сообщение или ID.
refused-owner = Владельца убрать нельзя.
refused-not_owner = Решать, кого впускать, может только владелец бота.

menu-start = Познакомиться
menu-button = Память
menu-help = Что я умею
menu-people = Кого я знаю
menu-person = Один человек: /person Имя
menu-map = Кто есть кто вокруг тебя: карта
menu-facts = Что я знаю наверняка: /facts Имя
menu-why = На чём основан мой ответ
menu-asof = Как было тогда: /asof 2023 вопрос
menu-correct = Поправить то, на чём основан ответ
menu-goals = Мои цели
menu-decisions = Мои решения
menu-questions = Вопросы без ответа
menu-preferences = Что мне нравится и что нет
menu-instructions = Чего ты держишься всегда
menu-memories = Что ты запомнил: /memories слова
menu-files = Твои файлы
menu-sessions = Наши разговоры, слово в слово
menu-db = Начать новый разговор: /db вопрос
menu-sa = Продолжить этот разговор: /sa слова
menu-ss = Закончить разговор
menu-team = Команды: кто что делает для других
menu-archive = Разобрать разговор сейчас
menu-console = Посмотреть всё в браузере
menu-status = Что в работе
menu-forget = Забыть человека или всё
menu-undo = Отменить изменение
menu-export = Скачать всё, что я храню
menu-settings = Настройки
menu-more = Все остальные команды
menu-language = Язык
menu-timezone = Часовой пояс
menu-privacy = Что хранится и кто это видит
menu-cancel = Снять мой вопрос
menu-access = Кого впускать

console-link = Твоя консоль — страница в браузере. Ссылка действует один раз, в течение { $minutes } мин, и показывает только твоё — никому её не передавай:
console-off = Консоль выключена (console.enabled).

called = Теперь буду звать тебя { $name }.
called-undone = Хорошо, снова { $name }.
