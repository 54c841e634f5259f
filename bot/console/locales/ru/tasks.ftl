page-tasks = Задачи
tasks-empty = Задач нет
tasks-empty-text = Добавьте задачу выше или скажите боту «напомни в пятницу в шесть…». Обещания, данные мимоходом, он тоже замечает и спрашивает о них здесь.
tasks-add = Новая задача
tasks-proposed = Подтвердите
tasks-late = Просрочено
tasks-today = Сегодня
tasks-later = Позже
tasks-someday = Без даты
tasks-more = Показать ещё: { $count }
tasks-closed = Завершено
tasks-none-closed = Пока ничего не завершено
tasks-none-closed-text = Здесь появляются выполненные и отменённые задачи; их можно открыть снова.
task-title = Что нужно сделать
task-kind = Вид
task-task = Задача
task-reminder = Напоминание
task-waiting = Жду от других
task-contact = Держать связь
task-promise = Обещание
moment-day = День
moment-calendar = Открыть календарь
moment-none = Без даты
moment-time = Время
moment-mistyped = Время указано не полностью. Напишите его так: 18:30.
task-repeat = Повторять
task-add = Добавить
task-untitled = Напишите, что нужно сделать.
task-undated = без даты
task-reminds-at = напомнит { $at }
task-done = сделано { $at }
task-cancelled = отменено { $at }
task-changed = Сохранено
task-do-confirm = Да, добавить: { $title }
task-do-decline = Нет, убрать: { $title }
task-do-done = Сделано: { $title }
task-do-snooze = Отложить: { $title }
task-do-cancel = Отменить: { $title }
task-do-open = Открыть снова: { $title }
repeat-never = никогда
snooze-hour = Через час ({ $at })
snooze-evening = Сегодня вечером ({ $at })
snooze-tomorrow = Завтра ({ $at })
snooze-week = Через неделю ({ $at })
snooze-choose = Выбрать время…
snooze-title = Напомнить позже
tasks-done = Сделано
tasks-cancelled = Отменено
repeat-hourly = { $count ->
    [1] каждый час
    [one] каждый { $count } час
    [few] каждые { $count } часа
   *[other] каждые { $count } часов
}
repeat-daily = { $count ->
    [1] каждый день
    [one] каждый { $count } день
    [few] каждые { $count } дня
   *[other] каждые { $count } дней
}
repeat-weekly = { $count ->
    [1] каждую неделю
    [one] каждую { $count } неделю
    [few] каждые { $count } недели
   *[other] каждые { $count } недель
}
repeat-monthly = { $count ->
    [1] каждый месяц
    [one] каждый { $count } месяц
    [few] каждые { $count } месяца
   *[other] каждые { $count } месяцев
}
repeat-yearly = { $count ->
    [1] каждый год
    [one] каждый { $count } год
    [few] каждые { $count } года
   *[other] каждые { $count } лет
}
repeat-workdays = по будням
repeat-weekends = по выходным
repeat-on = по { $days }
repeat-and = и
repeat-weekday = { $day ->
    [0] понедельникам
    [1] вторникам
    [2] средам
    [3] четвергам
    [4] пятницам
    [5] субботам
   *[6] воскресеньям
}
