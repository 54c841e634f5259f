# Tasks, reminders, quiet hours.

task-today = today
task-tomorrow = tomorrow
task-overdue = { $when } (overdue)
task-no-date = No date yet.
task-person = Person: { $name }
task-state-proposed = Is this a task? I took it from what you said.
task-state-open = Open.
task-state-done = Done.
task-state-cancelled = Cancelled.

repeat-hourly = { $count ->
    [one] every hour
   *[other] every { $count } hours
}
repeat-daily = { $count ->
    [one] every day
   *[other] every { $count } days
}
repeat-weekly = { $count ->
    [one] every week
   *[other] every { $count } weeks
}
repeat-monthly = { $count ->
    [one] every month
   *[other] every { $count } months
}
repeat-yearly = { $count ->
    [one] every year
   *[other] every { $count } years
}
repeat-workdays = on weekdays
repeat-weekends = at weekends
repeat-on = every { $days }
repeat-and = and
repeat-weekday = { $day ->
    [0] Monday
    [1] Tuesday
    [2] Wednesday
    [3] Thursday
    [4] Friday
    [5] Saturday
   *[6] Sunday
}

task-opened = ⏰ I'll remind you: **{ $title }** — { $when }.
task-opened-undated = 📝 Noted: **{ $title }**. When shall I remind you?
task-opened-promise = 🤝 You promised: **{ $title }**
task-opened-waiting = ⏳ You wait for: **{ $title }**
task-opened-contact = 📞 Be in touch: **{ $title }**
task-time-unread = ⚠️ I could not read the time in “{ $words }”. If it should be another time, tap Change.
task-question = Shall I remind you? “{ $title }” — { $when }
task-ask = What needs to be done, and when? For example: “buy bread tomorrow at 9”.
task-ask-when = When? For example: “tomorrow at 9”, “in 2 hours”, “every Monday at 10”.
task-when-unknown = I didn't understand the time. Try “tomorrow at 9”, “in 2 hours” or “5 December”.

task-cancel-all = Cancel all { $count } tasks?
task-cancelled-all = All cancelled: { $count }. They stay in /tasks among the past ones and can be opened again.
tasks-title = **To do: { $count }**
tasks-title-past = **Done and cancelled: { $count }**
tasks-none = Nothing to do. Say “remind me tomorrow at 9 to call mum”, or use /tasks add.
tasks-none-past = Nothing done or cancelled yet.
tasks-button-past = Done and cancelled: { $count }
tasks-button-current = To do: { $count }

task-button-confirm = ✓ Yes
task-button-done = ✓ Done
task-button-done-together = ✓ { $title }
task-button-more = More…
task-button-hour = In an hour
task-button-tomorrow = Tomorrow
task-button-week = In a week
task-button-change = Another time
task-button-cancel-all = ✓ Yes, all
task-button-cancel = ✕ Cancel
task-button-cancel-proposed = ✕ No
task-button-cancel-repeated = ✕ Never again
task-button-reopen = Open again
task-button-back = « All tasks

task-now-confirm = I'll remind you.
task-now-done = Done!
task-now-hour = In an hour, then.
task-now-tomorrow = Tomorrow, then.
task-now-week = In a week, then.
task-now-cancel = Cancelled.
task-now-reopen = Open again.

refused-no_task = I have no task about that. What there is: /tasks
refused-no_title = There is no task in that. Try “/tasks add buy bread tomorrow at 9”.
refused-task_closed = That task is closed. See /tasks for the others.
refused-past = That time has already passed.
refused-too_many = There are too many open tasks. Close some first: /tasks

quiet-ask = I don't disturb you during quiet hours: { $hours }. Choose others, or type them, for example 23-7. Reminders you set for an exact time still come.
quiet-ask-none = You have no quiet hours: I may write at any time. Choose some, or type them, for example 23-7.
quiet-set = Quiet hours: { $hours }.
quiet-set-none = No more quiet hours: I may write at any time.
quiet-unknown = I didn't understand that. Send two times, such as 23-7 or 22:30-08:00, or “off”.
quiet-button-none = No quiet hours

menu-tasks = What to do: /tasks add words
menu-quiet = When I shouldn't disturb you

task-acted-done = ✓ Done: **{ $title }**
task-acted-cancel = ✕ Cancelled: **{ $title }**
task-acted-move = ⏰ Moved: **{ $title }** — { $when }
task-acted-when = When shall it be? **{ $title }**
task-choose = { $how ->
    [done] Which one is done?
    [cancel] Which one shall I cancel?
    [show] Is it about this task?
   *[move] Which one shall I move?
}
tasks-none-waiting = Nobody owes or promised you anything that I know of.
tasks-none-contact = I know of nobody you want to keep in touch with: say, for example, “call mum once a week”.
tasks-none-promise = You have promised nothing that I know of.
tasks-none-then = Nothing is planned for that time.
