page-tasks = Tasks
tasks-empty = Nothing to do
tasks-empty-text = Add a task above, or tell the bot “remind me on Friday at six to…”. What you promise in passing is found as well, and asked for here.
tasks-add = New
tasks-proposed = Is that meant?
tasks-late = Overdue
tasks-today = Today
tasks-later = Later
tasks-someday = Without a date
tasks-more = Show more: { $count }
tasks-closed = Over
tasks-none-closed = Nothing is over yet
tasks-none-closed-text = What is done or cancelled stands here, and can be opened again.
task-title = What is to be done
task-kind = Kind
task-task = Task
task-reminder = Reminder
task-promise = Promise
task-when = When
task-repeat = Repeats
task-add = Add
task-untitled = Say what is to be done.
task-undated = no date
task-told-at = reminds { $at }
task-done = done { $at }
task-cancelled = cancelled { $at }
task-changed = Saved
task-do-confirm = Yes, add: { $title }
task-do-decline = No, drop: { $title }
task-do-done = Done: { $title }
task-do-snooze = Put off: { $title }
task-do-cancel = Cancel: { $title }
task-do-open = Open again: { $title }
repeat-never = never
snooze-hour = In an hour ({ $at })
snooze-evening = This evening ({ $at })
snooze-tomorrow = Tomorrow ({ $at })
snooze-week = In a week ({ $at })
snooze-choose = Choose a time…
snooze-title = Remind me later
tasks-done = Done
tasks-cancelled = Cancelled
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
