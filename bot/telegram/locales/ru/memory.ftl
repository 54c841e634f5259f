# Разбор разговора, состояние, забывание, выгрузка, приватность.

archive-nothing = Разбирать пока нечего: всё сказанное уже разобрано.
archive-started = Беру в разбор { $count } { $count ->
    [one] сообщение
    [few] сообщения
   *[other] сообщений
}. Обычно это занимает меньше минуты; потом загляни в /people.
archive-again = Пробую ещё раз то, что раньше не получилось разобрать: { $count }.
archive-running = Нового нет, но сказанное раньше я ещё разбираю.

status-buffered = { $count ->
    [0] Весь разговор разобран.
   *[other] Ждут разбора: { $count } { $count ->
        [one] сообщение
        [few] сообщения
       *[other] сообщений
    }.
}
status-waiting = Разбирается сейчас: { $count }.
status-dead = Не удалось разобрать: { $count }. /archive попробует ещё раз; подробности в журнале бота.
status-people = Знаю людей: { $count }.
status-models = Отвечает { $responder }, разбирает { $archivist }.
status-offline = Модели встроенные, работают без интернета: отвечаю тем, что помню, без красноречия.
status-quarantined = Обновлений от Telegram, которые не удалось прочитать: { $count }.
status-spent = Сегодня потрачено { NUMBER($spent, minimumFractionDigits: 2, maximumFractionDigits: 4) } $ из { NUMBER($limit, minimumFractionDigits: 2, maximumFractionDigits: 2) } $.
status-spent-unlimited = Сегодня потрачено { NUMBER($spent, minimumFractionDigits: 2, maximumFractionDigits: 4) } $.

forget-ask = Что забыть? Напиши имя человека — или нажми кнопку, чтобы стереть всё.
forget-button-everything = Забыть всё
forget-person-confirm = Забыть { $name }? Исчезнет профиль и всё, что я вывел о человеке из разговоров.
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

export-caption = Всё, что я о тебе храню, на { DATETIME($day, dateStyle: "long") }.

privacy =
    __Что я храню.__ Наши сообщения, людей и факты из них, твой язык и часовой пояс. Только это.
    __Где.__ В базе на машине, где меня запустили. Её владелец технически может туда заглянуть; другие пользователи бота — нет.
    __Кто ещё видит.__ Сообщения проходят через Telegram. { $models }
    __Как удалить.__ /forget стирает человека или всё, /export отдаёт копию.
privacy-offline = Модели работают на той же машине, и больше никуда слова не уходят.
privacy-provider = Чтобы ответить, я отправляю нужную часть разговора и сведений о людях сюда: { $hosts }.
