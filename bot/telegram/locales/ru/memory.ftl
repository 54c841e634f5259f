# Разбор разговора, состояние, забывание, выгрузка, приватность.

archive-nothing = Разбирать пока нечего: всё сказанное уже разобрано.
archive-started = Беру в разбор { $count } { $count ->
    [one] сообщение
    [few] сообщения
   *[other] сообщений
}. Обычно это занимает меньше минуты; потом загляни в /people.
archive-again = Пробую ещё раз то, что раньше не получилось разобрать: { $count }.
archive-reread = Перечитываю изменённые сообщения: { $count }.
archive-unpaid = Ждёт, пока позволит мой дневной бюджет: { $count }. Сколько потрачено, покажет /status.
archive-running = Нового нет, но сказанное раньше я ещё разбираю.
still-reading = Я ещё разбираю наш разговор. Загляни ещё раз через минутку.
not-read-yet = Кое-что из сказанного я ещё не разобрал: сделаю это, когда в разговоре будет пауза, а /archive — сразу.
archive-answering = На последнее сообщение я ещё отвечаю; разберу его вместе с ответом.
archive-dead = Часть нашего разговора мне разобрать не удалось. Подробнее — /status, а /archive попробует ещё раз.
archive-denied = Сервер языковой модели отклоняет мои запросы, поэтому разбирать наши разговоры я пока не могу. Ничего не потеряно: всё продолжится само, когда настройки будут верны. Подробнее — /status.

status-buffered = { $count ->
    [0] Весь разговор разобран.
   *[other] Ждут разбора: { $count } { $count ->
        [one] сообщение
        [few] сообщения
       *[other] сообщений
    }.
}
status-waiting = Разбираю сейчас: { $count }.
status-dead = Не удалось разобрать: { $count }. /archive попробует ещё раз; подробности в журнале бота.
status-refused = Сервер отказывается отвечать моделью { $model }: { $error }
status-refused-fix = Проверь `llm.model` или модели в `agents`, а также `llm.api_key`. То, что ждёт, продолжится само.
status-people = Знаю людей: { $count }.
status-models = Отвечает { $responder }, разбирает { $archivist }.
status-offline = Модели встроенные, работают без интернета: отвечаю тем, что помню, без красноречия.
status-quarantined = Обновлений от Telegram, которые не удалось прочитать: { $count }.
status-mirror = Изменений, которых ещё нет в зеркале графа: { $count }.
status-spent = Сегодня потрачено { NUMBER($spent, minimumFractionDigits: 2, maximumFractionDigits: 4) } $ из { NUMBER($limit, minimumFractionDigits: 2, maximumFractionDigits: 2) } $.
status-spent-unlimited = Сегодня потрачено { NUMBER($spent, minimumFractionDigits: 2, maximumFractionDigits: 4) } $.

forget-ask = Что забыть? Напиши имя человека — или нажми кнопку, чтобы стереть всё.
forget-button-everything = Забыть всё
forget-person-confirm = Забыть? { $name }: исчезнут профиль и все факты, воспоминания, задачи и записи, где назван этот человек. { $count ->
    [0] Сообщений об этом человеке в переписке нет.
    [1] Одно сообщение об этом человеке останется в переписке: его можно найти и выгрузить, но цитировать его я не буду. Вторая кнопка сотрёт и его.
   *[other] Сообщения об этом человеке ({ $count }) останутся в переписке: их можно найти и выгрузить, но цитировать их я не буду. Вторая кнопка сотрёт и их.
} В резервных копиях всё это может храниться ещё { $days } { $days ->
    [one] день
    [few] дня
   *[other] дней
}.
forget-button-about = { $count ->
    [1] Да, и сообщение тоже
   *[other] Да, и сообщения: { $count }
}
forget-everything-confirm = Стереть **всё**: переписку, людей, всё, что я запомнил? Начнём с чистого листа. В резервных копиях это может храниться ещё { $days } { $days ->
    [one] день
    [few] дня
   *[other] дней
}.
forget-button-yes = Да, забыть
forget-person-done = Забываю: { $name }. В ближайшие { $minutes } { $minutes ->
    [one] минуту
    [few] минуты
   *[other] минут
} ещё можно передумать.
forget-person-messages-done = { $count ->
    [1] Сообщение тоже забываю — вместе со всем, что известно только из него.
   *[other] Сообщения тоже забываю ({ $count }) — вместе со всем, что известно только из них.
}
forget-everything-done = Забываю всё. В ближайшие { $minutes } { $minutes ->
    [one] минуту
    [few] минуты
   *[other] минут
} ещё можно передумать.
forget-button-undo = Вернуть
forget-undone = Вернул, всё снова на месте.
forget-too-late = Вернуть уже нельзя: время вышло.

