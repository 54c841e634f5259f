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
archive-answering = На последнее сообщение я ещё отвечаю; разберу его вместе с ответом.
archive-dead = Часть нашего разговора мне разобрать не удалось. Подробнее — /status, а /archive попробует ещё раз.

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
status-people = Знаю людей: { $count }.
status-models = Отвечает { $responder }, разбирает { $archivist }.
status-offline = Модели встроенные, работают без интернета: отвечаю тем, что помню, без красноречия.
status-quarantined = Обновлений от Telegram, которые не удалось прочитать: { $count }.
status-mirror = Изменений, которых ещё нет в зеркале графа: { $count }.
status-spent = Сегодня потрачено { NUMBER($spent, minimumFractionDigits: 2, maximumFractionDigits: 4) } $ из { NUMBER($limit, minimumFractionDigits: 2, maximumFractionDigits: 2) } $.
status-spent-unlimited = Сегодня потрачено { NUMBER($spent, minimumFractionDigits: 2, maximumFractionDigits: 4) } $.

forget-ask = Что забыть? Напиши имя человека — или нажми кнопку, чтобы стереть всё.
forget-button-everything = Забыть всё
forget-person-confirm = Забыть? { $name }: исчезнет профиль и всё, что я узнал о человеке из разговоров.
forget-everything-confirm = Стереть **всё**: переписку, людей, всё, что я запомнил? Начнём с чистого листа.
forget-button-yes = Да, забыть
forget-person-done = Забываю: { $name }. В ближайшие { $minutes } { $minutes ->
    [one] минуту
    [few] минуты
   *[other] минут
} ещё можно передумать.
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
    __Как удалить.__ /forget стирает человека или всё, /export отдаёт копию.
privacy-telegram = Сообщения проходят через Telegram.
privacy-local = Настоящего Telegram здесь нет: чат работает на той же машине.
privacy-offline = Модели работают на той же машине, и больше никуда слова не уходят.
privacy-provider = Чтобы ответить, я отправляю нужную часть разговора и сведений о людях сюда: { $hosts }.
