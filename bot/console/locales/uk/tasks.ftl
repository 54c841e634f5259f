page-tasks = Завдання
tasks-empty = Завдань немає
tasks-empty-text = Додайте завдання вище або скажіть боту «нагадай у п’ятницю о шостій…». Обіцянки, дані мимохідь, він теж помічає і питає про них тут.
tasks-add = Нове завдання
tasks-proposed = Підтвердьте
tasks-late = Прострочено
tasks-today = Сьогодні
tasks-later = Пізніше
tasks-someday = Без дати
tasks-more = Показати ще: { $count }
tasks-closed = Завершено
tasks-none-closed = Поки нічого не завершено
tasks-none-closed-text = Тут з’являються виконані та скасовані завдання; їх можна відкрити знову.
task-title = Що треба зробити
task-kind = Вид
task-task = Завдання
task-reminder = Нагадування
task-waiting = Чекаю від інших
task-contact = Тримати зв'язок
task-promise = Обіцянка
moment-day = День
moment-calendar = Відкрити календар
moment-none = Без дати
moment-time = Час
moment-mistyped = Час указано не повністю. Напишіть його так: 18:30.
task-repeat = Повторювати
task-add = Додати
task-untitled = Напишіть, що треба зробити.
task-undated = без дати
task-reminds-at = нагадає { $at }
task-done = зроблено { $at }
task-cancelled = скасовано { $at }
task-changed = Збережено
task-do-confirm = Так, додати: { $title }
task-do-decline = Ні, прибрати: { $title }
task-do-done = Зроблено: { $title }
task-do-snooze = Відкласти: { $title }
task-do-cancel = Скасувати: { $title }
task-do-open = Відкрити знову: { $title }
repeat-never = ніколи
snooze-hour = За годину ({ $at })
snooze-evening = Сьогодні ввечері ({ $at })
snooze-tomorrow = Завтра ({ $at })
snooze-week = За тиждень ({ $at })
snooze-choose = Обрати час…
snooze-title = Нагадати пізніше
tasks-done = Зроблено
tasks-cancelled = Скасовано
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