export-caption = Всё, что я о тебе храню. Дата: { DATETIME($day, dateStyle: "long") }
export-caption-forgetting = Здесь ещё есть то, что ты просишь забыть: пока это можно вернуть, оно не стёрто.
export-caption-people = Все люди в виде vCard, для любой адресной книги
file-failed = Не удалось отправить файл: Telegram его не принял. Попробуй ещё раз чуть позже.
file-too-big = Файл слишком большой для Telegram. Его может выгрузить тот, кто запускает бота, командой laplaced export

privacy =
    __Что я храню.__ Наши сообщения, людей и факты из них; твоё имя, @username, язык и часовой пояс; журнал того, что я сделал и во что это обошлось. Ещё { $days } { $days ->
        [one] день
        [few] дня
       *[other] дней
    } — всё, что я показал модели, и её ответы целиком.
    __Где.__ В базе на машине, где меня запустили. Её владелец технически может туда заглянуть; другие пользователи бота — нет.
    __Кто ещё видит.__ { $transport } { $models }
    __Как удалить.__ /forget стирает всё или человека со всем, что я о нём знаю; сообщения о нём остаются в переписке, если не стереть и их. /export отдаёт копию. В резервных копиях стёртое может храниться ещё { $held } { $held ->
        [one] день
        [few] дня
       *[other] дней
    }.
privacy-telegram = Сообщения проходят через Telegram.
privacy-local = Настоящего Telegram здесь нет: чат работает на той же машине.
privacy-offline = Модели работают на той же машине, и больше никуда слова не уходят.
privacy-provider = Чтобы ответить, я отправляю нужную часть разговора и сведений о людях сюда: { $hosts }.

forget-choose = Что из этого забыть?
forget-nothing = Не нашлось ничего, что можно забыть, по словам «{ $what }».
remembered = 📌 Сохранено: «{ $text }»
claim-undone = (В памяти и в задачах ничего не изменилось.)

undo = Что изменилось за неделю. Номер отменяет это изменение.
undo-nothing = За неделю не менялось ничего, что можно отменить.
undo-done = Отменено. { $what }
undo-too-late = Уже поздно, или на этом держится что-то более новое.
undo-fact_learned = Узнал: { $what }
undo-fact_corrected = Исправлено на: { $what }
undo-fact_ended = Больше не так: { $what }
undo-memory_added = Запомнил: { $what }
undo-person_added = Новый человек: { $what }
undo-person_edited = Карточка изменена: { $what }
undo-people_merged = Объединено: { $what }
undo-things_merged = Две вещи стали одной: { $what }
undo-task_opened = Дело: { $what }
undo-task_closed = Дело закрыто: { $what }
undo-task_moved = Перенесено: { $what }
undo-forgetting = Забывается: { $what }
undo-forgotten-everything = всё
undo-forgotten-person = человек
undo-forgotten-entity = вещь
undo-forgotten-fact = факт
undo-forgotten-memory = воспоминание
undo-forgotten-episode = источник
undo-forgotten-message = сообщение
