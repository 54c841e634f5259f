# Задачи, напоминания, тихие часы.

task-today = сегодня
task-tomorrow = завтра
task-overdue = { $when } (просрочено)
task-no-date = Пока без даты.
task-person = Человек: { $name }
task-state-proposed = Это задача? Я так понял из твоих слов.
task-state-open = Ещё не сделано.
task-state-done = Сделано.
task-state-cancelled = Отменено.

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

task-opened = ⏰ Напомню: **{ $title }** — { $when }.
task-opened-undated = 📝 Записал: **{ $title }**. Когда напомнить?
task-opened-promise = 🤝 Обещание: **{ $title }**
task-opened-waiting = ⏳ Ждёшь от других: **{ $title }**
task-opened-contact = 📞 Быть на связи: **{ $title }**
task-time-unread = ⚠️ Не разобрал время в «{ $words }». Если нужно другое, нажмите «Изменить».
task-question = Напомнить? «{ $title }» — { $when }
task-ask = Что нужно сделать и когда? Например: «купить хлеб завтра в 9».
task-ask-when = Когда? Например: «завтра в 9», «через 2 часа», «каждый понедельник в 10».
task-when-unknown = Не понял, когда. Попробуй так: «завтра в 9», «через 2 часа» или «5 декабря».

task-cancel-all = Отменить все задачи ({ $count })?
task-cancelled-all = Отменено: { $count }. Они остались в /tasks среди прошлых, любую можно открыть снова.
tasks-title = **Задачи: { $count }**
tasks-title-past = **Выполнено и отменено: { $count }**
tasks-none = Задач нет. Скажи «напомни завтра в 9 позвонить маме» или напиши /tasks add.
tasks-none-past = Пока ничего не выполнено и не отменено.
tasks-button-past = Выполнено и отменено: { $count }
tasks-button-current = Задачи: { $count }

task-button-confirm = ✓ Да
task-button-done = ✓ Сделано
task-button-done-together = ✓ { $title }
task-button-more = Ещё…
task-button-hour = Через час
task-button-tomorrow = Завтра
task-button-week = Через неделю
task-button-change = Другое время
task-button-cancel-all = ✓ Да, все
task-button-cancel = ✕ Отменить
task-button-cancel-proposed = ✕ Нет
task-button-cancel-repeated = ✕ Больше никогда
task-button-reopen = Открыть снова
task-button-back = « Все задачи

task-now-confirm = Напомню.
task-now-done = Готово!
task-now-hour = Хорошо, через час.
task-now-tomorrow = Хорошо, завтра.
task-now-week = Хорошо, через неделю.
task-now-cancel = Отменил.
task-now-reopen = Снова в списке задач.

refused-no_task = Такой задачи у меня нет. Все, что есть: /tasks
refused-no_title = Не понял, что нужно сделать. Попробуй так: «/tasks add купить хлеб завтра в 9».
refused-task_closed = Эта задача закрыта. Остальные — в /tasks.
refused-past = Это время уже прошло.
refused-too_many = Открытых задач слишком много. Закрой сначала часть: /tasks

quiet-ask = В тихие часы я не беспокою: { $hours }. Выбери другие или напиши, например 23-7. Напоминания на точное время, заданное тобой, придут и тогда.
quiet-ask-none = Тихих часов нет: могу написать в любое время. Выбери их или напиши, например 23-7.
quiet-set = Тихие часы: { $hours }.
quiet-set-none = Тихих часов больше нет: могу написать в любое время.
quiet-unknown = Не понял. Нужны два часа, например 23-7 или 22:30-08:00, или «выкл».
quiet-button-none = Без тихих часов

menu-tasks = Что нужно сделать: /tasks add слова
menu-quiet = Когда не беспокоить

task-acted-done = ✓ Сделано: **{ $title }**
task-acted-cancel = ✕ Отменено: **{ $title }**
task-acted-move = ⏰ Перенесено: **{ $title }** — { $when }
task-acted-when = На когда перенести? **{ $title }**
task-choose = { $how ->
    [done] Что из этого сделано?
    [cancel] Что из этого отменить?
    [show] Ты об этой задаче?
   *[move] Что из этого перенести?
}
tasks-none-waiting = Не знаю, чтобы тебе кто-то был что-то должен или обещал.
tasks-none-contact = Не знаю, с кем ты хочешь поддерживать связь: скажи, например, «звонить маме раз в неделю».
tasks-none-promise = Не знаю ни одного твоего обещания.
tasks-none-then = На это время ничего не запланировано.
