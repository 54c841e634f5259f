# Завдання, нагадування, тихі години.

task-today = сьогодні
task-tomorrow = завтра
task-overdue = { $when } (прострочено)
task-no-date = Поки без дати.
task-person = Людина: { $name }
task-state-proposed = Це завдання? Я так зрозумів із твоїх слів.
task-state-open = Ще не зроблено.
task-state-done = Зроблено.
task-state-cancelled = Скасовано.

repeat-hourly = { $count ->
    [1] щогодини
    [one] кожну { $count } годину
    [few] кожні { $count } години
   *[other] кожні { $count } годин
}
repeat-daily = { $count ->
    [1] щодня
    [one] кожен { $count } день
    [few] кожні { $count } дні
   *[other] кожні { $count } днів
}
repeat-weekly = { $count ->
    [1] щотижня
    [one] кожен { $count } тиждень
    [few] кожні { $count } тижні
   *[other] кожні { $count } тижнів
}
repeat-monthly = { $count ->
    [1] щомісяця
    [one] кожен { $count } місяць
    [few] кожні { $count } місяці
   *[other] кожні { $count } місяців
}
repeat-yearly = { $count ->
    [1] щороку
    [one] кожен { $count } рік
    [few] кожні { $count } роки
   *[other] кожні { $count } років
}
repeat-workdays = щобудня
repeat-weekends = щовихідних
repeat-on = { $days }
repeat-and = і
repeat-weekday = { $day ->
    [0] щопонеділка
    [1] щовівторка
    [2] щосереди
    [3] щочетверга
    [4] щоп’ятниці
    [5] щосуботи
   *[6] щонеділі
}

task-opened = ⏰ Нагадаю: **{ $title }** — { $when }.
task-opened-undated = 📝 Записав: **{ $title }**. Коли нагадати?
task-opened-promise = 🤝 Обіцянка: **{ $title }**
task-opened-waiting = ⏳ Чекаєш від інших: **{ $title }**
task-opened-contact = 📞 Бути на зв’язку: **{ $title }**
task-time-unread = ⚠️ Не розібрав час у «{ $words }». Якщо потрібен інший, натисніть «Змінити».
task-question = Нагадати? «{ $title }» — { $when }
task-ask = Що треба зробити і коли? Наприклад: «купити хліб завтра о 9».
task-ask-when = Коли? Наприклад: «завтра о 9», «за 2 години», «щопонеділка о 10».
task-when-unknown = Не зрозумів, коли. Спробуй так: «завтра о 9», «за 2 години» або «5 грудня».

task-cancel-all = Скасувати всі задачі ({ $count })?
task-cancelled-all = Скасовано: { $count }. Вони лишилися в /tasks серед минулих, будь-яку можна відкрити знову.
tasks-title = **Завдання: { $count }**
tasks-title-past = **Виконано і скасовано: { $count }**
tasks-none = Завдань немає. Скажи «нагадай завтра о 9 подзвонити мамі» або напиши /tasks add.
tasks-none-past = Поки нічого не виконано і не скасовано.
tasks-button-past = Виконано і скасовано: { $count }
tasks-button-current = Завдання: { $count }

task-button-confirm = ✓ Так
task-button-done = ✓ Зроблено
task-button-done-together = ✓ { $title }
task-button-more = Ще…
task-button-hour = За годину
task-button-tomorrow = Завтра
task-button-week = За тиждень
task-button-change = Інший час
task-button-cancel-all = ✓ Так, усі
task-button-cancel = ✕ Скасувати
task-button-cancel-proposed = ✕ Ні
task-button-cancel-repeated = ✕ Більше ніколи
task-button-reopen = Відкрити знову
task-button-back = « Усі завдання

task-now-confirm = Нагадаю.
task-now-done = Готово!
task-now-hour = Гаразд, за годину.
task-now-tomorrow = Гаразд, завтра.
task-now-week = Гаразд, за тиждень.
task-now-cancel = Скасував.
task-now-reopen = Знову у списку завдань.

refused-no_task = Такого завдання в мене немає. Усі, що є: /tasks
refused-no_title = Не зрозумів, що треба зробити. Спробуй так: «/tasks add купити хліб завтра о 9».
refused-task_closed = Це завдання закрите. Решта — у /tasks.
refused-past = Цей час уже минув.
refused-too_many = Відкритих завдань забагато. Закрий спершу частину: /tasks

quiet-ask = У тихі години я не турбую: { $hours }. Вибери інші або напиши, наприклад 23-7. Нагадування на точний час, заданий тобою, прийдуть і тоді.
quiet-ask-none = Тихих годин немає: можу написати будь-коли. Вибери їх або напиши, наприклад 23-7.
quiet-set = Тихі години: { $hours }.
quiet-set-none = Тихих годин більше немає: можу написати будь-коли.
quiet-unknown = Не зрозумів. Потрібні дві години, наприклад 23-7 або 22:30-08:00, або «вимкнути».
quiet-button-none = Без тихих годин

menu-tasks = Що треба зробити: /tasks add слова
menu-quiet = Коли не турбувати

task-acted-done = ✓ Зроблено: **{ $title }**
task-acted-cancel = ✕ Скасовано: **{ $title }**
task-acted-move = ⏰ Перенесено: **{ $title }** — { $when }
task-acted-when = На коли перенести? **{ $title }**
task-choose = { $how ->
    [done] Що з цього зроблено?
    [cancel] Що з цього скасувати?
    [show] Ти про це завдання?
   *[move] Що з цього перенести?
}
tasks-none-waiting = Не знаю, щоб тобі хтось був щось винен чи обіцяв.
tasks-none-contact = Не знаю, з ким ти хочеш підтримувати зв'язок: скажи, наприклад, «дзвонити мамі раз на тиждень».
tasks-none-promise = Не знаю жодної твоєї обіцянки.
tasks-none-then = На цей час нічого не заплановано.
